"""A service in virtual time, and the loop that performs what a watch or a report asks of it."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import lru_cache
from types import SimpleNamespace

from ferry_sdk import Booking, FerryError
from ferry_sdk._engine.batch import NextAnswer
from ferry_sdk._engine.effects import Item, RunBlocking, Sleep
from ferry_sdk.aftersales.schedule import Schedule
from ferry_sdk.aftersales.watcher import Watcher
from ferry_sdk.journal.snapshots import SavedDepartures
from tests.support import samples

START = datetime(2050, 5, 3, 9, 1, tzinfo=UTC)
DEPARTURE = "2050-06-02T21:30:00+02:00"
DAY = 86_400.0
HOUR = 3_600.0
ALL = object()
"""All bookings of the service."""


def after(seconds):
    return START + timedelta(seconds=seconds)


def booking(booking_id="b1", stage="payment_due", **changes):
    return _booking(stage, **changes).model_copy(update={"booking_id": booking_id})


def ticket(number, departure, status, *, legs=None):
    """A ticket of one way, the first one out and the second one back; `legs` are other members."""
    way = ("outward", "return")[number % 2]
    journey = {**samples.JOURNEY_ON_TICKET, "depart_at": departure}
    availability = {} if departure is None else {way: {"journey": journey, **dict(legs or ())}}
    return {
        "id": f"t{number}",
        "status": status,
        "direction": way.upper(),
        "availability": availability,
    }


@lru_cache(maxsize=20_000)
def _booking(
    stage,
    *,
    lapses=None,
    total="50.00",
    currency="EUR",
    departures=(DEPARTURE,),
    status="Blocked",
    statuses=None,
    legs=None,
):
    limit = None if lapses is None else after(lapses).isoformat()
    statuses = statuses or [status] * len(departures)
    tickets = [
        ticket(number, departure, status, legs=legs)
        for number, (departure, status) in enumerate(zip(departures, statuses, strict=True))
    ]
    actions = {} if limit is None else {"Pay": samples.POSSIBLE_ACTION | {"timeLimit": limit}}
    members = {
        "stage": stage,
        "status": status,
        "total_price": total,
        "currency": currency,
        "possible_actions": actions,
        "expire_at": limit,
        "pricing": None,
        "tickets": [samples.TICKET | {"passengers": []} | ticket for ticket in tickets],
    }
    return Booking.model_validate(samples.BOOKING | members)


class Killed(BaseException):
    """The process ends here."""


class Service:
    """A service whose clock moves where a watch sleeps.

    Attributes:
        time: The seconds since the start.
        answers: Returns the booking, or the error, at a time, by the booking's id.
        reads: When each booking was read, in order.
        seconds: How long a read takes, as a limiter or the network has it.
        skew: The seconds that the service's clock is ahead.
        times_asked: How often a watch asked for the time.
        step: The steps of the process so far.
        last_step: The step after which the process is killed.
        records: The steps that are events or use the journal.
    """

    def __init__(self, answer=None, *, seconds=0.0, skew=0.0):
        self.time = 0.0
        self.answers = {} if answer is None else {"b1": answer}
        self.reads = []
        self.seconds = seconds
        self.skew = skew
        self.times_asked = 0
        self.step = 0
        self.last_step = 10**9
        self.records = []

    def get(self, booking_id):
        self.time += self.seconds
        self.reads.append((self.time, booking_id))
        answer = self.answers[booking_id](self.time)
        if isinstance(answer, FerryError):
            raise answer
        return self._reply(answer)

    def _reply(self, answer=None):
        date = format_datetime(after(self.time + self.skew), usegmt=True)
        return SimpleNamespace(headers={"date": date}, parse=lambda: answer)

    def reads_of(self, booking_id):
        return [at for at, read_id in self.reads if read_id == booking_id]

    def watch(self, bookings=ALL, *, deadline=DAY, journal=None, **options):
        watcher = Watcher(
            [*self.answers] if bookings is ALL else bookings,
            deadline=deadline,
            journal=journal,
            schedule=Schedule(
                lambda: self.time, lambda: START.timestamp() + self.time, jitter=lambda: 1.0
            ),
            **options,
        )
        return self.perform(watcher.steps())

    def perform(self, steps):
        answer = None
        with suppress(StopIteration):
            while True:
                step = steps.send(answer)
                self.step += 1
                if not isinstance(step, NextAnswer | Sleep):
                    self.records.append(self.step)
                if self.step > self.last_step:
                    raise Killed
                answer = None
                match step:
                    case NextAnswer(batch):
                        answer = self._answer(batch)
                    case Sleep(seconds):
                        assert seconds >= 0
                        self.time += seconds
                    case RunBlocking(function):
                        answer = function()
                    case Item(value):
                        yield value

    def _answer(self, batch):
        number, call = batch.start_next(0)
        if call.key == "time":
            self.times_asked += 1
            return batch.answer(number, self._reply(), None)
        try:
            return batch.answer(number, self.get(call.key.booking_id), None)
        except FerryError as error:
            return batch.answer(number, None, error)


class Snapshots(dict):
    """A journal in memory."""

    def load_snapshots(self, booking_ids):
        return {booking_id: self[booking_id] for booking_id in booking_ids if booking_id in self}

    save_snapshot = dict.__setitem__


class Departures(Snapshots):
    """A journal in memory with departures.

    Attributes:
        departures: What a watch saved, by the booking's id.
        writes: How many writes of each booking are done.
    """

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.departures = {}
        self.writes = {}

    def load_departures(self, booking_ids):
        return {
            booking_id: SavedDepartures(
                self.departures.get(booking_id), self.writes.get(booking_id, 0)
            )
            for booking_id in booking_ids
        }

    def save_departures(self, booking_id, content, *, ends_at, snapshot):
        self.departures[booking_id] = content
        if snapshot is not None:
            self[booking_id] = snapshot
