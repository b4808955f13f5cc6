"""The calls of an order.

Each function that sends requests works in the same way. For example, `confirm`:

1. It checks its arguments at once, and loads the order from the journal (`_begin_step`).
2. It notes in the plan of the order what the caller allows, such as the highest fees.
3. It returns a `Plan`, whose flow is that of `steps.confirm`. `plan_function` runs the plan with
   the client that is the first argument: it blocks with a `Ferry`, and an `AsyncFerry` is awaited.

`get` and `unfinished` only read the journal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from ferry_sdk._engine.batch import Plan
from ferry_sdk._engine.effects import Flow
from ferry_sdk._engine.operation import Operation
from ferry_sdk._engine.settings import Settings
from ferry_sdk.client import AsyncFerry, Ferry
from ferry_sdk.client.functions import plan_function
from ferry_sdk.errors import InvalidInputError, ReadOnlyError
from ferry_sdk.models.base import Currency, Money, path_of
from ferry_sdk.models.inputs import (
    Contact,
    ContactDict,
    Passenger,
    PassengerDict,
    Selection,
    SelectionDict,
    Traveller,
    Vehicle,
    VehicleDict,
    elements_of,
)
from ferry_sdk.orders import steps
from ferry_sdk.orders.order import Order, OrderPart, OrderPlan, Price, Step
from ferry_sdk.orders.progress import Progress, load, order_of_record
from ferry_sdk.planning.catalogues import deadline_of
from ferry_sdk.resources.arguments import identifier
from ferry_sdk.resources.bodies import to_sequence
from ferry_sdk.resources.bookings import BookingsGroup
from ferry_sdk.types import IdempotencyKey

if TYPE_CHECKING:
    from ferry_sdk.journal import Journal

Amount = Decimal | int | str
_amounts_by_currency: TypeAdapter[dict[str, Decimal]] = TypeAdapter(
    dict[Currency, Annotated[Money, Field(ge=0, allow_inf_nan=False)]]
)


@plan_function
def hold(
    ferry: Ferry | AsyncFerry,
    selections: Sequence[Sequence[Selection | SelectionDict]],
    *,
    passengers: Sequence[Passenger | PassengerDict | Traveller],
    vehicle: Vehicle | VehicleDict | None = None,
    contact: Contact | ContactDict | None = None,
    idempotency_key: str | None = None,
    journal: Journal,
) -> Plan[Order]:
    """Create one booking for each selection, in order; nothing is paid.

    If one is refused, those that were made are cancelled while that is free. If the outcome of one
    is unknown, those that were made stay as they are. If an `idempotency_key` has an order already,
    nothing is created, and the order is returned as `resume` returns it.

    Interface: POST /api/booking.

    Args:
        ferry: The client. With an `AsyncFerry`, the result is awaited.
        selections: What `Trip.select` gives, one for each booking.
        passengers: The travellers of every booking. They are not stored.
        vehicle: The vehicle of every booking.
        contact: The person whom the ferry companies can reach.
        idempotency_key: Your id of the order: it is made once for a key, unless it was refused and
            all of it was cancelled. 1 to 255 printable ASCII characters.
        journal: Records the order and its writes, instead of the journal of the client.

    Returns:
        The order, ``held``.

    Raises:
        InvalidInputError: An argument is invalid; nothing was sent.
        ReadOnlyError: The client can only read.
        IdempotencyError: The key was used for another order or booking.
        UnresolvedWriteError: The order of the key has not ended; `resume` its `order_id`.
        OrderError: A booking was not made; `order` is what stands.
        JournalError: The journal cannot be used; what it did not record was not sent.

    Example:
        ```python
        from ferry_sdk import Ferry, orders
        from ferry_sdk.journal import Journal
        from ferry_sdk.sandbox import Sandbox, crossing

        with (
            Sandbox() as sandbox,
            Journal("sqlite:///ferry.db") as journal,
            Ferry(sandbox.token, base_url=sandbox.base_url) as ferry,
        ):
            trip = crossing(ferry)
            order = orders.hold(
                ferry, [trip["availabilities"]], passengers=trip["passengers"], journal=journal
            )
            print(order.state, order.totals["EUR"])
            # > held 16.05
        ```
    """
    # Every booking reads the travellers, and an iterator can be read once.
    party = to_sequence(passengers)
    creations = [
        _creation(
            f"selections[{index}]",
            availabilities=selection,
            passengers=party,
            vehicle=vehicle,
            contact=contact,
            idempotency_key=idempotency_key,
        )
        for index, selection in enumerate(elements_of(selections, "selections"))
    ]

    plan = OrderPlan([OrderPart() for _ in creations], "hold")
    progress = Progress(_check_journal(journal), "hold", plan)
    if idempotency_key is not None:
        progress.is_keyed = True
        _claim_with_first(creations, idempotency_key)
    return _plan(progress, steps.hold(progress, creations))


@plan_function
def confirm(
    ferry: Ferry | AsyncFerry,
    order: Order,
    *,
    expect_totals: Mapping[str, Amount],
    if_refused: Literal["keep", "cancel"] = "keep",
    max_penalty: Mapping[str, Amount] | None = None,
    journal: Journal,
) -> Plan[Order]:
    """Confirm every booking of an order, the one that lapses first first.

    All are read before. Nothing is confirmed if a total, a currency or a stage is not that of
    `order`, or if the sums are not those of `expect_totals`. Each is read again just before.

    Interface: GET /api/booking/{id}, POST /api/booking/confirm, POST /api/booking/cancel.

    Args:
        ferry: The client. With an `AsyncFerry`, the result is awaited.
        order: The order, with the prices that were agreed.
        expect_totals: The expected sum in each currency.
        if_refused: What becomes of the rest if the service refuses a booking. ``keep``: what is
            confirmed stays, what is not paid is cancelled. ``cancel``: what is confirmed is
            cancelled too, if its fees are within `max_penalty`.
        max_penalty: The highest acceptable sum of fees in each currency, with ``cancel``; a
            currency that it does not name must be free.
        journal: The journal of the order.

    Returns:
        The order, ``confirmed``.

    Raises:
        InvalidInputError: An argument is invalid, or the order has to be resumed first.
        ReadOnlyError: The client can only read.
        PriceChangedError: A total, a currency or a stage differs; nothing was confirmed.
        OrderError: A booking was not confirmed; `order` is what stands.
        JournalError: The journal cannot be used; what it did not record was not sent.

    Example:
        ```python
        from ferry_sdk import Ferry, orders
        from ferry_sdk.journal import Journal
        from ferry_sdk.sandbox import Sandbox, crossing

        with (
            Sandbox() as sandbox,
            Journal("sqlite:///ferry.db") as journal,
            Ferry(sandbox.token, base_url=sandbox.base_url) as ferry,
        ):
            trip = crossing(ferry)
            order = orders.hold(
                ferry, [trip["availabilities"]], passengers=trip["passengers"], journal=journal
            )
            order = orders.confirm(ferry, order, expect_totals=order.totals, journal=journal)
            print(order.state)
            # > confirmed
        ```
    """
    if if_refused not in {"keep", "cancel"}:
        raise InvalidInputError("expected keep or cancel", field="if_refused")
    totals = _amounts(expect_totals, "expect_totals")

    progress = _begin_step(journal, order, "confirm")
    for currency in totals:
        if all(part.currency != currency for part in order.parts):
            raise InvalidInputError(f"no part costs {currency}", field="expect_totals")

    progress.plan.limits = _optional_amounts(max_penalty, "max_penalty")
    progress.plan.cancels_all = if_refused == "cancel"
    return _plan(progress, steps.confirm(progress, totals, order.parts))


@plan_function
def cancel(
    ferry: Ferry | AsyncFerry, order: Order, *, max_penalty: Mapping[str, Amount], journal: Journal
) -> Plan[Order]:
    """Cancel every booking of an order, if the sum of the fees in each currency is acceptable.

    Interface: POST /api/booking/cancel-fee, POST /api/booking/cancel.

    Args:
        ferry: The client. With an `AsyncFerry`, the result is awaited.
        order: The order.
        max_penalty: The highest acceptable sum in each currency; a currency that it does not name
            must be free.
        journal: The journal of the order.

    Returns:
        The order, ``cancelled``.

    Raises:
        InvalidInputError: An argument is invalid, or the order has to be resumed first.
        ReadOnlyError: The client can only read.
        PenaltyExceededError: The fees are too high; nothing was cancelled.
        OrderError: A booking was not cancelled; `order` is what stands.
        JournalError: The journal cannot be used; what it did not record was not sent.

    Example:
        ```python
        from ferry_sdk import Ferry, orders
        from ferry_sdk.journal import Journal
        from ferry_sdk.sandbox import Sandbox, crossing

        with (
            Sandbox() as sandbox,
            Journal("sqlite:///ferry.db") as journal,
            Ferry(sandbox.token, base_url=sandbox.base_url) as ferry,
        ):
            trip = crossing(ferry)
            order = orders.hold(
                ferry, [trip["availabilities"]], passengers=trip["passengers"], journal=journal
            )
            order = orders.cancel(ferry, order, max_penalty={}, journal=journal)
            print(order.state)
            # > cancelled
        ```
    """
    progress = _begin_step(journal, order, "cancel")
    progress.plan.limits = _amounts(max_penalty, "max_penalty")
    return _plan(progress, steps.cancel(progress))


@plan_function
def change(
    ferry: Ferry | AsyncFerry,
    booking_id: str,
    *,
    to: Sequence[Selection | SelectionDict],
    passengers: Sequence[Passenger | PassengerDict | Traveller],
    vehicle: Vehicle | VehicleDict | None = None,
    contact: Contact | ContactDict | None = None,
    expect_totals: Mapping[str, Amount],
    max_penalty: Mapping[str, Amount],
    min_refund: Mapping[str, Amount] | None = None,
    journal: Journal,
) -> Plan[Order]:
    """Replace a booking by another one: make it, confirm it, and only then cancel the old one.

    The service has no call to change a booking. Where a step fails, the old booking stands, or
    both do; for a moment both are paid. A fee above the limit is found before anything is made.
    The old booking is cancelled only at the fee and the refund that were just read.

    Interface: POST /api/booking/cancel-fee, POST /api/booking, POST /api/booking/confirm,
    POST /api/booking/cancel.

    Args:
        ferry: The client. With an `AsyncFerry`, the result is awaited.
        booking_id: The booking to replace.
        to: What `Trip.select` gives for the new one.
        passengers: The travellers of the new booking. They are not stored.
        vehicle: The vehicle of the new booking.
        contact: The person whom the ferry company can reach.
        expect_totals: What the new booking costs, in its one currency.
        max_penalty: The highest acceptable fee of the old booking, by currency.
        min_refund: The lowest acceptable refund of the old booking, by currency; None: what is paid
            back now, less what `max_penalty` allows beyond the fee of now.
        journal: Records the order and its writes, instead of the journal of the client.

    Returns:
        The order, ``confirmed``: the new booking is confirmed and the old one is cancelled.

    Raises:
        InvalidInputError: An argument is invalid, the old booking does not stand, or its tickets
            are being issued.
        ReadOnlyError: The client can only read.
        PenaltyExceededError: The fee is too high, or the refund too low; nothing was made.
        OrderError: A step failed; `order` is what stands.
        JournalError: The journal cannot be used; what it did not record was not sent.

    Example:
        ```python
        from ferry_sdk import Ferry, orders
        from ferry_sdk.journal import Journal
        from ferry_sdk.sandbox import Sandbox, crossing

        with (
            Sandbox() as sandbox,
            Journal("sqlite:///ferry.db") as journal,
            Ferry(sandbox.token, base_url=sandbox.base_url) as ferry,
        ):
            trip = crossing(ferry)
            old = ferry.bookings.create(**trip)
            ferry.bookings.confirm(old.booking_id)
            fee = ferry.bookings.cancel_fee(old.booking_id)
            order = orders.change(
                ferry,
                old.booking_id,
                to=trip["availabilities"],
                passengers=trip["passengers"],
                expect_totals={old.currency: old.total_price},
                max_penalty={fee.currency: fee.penalty_amount},
                journal=journal,
            )
            print(order.state, ferry.bookings.get(old.booking_id).stage)
            # > confirmed voided
        ```
    """
    creation = _creation(
        "to", availabilities=to, passengers=passengers, vehicle=vehicle, contact=contact
    )
    old = OrderPart(identifier(booking_id, "booking_id"), role="old", state="confirmed")
    totals = _amounts(expect_totals, "expect_totals")
    if len(totals) != 1:
        raise InvalidInputError("expected one currency", field="expect_totals")

    currency, total = next(iter(totals.items()))
    plan = OrderPlan([OrderPart(), old], "change")
    plan.agreed = {0: Price(currency, total)}
    plan.limits = _amounts(max_penalty, "max_penalty")
    plan.min_refund = _optional_amounts(min_refund, "min_refund")
    progress = Progress(_check_journal(journal), "change", plan)
    return _plan(progress, steps.change(progress, creation))


@plan_function
def resume(ferry: Ferry | AsyncFerry, order_id: str, *, journal: Journal) -> Plan[Order]:
    """Read every booking of an order back, and go on with what was begun, in any process.

    A write whose outcome cannot be seen is not sent again: `OrderError`, ``unknown``. If tickets
    are being issued, as its message then says, resume again later. Else settle its entry in the
    journal once you know, and resume again. A hold that was interrupted cannot be completed,
    because the travellers are not stored: what was made is cancelled while that is free.

    Interface: GET /api/booking/{id}, and what is left to do.

    Args:
        ferry: The client. With an `AsyncFerry`, the result is awaited.
        order_id: The order.
        journal: The journal of the order.

    Returns:
        The order as it stands now.

    Raises:
        InvalidInputError: The journal has no such order.
        ReadOnlyError: The client can only read.
        OrderError: As the call raised or would have raised that was interrupted.
        JournalError: The journal cannot be used; what it did not record was not sent.

    Example:
        ```python
        from ferry_sdk import Ferry, orders
        from ferry_sdk.journal import Journal
        from ferry_sdk.sandbox import Sandbox, crossing

        with (
            Sandbox() as sandbox,
            Journal("sqlite:///ferry.db") as journal,
            Ferry(sandbox.token, base_url=sandbox.base_url) as ferry,
        ):
            trip = crossing(ferry)
            order = orders.hold(
                ferry, [trip["availabilities"]], passengers=trip["passengers"], journal=journal
            )
            print(orders.resume(ferry, order.id, journal=journal).state)
            # > held
        ```
    """
    progress, record = load(_check_journal(journal), identifier(order_id, "order_id"))
    return _plan(progress, steps.resume(progress, record))


def get(order_id: str, *, journal: Journal) -> Order:
    """Return an order as it is on record, without a request.

    Raises:
        InvalidInputError: The journal has no such order.
        JournalError: The journal cannot be read.

    Example:
        ```python
        from ferry_sdk import Ferry, orders
        from ferry_sdk.journal import Journal
        from ferry_sdk.sandbox import Sandbox, crossing

        with (
            Sandbox() as sandbox,
            Journal("sqlite:///ferry.db") as journal,
            Ferry(sandbox.token, base_url=sandbox.base_url) as ferry,
        ):
            trip = crossing(ferry)
            order = orders.hold(
                ferry, [trip["availabilities"]], passengers=trip["passengers"], journal=journal
            )
            print(orders.get(order.id, journal=journal).state)
            # > held
        ```
    """
    progress, _ = load(_check_journal(journal), identifier(order_id, "order_id"))
    return progress.order


def unfinished(*, journal: Journal) -> tuple[Order, ...]:
    """Return the orders with a step that was begun and has not ended, oldest first.

    An order whose call is under way in another process is one of them. So is an order whose record
    is damaged: it has one part, whose state is ``unknown`` and whose `error` says so.

    Raises:
        JournalError: The journal cannot be read.

    Example:
        ```python
        from ferry_sdk import Ferry, orders
        from ferry_sdk.journal import Journal
        from ferry_sdk.sandbox import Sandbox, crossing

        with (
            Sandbox() as sandbox,
            Journal("sqlite:///ferry.db") as journal,
            Ferry(sandbox.token, base_url=sandbox.base_url) as ferry,
        ):
            trip = crossing(ferry)
            order = orders.hold(
                ferry, [trip["availabilities"]], passengers=trip["passengers"], journal=journal
            )
            print(len(orders.unfinished(journal=journal)), "unfinished")
            # > 0 unfinished
        ```
    """
    records = _check_journal(journal).load_orders(only_unfinished=True)
    return tuple(order_of_record(journal, record) for record in records)


def _plan(progress: Progress, flow: Flow[Order]) -> Plan[Order]:
    """Return the plan of a call: the flow of its steps, for a client that may write."""

    def begin(settings: Settings) -> Flow[Order]:
        if settings.read_only:
            raise ReadOnlyError("the client is read-only, and this is a write")
        progress.until = deadline_of(settings)
        return flow

    return Plan(begin)


def _begin_step(journal: Journal, order: Order, step: Step) -> Progress:
    """Return an order from its journal, with a new step.

    Raises:
        InvalidInputError: It is no order, another one than on record, or has to be resumed first.
    """
    if not isinstance(order, Order):  # pyright: ignore[reportUnnecessaryIsInstance] -- of callers without a type checker
        raise InvalidInputError("expected an Order", field="order")

    progress, record = load(_check_journal(journal), order.id)
    if not record.is_finished:
        raise InvalidInputError("a step of it has not ended: resume it first", field="order")

    recorded_ids = [part.booking_id for part in progress.parts]
    if recorded_ids != [part.booking_id for part in order.parts]:
        raise InvalidInputError("its bookings are others: get it from the journal", field="order")

    progress.plan = OrderPlan(progress.parts, step)
    return progress


def _check_journal(journal: Journal) -> Journal:
    if isinstance(journal, type) or not hasattr(journal, "save_order"):
        raise InvalidInputError("expected a ferry_sdk.journal.Journal", field="journal")
    return journal


def _creation(name: str, **arguments: Any) -> Operation[Any]:  # noqa: ANN401 -- those of a create
    """Return the write that makes a booking.

    Args:
        name: What errors call the argument `availabilities`, which no function of this module has:
            ``selections[1][0].tariff_id`` for ``availabilities[0].tariff_id``.
        **arguments: Those of `bookings.create`.

    Raises:
        InvalidInputError: An argument is invalid.
    """
    try:
        operation = BookingsGroup.create(None, **arguments)
    except InvalidInputError as error:
        problem = str(error).removeprefix(f"{error.field}: ")
        field = error.field.replace("availabilities", name, 1)
        raise InvalidInputError(problem, field=field) from None
    return replace(operation, argument_names={"availabilities": name})


def _claim_with_first(creations: Sequence[Operation[Any]], key: str) -> None:
    """Let the first create of an order claim its key, for the bookings of all creates."""
    writes = [creation.write for creation in creations if creation.write is not None]
    bookings: list[bytes] = []
    for write in writes:
        if write.idempotency_key is not None:
            bookings.append(write.idempotency_key.booking)
            write.idempotency_key = None
    writes[0].idempotency_key = IdempotencyKey(key, b"[" + b",".join(bookings) + b"]")


def _optional_amounts(value: object, argument: str) -> dict[str, Decimal]:
    """Return amounts by currency; empty of None."""
    return {} if value is None else _amounts(value, argument)


def _amounts(value: object, argument: str) -> dict[str, Decimal]:
    """Return amounts by currency.

    Raises:
        InvalidInputError: A currency or an amount is invalid; `field` is such as
            ``max_penalty.EUR``.
    """
    try:
        return _amounts_by_currency.validate_python(value)
    except ValidationError as error:
        path, problem = path_of(error)

    field = argument
    if path:
        field = f"{argument}.{path}"
    raise InvalidInputError(problem, field=field)
