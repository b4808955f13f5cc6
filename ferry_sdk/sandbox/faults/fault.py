"""A fault: its kind, its details, and the requests that it hits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, JsonValue
from pydantic_core import PydanticCustomError

from ferry_sdk.sandbox.faults.kinds import FaultKind
from ferry_sdk.sandbox.operations import OPERATIONS
from ferry_sdk.sandbox.requests.control import ControlModel
from ferry_sdk.sandbox.requests.errors import parse_fields


def _check_operation(pattern: str) -> str:
    if not any(fnmatchcase(name, pattern) for name in OPERATIONS):
        raise PydanticCustomError("operation", "No operation matches this name or pattern")
    return pattern


class FaultRequest(ControlModel, extra="allow", strict=True):
    """The fields of every fault request; the others are the details of its kind.

    Attributes:
        kind: The kind of failure.
        operation: An operation, or a pattern with `*`, `?` and `[…]`; all by default.
        company: Only searches of this company fail.
        times: How often the fault occurs, once by default; null for always.
        after: How many matching requests pass first.
    """

    kind: Annotated[FaultKind, Field(strict=False)]
    operation: Annotated[str, AfterValidator(_check_operation)] = "*"
    company: Annotated[str, Field(min_length=1)] | None = None
    times: Annotated[int, Field(ge=1)] | None = 1
    after: Annotated[int, Field(ge=0)] = 0


@dataclass(frozen=True, slots=True)
class Fault:
    """A requested fault: what fails, for which operations, when and how often.

    Attributes:
        kind: The kind of failure.
        operation: A name of `OPERATIONS`, or a pattern with `*`, `?` and `[…]`.
        company: The company of the searches that fail; `None` for any request.
        times: How often the fault occurs; `None` for always.
        after: How many matching requests pass before it first occurs.
        details: The details of the kind.
    """

    kind: FaultKind
    operation: str
    company: str | None
    times: int | None
    after: int
    details: BaseModel

    @staticmethod
    def read(request: Mapping[str, object]) -> Fault:
        """Return the fault that a fault request describes.

        Raises:
            InvalidOrderError: A field is unknown or has an invalid value; a `ValueError`.
        """
        common = parse_fields(FaultRequest, request)
        details = parse_fields(common.kind.details, common.model_extra or {})
        return Fault(
            kind=common.kind,
            operation=common.operation,
            company=common.company,
            times=common.times,
            after=common.after,
            details=details,
        )

    def to_wire(self) -> dict[str, JsonValue]:
        """Return the fault request as JSON."""
        wire: dict[str, JsonValue] = {"kind": self.kind.value, "operation": self.operation}
        if self.company is not None:
            wire["company"] = self.company
        wire["times"] = self.times
        wire["after"] = self.after
        return {**wire, **self.details.model_dump(mode="json", exclude_unset=True)}
