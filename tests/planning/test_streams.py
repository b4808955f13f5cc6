"""Trips as the companies answer, on both clients."""

import gc

import anyio
import pytest

from ferry_sdk import AsyncFerry, Ferry, ServerError
from tests.backend.gathering import threads_end
from tests.planning.strait import STRAIT, found_without, slow
from tests.support.exchanges import caught
from tests.support.hold import Hold

pytestmark = pytest.mark.usefixtures("with_routes")


@pytest.fixture
def ferry(ferry_sandbox):
    with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url, max_retries=0) as ferry:
        yield ferry


class TestTrips:
    def test_stream_gives_what_a_search_gives(self, ferry):
        found = ferry.trips.search(**STRAIT)
        stream = ferry.trips.stream(**STRAIT)
        assert stream.report.has_route
        streamed = [trip.outward.sailing_id for trip in stream]
        assert sorted(streamed) == sorted(trip.outward.sailing_id for trip in found)
        assert stream.report.calls == found.report.calls
        assert stream.report.is_complete

    def test_first_trip_comes_before_the_last_answer(self, ferry, ferry_sandbox):
        hold = Hold(ferry_sandbox, "availability.search")
        stream = ferry.trips.stream(**STRAIT)
        assert next(stream).price
        assert not stream.report.nothing
        assert len(stream.report.answered) < stream.report.calls
        hold.release()
        assert len([*stream]) > 0
        assert len(stream.report.answered) == stream.report.calls

    def test_failure_is_raised_by_the_iteration(self, ferry, ferry_sandbox):
        ferry_sandbox.faults.add("server_error", "availability.search", times=None)
        stream = ferry.trips.stream(**STRAIT)
        caught(ServerError, next, stream)

    def test_slow_company_does_not_keep_it_open(self, ferry, ferry_sandbox):
        def search(patience):
            stream = ferry.trips.stream(**STRAIT, patience=patience)
            assert [*stream]
            return stream

        slow(ferry_sandbox, company="BALEARIA")
        assert len(found_without("BALEARIA", search).report.answered) == 3


class TestEnd:
    def test_closed_stream_leaves_nothing_running(self, ferry, ferry_sandbox):
        hold = Hold(ferry_sandbox, "availability.search")
        with ferry.trips.stream(**STRAIT, concurrency=2) as stream:
            next(stream)
        threads_end()  # a call that is not stopped waits for the held request
        assert [*stream] == []
        hold.release()

    def test_report_of_a_closed_stream_stays(self, ferry, ferry_sandbox):
        hold = Hold(ferry_sandbox, "availability.search")
        with ferry.trips.stream(**STRAIT, concurrency=2) as stream:
            next(stream)
        report = stream.report
        assert report.seconds == stream.report.seconds
        hold.release()
        every = ferry.trips.search(**STRAIT).report.asked
        assert report.calls + len(report.not_asked) == len(every)
        assert not report.is_complete

    @pytest.mark.slow
    def test_forgotten_stream_leaves_nothing_running(self, ferry, ferry_sandbox):
        hold = Hold(ferry_sandbox, "availability.search")
        for trip in ferry.trips.stream(**STRAIT):
            assert trip.price
            break
        gc.collect()
        threads_end()
        hold.release()


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
class TestAsyncStreams:
    def test_stream_gives_what_a_search_gives(self, ferry_sandbox, backend):
        async def main():
            async with AsyncFerry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry:
                found = await ferry.trips.search(**STRAIT)
                stream = ferry.trips.stream(**STRAIT)
                assert len([trip async for trip in stream]) == len(found)
                assert stream.report.is_complete

        anyio.run(main, backend=backend)

    def test_closed_stream_leaves_nothing_running(self, ferry_sandbox, backend):
        async def main():
            async with AsyncFerry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry:
                hold = Hold(ferry_sandbox, "availability.search")
                async with ferry.trips.stream(**STRAIT) as stream:
                    assert (await anext(stream)).price
                assert not stream._plan._batch.worker._scopes
                assert [trip async for trip in stream] == []
                hold.release()

        anyio.run(main, backend=backend)
