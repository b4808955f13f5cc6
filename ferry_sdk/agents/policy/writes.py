"""What a toolkit knows about each write: its identity, its checks, its price and its summary."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, NamedTuple, get_args

from ferry_sdk.agents.policy.answers import RefusedError
from ferry_sdk.agents.policy.approval import ApprovalRequest
from ferry_sdk.agents.policy.audit import Invoke
from ferry_sdk.agents.policy.budget import Budget, Hold
from ferry_sdk.agents.policy.known_ids import (
    KnownIds,
    Offer,
    count_travellers,
    describe_sailing,
    quote,
)
from ferry_sdk.agents.policy.state import State
from ferry_sdk.agents.tools.sanitize import name_key
from ferry_sdk.agents.tools.tools import Arguments, Tool
from ferry_sdk.errors import FerryError
from ferry_sdk.models.availability import Place, Tariff
from ferry_sdk.models.bookings import Booking, BookingCancellation, BookingCreated
from ferry_sdk.models.display.money import format_amount, money
from ferry_sdk.models.inputs import Passenger, Selection, Vehicle
from ferry_sdk.models.sums import exact_sum
from ferry_sdk.models.tickets import CancellationFee
from ferry_sdk.planning.names import fold
from ferry_sdk.planning.vehicles import VehicleMatch
from ferry_sdk.resources.arguments import ReservationTypeName


class ToolkitState:
    """The state that the writes of a toolkit share. `now` is the service's clock."""

    def __init__(self, state: State, budget: Budget, now: Callable[[], float]) -> None:
        self.known_ids: KnownIds = KnownIds(state)
        self.budget: Budget = budget
        self.now: Callable[[], float] = now
        self.fingerprint: Callable[..., str] = state.fingerprint


@dataclass(frozen=True, slots=True)
class Identity:
    """Identifies a write.

    Attributes:
        key: Equal for equal writes.
        subject: The ids of what it changes or books.
        target_id: The booking that it changes, else the ticket, else `key`.
    """

    key: str
    subject: Mapping[str, str]
    target_id: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A write that is ready to be approved and sent.

    Attributes:
        arguments: The arguments for the client's method, guards included.
        summary: What it does, for a person; made from the service's data.
        amount: The price, or the penalty that is kept.
        currency: The currency of `amount`.
        travellers: The travellers' names, each in quotes.
        count: Counts the amount, or refuses the write if it exceeds a limit.
        hold: The amount that is counted for it.
        check: Refuses the write if it is no longer valid.
    """

    arguments: Mapping[str, Any] = field(repr=False)
    summary: str
    amount: Decimal
    currency: str
    count: Callable[[], Hold]
    travellers: tuple[str, ...] = field(default=(), repr=False)
    hold: Hold | None = None
    check: Callable[[], None] = lambda: None


_TYPES = get_args(ReservationTypeName)
_DEARER = (
    ". The places chosen may cost more than that; then a person is asked again before it is paid"
)
_ACCEPT_TOTAL = (
    "Tell the user the new price. Only if they agree, call again with expect_total set to it. Else "
    "cancel the booking."
)
_CATALOGUE_SECONDS = 10.0
_Subject = Literal["booking_id", "ticket_id"]
Plans = Generator[Invoke, Any, Plan]


class _Choice(NamedTuple):
    """The tariff and the place to book on a sailing."""

    offer: Offer
    tariff: Tariff
    place: Place


class Create:
    """Make a booking of sailings that searches have shown."""

    def __init__(self, state: ToolkitState) -> None:
        self._state = state

    def identity(self, values: Mapping[str, Any]) -> Identity:
        """Return the same identity for the same travellers on the same sailings."""
        offers = [one.offer.sailing_key for one in self._choices(values)]
        who = sorted(name_key(f"{one.first_name} {one.last_name}") for one in values["passengers"])
        key = self._state.fingerprint("bookings.create", sorted(offers), who)
        ids = [one.availability_id for one in values["availabilities"]]
        subject = {f"availability_id_{number}": each for number, each in enumerate(ids, 1)}
        return Identity(key, subject, key)

    def plan(self, values: Mapping[str, Any], identity: Identity) -> Plans:
        """Plan the booking at the price of the chosen tariffs."""
        chosen = self._choices(values)
        if len(identity.subject) != len(set(identity.subject.values())):
            raise _invalid("a sailing is listed twice", "availabilities")
        passengers: list[Passenger] = values["passengers"]
        vehicle: Vehicle | None = values.get("vehicle")
        for offer, _, _ in chosen:
            if offer.sailing.passenger_count != len(passengers):
                raise RefusedError(
                    "party_changed",
                    f"the search was for {offer.sailing.passenger_count} travellers, "
                    f"the booking is for {len(passengers)}",
                    field="passengers",
                )
            if (offer.vehicle_code is None) != (vehicle is None):
                raise RefusedError(
                    "party_changed",
                    "the search and the booking must both have a vehicle, or both have none",
                    field="vehicle",
                )
        if vehicle is not None:
            searched = {offer.vehicle_code or "" for offer, _, _ in chosen}
            values = {**values, "vehicle": (yield from _searched_vehicle(vehicle, searched))}
        currency = chosen[0].tariff.currency
        if any(one.tariff.currency != currency for one in chosen):
            raise _invalid("all tariffs must have the same currency", "availabilities")
        self._check(chosen)
        amount = exact_sum(one.tariff.amount for one in chosen)
        selections = [
            offer.sailing.select(tariff=tariff, place=place) for offer, tariff, place in chosen
        ]
        sailings = "; ".join(
            f"{describe_sailing(offer.sailing)}, {quote(tariff.type)}, {quote(place.name)}"
            for offer, tariff, place in chosen
        )
        who = count_travellers(passengers)
        and_vehicle = " and a vehicle" if vehicle is not None else ""
        dearer = "" if all(len(offer.sailing.places) == 1 for offer, _, _ in chosen) else _DEARER
        kind = chosen[0].tariff.type.upper()
        if kind in _TYPES and values.get("reservation_type", kind) != kind:
            raise _invalid(f"expected {kind}, the type of the tariff", "reservation_type")
        return Plan(
            {**values, "availabilities": selections},
            f"Book for {money(amount, currency)}: {sailings}; {who}{and_vehicle}{dearer}",
            amount,
            currency,
            lambda: self._state.budget.hold(identity.key, amount, currency),
            tuple(quote(f"{one.first_name} {one.last_name}") for one in passengers),
            check=lambda: self._check(chosen),
        )

    def conclude(self, plan: Plan, result: BookingCreated) -> list[str]:
        """Count the real price, and return a note if it differs from the approved one."""
        if plan.hold is not None:
            self._state.budget.settle(
                plan.hold, result.booking_id, result.total_price, result.currency
            )
        if (result.total_price, result.currency) == (plan.amount, plan.currency):
            return []
        note = (
            f"PRICE DIFFERS: approved were {money(plan.amount, plan.currency)}, the booking "
            f"costs {money(result.total_price, result.currency)}. Nothing is confirmed yet: tell "
            "the user. Only if they agree, confirm with expect_total "
            f"{format_amount(result.total_price)}. Else cancel it."
        )
        return [note]

    def _choices(self, values: Mapping[str, Any]) -> list[_Choice]:
        return [
            self._choice(one, f"availabilities.{index}")
            for index, one in enumerate(values["availabilities"])
        ]

    def _choice(self, chosen: Selection, where: str) -> _Choice:
        offer = self._state.known_ids.offer(chosen.availability_id)
        if offer is None:
            raise self._state.known_ids.unseen_id("the sailing", f"{where}.availability_id")
        tariffs = {one.id: one for one in offer.sailing.tariffs}
        if chosen.tariff_id not in tariffs:
            raise self._state.known_ids.unseen_id(
                "the tariff of this sailing", f"{where}.tariff_id"
            )
        places = {one.id: one for one in offer.sailing.places}
        if chosen.place_id not in places:
            raise self._state.known_ids.unseen_id("the place of this sailing", f"{where}.place_id")
        return _Choice(offer, tariffs[chosen.tariff_id], places[chosen.place_id])

    def _check(self, chosen: list[_Choice]) -> None:
        """Refuse a tariff that has expired or has another price now."""
        for index, (offer, tariff, _) in enumerate(chosen):
            where = f"availabilities.{index}"
            if self._state.now() >= tariff.expiration_date.timestamp():
                raise RefusedError("offer_expired", "the tariff has expired", field=where)
            if not self._state.known_ids.has_current_price(offer, tariff):
                raise RefusedError(
                    "price_changed",
                    "a later search showed this sailing at another price",
                    field=where,
                )


class _Change:
    """Change a booking or a ticket that was shown; `subject` is the argument that holds its id."""

    def __init__(self, state: ToolkitState, subject: _Subject) -> None:
        self._state = state
        self._subject: _Subject = subject

    def identity(self, values: Mapping[str, Any]) -> Identity:
        """Return one identity for each booking or ticket."""
        one: str = values[self._subject]
        known = self._state.known_ids.record(self._subject, one)
        if known is None:
            raise self._state.known_ids.unseen_id(
                "the " + self._subject.removesuffix("_id"), self._subject
            )
        key = self._state.fingerprint(type(self).__name__, self._subject, one)
        return Identity(key, {self._subject: one}, known.booking_id or one)

    def conclude(self, _plan: Plan, _result: object) -> list[str]:
        """Return the notes of the answer."""
        return []


class Confirm(_Change):
    """Confirm and pay a booking."""

    def plan(self, values: Mapping[str, Any], identity: Identity) -> Plans:
        """Plan the payment at the current price."""
        booking_id = identity.target_id
        booking: Booking = yield Invoke("bookings.get", {"booking_id": booking_id})
        self._state.known_ids.remember(booking, {})
        total, currency = booking.total_price, booking.currency
        if values.get("expect_total") not in {None, total}:
            raise RefusedError(
                "price_changed",
                f"the booking costs {money(total, currency)}",
                field="expect_total",
                found=format_amount(total),
                currency=currency,
            )
        approved = self._state.budget.approved(booking_id) or (total, currency)
        is_dearer = total > approved[0] or currency != approved[1]

        def count() -> Hold:
            hold = self._state.budget.hold(booking_id, total, currency)
            if is_dearer and "expect_total" not in values:
                self._state.budget.release(hold)
                raise RefusedError(
                    "price_changed",
                    f"the booking costs {money(total, currency)}, but {money(*approved)} was "
                    "approved when it was made",
                    field="expect_total",
                    found=format_amount(total),
                    currency=currency,
                    next_step=_ACCEPT_TOTAL,
                )
            return hold

        before = f" ({money(*approved)} was approved when it was made)" if is_dearer else ""
        known = self._state.known_ids.record("booking_id", booking_id)
        return Plan(
            {"booking_id": booking_id, "expect_total": total},
            f"Confirm and pay {money(total, currency)}{before}: "
            f"{known.description if known else booking_id}",
            total,
            currency,
            count,
        )


class Cancel(_Change):
    """Cancel a booking or a ticket."""

    def plan(self, values: Mapping[str, Any], identity: Identity) -> Plans:
        """Plan the cancellation at the current penalty."""
        one = identity.subject[self._subject]
        fee: CancellationFee = yield Invoke("bookings.cancel_fee", {"id": one})
        penalty, currency = fee.penalty_amount, fee.currency
        allowed = values.get("max_penalty")
        if allowed is not None and penalty > allowed:
            raise RefusedError(
                "penalty_exceeded",
                f"cancelling costs {money(penalty, currency)}",
                field="max_penalty",
                penalty=format_amount(penalty),
                currency=currency,
            )
        known = self._state.known_ids.record(self._subject, one)
        booking_id = one if self._subject == "booking_id" else known.booking_id if known else None
        return Plan(
            {**values, "max_penalty": penalty},
            f"Cancel {known.description if known else one}: {money(penalty, currency)} is kept, "
            f"{money(fee.refund_amount, currency)} is paid back",
            penalty,
            currency,
            lambda: self._state.budget.hold_penalty(booking_id, one, penalty, currency),
        )

    def conclude(self, plan: Plan, result: object) -> list[str]:
        """Return a note if the refund is less than previewed."""
        lost = result.refund_shortfall if isinstance(result, BookingCancellation) else None
        if lost is None or lost <= 0:
            return []
        return [f"{money(lost, plan.currency)} less was paid back than was previewed."]


AnyWrite = Create | Confirm | Cancel


@dataclass(frozen=True, slots=True)
class Prepared:
    """A registered write, with its price read and counted; nothing has been sent."""

    tool: Tool
    arguments: Arguments
    write: AnyWrite
    identity: Identity
    plan: Plan
    request: ApprovalRequest
    until: float


def all_writes(state: ToolkitState) -> dict[str, AnyWrite]:
    """Return the writes that are tools, by operation."""
    return {
        "bookings.create": Create(state),
        "bookings.confirm": Confirm(state, "booking_id"),
        "bookings.cancel": Cancel(state, "booking_id"),
        "tickets.cancel": Cancel(state, "ticket_id"),
    }


def _searched_vehicle(given: Vehicle, searched: set[str]) -> Generator[Invoke, Any, Vehicle]:
    """Return the vehicle of the search as it is booked, with the plate that is given.

    If the catalogue of vehicles cannot be read or does not have its type, the given vehicle is
    returned.

    Raises:
        RefusedError: The given vehicle is another one.
    """
    if len(searched) != 1:
        raise RefusedError("party_changed", "the searches had different vehicles", field="vehicle")
    (code,) = searched
    matches: tuple[VehicleMatch, ...] = ()
    with suppress(FerryError):
        matches = yield Invoke("vehicles.find", {"text": code}, _CATALOGUE_SECONDS)
    known = next((one for one in matches if one.model.code == code and one.model.type), None)
    if known is None:
        if "__" in given.code:
            raise _invalid(
                "this is a code for searches; expected the code of a vehicle type, such as CAR, "
                "as catalogue_vehicle_types lists it",
                "vehicle.code",
            )
        return given
    booked = known.booking(identification=given.identification)
    for name in ("code", "vehicule_code", "brand", "model"):
        mine, right = getattr(given, name), getattr(booked, name)
        if mine is not None and right is not None and fold(mine) != fold(right):
            raise RefusedError(
                "party_changed",
                f"the search was for {quote(code)}; expected {name} {quote(right)}",
                field=f"vehicle.{name}",
            )
    return booked


def _invalid(problem: str, where: str) -> RefusedError:
    return RefusedError("invalid_arguments", problem, field=where)
