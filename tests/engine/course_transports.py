"""The real transports with the effects of a course: they send nothing and wait for nothing."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import httpx

from ferry_sdk._engine.effects import Exclusive, SingleFlight
from ferry_sdk._transport.async_ import AsyncTransport
from ferry_sdk._transport.sync import Transport
from tests.engine.courses import Cancelled
from tests.support.driven import SETTINGS

NOWHERE = httpx.MockTransport(lambda _: httpx.Response(500))


class CourseTransport(Transport):
    """The sync transport, with the effects of a course."""

    def __init__(self):
        super().__init__(SETTINGS, httpx.Client(transport=NOWHERE))
        self.course = None

    def outcome(self, course):
        """Return the result or the error of the call."""
        self.course = course
        try:
            return self._run_flow(course.steps())
        except BaseException as error:  # noqa: BLE001 -- it is the outcome
            return error

    def _perform(self, effect):
        if not isinstance(effect, Exclusive | SingleFlight):
            return self.course.perform(effect)
        had = self.course.meet(effect)
        return had[0] if had else super()._perform(effect)


class AsyncCourseTransport(AsyncTransport):
    """The async transport, with the effects of a course."""

    def __init__(self):
        super().__init__(SETTINGS, httpx.AsyncClient(transport=NOWHERE))
        self.course = None
        self.scope = anyio.CancelScope()

    async def outcome(self, course):
        """Return the result or the error of the call."""
        self.course = course
        with anyio.CancelScope() as self.scope:
            try:
                return await self._run_flow(course.steps())
            except anyio.get_cancelled_exc_class():
                raise
            except BaseException as error:  # noqa: BLE001 -- it is the outcome
                return error
        return Cancelled()

    async def _perform(self, effect):
        had = None
        try:
            if not isinstance(effect, Exclusive | SingleFlight):
                had = (self.course.perform(effect),)
            else:
                had = self.course.meet(effect)
        except Cancelled:
            self.scope.cancel()
        if self.scope.cancel_called:
            await anyio.lowlevel.checkpoint()
        return had[0] if had else await super()._perform(effect)
