"""Every course of an order, and a kill at every moment of it, checked against what must hold."""

from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

import pytest

from ferry_sdk._engine.settings import Secret, Settings
from ferry_sdk.errors import FerryError, JournalError, OrderError, PriceChangedError
from ferry_sdk.orders import calls, order, steps
from ferry_sdk.orders.progress import Progress, load
from ferry_sdk.resources.bookings import BookingsGroup
from tests.orders.model import ENDS, Sold, World, courses, stands
from tests.support.tiers import LONG
from tests.support.trip import PASSENGERS

SETTINGS = Settings("https://ferry.example", Secret("token"))
ALLOWED = Decimal(20)
"""The fees of two bookings."""


class Journey(NamedTuple):
    name: str
    start: Callable
    parts: int
    allowed: Decimal = Decimal(0)
    least: Decimal = Decimal(0)  # what each cancelled part pays back at least


def creation():
    selection = {"availability_id": "a", "tariff_id": "t", "place_id": "p"}
    return BookingsGroup.create(None, availabilities=[selection], passengers=PASSENGERS)


def hold(count):
    def start(world):
        parts = [order.OrderPart() for _ in range(count)]
        progress = Progress(world.journal, "hold", order.OrderPlan(parts, "hold"))
        return steps.hold(progress, [creation() for _ in range(count)])

    return start


def held(world, count, stage="payment_due"):
    parts = []
    for name in ("b0", "b1", "b2")[:count]:
        world.sold[name] = Sold(name, stage=stage)
        parts.append(order.OrderPart(name, "new", world.sold[name].state, Decimal(100), "EUR"))
    progress = Progress(world.journal, "hold", order.OrderPlan(parts))
    world.run(progress.finish())
    return progress.order


def begin(world, call, made, **settings):
    limit = {"max_penalty": {"EUR": ALLOWED}, "journal": world.journal}
    return call.__wrapped__(None, made, **limit, **settings).steps(SETTINGS)


def confirm(count, if_refused):
    def start(world):
        made = held(world, count)
        known = {"expect_totals": made.totals, "if_refused": if_refused}
        return begin(world, calls.confirm, made, **known)

    return start


def cancel(count, stage="ticketed"):
    return lambda world: begin(world, calls.cancel, held(world, count, stage))


def change(world):
    world.sold["old"] = Sold("old", stage="ticketed")
    parts = [order.OrderPart(), order.OrderPart("old", "old", "confirmed")]
    intended = order.OrderPlan(
        parts, "change", {0: order.Price("EUR", Decimal(100))}, limits={"EUR": Decimal("10.5")}
    )
    return steps.change(Progress(world.journal, "change", intended), creation())


JOURNEYS = [
    Journey("hold of 2", hold(2), 2),
    Journey("hold of 3", hold(3), 3),
    Journey("confirm 2, keep", confirm(2, "keep"), 2),
    Journey("confirm 2, cancel", confirm(2, "cancel"), 2, ALLOWED),
    Journey("confirm 3, keep", confirm(3, "keep"), 3),
    Journey("confirm 3, cancel", confirm(3, "cancel"), 3, ALLOWED),
    Journey("cancel 2", cancel(2), 2, ALLOWED),
    Journey("cancel 3", cancel(3), 3, ALLOWED),
    Journey("cancel 2, held", cancel(2, "payment_due"), 2, ALLOWED),
    Journey("change", change, 2, Decimal("10.5"), Decimal("89.5")),
]


def check(world, journey, outcome, where):
    sold = [*world.sold.values()]
    assert len(sold) <= journey.parts, where
    for one in sold:
        assert one.confirmed <= 1, where
        assert one.cancelled <= 1, where
        assert one.paid_at in {None, Decimal(100)}, where
        assert one.paid_back is None or one.paid_back >= max(one.refund_read, journey.least), where
    assert sum(one.kept for one in sold) <= journey.allowed, where
    assert not world.old_went_first, where
    assert not world.writes_in_doubt, where
    assert not world.asked_again, where
    for entry in world.journal.entries.values():
        one = world.sold.get(entry.subject.get("booking_id", ""))
        if entry.state == "done" and one is not None:
            is_cancellation = entry.operation == "bookings.cancel"
            assert one.cancelled if is_cancellation else one.confirmed, where
    if isinstance(outcome, PriceChangedError):  # nothing was confirmed
        assert not world.journal.load_orders(only_unfinished=True), where
    known = stands(outcome)
    if world.is_in_doubt and not isinstance(outcome, str):
        assert (known.state, outcome.outcome) == ("unknown", "unknown"), where
    if known is None:
        return
    for part in known.parts:
        if part.state != "unknown" and part.booking_id is not None:
            assert part.booking_id in world.sold, where
            one = world.sold[part.booking_id]
            # A booking lapses by itself; whose cancellation was refused is read again.
            is_read = one.id in world.not_cancelled and not world.lost_reads
            may_differ = (part.state, one.stage) == ("held", "lapsed") and not is_read
            assert one.state == part.state or may_differ, where
    named = {part.booking_id for part in known.parts}
    unnamed = [one for one in sold if one.id not in named]
    assert len(unnamed) <= sum(part.state == "unknown" for part in known.parts), where


def resume(world):
    (record,) = world.journal.load_orders()
    progress, loaded = load(world.journal, record.id)
    return world.run(steps.resume(progress, loaded))


def resumed(world, journey, where):
    if not world.journal.load_orders():
        return
    world.calm()
    for number in (1, 2):
        outcome = resume(world)
        check(world, journey, outcome, (where, number))
        if number == 1:
            first, effects = outcome, [vars(one).copy() for one in world.sold.values()]
            unfinished = world.journal.load_orders(only_unfinished=True)
            known = stands(outcome)
            if unfinished:
                assert known.state == outcome.cause.outcome == "unknown", where
            if world.late:
                world.come()
                continue
        elif known is not None and known.state != "unknown":
            now = [one.state for one in stands(outcome).parts]
            assert now == [one.state for one in known.parts], where
            assert effects == [vars(one) for one in world.sold.values()], (where, first)


def settled(world, journey, where):
    if not (unresolved := world.journal.unresolved):
        return 0
    world.calm()
    (record,) = world.journal.load_orders()
    for entry in unresolved:
        booking_id = world.made.get(entry.id)
        world.journal.settle(entry.id, booking_id, happened=booking_id is not None)
    check(world, journey, load(world.journal, record.id)[0].order, (where, "settled"))
    outcome = resume(world)
    check(world, journey, outcome, (where, "resumed"))
    assert not world.journal.load_orders(only_unfinished=True), where
    if isinstance(outcome, FerryError):
        assert outcome.outcome != "unknown", where
    return 1


def play(journey, course, die_at=None):
    world = World()
    flow = journey.start(world)
    world.course, world.asked, world.moments = course, [], 0
    world.die_at = die_at
    world.outcome = world.run(flow)
    return world, world.outcome


@pytest.mark.parametrize(
    ("journey", "most"),
    [
        *(pytest.param(one, 1, id=one.name) for one in JOURNEYS),
        *(
            pytest.param(one, 3 if one.parts == 2 else 2, id=f"{one.name}, long", marks=LONG)
            for one in JOURNEYS
        ),
    ],
)
@pytest.mark.timeout(600)
def test_every_course(journey, most, record_property):
    count = after = 0
    for world in courses(lambda course: play(journey, course)[0], most):
        count += 1
        where = (journey.name, world.course)
        outcome = world.outcome
        check(world, journey, outcome, where)
        if world.late and count % 2:
            world.come()
        resumed(world, journey, where)
        after += settled(world, journey, where)
        if isinstance(outcome, OrderError):
            at_once, _ = play(journey, where[1])
            at_once.come()
            after += settled(at_once, journey, where)
    record_property("courses of orders", count)
    record_property("courses of orders that were settled", after)


def single_failures(journey, kinds):
    asked = enumerate(play(journey, ())[0].asked)
    failures = [(number, one) for number, options in asked for one in options if one in kinds]
    return [(), *(("done",) * number + (one,) for number, one in failures)]


@pytest.mark.parametrize(
    ("journey", "kinds"),
    [
        *(pytest.param(one, ("refused",), id=one.name) for one in JOURNEYS if one.parts == 2),
        *(pytest.param(one, ENDS[1:], id=f"{one.name}, all", marks=LONG) for one in JOURNEYS),
    ],
)
def test_a_kill_at_every_moment(journey, kinds, record_property):
    kills = 0
    for course in single_failures(journey, kinds):
        for die_at in range(play(journey, course)[0].moments):
            world, outcome = play(journey, course, die_at)
            kills += 1
            where = (journey.name, course, die_at)
            assert outcome == "Killed", where
            check(world, journey, outcome, where)
            world.come()
            resumed(world, journey, where)
    record_property("kills of orders", kills)


@pytest.mark.parametrize(
    ("journey", "kinds"),
    [
        pytest.param(JOURNEYS[-1], (), id="change"),
        *(pytest.param(one, ("refused",), id=one.name, marks=LONG) for one in JOURNEYS),
    ],
)
def test_a_kill_at_every_moment_of_resuming(journey, kinds, record_property):
    kills = 0
    for course in single_failures(journey, kinds):
        for die_at in range(1, play(journey, course)[0].moments):
            outcome, again = "Killed", 0
            while outcome == "Killed":
                world, _ = play(journey, course, die_at)
                if not world.journal.load_orders():
                    break
                world.calm()
                world.moments, world.die_at = 0, again
                outcome = resume(world)
                where = (journey.name, course, die_at, again)
                check(world, journey, outcome, where)
                resumed(world, journey, where)
                kills += 1
                again += 1
    record_property("kills of orders that were resumed", kills)


BY_NAME = {journey.name: journey for journey in JOURNEYS}


@pytest.mark.parametrize(
    ("name", "done", "last", "state"),
    [
        pytest.param("confirm 2, keep", 2, "lost", "confirmed", id="lost confirmation"),
        pytest.param("cancel 2", 4, "lost", "cancelled", id="lost cancellation"),
        pytest.param("confirm 2, keep", 2, "not_sent", "confirmed", id="first confirmation"),
        pytest.param("confirm 2, keep", 3, "not_sent", "confirmed", id="second confirmation"),
        pytest.param("cancel 2", 5, "not_sent", "cancelled", id="second cancellation"),
        # The second booking cannot be made any more.
        pytest.param("hold of 2", 0, "named", "cancelled", id="named first booking"),
        pytest.param("hold of 2", 1, "named", "held", id="named second booking"),
        pytest.param("change", 2, "named", "confirmed", id="named new booking"),
        pytest.param("change", 4, "not_sent", "confirmed", id="old booking"),
    ],
)
def test_resuming_completes_what_can_be_known(name, done, last, state):
    check_resumed(name, ("done",) * done + (last,), state)


def test_resuming_cancels_what_a_refused_hold_made():
    # The cancellation of the first booking is not sent before.
    check_resumed("hold of 2", ("done", "refused", "not_sent"), "cancelled")


def check_resumed(name, course, state):
    """Check that a journey with a failure is unfinished, and that resuming finishes it."""
    world, outcome = play(BY_NAME[name], course)
    assert isinstance(outcome, FerryError)
    assert world.journal.load_orders(only_unfinished=True)
    world.calm()
    assert stands(resume(world)).state == state
    assert not world.journal.load_orders(only_unfinished=True)
    assert not world.journal.unresolved


@pytest.fixture
def unsent():
    """A world in which the first confirmation of an order was not sent."""
    world, _ = play(BY_NAME["confirm 2, keep"], ("done", "done", "not_sent"))
    world.calm()
    return world


def test_resuming_pays_no_other_price(unsent):
    for sold in unsent.sold.values():
        sold.total += 5
    assert isinstance(resume(unsent), PriceChangedError)
    assert not unsent.journal.load_orders(only_unfinished=True)
    assert {sold.state for sold in unsent.sold.values()} == {"held"}


def test_order_is_resumed_by_one_program(unsent):
    (record,) = unsent.journal.load_orders()
    first = load(unsent.journal, record.id)
    second = load(unsent.journal, record.id)
    assert stands(unsent.run(steps.resume(*first))).state == "confirmed"
    assert isinstance(unsent.run(steps.resume(*second)), JournalError)
