"""Checks and reservations of the selected places."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from ferry_sdk.sandbox.bookings.tickets import Leg, Ticket
from ferry_sdk.sandbox.faults.faults import Faults
from ferry_sdk.sandbox.faults.kinds import PlaceTaken
from ferry_sdk.sandbox.offers.offers import Offers
from ferry_sdk.sandbox.requests.access import CallContext
from ferry_sdk.sandbox.requests.bookings import NewBooking
from ferry_sdk.sandbox.requests.errors import Problem, RefusedError


def check_selection(
    request: NewBooking,
    tickets: Iterable[Ticket],
    offers: Offers,
    faults: Faults,
    context: CallContext,
) -> None:
    """Check the places of a new booking, which the fault `place_taken` takes away.

    Raises:
        RefusedError: A place has been taken since the search.
    """
    legs = [leg for ticket in tickets for leg in ticket.legs]
    loss = faults.take(PlaceTaken, context.operation, lambda details: details.index < len(legs))
    if loss is not None:
        lost = legs[loss.index]
        if loss.sold_out:
            offers.inventory.sell_out(lost.offer.sailing.id, lost.place.kind.code)
        raise _place_taken(lost, request)
    for leg in legs:
        if not offers.is_free(leg.offer.sailing, leg.place, context.now):
            raise _place_taken(leg, request)


def check_places(ticket: Ticket, offers: Offers, now: datetime) -> None:
    """Check that a ticket that holds no places, such as one of a presale, can have them now.

    Raises:
        RefusedError: A place has been taken.
    """
    for leg in () if ticket.holds_place(now) else ticket.legs:
        if not offers.is_free(leg.offer.sailing, leg.place, now):
            raise _place_taken(leg)


def reserve(ticket: Ticket, offers: Offers) -> None:
    """Reserve the places of a ticket, for as long as it holds them."""
    for leg in ticket.legs:
        kind = leg.place.kind.code
        offers.inventory.add(leg.offer.sailing.id, kind, leg.place.units, ticket.holds_place)


def _place_taken(leg: Leg, request: NewBooking | None = None) -> RefusedError:
    chosen = [] if request is None else [each.place_id for each in request.availabilities]
    path = f"availabilities[{chosen.index(leg.place.id)}].place_id" if chosen else None
    return RefusedError(409, Problem("place_taken", path))
