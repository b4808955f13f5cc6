"""The proxies that the environment names, and the hosts that NO_PROXY exempts from them.

The library reads NO_PROXY itself, because httpx refuses addresses in brackets (``[::1]``) and
never matches networks (``10.0.0.0/8``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies

from ferry_sdk._engine.http import origin_of
from ferry_sdk.errors import ConfigurationError

_SCHEMES: Final = ("http", "https", "all")
_SEPARATOR: Final = re.compile(r"[,\s]+")
_BRACKETS: Final = re.compile(r"\[([^\[\]]*)\](/[0-9]{1,3})?(:[0-9]{1,5})?")
_HOST: Final = re.compile(r"\.?[\w-]+(\.[\w-]+)*(:[0-9]{1,5})?", re.ASCII)

_Network = IPv4Network | IPv6Network


def has_proxy() -> bool:
    """Return whether the environment names a proxy for HTTP."""
    return not getproxies().keys().isdisjoint(_SCHEMES)


def proxies_by_scheme() -> Mapping[str, str]:
    """Return the URLs of the proxies by ``http``, ``https`` and ``all``; none if all are exempt."""
    settings = getproxies()
    if "*" in _exemptions(settings):
        return {}

    proxies: dict[str, str] = {}
    for scheme in _SCHEMES:
        url = settings.get(scheme)
        if url:
            proxies[scheme] = url if "://" in url else f"http://{url}"
    return proxies


def patterns_without_proxy(url: str) -> Iterator[str]:
    """Yield the patterns of httpx that NO_PROXY exempts.

    Args:
        url: The address of the service, which a network may contain.

    Raises:
        ConfigurationError: An entry is neither a host nor an address nor a network.
    """
    host = urlsplit(url).hostname or ""
    for entry in _exemptions(getproxies()):
        parsed = _parse_network(entry)
        if parsed is not None:
            network, port = parsed
            pattern = _pattern_of_network(network, port, host)
            if pattern is not None:
                yield pattern
        elif entry.lower() == "localhost":
            yield "all://localhost"
        elif origin_of(entry)[1]:  # a URL, which exempts one scheme
            yield entry
        elif _HOST.fullmatch(entry.removeprefix("*")):
            yield f"all://*{entry.removeprefix('*')}"
        else:
            problem = "is neither a host nor an address nor a network"
            raise ConfigurationError(f"NO_PROXY: {entry!r} {problem}")


def _exemptions(settings: Mapping[str, str]) -> list[str]:
    return [entry for entry in _SEPARATOR.split(settings.get("no", "")) if entry]


def _parse_network(entry: str) -> tuple[_Network, str] | None:
    """Return a network, which may be one address, and its port; None if the entry is neither.

    Those of ``10.0.0.0/8`` are the network and no port; those of ``[::1]:8080`` are the network of
    one address and ``:8080``.
    """
    text, port = entry, ""
    brackets = _BRACKETS.fullmatch(entry)
    if brackets is not None:
        address, size, port = brackets.groups(default="")
        text = f"{address}{size}" or entry
    try:
        return ip_network(text, strict=False), port
    except ValueError:
        return None


def _pattern_of_network(network: _Network, port: str, host: str) -> str | None:
    """Return the pattern of httpx for a network; None if it does not contain the host.

    httpx has no patterns of networks, so the pattern of one is that of the host.
    """
    if network.num_addresses == 1:
        return _all_at(str(network.network_address)) + port
    try:
        is_in_network = ip_address(host) in network
    except ValueError:  # the host is a name
        return None
    return _all_at(host) if is_in_network else None


def _all_at(address: str) -> str:
    return f"all://[{address}]" if ":" in address else f"all://{address}"
