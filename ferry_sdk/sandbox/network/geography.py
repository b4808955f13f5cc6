"""The elements of a ferry network: countries, ports, companies, routes, journeys and vehicles.

The network has one object for each, so they are compared by identity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, ClassVar
from zoneinfo import ZoneInfo

from pydantic_core import core_schema

if TYPE_CHECKING:
    from ferry_sdk.sandbox.requests.party import PassengerType


class _Element:
    """An element that a stored booking names by its key; the context of validation is the network.

    Attributes:
        stored_in: The mapping of the network that has it, and the attribute that is its key.
    """

    __slots__ = ()
    stored_in: ClassVar[tuple[str, str]]

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: object) -> core_schema.CoreSchema:
        elements, key = cls.stored_in
        return core_schema.with_info_plain_validator_function(
            lambda value, info: getattr(info.context, elements)[value],
            serialization=core_schema.plain_serializer_function_ser_schema(attrgetter(key)),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Country:
    """A country, its phone prefix and its name in several languages."""

    code: str
    phone_prefix: str
    names: Mapping[str, str]

    def name_in(self, language: str) -> str:
        """Return the name in a language (two letters), or the English name."""
        return self.names.get(language, self.names["en"])


@dataclass(frozen=True, slots=True, eq=False)
class Port:
    """A port, its position and its time zone."""

    code: str
    name: str
    city: str
    country: Country
    latitude: float
    longitude: float
    timezone: str
    names: Mapping[str, str]

    @property
    def zone(self) -> ZoneInfo:
        """The time zone."""
        return ZoneInfo(self.timezone)

    def name_in(self, language: str) -> str:
        """Return the name in a language (two letters), or the usual name."""
        return self.names.get(language, self.name)


@dataclass(frozen=True, slots=True, eq=False)
class Company(_Element):
    """A ferry company and its conditions.

    Attributes:
        group: The company or the group whose gateway it uses.
        ships: The names of its ships.
        infant_below: The age at which a passenger is no longer an infant.
        child_below: The age at which a passenger is no longer a child.
        low_vehicle: The height in metres above which a vehicle costs more.
        round_trip_fares: Whether it sells fares that are valid for a round trip only.
        one_ticket: Whether a round trip is one ticket instead of two.
        issuing_seconds: How long a ticket is Pending after confirmation.
        voucher_minutes: The time from issue until the voucher can be fetched; None if it is sent
            by e-mail.
        notice: The factor on the hours of the cancellation schedule.
        fast_ships: The fast ones of its ships.
    """

    stored_in: ClassVar[tuple[str, str]] = "companies", "code"

    id: str
    code: str
    name: str
    country: Country
    website: str | None
    group: str
    ships: Sequence[str]
    infant_below: int
    child_below: int
    low_vehicle: float
    round_trip_fares: bool
    one_ticket: bool
    issuing_seconds: int
    voucher_minutes: int | None
    notice: float
    fast_ships: Sequence[str] = ()

    @property
    def logo(self) -> str:
        """The URL of the logo, on a reserved host that serves nothing."""
        return f"https://static.ferry.example/logos/{self.code.lower()}.svg"

    def age_band(self, age: int) -> PassengerType:
        """Return Adult, Child or Infant by the company's age bands."""
        if age < self.infant_below:
            return "Infant"
        return "Child" if age < self.child_below else "Adult"


@dataclass(frozen=True, slots=True, eq=False)
class Route:
    """Two ports that ferries connect, in both directions.

    Attributes:
        happens: What goes wrong on a trial route, in English.
        faults: The requests for the faults that every booking on a trial route meets.
    """

    depart: Port
    arrive: Port
    companies: Sequence[str]
    minutes: int
    miles: int
    season: str
    minutes_by_company: Mapping[str, int] = field(default_factory=dict[str, int])
    vehicles: bool = False
    overnight: bool = False
    fast: bool = False
    round_the_clock: bool = False
    stops: Sequence[str] = ()
    sold_out: bool = False
    happens: str = ""
    faults: Sequence[Mapping[str, object]] = ()

    def minutes_of(self, company: Company) -> int:
        """Return the usual duration with this company, in minutes."""
        return self.minutes_by_company.get(company.code, self.minutes)


@dataclass(frozen=True, slots=True, eq=False)
class Journey(_Element):
    """A route in one direction."""

    stored_in: ClassVar[tuple[str, str]] = "journeys", "id"

    id: str
    depart: Port
    arrive: Port
    route: Route

    @property
    def key(self) -> str:
        """The two port codes, departure first."""
        return f"{self.depart.code}-{self.arrive.code}"

    @property
    def stops(self) -> Sequence[str]:
        """The codes of the ports of call, in order."""
        return self.route.stops if self.depart is self.route.depart else self.route.stops[::-1]


@dataclass(frozen=True, slots=True)
class VehicleType:
    """A class of vehicle with its maximum size in metres, and its share of a car's fare."""

    code: str
    name: str
    max_length: float
    max_height: float
    freight: bool = False
    fare_share: int = 1000


@dataclass(frozen=True, slots=True)
class VehicleModel:
    """A vehicle that a search can name, with its size in metres."""

    code: str
    brand: str
    model: str
    type: VehicleType
    length: float
    height: float
