"""The tools: methods of the client, described by their own signatures and docstrings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, Generic, Literal, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from ferry_sdk._engine.safety import SAFETY
from ferry_sdk._runtime.data import data_beside
from ferry_sdk._runtime.lazy import lazy_attribute
from ferry_sdk.agents.tools import trip_tools
from ferry_sdk.agents.tools.arguments import TOOLKIT_ARGUMENTS, model_of, read_arguments
from ferry_sdk.agents.tools.schemas import Schema, arguments_schema, describe, shape_with
from ferry_sdk.agents.tools.views import Detail, has_full_view, schema_of
from ferry_sdk.errors import ConfigurationError
from ferry_sdk.models.records import Records
from ferry_sdk.resources.availability import AvailabilityGroup
from ferry_sdk.resources.bookings import BookingsGroup
from ferry_sdk.resources.catalogue import CatalogueGroup
from ferry_sdk.resources.mcp import McpGroup
from ferry_sdk.resources.tickets import TicketsGroup

AnswerT = TypeVar("AnswerT")
ToolChoice = Literal["journey", "all"] | Iterable[str]
"""Which tools are offered: those of a journey, all, or these."""
_GROUPS: Final[Mapping[str, Any]] = {
    group.__name__.removesuffix("Group").lower(): group
    for group in (AvailabilityGroup, BookingsGroup, CatalogueGroup, McpGroup, TicketsGroup)
}
_DESCRIBED: Final[Mapping[str, Any]] = {
    "trips.find": trip_tools.FindTrips,
    "places.find": trip_tools.FindPlaces,
    "travellers.list": trip_tools.ListTravellers,
    "bookings.create": trip_tools.CreateBooking,
    "bookings.change": trip_tools.ChangeBooking,
}
"""The tools that are not described by their methods."""
_DATA: Final = data_beside(__file__)
EXCLUDED: Final[Mapping[str, str]] = _DATA["excluded"]
"""The operations that are not tools, each with the reason."""

_TEXTS: Final[Mapping[str, str]] = _DATA["texts"]
"""What tools do, when to call them, what they cost and what comes next, for a model."""
_ADVICE: Final[Mapping[str, str]] = _DATA["advice"]
"""What is said of tools beside a journey, and of writes by how they are approved."""


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
        confirmation_code: The code, if there is one.
    """

    values: dict[str, Any] = field(repr=False)
    detail: Detail = "short"
    contains: str | None = None
    confirmation_code: str | None = field(default=None, repr=False)


class Tool:
    """One method of the client as a tool.

    Attributes:
        name: The tool's name, such as ``bookings_create``.
        operation: The same with a dot, such as ``bookings.create``.
        needs_journal: Whether the client has to have a journal.
        is_read: Whether it changes nothing.
        is_planned: Whether it makes several reads, and has a view of its own.
    """

    def __init__(
        self, name: str, without: frozenset[str] = frozenset(), *, by_handle: bool = False
    ) -> None:
        self.name: str = name
        self.operation: str = name.replace("_", ".", 1)
        self.needs_journal: bool = self.operation == "bookings.change"
        group, method = self.operation.split(".")
        self._method: Any = getattr(_GROUPS.get(group), method, None)
        self._describe = _DESCRIBED.get(self.operation, self._method)
        row = SAFETY.get(self.operation)
        self.is_read: bool = not self.needs_journal if row is None else row.is_read
        self.is_planned: bool = self.is_read and row is None
        self._without = without
        self._by_handle = by_handle

    def definition(
        self, *, approval: bool, call: Callable[[Mapping[str, Any] | str], AnswerT]
    ) -> ToolDefinition[AnswerT]:
        """Return the definition; with `approval`, writes have an argument for the code."""
        text = _TEXTS.get(self.operation) or describe(self._describe)
        by_code = approval and not self.is_read
        if self.is_read:
            advice = "" if self.name in JOURNEY else _ADVICE["rarely"]
        else:
            advice = _ADVICE["by_code" if by_code else "by_person"]
        input_schema, output_schema = deepcopy(self._schemas(by_code))  # callers may change them
        return ToolDefinition(
            name=self.name,
            title=text.partition(". ")[0].removesuffix("."),
            description=f"{text} {advice}".strip(),
            input_schema=input_schema,
            output_schema=output_schema,
            read_only=self.is_read,
            destructive=self.operation in _DATA["destructive"],
            idempotent=self.is_read,
            call=call,
        )

    @cache  # noqa: B019 -- the tools live as long as the process
    def _schemas(self, by_code: bool) -> tuple[Schema, Schema]:  # noqa: FBT001 -- a key
        result = trip_tools.RESULTS.get(self.operation) or schema_of(self._result)
        shape = "answer_by_code" if by_code else "answer"
        return arguments_schema(self._model(by_code)), shape_with(shape, "result", result)

    def read(self, arguments: object) -> Arguments:
        """Validate the arguments of a call; raise InvalidInputError as `read_arguments` does."""
        made = read_arguments(self._model(not self.is_read), arguments)
        values = {name: value for name, value in made if name in made.model_fields_set}
        ours = {name: values.pop(name) for name in TOOLKIT_ARGUMENTS if name in values}
        return Arguments(values, **ours)

    @lazy_attribute
    def _result(self) -> Any:  # noqa: ANN401 -- a type for pydantic
        """The type of the result; None if `RESULTS` has its schema."""
        if self.operation in trip_tools.RESULTS:
            return None
        return get_args(get_type_hints(self._method, include_extras=True)["return"])[0]

    @cache  # noqa: B019 -- the same
    def _model(self, has_code: bool) -> type[BaseModel]:  # noqa: FBT001 -- the same
        more = {
            "contains": get_origin(self._result) is Records,
            # A full view shows the travellers.
            "detail": self.is_read and not self._by_handle and has_full_view(self._result),
            "confirmation_code": has_code,
        }
        return model_of(
            self._describe,
            more=[name for name, is_needed in more.items() if is_needed],
            without=self._without,
            by_handle=self._by_handle,
        )


JOURNEY: Final[Sequence[str]] = _DATA["journey"]
"""The tools that are enough for most conversations; they are listed first."""
_ONLY_WITH: Final[Mapping[str, str]] = _DATA["only_with"]
"""Arguments that make sense only with what another tool shows, by that tool."""


_tool: Final = cache(Tool)
LIST: Final = "travellers_list"
"""The tool that is offered where travellers are named by handles."""
_OF_METHODS: Final = [name.replace(".", "_") for name in SAFETY if name not in EXCLUDED]
TOOLS: Final[Mapping[str, Tool]] = {name: _tool(name) for name in [*JOURNEY, *_OF_METHODS]}
"""Every tool, by name. Models and schemas are made on first use."""


def choose_tools(chosen: ToolChoice, *, by_handle: bool = False) -> Mapping[str, Tool]:
    """Return the chosen tools by name, the journey's first.

    Args:
        chosen: Which tools.
        by_handle: Whether travellers are named by handles; then a tool lists these, and no
            argument takes a person's data.

    Raises:
        ConfigurationError: There is no such set, or no tool of a name.
    """
    sets: Mapping[str, Sequence[str]] = {"all": [*TOOLS], "journey": JOURNEY}
    if isinstance(chosen, str) and chosen not in sets:
        raise ConfigurationError(f'tools: expected "journey", "all" or names, not {chosen!r}')
    names = sets[chosen] if isinstance(chosen, str) else [*chosen]
    own = (LIST,) if by_handle else ()
    known_names = (*own, *TOOLS)
    for name in names:
        if name not in known_names:
            raise ConfigurationError(f"tools: there is no tool {name!r}")
    without = frozenset(argument for argument, needed in _ONLY_WITH.items() if needed not in names)
    if by_handle:
        without |= {"contact"}
    ordered = (*own, *(name for name in TOOLS if name in names))
    return {name: _tool(name, without, by_handle=by_handle) for name in ordered}
