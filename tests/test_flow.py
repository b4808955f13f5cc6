"""What a call does about each failure is decided without any I/O, by the safety table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from ferry_sdk import (
    SAFETY,
    APIError,
    ConflictError,
    ConnectionFailedError,
    FerryError,
    NotFoundError,
    OutcomeUnknownError,
    RateLimitError,
    ReadOnlyError,
    RequestTimeoutError,
    Safety,
    ServerError,
    UnexpectedResponseError,
)
from ferry_sdk.effects import Effect, Headers, InTurn, Reply, Request, Send, Sleep
from ferry_sdk.flow import run
from ferry_sdk.safety import of_tool
from ferry_sdk.session import McpSession
from ferry_sdk.settings import Secret, Settings
from tests.support.operations import OPERATIONS, UNCOVERED, described

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from ferry_sdk.operation import Operation

READS = [name for name in OPERATIONS if SAFETY[name].is_read]
WRITES = [name for name in OPERATIONS if not SAFETY[name].is_read]


def reply(status: int, body: object = None, **headers: str) -> Reply:
    named = [(name.replace("_", "-"), value) for name, value in headers.items()]
    content = b"" if body is None else json.dumps(body).encode()
    return Reply(status, Headers([("content-type", "application/json"), *named]), content)


NOT_FOUND = reply(404)
"""Ends every call at once, whatever its protocol."""


@dataclass
class Walk:
    """One call driven by hand.

    Attributes:
        script: What becomes of each request in turn: a reply or a failure.
        now: What the fake clock says.
        requests: What was sent.
        waits: Seconds waited.
    """

    script: list[Reply | FerryError]
    now: float = 100.0
    requests: list[Request] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)

    def call(self, operation: Operation[Any], **settings: Any) -> Any:
        known = Settings("https://ferry.example", Secret("tkn-1"), Secret("org-1"))
        used = Settings(**{name: getattr(known, name) for name in known.__slots__} | settings)
        session = McpSession(stage="bare")
        return self._walk(run(operation, used, session, lambda: self.now))

    def _walk(self, steps: Generator[Effect[Any], Any, Any]) -> Any:
        try:
            effect = next(steps)
            while True:
                try:
                    result = self._perform(effect)
                except FerryError as error:
                    effect = steps.throw(error)
                else:
                    effect = steps.send(result)
        except StopIteration as end:
            return end.value

    def _perform(self, effect: Effect[Any]) -> object:
        match effect:
            case Send(request):
                self.requests.append(request)
                self.now += 0.25
                outcome = self.script.pop(0)
                if isinstance(outcome, FerryError):
                    raise outcome
                return outcome
            case Sleep(seconds):
                self.waits.append(seconds)
                self.now += seconds
                return None
            case InTurn():
                return self._walk(effect.steps())
        raise NotImplementedError(effect)


def refused() -> FerryError:
    return ConnectionFailedError("refused", outcome="not_sent")


def pool_full() -> FerryError:
    return RequestTimeoutError("no connection free", outcome="not_sent")


def reset() -> FerryError:
    return ConnectionFailedError("reset", outcome="unknown")


def timed_out() -> FerryError:
    return RequestTimeoutError("no reply", outcome="unknown")


def undecodable() -> FerryError:
    return UnexpectedResponseError("not gzip")


@dataclass(frozen=True)
class Row:
    """A failure and what the contract says about it.

    Attributes:
        failure: A reply, or what makes a failure of the network.
        read_again: Whether a read is sent again.
        write_again: Whether a write is.
        kind: The error of a read that is not, or that ends with it.
        write_kind: The error of a write that is not sent again.
        wait: The exact wait before the next attempt; None is the backoff's.
    """

    failure: Any
    read_again: bool
    write_again: bool
    kind: type[FerryError]
    write_kind: type[FerryError]
    wait: float | None = None

    def made(self) -> Reply | FerryError:
        return self.failure if isinstance(self.failure, Reply) else self.failure()


UNKNOWN = OutcomeUnknownError
TABLE = {
    "refused": Row(refused, True, True, ConnectionFailedError, ConnectionFailedError),
    "pool full": Row(pool_full, True, True, RequestTimeoutError, RequestTimeoutError),
    "429": Row(reply(429), True, True, RateLimitError, RateLimitError),
    "429 after 7": Row(
        reply(429, retry_after="7"), True, True, RateLimitError, RateLimitError, 7.0
    ),
    "429 now": Row(reply(429, retry_after="0"), True, True, RateLimitError, RateLimitError, 0.0),
    "429 after 60": Row(
        reply(429, retry_after="60"), True, True, RateLimitError, RateLimitError, 60.0
    ),
    "429 after 61": Row(reply(429, retry_after="61"), False, False, RateLimitError, RateLimitError),
    "reset": Row(reset, True, False, ConnectionFailedError, UNKNOWN),
    "time-out": Row(timed_out, True, False, RequestTimeoutError, UNKNOWN),
    "408": Row(reply(408), True, False, APIError, UNKNOWN),
    "500": Row(reply(500), True, False, ServerError, UNKNOWN),
    "503 after 3": Row(reply(503, retry_after="3"), True, False, ServerError, UNKNOWN, 3.0),
    "503 after 61": Row(reply(503, retry_after="61"), False, False, ServerError, UNKNOWN),
    "599": Row(reply(599), True, False, ServerError, UNKNOWN),
    "no JSON": Row(reply(200), True, False, UnexpectedResponseError, UNKNOWN),
    "undecodable": Row(undecodable, True, False, UnexpectedResponseError, UNKNOWN),
    "redirect": Row(reply(302), False, False, UnexpectedResponseError, UnexpectedResponseError),
    "404": Row(NOT_FOUND, False, False, NotFoundError, NotFoundError),
    "409": Row(reply(409), False, False, ConflictError, ConflictError),
}
every_row = pytest.mark.parametrize("row", TABLE.values(), ids=TABLE)


@every_row
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_failure_is_repeated_as_the_contract_says(name: str, row: Row, tmp_path: Path) -> None:
    operation = described(name, tmp_path)
    again = row.read_again if operation.safety.is_read else row.write_again
    walk = Walk([row.made(), NOT_FOUND])
    with pytest.raises(FerryError) as info:
        walk.call(operation)
    error = info.value
    assert len(walk.requests) == len(error.attempts) == (2 if again else 1)
    assert [attempt.waited for attempt in error.attempts] == [*walk.waits, 0.0]
    if again:
        assert type(error) is NotFoundError
        (wait,) = walk.waits
        assert wait == row.wait if row.wait is not None else 0 <= wait <= 0.5
    else:
        assert type(error) is (row.kind if operation.safety.is_read else row.write_kind)


@every_row
@pytest.mark.parametrize("max_retries", [0, 1, 3])
def test_no_more_attempts_than_allowed_follow_the_first(
    max_retries: int, row: Row, tmp_path: Path
) -> None:
    for name in ("catalogue.ports", "bookings.confirm", "mcp.ports", "mcp.confirm_booking"):
        operation = described(name, tmp_path)
        again = row.read_again if operation.safety.is_read else row.write_again
        count = max_retries + 1 if again else 1
        walk = Walk([row.made() for _ in range(count)])
        with pytest.raises(FerryError) as info:
            walk.call(operation, max_retries=max_retries)
        assert type(info.value) is (row.kind if operation.safety.is_read else row.write_kind)
        assert len(info.value.attempts) == len(walk.requests) == count
        assert len(walk.waits) == count - 1


@every_row
@pytest.mark.parametrize("name", ["catalogue.ports", "bookings.confirm", "mcp.confirm_booking"])
def test_an_error_says_what_became_of_the_call(name: str, row: Row, tmp_path: Path) -> None:
    walk = Walk([row.made()])
    with pytest.raises(FerryError) as info:
        walk.call(described(name, tmp_path), max_retries=0, correlation_id="c-1")
    error = info.value
    failure = row.made()
    if isinstance(failure, Reply):
        refusal = 400 <= failure.status_code < 500 and failure.status_code != 408
        assert error.outcome == ("rejected" if refusal else "unknown")
        assert error.attempts[0].status_code == failure.status_code
    else:
        assert error.outcome == failure.outcome
        assert error.attempts[0].sent == (failure.outcome != "not_sent")
    assert error.operation == name
    assert error.correlation_id == "c-1"


def test_waits_are_full_jitter_that_doubles_up_to_eight_seconds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bounds: list[tuple[float, float]] = []

    def uniform(low: float, high: float) -> float:
        bounds.append((low, high))
        return high / 2

    monkeypatch.setattr("tenacity.wait.random.uniform", uniform)
    walk = Walk([reply(503) for _ in range(8)])
    with pytest.raises(ServerError):
        walk.call(described("catalogue.ports", tmp_path), max_retries=7)
    assert bounds[:7] == [(0, high) for high in (0.5, 1, 2, 4, 8, 8, 8)]
    assert walk.waits == [0.25, 0.5, 1, 2, 4, 4, 4]


def test_waits_differ_from_call_to_call(tmp_path: Path) -> None:
    waits: set[float] = set()
    for _ in range(20):
        walk = Walk([reset(), NOT_FOUND])
        with pytest.raises(NotFoundError):
            walk.call(described("catalogue.ports", tmp_path))
        waits |= {*walk.waits}
    assert len(waits) > 10


def test_a_date_to_come_back_at_is_waited_for(tmp_path: Path) -> None:
    walk = Walk([reply(429, retry_after="Wed, 21 Oct 2015 07:28:00 GMT"), NOT_FOUND])
    with pytest.raises(NotFoundError):
        walk.call(described("bookings.create", tmp_path))
    assert walk.waits == [0.0]


def test_different_failures_count_together(tmp_path: Path) -> None:
    walk = Walk([refused(), reply(429, retry_after="2"), timed_out()])
    with pytest.raises(OutcomeUnknownError) as info:
        walk.call(described("bookings.create", tmp_path))
    problems = [attempt.problem for attempt in info.value.attempts]
    assert problems == ["ConnectionFailedError", "RateLimitError", "RequestTimeoutError"]
    assert [attempt.sent for attempt in info.value.attempts] == [False, True, True]
    assert walk.waits[1] == 2.0


def test_a_success_after_failures_has_all_attempts_and_the_time_they_took(tmp_path: Path) -> None:
    good = reply(200, {"ports": []}, x_request_id="r-2")
    walk = Walk(
        [reply(429, retry_after="5"), reply(503, retry_after="1", x_request_id="r-1"), good]
    )
    raw = walk.call(described("catalogue.ports", tmp_path))
    assert list(raw.parse()) == []
    assert [attempt.status_code for attempt in raw.attempts] == [429, 503, 200]
    assert [attempt.waited for attempt in raw.attempts] == [5.0, 1.0, 0.0]
    assert [attempt.request_id for attempt in raw.attempts] == [None, "r-1", "r-2"]
    assert raw.attempts[-1].problem is None
    assert raw.elapsed == pytest.approx(3 * 0.25 + 6)


def test_attempts_of_a_call_carry_one_correlation_id_and_calls_their_own(tmp_path: Path) -> None:
    seen = []
    for _ in range(2):
        walk = Walk([reply(503), reply(503), NOT_FOUND])
        with pytest.raises(NotFoundError) as info:
            walk.call(described("catalogue.ports", tmp_path))
        ids = {request.headers["x-client-correlation-id"] for request in walk.requests}
        assert ids == {info.value.correlation_id}
        seen.append(info.value.correlation_id)
    assert seen[0] != seen[1]


@pytest.mark.parametrize("name", WRITES)
def test_a_client_that_only_reads_sends_no_write(name: str, tmp_path: Path) -> None:
    walk = Walk([])
    with pytest.raises(ReadOnlyError) as info:
        walk.call(described(name, tmp_path), read_only=True)
    assert (info.value.operation, info.value.outcome) == (name, "not_sent")
    assert info.value.attempts == ()
    assert walk.requests == []


@pytest.mark.parametrize("name", READS)
def test_a_client_that_only_reads_sends_reads(name: str, tmp_path: Path) -> None:
    walk = Walk([NOT_FOUND])
    with pytest.raises(NotFoundError):
        walk.call(described(name, tmp_path), read_only=True)
    assert len(walk.requests) == 1


def test_every_operation_has_a_row_and_every_row_an_operation(tmp_path: Path) -> None:
    assert not UNCOVERED
    assert SAFETY.keys() == {*OPERATIONS}
    for name in OPERATIONS:
        operation = described(name, tmp_path)
        assert SAFETY[name].operation == operation.name == name
        assert operation.safety is SAFETY[name]


def test_the_writes_are_those_of_the_contract() -> None:
    assert {*WRITES} == {
        "bookings.create",
        "bookings.confirm",
        "bookings.cancel",
        "tickets.cancel",
        "tickets.mark_paid",
        "mcp.create_booking",
        "mcp.confirm_booking",
        "mcp.cancel_ticket",
        "mcp.call_tool",
    }
    assert {row.kind for row in SAFETY.values()} == {"read", "write"}


def test_the_table_cannot_be_changed() -> None:
    table: Any = SAFETY
    assert isinstance(table, Mapping)
    with pytest.raises(TypeError):
        table["bookings.create"] = Safety("bookings.create", "read")
    with pytest.raises(AttributeError):
        table["bookings.create"].kind = "read"


@pytest.mark.parametrize(
    ("tool", "row"),
    [
        ("search_availability", "mcp.search_availability"),
        ("view_ticket", "mcp.view_ticket"),
        ("create_booking", "mcp.create_booking"),
        ("confirm_booking", "mcp.confirm_booking"),
        ("cancel_ticket", "mcp.cancel_ticket"),
        ("paint_ship", "mcp.call_tool"),
        ("ports", "mcp.call_tool"),
        ("list_tools", "mcp.call_tool"),
        ("View_Ticket", "mcp.call_tool"),
    ],
)
def test_a_tool_has_its_row_and_an_unknown_one_is_a_write(tool: str, row: str) -> None:
    assert of_tool(tool) is SAFETY[row]


def test_what_is_no_failure_of_the_service_passes_through_unchanged(tmp_path: Path) -> None:
    steps = run(
        described("bookings.create", tmp_path),
        Settings("https://ferry.example", Secret("tkn-1")),
        McpSession(),
    )
    assert isinstance(next(steps), Send)
    stop = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt) as info:
        steps.throw(stop)
    assert info.value is stop


def test_a_call_that_is_given_up_asks_for_nothing_more(tmp_path: Path) -> None:
    steps = run(
        described("catalogue.ports", tmp_path),
        Settings("https://ferry.example", Secret("tkn-1")),
        McpSession(),
    )
    next(steps)
    steps.close()
    assert list(steps) == []
