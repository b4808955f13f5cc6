"""`ferry change`: replace a booking by another one, with one question before anything is sent.

The new booking comes from a file (`--from`), or from a day: `--on` searches the same ports again,
for the same travellers and the same vehicle. A booking does not say all of that, because the
interface has no gender of a traveller, no number plate and no contact.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ferry_sdk import orders
from ferry_sdk._runtime.money import money
from ferry_sdk.cli.commands.book import FROM_FILE
from ferry_sdk.cli.commands.cancel import read_fee
from ferry_sdk.cli.commands.confirm import check_stage
from ferry_sdk.cli.commands.journal.unresolved import ask_about_unresolved
from ferry_sdk.cli.commands.orders.output import order_members
from ferry_sdk.cli.commands.show import booking_members, names_of, sailings_of
from ferry_sdk.cli.terminal.errors import print_write
from ferry_sdk.cli.terminal.options import (
    Common,
    JournalUrl,
    Yes,
    open_command_journal,
    option,
    parse_amount,
    parse_time,
    problem_of,
)
from ferry_sdk.cli.terminal.output import (
    error_console,
    print_details,
    show_progress,
    warn,
    words,
)
from ferry_sdk.cli.terminal.prompts import ask_consent, require_terminal
from ferry_sdk.cli.trips.booking_request import (
    BookingRequest,
    Choice,
    WayChoice,
    print_summary,
    selections_of,
)
from ferry_sdk.cli.trips.choices import request_cheapest
from ferry_sdk.cli.trips.files import read_request, read_travellers
from ferry_sdk.cli.trips.options import day_option
from ferry_sdk.cli.trips.searches import Search
from ferry_sdk.client import Ferry
from ferry_sdk.errors import FerryError, InvalidInputError
from ferry_sdk.models.bookings import Booking
from ferry_sdk.models.enums import Stage, TicketStatus
from ferry_sdk.models.inputs import Selection, Traveller
from ferry_sdk.models.sums import exact_sum
from ferry_sdk.models.tickets import CancellationFee, Ticket, TicketJourney
from ferry_sdk.models.travellers import Travellers
from ferry_sdk.planning.names import fold
from ferry_sdk.planning.trips import ways_of

_ON: Final = "'--on'"
_DAY = day_option("--on", "New day of departure, between the same ports: 2027-03-01, or +30.")


@dataclass(frozen=True)
class ChangeOptions:
    """The options of a change to another day.

    Attributes:
        leaves: Time of departure; default: any, the cheapest.
        companies: Ask only this company; repeatable.
        travellers: The travellers, as JSON or CSV; required, as the interface shows no gender.
    """

    leaves: Annotated[str | None, option("HH:MM", parse=parse_time)] = None
    companies: Annotated[list[str] | None, option("CODE", "--company")] = None
    travellers: Annotated[Path | None, option("FILE")] = None


_FEE = option("AMOUNT", help="Refuse a higher fee for the old booking.", parse=parse_amount)


def change(
    *,
    booking_id: Annotated[str, typer.Argument(metavar="BOOKING", help="The booking's id.")],
    on: Annotated[date | None, _DAY] = None,
    options: ChangeOptions,
    from_file: Annotated[Path | None, FROM_FILE] = None,
    max_penalty: Annotated[Decimal | None, _FEE] = None,
    journal: JournalUrl,
    yes: Yes = False,
    common: Common,
) -> None:
    """Replace a booking by another one.

    The new one is made and paid, and only then the old one is cancelled. Shows what is paid, kept
    and given back, and asks once; a higher price or fee than shown is never accepted.

    Example: ferry change ID --on +31 --leaves 14:45 --travellers party.csv
    """
    if (on is None) == (from_file is None):
        raise typer.BadParameter("expected a day, or a file with --from", param_hint=_ON)
    if from_file is not None and any(value is not None for value in vars(options).values()):
        raise typer.BadParameter("cannot be combined with other travels", param_hint="'--from'")
    require_terminal(yes=yes)

    with open_command_journal(journal) as record, common.open_client() as ferry:
        ask_about_unresolved(record, "Book another one all the same?", yes=yes)
        with show_progress("Reading the booking"):
            old = ferry.bookings.get(booking_id)
        check_stage(old.stage, "changed", "BOOKING")
        if old.stage == Stage.IN_PROGRESS:
            # Nobody is asked about a fee that is another one as soon as the tickets are there.
            problem = "its tickets are being issued: wait for them, then change it"
            raise InvalidInputError(problem, field="BOOKING")
        fee = read_fee(ferry, booking_id, max_penalty)

        if from_file is not None:
            request, choices = read_request(from_file, ferry)
        else:
            request, choices = _request_of(ferry, old, on, options)
        (selections,) = selections_of(request, choices)
        price, currency = _price_of(selections)

        print_summary(request, choices, payment="It is paid at once")
        print_details(
            ("booking", f"{old.booking_reference}, {money(old.total_price, old.currency)}"),
            ("its sailing", tuple(sailings_of(_standing(old)))),
            ("kept of it", money(fee.penalty_amount, fee.currency)),
            ("given back", money(fee.refund_amount, fee.currency)),
            ("new booking", money(price, currency)),
            on=error_console(),
        )
        who = _other_travellers(old, request)
        if _is_same_sailing(old, choices):
            warn("the new sailing is the one of the old booking")
        ask_consent(f"Pay {money(price, currency)}{who} and cancel the old booking?", yes=yes)

        with show_progress("Changing"):
            order = orders.change(
                ferry,
                booking_id,
                to=selections,
                **request.party,
                expect_totals={currency: price},
                max_penalty={fee.currency: fee.penalty_amount},
                min_refund={fee.currency: fee.refund_amount},
                journal=record,
            )
            new, refund = _read_result(ferry, order, booking_id)
    _print_result(order, old, new, refund=refund, as_json=common.as_json)


# ---- The new booking --------------------------------------------------------------------------


def _request_of(
    ferry: Ferry, old: Booking, on: date | None, options: ChangeOptions
) -> tuple[BookingRequest, list[Choice]]:
    """Search the ports of a booking again, and return the cheapest trip that fits.

    Raises:
        InvalidInputError: The booking does not say enough, or nothing leaves at the time.
        CommandError: Nothing sails.
    """
    ticket, way = _only_way(old)
    search = Search.model_validate(
        {
            "origin": way.depart_port_name,
            "destination": way.arrive_port_name,
            "on": on,
            "companies": options.companies,
            "vehicle": _vehicle_of(ticket),
        }
    )
    if options.travellers is not None:
        party = read_travellers(options.travellers)
    else:
        party = _travellers_of(ticket, search.on)

    try:
        return request_cheapest(search, party, ferry, choices=[WayChoice(leaves=options.leaves)])
    except InvalidInputError as error:
        if error.field == "choices[0].leaves":
            raise InvalidInputError(problem_of(error), field="--leaves") from None
        raise


def _only_way(booking: Booking) -> tuple[Ticket, TicketJourney]:
    """Return the one crossing of a booking with its ticket.

    Raises:
        InvalidInputError: It has several, or none.
    """
    ways: list[tuple[Ticket, TicketJourney]] = []
    for ticket in _standing(booking):
        ways += [(ticket, journey) for journey in _journeys(ticket)]
    if len(ways) != 1:
        problem = f"the booking has {len(ways)} crossings, not one: describe the new one in a file"
        raise InvalidInputError(f"{problem}, with --from", field="BOOKING")
    return ways[0]


def _travellers_of(ticket: Ticket, day: date) -> Travellers:
    """Return the travellers of a ticket, as far as the service shows them.

    Raises:
        InvalidInputError: Something is missing that a search or a booking requires.
    """
    rows: list[Any] = []
    for passenger in ticket.passengers:
        # A service may send more than the interface has, such as the gender.
        members = {**vars(passenger), **(passenger.model_extra or {})}
        rows.append({name: members.get(name) for name in Traveller.model_fields})

    missing = "travellers"
    if rows:
        try:
            party = Travellers(rows)
            problems = party.problems(on=day)
            if not problems:
                return party
            missing = f"passengers[{problems[0].traveller}].{problems[0].field}"
        except InvalidInputError as error:  # a value of the service that no traveller can have
            missing = error.field
    problem = f"the booking does not say {missing}: pass the travellers in a file"
    raise InvalidInputError(problem, field="--travellers")


def _vehicle_of(ticket: Ticket) -> str | None:
    """Return the vehicle of a ticket as a search names it."""
    vehicle = ticket.vehicle
    if vehicle is None:
        return None
    name = vehicle.vehicule_code or words(vehicle.brand_name, vehicle.model)
    if not name:
        problem = "the booking does not say which vehicle it is: describe the new one in a file"
        raise InvalidInputError(f"{problem}, with --from", field="BOOKING")
    warn("the number plate is not known from the booking; a file, with --from, may have it")
    return name


def _standing(booking: Booking) -> list[Ticket]:
    """Return the tickets that are not cancelled."""
    return [ticket for ticket in booking.tickets if ticket.status != TicketStatus.CANCELED]


def _other_travellers(old: Booking, request: BookingRequest) -> str:
    """Return words for the question if the new booking has other names, and print both."""
    old_names = names_of(_standing(old))
    new_names = [f"{who.first_name} {who.last_name}" for who in request.passengers]
    if sorted(map(fold, old_names)) == sorted(map(fold, new_names)):
        return ""

    warn("the travellers are not those of the old booking")
    print_details(
        ("old names", ", ".join(old_names)),
        ("new names", ", ".join(new_names)),
        on=error_console(),
    )
    return " for other travellers"


def _is_same_sailing(old: Booking, choices: Sequence[Choice]) -> bool:
    """Return whether what was chosen leaves when the old booking does, between the same ports."""
    chosen: list[tuple[str, str, datetime]] = []
    for choice in choices:
        chosen += [
            (way.depart_name, way.arrive_name, way.depart_at) for way in ways_of(choice.trip)
        ]

    booked: list[tuple[str, str, datetime | str]] = []
    for ticket in _standing(old):
        booked += [
            (journey.depart_port_name, journey.arrive_port_name, journey.depart_at)
            for journey in _journeys(ticket)
        ]
    return chosen != [] and chosen == booked


def _journeys(ticket: Ticket) -> list[TicketJourney]:
    legs = (ticket.availability.outward, ticket.availability.return_)
    return [leg.journey for leg in legs if leg is not None and leg.journey is not None]


def _price_of(selections: Sequence[Selection]) -> tuple[Decimal, str]:
    """Return what the tariffs cost, with their currency.

    Raises:
        InvalidInputError: The selections do not say it.
    """
    currencies = {selection.currency for selection in selections}
    currency = currencies.pop() if len(currencies) == 1 else None
    amounts = [selection.amount for selection in selections if selection.amount is not None]
    if currency is None or len(amounts) != len(selections):
        problem = "the file has to say amount and currency of each"
        raise InvalidInputError(problem, field="availabilities")
    return exact_sum(amounts), currency


# ---- The result -------------------------------------------------------------------------------


def _read_result(
    ferry: Ferry, order: orders.Order, old_id: str
) -> tuple[Booking | None, CancellationFee | None]:
    """Return the new booking, and what was kept and given back of the old one.

    None stands for what cannot be read: the change is done, whatever becomes of these reads.
    """
    new: Booking | None = None
    refund: CancellationFee | None = None
    with suppress(FerryError):
        new = ferry.bookings.get(str(order.parts[0].booking_id))
    with suppress(FerryError):
        refund = ferry.bookings.cancel_fee(old_id)
    return new, refund


def _print_result(
    order: orders.Order,
    old: Booking,
    new: Booking | None,
    *,
    refund: CancellationFee | None,
    as_json: bool,
) -> None:
    new_id = str(order.parts[0].booking_id)
    details: list[tuple[str, object]] = []
    if new is not None:
        numbers = [ticket.ticket_number or "not yet issued" for ticket in new.tickets]
        details += [
            ("changed", f"{old.booking_reference} → {new.booking_reference}, {new.stage}"),
            ("paid", money(new.total_price, new.currency)),
            ("tickets", ", ".join(numbers)),
        ]
    else:
        details.append(("changed", f"{old.booking_reference} → {new_id}"))
    if refund is not None:
        details += [
            ("kept", money(refund.penalty_amount, refund.currency)),
            ("refund", money(refund.refund_amount, refund.currency)),
        ]

    print_write(
        "it was changed",
        new_id,
        document={
            "order": order_members(order),
            "booking": None if new is None else booking_members(new),
            "cancellation": None if refund is None else refund.model_dump(mode="json"),
        },
        details=[
            *details,
            ("booking", new_id),
            ("order", order.id),
            ("show", f"ferry show {new_id}"),
        ],
        as_json=as_json,
    )
