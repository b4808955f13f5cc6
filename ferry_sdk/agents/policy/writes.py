"""What each write has to be told before it is sent: whether it may be, what it costs, in words."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

from pydantic_core import to_jsonable_python

from ferry_sdk.agents.policy.answers import RefusedError
from ferry_sdk.agents.policy.budget import Budget, Hold
from ferry_sdk.agents.policy.known_ids import Known, Offer, Seen, quoted, sailing_in_words
from ferry_sdk.agents.tools.sanitize import letters
from ferry_sdk.agents.tools.views import money
from ferry_sdk.models.availability import Place, Tariff
from ferry_sdk.models.bookings import Booking, BookingCancellation, BookingCreated
from ferry_sdk.models.inputs import Passenger, Selection, Vehicle
from ferry_sdk.models.tickets import CancellationFee


@dataclass(frozen=True, slots=True)
class Invoke:
    """Call a method of the client.

    Attributes:
        operation: Its name, such as ``bookings.get``, or ``recover``.
        arguments: What it is called with.
    """

    operation: str
    arguments: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Ask:
    """Call a function of the caller's; what it gives is awaited where it can be.

    Attributes:
        function: The function.
        about: What it is called with.
    """

    function: Callable[[Any], Any]
    about: object


Effect = Invoke | Ask


class Facts:
    """What a toolkit goes by.

    Attributes:
        seen: What it has shown.
        budget: What may be spent.
        now: The service's clock, in seconds since the epoch.
    """

    def __init__(self, seen: Seen, budget: Budget, now: Callable[[], float]) -> None:
        self.seen: Seen = seen
        self.budget: Budget = budget
        self.now: Callable[[], float] = now
        self._key = secrets.token_bytes(32)

    def fingerprint(self, *of: object) -> str:
        """The same for the same, and of no use outside this toolkit."""
        canonical = json.dumps(to_jsonable_python(of), sort_keys=True).encode()
        return hashlib.blake2b(canonical, key=self._key).hexdigest()


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes a write the same as another.

    Attributes:
        key: Equal for the same write.
        subject: The ids of what it changes, or books.
        whose: The booking that it changes, else the ticket; its key where there is neither.
    """

    key: str
    subject: Mapping[str, str]
    whose: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A write as it would be sent.

    Attributes:
        arguments: What the client's method is called with, guards and all.
        summary: What it does, for a person; made of what the service said.
        amount: What is paid, or kept as a penalty.
        currency: Its currency.
        travellers: The travellers' names, each in quotes.
        hold: The money that is counted for it; None where it spends none.
        check: Refuses it where it no longer holds.
    """

    arguments: Mapping[str, Any] = field(repr=False)
    summary: str
    amount: Decimal
    currency: str
    travellers: tuple[str, ...] = field(default=(), repr=False)
    hold: Hold | None = None
    check: Callable[[], None] = lambda: None


Plans = Generator[Invoke, Any, Plan]


class _Choice(NamedTuple):
    """What is booked of one sailing."""

    offer: Offer
    tariff: Tariff
    place: Place

    @property
    def words(self) -> str:
        """What it is, for a person."""
        tariff, place = quoted(self.tariff.type), quoted(self.place.name)
        return f"{sailing_in_words(self.offer.sailing)}, {tariff}, {place}"


class Create:
    """A booking is made of sailings that one search or another has shown."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def identity(self, values: Mapping[str, Any]) -> Identity:
        """The same travellers on the same sailings are the same booking, however it is put."""
        offers = [one.offer.crossing for one in self._chosen(values)]
        who = sorted(letters(f"{one.first_name} {one.last_name}") for one in values["passengers"])
        key = self._facts.fingerprint("bookings.create", sorted(offers), who)
        ids = [one.availability_id for one in values["availabilities"]]
        subject = {f"availability_id_{number}": each for number, each in enumerate(ids, 1)}
        return Identity(key, subject, key)

    def planned(self, values: Mapping[str, Any], identity: Identity) -> Plans:
        """The booking, at the price of the tariffs chosen."""
        chosen = self._chosen(values)
        if len(identity.subject) != len(set(identity.subject.values())):
            raise RefusedError(
                "invalid_arguments", "a sailing is named twice", field="availabilities"
            )
        passengers: list[Passenger] = values["passengers"]
        vehicle: Vehicle | None = values.get("vehicle")
        for offer, _, _ in chosen:
            if offer.sailing.passenger_count != len(passengers):
                raise RefusedError(
                    "party_changed",
                    f"the sailing was searched for {offer.sailing.passenger_count} travellers, "
                    f"and {len(passengers)} are to be booked",
                    field="passengers",
                )
            if offer.with_vehicle != (vehicle is not None):
                raise RefusedError(
                    "party_changed",
                    "the sailing was searched with a vehicle, or without one, and is to be booked "
                    "the other way",
                    field="vehicle",
                )
        if vehicle is not None and "__" in vehicle.code:
            raise RefusedError(
                "invalid_arguments",
                "this is the code of a search; here the code of the vehicle's type is expected, "
                "such as CAR, which catalogue_vehicle_types lists",
                field="vehicle.code",
            )
        currency = chosen[0].tariff.currency
        if any(one.tariff.currency != currency for one in chosen):
            raise RefusedError(
                "invalid_arguments",
                "all tariffs have to be in one currency",
                field="availabilities",
            )
        self._check(chosen)
        amount = sum((one.tariff.amount for one in chosen), Decimal(0))
        selections = [
            one.offer.sailing.select(tariff=one.tariff, place=one.place) for one in chosen
        ]
        sailings = "; ".join(one.words for one in chosen)
        count = f"{len(passengers)} traveller{'' if len(passengers) == 1 else 's'}"
        and_vehicle = " and a vehicle" if vehicle is not None else ""
        return Plan(
            {**values, "availabilities": selections},
            f"Book for {money(amount)} {currency}: {sailings}; {count}{and_vehicle}",
            amount,
            currency,
            tuple(quoted(f"{one.first_name} {one.last_name}") for one in passengers),
            self._facts.budget.hold(identity.key, amount, currency),
            lambda: self._check(chosen),
        )
        yield  # a plan of its own, without a read

    def concluded(self, plan: Plan, result: BookingCreated) -> list[str]:
        """Count what it costs in truth, and say so where that is another price."""
        if plan.hold is not None:
            self._facts.budget.settle(
                plan.hold, result.booking_id, result.total_price, result.currency
            )
        if (result.total_price, result.currency) == (plan.amount, plan.currency):
            return []
        said = (
            f"PRICE DIFFERS: approved were {money(plan.amount)} {plan.currency}, the booking "
            f"costs {money(result.total_price)} {result.currency}. Nothing is confirmed yet: tell "
            "the user, and confirm only if they agree, or cancel it."
        )
        return [said]

    def _chosen(self, values: Mapping[str, Any]) -> list[_Choice]:
        return [
            self._known(one, f"availabilities.{index}")
            for index, one in enumerate(values["availabilities"])
        ]

    def _known(self, chosen: Selection, where: str) -> _Choice:
        offer = self._facts.seen.offer(chosen.availability_id)
        if offer is None:
            raise _unseen("the sailing", f"{where}.availability_id")
        tariffs = {one.id: one for one in offer.sailing.tariffs}
        if chosen.tariff_id not in tariffs:
            raise _unseen("the tariff, of this sailing,", f"{where}.tariff_id")
        places = {one.id: one for one in offer.sailing.places}
        if chosen.place_id not in places:
            raise _unseen("the place, of this sailing,", f"{where}.place_id")
        return _Choice(offer, tariffs[chosen.tariff_id], places[chosen.place_id])

    def _check(self, chosen: list[_Choice]) -> None:
        """Refuse what has expired, or costs something else by now."""
        for index, (offer, tariff, _) in enumerate(chosen):
            where = f"availabilities.{index}"
            if self._facts.now() >= tariff.expiration_date.timestamp():
                raise RefusedError("offer_expired", "the tariff has expired", field=where)
            if not self._facts.seen.is_at_its_price(offer, tariff):
                raise RefusedError(
                    "price_changed",
                    "a later search has shown this sailing at another price",
                    field=where,
                )


class Confirm:
    """A booking that was shown is paid."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def identity(self, values: Mapping[str, Any]) -> Identity:
        """One booking is confirmed once."""
        booking_id: str = values["booking_id"]
        if self._facts.seen.booking(booking_id) is None:
            raise _unseen("the booking", "booking_id")
        key = self._facts.fingerprint("bookings.confirm", booking_id)
        return Identity(key, {"booking_id": booking_id}, booking_id)

    def planned(self, values: Mapping[str, Any], identity: Identity) -> Plans:
        """The booking, at the price that it has now."""
        booking_id = identity.whose
        booking: Booking = yield Invoke("bookings.get", {"booking_id": booking_id})
        self._facts.seen.learn(booking, {})
        total, currency = booking.total_price, booking.currency
        if values.get("expect_total") not in {None, total}:
            raise RefusedError(
                "price_changed",
                f"the booking costs {money(total)} {currency}",
                field="expect_total",
                found=money(total),
                currency=currency,
            )
        known = self._facts.seen.booking(booking_id)
        return Plan(
            {"booking_id": booking_id, "expect_total": total},
            f"Confirm and pay {money(total)} {currency}: {known.words if known else booking_id}",
            total,
            currency,
            hold=self._facts.budget.hold(booking_id, total, currency),
        )

    def concluded(self, _plan: Plan, _result: object) -> list[str]:
        """Nothing more."""
        return []


class Cancel:
    """A booking, or a ticket, that was shown is cancelled.

    Args:
        facts: What the toolkit goes by.
        subject: The argument that names it.
    """

    def __init__(self, facts: Facts, subject: str) -> None:
        self._facts = facts
        self._subject = subject

    def identity(self, values: Mapping[str, Any]) -> Identity:
        """One booking, or one ticket, is cancelled once."""
        one: str = values[self._subject]
        known = self._known(one)
        if known is None:
            raise _unseen("the " + self._subject.removesuffix("_id"), self._subject)
        key = self._facts.fingerprint("cancel", self._subject, one)
        return Identity(key, {self._subject: one}, known.booking_id or one)

    def planned(self, values: Mapping[str, Any], identity: Identity) -> Plans:
        """The cancellation, at the penalty that it has now."""
        one = identity.subject[self._subject]
        fee: CancellationFee = yield Invoke("bookings.cancel_fee", {"id": one})
        penalty, currency = fee.penalty_amount, fee.currency
        allowed = values.get("max_penalty")
        if allowed is not None and penalty > allowed:
            raise RefusedError(
                "penalty_exceeded",
                f"cancelling costs {money(penalty)} {currency}",
                field="max_penalty",
                penalty=money(penalty),
                currency=currency,
            )
        known = self._known(one)
        booking_id = one if self._subject == "booking_id" else known.booking_id if known else None
        hold = self._facts.budget.hold_penalty(booking_id, one, penalty, currency)
        return Plan(
            {**values, "max_penalty": penalty},
            f"Cancel {known.words if known else one}: {money(penalty)} {currency} is kept, "
            f"{money(fee.refund_amount)} {currency} is paid back",
            penalty,
            currency,
            hold=hold,
        )

    def concluded(self, plan: Plan, result: object) -> list[str]:
        """Say where less was paid back than was previewed."""
        lost = result.refund_shortfall if isinstance(result, BookingCancellation) else None
        if lost is None or lost <= 0:
            return []
        return [f"{money(lost)} {plan.currency} less was paid back than was previewed."]

    def _known(self, one: str) -> Known | None:
        seen = self._facts.seen
        return seen.booking(one) if self._subject == "booking_id" else seen.ticket(one)


AnyWrite = Create | Confirm | Cancel


def all_writes(facts: Facts) -> dict[str, AnyWrite]:
    """Every write that can be a tool, by its operation."""
    return {
        "bookings.create": Create(facts),
        "bookings.confirm": Confirm(facts),
        "bookings.cancel": Cancel(facts, "booking_id"),
        "tickets.cancel": Cancel(facts, "ticket_id"),
    }


def _unseen(what: str, where: str) -> RefusedError:
    return RefusedError(
        "unseen_id",
        f"{what} is not one that a result has shown, or it was shown too long ago, or before this "
        "server was started anew",
        field=where,
    )
