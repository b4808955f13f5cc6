"""Which hosts are this machine."""

from __future__ import annotations

import ipaddress


def is_loopback(host: str) -> bool:
    """Return whether the host is this machine, by its name or its address.

    A name below ``localhost``, such as ``x.localhost``, counts, although a resolver may lead it
    elsewhere: whoever relies on it also checks where the connection leads.
    """
    return is_loopback_address(host) or host == "localhost" or host.endswith(".localhost")


def is_loopback_address(host: str) -> bool:
    """Return whether the host is an address of this machine: 127.0.0.0/8 or ::1.

    An IPv6 address may hold one of IPv4, such as ``::ffff:127.0.0.1``. Other spellings that some
    resolvers take, such as ``127.1``, ``0177.0.0.1`` and ``2130706433``, do not count.
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    # Python 3.12 and older do not look at the address within.
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return address.is_loopback if mapped is None else mapped.is_loopback
