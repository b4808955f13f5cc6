"""Run the parts of a scan: with a client here, or in the workers of an executor.

The searches of the parts are one batch, `concurrency` of them at the same time, and a part is
written when its last search is answered. The next part is added before the batch is empty, so that
no connection waits for the end of a part. An executor gets one part a task, and not more tasks
than it has workers: what a killed process leaves in a queue would be asked twice.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import aclosing, closing, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

import anyio
from anyio import to_thread
from anyio.from_thread import start_blocking_portal

from ferry_sdk._engine.batch import Batch, BatchAnswer, StopBatch, next_answer
from ferry_sdk._engine.effects import Flow, Item, RunBlocking, Signal, Steps
from ferry_sdk._engine.settings import Settings
from ferry_sdk._transport.streams import Stop, stream, stream_async
from ferry_sdk.client import AsyncFerry, Ferry, transport_of
from ferry_sdk.errors import (
    ConnectionFailedError,
    FerryError,
    InvalidInputError,
    NoSailingsError,
)
from ferry_sdk.models.availability import Availability
from ferry_sdk.models.records import Records
from ferry_sdk.planning.catalogues import POINTLESS
from ferry_sdk.planning.groups import RoutesGroup
from ferry_sdk.planning.results import UnreadableAnswer, describe_unreadable
from ferry_sdk.planning.routes import Route
from ferry_sdk.resources.availability import AvailabilityGroup
from ferry_sdk.scan.parts import Part, read_done, write_part
from ferry_sdk.scan.report import ScanReport
from ferry_sdk.scan.request import ScanRequest
from ferry_sdk.scan.searches import CompanyRoute, Search
from ferry_sdk.scan.tables import Rows

T = TypeVar("T")
_Answer = BatchAnswer[tuple["_BegunPart", Search], Records[Availability]]
AnyClient = Ferry | AsyncFerry
MakeClient = Callable[[], AnyClient]

_MOMENT: Final = 0.5
"""Seconds of a wait; on Windows, only a short one sees Ctrl-C."""


@dataclass(frozen=True, slots=True)
class PartResult:
    """The outcome of a part.

    Attributes:
        change: The answers that are new.
        unreachable: The first error, where no search has reached the service.
    """

    change: ScanReport
    unreachable: FerryError | None = None


@dataclass(slots=True, eq=False)
class _BegunPart:
    """A part that is asked.

    Attributes:
        part: The part.
        done: The rows of the searches that were done before, a pyarrow.Table.
        missing: The other searches.
        rows: The rows of their answers so far. They and their table are made where the answers
            are taken, because a second thread that runs Python code slows the calls down.
        failures: Why searches did not reach the service.
    """

    part: Part
    done: Any
    missing: Sequence[Search]
    rows: Rows = field(default_factory=Rows)
    failures: list[FerryError] = field(default_factory=list[FerryError])

    def write(self) -> Flow[PartResult]:
        """Write the part with the answers that it has."""
        if not self.rows.answers:
            return PartResult(ScanReport())
        table = self.rows.table()
        change = yield from RunBlocking(partial(write_part, self.part, self.done, table))
        is_unreachable = len(self.failures) == self.rows.answers
        return PartResult(change, self.failures[0] if is_unreachable else None)

    def add(self, search: Search, answer: _Answer) -> None:
        """Add the rows of an answer."""
        self.rows.add(search, answer)
        if isinstance(answer.error, ConnectionFailedError):
            self.failures.append(answer.error)


class PartRunner:
    """Asks the searches of parts that are not done, and writes the files.

    Args:
        parts: The parts.
        concurrency: The most searches at the same time.
    """

    def __init__(self, parts: Iterator[Part], concurrency: int) -> None:
        self._parts = parts
        self._begun: list[_BegunPart] = []
        self._batch: Batch[tuple[_BegunPart, Search], Records[Availability]] = Batch(concurrency)

    def steps(self, settings: Settings) -> Steps[PartResult]:
        """Yield the effects, and the result of each part.

        Raises:
            FerryError: Every other search would fail as well.
            OSError: A file could not be written.
        """
        try:
            while True:
                yield from self._begin_parts()
                if not self._batch:
                    return
                answer = yield from next_answer(self._batch)
                if answer is not None:
                    yield from self._take(answer)
        except GeneratorExit:
            raise
        except BaseException:
            yield from self.stop(settings)
            raise

    def stop(self, settings: Settings) -> Flow[None]:
        """Ask no more, and write the parts that are under way with the answers that they have."""
        del settings
        yield from StopBatch(self._batch)
        self._batch.until = 0.0  # what has not ended is left
        for _ in [*self._batch.under_way]:
            try:
                answer = yield from next_answer(self._batch)
            except GeneratorExit:
                raise
            except BaseException:  # noqa: BLE001, S112 -- of a call that was cancelled
                continue
            if answer and (answer.error is None or isinstance(answer.error, NoSailingsError)):
                begun, search = answer.key
                begun.add(search, answer)
        while self._begun:
            with suppress(OSError):
                yield from self._begun.pop().write()

    def _begin_parts(self) -> Steps[PartResult]:
        """Add the next parts to the batch, unless enough calls wait in it."""
        while len(self._batch.waiting) < self._batch.limit:
            part = next(self._parts, None)
            if part is None:
                return
            done = yield from RunBlocking(partial(read_done, part.path, part.scan))
            keys = {*done["search"].to_pylist()}
            missing = [each for each in part.searches if not keys or each.key not in keys]
            begun = _BegunPart(part, done, missing)
            self._begun.append(begun)
            for search in begun.missing:
                self._ask(begun, search)
            yield from self._end_if_answered(begun)

    def _ask(self, begun: _BegunPart, search: Search) -> None:
        try:
            call = AvailabilityGroup.search(None, **search.arguments)
        except FerryError as error:
            begun.add(search, BatchAnswer((begun, search), None, error, time.time()))
        else:
            self._batch.add((begun, search), call)

    def _take(self, answer: _Answer) -> Steps[PartResult]:
        begun, search = answer.key
        begun.add(search, answer)
        if isinstance(answer.error, POINTLESS):
            raise answer.error
        yield from self._end_if_answered(begun)

    def _end_if_answered(self, begun: _BegunPart) -> Steps[PartResult]:
        if begun.rows.answers == len(begun.missing):
            result = yield from begun.write()
            self._begun.remove(begun)
            yield Item(result)


def run_here(
    client_or_maker: AnyClient | MakeClient,
    concurrency: int,
    parts: Iterator[Part],
    take: Callable[[PartResult], object],
) -> None:
    """Run the parts in this process."""
    runner = PartRunner(parts, concurrency)
    _perform(client_or_maker, runner.steps, take, runner.stop)


def run_part(make_client: MakeClient, concurrency: int, part: Part) -> PartResult:
    """Run a part in a worker."""
    results: list[PartResult] = []
    run_here(make_client, concurrency, iter([part]), results.append)
    return results[0]


class FoundRoutes(NamedTuple):
    """The routes of a request.

    Attributes:
        base_url: The address of the service.
        routes: The routes of each company.
        unreadable: How many records of each catalogue could not be read, so that routes may be
            missing. A catalogue that could not be read at all counts as one.
    """

    base_url: str
    routes: list[CompanyRoute]
    unreadable: Mapping[str, int]


def look_up(client_or_maker: AnyClient | MakeClient, request: ScanRequest | None) -> FoundRoutes:
    """Return the address of a client's service, and the routes of a request, if there is one.

    Raises:
        InvalidInputError: No company sails a route, or none is known; `field` names it.
        FerryError: The catalogues could not be read.
    """
    routes: list[Route] = []
    unreadable: list[UnreadableAnswer] = []
    ends: Sequence[Any] = () if request is None else request.routes

    def steps(settings: Settings) -> Steps[Sequence[Route]]:
        for ends_or_route in [(None, None)] if ends == "all" else ends:
            if isinstance(ends_or_route, Route):
                yield Item([ends_or_route])
                continue
            sailed_routes = yield from RoutesGroup.find(None, *ends_or_route).steps(settings)
            unreadable.extend(each for each in sailed_routes.unreadable if each not in unreadable)
            if not sailed_routes:
                places = " to ".join(map(str, ends_or_route))
                problem = f"no company sails from {places}"
                if unreadable:
                    lost = describe_unreadable(unreadable)
                    problem = f"no company is known to sail from {places}: {lost}"
                raise InvalidInputError(problem, field="routes")
            yield Item(sailed_routes)

    base_url = _perform(client_or_maker, steps, routes.extend)
    counts: Counter[str] = Counter()
    for answer in unreadable:
        counts[answer.operation] += len(answer.records) or 1
    company_routes = [] if request is None else request.company_routes(routes)
    return FoundRoutes(base_url, company_routes, dict(counts))


def _perform(
    client_or_maker: AnyClient | MakeClient,
    steps: Callable[[Settings], Steps[T]],
    take: Callable[[T], object],
    stop: Stop | None = None,
) -> str:
    """Perform steps with a client, take each item, and close a client that was made for it.

    Returns the address of its service.

    The steps have a thread, where an interruption loses no answer, and an async client an event
    loop: a notebook has one of its own already.
    """
    made: Any = client_or_maker if isinstance(client_or_maker, AnyClient) else client_or_maker()
    if not isinstance(made, AnyClient):
        raise InvalidInputError("expected a client, or a function that makes one", field="client")
    client: Any = made
    transport: Any = transport_of(made)
    interruption = Signal()

    def perform() -> None:
        view = transport.view(transport.settings, interruption)
        try:
            with closing(stream(view, steps(view.settings), stop)) as items:
                for item in items:
                    take(item)
        finally:
            if client is not client_or_maker:
                client.close()

    async def perform_async() -> None:
        try:
            async with aclosing(stream_async(transport, steps(transport.settings), stop)) as items:
                async for item in items:
                    take(item)
        finally:
            with anyio.CancelScope(shield=True):
                is_kept = client is client_or_maker
                await (transport.shared.close_loop() if is_kept else client.aclose())

    in_thread = partial(to_thread.run_sync, perform)
    with start_blocking_portal("asyncio") as portal:
        try:
            task = portal.start_task_soon(in_thread if isinstance(client, Ferry) else perform_async)
            while not wait([task], _MOMENT).done:
                pass
        except BaseException:
            interruption.set()
            raise
    task.result()
    return str(transport.settings.base_url)


def run_with_executor(
    executor: Executor,
    make_client: MakeClient,
    workers: int,
    concurrency: int,
    parts: Iterator[Part],
    take: Callable[[PartResult], object],
) -> None:
    """Run the parts as tasks of an executor, `workers` at the same time.

    Raises:
        BrokenExecutor: A worker was killed.
    """
    tasks: set[Future[PartResult]] = set()
    try:
        while True:
            for part in islice(parts, workers - len(tasks)):
                tasks.add(executor.submit(run_part, make_client, concurrency, part))
            if not tasks:
                return
            done, tasks = wait(tasks, _MOMENT, FIRST_COMPLETED)
            for task in done:
                take(task.result())
    except BaseException as error:
        # What Dask cancels is never done; such a part is dropped.
        wait([task for task in tasks if not task.cancel()])
        if isinstance(error, BrokenExecutor):
            raise type(error)(
                "a worker of the executor ended abruptly; what is written stays: run the scan "
                "again with a new executor"
            ) from error
        raise
