"""The arguments of the operations on bookings and tickets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field

from ferry_sdk.sandbox.requests.body import Body
from ferry_sdk.sandbox.requests.errors import Problem
from ferry_sdk.sandbox.requests.fields import (
    Age,
    Country,
    Day,
    DocumentNumber,
    Email,
    Moment,
    Phone,
    Prefix,
    ReservationType,
    Text,
)
from ferry_sdk.sandbox.requests.party import (
    MOST_PASSENGERS,
    Order,
    PassengerType,
    age_problems,
    party_problems,
)

_MCP_TYPES: Mapping[str, PassengerType] = {"ADT": "Adult", "CHD": "Child", "INF": "Infant"}


class Identified(Body):
    """An id.

    Attributes:
        id: The id.
    """

    id: Text


class Selection(Body):
    """An availability with the selected tariff and place.

    Attributes:
        availability_id: The id of an availability from a search.
        tariff_id: The id of one of its tariffs.
        place_id: The id of one of its places.
    """

    availability_id: Text
    tariff_id: Text
    place_id: Text


class _Passenger(Body):
    """A passenger.

    Attributes:
        first_name: The first name.
        last_name: The last name.
        order: 1 to the number of passengers, each once; by default the list position.
        age: The age in years; it must fit the type.
        gender: M or F.
        birth_date: The date of birth, YYYY-MM-DD.
        nationality: The two-letter code of the country.
        doc_type: The type of the document; it requires doc_number.
        doc_number: The document's number: 3 to 30 letters, digits, spaces, slashes or hyphens.
        doc_expiration: The last day on which the document is valid, YYYY-MM-DD.
        email: An e-mail address.
    """

    first_name: Text
    last_name: Text
    order: Order | None = None
    age: Age | None = None
    gender: Literal["M", "F"] | None = None
    birth_date: Day | None = None
    nationality: Country | None = None
    doc_type: Literal["Passport", "IdentityCard"] | None = None
    doc_number: DocumentNumber | None = None
    doc_expiration: Day | None = None
    email: Email | None = None


class Passenger(_Passenger):
    """A passenger of a booking; most fields are optional.

    Attributes:
        type: Adult (12 to 120 years), Child (1 to 17) or Infant (0 to 4, with an adult).
    """

    type: PassengerType


class McpPassenger(_Passenger):
    """A passenger, for the tool that creates a booking.

    Attributes:
        type: ADT (12 to 120 years), CHD (1 to 17) or INF (0 to 4, with an adult).
    """

    type: Literal["ADT", "CHD", "INF"]

    def to_rest(self) -> Passenger:
        """Return the same passenger as REST spells it."""
        fields = {**dict(self), "type": _MCP_TYPES[self.type]}
        return Passenger.model_construct(None, **fields)  # the fields are validated already


class Vehicle(Body):
    """The vehicle of a booking.

    Attributes:
        code: The code of the vehicle's type, such as CAR.
        vehicule_code: The provider's code of the vehicle.
        brand: The brand.
        model: The model.
        identification: The number plate.
    """

    code: Text
    vehicule_code: Text | None = None
    brand: Text | None = None
    model: Text | None = None
    identification: Text | None = None


class Contact(Body):
    """The contact for a booking.

    Attributes:
        name: The name.
        email: An e-mail address.
        prefix: The dialling prefix of the country, such as +33.
        phone: The phone number without the prefix: 4 to 14 digits.
    """

    name: Text
    email: Email
    prefix: Prefix | None = None
    phone: Phone | None = None


class _Booking(Body):
    """A booking.

    Attributes:
        reservation_type: How to book; TICKET by default. It must be the type of the selected
            tariffs.
        vehicle: The vehicle, if the search had one.
        contact: The contact for the booking.
    """

    reservation_type: ReservationType = "TICKET"
    vehicle: Vehicle | None = None
    contact: Contact | None = None


Selections = Annotated[list[Selection], Field(min_length=1, max_length=2)]


class NewBooking(_Booking):
    """The arguments that create a booking.

    Attributes:
        availabilities: One availability, or one out and one back, each with a tariff and a place.
        passengers: Who travels: as many of each type as were searched for.
    """

    availabilities: Selections
    passengers: list[Passenger] = Field(min_length=1, max_length=MOST_PASSENGERS)

    def problems(self) -> Iterator[Problem]:
        """Yield repeated availabilities, incomplete documents, wrong ages and party problems."""
        availability_ids = {selection.availability_id for selection in self.availabilities}
        if len(availability_ids) < len(self.availabilities):
            yield Problem("availability_twice", "availabilities[1].availability_id")

        for index, passenger in enumerate(self.passengers):
            if passenger.age is not None:
                yield from age_problems(index, passenger.type, passenger.age)
            has_type = passenger.doc_type is not None
            has_number = passenger.doc_number is not None
            if has_type and not has_number:
                yield Problem("document_incomplete", f"passengers[{index}].doc_number")
            if has_number and not has_type:
                yield Problem("document_incomplete", f"passengers[{index}].doc_type")

        yield from party_problems([(each.order, each.type) for each in self.passengers])


class McpNewBooking(_Booking):
    """The arguments of the tool that creates a booking: selections, or one availability's id.

    Attributes:
        id: Instead of availabilities: the id of one, with its cheapest tariff and place.
        availabilities: Instead of id: one availability, or one out and one back, with its choices.
        passengers: Who travels: as many of each type as were searched for.
    """

    # Some models reject tools whose schema has oneOf or anyOf at the top level.
    model_config: ClassVar[ConfigDict] = ConfigDict(
        json_schema_extra={
            "if": {"required": ["id"], "properties": {"id": {"type": "string"}}},
            "then": {"properties": {"availabilities": {"type": "null"}}},
            "else": {
                "required": ["availabilities"],
                "properties": {"availabilities": {"type": "array"}},
            },
        }
    )

    id: Text | None = None
    availabilities: Selections | None = None
    passengers: list[McpPassenger] = Field(min_length=1, max_length=MOST_PASSENGERS)

    def problems(self) -> Iterator[Problem]:
        """Yield the problems of `id` and `availabilities`, and those of the booking."""
        if self.id is not None and self.availabilities is not None:
            yield Problem("either", "id", {"other": "availabilities"})
        elif self.id is None and self.availabilities is None:
            yield Problem("missing", "availabilities")
        yield from self.to_rest(self.availabilities or []).problems()

    def to_rest(self, availabilities: list[Selection]) -> NewBooking:
        """Return the same booking with these selections, as REST spells it."""
        fields = {
            **dict(self),
            "availabilities": availabilities,
            "passengers": [passenger.to_rest() for passenger in self.passengers],
        }
        return NewBooking.model_construct(None, **fields)  # the fields are validated already


class BookingToCancel(Body):
    """The arguments that cancel a booking.

    Attributes:
        booking_id: The id of the booking.
        booking_reference: Its reference; if given, it must be correct.
    """

    booking_id: Text
    booking_reference: Text | None = None


class TicketToCancel(Body):
    """The arguments that cancel a ticket.

    Attributes:
        ticket_id: The id of the ticket.
        ticket_number: Its number; if given, it must be correct.
    """

    ticket_id: Text
    ticket_number: Text | None = None


class Payment(Body):
    """The arguments that record an external payment.

    Attributes:
        id: The id of the ticket.
        external_payment_ref: The reference of the payment at its provider.
        psp: The name of the payment provider.
        paid_at: The time of payment: an ISO 8601 date and time with a UTC offset.
    """

    id: Text
    external_payment_ref: Text
    psp: Text | None = None
    paid_at: Moment | None = None
