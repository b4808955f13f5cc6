"""The proxies that the environment names, and the hosts that NO_PROXY exempts from them.

The library reads NO_PROXY itself, because httpx refuses addresses in brackets (``[::1]``) and
never matches networks (``10.0.0.0/8``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from ipaddress import ip_address, ip_network
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies

from ferry_sdk._engine.http import origin_of
from ferry_sdk.errors import ConfigurationError

_SCHEMES: Final = ("http", "https", "all")
_SEPARATOR: Final = re.compile(r"[,\s]+")
_BRACKETS: Final = re.compile(r"\[([^\[\]]*)\](/[0-9]{1,3})?(:[0-9]{1,5})?")
_HOST: Final = re.compile(r"\.?[\w-]+(\.[\w-]+)*(:[0-9]{1,5})?", re.ASCII)


def has_proxy() -> bool:
    """Return whether the environment names a proxy for HTTP."""
    return not getproxies().keys().isdisjoint(_SCHEMES)


def proxies_by_scheme() -> Mapping[str, str]:
    """Return the URLs of the proxies by ``http``, ``https`` and ``all``; none if all are exempt."""
    named = getproxies()
    if "*" in _exemptions(named):
        return {}
    urls = {scheme: named[scheme] for scheme in _SCHEMES if named.get(scheme)}
    return {scheme: url if "://" in url else f"http://{url}" for scheme, url in urls.items()}


def patterns_without_proxy(url: str) -> Iterator[str]:
    """Yield the patterns of httpx that NO_PROXY exempts.

    Args:
        url: The address of the service, which a network may contain.

    Raises:
        ConfigurationError: An entry is neither a host nor an address nor a network.
    """
    host = urlsplit(url).hostname or ""
    for entry in _exemptions(getproxies()):
        pattern = _pattern_of_address(entry, host)
        if pattern is not None:
            yield from filter(None, [pattern])
        elif entry.lower() == "localhost":
            yield "all://localhost"
        elif origin_of(entry)[1]:  # a URL, which exempts one scheme
            yield entry
        elif _HOST.fullmatch(entry.removeprefix("*")):
            yield f"all://*{entry.removeprefix('*')}"
        else:
            problem = "is neither a host nor an address nor a network"
            raise ConfigurationError(f"NO_PROXY: {entry!r} {problem}")


def _exemptions(named: Mapping[str, str]) -> list[str]:
    return [entry for entry in _SEPARATOR.split(named.get("no", "")) if entry]


def _pattern_of_address(entry: str, host: str) -> str | None:
    """Return the pattern of an address or a network.

    It is empty if the host is not in the network, and None if the entry is neither of both.
    """
    brackets = _BRACKETS.fullmatch(entry)
    address, size, port = ("", "", "") if brackets is None else brackets.groups(default="")
    try:
        network = ip_network(f"{address}{size}" or entry, strict=False)
    except ValueError:
        return None
    if network.num_addresses == 1:
        return _all_at(str(network.network_address)) + port
    try:
        return _all_at(host) if ip_address(host) in network else ""
    except ValueError:  # the host is a name
        return ""


def _all_at(address: str) -> str:
    return f"all://[{address}]" if ":" in address else f"all://{address}"
