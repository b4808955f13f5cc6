"""What a client said in a run, held against what the server did: every promise that was broken."""

import asyncio
import pickle
import re
import traceback
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from html import unescape
from typing import Any

from ferry_sdk import FerryError, OutcomeUnknownError, UnexpectedResponseError, UnresolvedWriteError
from tests.system.effects.judging import SLACK, SOFT
from tests.system.effects.schedules import EFFECTS

from .runs import PLACES, TOKENS

_STANDSTILL = 0.5
_MEMORY = 300_000_000


@dataclass(slots=True)
class Outcome:
    call: Any
    correlation_id: str
    intent: tuple[str, str]  # what makes two of its effects the same
    subject: str  # the id of what it was about; empty where it makes one
    value: Any = None
    error: BaseException | None = None
    traceback: str = ""
    seconds: float = 0.0
    exchanges: list[Any] = field(default_factory=list)  # what the server read of it
    effects: list[Any] = field(default_factory=list)  # what was done in this call
    state: str | None = None  # in the journal; None without one, or where it is not there
    again: Any = None  # what the same call gave, made once more when all was well
    effects_after: int = 0  # how often it was done, all in all

    def set_error(self, error):
        """Keep the error, and nothing alive that it came through."""
        self.traceback = "".join(traceback.format_exception(error))
        self.error = error.with_traceback(None)
        self.error.__context__ = None


@dataclass(slots=True)
class Evidence:
    run: Any
    outcomes: list[Outcome] = field(default_factory=list)
    secrets: tuple[str, ...] = ()  # what no error and no log may hold
    log: list[str] = field(default_factory=list)
    noise: list[str] = field(default_factory=list)
    places: int = 0  # how many calls the client still made at a time
    session: Any = None  # what a call in the MCP session gave in the end
    standstill: float = 0.0  # seconds for which the event loop stood still at the longest
    grown: int = 0  # bytes by which the process's memory grew at its highest


def violations(evidence):
    found = [*_of_noise(evidence), *_of_client(evidence)]
    for number, outcome in enumerate(evidence.outcomes):
        # An error hides the travellers that its own call named; a log names nobody.
        is_named = outcome.call.operation in {"bookings.create", "mcp.create_booking"}
        secrets = evidence.secrets if is_named else TOKENS
        broken = [*_of_call(outcome), *_of_words(outcome, secrets)]
        found += [f"call {number}, {outcome.call.operation}: {one}" for one in broken]
    return found


def _of_noise(evidence):
    is_interrupted = any(call.interrupt for call in evidence.run.calls)
    for one in evidence.noise:
        # Python's own `Event.wait` releases the lock of another thread, if it is interrupted
        # while it takes the lock again.
        is_pythons = is_interrupted and one == "thread: RuntimeError('release unlocked lock')"
        yield f"{SOFT}{one}" if is_pythons else one


def _of_client(evidence):
    interrupts = [call.interrupt for call in evidence.run.calls]
    is_ours = not evidence.run.client.endswith(" httpx")  # its pool loses places of its own
    if evidence.places < PLACES and (is_ours or not any(interrupts)):
        yield f"{evidence.places} of {PLACES} places came back"
    if isinstance(evidence.session, BaseException):
        yield f"no call in the session succeeds any more: {evidence.session!r}"
    if evidence.standstill > _STANDSTILL:
        yield f"{SOFT}the event loop stood still for {evidence.standstill:.2f} s"
    if evidence.grown > _MEMORY:
        yield f"{evidence.grown >> 20} MiB of memory were taken"
    for secret in _find_secrets("\n".join(evidence.log), evidence.secrets):
        lines = (line for line in evidence.log if _find_secrets(line, (secret,)))
        yield f"the log holds {secret!r}: {next(lines)}"


def _of_call(it):
    error, is_write = it.error, it.call.operation in EFFECTS
    if it.call.deadline is not None and it.seconds > it.call.deadline + SLACK:
        yield f"{SOFT}late: {it.seconds:.3f} s, deadline {it.call.deadline} s"
    if it.effects_after > 1 or len(it.effects) > 1:
        yield f"it was done {max(it.effects_after, len(it.effects))} times"
    if is_write:
        sent = [one for one in it.exchanges if one.request.operation == it.call.operation]
        yield from (f"sent again after {one}" for one in sent[:-1] if not one.is_turned_away)
        yield from _of_record(it)
    if error is None:
        yield from _of_result(it)
    elif isinstance(error, FerryError):
        yield from _of_error(it, error)
        is_redirect = isinstance(error, UnexpectedResponseError) and error.is_redirect
        is_said = isinstance(error, OutcomeUnknownError) or is_redirect
        if error.outcome == "unknown" and is_write and not is_said:
            yield f"an unknown outcome that is no OutcomeUnknownError: {error!r}"
    elif it.call.interrupt is None or not isinstance(
        error, KeyboardInterrupt | asyncio.CancelledError
    ):
        yield f"an error of another family: {error!r}"


def _of_result(it):
    value = it.value
    ids = {getattr(value, name, None) for name in ("booking_id", "ticket_id", "id")}
    if it.call.operation in EFFECTS:
        if not it.effects:
            if not _was_shown(it):
                yield f"done, said the client, and it was not: {value!r}"
        elif not it.subject and it.effects[0].booking_id not in ids:
            yield f"{it.effects[0].booking_id} was made, and this is the result: {value!r}"
    if it.subject and it.subject not in ids:
        yield f"{it.subject} was asked for, and this is the result: {value!r}"


def _was_shown(it):
    """Return whether a failed create named a booking that the hostile service showed when read."""
    return getattr(it.value, "read_back", False) and "create" in it.call.operation


def _of_error(it, error):
    if error.outcome == "not_sent":
        # A read is repeated freely, and its error is that of the last attempt.
        if it.call.operation in EFFECTS and _arrived(it):
            yield f"not sent, said the client, and it arrived: {error!r} {it.exchanges}"
    elif error.outcome == "rejected":
        contradicted = any(one.stroke.kind.truth == "contradiction" for one in it.exchanges)
        if it.effects and not contradicted:
            yield f"rejected, said the client, and it was done: {error!r} {it.exchanges}"
        if not any(one.is_refused for one in it.exchanges):
            yield f"rejected, said the client, and nothing was refused: {error!r} {it.exchanges}"
    elif error.outcome != "unknown":
        yield f"an outcome of no known name: {error.outcome!r}"


def _arrived(it):
    """Return whether the call's request reached the service, as far as the service can tell.

    Of a request that is cut off in its head, the service does not know the method (``mcp.?``). It
    is a handshake if the call made one, or was turned away, after which the next request is one.
    """
    left = [one for one in it.exchanges if not one.is_turned_away]
    has_handshake = len(left) < len(it.exchanges) or any(
        one.request.operation == "mcp.initialize" for one in it.exchanges
    )
    names = {it.call.operation} if has_handshake else {it.call.operation, "mcp.?"}
    return any(one.request.operation in names for one in left)


def _of_record(it):
    arrival, reported = _arrived(it), "done"
    if it.error is not None:
        reported = it.error.outcome if isinstance(it.error, FerryError) else "interrupted"
    if it.state == "done" and not it.effects and not _was_shown(it):
        yield "on record as done, and it was not"
    if it.state == "not_sent" and arrival:
        yield f"on record as not sent, and it arrived: {it.error!r} {it.exchanges}"
    if (
        it.state == "rejected"
        and it.effects
        and not any(one.stroke.kind.truth == "contradiction" for one in it.exchanges)
    ):
        yield f"on record as rejected, and it was done: {it.error!r} {it.exchanges}"
    if it.state == "none" and arrival:
        yield "it arrived, and is not on record"
    if it.state not in {None, "none", "open", reported} and reported != "interrupted":
        yield f"on record as {it.state}, and the client said {reported}"
    if it.state == "open" and reported != "interrupted":
        yield f"{SOFT}still open on record, and the client said {reported}"
    # What is put on record too late for an interrupted call is taken back when its time comes.
    is_open = it.state not in {None, "none", "not_sent"} or reported == "interrupted"
    if isinstance(it.again, UnresolvedWriteError) and not is_open:
        yield f"{SOFT}refused as unresolved, and it is on record as {it.state}"
    elif isinstance(it.again, BaseException) and not isinstance(it.again, UnresolvedWriteError):
        yield f"made again when all was well, it failed: {it.again!r}"


def _of_words(it, secrets):
    error = it.error
    if error is None:
        return
    shown = {"str": str(error), "repr": repr(error), "traceback": it.traceback}
    if isinstance(error, FerryError):
        pickled = pickle.dumps(error)
        shown["pickle"] = f"{pickled!r} {pickled.decode(errors='ignore')}"
        again = pickle.loads(pickled)
        if (type(again), str(again), again.outcome) != (type(error), str(error), error.outcome):
            yield f"its pickle is another error: {again!r}, of {error!r}"
    for where, text in shown.items():
        yield from (f"its {where} holds {one!r}: {error!r}" for one in _find_secrets(text, secrets))


def _find_secrets(text, secrets):
    plain = _plain(text)
    return [
        secret
        for secret in secrets
        if _plain(secret) in plain
        and re.search(rf"(?<!\w){re.escape(_plain(secret))}(?!\w)", plain)
    ]


@lru_cache(maxsize=256)
def _plain(text):
    letters = unicodedata.normalize("NFKD", unescape(text)).casefold()
    if letters.isascii():
        return letters
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
