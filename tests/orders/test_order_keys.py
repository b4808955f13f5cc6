"""Every course of a hold with a key, and a kill at every moment of it: the key has one order."""

from copy import copy

import pytest

from ferry_sdk import FerryError, UnresolvedWriteError
from ferry_sdk.journal import Journal
from ferry_sdk.orders import Order, calls, order, steps
from ferry_sdk.orders.progress import Progress, load
from ferry_sdk.resources.bookings import BookingsGroup
from tests.orders.model import World, courses
from tests.support.tiers import LONG
from tests.support.trip import PASSENGERS

KEY = "order-4711"
PARTS = 2


class KeyedRecords:
    """A real journal whose every call has a moment before and after it."""

    def __init__(self, journal, tick):
        self._journal = journal
        self._tick = tick

    def begin(self, intent, record):
        return self._at_moments(self._journal.begin, intent, record)

    def end(self, entry_id, state, details=None):
        return self._at_moments(self._journal.end, entry_id, state, details)

    def save_order(self, record):
        return self._at_moments(self._journal.save_order, record)

    def load_orders(self, order_id=None, **options):
        return self._journal.load_orders(order_id, **options)

    def add(self, intent):
        """Record the write of another program."""
        return self._journal.begin(intent)

    def _at_moments(self, function, *arguments):
        self._tick()
        result = function(*arguments)
        self._tick()
        return result


class Scene:
    """Holds of one order with one key, each in a process of its own."""

    def __init__(self, journal):
        self.journal = journal
        self.world = World()
        self.world.journal = KeyedRecords(journal, self.world.tick)

    def hold(self):
        """Hold the order, and return the order or the error."""
        selection = {"availability_id": "a", "tariff_id": "t", "place_id": "p"}
        creations = [
            BookingsGroup.create(
                None,
                availabilities=[selection],
                passengers=PASSENGERS,
                idempotency_key=KEY,
            )
            for _ in range(PARTS)
        ]
        calls._claim_with_first(creations, KEY)
        plan = order.OrderPlan([order.OrderPart() for _ in creations], "hold")
        progress = Progress(self.world.journal, "hold", plan)
        progress.is_keyed = True
        return self.world.run(steps.hold(progress, creations))

    def resume(self, order_id):
        """Settle what is unresolved, as it was, and resume the order."""
        for entry in self.journal.unresolved():
            booking_id = self.world.booking_ids.get(entry.id)
            self.journal.settle(entry, happened=booking_id is not None, booking_id=booking_id)
        progress, record = load(self.world.journal, order_id)
        return self.world.run(steps.resume(progress, record))

    @property
    def standing(self):
        """The bookings that stand."""
        bookings = self.world.bookings.values()
        return {booking.id for booking in bookings if booking.state == "held"}


def judge(scene):
    """Hold the order again, resume what has not ended, and hold it once more."""
    scene.world.calm()
    scene.world.apply_late_effects()
    again = scene.hold()
    assert isinstance(again, Order | UnresolvedWriteError | FerryError), again
    assert len(scene.standing) <= PARTS

    if isinstance(again, UnresolvedWriteError):
        scene.resume(again.order_id)
    final = scene.hold()
    final_order = getattr(final, "order", final)
    assert isinstance(final_order, Order), final
    assert scene.standing == {part.booking_id for part in final_order.parts if part.state == "held"}
    assert getattr(scene.hold(), "order", final_order).id == final_order.id


def run(course, die_at=None):
    """Judge a course, and return its world as it was before."""
    with Journal("sqlite://") as journal:
        scene = Scene(journal)
        scene.world.course, scene.world.die_at = course, die_at
        scene.hold()
        world = copy(scene.world)
        world.options = [*world.options]
        try:
            judge(scene)
        except (AssertionError, FerryError) as error:
            raise AssertionError(f"{course}, dead at {die_at}: {error}") from error
    return world


def walk(most):
    """Judge every course with so many troubles, each with a kill at every moment of it."""
    number = 0
    for world in courses(run, most):
        for die_at in range(world.moments):
            run(world.course, die_at)
        number += 1 + world.moments
    return number


def test_key_has_one_order_after_a_kill(record_property):
    record_property("courses of a hold with a key walked", walk(0))


@LONG
@pytest.mark.timeout(1200)
def test_key_has_one_order_on_every_course(record_property):
    record_property("courses of a hold with a key walked", walk(2))
