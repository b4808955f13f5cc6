"""What a client said about a call, held against what came about: every promise that was broken."""

import json
from dataclasses import dataclass, field
from typing import Any

from ferry_sdk import AlreadyDoneError, FerryError, OutcomeUnknownError, UnexpectedResponseError

from .schedules import EFFECTS

SLACK = 0.3
"""Seconds that a call may be past its deadline, and at least its deadline again."""

SOFT = "perhaps "

ADDRESSES = {
    ("POST", "/api/booking"): "bookings.create",
    ("POST", "/api/booking/confirm"): "bookings.confirm",
    ("POST", "/api/booking/cancel"): "bookings.cancel",
    ("POST", "/api/ticket/cancel"): "tickets.cancel",
}
_TURNED_AWAY = {401, 429}
_SUCCESS = range(200, 300)
_REFUSED = {*range(400, 500)} - {408}
_NO_SESSION = {400, 404}
_SHORTEST_CALL = 70


@dataclass(slots=True)
class Outcome:
    value: Any = None
    error: BaseException | None = None
    seconds: float = 0.0
    attempts: tuple[Any, ...] | None = None


@dataclass(slots=True)
class Evidence:
    """All that is known of a schedule that was run: what was said, and what really came about."""

    subject: Any
    outcomes: list[Outcome] = field(default_factory=list)
    effects: tuple[Any, ...] = ()
    passages: tuple[Any, ...] = ()
    accepted: int = 0
    records: dict[str, str] | None = None  # in the journal; None without one
    records_after: dict[str, str] | None = None  # once every unknown outcome was recovered
    recovered: list[Outcome] = field(default_factory=list)
    noise: list[str] = field(default_factory=list)


class Judgement:
    def __init__(self, schedule, evidence):
        self.schedule = schedule
        self.evidence = evidence
        self.writes = self._writes()
        name = EFFECTS.get(schedule.operation)
        self.effects = [effect for effect in evidence.effects if effect.operation == name]

    def violations(self):
        """Every promise that was broken; what a slow machine may be to blame for begins `SOFT`."""
        return [
            *self._of_all(),
            *(one for outcome in self.evidence.outcomes for one in self._of(outcome)),
        ]

    def _of_all(self):
        yield from self.evidence.noise
        if len(self.evidence.outcomes) != self.schedule.callers:
            yield f"{self.schedule.callers} callers received {len(self.evidence.outcomes)} results"
        if len(self.evidence.effects) > len(self.effects):
            yield f"something else was done: {self.evidence.effects}"
        if self.schedule.is_repeated and self.effects:
            yield f"it was done again: {self.effects}"
        if len(self.effects) > 1:
            yield f"it was done {len(self.effects)} times"
        calls = {correlation_of(one) for one in self.writes}
        for call in calls:
            for passage in self._writes_of(call)[:-1]:
                if not is_turned_away(passage):
                    yield f"it was sent again, though this may have been done: {passage}"
        if len(calls) > 1 and self.schedule.is_async and not self.schedule.is_guarded:
            yield f"{SOFT}two tasks at once made two requests: {self.writes}"
        yield from self._of_recoveries()
        yield from self._of_records()

    def _of(self, outcome):
        if outcome.seconds > self.schedule.deadline + max(SLACK, self.schedule.deadline):
            yield f"{SOFT}late: {outcome.seconds:.3f} s, deadline {self.schedule.deadline} s"
        error = outcome.error
        if error is not None and not isinstance(error, FerryError):
            yield f"an error of another family: {error!r}"
        elif self.schedule.is_write:
            yield from self._of_attempts(outcome)
            yield from self._of_result(outcome) if error is None else self._of_error(error)
        elif error is None:
            yield from self._of_reading(outcome)
        elif isinstance(error, OutcomeUnknownError):
            yield f"a read of unknown outcome: {error!r}"
        elif not (self.evidence.passages or self.evidence.accepted) and error.outcome != "not_sent":
            yield f"{SOFT}{error.outcome}, though no connection came about: {error!r}"

    def _of_result(self, outcome):
        if self.schedule.is_repeated:
            if not outcome.value.read_back:
                yield f"done, said the client, and it was done before: {outcome.value}"
            return
        if len(self.effects) != 1:
            yield f"done, said the client, and done {len(self.effects)} times: {outcome.value}"
            return
        effect, value = self.effects[0], outcome.value
        ids = {getattr(value, "booking_id", None), getattr(value, "ticket_id", None)}
        if effect.subject not in ids:
            yield f"done to {effect.subject}, and said of {value}"
        if getattr(value, "read_back", False) and any(
            one.was_answered and status_of(one) in {200, 201} and not self.schedule.troubles
            for one in self.writes
        ):
            yield f"{SOFT}read back, though the reply arrived: {value}"

    def _of_error(self, error):
        mine = self._writes_of(error.correlation_id)
        is_mine = self.effects and (mine or self.schedule.callers == 1)
        is_alone = self.schedule.callers == 1 and not self.schedule.is_repeated
        if isinstance(error, AlreadyDoneError) and is_alone:
            yield f"done before, said the client, and it was not: {error!r}"
        if error.outcome == "not_sent":
            if is_mine:
                yield f"not sent, said the client, and it was done: {error!r}"
            elif not all(is_turned_away(one) for one in mine):
                yield f"not sent, said the client, and it arrived: {error!r} {mine}"
        elif error.outcome == "rejected":
            if is_mine and self.schedule.callers == 1:
                yield f"rejected, said the client, and it was done: {error!r}"
            elif not all(is_refused(one) for one in mine):
                yield f"rejected, said the client, and a request has no refusal: {error!r} {mine}"
            elif not any(is_refused(one) for one in self.evidence.passages):
                yield f"rejected, said the client, and nothing was refused: {error!r}"
        elif error.outcome == "unknown":
            yield from self._of_unknown(error)
        else:
            yield f"an outcome of no known name: {error.outcome!r}"

    def _of_unknown(self, error):
        redirected = any(300 <= status_of(one) < 400 for one in self.writes)
        is_redirect = isinstance(error, UnexpectedResponseError) and error.is_redirect
        if not isinstance(error, OutcomeUnknownError) and not (is_redirect and redirected):
            yield f"an unknown outcome that is no OutcomeUnknownError: {error!r}"
        may_have_been = any(harm.kind == "close" for harm in self.schedule.harms) or any(
            operation_of(one) == "?" for one in self.evidence.passages
        )
        may_have_been |= self._may_have_joined_a_refused_call
        if all(is_refused(one) for one in self.writes) and not may_have_been:
            yield f"{SOFT}unknown, said the client, and no request of it was left open: {error!r}"

    def _of_attempts(self, outcome):
        if outcome.attempts is None or self.schedule.callers > 1:
            return
        sent = [
            one for one in outcome.attempts if one.sent and one.operation == self.schedule.operation
        ]
        # A session that was gone is renewed within one attempt.
        seen = [one for one in self.writes if not lacks_session(one)]
        if len(sent) < len(seen):
            yield f"{len(seen)} requests were seen, attempts have {len(sent)}: {outcome.attempts}"
        if len(outcome.attempts) > 1 and any(one.waited < 0 for one in outcome.attempts):
            yield f"a wait of less than nothing: {outcome.attempts}"

    def _of_reading(self, outcome):
        if self.schedule.troubles:
            return  # a reply may have been spoilt and still be read
        wanted = {
            "bookings.get": ("booking_id", self.evidence.subject.booking_id),
            "tickets.get": ("id", self.evidence.subject.ticket_id),
            "mcp.view_ticket": ("id", self.evidence.subject.ticket_id),
        }.get(self.schedule.operation)
        if wanted is not None and getattr(outcome.value, wanted[0]) != wanted[1]:
            yield f"{wanted[1]} was asked for, and this was given: {outcome.value}"
        if wanted is None and self.schedule.operation != "tickets.pdf" and not len(outcome.value):
            yield "an empty list was given"

    def _of_recoveries(self):
        operation, guarded = self.schedule.operation, self.schedule.is_guarded
        can_be_read = "create" not in operation and (operation != "tickets.mark_paid" or guarded)
        for outcome in self.evidence.recovered:
            if outcome.error is not None and not isinstance(outcome.error, OutcomeUnknownError):
                yield f"recovery raised something else: {outcome.error!r}"
            elif outcome.error is None and not self.effects and not self.schedule.is_repeated:
                yield f"recovered, and nothing was done: {outcome.value}"
            elif outcome.error is None and not outcome.value.read_back:
                yield f"recovered, and it does not say so: {outcome.value}"
            elif outcome.error is not None and self.effects and can_be_read:
                yield f"not recovered, though it was done: {outcome.error!r}"

    def _of_records(self):
        records = self.evidence.records
        if records is None:
            return
        if not self.schedule.is_write:
            if records:
                yield f"a read is on record: {records}"
            return
        if self.writes and not records:
            yield "it left, and is not on record"
        said = {_reported_state(outcome) for outcome in self.evidence.outcomes}
        for state in records.values():
            if state == "open":  # what could not be put on record in time is on record soon
                yield f"{SOFT}still open on record, and the client said {said}"
            elif state not in said:
                yield f"on record as {state}, and the client said {said}"
        is_settled = any(outcome.error is None for outcome in self.evidence.recovered)
        after = {*(self.evidence.records_after or {}).values()} - {"not_sent"}  # another caller's
        true = [{"done"}, {"rejected"}] if self._may_have_joined_a_refused_call else [{"done"}]
        if is_settled and not self.schedule.is_pickled and after not in true:
            yield f"recovered, and on record as {after}"

    @property
    def _may_have_joined_a_refused_call(self):
        """Whether a caller may have left during the read that follows another caller's refusal."""
        return self.schedule.callers > 1 and self.schedule.is_repeated

    def _writes(self):
        found = []
        for passage in self.evidence.passages if self.schedule.is_write else ():
            name = operation_of(passage)
            # What was cut too short to name its tool reads back, where a write is open already.
            is_open = any(not is_refused(one) for one in found)
            if name == self.schedule.operation or (name == "mcp.?" and not is_open):
                found.append(passage)
        return found

    def _writes_of(self, correlation_id):
        if self.schedule.callers == 1:  # what was cut short need not tell whose it is
            return self.writes
        return [one for one in self.writes if correlation_of(one) == correlation_id]


def _reported_state(outcome):
    if outcome.error is None:
        return "done"
    # The record of a call that raised something else is not what is wrong with it.
    return outcome.error.outcome if isinstance(outcome.error, FerryError) else "unknown"


def operation_of(passage):
    """Which operation a request is of; empty for a read of REST, "?" where nothing can be told."""
    if b"\r\n" not in passage.request:
        return "?"
    head, _, body = passage.request.partition(b"\r\n\r\n")
    method, _, rest = head.decode("latin-1").partition(" ")
    path = rest.partition(" ")[0]
    if path == "/mcp":
        return _mcp_operation(head.lower(), body)
    if path.endswith("/mark-paid"):
        return "tickets.mark_paid"
    return ADDRESSES.get((method, path), "")


def correlation_of(passage):
    _, _, rest = passage.request.partition(b"x-client-correlation-id: ")
    return rest.partition(b"\r")[0].decode("latin-1")


def _mcp_operation(head, body):
    try:
        message = json.loads(body)
    except ValueError:
        # Cut short: what opens a session names none, and what is told once it is open is short.
        if b"mcp-session-id" not in head:
            return "mcp.initialize"
        return "mcp.notification" if _content_length(head) < _SHORTEST_CALL else "mcp.?"
    if message["method"] != "tools/call":
        return f"mcp.{message['method']}"
    return f"mcp.{message['params']['name']}"


def _content_length(head):
    value = head.partition(b"\r\ncontent-length:")[2].partition(b"\r")[0].strip()
    return int(value) if value.isdigit() else _SHORTEST_CALL


def status_of(passage):
    parts = passage.reply.split(b" ", 2)
    return int(parts[1]) if len(parts) > 1 else 0


def is_refused(passage):
    head, _, body = passage.reply.partition(b"\r\n\r\n")
    if b"text/event-stream" in head:  # its end may come late, or never
        return b'"error"' in body or b'"isError":true' in body.replace(b" ", b"")
    if not passage.was_answered:
        return False
    status = status_of(passage)
    return status in _REFUSED or (status in _SUCCESS and _is_failure(body))


def _is_failure(body):
    try:
        value = json.loads(body)
    except ValueError:
        return False
    inner = value.get("result") if isinstance(value, dict) else None
    members = [one for one in (value, inner) if isinstance(one, dict)]
    return any(one.get("error") or one.get("isError") for one in members)


def is_turned_away(passage):
    is_so = passage.was_answered and status_of(passage) in _TURNED_AWAY
    return is_so or lacks_session(passage)


def lacks_session(passage):
    is_mcp = operation_of(passage).startswith("mcp.")
    return is_mcp and passage.was_answered and status_of(passage) in _NO_SESSION
