"""Timeouts that share a timer, and the limit of connections."""

from __future__ import annotations

import asyncio
import gc
import math
import socket
import weakref
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferry_sdk import AsyncFerry, DefaultAioHttpClient, RequestTimeoutError
from ferry_sdk._transport.aiohttp_client.pool import Limiter, Timeouts
from tests.support.virtual_time import VirtualTimeLoop, run_in_virtual_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferry_sdk.sandbox import Sandbox

LONG = 60.0
SHORT = 0.05


class Source:
    """A source of data."""

    def __init__(self) -> None:
        self.last_activity = -math.inf

    def receive(self) -> None:
        self.last_activity = asyncio.get_running_loop().time()


def run_in_loop(work: Callable[[], Any]) -> Any:
    return asyncio.run(work())


def record_timers(loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return a list of the times for which the loop makes timers from now on."""
    made: list[float] = []
    call_at = loop.call_at

    def counted(when: float, *arguments: Any, **options: Any) -> asyncio.TimerHandle:
        made.append(when)
        return call_at(when, *arguments, **options)

    monkeypatch.setattr(loop, "call_at", counted)
    return made


async def seconds_until_failure(awaited: asyncio.Future[None]) -> float:
    loop = asyncio.get_running_loop()
    began = loop.time()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.shield(awaited), 5)
    return loop.time() - began


def test_a_wait_fails_after_its_timeout() -> None:
    async def work(loop: VirtualTimeLoop) -> None:
        timeouts, later, sooner = Timeouts(loop), loop.create_future(), loop.create_future()
        timeouts.begin(Source(), later, 4 * SHORT)
        timeouts.begin(Source(), sooner, SHORT)
        assert SHORT <= await seconds_until_failure(sooner) < 3 * SHORT
        assert not later.done()
        await seconds_until_failure(later)

    run_in_virtual_time(work)


def test_activity_restarts_a_timeout() -> None:
    async def work(loop: VirtualTimeLoop) -> None:
        timeouts, awaited, source = Timeouts(loop), loop.create_future(), Source()
        timeouts.begin(source, awaited, 2 * SHORT)
        for _ in range(6):
            await asyncio.sleep(SHORT)
            source.receive()
            assert not awaited.done()
        assert SHORT < await seconds_until_failure(awaited) < 4 * SHORT

    run_in_virtual_time(work)


def test_a_wait_that_has_ended_does_not_fail() -> None:
    async def work(loop: VirtualTimeLoop) -> None:
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
        await seconds_until_failure(failed)
        assert not ended.done()

    run_in_virtual_time(work)


def test_closed_timeouts_fail_nothing() -> None:
    async def work(loop: VirtualTimeLoop) -> None:
        timeouts, awaited = Timeouts(loop), loop.create_future()
        timeouts.close()
        timeouts.begin(Source(), awaited, SHORT)
        timeouts.close()
        await asyncio.sleep(3 * SHORT)
        assert not awaited.done()

    run_in_virtual_time(work)


def test_data_of_the_iteration_in_which_a_timeout_expires_counts() -> None:
    """The loop was busy so long that data and timer are due in the same iteration."""

    async def work(loop: VirtualTimeLoop) -> None:
        timeouts, awaited, source = Timeouts(loop), loop.create_future(), Source()
        here, there = socket.socketpair()
        with here, there:
            timeouts.begin(source, awaited, SHORT)
            loop.add_reader(here, source.receive)
            loop.advance(2 * SHORT)  # the loop was busy
            there.send(b"x")
            for _ in range(3):
                await asyncio.sleep(0)
            assert not awaited.done()
            loop.remove_reader(here)
            await seconds_until_failure(awaited)

    run_in_virtual_time(work)


def test_thousands_of_waits_share_one_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(loop: VirtualTimeLoop) -> None:
        timers, timeouts = record_timers(loop, monkeypatch), Timeouts(loop)
        for _ in range(3000):
            source = Source()
            timeouts.begin(source, loop.create_future(), LONG)
            timeouts.end(source)
        assert len(timers) == 1
        timeouts.close()

    run_in_virtual_time(work)


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
            timers = record_timers(asyncio.get_running_loop(), monkeypatch)
            await asyncio.gather(*(ferry.catalogue.ports() for _ in range(40)))
            # One for the limiter, whose timeout is shorter than that of the replies before.
            assert len(timers) <= 2

    run_in_loop(work)


def test_permits_are_given_in_order_of_arrival() -> None:
    async def work(loop: VirtualTimeLoop) -> None:
        limiter, order = Limiter(2, Timeouts(loop), loop), list[int]()

        async def one(number: int) -> None:
            await limiter.take(LONG)
            order.append(number)
            await asyncio.sleep(0)
            limiter.give_back()

        await asyncio.gather(*(one(number) for number in range(50)))
        assert order == [*range(50)]
        assert limiter.has_free

    run_in_virtual_time(work)


def test_a_permit_that_comes_too_late_goes_to_the_next_waiter() -> None:
    async def work(loop: VirtualTimeLoop) -> None:
        limiter = Limiter(1, Timeouts(loop), loop)
        await limiter.take(None)
        patient = asyncio.create_task(limiter.take(LONG))
        with pytest.raises(TimeoutError):
            await limiter.take(SHORT)
        limiter.give_back()
        await patient
        assert not limiter.has_free
        limiter.give_back()
        assert limiter.has_free

    run_in_virtual_time(work)


def test_a_permit_of_the_iteration_in_which_a_timeout_expires_is_taken() -> None:
    async def work(loop: VirtualTimeLoop) -> None:
        failures: list[object] = []
        loop.set_exception_handler(lambda _, context: failures.append(context))
        limiter = Limiter(1, Timeouts(loop), loop)
        await limiter.take(None)
        taking = asyncio.create_task(limiter.take(SHORT))
        await asyncio.sleep(0)
        loop.call_later(SHORT / 2, limiter.give_back)
        loop.advance(2 * SHORT)  # the loop was busy
        await taking
        assert failures == []

    run_in_virtual_time(work)


def test_a_waiter_whose_timeout_expired_is_forgotten() -> None:
    async def work(loop: VirtualTimeLoop) -> None:
        limiter = Limiter(1, Timeouts(loop), loop)
        await limiter.take(None)
        futures: list[weakref.ref[Any]] = []
        create_future = loop.create_future

        def recorded() -> asyncio.Future[None]:
            future: asyncio.Future[None] = create_future()
            futures.append(weakref.ref(future))
            return future

        loop.create_future = recorded  # type: ignore[method-assign]  # it is this test's own
        for _ in range(3):
            with pytest.raises(TimeoutError):
                await limiter.take(SHORT / 10)
        gc.collect()
        assert sum(future() is not None for future in futures) < 2  # the last error holds its own

    run_in_virtual_time(work)


class Callers:
    """Tasks that wait for permits, and hold them."""

    def __init__(self, limiter: Limiter) -> None:
        self.limiter = limiter
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
            self.limiter.give_back()

    async def go_on(self, _: int) -> None:
        await asyncio.sleep(0)

    async def leave(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        while self.held:
            await self.give_back(0)

    async def _one(self) -> None:
        await self.limiter.take(LONG)
        self.held += 1


ACTS = st.tuples(
    st.sampled_from([Callers.take, Callers.cancel, Callers.give_back, Callers.go_on]),
    st.integers(0, 9),
)


@given(st.lists(ACTS, max_size=40), st.integers(1, 3))
def test_no_permit_is_lost_or_given_twice(acts: list[tuple[Any, int]], most: int) -> None:
    """Also if a task is cancelled in the moment in which it gets its permit."""

    async def work(loop: VirtualTimeLoop) -> None:
        limiter = Limiter(most, Timeouts(loop), loop)
        callers = Callers(limiter)
        for act, whom in acts:
            await act(callers, whom)
            assert callers.held <= most
        await callers.leave()
        for _ in range(most):
            assert limiter.has_free
            await limiter.take(None)
        assert not limiter.has_free

    run_in_virtual_time(work)


def test_a_call_without_a_permit_was_not_sent(ferry_sandbox: Sandbox) -> None:
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

    run_in_loop(work)


def test_a_slow_reader_gets_data_that_arrived_in_time() -> None:
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
            limits = (LONG, 1.0, LONG, LONG)
            reply = await http.send(http.build_request("GET", address, timeout=limits))
            pieces = reply.aiter_raw()
            assert await anext(pieces) == b"a"
            await asyncio.sleep(1.2)
            assert await anext(pieces) == b"b"
            await reply.aclose()

    run_in_loop(work)
