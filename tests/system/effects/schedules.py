"""A schedule: a call, what goes wrong with it and when; and the making of any number of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from hypothesis import strategies as st

from tests.support.cutting_harms import POSITIONS, Harm

REST_WRITES = (
    "bookings.create",
    "bookings.confirm",
    "bookings.cancel",
    "tickets.cancel",
    "tickets.mark_paid",
)
MCP_WRITES = ("mcp.create_booking", "mcp.confirm_booking", "mcp.cancel_ticket")
READS = (
    "availability.search",
    "bookings.get",
    "tickets.get",
    "tickets.pdf",
    "catalogue.ports",
    "mcp.view_ticket",
    "mcp.ports",
)
GROUPS = (*((name,) for name in REST_WRITES + MCP_WRITES), READS)
"""What is explored apart from the rest: each write, and the reads together."""

EFFECTS = {
    **{name: name for name in REST_WRITES},
    "mcp.create_booking": "bookings.create",
    "mcp.confirm_booking": "bookings.confirm",
    "mcp.cancel_ticket": "tickets.cancel",
}
"""What a write does, by the name under which the service counts it."""

REPEATABLE = frozenset({*EFFECTS} - {"bookings.create", "mcp.create_booking", "tickets.mark_paid"})
"""Writes that the service refuses the second time. It takes the same payment twice."""

_SIDE_READS = {
    "bookings.confirm": ("bookings.get",),
    "bookings.cancel": ("bookings.get", "bookings.cancel_fee"),
    "tickets.cancel": ("tickets.get", "bookings.cancel_fee"),
    "tickets.mark_paid": ("bookings.get", "tickets.get"),
    "mcp.create_booking": ("mcp.initialize",),
    "mcp.confirm_booking": ("mcp.initialize", "bookings.get"),
    "mcp.cancel_ticket": ("mcp.initialize", "mcp.view_ticket"),
    "mcp.view_ticket": ("mcp.initialize",),
    "mcp.ports": ("mcp.initialize",),
}
"""What else a call may ask: guards and handshakes before it, read-backs after it."""


@dataclass(frozen=True, slots=True)
class Trouble:
    kind: str
    operation: str
    after: int = 0
    times: int | None = 1
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Schedule:
    operation: str
    harms: tuple[Harm, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    is_async: bool = False
    deadline: float = 0.3
    timeout: float | None = None
    max_retries: int = 2
    token: Literal["text", "function", "stale"] = "text"
    callers: int = 1
    is_warm: bool = False
    is_guarded: bool = False
    is_raw: bool = False
    by_view: bool = False
    is_recorded: bool = False
    is_pickled: bool = False
    is_repeated: bool = False

    @property
    def is_write(self):
        return self.operation in EFFECTS

    @property
    def is_mcp(self):
        return self.operation.startswith("mcp.")

    def stretch(self, factor):
        def slower(trouble):
            times = {name: n * factor for name, n in trouble.details.items() if name == "seconds"}
            return replace(trouble, details=trouble.details | times)

        return replace(
            self,
            deadline=self.deadline * factor,
            timeout=None if self.timeout is None else self.timeout * factor,
            harms=tuple(replace(one, seconds=one.seconds * factor) for one in self.harms),
            troubles=tuple(map(slower, self.troubles)),
        )


_AFTER = st.sampled_from((0, 0, 0, 0, 0, 1, 1, 2, 3))
_TIMES = st.sampled_from((1, 1, 2, 3, None))
_AT = st.sampled_from(POSITIONS)
_AMPLE = st.sampled_from((0.15, 0.3, 0.8, 1.5, 1.5))
_SCARCE = st.sampled_from((0.15, 0.15, 0.2, 0.2, 0.3, 0.3, 0.5, 0.8, 1.5))  # a read-back takes all
_SHORT = st.sampled_from((0.03, 0.13, 0.26))  # no time-out, so that none is a draw


def _harms(*kinds, **drawn):
    """Harms of these kinds; a kind that is named twice is drawn twice as often."""
    return (st.builds(Harm, st.just(kind), after=_AFTER, **drawn) for kind in kinds)


_CUTS = {"at": _AT, "reset": st.booleans(), "times": _TIMES}
_HARMS = st.one_of(
    *_harms("refuse", seconds=st.sampled_from((0.0, 0.05, 0.2))),
    st.builds(Harm, st.just("unreachable"), after=st.sampled_from((0, 0, 1))),
    *_harms(*("cut_request", "cut_reply") * 4, **_CUTS),
    *_harms("close", reset=st.booleans(), times=_TIMES),
    *_harms("swallow", "withhold", times=_TIMES),
    *_harms("delay_request", "delay_reply", seconds=_SHORT, times=_TIMES),
    *_harms("trickle", seconds=st.sampled_from((0.0003, 0.002, 0.02)), times=_TIMES),
)
_RETRY_AFTER = st.sampled_from((None, 0, 1))
_STATUS = st.sampled_from((500, 502, 503))
_FAILING = st.fixed_dictionaries({"status": _STATUS, "retry_after": _RETRY_AFTER})
_PAGE = st.fixed_dictionaries({"status": st.sampled_from((None, 200, 502))})
_RESET = st.fixed_dictionaries({"reset": st.booleans()})
_SECONDS = st.fixed_dictionaries({"seconds": _SHORT})
_NOTHING = st.just({})
_PLAIN_KINDS = (
    "request_timeout",
    "request_timeout_after",
    "not_acceptable",
    "close_connection",
    "wrong_shape",
    "missing_field",
    "null_field",
)
_KINDS = {
    **dict.fromkeys(_PLAIN_KINDS, _NOTHING),
    **dict.fromkeys(("cut_before", "lose_reply"), _RESET),
    **dict.fromkeys(("delay_before", "delay_after", "trickle", "left_open"), _SECONDS),
    **dict.fromkeys(("server_error", "server_error_after"), _FAILING),
    **dict.fromkeys(("html_page", "not_json", "not_utf8", "empty_body"), _PAGE),
    "rate_limited": st.fixed_dictionaries({"retry_after": _RETRY_AFTER, "as_date": st.booleans()}),
    "unauthorized": st.fixed_dictionaries({"status": st.sampled_from((401, 401, 403))}),
    "redirect": st.fixed_dictionaries({"status": st.sampled_from((301, 302, 303, 307, 308))}),
    "truncate": st.fixed_dictionaries(
        {"keep": st.sampled_from((0.0, 0.5, 1.0)), "chunked": st.booleans(), "reset": st.booleans()}
    ),
}
_SESSION_KINDS = {"session_expired": _NOTHING, "session_required": _NOTHING}
_RESULTS = (
    "structured",
    "text",
    "bare",
    "naked",
    "batch",
    "embedded_resource",
    "plain_text",
    "empty",
    "input_required",
    "unknown_result_type",
)
_ENVELOPES = st.one_of(
    st.fixed_dictionaries(
        {"result": st.sampled_from(_RESULTS), "reply": st.sampled_from(("json", "sse"))}
    ),
    st.just({"reply": "sse", "left_open": True}),
    st.just({"reply": "sse", "ended_early": True}),
    st.just({"status": 500}),
)


@st.composite
def _troubles(draw, operation):
    aim = draw(st.sampled_from((operation, operation, *_SIDE_READS.get(operation, ()))))
    kinds = _KINDS
    if aim.startswith("mcp."):
        kinds = {**_KINDS, **_SESSION_KINDS, **_SESSION_KINDS, "mcp_envelope": _ENVELOPES}
    kind = draw(st.sampled_from([*kinds]))
    details = draw(kinds[kind])
    return Trouble(kind, aim, draw(_AFTER), draw(_TIMES), details)


@st.composite
def schedules(draw, operations, *, is_async):
    operation = draw(st.sampled_from(operations))
    counts = ((1, 0), (0, 1), (1, 0), (0, 1), (1, 1), (2, 0), (0, 2))
    harms, troubles = draw(st.sampled_from(counts))
    makes = operation in {"bookings.create", "mcp.create_booking"}
    return Schedule(
        operation=operation,
        harms=tuple(draw(_HARMS) for _ in range(harms)),
        troubles=tuple(draw(_troubles(operation)) for _ in range(troubles)),
        is_async=is_async,
        deadline=draw(_AMPLE if makes or operation in READS else _SCARCE),
        timeout=draw(st.sampled_from((None, None, 0.05, 0.1, 0.3))),
        max_retries=draw(st.sampled_from((0, 1, 2, 3))),
        token=draw(st.sampled_from(("text", "text", "function", "stale"))),
        callers=1 if makes else draw(st.sampled_from((1, 1, 1, 2))),
        is_warm=draw(st.booleans()),
        is_guarded=draw(st.booleans()),
        is_raw=draw(st.booleans()),
        by_view=draw(st.booleans()),
        is_recorded=draw(st.booleans()),
        is_pickled=draw(st.booleans()),
        is_repeated=operation in REPEATABLE and draw(st.sampled_from((False, False, True))),
    )
