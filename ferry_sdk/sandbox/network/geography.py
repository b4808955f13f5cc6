"""What a ferry network is made of: countries, ports, ships, operators, routes and journeys.

There is one object of each, so that they are the same or not by identity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, eq=False)
class Country:
    """A country, its dialling prefix and its name in several languages."""

    code: str
    phone_prefix: str
    names: Mapping[str, str]

    def name_in(self, language: str) -> str:
        """The name in a language (two letters), else in English."""
        return self.names.get(language, self.names["en"])


@dataclass(frozen=True, slots=True, eq=False)
class Port:
    """A port, where it is and the clock it keeps."""

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
        """The time zone of the port's clock."""
        return ZoneInfo(self.timezone)

    def name_in(self, language: str) -> str:
        """The name in a language (two letters), else the usual one."""
        return self.names.get(language, self.name)


@dataclass(frozen=True, slots=True, eq=False)
class Ship:
    """A ship of an operator."""

    name: str
    fast: bool


@dataclass(frozen=True, slots=True, eq=False)
class Company:
    """A ferry company, with what differs from one company to the next in its conditions.

    Attributes:
        ships: Its ships; a company of which none is known has one of its own name.
        infant_below: The age from which nobody is an infant any more.
        child_below: The age from which nobody is a child any more.
        low_vehicle: The height in metres above which a vehicle costs more.
        round_trip_fares: Whether it sells fares that hold for a round trip only.
        mails_vouchers: Whether it sends its vouchers by e-mail itself.
    """

    id: str
    code: str
    name: str
    country: Country
    website: str | None
    group: str
    ships: tuple[Ship, ...]
    infant_below: int
    child_below: int
    low_vehicle: float
    round_trip_fares: bool
    mails_vouchers: bool

    @property
    def logo(self) -> str:
        """The address of the company's logo, on a host that is reserved and serves nothing."""
        return f"https://static.ferry.example/logos/{self.code.lower()}.svg"


@dataclass(frozen=True, slots=True, eq=False)
class Route:
    """Two ports with ferries between them, sailed both ways."""

    depart: Port
    arrive: Port
    companies: tuple[str, ...]
    minutes: int
    minutes_by_company: Mapping[str, int]
    miles: int
    season: str
    vehicles: bool
    overnight: bool
    fast: bool
    round_the_clock: bool
    stops: tuple[str, ...]
    stops_sometimes: bool

    def minutes_of(self, company: Company) -> int:
        """How long this operator's ships usually take."""
        return self.minutes_by_company.get(company.code, self.minutes)


@dataclass(frozen=True, slots=True, eq=False)
class Journey:
    """A route in one direction."""

    id: str
    depart: Port
    arrive: Port
    route: Route

    @property
    def key(self) -> str:
        """The two port codes, departure first."""
        return f"{self.depart.code}-{self.arrive.code}"

    @property
    def stops(self) -> tuple[str, ...]:
        """The codes of the ports that sailings may call at on the way, in order."""
        return self.route.stops if self.depart is self.route.depart else self.route.stops[::-1]
