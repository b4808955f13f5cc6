"""Streams of trips, for threads and for tasks."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator

from typing_extensions import Self

from ferry_sdk._engine.batch import Plan
from ferry_sdk._transport.async_ import AsyncTransport
from ferry_sdk._transport.sync import Transport
from ferry_sdk.errors import FerryError, trim
from ferry_sdk.planning.search import TripPlan
from ferry_sdk.planning.trips import SearchReport, Trip


class TripStream(Iterator[Trip]):
    """Trips as the companies answer.

    The searches that are under way are stopped when the stream is closed, or is no longer used.
    """

    def __init__(self, transport: Transport, plan: TripPlan) -> None:
        self._transport = transport
        self._plan = plan
        self._trips = self._iterate()

    @property
    def report(self) -> SearchReport:
        """Which companies were asked, and what became of each search so far."""
        return self._plan.report

    def close(self) -> None:
        """Stop the searches that are under way."""
        self._trips.close()

    def __next__(self) -> Trip:
        try:
            return next(self._trips)
        except FerryError as error:
            raise trim(error) from error.__cause__

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _iterate(self) -> Generator[Trip]:
        try:
            while (found := self._transport.run(Plan(self._plan.advance))) is not None:
                yield from found
        finally:
            self._transport.run(Plan(self._plan.stop))


class AsyncTripStream(AsyncIterator[Trip]):
    """Trips as the companies answer.

    The searches that are under way are stopped when the stream is closed, or is no longer used.
    """

    def __init__(self, transport: AsyncTransport, plan: TripPlan) -> None:
        self._transport = transport
        self._plan = plan
        self._trips = self._iterate()

    @property
    def report(self) -> SearchReport:
        """Which companies were asked, and what became of each search so far."""
        return self._plan.report

    async def aclose(self) -> None:
        """Stop the searches that are under way."""
        await self._trips.aclose()

    async def __anext__(self) -> Trip:
        try:
            return await anext(self._trips)
        except FerryError as error:
            raise trim(error) from error.__cause__

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _iterate(self) -> AsyncGenerator[Trip]:
        try:
            while (found := await self._transport.run(Plan(self._plan.advance))) is not None:
                for trip in found:
                    yield trip
        finally:
            await self._transport.run(Plan(self._plan.stop))
