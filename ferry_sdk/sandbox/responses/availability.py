"""The availabilities that a search finds."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import NotRequired, TypedDict

from ferry_sdk.sandbox.requests.party import PassengerType
from ferry_sdk.sandbox.responses.fields import (
    Amount,
    CompanyId,
    EpochSeconds,
    JourneyId,
    Localized,
    PortCode,
    Timestamp,
    Url,
    Uuid,
)


class CompanyName(TypedDict):
    """The company that sails."""

    id: CompanyId
    name: str
    logo: Annotated[Url, Field(description="The URL of the logo.")]


class Provider(TypedDict):
    """The company that provides the sailing."""

    id: CompanyId
    name: str


class Gateway(TypedDict):
    """The reservation system that the sailing comes from."""

    id: Uuid
    code: Annotated[str, Field(description="The code of the company.")]
    provider: Annotated[str, Field(description="The name of the group.")]


class Tariff(TypedDict):
    """A price for the whole party."""

    id: Annotated[str, Field(description="The id to book it with.")]
    type: Annotated[
        Literal["Ticket", "Presale", "Option"],
        Field(description="It must match the reservation_type of the booking."),
    ]
    amount: Annotated[
        float, Field(description="The price of the party and its vehicle in the cheapest place.")
    ]
    balance_amount: Annotated[float, Field(description="What is left to pay.")]
    currency: Annotated[str, Field(description="The currency, such as Eur.")]
    date: Annotated[EpochSeconds, Field(description="The time of the search, in epoch seconds.")]
    expiration_date: Annotated[
        EpochSeconds, Field(description="The end of the price, in epoch seconds.")
    ]
    roundtrip_locked: NotRequired[
        Annotated[bool, Field(description="Whether it is valid only with the same company back.")]
    ]


class PartyMember(TypedDict):
    """A passenger of the search, by the company's age bands."""

    order: Annotated[int, Field(description="The order in the search.")]
    type: PassengerType
    age: Annotated[int, Field(description="The age in years.")]


class OnBoard(TypedDict):
    """Who the place is for, and its equipment."""

    adults: Annotated[int, Field(description="How many, by the company's age bands.")]
    childs: Annotated[int, Field(description="How many, by the company's age bands.")]
    babies: Annotated[int, Field(description="How many, by the company's age bands.")]
    passengers: list[PartyMember]
    has_shower: bool
    has_toilet: bool
    has_window: bool


class Place(TypedDict):
    """A place for the whole party."""

    id: Annotated[str, Field(description="The id to book it with.")]
    index: Annotated[int, Field(description="The position in the list, from 1.")]
    code: Annotated[str, Field(description="The code of the kind, such as INSIDE_4.")]
    count: Annotated[int, Field(description="How many are left.")]
    type: Literal["Seat", "Cabin", "Suite"]
    gender: Annotated[
        Literal["Any", "Male", "Female"], Field(description="Who may take a shared place.")
    ]
    capacity: Annotated[int, Field(description="How many people it holds.")]
    use: Literal["Exclusive", "Shared"]
    name: Localized
    in_board: OnBoard


class VehicleModel(TypedDict):
    """A vehicle that a search can name."""

    code: Annotated[str, Field(description="The code, BRAND__MODEL.")]
    brand: str
    model: str
    type: Annotated[str, Field(description="The code of the type, such as CAR.")]
    length: Annotated[float, Field(description="Metres.")]
    height: Annotated[float, Field(description="Metres.")]


class CarriedVehicle(VehicleModel):
    """The vehicle of the search, with its share of the price."""

    amount: Amount
    currency: Annotated[str, Field(description="The currency, such as Eur.")]


class Meal(TypedDict):
    """A meal on the sailing; it cannot be booked."""

    id: str
    code: str
    name: Localized
    price: Annotated[float, Field(description="The price for one person.")]
    currency: Annotated[str, Field(description="The currency, such as Eur.")]


class Animals(TypedDict):
    """How animals travel on the sailing."""

    allowed: bool
    kennel: bool
    cabin: bool


class Availability(TypedDict):
    """A sailing that a party can book."""

    id: Annotated[str, Field(description="The id to book it with.")]
    group_id: Annotated[int, Field(description="1 for the way out, 2 for the way back.")]
    direction: Annotated[
        Literal["Outward", "Return"], Field(description="The direction of the search.")
    ]
    journey_id: JourneyId
    sailing_id: Annotated[str, Field(description="The id of the sailing.")]
    depart_name: Localized
    arrive_name: Localized
    depart_code: PortCode
    arrive_code: PortCode
    is_open: Annotated[bool, Field(description="Whether the ticket is open (a flexible date).")]
    depart_at: Timestamp
    arrive_at: Timestamp
    company: CompanyName
    provider: Provider
    gateway: Gateway
    tariffs: Annotated[list[Tariff], Field(min_length=1, description="The prices.")]
    places: Annotated[list[Place], Field(min_length=1, description="The places.")]
    passenger_count: Annotated[int, Field(description="How many passengers were searched.")]
    vehicle: Annotated[
        list[CarriedVehicle], Field(description="The vehicle of the search, if any.")
    ]
    meals: Annotated[list[Meal], Field(description="The meals on the sailing.")]
    animals: Annotated[Animals | None, Field(description="Null if no animals are carried.")]
    stops: Annotated[list[str], Field(description="The codes of the ports of call on the way.")]
    ship_name: Annotated[str, Field(description="The name of the ship.")]
    duration: Annotated[int, Field(description="The duration in hours, rounded.")]
