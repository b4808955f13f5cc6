"""Streams of trips, for threads and for tasks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Self

from ferry_sdk._transport.async_ import AsyncTransport
from ferry_sdk._transport.streams import stream, stream_async
from ferry_sdk._transport.sync import Transport
from ferry_sdk.planning.results import SearchReport
from ferry_sdk.planning.search import TripPlan
from ferry_sdk.planning.trips import Trip


class _TripsSoFar:
    """What both streams say of the trips that were found so far."""

    _plan: TripPlan

    @property
    def report(self) -> SearchReport:
        """Which companies were asked, and what became of each search so far."""
        return self._plan.report

    @property
    def left_out(self) -> int:
        """How many trips were found so far without a fare of the wanted `reservation_type`."""
        return self.report.left_out

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.report!r}>"


class TripStream(_TripsSoFar, Iterator[Trip]):
    """Trips as the companies answer.

    The searches that are under way are stopped when the stream is closed, or is no longer used.

    Example:
        ```python
        from datetime import date, timedelta

        from ferry_sdk import Ferry
        from ferry_sdk.sandbox import Sandbox

        with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            stream = ferry.trips.stream(
                "Tarifa",
                "MATNG",
                on=date.today() + timedelta(days=30),
                passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
            )
            print(next(stream).outward.depart_name)
            # > Tarifa
            stream.close()
        ```
    """

    def __init__(self, transport: Transport, plan: TripPlan) -> None:
        self._plan = plan
        self._trips = stream(transport, plan.steps(transport.settings), plan.stop)

    def close(self) -> None:
        """Stop the searches that are under way."""
        self._trips.close()

    def __next__(self) -> Trip:
        return next(self._trips)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncTripStream(_TripsSoFar, AsyncIterator[Trip]):
    """Trips as the companies answer.

    The searches that are under way are stopped when the stream is closed, or is no longer used.

    Example:
        ```python
        import asyncio
        from datetime import date, timedelta

        from ferry_sdk import AsyncFerry
        from ferry_sdk.sandbox import AsyncSandbox


        async def main() -> None:
            async with (
                AsyncSandbox() as sandbox,
                AsyncFerry(sandbox.token, base_url=sandbox.base_url) as ferry,
            ):
                stream = ferry.trips.stream(
                    "Tarifa",
                    "MATNG",
                    on=date.today() + timedelta(days=30),
                    passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
                )
                async for trip in stream:
                    print(trip.outward.depart_name)
                    # > Tarifa
                    break
                await stream.aclose()


        asyncio.run(main())
        ```
    """

    def __init__(self, transport: AsyncTransport, plan: TripPlan) -> None:
        self._plan = plan
        self._trips = stream_async(transport, plan.steps(transport.settings), plan.stop)

    async def aclose(self) -> None:
        """Stop the searches that are under way."""
        await self._trips.aclose()

    async def __anext__(self) -> Trip:
        return await anext(self._trips)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
