"""The catalogues as the interface represents them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING

from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.network.geography import Company, Journey, VehicleModel
from ferry_sdk.sandbox.network.network import Network
from ferry_sdk.sandbox.network.timetable import Sailing, Timetable
from ferry_sdk.sandbox.profile import Profile
from ferry_sdk.sandbox.requests.access import CallContext
from ferry_sdk.sandbox.requests.errors import invalid
from ferry_sdk.sandbox.requests.searches import DepartureQuery

if TYPE_CHECKING:
    from ferry_sdk.sandbox.responses.fields import JsonObject

_DAYS = 7
_SAILINGS_OF_EACH = 3


class Catalogue:
    """Every catalogue as a list of records; a language is a two-letter code."""

    def __init__(self, timetable: Timetable, clock: Clock, profile: Profile) -> None:
        self._network = Network.load()
        self._timetable = timetable
        self._clock = clock
        self._profile = profile

    def ports(self, language: str) -> list[JsonObject]:
        """Return the ports with code, name and country."""
        return [
            {name: port[name] for name in ("code", "name", "country")}
            for port in self.ports_with_places(language)
        ]

    def ports_with_places(self, language: str) -> list[JsonObject]:
        """Return the ports with city, country code, coordinates and time zone too."""
        return [
            {
                "code": port.code,
                "city": port.city,
                "latitude": port.latitude,
                "longitude": port.longitude,
                "timezone": port.timezone,
                "name": port.name_in(language),
                "country": port.country.name_in(language),
                "country_code": port.country.code,
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

    def departures(self, request: DepartureQuery, _: CallContext) -> list[JsonObject]:
        """Return the departure times of a company in the next seven days, by journey.

        Raises:
            RefusedError: The company or a journey is unknown, or the company does not sail it.
        """
        company = self._network.company(request.provider_id, "provider_id")
        journey_ids = request.journey_ids
        means_all = not journey_ids and self._profile.no_journeys == "all"
        if journey_ids is None or means_all:
            journeys = self._network.journeys_of(company)
        else:
            journeys = tuple(
                self._journey_of(company, journey_id, f"__journey_id[{index}]")
                for index, journey_id in enumerate(journey_ids)
            )

        return [
            {
                "journey_id": journey.id,
                "departure_times": self._departure_times(company, journey),
            }
            for journey in journeys
        ]

    def scheduled_departures(self, language: str) -> list[JsonObject]:
        """Return the next three departures of each company on each journey."""
        sailings: list[Sailing] = []
        for company in self._network.companies.values():
            for journey in self._network.journeys_of(company):
                sailings += islice(self._upcoming(company, journey), _SAILINGS_OF_EACH)

        return [
            {
                **sailing_record(sailing, language),
                "route": _route(sailing.journey, language),
                "company": {
                    "id": sailing.company.id,
                    "code": sailing.company.code,
                    "name": sailing.company.name,
                },
                "ship": sailing.ship,
                "duration_minutes": sailing.minutes,
            }
            for sailing in sailings
        ]

    def companies(self, language: str) -> list[JsonObject]:
        """Return the companies with id, code, name, logo, website and country."""
        return [
            {
                "id": company.id,
                "code": company.code,
                "name": company.name,
                "logo": company.logo,
                "website": company.website,
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
                "phone_prefix": country.phone_prefix,
                "names": country.names,
                "name": country.name_in(language),
            }
            for country in self._network.countries.values()
        ]

    def vehicle_brands(self, _: str) -> list[JsonObject]:
        """Return the vehicle brands with id and name."""
        return [{"id": code, "name": name} for code, name in self._network.vehicle_brands.items()]

    def vehicle_types(self, _: str) -> list[JsonObject]:
        """Return the vehicle types with their maximum length and height in metres."""
        return [
            {
                "code": kind.code,
                "name": kind.name,
                "max_length": kind.max_length,
                "max_height": kind.max_height,
            }
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

    def _departure_times(self, company: Company, journey: Journey) -> list[str]:
        departures = (sailing.depart_at for sailing in self._upcoming(company, journey))
        # Most days have the same times, and writing a time takes long.
        times = {(departure.hour, departure.minute) for departure in departures}
        return [f"{hour:02}:{minute:02}" for hour, minute in sorted(times)]

    def _upcoming(self, company: Company, journey: Journey) -> Iterator[Sailing]:
        now = self._clock.now()
        today = now.astimezone(journey.depart.zone).date()
        return (
            sailing
            for sailing in self._timetable.sailings_from(company, journey, today, _DAYS)
            if sailing.depart_at > now
        )


def sailing_record(sailing: Sailing, language: str) -> JsonObject:
    """Return the journey, the ports and the times of a sailing."""
    depart = sailing.journey.depart
    arrive = sailing.journey.arrive
    return {
        "journey_id": sailing.journey.id,
        "sailing_id": sailing.id,
        "depart_code": depart.code,
        "depart_name": depart.name_in(language),
        "arrive_code": arrive.code,
        "arrive_name": arrive.name_in(language),
        "depart_at": sailing.depart_at.isoformat(),
        "arrive_at": sailing.arrive_at.isoformat(),
    }


def vehicle_record(vehicle: VehicleModel) -> JsonObject:
    """Return a vehicle with the code of its type."""
    return {**asdict(vehicle), "type": vehicle.type.code}


def _route(journey: Journey, language: str) -> str:
    return f"{journey.depart.name_in(language)} → {journey.arrive.name_in(language)}"
