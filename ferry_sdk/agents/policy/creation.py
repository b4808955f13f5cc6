"""Plan a booking of sailings that searches have shown.

A booking is planned from what the searches showed, without a request to the service unless it has a
vehicle. For example, of a selection of the tariff ``t-1`` on the sailing ``a-1``:

1. The sailing, the tariff and the place must have been shown: `Create._choices`.
2. The vehicle must be that of the search, and no tariff may have expired or have another price
   since: `_searched_vehicle`, `Create._check_offers`.
3. The travellers must be those of the search: `_check_party`. What the library or the service would
   refuse is refused before a person is asked.
4. The price is that of the tariffs: "Book for 12.32 EUR: "Tarifa" to "Tangier", ...; 1 traveller".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from functools import partial
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
        sailings = sorted(choice.shown.sailing_key for choice in chosen)
        names = sorted(
            name_key(f"{each.first_name} {each.last_name}") for each in values["passengers"]
        )
        key = self._state.fingerprint("bookings.create", sailings, names)

        ids = [selection.availability_id for selection in values["availabilities"]]
        subject = {f"availability_id_{number}": each for number, each in enumerate(ids, 1)}

        vehicle: Vehicle | None = values.get("vehicle")
        texts = [f"{quote(choice.tariff.type)}, {quote(choice.place.name)}" for choice in chosen]
        if vehicle is None:
            texts.append("no vehicle")
        else:
            texts.append(f"the vehicle {quote(vehicle.code)}")
        return Identity(key=key, subject=subject, target_id=key, choice="; ".join(texts))

    def plan(
        self, values: Mapping[str, Any], identity: Identity, total: Decimal | None = None
    ) -> WritePlans:
        """Plan the booking at the price of the chosen tariffs, or at a total that is expected."""
        chosen = self._choices(values)
        if len(identity.subject) != len(set(identity.subject.values())):
            raise RefusedError("listed_twice", field="availabilities")

        passengers: list[Traveller] = values["passengers"]
        vehicle: Vehicle | None = values.get("vehicle")
        searched_codes = {choice.shown.vehicle_code or "" for choice in chosen}
        has_vehicle = vehicle is not None
        if any(bool(code) != has_vehicle for code in searched_codes):
            raise RefusedError("vehicle_or_none", field="vehicle")
        if vehicle is not None:
            searched_vehicle = yield from _searched_vehicle(vehicle, searched_codes)
            values = {**values, "vehicle": searched_vehicle}

        currency = chosen[0].tariff.currency
        if any(choice.tariff.currency != currency for choice in chosen):
            raise RefusedError("several_currencies", field="availabilities")
        yield from self._check_offers(chosen)
        amount = exact_sum(choice.tariff.amount for choice in chosen) if total is None else total

        selections = [
            choice.shown.sailing.select(tariff=choice.tariff, place=choice.place)
            for choice in chosen
        ]
        values = {**values, "availabilities": selections}
        _check_party(values, chosen)
        tariff_type = chosen[0].tariff.type.upper()
        wanted_type = values.get("reservation_type", tariff_type)
        if tariff_type in _TYPES and wanted_type != tariff_type:
            raise RefusedError("other_type", tariff_type, field="reservation_type")

        who = count_travellers(passengers)
        if vehicle is not None:
            who += " and a vehicle"
        has_choice = any(len(choice.shown.sailing.places) > 1 for choice in chosen)
        hint = TEXTS["may_be_dearer"] if has_choice and total is None else ""
        return WritePlan(
            arguments=values,
            summary=f"Book for {money(amount, currency)}: {self.describe(values)}; {who}{hint}",
            amount=amount,
            currency=currency,
            count=partial(self._state.budget.hold, identity.key, amount, currency),
            travellers=tuple(quote(f"{each.first_name} {each.last_name}") for each in passengers),
            contact=_contact(values.get("contact"), passengers),
            check=partial(self._check_offers, chosen),
            costs={"Price": money(amount, currency)},
        )

    def party(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the types of the travellers that the sailings were searched for."""
        return self._choices(values)[0].shown.party

    def describe(self, values: Mapping[str, Any]) -> str:
        """Describe the sailings that are chosen, with fare and place, for a person."""
        texts = [
            f"{describe_sailing(choice.shown.sailing)}, {quote(choice.tariff.type)}, "
            f"{quote(choice.place.name)}"
            for choice in self._choices(values)
        ]
        return "; ".join(texts)

    def conclude(self, plan: WritePlan, hold: Hold, result: BookingCreated) -> list[str]:
        """Count the real price, and return a note if it differs from the approved one."""
        return self.count(hold, (plan.amount, plan.currency), result)

    def count(self, hold: Hold | None, approved_price: Amount, result: BookingCreated) -> list[str]:
        """Do the same for a booking that was approved at this price, perhaps by an earlier call."""
        if hold is not None:
            self._state.budget.settle(
                hold, result.booking_id, result.total_price, currency=result.currency
            )

        if (result.total_price, result.currency) == approved_price:
            return []
        text = TEXTS["price_differs"].format(
            approved=money(*approved_price),
            price=money(result.total_price, result.currency),
            total=format_amount(result.total_price),
        )
        return [text]

    def _choices(self, values: Mapping[str, Any]) -> list[_Choice]:
        return [
            self._choice(selection, f"availabilities.{index}")
            for index, selection in enumerate(values["availabilities"])
        ]

    def _choice(self, selection: Selection, where: str) -> _Choice:
        """Return what a selection chooses, which has to have been shown."""
        shown = self._state.known_ids.sailings.get(selection.availability_id)
        shown = require(shown, "the sailing", f"{where}.availability_id")

        tariffs = {tariff.id: tariff for tariff in shown.sailing.tariffs}
        tariff = tariffs.get(selection.tariff_id)
        tariff = require(tariff, "the tariff of this sailing", f"{where}.tariff_id")

        places = {place.id: place for place in shown.sailing.places}
        place = places.get(selection.place_id)
        place = require(place, "the place of this sailing", f"{where}.place_id")
        return _Choice(shown, tariff, place)

    def _check_offers(self, chosen: list[_Choice]) -> Generator[Invoke, Any, None]:
        """Refuse a tariff that has expired or has another price now.

        It makes no call: it yields nothing, and is a generator because `WritePlan.check` is one.
        """
        yield from ()
        for index, choice in enumerate(chosen):
            where = f"availabilities.{index}"
            ends = [choice.shown.sailing.depart_at]
            if isinstance(choice.tariff.expiration_date, datetime):
                ends.append(choice.tariff.expiration_date)
            if self._state.now() >= min(ends).timestamp():
                raise RefusedError("offer_expired", field=where)
            if not self._state.known_ids.has_current_price(choice.shown, choice.tariff):
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

    # The body that would be sent has the types that the library derives from ages.
    call: Any = BookingsGroup.create(None, **values).call
    booked = Counter(passenger["type"] for passenger in call.body["passengers"])
    for choice in chosen:
        searched = Counter(choice.shown.party)
        if searched not in (Counter(), booked):  # a state file of an earlier version has no types
            raise RefusedError("other_party", _count(searched), _count(booked), field="passengers")

    for index, passenger in enumerate(values["passengers"]):
        if (passenger.doc_type is None) != (passenger.doc_number is None):
            missing = "doc_type" if passenger.doc_type is None else "doc_number"
            raise InvalidInputError(
                "a document has a kind and a number", field=f"passengers[{index}].{missing}"
            )


def _count(party: Counter[str]) -> str:
    """Describe a party for a person, such as ``2 travellers (1 Adult, 1 Child)``."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(party.items()))
    return f"{count_travellers([*party.elements()])} ({kinds})"


def _searched_vehicle(
    vehicle: Vehicle, searched_codes: set[str]
) -> Generator[Invoke, Any, Vehicle]:
    """Return the vehicle of the search as it is booked, with the plate of the booking's vehicle.

    A search takes the code of a model, such as ``FIAT__500``, and a booking that of its type, such
    as ``CAR``. If the catalogue of vehicles cannot be read or does not have the model, the given
    vehicle is returned.

    Raises:
        RefusedError: The given vehicle is another one.
    """
    if len(searched_codes) != 1:
        raise RefusedError("different_vehicles", field="vehicle")
    (code,) = searched_codes

    matches: tuple[VehicleMatch, ...] = ()
    with suppress(FerryError):
        matches = yield Invoke("vehicles.find", {"text": code}, _CATALOGUE_SECONDS)
    models = [match for match in matches if match.model.code == code and match.model.type]
    if not models:
        if "__" in vehicle.code:
            raise RefusedError("search_code", field="vehicle.code")
        return vehicle

    booked = models[0].booking(identification=vehicle.identification)
    if fold(vehicle.code) != fold(booked.code):
        raise RefusedError("other_vehicle", quote(code), quote(booked.code), field="vehicle.code")
    return booked


def _contact(contact: Contact | None, passengers: Sequence[Traveller]) -> tuple[str, ...]:
    """Return whom the company writes to, for a person."""
    texts = [passenger.email for passenger in passengers]
    if contact is not None:
        phone = " ".join(part for part in (contact.prefix, contact.phone) if part)
        texts = [contact.name, contact.email, phone, *texts]
    each_once = dict.fromkeys(texts)
    return tuple(quote(text, _MAX_EMAIL) for text in each_once if text)
