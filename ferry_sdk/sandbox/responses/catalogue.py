"""The records of the catalogues."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from ferry_sdk.sandbox.responses.fields import Hour, Timestamp, Url, Uuid


class Port(TypedDict):
    """A port."""

    code: Annotated[str, Field(description="The code, such as FRMRS.")]
    name: Annotated[str, Field(description="The name in the language of the request.")]
    country: Annotated[str, Field(description="The country in the language of the request.")]


class PlacedPort(TypedDict):
    """A port with its position."""

    code: str
    name: str
    city: str
    country: str
    country_code: str
    latitude: float
    longitude: float
    timezone: str


class RouteJourney(TypedDict):
    """A route in one direction."""

    journey_id: Uuid
    route: Annotated[str, Field(description="The two ports, in the language of the request.")]
    duration_minutes: Annotated[int, Field(description="The usual duration.")]
    depart_code: str
    arrive_code: str
    companies: Annotated[list[str], Field(description="The codes of the companies that sail it.")]


class JourneyDepartures(TypedDict):
    """When a company departs on a journey in the next seven days."""

    journey_id: Uuid
    departure_times: Annotated[list[Hour], Field(description="HH:MM, in the port's time zone.")]


class CompanyCode(TypedDict):
    """A company by its id, code and name."""

    id: Uuid
    code: str
    name: str


class ScheduledDeparture(TypedDict):
    """A departure within seven days."""

    journey_id: Uuid
    sailing_id: str
    route: str
    company: CompanyCode
    depart_code: str
    depart_name: str
    arrive_code: str
    arrive_name: str
    ship: str
    depart_at: Timestamp
    arrive_at: Timestamp
    duration_minutes: int


class Company(CompanyCode):
    """A ferry company."""

    logo: Url
    website: Url | None
    country: str
    country_code: str


class Country(TypedDict):
    """A country."""

    code: str
    name: str
    phone_prefix: str
    names: Annotated[dict[str, str], Field(description="The name in each language.")]


class VehicleBrand(TypedDict):
    """A maker of vehicles."""

    id: str
    name: str


class VehicleType(TypedDict):
    """A class of vehicle with its largest size."""

    code: str
    name: str
    max_length: Annotated[float, Field(description="Metres.")]
    max_height: Annotated[float, Field(description="Metres.")]


class Ports(TypedDict):
    """All ports."""

    ports: list[Port]


class Journeys(TypedDict):
    """All journeys."""

    journeys: list[RouteJourney]


class Departures(TypedDict):
    """The departures of a company, by journey."""

    departures: list[JourneyDepartures]


class VehicleBrands(TypedDict):
    """All vehicle brands."""

    brands: list[VehicleBrand]


class VehicleTypes(TypedDict):
    """All vehicle types."""

    vehicle_types: list[VehicleType]
