"""A schedule: a call, what goes wrong with it and when; and the making of any number of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from hypothesis import strategies as st

from tests.support.cutting_harms import POSITIONS, Harm

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    "bookings.create": (),
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
    """A fault of the service's own."""

    kind: str
    operation: str
    after: int = 0
    times: int | None = 1
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Schedule:
    """A call, and what goes wrong with it."""

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
        """Whether it changes something."""
        return self.operation in EFFECTS

    @property
    def is_mcp(self):
        """Whether it speaks the other protocol."""
        return self.operation.startswith("mcp.")

    def stretch(self, factor):
        """Return the same schedule on a slower clock: every time in it is longer."""
        return replace(
            self,
            deadline=self.deadline * factor,
            timeout=None if self.timeout is None else self.timeout * factor,
            harms=tuple(replace(one, seconds=one.seconds * factor) for one in self.harms),
            troubles=tuple(
                replace(one, details={**one.details, "seconds": one.details["seconds"] * factor})
                if "seconds" in one.details
                else one
                for one in self.troubles
            ),
        )


_AFTER = st.sampled_from((0, 0, 0, 0, 0, 1, 1, 2, 3))
_TIMES = st.sampled_from((1, 1, 2, 3, None))
_AT = st.sampled_from(POSITIONS)
_AMPLE = st.sampled_from((0.15, 0.3, 0.8, 1.5, 1.5))
_SCARCE = st.sampled_from((0.15, 0.15, 0.2, 0.2, 0.3, 0.3, 0.5, 0.8, 1.5))  # a read-back takes all
_SHORT = st.sampled_from((0.03, 0.13, 0.26))  # no time-out, so that none is a draw

_HARMS = st.one_of(
    st.builds(Harm, st.just("refuse"), seconds=st.sampled_from((0.0, 0.05, 0.2)), after=_AFTER),
    st.builds(Harm, st.just("unreachable"), after=st.sampled_from((0, 0, 1))),
    *(
        st.builds(Harm, st.just(kind), _AT, st.booleans(), after=_AFTER, times=_TIMES)
        for kind in ("cut_request", "cut_reply") * 2
    ),
    st.builds(Harm, st.just("close"), reset=st.booleans(), after=_AFTER, times=_TIMES),
    *(
        st.builds(Harm, st.just(kind), _AT, st.booleans(), after=_AFTER, times=_TIMES)
        for kind in ("cut_request", "cut_reply", "cut_request", "cut_reply")
    ),
    *(
        st.builds(Harm, st.just(kind), after=_AFTER, times=_TIMES)
        for kind in ("swallow", "withhold")
    ),
    *(
        st.builds(Harm, st.just(kind), seconds=_SHORT, after=_AFTER, times=_TIMES)
        for kind in ("delay_request", "delay_reply")
    ),
    st.builds(
        Harm,
        st.just("trickle"),
        seconds=st.sampled_from((0.0003, 0.002, 0.02)),
        after=_AFTER,
        times=_TIMES,
    ),
)

_RETRY_AFTER = st.sampled_from((None, 0, 1))
_STATUS = st.sampled_from((500, 502, 503))
_FAILING = st.fixed_dictionaries({"status": _STATUS, "retry_after": _RETRY_AFTER})
_PAGE = st.fixed_dictionaries({"status": st.sampled_from((None, 200, 502))})
_RESET = st.fixed_dictionaries({"reset": st.booleans()})
_SECONDS = st.fixed_dictionaries({"seconds": _SHORT})
_NOTHING = st.just({})
_KINDS = {
    "cut_before": _RESET,
    "delay_before": _SECONDS,
    "rate_limited": st.fixed_dictionaries({"retry_after": _RETRY_AFTER, "as_date": st.booleans()}),
    "server_error": _FAILING,
    "request_timeout": _NOTHING,
    "unauthorized": st.fixed_dictionaries({"status": st.sampled_from((401, 401, 403))}),
    "not_acceptable": _NOTHING,
    "redirect": st.fixed_dictionaries({"status": st.sampled_from((301, 302, 303, 307, 308))}),
    "lose_reply": _RESET,
    "truncate": st.fixed_dictionaries(
        {"keep": st.sampled_from((0.0, 0.5, 1.0)), "chunked": st.booleans(), "reset": st.booleans()}
    ),
    "delay_after": _SECONDS,
    "trickle": _SECONDS,
    "left_open": _SECONDS,
    "close_connection": _NOTHING,
    "server_error_after": _FAILING,
    "request_timeout_after": _NOTHING,
    "html_page": _PAGE,
    "not_json": _PAGE,
    "not_utf8": _PAGE,
    "empty_body": _PAGE,
    "wrong_shape": _NOTHING,
    "missing_field": _NOTHING,
    "null_field": _NOTHING,
}
_SESSION_KINDS = {"session_expired": _NOTHING, "session_required": _NOTHING}
_ENVELOPES = st.one_of(
    st.fixed_dictionaries(
        {
            "result": st.sampled_from(
                (
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
            ),
            "reply": st.sampled_from(("json", "sse")),
        }
    ),
    st.fixed_dictionaries({"reply": st.just("sse"), "left_open": st.just(True)}),
    st.fixed_dictionaries({"reply": st.just("sse"), "ended_early": st.just(True)}),
    st.fixed_dictionaries({"status": st.just(500)}),
)


@st.composite
def _troubles(draw, operation):
    aims = (operation, operation, *_SIDE_READS.get(operation, ()))
    aim = draw(st.sampled_from(aims))
    kinds = _KINDS
    if aim.startswith("mcp."):
        kinds = {**_KINDS, **_SESSION_KINDS, **_SESSION_KINDS, "mcp_envelope": _ENVELOPES}
    kind = draw(st.sampled_from([*kinds]))
    details = draw(kinds[kind])
    return Trouble(kind, aim, draw(_AFTER), draw(_TIMES), details)


@st.composite
def schedules(draw, operations, *, is_async):
    """Schedules of these operations; what goes wrong is one thing or two."""
    operation = draw(st.sampled_from(operations))
    harms, troubles = draw(
        st.sampled_from(((1, 0), (0, 1), (1, 0), (0, 1), (1, 1), (2, 0), (0, 2)))
    )
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
