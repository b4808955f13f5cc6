"""The elements of a ferry network: countries, ports, companies, routes, journeys and vehicles.

The network has one object for each, so they are compared by identity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self
from zoneinfo import ZoneInfo

from pydantic_core import core_schema

if TYPE_CHECKING:
    from ferry_sdk.sandbox.network.network import Network
    from ferry_sdk.sandbox.requests.party import PassengerType


class _StoredByKey:
    """An element that a stored booking names by its key, such as `"company": "CTN"`.

    pydantic writes the key instead of the element. It reads the element from the network, which is
    the context of the validation. So a stored booking has the companies and journeys of today.
    """

    __slots__ = ()

    @classmethod
    def find(cls, key: str, network: Network) -> Self:
        """Return the element of the network with this key."""
        raise NotImplementedError

    @property
    def stored_key(self) -> str:
        """The key by which a stored booking names it."""
        raise NotImplementedError

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: object) -> core_schema.CoreSchema:
        def read(key: str, info: core_schema.ValidationInfo) -> _StoredByKey:
            network: Any = info.context
            return cls.find(key, network)

        def write(element: _StoredByKey) -> str:
            return element.stored_key

        return core_schema.with_info_plain_validator_function(
            read, serialization=core_schema.plain_serializer_function_ser_schema(write)
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
class Company(_StoredByKey):
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

    @classmethod
    def find(cls, key: str, network: Network) -> Company:
        """Return the company with this code."""
        return network.companies[key]

    @property
    def stored_key(self) -> str:
        """The code."""
        return self.code

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
        minutes: The usual duration.
        season: When ships sail: the name of a season in `timetable.json`.
        minutes_by_company: The durations of companies that differ.
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
class Journey(_StoredByKey):
    """A route in one direction."""

    id: str
    depart: Port
    arrive: Port
    route: Route

    @classmethod
    def find(cls, key: str, network: Network) -> Journey:
        """Return the journey with this id."""
        return network.journeys[key]

    @property
    def stored_key(self) -> str:
        """The id."""
        return self.id

    @property
    def key(self) -> str:
        """The two port codes, departure first."""
        return f"{self.depart.code}-{self.arrive.code}"

    @property
    def stops(self) -> Sequence[str]:
        """The codes of the ports of call, in order."""
        is_way_out = self.depart is self.route.depart
        return self.route.stops if is_way_out else self.route.stops[::-1]


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
