"""Run the parts of a scan: with a client here, or in the workers of an executor.

With a client here, `PartRunner` asks all searches as one batch, `concurrency` of them at the same
time:

1. It begins parts: it reads which searches of a part are done, and adds the others to the batch. It
   stops when enough searches wait, so that no connection is idle while a part ends.
2. It takes an answer, and adds its rows to those of its part.
3. When the last search of a part is answered, it writes the part's file and yields a `PartResult`.

At an interruption it writes the parts that have begun, with the answers that they have.

An executor gets one part a task, and not more tasks than it has workers: if the process is killed,
tasks that are left in a queue would ask the same searches as the next run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

from ferry_sdk._engine.batch import Batch, BatchAnswer, StopBatch, next_answer
from ferry_sdk._engine.effects import Flow, Item, RunBlocking, Steps
from ferry_sdk._engine.settings import Settings
from ferry_sdk.errors import ConnectionFailedError, FerryError, NoSailingsError
from ferry_sdk.models.availability import Availability
from ferry_sdk.models.records import Records
from ferry_sdk.planning.catalogues import POINTLESS
from ferry_sdk.resources.availability import AvailabilityGroup
from ferry_sdk.scan.parts import Part, read_done, write_part
from ferry_sdk.scan.report import ScanReport
from ferry_sdk.scan.searches import Search
from ferry_sdk.scan.steps import SHORT_WAIT, AnyClient, MakeClient, run_steps
from ferry_sdk.scan.tables import Rows

_Answer = BatchAnswer[tuple["_BegunPart", Search], Records[Availability]]


@dataclass(frozen=True, slots=True)
class PartResult:
    """The outcome of a part.

    Attributes:
        change: The counts of the new answers.
        unreachable: The first error, if no search has reached the service; else None.
    """

    change: ScanReport
    unreachable: FerryError | None = None


@dataclass(slots=True, eq=False)
class _BegunPart:
    """A part whose searches are asked.

    Attributes:
        part: The part.
        done: The rows of the searches that were done before, a pyarrow.Table.
        missing: The other searches.
        rows: The rows of their answers so far. They and their table are made in the thread that
            takes the answers: a second thread that runs Python code would slow the calls down.
        failures: The errors of the searches that did not reach the service.
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
        if len(self.failures) == self.rows.answers:
            return PartResult(change, unreachable=self.failures[0])
        return PartResult(change)

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
            raise  # a closed generator cannot yield
        except BaseException:
            yield from self.stop(settings)
            raise

    def stop(self, settings: Settings) -> Flow[None]:
        """Ask no more, and write the parts that are under way with the answers that they have."""
        del settings
        yield from StopBatch(self._batch)

        # Calls that have ended give their answer; a deadline in the past leaves out the others.
        self._batch.until = 0.0
        for _ in [*self._batch.under_way]:
            try:
                answer = yield from next_answer(self._batch)
            except GeneratorExit:
                raise
            except BaseException:  # noqa: BLE001, S112 -- of a call that was cancelled
                continue
            # An error may come of the stop itself: such a search counts as not asked.
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
            missing = part.searches
            if keys:  # the keys of all searches take time, so a new part does without
                missing = [search for search in missing if search.key not in keys]

            begun = _BegunPart(part, done, missing)
            self._begun.append(begun)
            for search in begun.missing:
                self._ask(begun, search)
            yield from self._end_if_answered(begun)

    def _ask(self, begun: _BegunPart, search: Search) -> None:
        """Add a search to the batch. If its arguments are invalid, that is its answer."""
        key = begun, search
        try:
            call = AvailabilityGroup.search(None, **search.arguments)
        except FerryError as error:
            answer: _Answer = BatchAnswer(key, value=None, error=error, began_at=time.time())
            begun.add(search, answer)
        else:
            self._batch.add(key, call)

    def _take(self, answer: _Answer) -> Steps[PartResult]:
        """Add an answer to its part, and write the part if it was the last one."""
        begun, search = answer.key
        begun.add(search, answer)
        if isinstance(answer.error, POINTLESS):
            raise answer.error
        yield from self._end_if_answered(begun)

    def _end_if_answered(self, begun: _BegunPart) -> Steps[PartResult]:
        """Write a part, and yield its result, if all its searches are answered."""
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
    run_steps(client_or_maker, runner.steps, take, stop=runner.stop)


def run_part(make_client: MakeClient, concurrency: int, part: Part) -> PartResult:
    """Run a part in a worker."""
    results: list[PartResult] = []
    run_here(make_client, concurrency, iter([part]), take=results.append)
    return results[0]


def run_with_executor(
    executor: Executor,
    make_client: MakeClient,
    *,
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
            done, tasks = wait(tasks, SHORT_WAIT, FIRST_COMPLETED)
            for task in done:
                take(task.result())
    except BaseException as error:
        # A task of Dask that was cancelled is never done, so only the others are waited for.
        running = [task for task in tasks if not task.cancel()]
        wait(running)
        if isinstance(error, BrokenExecutor):
            raise type(error)(
                "a worker of the executor ended abruptly; what is written stays: run the scan "
                "again with a new executor"
            ) from error
        raise
