"""Run the parts of a scan: in one event loop, or in the workers of an executor.

A part is asked by one event loop, `concurrency` searches at the same time, and written by a thread
beside it. Embedded, the next parts begin when the searches of the first have all begun, so that
no connection waits for the end of a part. An executor gets one part a task, and not more tasks
than it has workers: what a killed process leaves in a queue would be asked twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncGenerator,
    Callable,
    Collection,
    Iterator,
    Sequence,
)
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import asynccontextmanager
from contextvars import copy_context
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import partial
from typing import Any, Final, TypeVar

from anyio.from_thread import start_blocking_portal

from ferry_sdk._engine.effects import Signal
from ferry_sdk.client import AsyncFerry, Ferry, transport_of, view_of
from ferry_sdk.errors import (
    ConnectionFailedError,
    FerryError,
    InvalidInputError,
    NoSailingsError,
)
from ferry_sdk.planning.catalogues import POINTLESS
from ferry_sdk.planning.routes import Route
from ferry_sdk.scan.parts import Part, read_done, write_part
from ferry_sdk.scan.report import ScanReport
from ferry_sdk.scan.request import ScanRequest
from ferry_sdk.scan.searches import CompanyRoute, Search
from ferry_sdk.scan.tables import Answer

T = TypeVar("T")
AnyClient = Ferry | AsyncFerry
MakeClient = Callable[[], AnyClient]

_MOMENT: Final = 0.5
"""Seconds between two looks at the progress; only a short wait always sees Ctrl-C."""


@dataclass(frozen=True, slots=True)
class PartResult:
    """What came of a part.

    Attributes:
        change: The answers that are new.
        error: An error that every other search would meet as well.
        unreachable: The first error, where no search has reached the service.
    """

    change: ScanReport
    error: FerryError | None = None
    unreachable: FerryError | None = None


Task = Future[PartResult]


class PartRunner:
    """Asks parts with one client in one event loop.

    Args:
        client: The client.
        concurrency: The most searches at the same time.
    """

    def __init__(self, client: AnyClient, concurrency: int) -> None:
        self._stop = Signal()
        self._client = client
        if isinstance(client, Ferry):
            transport: Any = transport_of(client)
            self._client = view_of(client, transport.view(transport.settings, self._stop))
        self._slots = asyncio.Semaphore(concurrency)
        self._calls: set[asyncio.Task[Answer]] = set()
        self._writer = ThreadPoolExecutor(1, "ferry-scan-files")
        self._threads = ThreadPoolExecutor(concurrency, "ferry-scan")
        self._error: FerryError | None = None

    async def run(self, part: Part) -> PartResult:
        """Ask the searches of a part that are not done, and write its file.

        Raises:
            OSError: The file could not be written.
        """
        done = await self._in_thread(self._writer, read_done, part.path, part.scan)
        calls = [
            asyncio.ensure_future(self._ask(one)) for one in part.searches if one.key not in done
        ]
        self._calls.update(calls)
        if self._stop.is_set:
            self.stop()
        answers: list[Answer] = []
        for one in await asyncio.gather(*calls, return_exceptions=True):
            if isinstance(one, Answer):
                answers.append(one)
            elif not isinstance(one, asyncio.CancelledError):
                raise one
        self._calls.difference_update(calls)
        change = ScanReport()
        if answers:
            change = await self._in_thread(self._writer, write_part, part, done, answers)
        lost = [one.error for one in answers if isinstance(one.error, ConnectionFailedError)]
        unreachable = lost[0] if lost and len(lost) == len(answers) else None
        return PartResult(change, self._error, unreachable)

    def stop(self) -> None:
        """Ask no more. Parts that are under way are written with the answers that they have."""
        self._stop.set()
        for call in self._calls - {asyncio.current_task()}:
            call.cancel()

    def close(self) -> None:
        """End the threads, and the calls that they make."""
        self._stop.set()
        self._threads.shutdown(cancel_futures=True)
        self._writer.shutdown()

    async def _ask(self, search: Search) -> Answer:
        async with self._slots:
            asked_at = datetime.now(timezone.utc)
            try:
                found = await self._call(self._client.availability.search, **search.arguments)
            except FerryError as error:
                if self._stop.is_set and not isinstance(error, NoSailingsError):
                    raise asyncio.CancelledError from None
                if isinstance(error, POINTLESS) and self._error is None:
                    self._error = error
                    self.stop()
                return Answer(search, asked_at, error=error)
            return Answer(search, asked_at, found)

    async def look_up(self, request: ScanRequest | None) -> tuple[str, list[Route]]:
        """Return the service's address, and the routes of a request, if there is one."""
        routes: list[Route] = []
        ends: Sequence[Any] = () if request is None else request.routes
        for one in [(None, None)] if ends == "all" else ends:
            if isinstance(one, Route):
                routes.append(one)
                continue
            found = await self._call(self._client.routes.find, *one)
            if not found:
                places = " to ".join(map(str, one))
                raise InvalidInputError(f"no company sails from {places}", field="routes")
            routes += found
        return transport_of(self._client).settings.base_url, routes

    async def _call(self, function: Callable[..., Any], *args: object, **kwargs: object) -> Any:  # noqa: ANN401 -- of either client
        """Call a method of the client, in a thread if the client is a sync one."""
        if isinstance(self._client, AsyncFerry):
            return await function(*args, **kwargs)
        call = self._in_thread(self._threads, function, *args, **kwargs)
        try:
            return await asyncio.shield(call)
        except asyncio.CancelledError:
            self._stop.set()
            return await call  # the answer, if there is one already

    @staticmethod
    def _in_thread(
        threads: Executor, function: Callable[..., T], *args: object, **kwargs: object
    ) -> asyncio.Future[T]:
        in_context = partial(copy_context().run, function, *args, **kwargs)
        return asyncio.get_running_loop().run_in_executor(threads, in_context)


@asynccontextmanager
async def _open_runner(
    given: AnyClient | MakeClient, concurrency: int
) -> AsyncGenerator[PartRunner, None]:
    """Open a runner for the block, and close a client that was made for it."""
    client: Any = given if isinstance(given, AnyClient) else given()
    if not isinstance(client, AnyClient):
        raise InvalidInputError("expected a client, or a function that makes one", field="client")
    runner = PartRunner(client, concurrency)
    try:
        yield runner
    finally:
        runner.close()
        if isinstance(client, AsyncFerry):
            transport: Any = transport_of(client)
            await (transport.close_loop() if client is given else client.aclose())
        elif client is not given:
            client.close()


def look_up(
    given: AnyClient | MakeClient, request: ScanRequest | None
) -> tuple[str, list[CompanyRoute]]:
    """Return the address of a client's service, and the routes of a request, if there is one.

    Raises:
        InvalidInputError: No company sails a route, or none is known; `field` names it.
        FerryError: The catalogues could not be read.
    """
    with (
        start_blocking_portal("asyncio") as portal,
        portal.wrap_async_context_manager(_open_runner(given, 1)) as runner,
    ):
        task = portal.start_task_soon(runner.look_up, request)
        while not wait([task], _MOMENT).done:
            pass
        base_url, routes = task.result()
    return base_url, [] if request is None else request.company_routes(routes)


def run_here(
    client: AnyClient | MakeClient,
    concurrency: int,
    parts: Iterator[Part],
    take: Callable[[PartResult], object],
    show: Callable[[], object],
) -> None:
    """Run the parts in an event loop in a thread: a notebook has one of its own already."""
    with (
        start_blocking_portal("asyncio") as portal,
        portal.wrap_async_context_manager(_open_runner(client, concurrency)) as runner,
    ):

        def stop(tasks: Collection[Task]) -> None:
            portal.call(runner.stop)
            wait(tasks)

        submit = partial(portal.start_task_soon, runner.run)
        _run(submit, stop, lambda part: 2 + concurrency // len(part.searches), parts, take, show)


def run_with_executor(
    executor: Executor,
    make_client: MakeClient,
    workers: int,
    concurrency: int,
    parts: Iterator[Part],
    take: Callable[[PartResult], object],
    show: Callable[[], object],
) -> None:
    """Run the parts as tasks of an executor, `workers` at the same time.

    Raises:
        BrokenExecutor: A worker was killed.
    """

    def stop(tasks: Collection[Task]) -> None:
        # What Dask cancels is never done; such a part is dropped.
        wait([one for one in tasks if not one.cancel()])

    def submit(part: Part) -> Task:
        return executor.submit(run_part, make_client, concurrency, part)

    try:
        _run(submit, stop, lambda _: workers, parts, take, show)
    except BrokenExecutor as error:
        raise type(error)(
            "a worker of the executor ended abruptly; what is written stays: run the scan again "
            "with a new executor"
        ) from error


def _run(
    submit: Callable[[Part], Task],
    stop: Callable[[Collection[Task]], None],
    limit: Callable[[Part], int],
    parts: Iterator[Part],
    take: Callable[[PartResult], object],
    show: Callable[[], object],
) -> None:
    """Submit the parts, and take the result of each.

    Args:
        submit: Begins a part.
        stop: Ends the parts that are under way, after an error or Ctrl-C.
        limit: Returns how many parts may be under way.
        parts: The parts.
        take: Takes a result.
        show: Shows the progress; called twice a second and after each part.
    """
    tasks: set[Task] = set()
    try:
        for part in parts:
            tasks.add(submit(part))
            while len(tasks) >= limit(part):
                tasks = _take_next(tasks, take, show)
        while tasks:
            tasks = _take_next(tasks, take, show)
    except BaseException:
        stop(tasks)
        raise


def _take_next(
    tasks: set[Task], take: Callable[[PartResult], object], show: Callable[[], object]
) -> set[Task]:
    """Wait for a part, and return those that are still under way."""
    done, rest = wait(tasks, _MOMENT, FIRST_COMPLETED)
    for one in done:
        take(one.result())
    show()
    return rest


def run_part(make_client: MakeClient, concurrency: int, part: Part) -> PartResult:
    """Ask the searches of a part in a worker."""

    async def run() -> PartResult:
        async with _open_runner(make_client, concurrency) as runner:
            return await runner.run(part)

    return asyncio.run(run())
