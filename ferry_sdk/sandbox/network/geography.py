"""The elements of a ferry network: countries, ports, ships, companies, routes and journeys.

The network has one object for each, so they are compared by identity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from collections.abc import Mapping


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
class Ship:
    """A ship of a company."""

    name: str
    fast: bool


@dataclass(frozen=True, slots=True, eq=False)
class Company:
    """A ferry company and its conditions.

    Attributes:
        ships: The ships; a company without known ships has one ship named after it.
        infant_below: The age at which a passenger is no longer an infant.
        child_below: The age at which a passenger is no longer a child.
        low_vehicle: The height in metres above which a vehicle costs more.
        round_trip_fares: Whether it sells fares that are valid for a round trip only.
        mails_vouchers: Whether it sends its vouchers by e-mail.
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
        """The URL of the logo, on a reserved host that serves nothing."""
        return f"https://static.ferry.example/logos/{self.code.lower()}.svg"


@dataclass(frozen=True, slots=True, eq=False)
class Route:
    """Two ports that ferries connect, in both directions."""

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
        """Return the usual duration with this company, in minutes."""
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
        """The codes of the ports where sailings may call, in order."""
        return self.route.stops if self.depart is self.route.depart else self.route.stops[::-1]
