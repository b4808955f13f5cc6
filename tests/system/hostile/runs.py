"""A run: some calls of one client, and what each of their requests meets."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Literal

from tests.system.effects.schedules import MCP_WRITES, REST_WRITES

from .kinds import Stroke, stroke

CLIENTS = ("sync", "sync httpx", "async", "async httpx")
TOKENS = ("tkn-Zq81hostile", "org-Zq82hostile")
PLACES = 4
"""Connections that a run's client may have at a time."""

READS = (
    "bookings.get",
    "tickets.get",
    "catalogue.ports",
    "availability.search",
    "mcp.view_ticket",
    "mcp.ports",
)
_NEVER_READ_BACK = {"bookings.create", "mcp.create_booking"}
_SCARCE = (0.15, 0.25, 0.25, 0.4, 0.6)


@dataclass(frozen=True, slots=True)
class Interrupt:
    event: Literal["start", "request", "reply"]
    seconds: float


@dataclass(frozen=True, slots=True)
class Call:
    operation: str
    strokes: tuple[Stroke, ...]
    deadline: float | None
    timeout: float | None
    max_retries: int
    is_guarded: bool
    interrupt: Interrupt | None = None

    @property
    def options(self):
        options = {"deadline": self.deadline, "max_retries": self.max_retries}
        return options if self.timeout is None else options | {"timeout": self.timeout}


@dataclass(frozen=True, slots=True)
class Run:
    number: int
    client: str
    has_journal: bool
    is_warm: bool
    calls: tuple[Call, ...]

    @property
    def is_async(self):
        return self.client.startswith("async")

    @property
    def is_mcp(self):
        return any(call.operation.startswith("mcp.") for call in self.calls)


def draw_run(number):
    dice = Random(number)  # noqa: S311 -- no secret is drawn
    return Run(
        number,
        dice.choice(CLIENTS),
        has_journal=dice.random() < 0.3,
        is_warm=dice.random() < 0.7,
        calls=tuple(_call(dice) for _ in range(dice.choice((1, 2, 2, 3)))),
    )


def _call(dice):
    operation = dice.choice(READS if dice.random() < 0.25 else REST_WRITES + MCP_WRITES)
    protocol = "mcp" if operation.startswith("mcp.") else "rest"
    strokes = tuple(stroke(dice, protocol) for _ in range(dice.choice((1, 1, 1, 2, 3))))
    # An effect that does not show is looked for as long as there is time.
    shows = operation != "tickets.mark_paid" and all(one.does() for one in strokes)
    ends = shows or operation in {*READS, *_NEVER_READ_BACK}
    has_deadline = not ends or dice.random() < 0.6
    return Call(
        operation,
        strokes,
        deadline=dice.choice(_SCARCE) if has_deadline else None,
        timeout=dice.choice((None, 0.1, 0.2)) if has_deadline else 0.15,
        max_retries=dice.choice((0, 1, 2)) if has_deadline else 1,
        is_guarded=dice.random() < 0.3,
        interrupt=_interrupt(dice) if dice.random() < 0.3 else None,
    )


def _interrupt(dice):
    event = dice.choice(("start", "request", "request", "reply", "reply"))
    return Interrupt(event, dice.choice((0.0, dice.random() * 0.003)))
