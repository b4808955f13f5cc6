"""The catalogues as the interface represents them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING

from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.network.geography import Company, Journey, VehicleModel
from ferry_sdk.sandbox.network.network import Network
from ferry_sdk.sandbox.network.timetable import Sailing, Timetable
from ferry_sdk.sandbox.requests.errors import invalid

if TYPE_CHECKING:
    from ferry_sdk.sandbox.responses.fields import JsonObject

_DAYS = 7
_NEXT = 3
_COMPANY_FIELDS = ("id", "code", "name", "logo", "website")


class Catalogue:
    """Every catalogue as a list of records; a language is a two-letter code."""

    def __init__(self, network: Network, timetable: Timetable, clock: Clock) -> None:
        self._network = network
        self._timetable = timetable
        self._clock = clock

    def ports(self, language: str) -> list[JsonObject]:
        """Return the ports with code, name and country."""
        names = ("code", "name", "country")
        return [{name: port[name] for name in names} for port in self.ports_with_places(language)]

    def ports_with_places(self, language: str) -> list[JsonObject]:
        """Return the ports with city, country code, coordinates and time zone too."""
        return [
            {
                "code": port.code,
                "name": port.name_in(language),
                "city": port.city,
                "country": port.country.name_in(language),
                "country_code": port.country.code,
                "latitude": port.latitude,
                "longitude": port.longitude,
                "timezone": port.timezone,
            }
            for port in self._network.ports.values()
        ]

    def journeys(self, language: str) -> list[JsonObject]:
        """Return the journeys with route, usual duration, port codes and companies."""
        return [
            {
                "journey_id": journey.id,
                "route": _route(journey, language),
                "duration_minutes": journey.route.minutes,
                "depart_code": journey.depart.code,
                "arrive_code": journey.arrive.code,
                "companies": list(journey.route.companies),
            }
            for journey in self._network.journeys.values()
        ]

    def departures(self, company_key: str, journey_ids: Sequence[str] = ()) -> list[JsonObject]:
        """Return the departure times of a company in the next seven days, by journey.

        Args:
            company_key: The code or the id of the company.
            journey_ids: The journeys; by default all that the company sails.

        Raises:
            RefusedError: The company or a journey is unknown, or the company does not sail it.
        """
        company = self._network.company(company_key, "provider_id")
        journeys = self._network.journeys_of(company)
        if journey_ids:
            journeys = tuple(
                self._journey_of(company, each, f"__journey_id[{number}]")
                for number, each in enumerate(journey_ids)
            )
        return [
            {
                "journey_id": journey.id,
                "departure_times": sorted(
                    {f"{each.depart_at:%H:%M}" for each in self._upcoming(company, journey)}
                ),
            }
            for journey in journeys
        ]

    def scheduled_departures(self, language: str) -> list[JsonObject]:
        """Return the next three departures of each company on each journey."""
        return [
            {
                "journey_id": journey.id,
                "sailing_id": sailing.id,
                "route": _route(journey, language),
                "company": {"id": company.id, "code": company.code, "name": company.name},
                "depart_code": journey.depart.code,
                "depart_name": journey.depart.name_in(language),
                "arrive_code": journey.arrive.code,
                "arrive_name": journey.arrive.name_in(language),
                "ship": sailing.ship.name,
                "depart_at": sailing.depart_at.isoformat(),
                "arrive_at": sailing.arrive_at.isoformat(),
                "duration_minutes": sailing.minutes,
            }
            for company in self._network.companies.values()
            for journey in self._network.journeys_of(company)
            for sailing in islice(self._upcoming(company, journey), _NEXT)
        ]

    def companies(self, language: str) -> list[JsonObject]:
        """Return the companies with id, code, name, logo, website and country."""
        return [
            {
                **{name: getattr(company, name) for name in _COMPANY_FIELDS},
                "country": company.country.name_in(language),
                "country_code": company.country.code,
            }
            for company in self._network.companies.values()
        ]

    def countries(self, language: str) -> list[JsonObject]:
        """Return the countries with code, phone prefix and names in every language."""
        return [
            {
                "code": country.code,
                "name": country.name_in(language),
                "phone_prefix": country.phone_prefix,
                "names": dict(country.names),
            }
            for country in self._network.countries.values()
        ]

    def vehicle_brands(self, _: str) -> list[JsonObject]:
        """Return the vehicle brands with id and name."""
        brands = self._network.vehicle_brands.items()
        return [{"id": code, "name": name} for code, name in brands]

    def vehicle_types(self, _: str) -> list[JsonObject]:
        """Return the vehicle types with their maximum length and height in metres."""
        return [
            {name: getattr(kind, name) for name in ("code", "name", "max_length", "max_height")}
            for kind in self._network.vehicle_types.values()
        ]

    def vehicles(self, _: str) -> list[JsonObject]:
        """Return the vehicle models with brand, type, length and height in metres."""
        return [vehicle_record(model) for model in self._network.vehicle_models.values()]

    def _journey_of(self, company: Company, journey_id: str, field: str) -> Journey:
        journey = self._network.journey(journey_id, field)
        if company.code not in journey.route.companies:
            raise invalid(field, "journey_not_sailed", value=journey_id)
        return journey

    def _upcoming(self, company: Company, journey: Journey) -> Iterator[Sailing]:
        now = self._clock.now()
        today = now.astimezone(journey.depart.zone).date()
        return (
            sailing
            for sailing in self._timetable.sailings_from(company, journey, today, _DAYS)
            if sailing.depart_at > now
        )


def vehicle_record(vehicle: VehicleModel) -> JsonObject:
    """Return a vehicle with the code of its type."""
    return {**asdict(vehicle), "type": vehicle.type.code}


def _route(journey: Journey, language: str) -> str:
    return f"{journey.depart.name_in(language)} → {journey.arrive.name_in(language)}"
