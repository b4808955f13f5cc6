"""Offer the methods of one client to an agent as tools.

`ToolRunner` decides what a call does, as a generator; the two toolkits perform what it yields:

1. `Toolkit.call` gets the generator and the correlation id of the call from its runner.
2. `drive` takes an effect of the generator, such as ``Invoke("bookings.get", {...})``.
3. `_perform` calls the client, here ``ferry.bookings.get(...)``, or the caller's `approve` or
   `audit`. `drive` gives the result or the error back to the generator.
4. The generator returns the answer.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Generator, Mapping
from datetime import datetime
from functools import partial
from inspect import isawaitable, iscoroutinefunction
from operator import attrgetter
from typing import Any, ClassVar, Generic, Literal, TypeVar

import anyio

from ferry_sdk import orders
from ferry_sdk._engine.effects import drive, drive_async
from ferry_sdk._runtime.values import is_a
from ferry_sdk.agents.decisions import ToolRunner
from ferry_sdk.agents.policy.answers import Answer
from ferry_sdk.agents.policy.approval import ApprovalRequest
from ferry_sdk.agents.policy.audit import AuditRecord, CallHandler, ToolEffect
from ferry_sdk.agents.policy.budget import Budget, Limits
from ferry_sdk.agents.policy.duplicates import UnresolvedWrite
from ferry_sdk.agents.policy.state import AgentState, State
from ferry_sdk.agents.policy.trip_answers import Handles, read_handles
from ferry_sdk.agents.tools.schemas import strict_schema
from ferry_sdk.agents.tools.tools import AnswerT, Approver, ToolChoice, ToolDefinition
from ferry_sdk.client import AsyncFerry, Ferry, transport_of
from ferry_sdk.errors import ConfigurationError
from ferry_sdk.orders.progress import find_change

T = TypeVar("T")
ApprovalT = TypeVar("ApprovalT")
FerryT = TypeVar("FerryT", bound=Ferry | AsyncFerry)
_FINAL_TIMEOUT = 1.0
"""Seconds that an async `audit` gets when the task of its call was cancelled."""


class AnyToolkit(Generic[FerryT, ApprovalT, AnswerT]):
    """The part that both toolkits share."""

    _client: ClassVar[type[Ferry | AsyncFerry]]

    def __init__(
        self,
        ferry: FerryT,
        *,
        tools: ToolChoice = "journey",
        writes: bool = False,
        approve: Callable[[ApprovalRequest], ApprovalT] | None = None,
        spend_limit: Limits | None = None,
        penalty_limit: Limits | None = None,
        per_booking: Limits | None = None,
        until: datetime | None = None,
        audit: Callable[[AuditRecord], object] | None = None,
        state: str | os.PathLike[str] | None = None,
        travellers: Handles | None = None,
    ) -> None:
        if not issubclass(type(ferry), self._client):
            raise ConfigurationError(
                "ferry: Toolkit takes a Ferry, AsyncToolkit takes an AsyncFerry"
            )
        if self._client is Ferry:
            _refuse_async_function("approve", approve)
            _refuse_async_function("audit", audit)
        if travellers is not None and not callable(travellers):
            read_handles(travellers)  # a function is called, and its result checked, at each call

        if until is not None and not _is_aware(until):
            raise ConfigurationError("until: expected a datetime with a time zone")

        store = State() if state is None else AgentState(state)
        self._ferry = ferry
        self._runner = ToolRunner(
            transport=transport_of(ferry),
            choice=tools,
            may_write=writes,
            approve=approve,
            budget=Budget(spend_limit, penalty_limit, store, per_booking=per_booking),
            audit=audit,
            store=store,
            travellers=travellers,
            until=until,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._ferry!r}, tools={len(self._runner.tools)})"

    def call(self, name: str, arguments: Mapping[str, Any] | str = "{}") -> AnswerT:
        """Call a tool."""
        raise NotImplementedError(name, arguments)

    def definitions(self) -> tuple[ToolDefinition[AnswerT], ...]:
        """Return the available tools with their JSON Schemas; each can be called.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.agents import Toolkit
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                for tool in Toolkit(ferry).definitions():
                    print(tool.name)
                    # > trips_find
                    # > places_find
                    # > bookings_get
                    # > bookings_cancel_fee
                    # > tickets_get
                    # > tickets_pdf
            ```
        """
        approver: Approver = "code" if self._runner.approve is None else "person"
        return definitions_of(self, approver)

    def openai(
        self, api: Literal["responses", "chat"] = "responses", *, strict: bool = False
    ) -> list[dict[str, Any]]:
        """Return the tools in the format of OpenAI's client.

        Args:
            api: The Responses API, or Chat Completions.
            strict: Whether the model follows the schemas exactly. Then it gives every argument, and
                null for one that it would leave out.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.agents import Toolkit
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                tools = Toolkit(ferry).openai("chat", strict=True)
                print(tools[0]["function"]["name"])
                # > trips_find
            ```
        """
        functions: list[dict[str, Any]] = []
        for tool in self.definitions():
            schema = tool.input_schema
            if strict:
                schema = strict_schema(schema)
            functions.append(
                {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": schema,
                    "strict": strict,
                }
            )

        if api == "chat":
            return [{"type": "function", "function": function} for function in functions]
        return [{"type": "function", **function} for function in functions]

    def anthropic(self) -> list[dict[str, Any]]:
        """Return the tools in the format of Anthropic's client.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.agents import Toolkit
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                print(Toolkit(ferry).anthropic()[0]["name"])
                # > trips_find
            ```
        """
        return [
            {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
            for tool in self.definitions()
        ]

    @property
    def is_sending(self) -> bool:
        """Whether a write is being sent: wait until it is not before you end the process."""
        return self._runner.is_sending

    @property
    def unresolved(self) -> tuple[UnresolvedWrite, ...]:
        """The writes that may have happened; a person has to check them."""
        return self._runner.writes.duplicates.unresolved

    def settle(self, correlation_id: str, *, happened: bool) -> None:
        """Record whether an unresolved write happened, once a person has checked.

        Args:
            correlation_id: The id of the write. If the client sends one id with every request, all
                unresolved writes are settled at once.
            happened: True: the write counts as done; a new booking counts as spent when it is
                confirmed. False: the write may be sent again, and its price may be spent again.

        Raises:
            InvalidInputError: No unresolved write has this id.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.agents import Toolkit
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                toolkit = Toolkit(ferry, writes=True)
                for write in toolkit.unresolved:  # once a person has checked
                    toolkit.settle(write.correlation_id, happened=False)
            ```
        """
        self._runner.writes.duplicates.settle(correlation_id, happened=happened)

    def forget_refusals(self) -> None:
        """Ask again about writes that a person has refused.

        After two refusals of the same question, or ten questions of one tool that nobody approved,
        the toolkit answers ``declined`` for ten minutes without asking. Call this if the person has
        changed their mind.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.agents import Toolkit
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                toolkit = Toolkit(ferry, writes=True, approve=lambda _: False)
                toolkit.forget_refusals()
            ```
        """
        self._runner.writes.approvals.refusals.clear()


class Toolkit(AnyToolkit[Ferry, bool, Answer]):
    """Tools of a `Ferry` for an agent; safe to share between threads.

    Without `writes`, the tools only read. With it, a write accepts only ids that this toolkit has
    shown, stays within the limits, needs approval, and is never made twice. Recording a payment is
    not a tool.

    Args:
        ferry: The client.
        tools: What is offered: the tools of a ``"journey"`` (find, book, confirm, show, cancel,
            change), ``"all"``, or the tools of these names. A change requires a client with a
            journal.
        writes: Whether the agent may make, confirm and cancel bookings.
        approve: Called for each write, which is sent only if it returns True. `call` raises what
            it raises, and nothing is sent. None: the agent gets a code, to be given back once a
            person has agreed.
        spend_limit: The most that the agent may spend while the toolkit or its `state` exists, by
            currency, such as ``{"EUR": 500}``. A currency that is not listed cannot be spent. None:
            no limit.
        penalty_limit: The most that cancelling one booking with all its tickets may cost, in the
            same form.
        per_booking: The most that one booking may cost, in the same form.
        until: When the agent's permission to write ends, by the service's clock: an aware
            datetime. From then on every write is refused with ``too_late``. None: never.
        audit: Called with the record of every call, however it ended.
        state: A private file that keeps what was shown, spent and done, for later toolkits and for
            other processes at the same time. It is created if it does not exist. None: the state
            is in memory, and ends with the toolkit.
        travellers: Each `Traveller` by a label of your choice, such as ``{"t1": Traveller(...)}``,
            or a function that returns them at each call. Then the agent searches and books with
            the labels only, and names and documents never pass through the model. None: the agent
            gives them.

    Raises:
        ConfigurationError: A setting is invalid; the message names it.

    Example:
        ```python
        from datetime import date, timedelta

        from ferry_sdk import Ferry
        from ferry_sdk.agents import Toolkit
        from ferry_sdk.sandbox import Sandbox

        with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            toolkit = Toolkit(ferry, writes=True, spend_limit={"EUR": 500})
            day = date.today() + timedelta(days=30)
            adult = {"type": "Adult", "gender": "Female", "age": 34}
            found = toolkit.call(
                "trips_find",
                {"origin": "Tarifa", "destination": "MATNG", "on": f"{day}", "passengers": [adult]},
            )
            lady = {"type": "Adult", "first_name": "Ada", "last_name": "Reyes"}
            booking = {"offer": found["result"]["offers"][0]["offer"], "passengers": [lady]}
            request = toolkit.preview("bookings_create", booking)
            if not isinstance(request, dict):
                print(request.amount, request.currency)
                # > 12.32 EUR
                made = toolkit.perform("bookings_create", booking, approve=request.digest)
                print(made["status"])
                # > done
        ```
    """

    _client = Ferry

    def call(self, name: str, arguments: Mapping[str, Any] | str = "{}") -> Answer:
        """Call a tool.

        Args:
            name: The tool's name.
            arguments: A mapping, or the JSON text of an object.

        Returns:
            The answer as plain JSON: ``status`` with ``result``, ``approval`` or ``error``.
        """
        return self._run(*self._runner.call(name, arguments))

    def preview(self, name: str, arguments: Mapping[str, Any] | str) -> ApprovalRequest | Answer:
        """Return what a person has to approve before a write, or the answer that refuses it."""
        return self._run(*self._runner.preview(name, arguments))

    def perform(
        self,
        name: str,
        arguments: Mapping[str, Any] | str,
        *,
        approve: Callable[[ApprovalRequest], bool] | str,
    ) -> Answer:
        """Call a tool with an approval for this call only; confirmation codes are not accepted.

        Args:
            name: The tool's name.
            arguments: A mapping, or the JSON text of an object.
            approve: The `digest` of the request that a person has approved, or a function like that
                of the toolkit. The price is read again: a write whose request now has another
                digest, because an argument or the price differs, is refused with
                ``price_changed``.
        """
        return self._run(*self._runner.call(name, arguments, approve))

    def _run(self, flow: Generator[ToolEffect, Any, T], correlation_id: str) -> T:
        ferry = self._ferry.with_options(correlation_id=correlation_id)
        return drive(flow, partial(_perform, ferry))


class AsyncToolkit(AnyToolkit[AsyncFerry, object, Awaitable[Answer]]):
    """Tools of an `AsyncFerry` for an agent, on asyncio and trio.

    `approve` and `audit` may be async. Everything else is like `Toolkit`, its arguments included.

    Raises:
        ConfigurationError: A setting is invalid; the message names it.

    Example:
        ```python
        import asyncio

        from ferry_sdk import AsyncFerry
        from ferry_sdk.agents import AsyncToolkit
        from ferry_sdk.sandbox import AsyncSandbox


        async def main() -> None:
            async with (
                AsyncSandbox() as sandbox,
                AsyncFerry(sandbox.token, base_url=sandbox.base_url) as ferry,
            ):
                toolkit = AsyncToolkit(ferry, writes=True)
                answer = await toolkit.call("places_find", {"text": "Genua"})
                print(answer["status"])
                # > done
                request = await toolkit.preview("bookings_confirm", {"booking_id": "b-1"})
                if not isinstance(request, dict):
                    await toolkit.perform(
                        "bookings_confirm", {"booking_id": "b-1"}, approve=request.digest
                    )


        asyncio.run(main())
        ```
    """

    _client = AsyncFerry

    async def call(self, name: str, arguments: Mapping[str, Any] | str = "{}") -> Answer:
        """Call a tool; see `Toolkit.call`."""
        return await self._run(*self._runner.call(name, arguments))

    async def preview(
        self, name: str, arguments: Mapping[str, Any] | str
    ) -> ApprovalRequest | Answer:
        """Return what a person has to approve before a write, or the answer that refuses it."""
        return await self._run(*self._runner.preview(name, arguments))

    async def perform(
        self,
        name: str,
        arguments: Mapping[str, Any] | str,
        *,
        approve: Callable[[ApprovalRequest], object] | str,
    ) -> Answer:
        """Call a tool with an approval for this call only; see `Toolkit.perform`."""
        return await self._run(*self._runner.call(name, arguments, approve))

    async def _run(self, flow: Generator[ToolEffect, Any, T], correlation_id: str) -> T:
        ferry = self._ferry.with_options(correlation_id=correlation_id)
        # A cancelled call still sends its audit record.
        return await drive_async(
            flow, partial(_perform_async, ferry), partial(_perform_shielded, ferry)
        )


def _is_aware(moment: object) -> bool:
    return is_a(moment, datetime) and moment.utcoffset() is not None


def _refuse_async_function(setting: str, function: object) -> None:
    if iscoroutinefunction(function):
        raise ConfigurationError(f"{setting}: an async function requires AsyncToolkit")


def _runner_of(toolkit: AnyToolkit[Any, Any, Any]) -> ToolRunner:
    """Return what decides the calls; the attribute is private, so that editors do not offer it."""
    return toolkit._runner  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] -- of this module


def definitions_of(
    toolkit: AnyToolkit[Any, Any, AnswerT], approver: Approver
) -> tuple[ToolDefinition[AnswerT], ...]:
    """Return the available tools, described by what approves writes."""
    return tuple(
        tool.definition(approver=approver, call=partial(toolkit.call, tool.name))
        for tool in _runner_of(toolkit).tools
    )


def reader_of(toolkit: AsyncToolkit) -> AsyncToolkit:
    """Return a toolkit of the same client and audit that offers every tool that reads."""
    ferry = toolkit._ferry  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] -- of this module
    return AsyncToolkit(ferry, tools="all", audit=_runner_of(toolkit).audit)


def state_of(toolkit: AsyncToolkit) -> State:
    """Return where a toolkit keeps its state."""
    return _runner_of(toolkit).store


def limits_of(toolkit: AsyncToolkit, currency: str) -> dict[str, str]:
    """Return the limits of a toolkit in a currency, for a person."""
    runner = _runner_of(toolkit)
    limits = runner.budget.limits(currency)
    if runner.until is not None:
        limits["Until"] = runner.until.isoformat()
    return limits


def put_question(toolkit: AsyncToolkit, request: ApprovalRequest) -> None:
    """Record that a request, which `preview` returned, is put to a person now.

    Raises:
        RefusedError: Other questions were put meanwhile, and too many are not approved.
    """
    writes = _runner_of(toolkit).writes
    writes.approvals.refusals.put(request, writes.approvals.clock())


def _perform(ferry: Ferry | AsyncFerry, effect: ToolEffect) -> Any:  # noqa: ANN401 -- any result
    """Perform an effect; the result of an `AsyncFerry` or of an async function is a coroutine."""
    if isinstance(effect, CallHandler):
        return effect.function(effect.argument)

    settings = transport_of(ferry).settings
    if effect.deadline is not None:
        own = settings.deadline
        shorter = effect.deadline if own is None else min(own, effect.deadline)
        ferry = ferry.with_options(deadline=shorter)

    journal: Any = settings.journal
    match effect.operation:
        case "bookings.change":
            arguments = dict(effect.arguments)
            arguments["to"] = arguments.pop("availabilities")
            return orders.change(ferry, **arguments, journal=journal)
        case "orders.resume":
            order_id = find_change(journal, **effect.arguments)
            return orders.resume(ferry, order_id, journal=journal)
        case operation:
            method = attrgetter(operation)(ferry)
            return method(**effect.arguments)


async def _perform_async(ferry: AsyncFerry, effect: ToolEffect) -> Any:  # noqa: ANN401 -- any result
    result = _perform(ferry, effect)
    return await result if isawaitable(result) else result


async def _perform_shielded(ferry: AsyncFerry, effect: ToolEffect) -> Any:  # noqa: ANN401 -- any result
    with anyio.move_on_after(_FINAL_TIMEOUT, shield=True):
        return await _perform_async(ferry, effect)
    return None
