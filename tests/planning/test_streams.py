"""Trips as the companies answer, on both clients."""

import gc

import anyio
import pytest

from ferry_sdk import AsyncFerry, Ferry, ServerError
from tests.backend.gathering import threads_end
from tests.planning.strait import STRAIT, found_without, slow
from tests.support.hold import Hold

pytestmark = pytest.mark.usefixtures("with_routes")


@pytest.fixture
def ferry(ferry_sandbox):
    with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url, max_retries=0) as ferry:
        yield ferry


def test_a_stream_gives_what_a_search_gives_before_the_last_answer(ferry, ferry_sandbox):
    found = ferry.trips.search(**STRAIT)
    stream = ferry.trips.stream(**STRAIT)
    assert stream.report.has_route
    streamed, searched = ([trip.outward.sailing_id for trip in trips] for trips in (stream, found))
    assert sorted(streamed) == sorted(searched)
    assert stream.report.calls == found.report.calls
    assert stream.report.is_complete
    ferry_sandbox.faults.add("server_error", "availability.search", times=None)
    failing = ferry.trips.stream(**STRAIT)
    with pytest.raises(ServerError):  # by the iteration
        next(failing)
    ferry_sandbox.faults.clear()
    hold = Hold(ferry_sandbox, "availability.search")
    stream = ferry.trips.stream(**STRAIT)
    assert next(stream).price
    assert not stream.report.nothing
    assert len(stream.report.answered) < stream.report.calls
    hold.release()
    assert len([*stream]) > 0
    assert len(stream.report.answered) == stream.report.calls


def test_a_stream_ends_where_a_company_is_slower_than_the_patience(ferry, ferry_sandbox):
    def search(patience):
        stream = ferry.trips.stream(**STRAIT, patience=patience)
        assert [*stream]
        return stream

    slow(ferry_sandbox, company="BALEARIA")
    assert len(found_without("BALEARIA", search).report.answered) == 3


def test_a_stream_that_is_closed_or_no_longer_used_leaves_nothing_running(ferry, ferry_sandbox):
    hold = Hold(ferry_sandbox, "availability.search")
    with ferry.trips.stream(**STRAIT, concurrency=2) as stream:
        next(stream)
    threads_end()  # a call that is not stopped waits for the held request
    assert [*stream] == []
    report = stream.report
    assert report.seconds == stream.report.seconds
    hold.release()
    every = ferry.trips.search(**STRAIT).report.asked
    assert report.calls + len(report.not_asked) == len(every)
    assert not report.is_complete
    hold = Hold(ferry_sandbox, "availability.search")
    for trip in ferry.trips.stream(**STRAIT):
        assert trip.price
        break
    gc.collect()
    threads_end()
    hold.release()


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_an_async_stream_does_the_same(ferry_sandbox, backend):
    async def main():
        async with AsyncFerry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry:
            found = await ferry.trips.search(**STRAIT)
            stream = ferry.trips.stream(**STRAIT)
            assert len([trip async for trip in stream]) == len(found)
            assert stream.report.is_complete
            hold = Hold(ferry_sandbox, "availability.search")
            async with ferry.trips.stream(**STRAIT) as stream:
                assert (await anext(stream)).price
            assert not stream._plan._batch.worker._scopes
            assert [trip async for trip in stream] == []
            hold.release()

    anyio.run(main, backend=backend)
