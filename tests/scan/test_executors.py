"""The parts of a scan in the workers of an executor."""

from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial

import pytest

from ferry_sdk import AuthenticationError, InvalidInputError
from tests.scan.season import SIZE, check_rows
from tests.support.exchanges import caught


class Executor(ThreadPoolExecutor):
    """Threads that count the tasks under way, and may lose one of them.

    Attributes:
        tasks: The tasks.
        most: The most tasks that were under way at the same time.
        lost: The number of the task that is lost, from 1; None: none.
    """

    def __init__(self, *, lost=None):
        super().__init__(4)
        self.tasks, self.most, self.lost = [], 0, lost

    def submit(self, *work, **more):
        future = super().submit(*work, **more)
        self.tasks.append(future)
        if len(self.tasks) == self.lost:
            future.result()
            future = Future()
            future.set_exception(BrokenProcessPool("a child process terminated abruptly"))
        self.most = max(self.most, sum(not task.done() for task in self.tasks))
        return future


@pytest.mark.slow
def test_executor_gets_a_task_for_each_worker(scan, make_client, folder):
    with Executor() as executor:
        assert scan.run(make_client, executor=executor, workers=1).is_complete
    assert (len(executor.tasks), executor.most) == (2, 1)
    assert executor.tasks[0].result().change.size == 0
    check_rows(folder)


def test_run_goes_on_after_a_killed_worker(scan, make_client, ferry_sandbox, folder):
    with (
        Executor(lost=1) as executor,
        pytest.raises(BrokenProcessPool, match="run the scan again with a new executor"),
    ):
        scan.run(make_client, executor=executor, workers=1)
    with Executor() as executor:
        assert scan.run(make_client, executor=executor).is_complete
    assert ferry_sandbox.counters.requests["availability.search"] == SIZE
    check_rows(folder)


def test_error_of_a_worker_is_raised(scan, make_client):
    other = partial(make_client.func, "other", **make_client.keywords)
    with Executor() as executor:
        caught(AuthenticationError, scan.run, other, executor=executor)


def test_executor_needs_a_function(scan, make_client):
    with Executor() as executor:
        refused = caught(InvalidInputError, scan.run, make_client(), executor=executor)
    assert refused.field == "client"


def test_function_that_makes_no_client_is_refused(scan):
    with pytest.raises(InvalidInputError, match="client: expected a client"):
        scan.run(lambda: None)
