"""`ferry offers watch`: search for the wishes, and print their events."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from ferry_sdk import offers
from ferry_sdk._runtime.money import money
from ferry_sdk.cli.commands.offers.output import describe_rule, rule_members
from ferry_sdk.cli.terminal.options import Common, JournalUrl, open_journal, option
from ferry_sdk.cli.terminal.output import members_of, moment, print_json, say
from ferry_sdk.cli.trips.searches import trip_members, warn_of_missing


def watch_offers(
    *,
    journal: JournalUrl,
    max_calls: Annotated[str, option("N/hour", help="The most searches in an hour.")],
    every: Annotated[
        float, option("HOURS", help="Hours until a search is made again.", min=0.01)
    ] = 6.0,
    deadline: Annotated[float, option("SECONDS", help="End after this time.", min=1)] = 3600.0,
    keys: Annotated[
        list[str] | None, option("KEY", "--key", help="Only this wish; repeatable.")
    ] = None,
    common: Common,
) -> None:
    """Search for the wishes of a journal, and print each event; with --json, a document for each.

    Example: ferry offers watch --journal sqlite:///ferry.db --max-calls 500/hour
    """
    with (
        open_journal(journal) as record,
        common.open_client() as ferry,
        offers.watch(
            ferry,
            record,
            deadline=deadline,
            every=timedelta(hours=every),
            max_calls=max_calls,
            keys=keys or None,
        ) as events,
    ):
        for event in events:
            if common.as_json:
                print_json(_event_members(event))
            else:
                say(_describe(event))
        warn_of_missing(events.report)


def _describe(event: offers.OfferEvent) -> str:
    """Return an event on one line."""
    if event.trip is None or event.rule is None or event.price is None:
        return f"{event.key}: ended"
    trip = event.trip
    text = f"{event.key}: {event.kind}, {money(event.price, event.currency or '')}"
    if event.before is not None:
        text += f", before {money(event.before, event.currency or '')}"
    text += f", {trip.outward.depart_name} → {trip.outward.arrive_name}"
    return f"{text}, {moment(trip.depart_at)}, {trip.outward_company} ({describe_rule(event.rule)})"


def _event_members(event: offers.OfferEvent) -> dict[str, object]:
    """Return an event as a JSON object."""
    return {
        **members_of(event, "id", "key", "kind", "seen_at", "price", "before", "currency"),
        "rule": event.rule and rule_members(event.rule),
        "trip": event.trip and trip_members(event.trip),
    }
