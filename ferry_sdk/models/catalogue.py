"""The catalogues of both interfaces, and an MCP server's tools and resources.

MCP's catalogues are described without field names. Every field of theirs is therefore optional,
known spellings are accepted, and other fields are kept in ``model_extra``.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pydantic import AliasChoices, Field, FiniteFloat, JsonValue

from ferry_sdk.models.base import Count, FrozenDict, Identifier, LooseMoment, Members, Model


def _either(*names: str, ge: int | None = None, le: int | None = None) -> Any:  # noqa: ANN401 -- as pydantic's
    """Return a field with one of these names on the wire; None if it is absent."""
    return Field(default=None, validation_alias=AliasChoices(*names), ge=ge, le=le)


class Journey(Model):
    """A route between two ports. Interface: Catalogue records.

    Attributes:
        journey_id: UUID of the route, as a search takes it.
        route: The two ports, in words; join on codes, never on it.
        duration_minutes: Duration in minutes.
    """

    journey_id: Identifier
    route: str = ""
    duration_minutes: Count | None = None

    @property
    def duration(self) -> timedelta | None:
        """`duration_minutes` as a time span."""
        minutes = self.duration_minutes
        return None if minutes is None else timedelta(minutes=minutes)


class Departure(Model):
    """The departure times of a journey, as HH:MM in port-local time.

    Interface: Catalogue records.

    Attributes:
        journey_id: UUID of the route.
        departure_times: Times of day as HH:MM, local to the departure port.
    """

    journey_id: Identifier
    departure_times: tuple[str, ...]


class Port(Model):
    """A port. Interface: Catalogue records.

    Attributes:
        code: Code of the port, as a search takes it.
        name: Localised; join on `code`, never on the name.
        country: Name of the country, in the client's language.
        country_code: ISO 3166, two letters. The service does not send it: `places` sets it from a
            UN/LOCODE or from MCP's countries, else it is None.
    """

    code: Identifier
    name: str = ""
    country: str = ""
    country_code: str | None = None


class VehicleBrand(Model):
    """A make of vehicles. Interface: Catalogue records, resource://service/vehicle-brands.

    Attributes:
        id: The BRAND of a search's ``BRAND__MODEL``.
        name: Name of the make.
    """

    id: Identifier = Field(validation_alias=AliasChoices("id", "code"))
    name: str = ""


class VehicleType(Model):
    """A class of vehicles; lengths and heights in metres. Interface: Catalogue records.

    Attributes:
        code: The `vehicle.code` of a booking; a search takes ``BRAND__MODEL`` instead.
        name: Name, for people.
        max_length: Greatest length, in metres.
        max_height: Greatest height, in metres.
    """

    code: Identifier
    name: str = ""
    max_length: FiniteFloat | None = None
    max_height: FiniteFloat | None = None


class McpPort(Model):
    """A port with its city and position in degrees. Interface: resource://service/ports.

    Attributes:
        code: Code of the port, as a search takes it.
        name: Name of the port.
        city: City that it belongs to.
        country: Country, as sent by the service.
        latitude: Degrees north.
        longitude: Degrees east.
    """

    code: str | None = None
    name: str | None = None
    city: str | None = None
    country: str | None = None
    latitude: float | None = _either("latitude", "lat", ge=-90, le=90)
    longitude: float | None = _either("longitude", "lon", "lng", ge=-180, le=180)


class Company(Model):
    """A ferry company with its logo and code. Interface: resource://service/companies.

    Attributes:
        id: UUID of the company.
        code: What a search takes as `company`.
        name: Name, for people.
        logo: URL of an image.
    """

    id: str | None = None
    code: str | None = None
    name: str | None = None
    logo: str | None = None


class Country(Model):
    """A country with ISO code and phone prefix. Interface: resource://service/countries.

    Attributes:
        code: ISO 3166 code.
        name: Name of the country.
        phone_prefix: Dialling prefix, such as ``+33``.
        names: Localised names by language, if the service sends them.
    """

    code: str | None = _either("code", "iso_code", "iso")
    name: str | None = None
    phone_prefix: str | None = _either("phone_prefix", "prefix")
    names: Members = Field(default_factory=FrozenDict)


class VehicleModel(Model):
    """A model of vehicle; length and height in metres. Interface: resource://service/vehicle-data.

    Attributes:
        code: ``BRAND__MODEL``, as a search takes it.
        brand: Name of the make.
        model: Name of the model.
        type: Code of the vehicle's type.
        length: Length in metres.
        height: Height in metres.
    """

    code: str | None = None
    brand: str | None = None
    model: str | None = None
    type: str | None = None
    length: FiniteFloat | None = _either("length", "length_m", "max_length")
    height: FiniteFloat | None = _either("height", "height_m", "max_height")


class ScheduledDeparture(Model):
    """A departure of the timetable. Interface: resource://service/departures.

    Attributes:
        journey_id: UUID of the route.
        company: The company, as sent by the service.
        depart_code: Code of the departure port.
        arrive_code: Code of the arrival port.
        ship: The ship, as sent by the service.
        depart_at: Departure; a text if it cannot be parsed.
        arrive_at: Arrival; a text if it cannot be parsed.
    """

    journey_id: str | None = _either("journey_id", "journey")
    company: JsonValue = None
    depart_code: str | None = None
    arrive_code: str | None = None
    ship: JsonValue = _either("ship", "ship_name")
    depart_at: LooseMoment | None = None
    arrive_at: LooseMoment | None = None


class McpTool(Model):
    """A tool of the server. Its annotations are hints of the server and not to be trusted.

    Attributes:
        name: Name, as `mcp.call_tool` takes it.
        title: Name, for people.
        description: What it does, in the server's words.
        input_schema: JSON Schema of its arguments.
        output_schema: JSON Schema of its result; None if the server gives none.
        annotations: Hints of the server, not to be trusted.
    """

    name: Identifier
    title: str | None = None
    description: str | None = None
    input_schema: Members = Field(default_factory=FrozenDict, alias="inputSchema")
    output_schema: Members | None = Field(default=None, alias="outputSchema")
    annotations: Members | None = None


class McpResource(Model):
    """A resource of the server.

    Attributes:
        uri: Its address, as `mcp.read_resource` takes it.
        name: Name, for programs.
        title: Name, for people.
        description: What it holds, in the server's words.
        mime_type: Media type; None if the server gives none.
    """

    uri: Identifier
    name: str | None = None
    title: str | None = None
    description: str | None = None
    mime_type: str | None = Field(default=None, alias="mimeType")
