"""Waits that share a timer, and turns that are waited for."""

from __future__ import annotations

import asyncio
import gc
import math
import socket
import time
import weakref
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferry_sdk import AsyncFerry, DefaultAioHttpClient, RequestTimeoutError
from ferry_sdk._transport.aiohttp_client.pool import Limiter
from ferry_sdk._transport.aiohttp_client.timeouts import Timeouts

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferry_sdk.sandbox import Sandbox

LONG = 60.0
SHORT = 0.05


class Source:
    """Something that speaks when it is told to."""

    def __init__(self) -> None:
        self.last_activity = -math.inf

    def speaks(self) -> None:
        self.last_activity = asyncio.get_running_loop().time()


def in_a_loop(work: Callable[[], Any]) -> Any:
    return asyncio.run(work())


def timers_of(loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The moments for which the loop is asked for a timer from now on."""
    made: list[float] = []
    call_at = loop.call_at

    def counted(when: float, *arguments: Any, **options: Any) -> asyncio.TimerHandle:
        made.append(when)
        return call_at(when, *arguments, **options)

    monkeypatch.setattr(loop, "call_at", counted)
    return made


async def failed_after(awaited: asyncio.Future[None]) -> float:
    loop = asyncio.get_running_loop()
    began = loop.time()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.shield(awaited), 5)
    return loop.time() - began


def test_what_takes_too_long_fails_in_its_time() -> None:
    async def work() -> None:
        loop = asyncio.get_running_loop()
        timeouts, later, sooner = Timeouts(loop), loop.create_future(), loop.create_future()
        timeouts.begin(Source(), later, 4 * SHORT)
        timeouts.begin(Source(), sooner, SHORT)
        assert SHORT <= await failed_after(sooner) < 3 * SHORT
        assert not later.done()
        await failed_after(later)

    in_a_loop(work)


def test_what_is_still_heard_of_is_waited_for_from_then_on() -> None:
    async def work() -> None:
        loop = asyncio.get_running_loop()
        timeouts, awaited, source = Timeouts(loop), loop.create_future(), Source()
        timeouts.begin(source, awaited, 2 * SHORT)
        for _ in range(6):
            await asyncio.sleep(SHORT)
            source.speaks()
            assert not awaited.done()
        assert SHORT < await failed_after(awaited) < 4 * SHORT

    in_a_loop(work)


def test_what_has_ended_fails_no_more() -> None:
    async def work() -> None:
        loop = asyncio.get_running_loop()
        timeouts, ended, failed, source = (
            Timeouts(loop),
            loop.create_future(),
            loop.create_future(),
            Source(),
        )
        timeouts.begin(source, ended, SHORT)
        timeouts.begin(Source(), failed, 2 * SHORT)
        timeouts.begin(Source(), ended, None)
        timeouts.end(source)
        await failed_after(failed)
        assert not ended.done()

    in_a_loop(work)


def test_nothing_fails_when_all_is_closed() -> None:
    async def work() -> None:
        loop = asyncio.get_running_loop()
        timeouts, awaited = Timeouts(loop), loop.create_future()
        timeouts.close()
        timeouts.begin(Source(), awaited, SHORT)
        timeouts.close()
        await asyncio.sleep(3 * SHORT)
        assert not awaited.done()

    in_a_loop(work)


def test_what_comes_in_the_round_in_which_time_is_up_is_heard() -> None:
    """The loop was busy for so long that reply and timer are due in the same round of it."""

    async def work() -> None:
        loop = asyncio.get_running_loop()
        timeouts, awaited, source = Timeouts(loop), loop.create_future(), Source()
        here, there = socket.socketpair()
        with here, there:
            timeouts.begin(source, awaited, SHORT)
            loop.add_reader(here, source.speaks)
            time.sleep(2 * SHORT)  # noqa: ASYNC251 -- the loop is to be busy
            there.send(b"x")
            for _ in range(3):
                await asyncio.sleep(0)
            assert not awaited.done()
            loop.remove_reader(here)
            await failed_after(awaited)

    in_a_loop(work)


def test_thousands_of_waits_have_one_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        loop = asyncio.get_running_loop()
        timers, timeouts = timers_of(loop, monkeypatch), Timeouts(loop)
        for _ in range(3000):
            source = Source()
            timeouts.begin(source, loop.create_future(), LONG)
            timeouts.end(source)
        assert len(timers) == 1
        timeouts.close()

    in_a_loop(work)


def test_calls_make_no_timer_of_their_own(
    ferry_sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        async with (
            DefaultAioHttpClient(max_connections=4) as http,
            AsyncFerry(
                ferry_sandbox.token, base_url=ferry_sandbox.base_url, http_client=http
            ) as ferry,
        ):
            await asyncio.gather(*(ferry.catalogue.ports() for _ in range(4)))
            timers = timers_of(asyncio.get_running_loop(), monkeypatch)
            await asyncio.gather(*(ferry.catalogue.ports() for _ in range(40)))
            # One for the turns, whose time is shorter than that of the replies before.
            assert len(timers) <= 2

    in_a_loop(work)


def test_turns_are_given_in_the_order_in_which_they_were_asked_for() -> None:
    async def work() -> None:
        loop = asyncio.get_running_loop()
        turns, order = Limiter(2, Timeouts(loop), loop), list[int]()

        async def one(number: int) -> None:
            await turns.take(LONG)
            order.append(number)
            await asyncio.sleep(0)
            turns.give_back()

        await asyncio.gather(*(one(number) for number in range(50)))
        assert order == [*range(50)]
        assert turns.has_free

    in_a_loop(work)


def test_a_turn_that_does_not_come_in_time_is_given_to_the_next() -> None:
    async def work() -> None:
        loop = asyncio.get_running_loop()
        turns = Limiter(1, Timeouts(loop), loop)
        await turns.take(None)
        patient = asyncio.create_task(turns.take(LONG))
        with pytest.raises(TimeoutError):
            await turns.take(SHORT)
        turns.give_back()
        await patient
        assert not turns.has_free
        turns.give_back()
        assert turns.has_free

    in_a_loop(work)


def test_a_turn_that_comes_in_the_round_in_which_time_is_up_is_taken() -> None:
    async def work() -> None:
        loop = asyncio.get_running_loop()
        failures: list[object] = []
        loop.set_exception_handler(lambda _, context: failures.append(context))
        turns = Limiter(1, Timeouts(loop), loop)
        await turns.take(None)
        taking = asyncio.create_task(turns.take(SHORT))
        await asyncio.sleep(0)
        loop.call_later(SHORT / 2, turns.give_back)
        time.sleep(2 * SHORT)  # noqa: ASYNC251 -- both are due when the loop goes on
        await taking
        assert failures == []

    in_a_loop(work)


def test_who_waits_in_vain_is_forgotten() -> None:
    async def work() -> None:
        loop = asyncio.get_running_loop()
        turns = Limiter(1, Timeouts(loop), loop)
        await turns.take(None)
        futures: list[weakref.ref[Any]] = []
        create_future = loop.create_future

        def noted() -> asyncio.Future[None]:
            future: asyncio.Future[None] = create_future()
            futures.append(weakref.ref(future))
            return future

        loop.create_future = noted  # type: ignore[method-assign]  # it is this test's own
        for _ in range(3):
            with pytest.raises(TimeoutError):
                await turns.take(SHORT / 10)
        gc.collect()
        assert sum(future() is not None for future in futures) < 2  # the last error holds its own

    in_a_loop(work)


class Crowd:
    """Tasks that want turns, and hold those that they were given."""

    def __init__(self, turns: Limiter) -> None:
        self.turns = turns
        self.held = 0
        self.tasks: list[asyncio.Task[None]] = []

    async def take(self, _: int) -> None:
        self.tasks.append(asyncio.create_task(self._one()))

    async def cancel(self, whom: int) -> None:
        if self.tasks:
            self.tasks[whom % len(self.tasks)].cancel()

    async def give_back(self, _: int) -> None:
        if self.held:
            self.held -= 1
            self.turns.give_back()

    async def go_on(self, _: int) -> None:
        await asyncio.sleep(0)

    async def leave(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        while self.held:
            await self.give_back(0)

    async def _one(self) -> None:
        await self.turns.take(LONG)
        self.held += 1


ACTS = st.tuples(
    st.sampled_from([Crowd.take, Crowd.cancel, Crowd.give_back, Crowd.go_on]), st.integers(0, 9)
)


@settings(max_examples=100)
@given(st.lists(ACTS, max_size=40), st.integers(1, 3))
def test_no_turn_is_lost_or_given_twice(acts: list[tuple[Any, int]], most: int) -> None:
    """Whoever is cancelled, even in the moment in which it was given its turn."""

    async def work() -> None:
        loop = asyncio.get_running_loop()
        turns = Limiter(most, Timeouts(loop), loop)
        crowd = Crowd(turns)
        for act, whom in acts:
            await act(crowd, whom)
            assert crowd.held <= most
        await crowd.leave()
        for _ in range(most):
            assert turns.has_free
            await turns.take(None)
        assert not turns.has_free

    in_a_loop(work)


def test_a_turn_that_does_not_come_is_told_as_not_sent(ferry_sandbox: Sandbox) -> None:
    async def work() -> None:
        async with (
            DefaultAioHttpClient(max_connections=1) as http,
            AsyncFerry(
                ferry_sandbox.token,
                base_url=ferry_sandbox.base_url,
                http_client=http,
                max_retries=0,
            ) as ferry,
        ):
            pool = await http._pool()
            await pool._limiter.take(None)
            with pytest.raises(RequestTimeoutError) as caught:
                await ferry.with_options(timeout=SHORT).catalogue.ports()
            assert caught.value.outcome == "not_sent"
            pool._limiter.give_back()
            assert await ferry.catalogue.ports()

    in_a_loop(work)


def test_who_reads_slowly_gets_what_came_in_time() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\na")
        await asyncio.sleep(SHORT)
        writer.write(b"b")
        writer.close()

    async def work() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with server, DefaultAioHttpClient() as http:
            limits = (LONG, 4 * SHORT, LONG, LONG)
            reply = await http.send(http.build_request("GET", address, timeout=limits))
            pieces = reply.aiter_raw()
            assert await anext(pieces) == b"a"
            await asyncio.sleep(8 * SHORT)
            assert await anext(pieces) == b"b"
            await reply.aclose()

    in_a_loop(work)
