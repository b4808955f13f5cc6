"""`ferry offers history`: what searches have shown of a route over time."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

from ferry_sdk import offers
from ferry_sdk._runtime.money import money
from ferry_sdk.cli.terminal.options import (
    AsJson,
    JournalUrl,
    open_journal,
    option,
    parse_moment,
)
from ferry_sdk.cli.terminal.output import (
    members_of,
    moment,
    print_json,
    print_table,
    say_on_stderr,
)
from ferry_sdk.cli.trips.options import ARRIVE, DEPART
from ferry_sdk.offers.price_history import party_text

_SINCE: Final = option(
    "MOMENT", help="Only what was seen since then; -7: seven days ago.", parse=parse_moment
)
_UNTIL: Final = option("MOMENT", help="Only what was seen before.", parse=parse_moment)


def show_history(
    *,
    origin: Annotated[str, DEPART],
    destination: Annotated[str, ARRIVE],
    journal: JournalUrl,
    since: Annotated[datetime | None, _SINCE] = None,
    until: Annotated[datetime | None, _UNTIL] = None,
    as_json: AsJson = False,
) -> None:
    """Show the prices and places that searches have seen, oldest first."""
    with open_journal(journal) as record:
        seen = offers.history(record, origin, destination, since=since, until=until)

    if as_json:
        print_json({"observations": [_members(each) for each in seen]})
    elif seen:
        heads = ["seen", "leaves", "company", "price", "places", "for"]
        print_table(heads, [_row(each) for each in seen], right=["price"], title=seen.route)
    else:
        say_on_stderr("No observation.")


def _members(seen: offers.Observation) -> dict[str, object]:
    """Return an observation as a JSON object."""
    names = ("seen_at", "company", "depart_at", "price", "currency", "vehicle")
    passengers = [
        {"type": each.type.value, "gender": each.gender.value, "age": each.age}
        for each in seen.passengers
    ]
    return {
        **members_of(seen, *names, "reservation_type"),
        "day": seen.day.isoformat(),
        "places": dict(seen.places),
        "passengers": passengers,
    }


def _row(seen: offers.Observation) -> list[object]:
    """Return an observation as a row of a table."""
    places = ", ".join(f"{number} {kind}" for kind, number in seen.places.items())
    return [
        moment(seen.seen_at),
        moment(seen.depart_at),
        seen.company,
        money(seen.price, seen.currency),
        places,
        party_text(seen.passengers),
    ]
