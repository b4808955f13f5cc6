"""The arguments of every operation, with the rules between their fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from typing_extensions import Self

from ferry_sdk.sandbox.requests.errors import MalformedError, Problem, problem_of
from ferry_sdk.sandbox.requests.fields import (
    WHOLE,
    Age,
    Country,
    Day,
    DocumentNumber,
    Email,
    Hour,
    Moment,
    OrEmpty,
    Phone,
    Prefix,
    ReservationType,
    Text,
    VehicleCode,
)

PassengerType = Literal["Adult", "Child", "Infant"]

PASSENGER_TYPES: tuple[PassengerType, ...] = ("Adult", "Child", "Infant")
MOST_PASSENGERS = 9
AGES: Mapping[PassengerType, tuple[int, int]] = {
    "Adult": (12, 120),
    "Child": (1, 17),
    "Infant": (0, 4),
}
_MCP_TYPES: Mapping[str, PassengerType] = {"ADT": "Adult", "CHD": "Child", "INF": "Infant"}

Order = Annotated[int, Field(ge=1, le=MOST_PASSENGERS), WHOLE]


def _optional(description: str) -> Any:  # noqa: ANN401 -- a field of any type
    return Field(None, description=description)


class Body(BaseModel):
    """The arguments of an operation; unknown fields are refused, to detect misspelt ones."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", frozen=True, strict=True, hide_input_in_errors=True
    )

    @classmethod
    def read(cls, arguments: Mapping[str, object]) -> Self:
        """Return the validated arguments.

        Raises:
            MalformedError: The arguments are invalid; it has every invalid field by its path.
        """
        try:
            body = cls.model_validate(dict(arguments))
        except ValidationError as error:
            details = error.errors(include_url=False, include_input=False)
            raise MalformedError(*map(problem_of, details)) from None
        if problems := tuple(body.problems()):
            raise MalformedError(*problems)
        return body

    def problems(self) -> Iterator[Problem]:
        """Yield the problems between fields that are valid on their own."""
        yield from ()


class Nothing(Body):
    """No arguments."""


class Identified(Body):
    """An id."""

    id: Text = Field(description="The id.")


class SearchRequest(Body):
    """The journeys of a search: one outward, and optionally a return."""

    company: Text = Field(description="The company: its code, such as CTN, or its id.")
    depart_code: Text = Field(description="The code of the port of departure, such as FRMRS.")
    arrive_code: Text = Field(description="The code of the port of arrival.")
    out_journey_id: Text = Field(
        description="The id of the journey from the first port to the second."
    )
    out_at: Day = Field(description="The day of departure, YYYY-MM-DD.")
    out_time: Hour = Field(
        description="The earliest time of departure, HH:MM, in the port's time zone."
    )
    out_is_open: bool | None = _optional(
        "Whether to search open tickets (with a flexible date) for the way out."
    )
    ret_journey_id: OrEmpty[Text] = _optional(
        "The id of the journey back. For one way, leave out journey, day and time."
    )
    ret_at: OrEmpty[Day] = _optional("The day of the return, YYYY-MM-DD, not before out_at.")
    ret_time: OrEmpty[Hour] = _optional("The earliest time of the return, HH:MM.")
    ret_is_open: bool | None = _optional("Whether to search open tickets for the way back.")


class SearchedPassenger(Body):
    """A passenger of a search."""

    order: Order = Field(description="1 to the number of passengers, each once.")
    type: PassengerType = Field(
        description="Adult (12 to 120 years), Child (1 to 17) or Infant (0 to 4, with an adult)."
    )
    param: Literal["A", "C", "I"] = Field(description="The code of the type: A, C or I.")
    gender: Literal["Male", "Female"] = Field(description="Male or Female.")
    age: Age = Field(description="The age in years; it must fit the type.")


class SearchedVehicle(Body):
    """The vehicle of a search."""

    code: VehicleCode = Field(
        description="The vehicle as BRAND__MODEL, from the vehicle catalogue."
    )


class Search(Body):
    """The arguments of a search."""

    request: SearchRequest = Field(description="The journey out, and optionally one back.")
    passengers: list[SearchedPassenger] = Field(
        description="The passengers: 1 to 9.", min_length=1, max_length=MOST_PASSENGERS
    )
    vehicle: SearchedVehicle | None = _optional("The vehicle, if any.")

    def problems(self) -> Iterator[Problem]:
        """Yield problems of the return, of codes and ages, and of the party."""
        back = {
            name: getattr(self.request, name) for name in ("ret_journey_id", "ret_at", "ret_time")
        }
        if any(value is not None for value in back.values()):
            for name, value in back.items():
                if value is None:
                    yield Problem("return_incomplete", f"request.{name}")
            if self.request.ret_at is not None and self.request.ret_at < self.request.out_at:
                yield Problem("return_before_outward", "request.ret_at")
        for index, passenger in enumerate(self.passengers):
            if passenger.param != passenger.type[0]:
                values = {"type": passenger.type, "expected": passenger.type[0]}
                yield Problem("param", f"passengers[{index}].param", values)
            yield from _age_problems(index, passenger.type, passenger.age)
        yield from _party_problems([(one.order, one.type) for one in self.passengers])


class Selection(Body):
    """An availability with the selected tariff and place."""

    availability_id: Text = Field(description="The id of an availability from a search.")
    tariff_id: Text = Field(description="The id of one of its tariffs.")
    place_id: Text = Field(description="The id of one of its places.")


class _Passenger(Body):
    first_name: Text = Field(description="The first name.")
    last_name: Text = Field(description="The last name.")
    order: Order | None = _optional(
        "1 to the number of passengers, each once; by default the list position."
    )
    age: Age | None = _optional("The age in years; it must fit the type.")
    gender: Literal["M", "F"] | None = _optional("M or F.")
    birth_date: Day | None = _optional("The date of birth, YYYY-MM-DD.")
    nationality: Country | None = _optional("The two-letter code of the country.")
    doc_type: Literal["Passport", "IdentityCard"] | None = _optional(
        "The type of the document; it requires doc_number."
    )
    doc_number: DocumentNumber | None = _optional(
        "The document's number: 3 to 30 letters, digits, spaces, slashes or hyphens."
    )
    doc_expiration: Day | None = _optional(
        "The last day on which the document is valid, YYYY-MM-DD."
    )
    email: Email | None = _optional("An e-mail address.")


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
    vehicule_code: Text | None = _optional("The provider's code of the vehicle.")
    brand: Text | None = _optional("The brand.")
    model: Text | None = _optional("The model.")
    identification: Text | None = _optional("The number plate.")


class Contact(Body):
    """The contact for a booking."""

    name: Text = Field(description="The name.")
    email: Email = Field(description="An e-mail address.")
    prefix: Prefix | None = _optional("The dialling prefix of the country, such as +33.")
    phone: Phone | None = _optional("The phone number without the prefix: 4 to 14 digits.")


class _Booking(Body):
    reservation_type: ReservationType = Field(
        "TICKET",
        description="How to book; TICKET by default. It must be the type of the selected tariffs.",
    )
    vehicle: Vehicle | None = _optional("The vehicle, if the search had one.")
    contact: Contact | None = _optional("The contact for the booking.")


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
                yield from _age_problems(index, passenger.type, passenger.age)
            if (passenger.doc_type is None) != (passenger.doc_number is None):
                lacking = "doc_type" if passenger.doc_type is None else "doc_number"
                yield Problem("document_incomplete", f"passengers[{index}].{lacking}")
        yield from _party_problems([(one.order, one.type) for one in self.passengers])


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

    id: Text | None = _optional(
        "Instead of availabilities: the id of one, with its cheapest tariff and place."
    )
    availabilities: Selections | None = _optional(
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


class BookingCancellation(Body):
    """The arguments that cancel a booking."""

    booking_id: Text = Field(description="The id of the booking.")
    booking_reference: Text | None = _optional("Its reference; if given, it must be correct.")


class TicketCancellation(Body):
    """The arguments that cancel a ticket."""

    ticket_id: Text = Field(description="The id of the ticket.")
    ticket_number: Text | None = _optional("Its number; if given, it must be correct.")


class Payment(Body):
    """The arguments that record an external payment."""

    id: Text = Field(description="The id of the ticket.")
    external_payment_ref: Text = Field(description="The reference of the payment at its provider.")
    psp: Text | None = _optional("The name of the payment provider.")
    paid_at: Moment | None = _optional(
        "The time of payment: an ISO 8601 date and time with a UTC offset."
    )


class DepartureQuery(Body):
    """The arguments of the catalogue of departures."""

    provider_id: Text = Field(description="The company: its code or its id.")
    journey_ids: list[Text] | None = Field(
        None, alias="__journey_id", description="Only these journeys; all by default, or if empty."
    )


def _age_problems(index: int, kind: PassengerType, age: int) -> Iterator[Problem]:
    least, most = AGES[kind]
    if not least <= age <= most:
        values = {"type": kind, "least": least, "most": most}
        yield Problem("age_of_type", f"passengers[{index}].age", values)


def _party_problems(party: list[tuple[int | None, PassengerType]]) -> Iterator[Problem]:
    taken: set[int] = set()
    for index, (order, _) in enumerate(party):
        number = index + 1 if order is None else order
        if number in taken or number > len(party):
            yield Problem("order", f"passengers[{index}].order", {"count": len(party)})
        taken.add(number)
    kinds = [kind for _, kind in party]
    if "Infant" in kinds and "Adult" not in kinds:
        yield Problem("infant_alone", f"passengers[{kinds.index('Infant')}].type")
