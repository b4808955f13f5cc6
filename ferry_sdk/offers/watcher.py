"""Watch offers: which searches are made, and which events they give.

`OfferWatcher` repeats these steps until the deadline:

1. Wishes whose last day has passed are ended. The searches of new wishes are looked up, and those
   of all wishes once a day.
2. The journal says which searches may be made now: those that are due, the one that was asked
   longest ago first, as far as the hourly limit allows. It has counted their calls by then. If
   there are none, the watcher sleeps until there may be some.
3. The searches are made at the same time. Each answer is judged by the rules of all wishes that
   need it; the journal saves the answer, the states of the rules and the events in one transaction.
4. The events are given. An event counts as given when the caller asks for the next one or closes
   the iterator; then the journal deletes it.

If the process is killed, the next watch gives the events that the journal still has, with the ids
that they had. A search that failed is made again after some minutes if it may succeed then. If all
searches of a round fail, the watcher pauses, longer after each such round, so that a service that
is down does not use up the hourly limit.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from ferry_sdk._engine.attempts import log_text
from ferry_sdk._engine.batch import Batch, BatchAnswer, StopBatch, next_answer, stop_after_error
from ferry_sdk._engine.effects import Effect, Flow, Item, RunBlocking, Sleep, Steps
from ferry_sdk._engine.http import RawResponse, parse_date
from ferry_sdk._engine.retry import failure_kind, longest_retry_after
from ferry_sdk._engine.service_clock import ServiceClock
from ferry_sdk._engine.settings import Settings
from ferry_sdk.errors import (
    FerryError,
    InvalidInputError,
    NoSailingsError,
    RequestTimeoutError,
)
from ferry_sdk.models.availability import Availability
from ferry_sdk.models.records import Records
from ferry_sdk.models.travellers import first_day_at
from ferry_sdk.offers.answers import SeenAnswer
from ferry_sdk.offers.events import ENDED, OfferEvent, event_of
from ferry_sdk.offers.searches import WishSearch, parse_search
from ferry_sdk.offers.wish import parse_wish, request_of
from ferry_sdk.planning.catalogues import POINTLESS
from ferry_sdk.planning.results import (
    AskedSearch,
    FailedSearch,
    SearchProgress,
    SearchReport,
    unreadable_answers,
)
from ferry_sdk.planning.search import TripPlan, other_sailings
from ferry_sdk.types import (
    ClaimRequest,
    OfferEventRecord,
    SearchRecord,
    WishRecord,
)

if TYPE_CHECKING:
    from ferry_sdk.journal.offer_store import OfferStore

logger: logging.Logger = logging.getLogger("ferry_sdk")

_OPERATION: Final = "availability.search"
_ROUND_SECONDS: Final = 25.0
"""Seconds from a claim to the end of its calls; a call counts an hour from 30 s after the claim."""
_POLL: Final = 60.0
"""Seconds of the longest sleep: another program may have added a wish meanwhile."""
_SHORTEST_SLEEP: Final = 0.1
_LOOK_UPS: Final = 200
"""Wishes whose searches are saved in one transaction."""
_LOOK_UP_PAUSE: Final = timedelta(minutes=5)
"""How long after a look-up that failed the same wish is looked up again."""
_MOST_DOUBLINGS: Final = 5
"""A round that failed is followed by a pause of two seconds. So many further ones double it."""
_MOST_NOT_ASKED: Final = 10_000
"""Searches that a report names as not asked, at most."""

T = TypeVar("T")
P = ParamSpec("P")
_Response = RawResponse[Records[Availability]]
_Answer = BatchAnswer[WishSearch, _Response]
_SearchBatch = Batch[WishSearch, _Response]
_Answers = Generator[Effect[Any] | Item[OfferEvent], Any, list[FerryError]]
"""Steps that return the errors of searches."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


class OfferWatcher:
    """The decisions of a watch of offers.

    Args:
        store: What the journal has of offers.
        deadline: Maximum time in seconds.
        every: How long after a search it is made again.
        most_an_hour: The most searches in an hour, of all programs on the journal.
        keys: The wishes to watch; None: all.
        clock: The service's clock.
        now: Returns the time of this machine, by which searches are due.
    """

    def __init__(
        self,
        store: OfferStore,
        *,
        deadline: float,
        every: timedelta,
        most_an_hour: int,
        keys: Collection[str] | None = None,
        clock: ServiceClock | None = None,
        now: Callable[[], datetime] = _utc_now,
    ) -> None:
        self._store = store
        self._clock = clock or ServiceClock()
        self._deadline = self._clock.clock() + deadline
        self._every = every
        self._most_an_hour = most_an_hour
        self._keys = keys
        self._now = now

        self._progress = SearchProgress()
        self._batch: _SearchBatch = Batch()
        self._first_day: date | None = None
        self._look_up_at = now()
        self._rounds_failed = 0

        self.is_closed_by_caller: bool = False
        """Whether the caller has closed the iterator, so that the last event counts as given."""
        self._last_event_id: str | None = None
        """The event that was given last, until it counts as given."""

    @property
    def report(self) -> SearchReport:
        """Which searches were made, and what became of each, as of now."""
        under_way = self._batch.under_way.copy().values()
        return self._progress.report([call.key.asked for call in under_way])

    def steps(self, settings: Settings) -> Steps[OfferEvent]:
        """Yield the effects, and the events.

        Raises:
            AuthenticationError: The service rejects the token.
            ConfigurationError: A setting is missing.
            JournalError: The journal cannot be used.
        """
        yield from self._give_stored(abandoned=False)
        while self._seconds_left() > 0:
            yield from self._end_wishes()
            yield from self._look_up(settings)
            yield from self._give_stored(abandoned=True)

            began_at = self._clock.clock()
            request = self._claim_request(self._batch.limit)
            claim = yield from _run(self._store.claim, request)
            if claim.searches:
                yield from self._ask(claim.searches, until=began_at + _ROUND_SECONDS)
            else:
                yield from self._wait(claim.next_at)

        overdue = yield from _run(self._store.overdue, self._claim_request(_MOST_NOT_ASKED))
        not_asked = [parse_search(record) for record in overdue]
        self._progress.not_asked += [search.asked for search in not_asked if search is not None]
        self._progress.stop_clock()

    def stop(self, settings: Settings) -> Flow[None]:
        """Stop the searches under way; the last event counts as given if the caller has closed."""
        del settings
        self._progress.stop_clock()
        yield from StopBatch(self._batch)
        if self.is_closed_by_caller:
            yield from self._count_as_given()

    def _seconds_left(self) -> float:
        return self._deadline - self._clock.clock()

    def _claim_request(self, most: int) -> ClaimRequest:
        return ClaimRequest(
            now=self._now(),
            first_day=first_day_at(self._clock.now()),
            every=self._every,
            most_an_hour=self._most_an_hour,
            most=most,
            keys=self._keys,
        )

    def _wait(self, next_at: datetime | None) -> Flow[None]:
        """Sleep until there may be something to do: a search, a new wish, or the deadline."""
        seconds = _POLL
        if next_at is not None:
            seconds = min(seconds, (next_at - self._now()).total_seconds())
        yield from self._sleep(max(seconds, _SHORTEST_SLEEP))

    def _sleep(self, seconds: float) -> Flow[None]:
        seconds = min(seconds, self._seconds_left())
        if seconds > 0:
            yield from Sleep(seconds)

    def _end_wishes(self) -> Flow[None]:
        """End the wishes whose last day has passed; once a day, there may be some."""
        first_day = first_day_at(self._clock.now())
        if first_day == self._first_day:
            return
        seen_at = self._clock.now()

        def make_event(key: str) -> OfferEventRecord:
            return OfferEventRecord(token_hex(16), key, content=ENDED, seen_at=seen_at)

        yield from _run(self._store.end_wishes, first_day, make_event)
        self._first_day = first_day

    def _look_up(self, settings: Settings) -> Flow[None]:
        """Look up the searches of new wishes, and those of others again."""
        now = self._now()
        if now < self._look_up_at:
            return
        find = partial(self._store.wishes_to_look_up, most=_LOOK_UPS)
        while self._seconds_left() > 0:
            records = yield from _run(find, now, self._keys)
            if not records:
                return

            looked_up: list[tuple[WishRecord, list[SearchRecord]]] = []
            ports: dict[str, str] = {}
            for record in records:
                try:
                    wish_searches = yield from self._searches_of(record, settings)
                except FerryError as error:
                    if isinstance(error, POINTLESS):
                        raise
                    if failure_kind(error) is not None:  # the catalogues cannot be read now
                        self._look_up_at = now + _LOOK_UP_PAUSE
                        break
                    wish_searches = []  # such a wish is looked up again in a day

                looked_up.append((record, [search.to_record() for search in wish_searches]))
                for search in wish_searches:
                    ports[search.depart_code] = search.depart_name
                    ports[search.arrive_code] = search.arrive_name

            yield from _run(self._store.save_searches, now, looked_up, ports)
            if len(looked_up) < len(records):
                return

    def _searches_of(self, record: WishRecord, settings: Settings) -> Flow[list[WishSearch]]:
        """Return the searches that a wish needs; a failure is part of the report.

        Raises:
            FerryError: They could not be looked up.
        """
        wish = parse_wish(record.key, record.content)
        if wish is None:
            return []

        request = request_of(wish)
        limits = replace(settings, deadline=self._seconds_left())
        try:
            queries = yield from TripPlan(request).queries(limits)
            if not queries and any(request.rounds):
                problem = f"no company is known to sail from {wish.origin} to {wish.destination}"
                raise InvalidInputError(problem, field="destination")
        except FerryError as error:
            logger.warning("the searches of wish %r are not known: %s", record.key, log_text(error))
            ends = AskedSearch(
                company="",
                depart_code=str(wish.origin),
                arrive_code=str(wish.destination),
                day=wish.last_day,
            )
            self._progress.failed.append(_failed(ends, error))
            raise
        return [WishSearch.of(query, request) for query in queries]

    def _ask(self, records: Sequence[SearchRecord], until: float) -> Steps[OfferEvent]:
        """Make searches at the same time, and give the events of their answers."""
        batch: _SearchBatch = Batch(until=min(until, self._deadline))
        self._batch = batch
        for record in records:
            search = parse_search(record)
            if search is not None:
                # The watch repeats searches itself, so that each request is one that was claimed.
                batch.add_raw(search, search.operation(), max_retries=0)

        errors = yield from stop_after_error(batch, self._take_answers(batch))
        yield from self._pause(errors, searches=len(records))

    def _take_answers(self, batch: _SearchBatch) -> _Answers:
        """Record each answer and give its events; return the errors that may pass."""
        errors: list[FerryError] = []
        while batch:
            answer = yield from next_answer(batch)
            answers = [answer] if answer is not None else (yield from self._end_late(batch))
            for each in answers:
                error = each.error
                if error is None or isinstance(error, NoSailingsError):
                    yield from self._record(each)
                elif (yield from self._note_failure(each.key, error)):
                    errors.append(error)
        return errors

    def _end_late(self, batch: _SearchBatch) -> Flow[list[_Answer]]:
        """Stop the searches whose time is up, and return the failure of each."""
        yield from StopBatch(batch)
        error = RequestTimeoutError("the deadline has passed", outcome="unknown")
        return [batch.answer(number, None, error) for number in [*batch.under_way]]

    def _record(self, answer: _Answer) -> Steps[OfferEvent]:
        """Judge an answer, and give its events."""
        search = answer.key
        sailings = Records[Availability]()
        if answer.value is not None:
            sailings = answer.value.parse()
            date = parse_date(answer.value.headers.get("date", ""))
            if date is not None:
                self._clock.set_time(date)

        unreadable = unreadable_answers(_OPERATION, sailings, search.asked)
        unreadable += other_sailings(search.asked, sailings)
        progress = self._progress
        progress.unreadable += unreadable
        progress.ended.append(search.asked)
        outcomes = progress.answered if sailings else progress.nothing
        outcomes.append(search.asked)

        seen = SeenAnswer(
            search=search,
            sailings=search.sailings_of(sailings),
            seen_at=self._clock.now(),
            is_complete=not unreadable,
        )
        record = partial(self._store.record, now=self._now(), keys=self._keys)
        yield from self._give((yield from _run(record, search.id, seen.judge)))

    def _note_failure(self, search: WishSearch, error: FerryError) -> Flow[bool]:
        """Note a failure for the report; return whether the search may succeed soon."""
        if isinstance(error, POINTLESS):
            raise error
        self._progress.ended.append(search.asked)
        self._progress.failed.append(_failed(search.asked, error))
        if failure_kind(error) is not None:
            return True
        yield from _run(self._store.end_search, search.id)
        return False

    def _pause(self, errors: Sequence[FerryError], searches: int) -> Flow[None]:
        """Pause if all searches of a round failed: the service or the network may be down."""
        if not errors or len(errors) < searches:
            self._rounds_failed = 0
            return
        seconds = 2.0 * 2.0 ** min(self._rounds_failed, _MOST_DOUBLINGS)
        self._rounds_failed += 1
        yield from self._sleep(max(seconds, longest_retry_after(errors)))

    def _give_stored(self, *, abandoned: bool) -> Steps[OfferEvent]:
        """Give the events that were not given, such as those of a program that was killed."""
        take = partial(self._store.take_events, abandoned=abandoned)
        yield from self._give((yield from _run(take, self._now(), self._keys)))

    def _give(self, records: Iterable[OfferEventRecord]) -> Steps[OfferEvent]:
        """Give events; each counts as given when the caller wants the next one."""
        for record in records:
            event = event_of(record)
            self._last_event_id = record.id
            if event is not None:  # a damaged one counts as given
                yield Item(event)
            yield from self._count_as_given()

    def _count_as_given(self) -> Flow[None]:
        """Delete the event that was given last from the journal."""
        if self._last_event_id is not None:
            yield from _run(self._store.delete_event, self._last_event_id)
            self._last_event_id = None


def _run(function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> Flow[T]:
    """Use the journal."""
    work = partial(function, *arguments, **options)
    return (yield from RunBlocking(work, may_be_interrupted=True))


def _failed(search: AskedSearch, error: FerryError) -> FailedSearch:
    return FailedSearch(
        company=search.company,
        depart_code=search.depart_code,
        arrive_code=search.arrive_code,
        day=search.day,
        error=error,
    )
