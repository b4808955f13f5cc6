"""`ferry vehicles`: find the codes of vehicles."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ferry_sdk.cli.terminal.errors import Exit
from ferry_sdk.cli.terminal.options import Common
from ferry_sdk.cli.terminal.output import show_progress
from ferry_sdk.cli.trips.name_lists import MOST_MATCHES, print_names
from ferry_sdk.planning.vehicles import VehicleMatch

_TEXT = typer.Argument(metavar="TEXT", help="A make, a model or a code.")


def vehicles(
    *,
    text: Annotated[list[str], _TEXT],
    common: Common,
) -> Exit:
    """Find vehicles by make and model.

    Each has the code of a search and the code of a booking.

    Example: ferry vehicles fiat panda
    """
    wanted = " ".join(text)
    with common.open_client() as ferry, show_progress("Loading the vehicles"):
        matches = ferry.vehicles.find(wanted, limit=MOST_MATCHES)
    return print_names(
        "vehicles",
        [_members(match) for match in matches],
        members=("brand", "model", "search_code", "booking_code", "score"),
        text=wanted,
        unreadable=matches.unreadable,
        as_json=common.as_json,
    )


def _members(match: VehicleMatch) -> dict[str, Any]:
    return {
        **match.model.model_dump(mode="json"),
        "search_code": match.query.code,
        "booking_code": match.booking().code,
        "score": match.score,
    }
