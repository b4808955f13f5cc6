"""The parts of a scan in the workers of an executor."""

from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial

import pytest

from ferry_sdk import AuthenticationError, InvalidInputError
from tests.scan.season import SIZE, check_rows
from tests.support.exchanges import caught


class Executor(ThreadPoolExecutor):
    """Threads that know the most tasks that were under way, and may lose one of them."""

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
        self.most = max(self.most, sum(not one.done() for one in self.tasks))
        return future


def test_an_executor_gets_a_part_a_task_and_no_more_than_it_has_workers(scan, make_client, folder):
    with Executor() as executor:
        assert scan.run(make_client, executor=executor, workers=1).is_complete
    assert (len(executor.tasks), executor.most) == (2, 1)
    assert executor.tasks[0].result().change.size == 0
    check_rows(folder)


def test_a_killed_worker_ends_the_run_and_the_next_is_on(scan, make_client, ferry_sandbox, folder):
    with (
        Executor(lost=1) as executor,
        pytest.raises(BrokenProcessPool, match="run the scan again with a new executor"),
    ):
        scan.run(make_client, executor=executor, workers=1)
    with Executor() as executor:
        assert scan.run(make_client, executor=executor).is_complete
    assert ferry_sandbox.counters.requests["availability.search"] == SIZE
    check_rows(folder)


def test_an_error_of_a_worker_comes_out_and_a_client_that_cannot_be_made_is_one(scan, make_client):
    other = partial(make_client.func, "other", **make_client.keywords)
    with Executor() as executor:
        caught(AuthenticationError, scan.run, other, executor=executor)
        refused = caught(InvalidInputError, scan.run, make_client(), executor=executor)
    assert refused.field == "client"
    with pytest.raises(InvalidInputError, match="client: expected a client"):
        scan.run(lambda: None)
