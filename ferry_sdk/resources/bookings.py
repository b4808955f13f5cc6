"""Bookings: made, confirmed, read, priced for cancelling, cancelled."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from decimal import Decimal

from ferry_sdk._engine.operation import Operation, Write
from ferry_sdk._engine.parsing import Record
from ferry_sdk._engine.validation import seconds
from ferry_sdk._protocols.paths import identifier
from ferry_sdk._protocols.rest import Rest
from ferry_sdk.models.bookings import (
    Booking,
    BookingCancellation,
    BookingConfirmation,
    BookingCreated,
)
from ferry_sdk.models.inputs import (
    Contact,
    ContactDict,
    Passenger,
    PassengerDict,
    Selection,
    SelectionDict,
    Vehicle,
    VehicleDict,
)
from ferry_sdk.models.tickets import CancellationFee
from ferry_sdk.resources import arguments
from ferry_sdk.resources.base import Resource, TransportT_co, method
from ferry_sdk.resources.conditions import Until, booking_until
from ferry_sdk.resources.guards import penalty_within, total_is
from ferry_sdk.resources.read_back import read_back
from ferry_sdk.safety import SAFETY


class BookingsGroup(Resource[TransportT_co]):
    """Bookings and what is done with them."""

    @method
    def create(
        self,
        *,
        availabilities: Sequence[Selection | SelectionDict],
        passengers: Sequence[Passenger | PassengerDict],
        reservation_type: arguments.ReservationTypeName | str | None = None,
        vehicle: Vehicle | VehicleDict | None = None,
        contact: Contact | ContactDict | None = None,
    ) -> Operation[BookingCreated]:
        """Book what a search found. It is sent once.

        Interface: POST /api/booking.

        Args:
            availabilities: One selection a direction, of what was found.
            passengers: Who travels, as on the travel documents.
            reservation_type: TICKET, PRESALE or OPTION, as the tariff is.
            vehicle: The vehicle that was searched with, by the code of its type.
            contact: Whom the carrier reaches.

        Returns:
            The booking, with what may be done next.

        Raises:
            InvalidInputError: An argument cannot be sent, or a tariff has expired or must not be
                paired with another carrier; `field` names it.
            UnresolvedWriteError: The same booking is on record and may have been made.
            BookingCreateError: The service made no booking.
            OutcomeUnknownError: The booking may have been made.
            FerryError: Anything else that went wrong.

        Example:
            ```python
            from datetime import date, timedelta

            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                routes = {one.route: one.journey_id for one in ferry.catalogue.journeys()}
                (sailing, *_) = ferry.availability.search(
                    company="BALEARIA",
                    depart_code="ESTRF",
                    arrive_code="MATNG",
                    out_journey_id=routes["Tarifa → Tangier (city)"],
                    out_at=date.today() + timedelta(days=30),
                    out_time="08:00",
                    passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
                )
                booking = ferry.bookings.create(
                    availabilities=[
                        sailing.select(tariff=sailing.tariffs[0], place=sailing.places[0])
                    ],
                    passengers=[{"type": "Adult", "first_name": "Ada", "last_name": "Reyes"}],
                )
                print(booking.stage, booking.total_price, booking.currency)
                # > payment_due 17.21 EUR
            ```
        """
        chosen = arguments.selections(availabilities)
        body = arguments.booking(
            arguments.REST_WORDS,
            availabilities=chosen,
            passengers=passengers,
            reservation_type=reservation_type,
            vehicle=vehicle,
            contact=contact,
        )
        return Operation(
            Rest.post("booking", body=body),
            Record(BookingCreated),
            SAFETY["bookings.create"],
            Write(body, expiries=arguments.expiries(chosen)),
        )

    @method
    def confirm(
        self, booking_id: str, *, expect_total: Decimal | int | str | None = None
    ) -> Operation[BookingConfirmation]:
        """Confirm a booking: it is paid, and its tickets are made.

        It is sent once. Where the reply is lost, the booking is read until it shows the effect,
        the deadline has passed, or, without one, 30 seconds have. Callers who confirm the same
        booking at the same time share one request. Interface: POST /api/booking/confirm.

        Args:
            booking_id: The booking.
            expect_total: What it is expected to cost, in the booking's currency; it is read
                first, and left alone if it costs anything else.

        Returns:
            The confirmation with the first ticket; `get` lists all.

        Raises:
            PriceChangedError: It does not cost what was expected.
            BookingConfirmError: The service did not confirm it.
            OutcomeUnknownError: It may have been confirmed.
            FerryError: Anything else that went wrong.
        """
        subject = {"booking_id": identifier(booking_id, "booking_id")}
        row = SAFETY["bookings.confirm"]
        guard = None
        if expect_total is not None:
            guard = total_is(arguments.money(expect_total, "expect_total"), booking_id)
        return Operation(
            Rest.post("booking", "confirm", body={"id": booking_id}),
            Record(BookingConfirmation, booking_id=booking_id),
            row,
            Write(subject, subject, read_back(row, subject), guard),
        )

    @method
    def get(self, booking_id: str) -> Operation[Booking]:
        """Read a booking with its tickets.

        Interface: GET /api/booking/{id}.

        Raises:
            NotFoundError: There is no such booking.
            FerryError: Anything else that went wrong.
        """
        return Operation(
            Rest.get("booking", identifier(booking_id, "booking_id")),
            Record(Booking, booking_id=booking_id),
            SAFETY["bookings.get"],
        )

    @method
    def wait(
        self,
        booking_id: str,
        *,
        until: Until,
        deadline: float,
        on_progress: Callable[[Booking], Awaitable[None] | None] | None = None,
    ) -> Operation[Booking]:
        """Read a booking again and again, until it is as wanted.

        The pauses grow gently, and are cut short where the booking or an action is due to
        expire. Failures that pass are outlived. Interface: GET /api/booking/{id}.

        Args:
            booking_id: The booking.
            until: A stage, several, or a function that says whether a booking is as wanted.
            deadline: Seconds at the most; it goes before the client's own.
            on_progress: Called with every booking that is read; awaited where it can be.

        Returns:
            The booking that is as wanted.

        Raises:
            RequestTimeoutError: It is not, or it is voided or lapsed and never will be;
                `last_seen` is the booking seen last.
            NotFoundError: There is no such booking.
            FerryError: Anything else that went wrong.
        """
        return Operation(
            Rest.get("booking", identifier(booking_id, "booking_id")),
            Record(Booking, booking_id=booking_id),
            SAFETY["bookings.wait"],
            wait=booking_until(until, seconds(deadline, "deadline"), on_progress),
        )

    @method
    def cancel(
        self,
        booking_id: str,
        *,
        booking_reference: str | None = None,
        max_penalty: Decimal | int | str | None = None,
    ) -> Operation[BookingCancellation]:
        """Cancel a booking with all its tickets; fees may apply.

        It is sent once. Where the reply is lost, the booking is read until it shows the effect,
        the deadline has passed, or, without one, 30 seconds have.
        Interface: POST /api/booking/cancel.

        Args:
            booking_id: The booking.
            booking_reference: The service's reference, to be sure of the booking.
            max_penalty: What may be kept at the most, in the booking's currency; it is asked
                first, and nothing is cancelled if it is more.

        Returns:
            The refund, in the booking's currency. With `max_penalty` also what was `previewed`,
            and the `refund_shortfall` against it.

        Raises:
            PenaltyExceededError: More would be kept than is allowed.
            OutcomeUnknownError: It may have been cancelled.
            FerryError: Anything else that went wrong.
        """
        subject = {"booking_id": identifier(booking_id, "booking_id")}
        body = arguments.given(
            **subject, booking_reference=arguments.optional(booking_reference, "booking_reference")
        )
        row = SAFETY["bookings.cancel"]
        guard = None
        if max_penalty is not None:
            guard = penalty_within(arguments.money(max_penalty, "max_penalty"), booking_id)
        return Operation(
            Rest.post("booking", "cancel", body=body),
            Record(BookingCancellation, booking_id=booking_id),
            row,
            Write(subject, subject, read_back(row, subject), guard),
        )

    @method
    def cancel_fee(self, id: str) -> Operation[CancellationFee]:  # noqa: A002 -- the wire's name
        """What cancelling a booking or a ticket now would cost. Nothing is changed.

        Interface: POST /api/booking/cancel-fee.

        Args:
            id: A booking or a ticket.

        Returns:
            Penalty and refund in `currency`.

        Raises:
            FerryError: Anything that went wrong.
        """
        body = {"id": identifier(id, "id")}
        return Operation(
            Rest.post("booking", "cancel-fee", body=body),
            Record(CancellationFee),
            SAFETY["bookings.cancel_fee"],
        )
