"""The tools of one client, safe to hand to an agent."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from inspect import isawaitable, iscoroutinefunction
from operator import attrgetter
from typing import Any, Generic, Literal, TypeVar

import anyio

from ferry_sdk.agents.decisions import ToolRunner
from ferry_sdk.agents.policy.answers import Answer
from ferry_sdk.agents.policy.approval import ApprovalRequest
from ferry_sdk.agents.policy.audit import AuditRecord
from ferry_sdk.agents.policy.budget import Limits
from ferry_sdk.agents.policy.duplicates import UnresolvedWrite
from ferry_sdk.agents.policy.effects import CallHandler, ToolEffect
from ferry_sdk.agents.tools import definitions as formats
from ferry_sdk.agents.tools.definitions import ToolDefinition
from ferry_sdk.client import AsyncFerry, Ferry
from ferry_sdk.errors import ConfigurationError

T = TypeVar("T")
FerryT = TypeVar("FerryT", bound=Ferry | AsyncFerry)
_FINAL_TIMEOUT = 1.0
"""Seconds that an async audit is awaited of a call whose task was cancelled."""


class AnyToolkit(Generic[FerryT]):
    """What both toolkits have in common."""

    def __init__(self, ferry: FerryT, runner: ToolRunner) -> None:
        self._ferry = ferry
        self._runner = runner

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._ferry!r}, tools={len(self._runner.tools)})"

    def definitions(self) -> tuple[ToolDefinition, ...]:
        """The tools that may be called, each with its JSON Schemas."""
        by_code = self._runner.by_code
        return tuple(tool.definition(approval=by_code) for tool in self._runner.tools)

    def openai(self, api: Literal["responses", "chat"] = "responses") -> list[dict[str, Any]]:
        """The tools as OpenAI's client takes them.

        Args:
            api: For its Responses API, or for Chat Completions.
        """
        return formats.openai(self.definitions(), api)

    def anthropic(self) -> list[dict[str, Any]]:
        """The tools as Anthropic's client takes them."""
        return formats.anthropic(self.definitions())

    @property
    def is_sending(self) -> bool:
        """Whether a write is on its way: wait a moment before you end the process."""
        return self._runner.is_sending

    @property
    def unresolved(self) -> tuple[UnresolvedWrite, ...]:
        """The writes that may have happened; a person has to look."""
        return self._runner.duplicates.unresolved

    def settle(self, correlation_id: str, *, happened: bool) -> None:
        """Say what became of a write that is unresolved, once a person has looked.

        Args:
            correlation_id: The write's. Where a client sends one id with everything, all that is
                unresolved is settled at once.
            happened: True: it counts as done; a booking that was made is counted as spent when
                it is confirmed. False: it may be made again, and what it would have cost may be
                spent again.

        Raises:
            InvalidInputError: No write of that id is unresolved.
        """
        self._runner.settle(correlation_id, happened=happened)


class Toolkit(AnyToolkit[Ferry]):
    """Tools of a `Ferry` for an agent; safe between threads.

    Without `writes` they only read. With them, a write takes only ids that this toolkit has
    shown, keeps within the limits, is approved by somebody, and is not made twice. Recording a
    payment is never a tool.

    Args:
        ferry: The client.
        writes: Whether bookings may be made, confirmed and cancelled.
        approve: Asked about each write; it goes ahead only if this gives True. What it raises,
            `call` raises, and nothing is sent. None: the agent is told a code, to be given back
            once somebody has agreed.
        spend_limit: How much may be spent over the toolkit's life, by currency, such as
            ``{"EUR": 500}``; one that is not named may not be spent at all. None: no limit.
        penalty_limit: How much cancelling one booking may cost, all its tickets together, in the
            same way.
        audit: Told of every call, whatever became of it.

    Raises:
        ConfigurationError: A setting cannot work; the message names it.
    """

    def __init__(
        self,
        ferry: Ferry,
        *,
        writes: bool = False,
        approve: Callable[[ApprovalRequest], bool] | None = None,
        spend_limit: Limits | None = None,
        penalty_limit: Limits | None = None,
        audit: Callable[[AuditRecord], object] | None = None,
    ) -> None:
        if not isinstance(ferry, Ferry):  # pyright: ignore[reportUnnecessaryIsInstance] -- of callers without a type checker
            raise ConfigurationError("ferry: a Ferry is expected; AsyncToolkit takes an AsyncFerry")
        for name, function in (("approve", approve), ("audit", audit)):
            if iscoroutinefunction(function):
                raise ConfigurationError(f"{name}: an async function needs AsyncToolkit")
        runner = ToolRunner(
            ferry.bookings.transport,
            writes=writes,
            approve=approve,
            spend_limit=spend_limit,
            penalty_limit=penalty_limit,
            audit=audit,
        )
        super().__init__(ferry, runner)

    def call(self, name: str, arguments: Mapping[str, Any] | str = "{}") -> Answer:
        """Call a tool.

        Args:
            name: Its name.
            arguments: An object, or the JSON text of one.

        Returns:
            The answer, ready for JSON: ``status`` with ``result``, ``approval`` or ``error``.
        """
        call = self._runner.new_call()
        return self._run(self._runner.call(call, name, arguments), call.correlation_id)

    def preview(self, name: str, arguments: Mapping[str, Any] | str) -> ApprovalRequest | Answer:
        """What somebody would have to agree to before a write; the answer where it is refused."""
        call = self._runner.new_call()
        return self._run(self._runner.preview(call, name, arguments), call.correlation_id)

    def perform(
        self,
        name: str,
        arguments: Mapping[str, Any] | str,
        *,
        approve: Callable[[ApprovalRequest], bool],
    ) -> Answer:
        """Call a tool with an approver of this call's own; no code is taken.

        The price is read anew, and may be another than a `preview` has shown: let `approve` compare
        the `digest` of its request with that of the one that somebody agreed to.
        """
        call = self._runner.new_call()
        flow = self._runner.call(call, name, arguments, approve)
        return self._run(flow, call.correlation_id)

    def _run(self, flow: Generator[ToolEffect, Any, T], correlation_id: str) -> T:
        ferry = self._ferry.with_options(correlation_id=correlation_id)
        try:
            effect = next(flow)
            while True:
                try:
                    result = _perform(effect, ferry)
                except BaseException as error:  # noqa: BLE001 -- the desk decides what it means
                    effect = flow.throw(error)
                else:
                    effect = flow.send(result)
        except StopIteration as end:
            answer: T = end.value
            return answer
        finally:
            flow.close()


class AsyncToolkit(AnyToolkit[AsyncFerry]):
    """Tools of an `AsyncFerry` for an agent, on asyncio and trio; as `Toolkit` is.

    Args:
        ferry: The client.
        writes: Whether bookings may be made, confirmed and cancelled.
        approve: Asked about each write, async or not; it goes ahead only if this gives True. What
            it raises, `call` raises, and nothing is sent. None: the agent is told a code, to be
            given back once somebody has agreed.
        spend_limit: How much may be spent over the toolkit's life, by currency, such as
            ``{"EUR": 500}``; one that is not named may not be spent at all. None: no limit.
        penalty_limit: How much cancelling one booking may cost, all its tickets together, in the
            same way.
        audit: Told of every call, async or not, whatever became of it.

    Raises:
        ConfigurationError: A setting cannot work; the message names it.
    """

    def __init__(
        self,
        ferry: AsyncFerry,
        *,
        writes: bool = False,
        approve: Callable[[ApprovalRequest], object] | None = None,
        spend_limit: Limits | None = None,
        penalty_limit: Limits | None = None,
        audit: Callable[[AuditRecord], object] | None = None,
    ) -> None:
        if not isinstance(ferry, AsyncFerry):  # pyright: ignore[reportUnnecessaryIsInstance] -- of callers without a type checker
            raise ConfigurationError("ferry: an AsyncFerry is expected; Toolkit takes a Ferry")
        runner = ToolRunner(
            ferry.bookings.transport,
            writes=writes,
            approve=approve,
            spend_limit=spend_limit,
            penalty_limit=penalty_limit,
            audit=audit,
        )
        super().__init__(ferry, runner)

    async def call(self, name: str, arguments: Mapping[str, Any] | str = "{}") -> Answer:
        """Call a tool.

        Args:
            name: Its name.
            arguments: An object, or the JSON text of one.

        Returns:
            The answer, ready for JSON: ``status`` with ``result``, ``approval`` or ``error``.
        """
        call = self._runner.new_call()
        return await self._run(self._runner.call(call, name, arguments), call.correlation_id)

    async def preview(
        self, name: str, arguments: Mapping[str, Any] | str
    ) -> ApprovalRequest | Answer:
        """What somebody would have to agree to before a write; the answer where it is refused."""
        call = self._runner.new_call()
        return await self._run(self._runner.preview(call, name, arguments), call.correlation_id)

    async def perform(
        self,
        name: str,
        arguments: Mapping[str, Any] | str,
        *,
        approve: Callable[[ApprovalRequest], object],
    ) -> Answer:
        """Call a tool with an approver of this call's own; no code is taken.

        The price is read anew, and may be another than a `preview` has shown: let `approve` compare
        the `digest` of its request with that of the one that somebody agreed to.
        """
        call = self._runner.new_call()
        flow = self._runner.call(call, name, arguments, approve)
        return await self._run(flow, call.correlation_id)

    async def _run(self, flow: Generator[ToolEffect, Any, T], correlation_id: str) -> T:
        ferry = self._ferry.with_options(correlation_id=correlation_id)
        perform = _perform_async
        try:
            effect = next(flow)
            while True:
                try:
                    result = await perform(effect, ferry)
                except GeneratorExit:
                    raise
                except BaseException as error:  # noqa: BLE001 -- the desk decides what it means
                    if not isinstance(error, Exception):
                        perform = _perform_shielded  # a cancelled call still puts itself on record
                    effect = flow.throw(error)
                else:
                    effect = flow.send(result)
        except StopIteration as end:
            answer: T = end.value
            return answer
        finally:
            flow.close()


def _perform(effect: ToolEffect, ferry: Ferry | AsyncFerry) -> Any:  # noqa: ANN401 -- whatever comes of it
    if isinstance(effect, CallHandler):
        return effect.function(effect.argument)
    return attrgetter(effect.operation)(ferry)(**effect.arguments)


async def _perform_async(effect: ToolEffect, ferry: AsyncFerry) -> Any:  # noqa: ANN401 -- whatever comes of it
    result = _perform(effect, ferry)
    return await result if isawaitable(result) else result


async def _perform_shielded(effect: ToolEffect, ferry: AsyncFerry) -> Any:  # noqa: ANN401 -- whatever comes of it
    with anyio.move_on_after(_FINAL_TIMEOUT, shield=True):
        return await _perform_async(effect, ferry)
    return None
