"""The faults of a service, and when each occurs.

A fault belongs to a phase of a request, which the class of its details says. The code that performs
a phase takes the pending fault for it, if there is one. The phases are, in this order:

1. `around` waits (`DelayBefore`).
2. `around` answers instead of the work (`RequestFault`), such as with a 503.
3. The service and its bookings do something else (`Refused`, `PriceChange`, `TicketFails`, …).
4. `reshape` changes the answer (`ValueFault`).
5. `around` waits (`DelayAfter`).
6. `around` damages the reply (`ReplyFault`), such as by cutting the connection.

A request takes at most one fault of each phase, the one requested first:

    faults.add("rate_limited", "catalogue.*", times=2)
    faults.add("delay_after", seconds=3)

The next two requests of a catalogue get a 429. Their work is not done, so the delay stays pending
for the request after them.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeVar

from pydantic import BaseModel, JsonValue
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import Unpack

from ferry_sdk.sandbox import request_context
from ferry_sdk.sandbox.faults.arguments import FaultDetails, FaultName
from ferry_sdk.sandbox.faults.details import Delay, DelayAfter, DelayBefore
from ferry_sdk.sandbox.faults.fault import Fault
from ferry_sdk.sandbox.faults.kinds import FaultKind
from ferry_sdk.sandbox.faults.reply_faults import ReplyFault, RequestFault
from ferry_sdk.sandbox.faults.value_faults import ValueFault

DetailsT = TypeVar("DetailsT", bound=BaseModel)


@dataclass(slots=True, eq=False)
class _Pending:
    """A fault that is pending.

    Attributes:
        left: How often it still occurs; infinite for always.
        passed: How many matching requests have passed before it first occurs.
    """

    fault: Fault
    left: float
    passed: int = 0


class Faults:
    """The faults that are pending and those that have occurred; thread-safe.

    Of several pending faults of one phase that match a request, the earliest one occurs and the
    others stay pending. Faults of different phases can occur in the same request.

    Example:
        ```python
        from ferry_sdk import Ferry
        from ferry_sdk.sandbox import Sandbox

        with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            sandbox.faults.add("rate_limited", "catalogue.*", times=2)
            print(len(sandbox.faults.pending), "pending")
            # > 1 pending
            sandbox.faults.clear()
            print(len(ferry.catalogue.ports()), "ports")
            # > 183 ports
        ```
    """

    def __init__(self, standing: Mapping[str, tuple[Fault, ...]] | None = None) -> None:
        """Make an empty collection.

        Args:
            standing: Faults that never end, by the id of the journey whose requests meet them.
                They are neither pending nor taken.
        """
        self._standing = standing or {}
        self._lock = threading.Lock()
        self._pending: list[_Pending] = []
        self._taken: list[Fault] = []

    def add(
        self,
        kind: FaultKind | FaultName | Fault,
        operation: str = "*",
        *,
        company: str | None = None,
        times: int | None = 1,
        after: int = 0,
        **details: Unpack[FaultDetails],
    ) -> Fault:
        """Request a fault.

        Args:
            kind: A `FaultKind` or its value; or a complete `Fault`, which is added as it is.
            operation: The operations; a pattern may contain `*`, `?` and `[…]`.
            company: Only searches of this company, as they name it.
            times: How often the fault occurs; `None` for always.
            after: How many matching requests pass first.
            **details: The details of the kind.

        Raises:
            InvalidOrderError: A field is unknown or has an invalid value; a `ValueError`.
        """
        if isinstance(kind, Fault):
            fault = kind
        else:
            request = {
                "kind": kind,
                "operation": operation,
                "company": company,
                "times": times,
                "after": after,
            }
            fault = Fault.read({**request, **details})

        with self._lock:
            self._pending.append(_Pending(fault, fault.times or math.inf))
        return fault

    def clear(self) -> None:
        """Remove all pending faults and forget those that occurred."""
        with self._lock:
            self._pending.clear()
            self._taken.clear()

    @property
    def pending(self) -> tuple[Fault, ...]:
        """The faults still pending, earliest first."""
        with self._lock:
            return tuple(pending.fault for pending in self._pending)

    @property
    def taken(self) -> tuple[Fault, ...]:
        """The faults that occurred, once for each time, earliest first."""
        return tuple(self._taken)

    def take(
        self,
        model: type[DetailsT],
        operation: str,
        applies: Callable[[DetailsT], bool] | None = None,
    ) -> DetailsT | None:
        """Return the details of the fault with this model that occurs now, if any.

        Args:
            model: The class of the details: the phase of the request.
            operation: The public name of the operation.
            applies: Tells whether a fault with these details would have an effect; one without
                stays pending. By default each has.
        """
        context = request_context.current()
        with self._lock:
            taken: _Pending | None = None
            taken_details: DetailsT | None = None
            for pending in (*self._pending, *self._standing_faults(context.journeys)):
                fault = pending.fault
                details = fault.details
                if not isinstance(details, model) or not fnmatchcase(operation, fault.operation):
                    continue
                if fault.company not in {None, context.company}:
                    continue

                # Also after one is taken, the others count the requests that pass.
                if pending.passed < fault.after:
                    pending.passed += 1
                elif taken is None and (applies is None or applies(details)):
                    taken = pending
                    taken_details = details

            if taken is not None:
                context.faults.append(taken.fault.kind.value)
                self._use_up(taken)
            return taken_details

    def _standing_faults(self, journey_ids: Iterable[str]) -> Iterator[_Pending]:
        for journey_id in journey_ids:
            for fault in self._standing.get(journey_id, ()):
                yield _Pending(fault, math.inf)

    def _use_up(self, pending: _Pending) -> None:
        """Note that a fault has occurred; a standing one is neither pending nor taken."""
        if pending not in self._pending:
            return
        self._taken.append(pending.fault)
        pending.left -= 1
        if pending.left == 0:
            self._pending.remove(pending)

    def reshape(self, operation: str, value: JsonValue) -> JsonValue:
        """Return the value that `operation` answers, changed by the fault that applies.

        A fault that would change nothing, because its field does not exist, stays pending.
        """

        def changes_value(details: ValueFault) -> bool:
            return details.reshape(value) != value

        fault = self.take(ValueFault, operation, changes_value)
        return value if fault is None else fault.reshape(value)

    async def around(
        self, operation: str, request: Request, produce: Callable[[], Awaitable[Response]]
    ) -> Response:
        """Answer a request and apply the faults that match it.

        The request is read completely first. `produce` does the work; it is not called if a fault
        answers before the work.
        """
        request.state.context = request_context.begin(operation, await request.body())

        await self._wait(DelayBefore, operation)
        if request_fault := self.take(RequestFault, operation):
            return request_fault.respond(request, Response())

        response = await produce()

        await self._wait(DelayAfter, operation)
        if reply_fault := self.take(ReplyFault, operation):
            return reply_fault.respond(request, response)
        return response

    async def _wait(self, model: type[Delay], operation: str) -> None:
        if delay := self.take(model, operation):
            await asyncio.sleep(delay.seconds)
