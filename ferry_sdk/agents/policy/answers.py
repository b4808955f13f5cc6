"""Answers for an agent, as plain JSON: what a call has come to, and what to do next.

For example, a write that is refused because its id was never shown:

    {
        "status": "refused",
        "error": {
            "code": "unseen_id",
            "message": "no result has shown the booking, or it was shown too long ago, ...",
            "outcome": "not_sent",
            "next_step": "Use ids exactly as a result has shown them. ...",
            "field": "booking_id",
        },
    }

The toolkit's own refusals are `RefusedError`; their texts are in the JSON file beside this module.
`failure_answer` makes the answer for an error of the client.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
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
    AuthenticationError,
    AvailabilityError,
    ConfigurationError,
    ConflictError,
    FerryError,
    InvalidInputError,
    JournalError,
    NotFoundError,
    PenaltyExceededError,
    PermissionDeniedError,
    PriceChangedError,
    RateLimitError,
    ReadOnlyError,
    ServerError,
    UnresolvedWriteError,
)
from ferry_sdk.models.bookings import BookingCancellation
from ferry_sdk.models.tickets import TicketCancellation

Answer = dict[str, Any]

_DATA: Final = data_beside(__file__)
NEXT_STEPS: Final[Mapping[str, str]] = _DATA["next_steps"]
"""What the agent should do after each of the toolkit's own codes."""
TEXTS: Final[Mapping[str, str]] = _DATA["texts"]
"""What an answer says besides, and what a person is told."""
REFUSALS: Final[Mapping[str, tuple[str, str]]] = _DATA["refusals"]
"""The code and the message of each reason for which a call is refused."""
_WITHOUT_CANDIDATES: Final[Mapping[str, str]] = _DATA["without_candidates"]
"""What the agent should do after a code if the answer has no candidate."""
_SERVICE_CODES: Final[Sequence[str]] = _DATA["service_codes"]
"""The codes of the service that an answer repeats, in lower case."""

_AFTER_ERRORS: Final[Mapping[type[FerryError], str]] = {
    InvalidInputError: NEXT_STEPS["invalid_arguments"],
    ReadOnlyError: NEXT_STEPS["writes_disabled"],
    PriceChangedError: NEXT_STEPS["price_changed"],
    PenaltyExceededError: NEXT_STEPS["penalty_exceeded"],
    UnresolvedWriteError: NEXT_STEPS["outcome_unknown"],
    JournalError: NEXT_STEPS["internal_error"],
    ConfigurationError: NEXT_STEPS["internal_error"],
    AuthenticationError: (
        "Do not try again. Tell the user that the service does not accept the account."
    ),
    PermissionDeniedError: "Do not try again. Tell the user that the account may not do this.",
    NotFoundError: "Check the id: use it exactly as a result or the user gave it.",
    RateLimitError: "Wait for retry_after seconds, or a minute, then call again.",
    AvailabilityError: "Try another date, time, company or route, or ask the user.",
    ConflictError: "Read the booking or the ticket again: its state does not allow this.",
    ServerError: "Nothing was done. Call again in a minute; then tell the user.",
    APIError: "Change what the message names. Do not repeat the same call.",
    FerryError: "Nothing was done. Call again in a minute; then tell the user.",
}
"""What the agent should do after an error of a class or, without a row, of its nearest base."""
_AFTER_STATUSES: Final[Mapping[tuple[type[FerryError], int], str]] = {
    (AvailabilityError, 404): (
        "Nothing is sold for this day and time. Try another day or time. Else ask the user."
    ),
    (AvailabilityError, 422): (
        "This cannot be asked, and a later day does not help. Change what the message names: the "
        "company has to sail this journey, between these ports, with this vehicle, and the day has "
        "to be one to come."
    ),
    (APIError, 404): "Nothing was done, because the session had ended. Call again.",
}
"""The same for one status of a class, which comes before the row of the class."""
_CODES: Final[Mapping[type[FerryError], str]] = {
    InvalidInputError: "invalid_arguments",
    ReadOnlyError: "writes_disabled",
    UnresolvedWriteError: "outcome_unknown",
    APIError: "api_error",
    AuthenticationError: "unauthorized",
    ConfigurationError: "configuration_error",
    JournalError: "journal_error",
    RateLimitError: "rate_limited",
    ServerError: "server_error",
}
"""The codes of errors whose code is not their name."""

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
        self.code: str
        self.code, text = REFUSALS[reason]
        message = text.format(*values)
        super().__init__(message)
        self.answer: Answer = _error_answer("refused", self.code, message, **details)


def done_answer(result: JsonValue, notes: Iterable[str] = ()) -> Answer:
    """Return the answer for a call that succeeded; `notes` say what to know besides."""
    answer: Answer = {"status": "done", "result": result}
    texts = [*notes]
    if texts:
        answer["notes"] = texts
    return answer


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
    if isinstance(error, InvalidInputError):
        return _invalid_input_answer(error, message, party)

    retry_after = error.retry_after if isinstance(error, APIError) else None
    details = _details_of(error)
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


def _invalid_input_answer(error: InvalidInputError, message: str, party: str) -> Answer:
    """Return the answer that names the argument which is wrong, and perhaps candidates for it."""
    details: dict[str, Any] = {}
    ports = getattr(error, "candidates", getattr(error, "suggestions", None))
    if ports is not None:
        details["candidates"] = [place_of(port) for port in ports[:_MAX_CANDIDATES]]
    return _error_answer(
        "refused",
        code_of(error),
        _with_argument_names(message, party),
        field=_with_argument_names(clean_text(error.field, 100), party),
        **details,
    )


def _with_argument_names(text: str, party: str) -> str:
    """Name fields as in the tool's arguments: ``travellers.0.age`` for ``passengers[0].age``."""
    text = re.sub(r"\[(\d+)\]", r".\1", text)
    return text.replace("passengers.", f"{party}.")


def _details_of(error: FerryError) -> dict[str, Any]:
    """Return what an answer says of an error in fields of their own."""
    details: dict[str, Any] = {}
    if error.correlation_id is not None:
        details["correlation_id"] = error.correlation_id

    if isinstance(error, UnresolvedWriteError):  # the id of the write that may have happened
        details["correlation_id"] = error.entry.correlation_id
        if error.entry.booking_id is not None and looks_like_id(error.entry.booking_id):
            details["booking_id"] = error.entry.booking_id

    if isinstance(error, AlreadyDoneError):
        details["result"] = view_of(error.result, "short")

    if isinstance(error, PriceChangedError | PenaltyExceededError):
        for name, amount in _amounts_of(error).items():
            if amount is not None:
                details[name] = format_amount(amount)
        details["currency"] = error.currency
        details["expected_currency"] = error.expected_currency
    return details


def _amounts_of(error: PriceChangedError | PenaltyExceededError) -> dict[str, Decimal | None]:
    if isinstance(error, PriceChangedError):
        return {"expected": error.expected, "found": error.found}
    return {
        "max_penalty": error.limit,
        "penalty": error.penalty,
        "min_refund": error.min_refund,
        "refund": error.refund,
    }


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
        next_step = _WITHOUT_CANDIDATES[code]

    error = {
        "code": code,
        "message": message,
        "outcome": outcome,
        "next_step": next_step or NEXT_STEPS[code],
        **details,
    }
    return {"status": status, "error": error}


def _next_step(error: FerryError) -> str:
    if isinstance(error, AlreadyDoneError):
        return NEXT_STEPS[code_of(error)]

    status = error.status_code if isinstance(error, APIError) else 0
    for kind in type(error).__mro__:
        step = _AFTER_STATUSES.get((kind, status)) or _AFTER_ERRORS.get(kind)
        if step is not None:
            return step
    raise LookupError(f"no next step after {type(error).__name__}")


def code_of(error: FerryError) -> str:
    """Return the service's code in lower case if it is known, else the error's name."""
    if isinstance(error, APIError) and error.code and error.code in _SERVICE_CODES:
        return error.code.lower()
    if isinstance(error, AlreadyDoneError):
        is_end = isinstance(error.result, BookingCancellation | TicketCancellation)
        return "already_cancelled" if is_end else "already_paid"
    if type(error) in _CODES:
        return _CODES[type(error)]
    name = type(error).__name__.removesuffix("Error")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
