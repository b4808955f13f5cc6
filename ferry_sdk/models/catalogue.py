"""The catalogues of the REST interface."""

from __future__ import annotations

from datetime import timedelta

from pydantic import AliasChoices, Field, FiniteFloat

from ferry_sdk.models.base import Identifier, Model


class Journey(Model):
    """A route between two ports. Interface: Catalogue records."""

    journey_id: Identifier
    route: str
    duration_minutes: int

    @property
    def duration(self) -> timedelta:
        """`duration_minutes` as a time span."""
        return timedelta(minutes=self.duration_minutes)


class Departure(Model):
    """The departure times of a journey, as HH:MM in port-local time.

    Interface: Catalogue records.
    """

    journey_id: Identifier
    departure_times: tuple[str, ...]


class Port(Model):
    """A port. Interface: Catalogue records.

    Attributes:
        name: Localised; join on `code`, never on the name.
    """

    code: Identifier
    name: str
    country: str


class VehicleBrand(Model):
    """A make of vehicles. Interface: Catalogue records, resource://service/vehicle-brands."""

    id: Identifier = Field(validation_alias=AliasChoices("id", "code"))
    name: str


class VehicleType(Model):
    """A class of vehicles; lengths and heights in metres. Interface: Catalogue records."""

    code: Identifier
    name: str
    max_length: FiniteFloat
    max_height: FiniteFloat
