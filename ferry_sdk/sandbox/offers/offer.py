"""One availability: a sailing offered to a party, with its tariffs and places."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from ferry_sdk.sandbox.network.catalogue import sailing_record, vehicle_record
from ferry_sdk.sandbox.network.geography import VehicleModel
from ferry_sdk.sandbox.network.network import name_id
from ferry_sdk.sandbox.network.timetable import Sailing
from ferry_sdk.sandbox.offers.accommodation import Party, Place, animals_on, meals_on
from ferry_sdk.sandbox.offers.fares import Tariff, round_to_cents

if TYPE_CHECKING:
    from ferry_sdk.sandbox.responses.fields import JsonObject

Direction = Literal["Outward", "Return"]

_OPEN_FOR = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class OfferInputs:
    """The inputs from which an offer is computed.

    Attributes:
        round_trip: Whether both directions were searched and have sailings.
        issued_at: The time of the search.
    """

    id: str
    direction: Direction
    sailing: Sailing
    is_open: bool
    round_trip: bool
    party: Party
    vehicle: VehicleModel | None
    issued_at: datetime

    @property
    def valid_until(self) -> datetime | None:
        """The end of an open ticket, a year after the search; None if not open."""
        return self.issued_at + _OPEN_FOR if self.is_open else None

    @property
    def ends_at(self) -> datetime:
        """When it can no longer be used: at departure, or at the end of an open ticket."""
        return self.valid_until or self.sailing.depart_at


@dataclass(frozen=True, slots=True)
class Offer(OfferInputs):
    """One availability.

    Attributes:
        fare: The party's fare at the standard tariff, with the vehicle and plain seats.
        vehicle_fare: The share of the vehicle in `fare`.
    """

    fare: Decimal
    vehicle_fare: Decimal
    tariffs: tuple[Tariff, ...]
    places: tuple[Place, ...]

    def tariff(self, tariff_id: str) -> Tariff | None:
        """Return the tariff with this id."""
        return next((each for each in self.tariffs if each.id == tariff_id), None)

    def place(self, place_id: str) -> Place | None:
        """Return the place with this id."""
        return next((each for each in self.places if each.id == place_id), None)

    def price(self, tariff: Tariff, place: Place) -> Decimal:
        """Return the price for the whole party, in euros."""
        return round_to_cents((self.fare + place.supplement) * tariff.level.rate)

    def to_wire(self, language: str) -> JsonObject:
        """Return the availability as the interface represents it."""
        sailing = self.sailing
        company = sailing.company
        group_id = 1 if self.direction == "Outward" else 2

        vehicles: list[JsonObject] = []
        if self.vehicle is not None:
            fare = {"amount": float(self.vehicle_fare), "currency": "Eur"}
            vehicles.append({**vehicle_record(self.vehicle), **fare})

        return {
            "id": self.id,
            "group_id": group_id,
            "direction": self.direction,
            **sailing_record(sailing, language),
            "is_open": self.is_open,
            "company": {"id": company.id, "name": company.name, "logo": company.logo},
            "provider": {"id": company.id, "name": company.name},
            "gateway": {
                "id": name_id("gateway", company.group),
                "code": company.code,
                "provider": company.group,
            },
            "tariffs": [self._tariff_record(each) for each in self.tariffs],
            "places": [self._place_record(each, language) for each in self.places],
            "passenger_count": len(self.party.travellers),
            "vehicle": vehicles,
            "meals": meals_on(sailing, language),
            "animals": animals_on(sailing.journey.route),
            "stops": list(sailing.stops),
            "ship_name": sailing.ship,
            "duration": max(1, (sailing.minutes + 30) // 60),
        }

    def _tariff_record(self, tariff: Tariff) -> JsonObject:
        record: JsonObject = {
            "id": tariff.id,
            "type": tariff.level.type,
            "amount": float(tariff.amount),
            "balance_amount": float(tariff.amount),
            "currency": "Eur",
            "date": int(self.issued_at.timestamp()),
            "expiration_date": int(tariff.expires_at.timestamp()),
        }
        if self.sailing.company.round_trip_fares:
            record["roundtrip_locked"] = tariff.level.roundtrip
        return record

    def _place_record(self, place: Place, language: str) -> JsonObject:
        kind = place.kind
        age_band = self.party.company.age_band
        passengers = [
            {"order": order, "type": age_band(traveller.age), "age": traveller.age}
            for order, traveller in enumerate(self.party.travellers, start=1)
        ]

        return {
            "id": place.id,
            "index": place.index,
            "code": kind.code,
            "count": place.count,
            "type": kind.type,
            "gender": kind.gender,
            "capacity": place.capacity,
            "use": kind.use,
            "name": place.name_in(language),
            "in_board": {
                "adults": self.party.number("Adult"),
                "childs": self.party.number("Child"),
                "babies": self.party.number("Infant"),
                "passengers": passengers,
                "has_shower": kind.has_shower,
                "has_toilet": kind.has_toilet,
                "has_window": kind.has_window,
            },
        }
