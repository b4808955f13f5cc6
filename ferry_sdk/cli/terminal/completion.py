"""What a shell completes beside commands and options."""

from __future__ import annotations

from ferry_sdk.cli.terminal.connection import token_of
from ferry_sdk.cli.terminal.output import plain
from ferry_sdk.client import Ferry
from ferry_sdk.errors import FerryError

_A_MOMENT = 1.0


def ports(incomplete: str) -> list[tuple[str, str]]:
    """Codes of ports with their names; none where the service is not asked within a second."""
    try:
        with Ferry(token_of(None), deadline=_A_MOMENT, max_retries=0) as ferry:
            known = ferry.catalogue.ports()
    except FerryError:
        return []
    return [(plain(one.code), plain(one.name)) for one in known if one.code.startswith(incomplete)]
