"""What the operations take: the shape of every request, and what must fit within one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from ferry_sdk.sandbox.fields import (
    EMPTY_IS_NONE,
    Age,
    Country,
    Day,
    DocumentNumber,
    Email,
    Hour,
    Moment,
    Phone,
    Prefix,
    Text,
    VehicleCode,
)
from ferry_sdk.sandbox.refusals import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Kind = Literal["Adult", "Child", "Infant"]

KINDS: tuple[Kind, ...] = ("Adult", "Child", "Infant")
MOST_PASSENGERS = 9
AGES: Mapping[Kind, tuple[int, int]] = {"Adult": (12, 120), "Child": (1, 17), "Infant": (0, 4)}
_PARAMS: Mapping[Kind, str] = {"Adult": "A", "Child": "C", "Infant": "I"}
_MCP_KINDS: Mapping[str, Kind] = {"ADT": "Adult", "CHD": "Child", "INF": "Infant"}

Order = Annotated[int, Field(ge=1, le=MOST_PASSENGERS)]


class Body(BaseModel):
    """A request; a field it does not know is refused, so that a misspelt one is found."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", frozen=True, strict=True, hide_input_in_errors=True
    )

    def problems(self) -> Iterator[Problem]:
        """What is wrong between fields that are each right."""
        yield from ()


class Nothing(Body):
    """No arguments."""


class Identified(Body):
    """One id."""

    id: Text


class SearchRequest(Body):
    """What is searched: a journey out, and perhaps one back."""

    company: Text
    depart_code: Text
    arrive_code: Text
    out_journey_id: Text
    out_at: Day
    out_time: Hour
    out_is_open: bool | None = None
    ret_journey_id: Annotated[Text | None, EMPTY_IS_NONE] = None
    ret_at: Annotated[Day | None, EMPTY_IS_NONE] = None
    ret_time: Annotated[Hour | None, EMPTY_IS_NONE] = None
    ret_is_open: bool | None = None


class SearchedPassenger(Body):
    """Who travels, as a search asks it."""

    order: Order
    type: Kind
    param: Literal["A", "C", "I"]
    gender: Literal["Male", "Female"]
    age: Age


class SearchedVehicle(Body):
    """What is taken aboard, as a search asks it."""

    code: VehicleCode


class Search(Body):
    """The arguments of a search."""

    request: SearchRequest
    passengers: Annotated[list[SearchedPassenger], Field(min_length=1, max_length=MOST_PASSENGERS)]
    vehicle: SearchedVehicle | None = None

    def problems(self) -> Iterator[Problem]:
        """A return half given, a code or an age of another type, the party as a whole."""
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
            if passenger.param != _PARAMS[passenger.type]:
                values = {"type": passenger.type, "expected": _PARAMS[passenger.type]}
                yield Problem("param", f"passengers[{index}].param", values)
            yield from _age_problems(index, passenger.type, passenger.age)
        yield from _party_problems([(one.order, one.type) for one in self.passengers])


class Selection(Body):
    """An availability, with the tariff and the place chosen in it."""

    availability_id: Text
    tariff_id: Text
    place_id: Text


class _Passenger(Body):
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
    """Who travels, as a booking asks it; the simpler form leaves out most of it."""

    type: Kind


class McpPassenger(_Passenger):
    """Who travels, as the tool that creates a booking asks it."""

    type: Literal["ADT", "CHD", "INF"]

    def translated(self) -> Passenger:
        """The same in the words of REST."""
        return Passenger.model_construct(None, **{**dict(self), "type": _MCP_KINDS[self.type]})


class Vehicle(Body):
    """What is taken aboard, as a booking asks it."""

    code: Text
    vehicule_code: Text | None = None
    brand: Text | None = None
    model: Text | None = None
    identification: Text | None = None


class Contact(Body):
    """Whom to reach about a booking."""

    name: Text
    email: Email
    prefix: Prefix | None = None
    phone: Phone | None = None


class _Booking(Body):
    reservation_type: Literal["TICKET", "PRESALE", "OPTION"] = "TICKET"
    vehicle: Vehicle | None = None
    contact: Contact | None = None


Selections = Annotated[list[Selection], Field(min_length=1, max_length=2)]


class NewBooking(_Booking):
    """The arguments of a booking's creation."""

    availabilities: Selections
    passengers: Annotated[list[Passenger], Field(min_length=1, max_length=MOST_PASSENGERS)]

    def problems(self) -> Iterator[Problem]:
        """An availability twice, half a document, an age of another type, the party."""
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
                yield Problem("document_half", f"passengers[{index}].{lacking}")
        yield from _party_problems([(one.order, one.type) for one in self.passengers])


class McpNewBooking(_Booking):
    """The arguments of the tool that creates a booking: selections, or one availability's id."""

    id: Text | None = None
    availabilities: Selections | None = None
    passengers: Annotated[list[McpPassenger], Field(min_length=1, max_length=MOST_PASSENGERS)]

    def problems(self) -> Iterator[Problem]:
        """Both an id and selections, or neither; and what is wrong with the booking it makes."""
        if self.id is not None and self.availabilities is not None:
            yield Problem("either", "id", {"other": "availabilities"})
        elif self.id is None and self.availabilities is None:
            yield Problem("missing", "availabilities")
        yield from self.translated(self.availabilities or []).problems()

    def translated(self, availabilities: list[Selection]) -> NewBooking:
        """The same with these selections, in the words of REST."""
        return NewBooking.model_construct(
            availabilities=availabilities,
            passengers=[passenger.translated() for passenger in self.passengers],
            reservation_type=self.reservation_type,
            vehicle=self.vehicle,
            contact=self.contact,
        )


class BookingCancellation(Body):
    """The arguments of a booking's cancellation."""

    booking_id: Text
    booking_reference: Text | None = None


class TicketCancellation(Body):
    """The arguments of a ticket's cancellation."""

    ticket_id: Text
    ticket_number: Text | None = None


class Payment(Body):
    """The arguments that record a payment made elsewhere."""

    id: Text
    external_payment_ref: Text
    psp: Text | None = None
    paid_at: Moment | None = None


class DepartureQuery(Body):
    """The arguments of the departures' catalogue."""

    provider_id: Text
    journey_ids: Annotated[list[Text] | None, Field(alias="__journey_id")] = None


def _age_problems(index: int, kind: Kind, age: int) -> Iterator[Problem]:
    least, most = AGES[kind]
    if not least <= age <= most:
        values = {"type": kind, "least": least, "most": most}
        yield Problem("age_of_type", f"passengers[{index}].age", values)


def _party_problems(party: list[tuple[int | None, Kind]]) -> Iterator[Problem]:
    taken: set[int] = set()
    for index, (order, _) in enumerate(party):
        number = index + 1 if order is None else order
        if number in taken or number > len(party):
            yield Problem("order", f"passengers[{index}].order", {"count": len(party)})
        taken.add(number)
    kinds = [kind for _, kind in party]
    if "Infant" in kinds and "Adult" not in kinds:
        yield Problem("infant_alone", f"passengers[{kinds.index('Infant')}].type")
