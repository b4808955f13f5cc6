"""Answers for errors: a stable code, what happened, and what the agent should do next."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any, Final

from pydantic import JsonValue

from ferry_sdk._runtime.data import data_beside
from ferry_sdk._runtime.money import format_amount
from ferry_sdk.agents.policy.audit import looks_like_id
from ferry_sdk.agents.tools.sanitize import clean_text
from ferry_sdk.agents.tools.trip_tools import place_of
from ferry_sdk.agents.tools.views import view_of
from ferry_sdk.errors import (
    AlreadyDoneError,
    APIError,
    FerryError,
    InvalidInputError,
    PenaltyExceededError,
    PriceChangedError,
    UnresolvedWriteError,
)
from ferry_sdk.models.bookings import BookingCancellation
from ferry_sdk.models.tickets import TicketCancellation

Answer = dict[str, Any]

_DATA: Final = data_beside(__file__)
NEXT_STEPS: Final[Mapping[str, str]] = _DATA["next_steps"]
"""What the agent should do after each of the toolkit's own codes."""
_AFTER_ERRORS: Final[Mapping[str, str]] = _DATA["after_errors"]
"""The same by the class of an error, perhaps with its status; a text or a key of `NEXT_STEPS`."""
TEXTS: Final[Mapping[str, str]] = _DATA["texts"]
"""What an answer says besides, and what a person is told."""
REFUSALS: Final[Mapping[str, tuple[str, str]]] = _DATA["refusals"]
"""The code and the message of each reason for which a call is refused."""
_AMOUNTS: Final[Mapping[str, str]] = _DATA["amounts"]
"""The amounts that an answer names, with the attributes of the errors that hold them."""
_LONGEST: Final = 600
"""Characters of a message: those of a service have 500, and the status and the code follow."""
_MAX_CANDIDATES: Final = 10


class RefusedError(Exception):
    """The toolkit refuses a call; nothing was sent.

    Args:
        reason: A key of `REFUSALS`.
        values: What the message names.
        details: Fields of the answer's error.

    Attributes:
        code: The code of the answer.
        answer: The answer.
    """

    def __init__(self, reason: str, *values: object, **details: Any) -> None:  # noqa: ANN401 -- any JSON
        self.code: str = REFUSALS[reason][0]
        message = REFUSALS[reason][1].format(*values)
        super().__init__(message)
        self.answer: Answer = _error_answer("refused", self.code, message, **details)


def done_answer(result: JsonValue, notes: Iterable[str] = ()) -> Answer:
    """Return the answer for a call that succeeded; `notes` say what to know besides."""
    answer: Answer = {"status": "done", "result": result}
    texts = [*notes]
    return {**answer, "notes": texts} if texts else answer


def unknown_answer(correlation_id: str, booking_id: str | None = None) -> Answer:
    """Return the answer for a write that may have happened.

    Args:
        correlation_id: The id that its request carried.
        booking_id: The booking that the failed reply of a create named.
    """
    next_step, details = _after_unknown(booking_id)
    return _error_answer(
        "unknown",
        "outcome_unknown",
        "it may have happened; the outcome is not known yet",
        outcome="unknown",
        next_step=f"{next_step} Correlation id: {correlation_id}",
        correlation_id=correlation_id,
        **details,
    )


def repeated_unknown(correlation_id: str, booking_id: str | None) -> RefusedError:
    """Return the refusal of a write that may have happened before; see `unknown_answer`."""
    next_step, details = _after_unknown(booking_id)
    return RefusedError(
        "outcome_unknown", correlation_id=correlation_id, next_step=next_step, **details
    )


def _after_unknown(booking_id: str | None) -> tuple[str, dict[str, str]]:
    """Return what the agent should do, and the booking if its id looks like one."""
    if booking_id is None:
        return NEXT_STEPS["outcome_unknown"], {}
    details = {"booking_id": booking_id} if looks_like_id(booking_id) else {}
    return TEXTS["named_booking"], details


def failure_answer(error: FerryError, party: str = "passengers") -> Answer:
    """Return the answer for a failed call, other than a write that may have happened.

    A read changes nothing, so its outcome is never ``unknown`` here: the agent may call again.

    Args:
        error: Why the call failed.
        party: The name of the argument that holds the travellers.
    """
    message = clean_text(str(error), _LONGEST)
    details: dict[str, Any] = {}
    if isinstance(error, InvalidInputError):
        message, field = (
            re.sub(r"\[(\d+)\]", r".\1", text).replace("passengers.", f"{party}.")
            for text in (message, clean_text(error.field, 100))
        )
        ports = getattr(error, "candidates", getattr(error, "suggestions", None))
        if ports is not None:
            details["candidates"] = [place_of(port) for port in ports[:_MAX_CANDIDATES]]
        return _error_answer("refused", code_of(error), message, field=field, **details)
    if error.correlation_id is not None:
        details["correlation_id"] = error.correlation_id
    if isinstance(error, UnresolvedWriteError):  # the id of the write that may have happened
        details["correlation_id"] = error.entry.correlation_id
        if error.entry.booking_id is not None and looks_like_id(error.entry.booking_id):
            details["booking_id"] = error.entry.booking_id
    if isinstance(error, AlreadyDoneError):
        details["result"] = view_of(error.result, "short")
    if isinstance(error, PriceChangedError | PenaltyExceededError):
        amounts = {name: getattr(error, its, None) for name, its in _AMOUNTS.items()}
        details |= {
            name: format_amount(amount) for name, amount in amounts.items() if amount is not None
        }
        details |= {"currency": error.currency, "expected_currency": error.expected_currency}
    retry_after = error.retry_after if isinstance(error, APIError) else None
    if retry_after is not None and isfinite(retry_after):
        details["retry_after"] = retry_after
    return _error_answer(
        "failed",
        code_of(error),
        message,
        outcome="not_sent" if error.outcome == "unknown" else error.outcome,
        next_step=_next_step(error),
        **details,
    )


def internal_error(error: Exception) -> Answer:
    """Return the answer for an unexpected exception, without its text, which may hold secrets."""
    message = f"the tool failed ({type(error).__name__})"
    return _error_answer("failed", "internal_error", message)


def _error_answer(
    status: str,
    code: str,
    message: str,
    *,
    outcome: str = "not_sent",
    next_step: str | None = None,
    **details: Any,  # noqa: ANN401 -- any JSON
) -> Answer:
    if details.get("candidates") == []:
        next_step = _DATA["without_candidates"][code]
    error = {"code": code, "message": message, "outcome": outcome}
    error["next_step"] = next_step or NEXT_STEPS[code]
    return {"status": status, "error": {**error, **details}}


def _next_step(error: FerryError) -> str:
    if isinstance(error, AlreadyDoneError):
        return NEXT_STEPS[code_of(error)]
    status = error.status_code if isinstance(error, APIError) else None
    keys = (
        key
        for kind in type(error).__mro__
        for key in (f"{kind.__name__} {status}", kind.__name__)
        if key in _AFTER_ERRORS
    )
    step = _AFTER_ERRORS[next(keys)]
    return NEXT_STEPS.get(step, step)


def code_of(error: FerryError) -> str:
    """Return the service's code in lower case if it is known, else the error's name."""
    if isinstance(error, APIError) and error.code and error.code in _DATA["service_codes"]:
        return error.code.lower()
    if isinstance(error, AlreadyDoneError):
        is_end = isinstance(error.result, BookingCancellation | TicketCancellation)
        return "already_cancelled" if is_end else "already_paid"
    name = type(error).__name__
    snake_case = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.removesuffix("Error")).lower()
    return str(_DATA["codes"].get(name, snake_case))
