"""A service in virtual time, and the loop that performs what a watch of offers asks of it."""

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from email.utils import format_datetime
from functools import lru_cache
from types import SimpleNamespace

from ferry_sdk import Availability, FerryError
from ferry_sdk._engine.batch import NextAnswer, StopBatch
from ferry_sdk._engine.effects import Item, RunBlocking, Sleep
from ferry_sdk._engine.service_clock import ServiceClock
from ferry_sdk.models.records import Records, Unreadable
from ferry_sdk.offers import Wish
from ferry_sdk.offers.searches import Person, WishSearch
from ferry_sdk.offers.watcher import OfferWatcher
from ferry_sdk.offers.wish import wish_text
from ferry_sdk.types import WishRecord
from tests.support import samples

START = datetime(2050, 5, 3, 9, 1, tzinfo=UTC)
DAY = date(2050, 6, 2)
HOUR = 3600.0
ADULT = [{"type": "Adult", "gender": "Female", "age": 34}]
LOST = Unreadable(index=9, field="tariffs", problem="missing", raw={})


@dataclass(frozen=True)
class Offered:
    """A sailing of an answer.

    Attributes:
        price: The price of its ticket; None: it has no ticket.
        currency: The currency.
        places: The types of its places.
        hour: The hour of departure.
    """

    price: str
    currency: str = "EUR"
    places: tuple[str, ...] = ("Seat",)
    hour: int = 20


@dataclass(frozen=True)
class Reply:
    """An answer to a search: its sailings, and whether a record of it cannot be read."""

    sailings: tuple[Offered, ...] = ()
    is_complete: bool = True

    def records(self):
        sailings = [sailing_of(each, number) for number, each in enumerate(self.sailings)]
        return Records(sailings, () if self.is_complete else (LOST,))


@lru_cache(20_000)
def sailing_of(offered, number=0):
    """Return the sailing as a client reads it."""
    tariff = samples.TARIFF | {
        "amount": offered.price,
        "currency": offered.currency,
        "roundtrip_locked": False,
    }
    places = [samples.PLACE | {"type": kind, "code": kind} for kind in offered.places]
    wire = {
        **samples.AVAILABILITY,
        "id": f"av-{number}",
        "depart_at": f"{DAY}T{offered.hour:02}:00:00+02:00",
        "arrive_at": f"{DAY + timedelta(days=1)}T16:20:00+01:00",
        "tariffs": [tariff],
        "places": places,
    }
    return Availability.model_validate(wire)


def wish(*rules, **changes):
    """Return a wish of one day."""
    arguments = {"days": (DAY, DAY), "passengers": ADULT, **changes}
    return Wish("Marseille", "Tunis", rules=rules, **arguments)


def search(company="CTN", day=DAY):
    """Return a search of a wish, without a look-up."""
    return WishSearch(
        company=company,
        journey_id="j1",
        day=day,
        party=(Person("Adult", "Female", 34),),
        vehicle=None,
        depart_code="FRMRS",
        arrive_code="TNLGN",
        depart_name="Marseille",
        arrive_name="Tunis",
    )


def store_wish(journal, key, wanted, searches=None):
    """Store a wish, and the searches that it needs; by default one."""
    record = WishRecord(key, wish_text(wanted), wanted.last_day)
    journal.offers.save_wish(record)
    ports = {"FRMRS": "Marseille", "TNLGN": "Tunis"}
    records = [each.to_record() for each in searches or [search()]]
    journal.offers.save_searches(START, [(record, records)], ports)


@dataclass
class Service:
    """A service whose clock moves where a watch sleeps.

    Attributes:
        answer: Returns the reply, or the error, to a search at a time.
        time: The seconds since the start.
        seconds: How long a round of searches takes.
        asked: When each search was asked, by its company.
    """

    answer: object = None
    time: float = 0.0
    seconds: float = 0.0
    asked: list = field(default_factory=list)
    settings: object = None

    def now(self):
        return START + timedelta(seconds=self.time)

    def watcher(self, journal, *, deadline=HOUR, every=HOUR, most=500, keys=None):
        return OfferWatcher(
            journal.offers,
            deadline=deadline,
            every=timedelta(seconds=every),
            most_an_hour=most,
            keys=keys,
            clock=ServiceClock(lambda: self.time, lambda: START.timestamp() + self.time),
            now=self.now,
        )

    def watch(self, journal, **options):
        return self.perform(self.watcher(journal, **options).steps(self.settings))

    def perform(self, steps):
        answer = None
        with suppress(StopIteration):
            while True:
                step = steps.send(answer)
                answer = None
                match step:
                    case NextAnswer(batch):
                        answer = self._answer(batch)
                    case Sleep(seconds):
                        assert seconds > 0
                        self.time += seconds
                    case RunBlocking(function):
                        answer = function()
                    case Item(value):
                        yield value
                    case StopBatch():
                        pass

    def _answer(self, batch):
        batch.until = None  # it is compared with the real clock
        number, call = batch.start_next(0)
        self.time += self.seconds
        self.asked.append((self.time, call.key.company, call.key.day))
        reply = self.answer(call.key, self.time)
        if isinstance(reply, FerryError):
            return batch.answer(number, None, reply)
        headers = {"date": format_datetime(self.now(), usegmt=True)}
        response = SimpleNamespace(headers=headers, parse=reply.records)
        return batch.answer(number, response, None)
