"""Bookings: made, confirmed, read, priced for cancelling, cancelled."""

from __future__ import annotations

from collections.abc import Sequence

from ferry_sdk.answers import One
from ferry_sdk.binding import Resource, TransportT_co, method
from ferry_sdk.models.bookings import (
    Booking,
    BookingCancellation,
    BookingConfirmation,
    BookingCreated,
    CancellationFee,
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
from ferry_sdk.operation import Operation
from ferry_sdk.protocols import arguments
from ferry_sdk.protocols.paths import identifier
from ferry_sdk.protocols.rest import Rest
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
            availabilities: One selection a direction; `Availability.select` makes them.
            passengers: Who travels, as on the travel documents.
            reservation_type: TICKET, PRESALE or OPTION, as the tariff is.
            vehicle: The vehicle that was searched with.
            contact: Whom the carrier reaches.

        Returns:
            The booking, with what may be done next.

        Raises:
            InvalidInputError: An argument cannot be sent; `field` names it.
            BookingCreateError: The service made no booking.
            OutcomeUnknownError: The booking may have been made.
            FerryError: Anything else that went wrong.
        """
        body = arguments.booking(
            arguments.REST_WORDS,
            availabilities=availabilities,
            passengers=passengers,
            reservation_type=reservation_type,
            vehicle=vehicle,
            contact=contact,
        )
        return Operation(
            Rest.post("booking", body=body), One(BookingCreated), SAFETY["bookings.create"]
        )

    @method
    def confirm(self, booking_id: str) -> Operation[BookingConfirmation]:
        """Confirm a booking: it is paid, and its tickets are made. It is sent once.

        Interface: POST /api/booking/confirm.

        Returns:
            The confirmation with the first ticket; `get` lists all.

        Raises:
            BookingConfirmError: The service did not confirm it.
            OutcomeUnknownError: It may have been confirmed.
            FerryError: Anything else that went wrong.
        """
        body = {"id": identifier(booking_id, "booking_id")}
        return Operation(
            Rest.post("booking", "confirm", body=body),
            One(BookingConfirmation),
            SAFETY["bookings.confirm"],
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
            One(Booking),
            SAFETY["bookings.get"],
        )

    @method
    def cancel(
        self, booking_id: str, *, booking_reference: str | None = None
    ) -> Operation[BookingCancellation]:
        """Cancel a booking with all its tickets. It is sent once; fees may apply.

        Interface: POST /api/booking/cancel.

        Args:
            booking_id: The booking.
            booking_reference: The service's reference, to be sure of the booking.

        Returns:
            The refund, in the booking's currency.

        Raises:
            OutcomeUnknownError: It may have been cancelled.
            FerryError: Anything else that went wrong.
        """
        body = arguments.given(
            booking_id=identifier(booking_id, "booking_id"), booking_reference=booking_reference
        )
        return Operation(
            Rest.post("booking", "cancel", body=body),
            One(BookingCancellation),
            SAFETY["bookings.cancel"],
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
            One(CancellationFee),
            SAFETY["bookings.cancel_fee"],
        )
