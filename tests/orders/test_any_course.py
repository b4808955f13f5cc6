"""Every course of an order, and a kill at each of its moments, checked against what must hold.

`tests.orders.model` describes courses, ends and moments. A walk goes like this:

1. `play` begins a journey, such as the hold of two bookings, in a new world, and lets its calls
   end as a course says.
2. `check` compares the order that the user gets with the bookings of the service.
3. `check_resumed` resumes the order twice, as a program does that starts again. The second time
   changes nothing.
4. `check_settled` records the unknown outcomes by hand, as a user does, and resumes once more.
   Then nothing is left to do.

For example, the journey "hold of 2" with the course (DONE, LOST): `check` sees an order with one
held and one unknown booking, and `check_resumed` an unfinished order. `check_settled` says that
the second booking was made; the order is held then.
"""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple

import pytest

from ferry_sdk._engine.settings import Secret, Settings
from ferry_sdk.errors import FerryError, JournalError, OrderError, PriceChangedError
from ferry_sdk.orders import calls, order, steps
from ferry_sdk.orders.progress import Progress, load
from ferry_sdk.resources.bookings import BookingsGroup
from tests.orders.model import (
    FAILURES,
    End,
    ServiceBooking,
    World,
    courses,
    longer_courses,
    order_of,
)
from tests.support.tiers import LONG
from tests.support.trip import PASSENGERS

SETTINGS = Settings("https://ferry.example", Secret("token"))
FEES_OF_TWO = Decimal(20)
"""The fees of two bookings."""


class Journey(NamedTuple):
    """A call of an order, and what it may cost.

    Attributes:
        name: Its name, and the id of its tests.
        start: Returns its flow in a world.
        parts: How many bookings it has.
        most_fees: What its cancellations may cost together.
        least_refund: What each cancellation pays back at least.
    """

    name: str
    start: Callable
    parts: int
    most_fees: Decimal = Decimal(0)
    least_refund: Decimal = Decimal(0)

    @property
    def most_failures(self):
        """How many failures its courses have at most, in the long tests."""
        return 3 if self.parts == 2 else 2


def create_call():
    selection = {"availability_id": "a", "tariff_id": "t", "place_id": "p"}
    return BookingsGroup.create(None, availabilities=[selection], passengers=PASSENGERS)


def hold(count):
    def start(world):
        parts = [order.OrderPart() for _ in range(count)]
        progress = Progress(world.journal, "hold", order.OrderPlan(parts, "hold"))
        return steps.hold(progress, [create_call() for _ in range(count)])

    return start


def add_held_order(world, count, stage="payment_due"):
    """Add an order whose bookings have a stage to the service and the journal."""
    parts = []
    for number in range(count):
        booking = ServiceBooking(f"b{number}", stage=stage)
        world.bookings[booking.id] = booking
        part = order.OrderPart(booking.id, state=booking.state, total=booking.total, currency="EUR")
        parts.append(part)

    progress = Progress(world.journal, "hold", order.OrderPlan(parts))
    world.run(progress.finish())
    return progress.order


def begin(world, call, held_order, **settings):
    """Return the flow of a public call, such as `orders.confirm`."""
    plan = call.__wrapped__(
        None,
        held_order,
        max_penalty={"EUR": FEES_OF_TWO},
        journal=world.journal,
        **settings,
    )
    return plan.steps(SETTINGS)


def confirm(count, if_refused):
    def start(world):
        held_order = add_held_order(world, count)
        totals = held_order.totals
        return begin(world, calls.confirm, held_order, expect_totals=totals, if_refused=if_refused)

    return start


def cancel(count, stage="ticketed"):
    def start(world):
        return begin(world, calls.cancel, add_held_order(world, count, stage))

    return start


def change(world):
    world.bookings["old"] = ServiceBooking("old", stage="ticketed")
    plan = order.OrderPlan(
        parts=[order.OrderPart(), order.OrderPart("old", "old", "confirmed")],
        step="change",
        agreed={0: order.Price("EUR", Decimal(100))},
        limits={"EUR": Decimal("10.5")},
    )
    return steps.change(Progress(world.journal, "change", plan), create_call())


HOLD_2 = Journey("hold of 2", hold(2), parts=2)
CONFIRM_2 = Journey("confirm 2, keep", confirm(2, "keep"), parts=2)
CANCEL_2 = Journey("cancel 2", cancel(2), parts=2, most_fees=FEES_OF_TWO)
CHANGE = Journey("change", change, parts=2, most_fees=Decimal("10.5"), least_refund=Decimal("89.5"))
JOURNEYS = [
    HOLD_2,
    Journey("hold of 3", hold(3), parts=3),
    CONFIRM_2,
    Journey("confirm 2, cancel", confirm(2, "cancel"), parts=2, most_fees=FEES_OF_TWO),
    Journey("confirm 3, keep", confirm(3, "keep"), parts=3),
    Journey("confirm 3, cancel", confirm(3, "cancel"), parts=3, most_fees=FEES_OF_TWO),
    CANCEL_2,
    Journey("cancel 3", cancel(3), parts=3, most_fees=FEES_OF_TWO),
    Journey("cancel 2, held", cancel(2, "payment_due"), parts=2, most_fees=FEES_OF_TWO),
    CHANGE,
]


def play(journey, course=(), die_at=None):
    """Run a journey in a new world, and return the world."""
    world = World()
    flow = journey.start(world)

    # What the journey needs was made without a failure, and is no part of the course.
    world.course = course
    world.options = []
    world.moments = 0
    world.die_at = die_at
    world.outcome = world.run(flow)
    return world


def resume(world):
    """Resume the order as a new program does, and return how that ended."""
    (record,) = world.journal.load_orders()
    progress, loaded = load(world.journal, record.id)
    return world.run(steps.resume(progress, loaded))


def check(world, journey, outcome, where):
    """Check what holds after each run of an order.

    `outcome` is an order, an error, or the name of what ended the process. `where` names the case
    if a check fails.
    """
    check_bookings(world, journey, where)
    check_entries(world, where)

    known_order = order_of(outcome)
    if isinstance(outcome, PriceChangedError):  # nothing was confirmed
        assert not world.journal.load_orders(only_unfinished=True), where
    if world.is_in_doubt and not isinstance(outcome, str):
        assert known_order.state == "unknown", where
        assert outcome.outcome == "unknown", where
    if known_order is not None:
        check_order(world, known_order, where)


def check_bookings(world, journey, where):
    """Check that the service did nothing twice, nothing too dear and nothing too early."""
    bookings = world.bookings.values()
    assert len(bookings) <= journey.parts, where
    for booking in bookings:
        assert booking.confirmations <= 1, where
        assert booking.cancellations <= 1, where
        assert booking.paid in {None, Decimal(100)}, where
        if booking.refund_paid is not None:
            least_refund = max(booking.refund_read, journey.least_refund)
            assert booking.refund_paid >= least_refund, where

    assert sum(booking.charged_fee for booking in bookings) <= journey.most_fees, where
    assert not world.old_went_first, where
    assert not world.writes_in_doubt, where
    assert not world.repeated_confirmations, where


def check_entries(world, where):
    """Check that each write that is recorded as done has changed its booking."""
    for entry in world.journal.entries.values():
        booking = world.bookings.get(entry.subject.get("booking_id", ""))
        if entry.state != "done" or booking is None:
            continue
        if entry.operation == "bookings.cancel":
            assert booking.cancellations, where
        else:
            assert booking.confirmations, where


def check_order(world, known_order, where):
    """Check that an order says of each booking what the service has."""
    for part in known_order.parts:
        if part.state == "unknown" or part.booking_id is None:
            continue
        assert part.booking_id in world.bookings, where
        booking = world.bookings[part.booking_id]

        # A booking lapses by itself. If its cancellation was refused, it is read again.
        is_read = booking.id in world.refused_cancellations and not world.failed_reads
        is_lapsed_since = part.state == "held" and booking.stage == "lapsed" and not is_read
        assert booking.state == part.state or is_lapsed_since, where

    # Only a part with an unknown outcome can stand for a booking that the order does not name.
    named = {part.booking_id for part in known_order.parts}
    unnamed = world.bookings.keys() - named
    unknown_parts = [part for part in known_order.parts if part.state == "unknown"]
    assert len(unnamed) <= len(unknown_parts), where


def check_resumed(world, journey, where):
    """Resume the order twice; effects that are late come in between.

    If the state of the order is known after the first time, the second one changes nothing.
    """
    if not world.journal.load_orders():
        return

    world.calm()
    outcome = resume(world)
    check(world, journey, outcome, (where, "resumed"))
    known_order = order_of(outcome)
    bookings_before = copies_of_bookings(world)
    if world.journal.load_orders(only_unfinished=True):
        assert known_order.state == "unknown", where
        assert outcome.cause.outcome == "unknown", where

    world.apply_late_effects()
    outcome_again = resume(world)
    check(world, journey, outcome_again, (where, "resumed again"))
    if known_order is not None and known_order.state != "unknown":
        assert states_of(order_of(outcome_again)) == states_of(known_order), where
        assert copies_of_bookings(world) == bookings_before, (where, outcome)


def copies_of_bookings(world):
    return [replace(booking) for booking in world.bookings.values()]


def states_of(known_order):
    return [part.state for part in known_order.parts]


def check_settled(world, journey, where):
    """Settle the unknown outcomes as they are, and resume: nothing is left to do.

    Returns:
        Whether an outcome was unknown.
    """
    unresolved = world.journal.unresolved
    if not unresolved:
        return False

    world.calm()
    for entry in unresolved:
        booking_id = world.booking_ids.get(entry.id)
        world.journal.settle(entry.id, booking_id, happened=booking_id is not None)
    (record,) = world.journal.load_orders()
    progress, _ = load(world.journal, record.id)
    check(world, journey, progress.order, (where, "settled"))

    outcome = resume(world)
    check(world, journey, outcome, (where, "settled and resumed"))
    assert not world.journal.load_orders(only_unfinished=True), where
    if isinstance(outcome, FerryError):
        assert outcome.outcome != "unknown", where
    return True


ONE_FAILURE = [pytest.param(journey, 1, id=journey.name) for journey in JOURNEYS]
SEVERAL_FAILURES = [
    pytest.param(journey, journey.most_failures, id=f"{journey.name}, long", marks=LONG)
    for journey in JOURNEYS
]


@pytest.mark.parametrize(("journey", "most_failures"), ONE_FAILURE + SEVERAL_FAILURES)
@pytest.mark.timeout(600)
def test_no_course_breaks_an_order(journey, most_failures, record_property):
    count = 0
    settled = 0
    for world in courses(lambda course: play(journey, course), most_failures):
        count += 1
        course = world.course
        outcome = world.outcome
        where = (journey.name, course)
        check(world, journey, outcome, where)

        # Late effects come before the order is resumed, and between two times.
        if world.late_effects:
            world_of_early_effects = play(journey, course)
            world_of_early_effects.apply_late_effects()
            check_resumed(world_of_early_effects, journey, where)
            settled += check_settled(world_of_early_effects, journey, where)
        check_resumed(world, journey, where)
        settled += check_settled(world, journey, where)

        # The user may also settle at once.
        if isinstance(outcome, OrderError):
            settled_at_once = play(journey, course)
            settled_at_once.apply_late_effects()
            settled += check_settled(settled_at_once, journey, where)

    record_property("courses of orders", count)
    record_property("courses of orders that were settled", settled)


def courses_of_one_failure(journey, ends):
    """Return the course without a failure, and those in which one call has one of these ends."""
    failures = longer_courses((), play(journey).options)
    return [(), *(course for course in failures if course[-1] in ends)]


ONE_REFUSAL = [
    pytest.param(journey, [End.REFUSED], id=journey.name)
    for journey in JOURNEYS
    if journey.parts == 2
]
ANY_FAILURE = [
    pytest.param(journey, FAILURES, id=f"{journey.name}, all", marks=LONG) for journey in JOURNEYS
]


@pytest.mark.parametrize(("journey", "ends"), ONE_REFUSAL + ANY_FAILURE)
def test_no_kill_breaks_an_order(journey, ends, record_property):
    kills = 0
    for course in courses_of_one_failure(journey, ends):
        for die_at in range(play(journey, course).moments):
            kills += 1
            world = play(journey, course, die_at)
            where = (journey.name, course, die_at)
            assert world.outcome == "Killed", where
            check(world, journey, world.outcome, where)

            world.apply_late_effects()
            check_resumed(world, journey, where)
    record_property("kills of orders", kills)


def kill_while_resuming(journey, course, die_at):
    """Kill an order at a moment, and its resuming at each moment.

    Returns:
        How often it was resumed.
    """
    count = 0
    while True:
        world = play(journey, course, die_at)
        if not world.journal.load_orders():
            return count

        world.calm()
        world.moments = 0
        world.die_at = count
        outcome = resume(world)
        where = (journey.name, course, die_at, count)
        check(world, journey, outcome, where)
        check_resumed(world, journey, where)
        count += 1
        if outcome != "Killed":
            return count


CHANGE_WITHOUT_A_FAILURE = pytest.param(CHANGE, [], id="change without a failure")
ONE_REFUSAL_OF_EACH = [
    pytest.param(journey, [End.REFUSED], id=journey.name, marks=LONG) for journey in JOURNEYS
]


@pytest.mark.parametrize(("journey", "ends"), [CHANGE_WITHOUT_A_FAILURE, *ONE_REFUSAL_OF_EACH])
def test_no_kill_while_resuming_breaks_an_order(journey, ends, record_property):
    kills = 0
    for course in courses_of_one_failure(journey, ends):
        for die_at in range(1, play(journey, course).moments):
            kills += kill_while_resuming(journey, course, die_at)
    record_property("kills of orders that were resumed", kills)


def check_completed(journey, course, state):
    """Check that a failure leaves an order unfinished, and that resuming finishes it."""
    world = play(journey, course)
    assert isinstance(world.outcome, FerryError)
    assert world.journal.load_orders(only_unfinished=True)

    world.calm()
    assert order_of(resume(world)).state == state
    assert not world.journal.load_orders(only_unfinished=True)
    assert not world.journal.unresolved


@pytest.mark.parametrize(
    ("journey", "calls_before", "end", "state"),
    [
        pytest.param(CONFIRM_2, 2, End.LOST, "confirmed", id="lost confirmation"),
        pytest.param(CANCEL_2, 4, End.LOST, "cancelled", id="lost cancellation"),
        pytest.param(CONFIRM_2, 2, End.NOT_SENT, "confirmed", id="first confirmation"),
        pytest.param(CONFIRM_2, 3, End.NOT_SENT, "confirmed", id="second confirmation"),
        pytest.param(CANCEL_2, 5, End.NOT_SENT, "cancelled", id="second cancellation"),
        # The second booking cannot be made any more.
        pytest.param(HOLD_2, 0, End.NAMED, "cancelled", id="named first booking"),
        pytest.param(HOLD_2, 1, End.NAMED, "held", id="named second booking"),
        pytest.param(CHANGE, 2, End.NAMED, "confirmed", id="named new booking"),
        pytest.param(CHANGE, 4, End.NOT_SENT, "confirmed", id="old booking"),
    ],
)
def test_resuming_completes_what_can_be_known(journey, calls_before, end, state):
    check_completed(journey, (End.DONE,) * calls_before + (end,), state)


def test_resuming_cancels_what_a_refused_hold_made():
    # The cancellation of the first booking is not sent before.
    check_completed(HOLD_2, (End.DONE, End.REFUSED, End.NOT_SENT), "cancelled")


@pytest.fixture
def unsent():
    """A world in which the first confirmation of an order was not sent."""
    world = play(CONFIRM_2, (End.DONE, End.DONE, End.NOT_SENT))
    world.calm()
    return world


@pytest.fixture
def dearer(unsent):
    """The world of `unsent` after its bookings have become dearer."""
    for booking in unsent.bookings.values():
        booking.total += 5
    return unsent


def test_resuming_pays_no_other_price(dearer):
    outcome = resume(dearer)

    assert isinstance(outcome, PriceChangedError)
    assert not dearer.journal.load_orders(only_unfinished=True)
    assert {booking.state for booking in dearer.bookings.values()} == {"held"}


def test_order_is_resumed_by_one_program(unsent):
    (record,) = unsent.journal.load_orders()
    first_program = load(unsent.journal, record.id)
    second_program = load(unsent.journal, record.id)

    assert order_of(unsent.run(steps.resume(*first_program))).state == "confirmed"
    assert isinstance(unsent.run(steps.resume(*second_program)), JournalError)
