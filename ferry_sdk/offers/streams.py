"""Iterators of offer events, for threads and for tasks."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Collection, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Final, Self, overload

from ferry_sdk._engine.validation import seconds as check_seconds
from ferry_sdk._transport.async_ import AsyncTransport
from ferry_sdk._transport.streams import stream, stream_async
from ferry_sdk._transport.sync import Transport
from ferry_sdk.client import AsyncFerry, Ferry, transport_of
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.inputs import elements_of
from ferry_sdk.offers.events import OfferEvent
from ferry_sdk.offers.watcher import OfferWatcher
from ferry_sdk.offers.wish import check_key, store_of
from ferry_sdk.planning.results import SearchReport

if TYPE_CHECKING:
    from ferry_sdk.journal import Journal

_MOST_AN_HOUR: Final = re.compile(r"([1-9][0-9]{0,8})/hour", re.ASCII)


class _ReportedWatch:
    """What both iterators say of the searches so far."""

    _watcher: OfferWatcher

    @property
    def report(self) -> SearchReport:
        """Which searches were made, and what became of each so far."""
        return self._watcher.report

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.report!r}>"


class OfferWatch(_ReportedWatch, Iterator[OfferEvent]):
    """Events of wishes, until the deadline.

    An event counts as given when the next one is asked for, or when `close` is called. If the
    iterator is dropped, or a ``with`` block ends by an error, the next watch gives the last event
    again.

    Example:
        ```python
        from datetime import timedelta

        from ferry_sdk import Ferry, offers
        from ferry_sdk.journal import Journal
        from ferry_sdk.sandbox import Sandbox

        with (
            Sandbox() as sandbox,
            Ferry(sandbox.token, base_url=sandbox.base_url) as ferry,
            Journal("sqlite:///ferry.db") as journal,
        ):
            every = timedelta(hours=6)
            events = offers.watch(ferry, journal, deadline=0.1, every=every, max_calls="500/hour")
            print(next(events, "no event"))
            # > no event
            events.close()
        ```
    """

    def __init__(self, transport: Transport, watcher: OfferWatcher) -> None:
        self._watcher = watcher
        self._events = stream(transport, watcher.steps(transport.settings), watcher.stop)

    def close(self) -> None:
        """Stop the searches under way; the last event counts as given."""
        self._watcher.is_closed_by_caller = True
        self._events.close()

    def __next__(self) -> OfferEvent:
        return next(self._events)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error_type: type[BaseException] | None, *_: object) -> None:
        self._watcher.is_closed_by_caller = error_type is None
        self._events.close()


class AsyncOfferWatch(_ReportedWatch, AsyncIterator[OfferEvent]):
    """Events of wishes, until the deadline, for ``async for``.

    An event counts as given when the next one is asked for, or when `aclose` is called. If the
    iterator is dropped, or an ``async with`` block ends by an error, the next watch gives the last
    event again.

    Example:
        ```python
        import asyncio
        from datetime import timedelta

        from ferry_sdk import AsyncFerry, offers
        from ferry_sdk.journal import Journal
        from ferry_sdk.sandbox import Sandbox


        async def main(sandbox: Sandbox, journal: Journal) -> None:
            async with AsyncFerry(sandbox.token, base_url=sandbox.base_url) as ferry:
                every = timedelta(hours=6)
                events = offers.watch(
                    ferry, journal, deadline=0.1, every=every, max_calls="500/hour"
                )
                print([event async for event in events])
                # > []
                await events.aclose()


        with Sandbox() as sandbox, Journal("sqlite:///ferry.db") as journal:
            asyncio.run(main(sandbox, journal))
        ```
    """

    def __init__(self, transport: AsyncTransport, watcher: OfferWatcher) -> None:
        self._watcher = watcher
        self._events = stream_async(transport, watcher.steps(transport.settings), watcher.stop)

    async def aclose(self) -> None:
        """Stop the searches under way; the last event counts as given."""
        self._watcher.is_closed_by_caller = True
        await self._events.aclose()

    async def __anext__(self) -> OfferEvent:
        return await anext(self._events)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, error_type: type[BaseException] | None, *_: object) -> None:
        self._watcher.is_closed_by_caller = error_type is None
        await self._events.aclose()


@overload
def watch(
    ferry: Ferry,
    journal: Journal,
    *,
    deadline: float,
    every: timedelta,
    max_calls: str,
    keys: Collection[str] | None = None,
) -> OfferWatch: ...
@overload
def watch(
    ferry: AsyncFerry,
    journal: Journal,
    *,
    deadline: float,
    every: timedelta,
    max_calls: str,
    keys: Collection[str] | None = None,
) -> AsyncOfferWatch: ...
def watch(
    ferry: Ferry | AsyncFerry,
    journal: Journal,
    *,
    deadline: float,
    every: timedelta,
    max_calls: str,
    keys: Collection[str] | None = None,
) -> OfferWatch | AsyncOfferWatch:
    """Make the searches that wishes need, and give an event for each rule that fires.

    A search is made every `every`, once however many wishes need it, and the one that was asked
    longest ago first. Several programs may watch with one journal: they share the searches, the
    hourly limit and the events. A failed search is made again after five minutes if it may succeed
    then; it fires nothing and arms nothing.

    An event is given at least once. It counts as given when the next one is asked for, or when the
    iterator is closed. If the program ends before, the next watch gives the event again, with the
    same `id`. Interface: POST /api/availability.

    Args:
        ferry: The client. With an `AsyncFerry`, the result is an async iterator.
        journal: Has the wishes, and keeps what was seen.
        deadline: Maximum time in seconds.
        every: How long after a search it is made again, at least a second.
        max_calls: The most searches in any hour of all programs on the journal, such as
            ``"500/hour"``. Catalogues come on top, once a day.
        keys: The keys of the wishes to watch; None: all.

    Returns:
        An iterator of events. Its `report` says what became of each search so far. A wish whose
        searches cannot be looked up is in ``report.failed``, without a company.

    Raises:
        InvalidInputError: An argument is invalid; `field` names it.
        AuthenticationError: The service rejects the token; raised by the iterator.
        JournalError: The journal cannot be used; raised by the iterator.

    Example:
        ```python
        from datetime import date, timedelta

        from ferry_sdk import Ferry, offers
        from ferry_sdk.journal import Journal
        from ferry_sdk.sandbox import Sandbox

        day = date.today() + timedelta(days=30)
        wish = offers.Wish(
            "Tarifa",
            "MATNG",
            days=(day, day),
            passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
            rules=[offers.Below("900", "EUR")],
        )
        with (
            Sandbox() as sandbox,
            Journal("sqlite:///ferry.db") as journal,
            Ferry(sandbox.token, base_url=sandbox.base_url) as ferry,
        ):
            offers.add(journal, wish, key="alert-17")
            every = timedelta(hours=6)
            with offers.watch(
                ferry, journal, deadline=60, every=every, max_calls="500/hour"
            ) as events:
                event = next(events)
                print(event.key, event.kind, event.currency)
                # > alert-17 below EUR
        ```
    """
    watcher = OfferWatcher(
        store_of(journal),
        deadline=check_seconds(deadline, "deadline"),
        every=_interval(every),
        most_an_hour=_hourly_limit(max_calls),
        keys=_keys_of(keys),
    )
    if isinstance(ferry, AsyncFerry):
        return AsyncOfferWatch(transport_of(ferry), watcher)
    return OfferWatch(transport_of(ferry), watcher)


def _interval(every: object) -> timedelta:
    """Return the time between two equal searches."""
    if isinstance(every, timedelta) and timedelta(seconds=1) <= every <= timedelta(days=366):
        return every
    raise InvalidInputError("expected a timedelta of 1 second to 366 days", field="every")


def _hourly_limit(max_calls: object) -> int:
    """Return the most searches in an hour."""
    match = _MOST_AN_HOUR.fullmatch(max_calls) if isinstance(max_calls, str) else None
    if match is None:
        raise InvalidInputError('expected a text such as "500/hour"', field="max_calls")
    return int(match[1])


def _keys_of(keys: object) -> frozenset[str] | None:
    """Return the keys of wishes; None: of all."""
    if keys is None:
        return None
    elements = elements_of(keys, "keys")
    return frozenset(check_key(key, f"keys[{index}]") for index, key in enumerate(elements))
