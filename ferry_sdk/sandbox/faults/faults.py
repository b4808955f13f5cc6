"""The faults of a service, and when each occurs.

A fault belongs to a phase: delay, answer before the work, change of the value, damage to the
reply. A request takes at most one fault of each phase, the one requested first.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeVar

from pydantic import BaseModel, JsonValue
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import Unpack

from ferry_sdk.sandbox.faults import request_context
from ferry_sdk.sandbox.faults.arguments import FaultDetails, FaultName
from ferry_sdk.sandbox.faults.fault import Fault
from ferry_sdk.sandbox.faults.kinds import Delay, FaultKind
from ferry_sdk.sandbox.faults.reply_faults import ReplyFault, RequestFault
from ferry_sdk.sandbox.faults.value_faults import ValueFault

DetailsT = TypeVar("DetailsT", bound=BaseModel)


@dataclass(slots=True)
class _Pending:
    fault: Fault
    left: int | None
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
            head = {
                "kind": kind,
                "operation": operation,
                "company": company,
                "times": times,
                "after": after,
            }
            fault = Fault.read({**head, **details})
        with self._lock:
            self._pending.append(_Pending(fault, fault.times))
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
        with self._lock:
            return tuple(self._taken)

    def take(self, kind: FaultKind, operation: str) -> Fault | None:
        """Return the fault of this kind that occurs now for `operation`, if any."""
        return self._take(operation, lambda fault: fault.kind is kind)

    def take_details(
        self,
        model: type[DetailsT],
        operation: str,
        applies: Callable[[DetailsT], bool] = lambda _: True,
    ) -> DetailsT | None:
        """Return the details of the fault with this model that occurs now, if any.

        A fault that does not apply stays pending.
        """

        def fits(fault: Fault) -> bool:
            return isinstance(fault.details, model) and applies(fault.details)

        fault = self._take(operation, lambda fault: isinstance(fault.details, model), fits)
        return fault.details if fault is not None and isinstance(fault.details, model) else None

    def reshape(self, operation: str, value: JsonValue) -> JsonValue:
        """Return the value that `operation` answers, changed by the fault that applies.

        A fault that would change nothing, because its field does not exist, stays pending.
        """
        fault = self.take_details(
            ValueFault, operation, lambda details: details.reshape(value) != value
        )
        return value if fault is None else fault.reshape(value)

    async def around(
        self, operation: str, request: Request, produce: Callable[[], Awaitable[Response]]
    ) -> Response:
        """Answer a request and apply the faults that match it.

        The request is read completely first. `produce` does the work; it is not called if a fault
        answers before the work.
        """
        request_context.begin(await request.body())
        request.state.operation = operation
        request.state.faults = request_context.current().faults
        request.state.named = request_context.current().named
        await self._wait(FaultKind.DELAY_BEFORE, operation)
        if fault := self.take_details(RequestFault, operation):
            return fault.respond(request, Response())
        response = await produce()
        await self._wait(FaultKind.DELAY_AFTER, operation)
        if corruption := self.take_details(ReplyFault, operation):
            return corruption.respond(request, response)
        return response

    async def _wait(self, kind: FaultKind, operation: str) -> None:
        fault = self.take(kind, operation)
        if fault is not None and isinstance(fault.details, Delay):
            await asyncio.sleep(fault.details.seconds)

    def _take(
        self,
        operation: str,
        chosen: Callable[[Fault], bool],
        applies: Callable[[Fault], bool] = lambda _: True,
    ) -> Fault | None:
        context = request_context.current()

        def matches(fault: Fault) -> bool:
            is_meant = fault.company in {None, context.company}
            return is_meant and chosen(fault) and fnmatchcase(operation, fault.operation)

        with self._lock:
            selected: _Pending | None = None
            for pending in self._pending:
                if matches(pending.fault):
                    if pending.passed < pending.fault.after:
                        pending.passed += 1
                    elif selected is None and applies(pending.fault):
                        selected = pending
            if selected is None:
                standing = (
                    each for name in context.journeys for each in self._standing.get(name, ())
                )
                fault = next((each for each in standing if matches(each) and applies(each)), None)
            else:
                fault = selected.fault
                self._taken.append(fault)
                if selected.left is not None:
                    selected.left -= 1
                    if selected.left == 0:
                        self._pending.remove(selected)
            if fault is not None:
                context.faults.append(fault.kind.value)
            return fault
