"""The records of the catalogues."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from ferry_sdk.sandbox.responses.fields import (
    CompanyId,
    CountryCode,
    Hour,
    JourneyId,
    Localized,
    Minutes,
    PortCode,
    Timestamp,
    Url,
)


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
    country: Localized
    country_code: CountryCode
    latitude: Annotated[float, Field(description="Degrees.")]
    longitude: Annotated[float, Field(description="Degrees.")]
    timezone: Annotated[str, Field(description="The IANA time zone.")]


class RouteJourney(TypedDict):
    """A route in one direction."""

    journey_id: JourneyId
    route: Annotated[str, Field(description="The two ports, in the language of the request.")]
    duration_minutes: Annotated[int, Field(description="The usual duration.")]
    depart_code: PortCode
    arrive_code: PortCode
    companies: Annotated[list[str], Field(description="The codes of the companies that sail it.")]


class JourneyDepartures(TypedDict):
    """When a company departs on a journey in the next seven days."""

    journey_id: JourneyId
    departure_times: Annotated[list[Hour], Field(description="HH:MM, in the port's time zone.")]


class CompanyCode(TypedDict):
    """A company by its id, code and name."""

    id: CompanyId
    code: str
    name: str


class ScheduledDeparture(TypedDict):
    """A departure within seven days."""

    journey_id: JourneyId
    sailing_id: str
    route: Localized
    company: CompanyCode
    depart_code: PortCode
    depart_name: Localized
    arrive_code: PortCode
    arrive_name: Localized
    ship: str
    depart_at: Timestamp
    arrive_at: Timestamp
    duration_minutes: Minutes


class Company(CompanyCode):
    """A ferry company."""

    logo: Url
    website: Url | None
    country: Localized
    country_code: CountryCode


class Country(TypedDict):
    """A country."""

    code: str
    name: str
    phone_prefix: Annotated[str, Field(description="The dialling prefix, such as +33.")]
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
