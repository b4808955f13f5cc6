"""Plan a booking of sailings that searches have shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple, get_args

from ferry_sdk._runtime.money import format_amount, money
from ferry_sdk.agents.policy.answers import TEXTS, RefusedError
from ferry_sdk.agents.policy.audit import Invoke
from ferry_sdk.agents.policy.budget import Amount, Hold
from ferry_sdk.agents.policy.known_ids import (
    KnownSailing,
    count_travellers,
    describe_sailing,
    quote,
    require,
)
from ferry_sdk.agents.policy.write_plan import Identity, ToolkitState, WritePlan, WritePlans
from ferry_sdk.agents.tools.sanitize import name_key
from ferry_sdk.errors import FerryError, InvalidInputError
from ferry_sdk.models.availability import Place, Tariff
from ferry_sdk.models.bookings import BookingCreated
from ferry_sdk.models.inputs import Contact, Selection, Traveller, Vehicle
from ferry_sdk.models.sums import exact_sum
from ferry_sdk.planning.names import fold
from ferry_sdk.planning.vehicles import VehicleMatch
from ferry_sdk.resources.arguments import ReservationTypeName
from ferry_sdk.resources.bookings import BookingsGroup

_TYPES = get_args(ReservationTypeName)
_CATALOGUE_SECONDS = 10.0
_MAX_EMAIL = 254
"""The length at which an e-mail address is cut: its end says who receives the mail."""


class _Choice(NamedTuple):
    """The tariff and the place to book on a sailing."""

    shown: KnownSailing
    tariff: Tariff
    place: Place


class Create:
    """Make a booking of sailings that searches have shown."""

    def __init__(self, state: ToolkitState) -> None:
        self._state = state

    def identity(self, values: Mapping[str, Any]) -> Identity:
        """Return the same identity for the same travellers on the same sailings."""
        chosen = self._choices(values)
        offers = [choice.shown.sailing_key for choice in chosen]
        who = sorted(
            name_key(f"{each.first_name} {each.last_name}") for each in values["passengers"]
        )
        key = self._state.fingerprint("bookings.create", sorted(offers), who)
        ids = [each.availability_id for each in values["availabilities"]]
        subject = {f"availability_id_{number}": each for number, each in enumerate(ids, 1)}
        vehicle: Vehicle | None = values.get("vehicle")
        texts = [f"{quote(choice.tariff.type)}, {quote(choice.place.name)}" for choice in chosen]
        texts.append("no vehicle" if vehicle is None else f"the vehicle {quote(vehicle.code)}")
        return Identity(key, subject, key, "; ".join(texts))

    def plan(
        self, values: Mapping[str, Any], identity: Identity, total: Decimal | None = None
    ) -> WritePlans:
        """Plan the booking at the price of the chosen tariffs, or at a total that is expected."""
        chosen = self._choices(values)
        if len(identity.subject) != len(set(identity.subject.values())):
            raise RefusedError("listed_twice", field="availabilities")
        passengers: list[Traveller] = values["passengers"]
        vehicle: Vehicle | None = values.get("vehicle")
        searched = {shown.vehicle_code or "" for shown, _, _ in chosen}
        if any((code == "") != (vehicle is None) for code in searched):
            raise RefusedError("vehicle_or_none", field="vehicle")
        if vehicle is not None:
            values = {**values, "vehicle": (yield from _searched_vehicle(vehicle, searched))}
        currency = chosen[0].tariff.currency
        if any(choice.tariff.currency != currency for choice in chosen):
            raise RefusedError("several_currencies", field="availabilities")
        yield from self._check_offers(chosen)
        amount = exact_sum(choice.tariff.amount for choice in chosen) if total is None else total
        selections = [
            shown.sailing.select(tariff=tariff, place=place) for shown, tariff, place in chosen
        ]
        values = {**values, "availabilities": selections}
        _check_party(values, chosen)
        who = count_travellers(passengers) + (" and a vehicle" if vehicle is not None else "")
        has_choice = any(len(shown.sailing.places) > 1 for shown, _, _ in chosen)
        more = TEXTS["may_be_dearer"] if has_choice and total is None else ""
        kind = chosen[0].tariff.type.upper()
        if kind in _TYPES and values.get("reservation_type", kind) != kind:
            raise RefusedError("other_type", kind, field="reservation_type")
        return WritePlan(
            values,
            f"Book for {money(amount, currency)}: {self.describe(values)}; {who}{more}",
            amount,
            currency,
            lambda: self._state.budget.hold(identity.key, amount, currency),
            tuple(quote(f"{each.first_name} {each.last_name}") for each in passengers),
            _contact(values.get("contact"), passengers),
            check=lambda: self._check_offers(chosen),
        )

    def party(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the types of the travellers that the sailings were searched for."""
        return self._choices(values)[0].shown.party

    def describe(self, values: Mapping[str, Any]) -> str:
        """Describe the sailings that are chosen, with fare and place, for a person."""
        return "; ".join(
            f"{describe_sailing(shown.sailing)}, {quote(tariff.type)}, {quote(place.name)}"
            for shown, tariff, place in self._choices(values)
        )

    def conclude(self, plan: WritePlan, hold: Hold, result: BookingCreated) -> list[str]:
        """Count the real price, and return a note if it differs from the approved one."""
        return self.count(hold, (plan.amount, plan.currency), result)

    def count(self, hold: Hold | None, approved_price: Amount, result: BookingCreated) -> list[str]:
        """Do the same for a booking that was approved at this price, perhaps by an earlier call."""
        if hold is not None:
            self._state.budget.settle(hold, result.booking_id, result.total_price, result.currency)
        if (result.total_price, result.currency) == approved_price:
            return []
        approved = money(*approved_price)
        total, price = format_amount(result.total_price), money(result.total_price, result.currency)
        return [TEXTS["price_differs"].format(approved=approved, price=price, total=total)]

    def _choices(self, values: Mapping[str, Any]) -> list[_Choice]:
        return [
            self._choice(selection, f"availabilities.{index}")
            for index, selection in enumerate(values["availabilities"])
        ]

    def _choice(self, chosen: Selection, where: str) -> _Choice:
        shown = self._state.known_ids.sailings.get(chosen.availability_id)
        shown = require(shown, "the sailing", f"{where}.availability_id")
        tariff = {tariff.id: tariff for tariff in shown.sailing.tariffs}.get(chosen.tariff_id)
        tariff = require(tariff, "the tariff of this sailing", f"{where}.tariff_id")
        place = {place.id: place for place in shown.sailing.places}.get(chosen.place_id)
        place = require(place, "the place of this sailing", f"{where}.place_id")
        return _Choice(shown, tariff, place)

    def _check_offers(self, chosen: list[_Choice]) -> Generator[Invoke, Any, None]:
        """Refuse a tariff that has expired or has another price now; this needs no call."""
        yield from ()
        for index, (shown, tariff, _) in enumerate(chosen):
            where = f"availabilities.{index}"
            expires_at = tariff.expiration_date
            ends = [shown.sailing.depart_at]
            if isinstance(expires_at, datetime):
                ends.append(expires_at)
            if self._state.now() >= min(ends).timestamp():
                raise RefusedError("offer_expired", field=where)
            if not self._state.known_ids.has_current_price(shown, tariff):
                raise RefusedError("other_price", field=where)


def _check_party(values: Mapping[str, Any], chosen: Sequence[_Choice]) -> None:
    """Refuse what the library or the service would refuse after a person was asked.

    Raises:
        RefusedError: The travellers are not those of the search, or the sailings do not fit.
        InvalidInputError: A traveller contradicts itself or another one; `field` names it.
    """
    directions = {choice.shown.sailing.direction for choice in chosen}
    if len(chosen) > 1 and len(directions) == 1 and all(directions):
        raise RefusedError("one_direction", field="availabilities")
    if len(chosen) == 1 and chosen[0].tariff.roundtrip_locked:
        raise RefusedError("round_trips_only", field="availabilities.0.tariff_id")
    call: Any = BookingsGroup.create(None, **values).call
    party: Any = call.body["passengers"]
    booked = Counter(passenger["type"] for passenger in party)
    for shown, _, _ in chosen:
        searched = Counter(shown.party)
        if searched not in (Counter(), booked):  # a state file of an earlier version has no types
            counts = _count(searched), _count(booked)
            raise RefusedError("other_party", *counts, field="passengers")
    for index, passenger in enumerate(values["passengers"]):
        if (passenger.doc_type is None) != (passenger.doc_number is None):
            lacking = "doc_type" if passenger.doc_type is None else "doc_number"
            raise InvalidInputError(
                "a document has a kind and a number", field=f"passengers[{index}].{lacking}"
            )


def _count(party: Counter[str]) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(party.items()))
    return f"{party.total()} travellers ({kinds})"


def _searched_vehicle(vehicle: Vehicle, searched: set[str]) -> Generator[Invoke, Any, Vehicle]:
    """Return the vehicle of the search as it is booked, with the plate of the booking's vehicle.

    If the catalogue of vehicles cannot be read or does not have its type, the given vehicle is
    returned.

    Raises:
        RefusedError: The given vehicle is another one.
    """
    if len(searched) != 1:
        raise RefusedError("different_vehicles", field="vehicle")
    (code,) = searched
    matches: tuple[VehicleMatch, ...] = ()
    with suppress(FerryError):
        matches = yield Invoke("vehicles.find", {"text": code}, _CATALOGUE_SECONDS)
    match = next(
        (match for match in matches if match.model.code == code and match.model.type), None
    )
    if match is None:
        if "__" in vehicle.code:
            raise RefusedError("search_code", field="vehicle.code")
        return vehicle
    booked = match.booking(identification=vehicle.identification)
    if fold(vehicle.code) != fold(booked.code):
        codes = quote(code), quote(booked.code)
        raise RefusedError("other_vehicle", *codes, field="vehicle.code")
    return booked


def _contact(contact: Contact | None, passengers: Sequence[Traveller]) -> tuple[str, ...]:
    """Return whom the company writes to, for a person."""
    texts = [passenger.email for passenger in passengers]
    if contact is not None:
        phone = " ".join(filter(None, (contact.prefix, contact.phone)))
        texts = [contact.name, contact.email, phone, *texts]
    return tuple(quote(text, _MAX_EMAIL) for text in dict.fromkeys(texts) if text)
