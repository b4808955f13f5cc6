"""Why the service says no, before it is put into words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong: which text says it, with what values, about which field if any."""

    text: str
    path: str | None = None
    values: Mapping[str, object] = field(default_factory=dict[str, object])


class RefusedError(Exception):
    """A request is refused: an HTTP status, and at least one problem."""

    def __init__(self, status: int, *problems: Problem) -> None:
        super().__init__(status, *problems)
        self.status = status
        self.problems = problems


class MalformedError(RefusedError):
    """A request that is wrong in itself, whatever the state of the service."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(422, *problems)


def invalid(path: str, text: str, **values: object) -> RefusedError:
    """What was asked cannot be: the field at `path` says why."""
    return RefusedError(422, Problem(text, path, values))


def conflict(text: str, **values: object) -> RefusedError:
    """What was asked does not fit the present state."""
    return RefusedError(409, Problem(text, None, values))


def not_found(text: str, path: str | None = None, **values: object) -> RefusedError:
    """There is no such thing."""
    return RefusedError(404, Problem(text, path, values))
