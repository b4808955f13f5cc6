"""`ferry ports`: find the names and codes of ports."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer

from ferry_sdk.cli.terminal.errors import Exit
from ferry_sdk.cli.terminal.options import Common
from ferry_sdk.cli.terminal.output import show_progress
from ferry_sdk.cli.trips.name_lists import MOST_MATCHES, print_names
from ferry_sdk.models.catalogue import Port
from ferry_sdk.planning.names import PlaceMatch, fold
from ferry_sdk.planning.results import Matches, unreadable_answers

_MEMBERS: Final[tuple[str, ...]] = ("code", "name", "country")


def ports(
    *,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to find; default: all.")] = "",
    common: Common,
) -> Exit:
    """Find ports by code, name, city or country.

    Names are known in several languages. Without TEXT, all ports are listed.

    Example: ferry ports genova
    """
    with common.open_client() as ferry, show_progress("Loading the ports"):
        every_port = ferry.catalogue.ports()
        matches = Matches[PlaceMatch]()
        if text:
            matches = ferry.places.find(text, limit=MOST_MATCHES)

    listed = sorted(every_port, key=lambda port: (port.country, port.name))
    if text:
        records = _ranked(listed, matches, text)
        members = (*_MEMBERS, "score", "reason")
    else:
        records = [port.model_dump(mode="json") for port in listed]
        members = _MEMBERS
    return print_names(
        "ports",
        records,
        members=members,
        text=text,
        unreadable=matches.unreadable or unreadable_answers("catalogue.ports", every_port),
        as_json=common.as_json,
    )


def _ranked(listed: list[Port], matches: Matches[PlaceMatch], text: str) -> list[dict[str, Any]]:
    """Return the ports that match, and those of a country of this name, the best first."""
    rows = [(match.port, match.score, str(match.reason)) for match in matches]
    rows += [(port, 1.0, "country") for port in listed if fold(port.country) == fold(text)]
    rows.sort(key=lambda row: -row[1])
    return [
        {**port.model_dump(mode="json"), "score": score, "reason": reason}
        for port, score, reason in rows
    ]
