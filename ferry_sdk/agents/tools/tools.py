"""The tools: methods of the client, described by their own signatures and docstrings.

A `Tool` is a row of the table of tools, with the arguments that it has beside the chosen other
tools. Its `definition` describes it to a model; `read` validates the arguments of a call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, Generic, Literal, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from ferry_sdk._runtime.lazy import lazy_attribute
from ferry_sdk.agents.tools.arguments import TOOLKIT_ARGUMENTS, model_of, read_arguments
from ferry_sdk.agents.tools.schemas import (
    ANSWER,
    ANSWER_WITH_APPROVAL,
    Schema,
    arguments_schema,
    describe,
    with_property,
)
from ferry_sdk.agents.tools.table import (
    JOURNEY_ROWS,
    LIST_TRAVELLERS,
    ToolRow,
    all_rows,
    tool_name,
)
from ferry_sdk.agents.tools.views import Detail, has_full_view, schema_of
from ferry_sdk.errors import ConfigurationError
from ferry_sdk.models.records import Records
from ferry_sdk.resources.availability import AvailabilityGroup

AnswerT = TypeVar("AnswerT")
ToolChoice = Literal["journey", "all"] | Iterable[str]
"""Which tools are offered: those of a journey, all, or these."""
Approver = Literal["code", "card", "person"]
"""What approves a write: a code of its first answer, a card that its first answer shows, or a
person who is asked in the middle of the call."""

_RARELY: Final = "Rarely needed: `trips_find` does it."
"""What is said of a read beside the journey."""
_ADVICE: Final[Mapping[Approver, str]] = {
    "code": (
        "The first call changes nothing: show its summary to the user, and only if they agree, "
        "call again with its code as `confirmation_code`."
    ),
    "card": "The call shows a card to the user and changes nothing: it is done when they approve.",
    "person": "A person is asked before anything is changed.",
}
"""What is said of a write, by what approves it."""


@dataclass(frozen=True, slots=True)
class ToolDefinition(Generic[AnswerT]):
    """A tool, described for the client of any model.

    Attributes:
        name: The method's name with ``_`` for ``.``, such as ``bookings_create``.
        title: What it does, in one line.
        description: What it does, and what to know before calling it.
        input_schema: JSON Schema (2020-12) of its arguments, an object.
        output_schema: JSON Schema of the whole answer, an object. The result is described in
            its short view; a full view has further fields.
        read_only: Whether it changes nothing.
        destructive: Whether its change cannot be undone.
        idempotent: Whether calling it again with the same arguments changes nothing more.
        call: Calls it with a mapping or the JSON text of an object, and returns the answer, like
            `Toolkit.call`. The tools of an `AsyncToolkit` have a coroutine function.
    """

    name: str
    title: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    read_only: bool
    destructive: bool
    idempotent: bool
    call: Callable[[Mapping[str, Any] | str], AnswerT] = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Arguments:
    """The validated arguments of a call.

    Attributes:
        values: The keyword arguments of the client's method.
        detail: How much of the result is shown.
        contains: The text that shown records contain; None: all records are shown.
        wait: How many seconds to wait for the tickets of a booking.
        confirmation_code: The code, if there is one.
    """

    values: dict[str, Any] = field(repr=False)
    detail: Detail = "short"
    contains: str | None = None
    wait: int = 0
    confirmation_code: str | None = field(default=None, repr=False)


class Tool:
    """One method of the client as a tool.

    Args:
        row: Its row in the table.
        without: The arguments that are left out.
        by_handle: Whether travellers are named by handles instead of their data.

    Attributes:
        name: The tool's name, such as ``bookings_create``.
        operation: The same with a dot, such as ``bookings.create``.
        needs_journal: Whether the client has to have a journal.
        is_read: Whether it changes nothing.
        is_planned: Whether it makes several reads, and has a view of its own.
    """

    def __init__(
        self, row: ToolRow, without: frozenset[str] = frozenset(), *, by_handle: bool = False
    ) -> None:
        self.operation: str = row.operation
        self.name: str = tool_name(row.operation)
        self.needs_journal: bool = row.needs_journal
        self.is_read: bool = row.is_read
        self.is_planned: bool = row.is_planned
        self._row = row
        self._without = without
        self._by_handle = by_handle

    def definition(
        self, *, approver: Approver, call: Callable[[Mapping[str, Any] | str], AnswerT]
    ) -> ToolDefinition[AnswerT]:
        """Return the definition; a write that a code approves has an argument for it."""
        text = self._row.text or describe(self._row.arguments)
        input_schema, output_schema = deepcopy(self._schemas(approver))  # callers may change them
        return ToolDefinition(
            name=self.name,
            title=text.partition(". ")[0].removesuffix("."),
            description=f"{text} {self._advice(approver)}".strip(),
            input_schema=input_schema,
            output_schema=output_schema,
            read_only=self.is_read,
            destructive=self._row.is_destructive,
            idempotent=self.is_read,
            call=call,
        )

    def _advice(self, approver: Approver) -> str:
        if self.is_read:
            return "" if self.name in JOURNEY else _RARELY
        return _ADVICE[approver]

    @cache  # noqa: B019 -- the tools live as long as the process
    def _schemas(self, approver: Approver) -> tuple[Schema, Schema]:
        """Return the schemas of the arguments and of the answer."""
        result = self._row.result or schema_of(self._record)
        # A person who is asked in the middle of the call needs no answer before that of the write.
        shows_request = approver != "person" and not self.is_read
        answer = ANSWER_WITH_APPROVAL if shows_request else ANSWER
        model = self._model(has_code=approver == "code" and not self.is_read)
        return arguments_schema(model), with_property(answer, "result", result)

    def read(self, arguments: object) -> Arguments:
        """Validate the arguments of a call; raise InvalidInputError as `read_arguments` does."""
        validated = read_arguments(self._model(has_code=not self.is_read), arguments)
        values = {name: value for name, value in validated if name in validated.model_fields_set}
        ours = {name: values.pop(name) for name in TOOLKIT_ARGUMENTS if name in values}
        return Arguments(values, **ours)

    @lazy_attribute
    def _record(self) -> Any:  # noqa: ANN401 -- a type for pydantic
        """The type that the method returns; None if the row has the schema of the result."""
        if self._row.result is not None:
            return None
        hints = get_type_hints(self._row.method, include_extras=True)
        (record,) = get_args(hints["return"])  # of Operation[...]
        return record

    @cache  # noqa: B019 -- the same
    def _model(self, *, has_code: bool) -> type[BaseModel]:
        """Return the model of the arguments, with a confirmation code if it may have one."""
        more: list[str] = []
        if get_origin(self._record) is Records:
            more.append("contains")
        # A full view shows the travellers, so there is none where handles hide them.
        if self.is_read and not self._by_handle and has_full_view(self._record):
            more.append("detail")
        if self._row.may_wait:
            more.append("wait")
        if has_code:
            more.append("confirmation_code")
        return model_of(
            self._row.arguments,
            more=more,
            without=self._without,
            by_handle=self._by_handle,
        )


_tool: Final = cache(Tool)
LIST: Final = tool_name(LIST_TRAVELLERS.operation)
JOURNEY: Final[Sequence[str]] = [tool_name(row.operation) for row in JOURNEY_ROWS]
"""The tools that are enough for most conversations; they are listed first."""
_ROWS: Final[Mapping[str, ToolRow]] = {tool_name(row.operation): row for row in all_rows()}
TOOLS: Final[Mapping[str, Tool]] = {name: _tool(row) for name, row in _ROWS.items()}
"""Every tool, by name. Models and schemas are made on first use."""

_SEARCH: Final = tool_name(AvailabilityGroup.search)
_ONLY_WITH_SEARCH: Final = frozenset({"availabilities", "reservation_type"})
"""Arguments that make sense only with what `availability_search` shows."""


def choose_tools(chosen: ToolChoice, *, by_handle: bool = False) -> Mapping[str, Tool]:
    """Return the chosen tools by name, the journey's first.

    Args:
        chosen: Which tools.
        by_handle: Whether travellers are named by handles; then a tool lists these, and no
            argument takes a person's data.

    Raises:
        ConfigurationError: There is no such set, or no tool of a name.
    """
    names = _names_of(chosen)
    rows = dict(_ROWS)
    if by_handle:
        rows = {LIST: LIST_TRAVELLERS, **_ROWS}
    known_names = [*rows]  # a list, because what a caller gives for a name may have no hash
    for name in names:
        if name not in known_names:
            raise ConfigurationError(f"tools: there is no tool {name!r}")

    without: frozenset[str] = frozenset()
    if _SEARCH not in names:
        without |= _ONLY_WITH_SEARCH
    if by_handle:
        without |= {"contact"}
        names = [LIST, *names]
    return {
        name: _tool(row, without, by_handle=by_handle)
        for name, row in rows.items()
        if name in names
    }


def _names_of(chosen: ToolChoice) -> Sequence[str]:
    if not isinstance(chosen, str):
        return [*chosen]
    match chosen:
        case "journey":
            return JOURNEY
        case "all":
            return [*TOOLS]
        case _:
            raise ConfigurationError(f'tools: expected "journey", "all" or names, not {chosen!r}')
