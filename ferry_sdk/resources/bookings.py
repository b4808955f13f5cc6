"""Create, confirm, read and cancel bookings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from decimal import Decimal
from typing import Final

from ferry_sdk._engine.operation import Operation, Write
from ferry_sdk._engine.parsing import Record
from ferry_sdk._engine.safety import SAFETY
from ferry_sdk._engine.validation import seconds
from ferry_sdk._protocols.json_body import encode_json
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
    Traveller,
    Vehicle,
    VehicleDict,
)
from ferry_sdk.models.tickets import CancellationFee
from ferry_sdk.resources import arguments, bodies
from ferry_sdk.resources.arguments import identifier
from ferry_sdk.resources.base import Resource, method
from ferry_sdk.resources.conditions import Until, booking_until
from ferry_sdk.resources.guards import penalty_guard, read_fee, total_guard
from ferry_sdk.resources.read_back import change, read_back_created, read_booking
from ferry_sdk.types import IdempotencyKey

_CREATED: Final = Record(BookingCreated)


class BookingsGroup(Resource):
    """Create, confirm, read and cancel bookings."""

    @method
    def create(
        self,
        *,
        availabilities: Sequence[Selection | SelectionDict],
        passengers: Sequence[Passenger | PassengerDict | Traveller],
        reservation_type: arguments.ReservationTypeName | str | None = None,
        vehicle: Vehicle | VehicleDict | None = None,
        contact: Contact | ContactDict | None = None,
        idempotency_key: str | None = None,
    ) -> Operation[BookingCreated]:
        """Create a booking. It is sent again only if nothing was done, as after a 429.

        If the reply is unreadable, a 408 or 5xx, or cut off, and names the booking, the booking is
        read and returned with ``read_back=True``. So is the booking that an `idempotency_key` has
        already: then nothing is sent. Interface: POST /api/booking.

        Args:
            availabilities: One selection for each direction.
            passengers: The travellers, named as on their travel documents.
            reservation_type: TICKET, PRESALE or OPTION; None: that of the tariff, if selected.
            vehicle: The vehicle of the search, with the code of its type.
            contact: The person whom the ferry company can reach.
            idempotency_key: Your id of the booking: it is made once for a key, whoever repeats the
                call with the same journal. 1 to 255 printable ASCII characters.

        Returns:
            The booking, with its next actions.

        Raises:
            InvalidInputError: An argument is invalid, or a tariff has expired or cannot be
                combined with another company; `field` names it.
            ReadOnlyError: The client can only read.
            IdempotencyError: The key was used for another booking.
            UnresolvedWriteError: The journal has the same booking with an unknown outcome, or the
                booking of the key, which cannot be read.
            ConfigurationError: There is a key, and no journal.
            BookingCreateError: The service did not create the booking.
            OutcomeUnknownError: The booking may have been created; `booking_id` is its id if the
                reply named it.
            FerryError: The call failed for another reason.

        Example:
            ```python
            from datetime import date, timedelta

            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                trips = ferry.trips.search(
                    "Tarifa",
                    "MATNG",
                    on=date.today() + timedelta(days=30),
                    passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
                )
                booking = ferry.bookings.create(
                    availabilities=trips[0].select(),
                    passengers=[{"type": "Adult", "first_name": "Ada", "last_name": "Reyes"}],
                )
                print(booking.stage, booking.total_price, booking.currency)
                # > payment_due 12.32 EUR
            ```
        """
        chosen = bodies.selections(availabilities)
        key: IdempotencyKey | None = None
        if idempotency_key is not None:
            passengers = bodies.to_sequence(passengers)
            key = bodies.key_for(
                idempotency_key,
                chosen,
                passengers,
                vehicle=vehicle,
                contact=contact,
            )

        body = bodies.booking(
            chosen,
            passengers,
            reservation_type=reservation_type,
            vehicle=vehicle,
            contact=contact,
        )
        content = encode_json(body)
        write: Write[BookingCreated] = Write(
            content,
            {},
            expiries=bodies.expiries(chosen),
            read_back_named=read_back_created,
            idempotency_key=key,
        )
        call = Rest("POST", "booking", content)
        return Operation(call, _CREATED, SAFETY["bookings.create"], write=write)

    @method
    def confirm(
        self,
        booking_id: str,
        *,
        expect_total: Decimal | int | str | None = None,
        currency: str | None = None,
    ) -> Operation[BookingConfirmation]:
        """Confirm a booking: the service processes its payment and issues its tickets.

        From then on, changes cost fees. The interface does not show which account the service
        charges, nor what it does if the payment was recorded by `tickets.mark_paid` before.

        It is sent again only if nothing was done, as after a 429. If the reply is lost, the
        booking is polled until it shows the effect or the deadline passes (30 seconds without a
        deadline). Concurrent calls for the
        same booking share one request. Interface: POST /api/booking/confirm.

        Args:
            booking_id: The booking.
            expect_total: The expected total. The booking is read first, and not confirmed at any
                other total.
            currency: The currency of `expect_total` (ISO 4217); None: the booking's.

        Returns:
            The confirmation with the first ticket; `get` lists all.

        Raises:
            InvalidInputError: An argument is invalid; `field` names it.
            ReadOnlyError: The client can only read.
            UnresolvedWriteError: The journal has the same write with an unknown outcome.
            PriceChangedError: The total or its currency differs from what is expected.
            AlreadyDoneError: The booking was confirmed before.
            BookingConfirmError: It was not confirmed.
            OutcomeUnknownError: The booking may have been confirmed.
            FerryError: The call failed for another reason.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox, crossing

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                booking = ferry.bookings.create(**crossing(ferry))
                confirmed = ferry.bookings.confirm(
                    booking.booking_id, expect_total=booking.total_price
                )
                print(confirmed.status)
                # > confirmed
            ```
        """
        subject = {"booking_id": identifier(booking_id, "booking_id")}
        guard = total_guard(expect_total, currency, booking_id)
        call = Rest.post("booking", "confirm", body={"id": booking_id})
        return change("bookings.confirm", call, BookingConfirmation, subject=subject, guard=guard)

    @method
    def get(self, booking_id: str) -> Operation[Booking]:
        """Read a booking with its tickets.

        Interface: GET /api/booking/{id}.

        Args:
            booking_id: The booking.

        Returns:
            The booking with all its tickets, its stage and its possible actions.

        Raises:
            InvalidInputError: The id is empty, ``.`` or ``..``.
            NotFoundError: There is no such booking.
            FerryError: The call failed for another reason.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox, crossing

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                booking = ferry.bookings.create(**crossing(ferry))
                found = ferry.bookings.get(booking.booking_id)
                print(found.stage, len(found.tickets))
                # > payment_due 1
            ```
        """
        return read_booking(identifier(booking_id, "booking_id"))

    @method
    def wait(
        self,
        booking_id: str,
        *,
        until: Until,
        deadline: float,
        on_progress: Callable[[Booking], Awaitable[None] | None] | None = None,
    ) -> Operation[Booking]:
        """Poll a booking until it meets a condition.

        The interval grows slowly, and is shortened when the booking or an action is about to
        expire. Transient errors are retried. Interface: GET /api/booking/{id}.

        Args:
            booking_id: The booking.
            until: A stage, several stages, or a function that takes a booking and returns a bool.
            deadline: Maximum time in seconds; overrides the client's deadline.
            on_progress: Called with every booking that is read; an awaitable result is awaited.

        Returns:
            The booking that meets the condition.

        Raises:
            InvalidInputError: An argument is invalid; `field` names it.
            RequestTimeoutError: The deadline passed, or the booking is voided or lapsed and can
                no longer meet the condition; `last_seen` is the last booking read.
            NotFoundError: There is no such booking.
            FerryError: The call failed for another reason.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox, crossing

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                booking = ferry.bookings.create(**crossing(ferry))
                ferry.bookings.confirm(booking.booking_id)
                sold = ferry.bookings.wait(booking.booking_id, until="ticketed", deadline=30)
                print(sold.stage)
                # > ticketed
            ```
        """
        identifier(booking_id, "booking_id")
        wait = booking_until(until, seconds(deadline, "deadline"), on_progress)
        return read_booking(booking_id, SAFETY["bookings.wait"], wait)

    @method
    def cancel(
        self,
        booking_id: str,
        *,
        booking_reference: str | None = None,
        max_penalty: Decimal | int | str | None = None,
        min_refund: Decimal | int | str | None = None,
        currency: str | None = None,
    ) -> Operation[BookingCancellation]:
        """Cancel a booking with all its tickets; fees may apply.

        It is sent again only if nothing was done, as after a 429. If the reply is lost, the
        booking is polled until it shows the effect or the deadline passes (30 seconds without a
        deadline).
        Interface: POST /api/booking/cancel.

        Args:
            booking_id: The booking.
            booking_reference: The service's reference, as an additional check.
            max_penalty: The highest acceptable penalty. The fee is read first, and nothing is
                cancelled if it is higher.
            min_refund: The lowest acceptable refund. The fee is read first, and nothing is
                cancelled if less is paid back.
            currency: The currency of both amounts (ISO 4217); None: that of the fee.

        Returns:
            The refund in the booking's currency. With an amount, also the `previewed` fee and
            the `refund_shortfall` against it.

        Raises:
            InvalidInputError: An argument is invalid; `field` names it.
            ReadOnlyError: The client can only read.
            UnresolvedWriteError: The journal has the same write with an unknown outcome.
            PenaltyExceededError: The penalty, the refund or their currency is not acceptable.
            AlreadyDoneError: The booking was cancelled before.
            NotFoundError: There is no such booking.
            ConflictError: A ticket of the booking cannot be cancelled; nothing was.
            UnprocessableEntityError: The reference is not that of the booking.
            OutcomeUnknownError: The booking may have been cancelled.
            FerryError: The call failed for another reason.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox, crossing

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                booking = ferry.bookings.create(**crossing(ferry))
                ferry.bookings.cancel(booking.booking_id, max_penalty=0)
                print(ferry.bookings.get(booking.booking_id).stage)
                # > voided
            ```
        """
        subject = {"booking_id": identifier(booking_id, "booking_id")}
        reference = arguments.optional(booking_reference, "booking_reference")
        body = arguments.drop_none({**subject, "booking_reference": reference})
        guard = penalty_guard(
            max_penalty, min_refund, currency, subject=subject, operation="bookings.cancel"
        )
        call = Rest.post("booking", "cancel", body=body)
        return change("bookings.cancel", call, BookingCancellation, subject=subject, guard=guard)

    @method
    def cancel_fee(self, id: str) -> Operation[CancellationFee]:  # noqa: A002 -- the wire's name
        """Return what cancelling a booking or a ticket now would cost. Nothing is changed.

        Interface: POST /api/booking/cancel-fee.

        Args:
            id: The id of a booking or a ticket.

        Returns:
            Penalty and refund in `currency`.

        Raises:
            InvalidInputError: The id is empty, ``.`` or ``..``.
            NotFoundError: There is no such booking or ticket.
            FerryError: The call failed for another reason.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox, crossing

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                booking = ferry.bookings.create(**crossing(ferry))
                ferry.bookings.confirm(booking.booking_id)
                fee = ferry.bookings.cancel_fee(booking.booking_id)
                print(fee.penalty_amount, "kept,", fee.refund_amount, "back", fee.currency)
                # > 3.21 kept, 12.84 back EUR
            ```
        """
        return read_fee("bookings.cancel_fee", identifier(id, "id"), "id")
