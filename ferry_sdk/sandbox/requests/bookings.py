"""The arguments of the operations on bookings and tickets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field

from ferry_sdk.sandbox.requests.body import Body, optional
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
    """An id."""

    id: Text = Field(description="The id.")


class Selection(Body):
    """An availability with the selected tariff and place."""

    availability_id: Text = Field(description="The id of an availability from a search.")
    tariff_id: Text = Field(description="The id of one of its tariffs.")
    place_id: Text = Field(description="The id of one of its places.")


class _Passenger(Body):
    first_name: Text = Field(description="The first name.")
    last_name: Text = Field(description="The last name.")
    order: Order | None = optional(
        "1 to the number of passengers, each once; by default the list position."
    )
    age: Age | None = optional("The age in years; it must fit the type.")
    gender: Literal["M", "F"] | None = optional("M or F.")
    birth_date: Day | None = optional("The date of birth, YYYY-MM-DD.")
    nationality: Country | None = optional("The two-letter code of the country.")
    doc_type: Literal["Passport", "IdentityCard"] | None = optional(
        "The type of the document; it requires doc_number."
    )
    doc_number: DocumentNumber | None = optional(
        "The document's number: 3 to 30 letters, digits, spaces, slashes or hyphens."
    )
    doc_expiration: Day | None = optional(
        "The last day on which the document is valid, YYYY-MM-DD."
    )
    email: Email | None = optional("An e-mail address.")


class Passenger(_Passenger):
    """A passenger of a booking; most fields are optional."""

    type: PassengerType = Field(
        description="Adult (12 to 120 years), Child (1 to 17) or Infant (0 to 4, with an adult)."
    )


class McpPassenger(_Passenger):
    """A passenger, for the tool that creates a booking."""

    type: Literal["ADT", "CHD", "INF"] = Field(
        description="ADT (12 to 120 years), CHD (1 to 17) or INF (0 to 4, with an adult)."
    )

    def to_rest(self) -> Passenger:
        """Return the same passenger as REST spells it."""
        return Passenger.model_construct(None, **{**dict(self), "type": _MCP_TYPES[self.type]})


class Vehicle(Body):
    """The vehicle of a booking."""

    code: Text = Field(description="The code of the vehicle's type, such as CAR.")
    vehicule_code: Text | None = optional("The provider's code of the vehicle.")
    brand: Text | None = optional("The brand.")
    model: Text | None = optional("The model.")
    identification: Text | None = optional("The number plate.")


class Contact(Body):
    """The contact for a booking."""

    name: Text = Field(description="The name.")
    email: Email = Field(description="An e-mail address.")
    prefix: Prefix | None = optional("The dialling prefix of the country, such as +33.")
    phone: Phone | None = optional("The phone number without the prefix: 4 to 14 digits.")


class _Booking(Body):
    reservation_type: ReservationType = Field(
        "TICKET",
        description="How to book; TICKET by default. It must be the type of the selected tariffs.",
    )
    vehicle: Vehicle | None = optional("The vehicle, if the search had one.")
    contact: Contact | None = optional("The contact for the booking.")


Selections = Annotated[list[Selection], Field(min_length=1, max_length=2)]


class NewBooking(_Booking):
    """The arguments that create a booking."""

    availabilities: Selections = Field(
        description="One availability, or one out and one back, each with a tariff and a place."
    )
    passengers: list[Passenger] = Field(
        description="Who travels: as many of each type as were searched for.",
        min_length=1,
        max_length=MOST_PASSENGERS,
    )

    def problems(self) -> Iterator[Problem]:
        """Yield repeated availabilities, incomplete documents, wrong ages and party problems."""
        seen: set[str] = set()
        for index, selection in enumerate(self.availabilities):
            if selection.availability_id in seen:
                yield Problem("availability_twice", f"availabilities[{index}].availability_id")
            seen.add(selection.availability_id)
        for index, passenger in enumerate(self.passengers):
            if passenger.age is not None:
                yield from age_problems(index, passenger.type, passenger.age)
            if (passenger.doc_type is None) != (passenger.doc_number is None):
                lacking = "doc_type" if passenger.doc_type is None else "doc_number"
                yield Problem("document_incomplete", f"passengers[{index}].{lacking}")
        yield from party_problems([(one.order, one.type) for one in self.passengers])


class McpNewBooking(_Booking):
    """The arguments of the tool that creates a booking: selections, or one availability's id."""

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

    id: Text | None = optional(
        "Instead of availabilities: the id of one, with its cheapest tariff and place."
    )
    availabilities: Selections | None = optional(
        "Instead of id: one availability, or one out and one back, with its choices."
    )
    passengers: list[McpPassenger] = Field(
        description="Who travels: as many of each type as were searched for.",
        min_length=1,
        max_length=MOST_PASSENGERS,
    )

    def problems(self) -> Iterator[Problem]:
        """Yield the problems of `id` and `availabilities`, and those of the booking."""
        if self.id is not None and self.availabilities is not None:
            yield Problem("either", "id", {"other": "availabilities"})
        elif self.id is None and self.availabilities is None:
            yield Problem("missing", "availabilities")
        yield from self.to_rest(self.availabilities or []).problems()

    def to_rest(self, availabilities: list[Selection]) -> NewBooking:
        """Return the same booking with these selections, as REST spells it."""
        return NewBooking.model_construct(
            availabilities=availabilities,
            passengers=[passenger.to_rest() for passenger in self.passengers],
            reservation_type=self.reservation_type,
            vehicle=self.vehicle,
            contact=self.contact,
        )


class BookingToCancel(Body):
    """The arguments that cancel a booking."""

    booking_id: Text = Field(description="The id of the booking.")
    booking_reference: Text | None = optional("Its reference; if given, it must be correct.")


class TicketToCancel(Body):
    """The arguments that cancel a ticket."""

    ticket_id: Text = Field(description="The id of the ticket.")
    ticket_number: Text | None = optional("Its number; if given, it must be correct.")


class Payment(Body):
    """The arguments that record an external payment."""

    id: Text = Field(description="The id of the ticket.")
    external_payment_ref: Text = Field(description="The reference of the payment at its provider.")
    psp: Text | None = optional("The name of the payment provider.")
    paid_at: Moment | None = optional(
        "The time of payment: an ISO 8601 date and time with a UTC offset."
    )
