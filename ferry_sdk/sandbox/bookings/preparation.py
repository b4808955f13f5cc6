"""Bookings to test with, each in the stage that a test needs.

1. `new_booking` finds sailings by a search, and returns the request that books them.
2. `Sales` makes the booking of this request, as it does for a client.
3. `bring_to_stage` does to its tickets what payments, confirmations and cancellations do.

None of this counts as a request or as an effect, takes a fault, or moves the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from ferry_sdk.models.enums import Stage, TicketStatus
from ferry_sdk.sandbox.bookings.bookings import Booking
from ferry_sdk.sandbox.bookings.selection import select_cheapest
from ferry_sdk.sandbox.bookings.tickets import Ticket
from ferry_sdk.sandbox.network.geography import Company, Journey
from ferry_sdk.sandbox.network.network import journey_id
from ferry_sdk.sandbox.network.timetable import Sailing, Timetable
from ferry_sdk.sandbox.offers.offer import Offer
from ferry_sdk.sandbox.offers.offers import Offers
from ferry_sdk.sandbox.requests.bookings import NewBooking
from ferry_sdk.sandbox.requests.control import BookingToMake
from ferry_sdk.sandbox.requests.errors import InvalidOrderError, RefusedError, text
from ferry_sdk.sandbox.requests.searches import Search

_COMPANY = "BALEARIA"
_JOURNEY = journey_id("ESTRF", "MATNG")
"""What is booked by default: it sails several times on every day of the year."""
_PARTIAL = (Stage.PARTIALLY_TICKETED, Stage.PARTIALLY_VOIDED)
"""These stages need two tickets."""
_DAYS = 366
_STAY = timedelta(days=7)
_ISSUING = timedelta(seconds=10)
"""How long a booking stays `in_progress`, whatever its company."""
_SEARCHED = {"order": 1, "type": "Adult", "param": "A", "gender": "Female", "age": 34}
_BOOKED = {
    "order": 1,
    "type": "Adult",
    "first_name": "Zoë",
    "last_name": "García Núñez",
    "gender": "F",
    "age": 34,
}


def new_booking(order: BookingToMake, offers: Offers, now: datetime) -> NewBooking:
    """Return the request that books the first sailings that fit.

    Raises:
        InvalidOrderError: The company is unknown or issues no two tickets, or nothing sails.
    """
    try:
        company = offers.network.company(order.company or _COMPANY)
    except RefusedError as error:
        (problem,) = error.problems
        raise InvalidOrderError("company", text(problem.text, "en", problem.values)) from None

    is_return = order.tickets > 1 or order.stage in _PARTIAL
    if is_return and company.one_ticket:
        raise InvalidOrderError("company", f"{company.name} issues one ticket for a round trip")

    journeys: Sequence[Journey] = offers.network.journeys_of(company)
    if order.company is None:
        journeys = [offers.network.journeys[_JOURNEY]]
    selected = _find_offers(
        offers, company, journeys, earliest=now + order.departs_in, is_return=is_return
    )
    selections = [select_cheapest(offer.id, "TICKET", offers) for offer in selected]
    return NewBooking.read(
        {"availabilities": [dict(each) for each in selections], "passengers": [_BOOKED]}
    )


def _find_offers(
    offers: Offers,
    company: Company,
    journeys: Sequence[Journey],
    *,
    earliest: datetime,
    is_return: bool,
) -> list[Offer]:
    """Return the first offer of a company, with one for the way back if there should be one.

    Raises:
        InvalidOrderError: Nothing sails, or everything is sold out.
    """
    for out in _sailings(offers.timetable, company, journeys, earliest):
        sailings = [out]
        if is_return:
            back_id = journey_id(out.journey.arrive.code, out.journey.depart.code)
            journey = offers.network.journeys[back_id]
            all_back = _sailings(offers.timetable, company, [journey], out.arrive_at + _STAY)
            sailings += islice(all_back, 1)

        # The search also finds later sailings of the day, and none that is sold out.
        wanted = [sailing.id for sailing in sailings]
        found = [each for each in offers.search(_search(sailings)) if each.sailing.id in wanted]
        if len(found) == len(wanted):
            return found
    raise InvalidOrderError("departs_in", f"{company.name} has no sailing within a year after that")


def _sailings(
    timetable: Timetable, company: Company, journeys: Sequence[Journey], earliest: datetime
) -> Iterator[Sailing]:
    """Yield the sailings of a year, earliest departure first."""
    # The day of departure is that of the port, where it may be a day earlier than in UTC.
    first_day = earliest.date() - timedelta(days=1)
    for number in range(_DAYS):
        day = first_day + timedelta(days=number)
        found: list[Sailing] = []
        for journey in journeys:
            found += timetable.sailings(company, journey, day)
        yield from sorted(
            (sailing for sailing in found if sailing.depart_at >= earliest),
            key=lambda sailing: sailing.depart_at.timestamp(),
        )


def _search(sailings: Sequence[Sailing]) -> Search:
    """Return the search that finds a sailing, and the one back if there are two."""
    out = sailings[0]
    request: dict[str, object] = {
        "company": out.company.code,
        "depart_code": out.journey.depart.code,
        "arrive_code": out.journey.arrive.code,
    }
    for prefix, sailing in zip(("out", "ret"), sailings, strict=False):
        request[f"{prefix}_journey_id"] = sailing.journey.id
        request[f"{prefix}_at"] = sailing.depart_at.date()
        request[f"{prefix}_time"] = sailing.depart_at.time()
    return Search.read({"request": request, "passengers": [_SEARCHED]})


@dataclass(frozen=True, slots=True)
class _Steps:
    """What can be done to a ticket that is not paid.

    Attributes:
        now: The time.
        new_number: Returns a number for a ticket.
    """

    now: datetime
    new_number: Callable[[Ticket], str]

    def leave(self, ticket: Ticket) -> None:
        """Do nothing."""

    def pay(self, ticket: Ticket) -> None:
        ticket.pay("test-payment")

    def begin_issue(self, ticket: Ticket) -> None:
        ticket.issue(self.now, self.new_number(ticket), delay=_ISSUING)

    def issue(self, ticket: Ticket) -> None:
        ticket.issue(self.now, self.new_number(ticket), delay=timedelta())

    def issue_and_cancel(self, ticket: Ticket) -> None:
        self.issue(ticket)
        ticket.cancel(self.now)

    def expire(self, ticket: Ticket) -> None:
        ticket.end(TicketStatus.EXPIRED)

    def fail(self, ticket: Ticket) -> None:
        ticket.status = TicketStatus.FAILED


_Step = Callable[[_Steps, Ticket], None]
_STEPS: Mapping[Stage, tuple[_Step, _Step]] = {
    Stage.PAYMENT_DUE: (_Steps.leave, _Steps.leave),
    Stage.ISSUANCE_DUE: (_Steps.pay, _Steps.pay),
    Stage.IN_PROGRESS: (_Steps.begin_issue, _Steps.begin_issue),
    Stage.TICKETED: (_Steps.issue, _Steps.issue),
    Stage.VOIDED: (_Steps.issue_and_cancel, _Steps.issue_and_cancel),
    Stage.LAPSED: (_Steps.expire, _Steps.expire),
    Stage.REJECTED: (_Steps.fail, _Steps.fail),
    Stage.PARTIALLY_TICKETED: (_Steps.issue, _Steps.fail),
    Stage.PARTIALLY_VOIDED: (_Steps.issue, _Steps.issue_and_cancel),
}
"""What brings a new booking to a stage: for its first ticket, and for the other one."""


def bring_to_stage(
    booking: Booking, stage: Stage, now: datetime, new_number: Callable[[Ticket], str]
) -> None:
    """Bring a booking whose tickets are not paid to a stage.

    Args:
        booking: The booking.
        stage: The stage, one that is known.
        now: The time.
        new_number: Returns a number for a ticket.
    """
    steps = _Steps(now, new_number)
    step_of_first, step_of_other = _STEPS[stage]
    first, *others = booking.tickets
    step_of_first(steps, first)
    for ticket in others:
        step_of_other(steps, ticket)
