"""Work done in a fork of this process, and what it tells."""

import multiprocessing

from tests.backend.gathering import LONG

FORK = multiprocessing.get_context("fork")


class Child:
    """A fork of this process that does some work and ends; its result has to pickle."""

    def __init__(self, work):
        self._told, telling = FORK.Pipe(duplex=False)

        def tell():
            try:
                told = (True, work())
            except BaseException as error:  # noqa: BLE001 -- it is the parent's to judge
                told = (False, repr(error))
            telling.send(told)

        self._process = FORK.Process(target=tell)
        self._process.start()
        telling.close()

    def result(self):
        if not self._told.poll(LONG):
            self._process.kill()
            raise AssertionError("the child hangs")
        is_good, result = self._told.recv()
        assert is_good, result
        self._process.join(LONG)
        assert self._process.exitcode == 0
        return result
