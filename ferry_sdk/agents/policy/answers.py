"""Answers for errors: a stable code, what happened, and what the agent should do next."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from http import HTTPStatus
from math import isfinite
from typing import Any, Final

from pydantic import JsonValue

from ferry_sdk.agents.tools.planning import place_of
from ferry_sdk.agents.tools.sanitize import clean_text
from ferry_sdk.agents.tools.views import view_of
from ferry_sdk.errors import (
    AlreadyDoneError,
    AmbiguousPlaceError,
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
    UnknownPlaceError,
    UnresolvedWriteError,
)
from ferry_sdk.models.bookings import BookingCancellation
from ferry_sdk.models.catalogue import Port
from ferry_sdk.models.display.money import format_amount
from ferry_sdk.models.tickets import TicketCancellation

Answer = dict[str, Any]

NEXT_STEPS: Final[Mapping[str, str]] = {
    "unknown_tool": "Use only the tools you were given.",
    "invalid_arguments": "Correct the field that is named and call again. "
    "Add no field that the tool does not have.",
    "unknown_place": "Call again with the code of a candidate if the user means it; places_find "
    "searches ports by name. Else ask the user.",
    "ambiguous_place": "Call again with the code of the candidate that the user means; "
    "ask the user if that is not clear.",
    "unknown_vehicle": "Call again with the code of a candidate if the user means it. Else ask the "
    "user for make and model in full, such as Volkswagen Golf.",
    "writes_disabled": "Do not try again: only reading is allowed here. "
    "Tell the user what they would have to do themselves.",
    "unseen_id": "Use ids exactly as a result has shown them. Search again for a sailing; "
    "for a booking call bookings_get first, for a ticket tickets_get.",
    "offer_expired": "Search again and use the ids of the new result.",
    "price_changed": "Search or read again, tell the user the new price, "
    "and go on only if they agree.",
    "party_changed": "Correct what the message names, or search again with exactly the travellers "
    "and the vehicle to be booked.",
    "spend_limit": "Do not try again. Tell the user that the spending limit does not allow it.",
    "penalty_limit": "Do not try again. Tell the user what cancelling would cost.",
    "penalty_exceeded": "Tell the user what cancelling costs and pays back now, "
    "and go on with these amounts only if they agree.",
    "declined": "Do not ask again for the same unless the user says so.",
    "approval_failed": "Tell the user that nobody could be asked. Do not try again by yourself.",
    "approval_expired": "Tell the user that the approval came too late; call again for a new one.",
    "code_invalid": "Call again without confirmation_code, or with an empty one, to get a new "
    "summary and code, and show the summary to the user first.",
    "already_done": "Do not repeat this. Use the earlier result.",
    "already_paid": "Do not pay again. Tell the user that the booking is paid; bookings_get lists "
    "its tickets, and tickets_pdf gives a voucher.",
    "already_cancelled": "Do not cancel or pay it. Tell the user that it is cancelled; search "
    "again if they want to travel.",
    "booking_ended": "Do not cancel or pay it. Tell the user that it has ended; search and book "
    "again if they want to travel.",
    "under_way": "Do not repeat this. Wait for the call that is in progress.",
    "outcome_unknown": "Do not repeat this. Tell the user that it may have happened, and that "
    "a person has to look under this correlation id.",
    "internal_error": "Do not try again. Tell the user that the tool is out of order.",
}
"""What the agent should do after each of the toolkit's own codes."""

READ_BACK: Final = "The reply was lost, and the effect was then seen by reading it back."
_LONGEST: Final = 600
"""Characters of a message: those of a service have 500, and the status and the code follow."""
_MAX_CANDIDATES: Final = 10
_LATER: Final = "Nothing was done. Call again in a minute; then tell the user."
_AFTER_FAILURE: Final[tuple[tuple[type[FerryError], str], ...]] = (
    (InvalidInputError, NEXT_STEPS["invalid_arguments"]),
    (ReadOnlyError, NEXT_STEPS["writes_disabled"]),
    (PriceChangedError, NEXT_STEPS["price_changed"]),
    (PenaltyExceededError, NEXT_STEPS["penalty_exceeded"]),
    (UnresolvedWriteError, NEXT_STEPS["outcome_unknown"]),
    (JournalError, NEXT_STEPS["internal_error"]),
    (ConfigurationError, NEXT_STEPS["internal_error"]),
    (
        AuthenticationError,
        "Do not try again. Tell the user that the service does not accept the account.",
    ),
    (PermissionDeniedError, "Do not try again. Tell the user that the account may not do this."),
    (NotFoundError, "Check the id: use it exactly as a result or the user gave it."),
    (RateLimitError, "Wait for retry_after seconds, or a minute, then call again."),
    (AvailabilityError, "Try another date, time, company or route, or ask the user."),
    (ConflictError, "Read the booking or the ticket again: its state does not allow this."),
    (ServerError, _LATER),
    (APIError, "Change what the message names. Do not repeat the same call."),
)

_NO_SAILING: Final = (
    "Nothing is sold for this day and time. Try another day or time; catalogue_departures lists a "
    "provider's. Else ask the user."
)
_NO_SUCH_TRIP: Final = (
    "This cannot be asked, and a later day does not help. Change what the message names: the "
    "company has to sail this journey, between these ports, with this vehicle, and the day has to "
    "be one to come."
)

_SERVICE_CODES: Final = frozenset(
    {
        "AVAILABILITY_ERROR",
        "BOOKING_CREATE_ERROR",
        "BOOKING_CONFIRM_ERROR",
        "TICKET_VIEW_ERROR",
        "TICKET_NOT_FOUND",
        "TICKET_CANCEL_ERROR",
        "CONFLICT",
        "FORBIDDEN",
        "NOT_FOUND",
        "RATE_LIMITED",
        "SERVER_ERROR",
        "UNAUTHORIZED",
        "VALIDATION_ERROR",
    }
)
"""The service's codes that are passed on; any other text might instruct the model."""

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
"""Codes that differ from the error's own name in snake case."""


class RefusedError(Exception):
    """The toolkit refuses a call; nothing was sent. `details` are fields of the answer's error."""

    def __init__(self, code: str, message: str, **details: object) -> None:
        super().__init__(message)
        self.code: str = code
        self.message: str = message
        self.details: dict[str, Any] = details

    def answer(self) -> Answer:
        """Return the refusal as an answer."""
        return _error_answer("refused", self.code, self.message, **self.details)


def unknown_answer(correlation_id: str) -> Answer:
    """Return the answer for a write that may have happened."""
    return _error_answer(
        "unknown",
        "outcome_unknown",
        "it may have happened; the outcome is not known yet",
        outcome="unknown",
        next_step=f"{NEXT_STEPS['outcome_unknown']} Correlation id: {correlation_id}",
        correlation_id=correlation_id,
    )


def failure_answer(error: FerryError) -> Answer:
    """Return the answer for a failed call, other than a write that may have happened.

    A read changes nothing, so its outcome is never ``unknown`` here: the agent may call again.
    """
    message = clean_text(str(error), _LONGEST)
    if isinstance(error, InvalidInputError):
        field = clean_text(error.field, 100)
        if isinstance(error, AmbiguousPlaceError):
            candidates = _ports(error.candidates)
            return RefusedError("ambiguous_place", message, field=field, **candidates).answer()
        if isinstance(error, UnknownPlaceError):
            candidates = _ports(error.suggestions)
            return RefusedError("unknown_place", message, field=field, **candidates).answer()
        return RefusedError("invalid_arguments", message, field=field).answer()
    details: dict[str, Any] = {}
    if error.correlation_id is not None:
        details["correlation_id"] = error.correlation_id
    if isinstance(error, UnresolvedWriteError):  # the id of the write that may have happened
        details["correlation_id"] = error.entry.correlation_id
    if isinstance(error, AlreadyDoneError):
        details["result"] = view_of(error.result, "short")
    if isinstance(error, PriceChangedError | PenaltyExceededError):
        details |= _amounts_of(error)
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


def _amounts_of(error: PriceChangedError | PenaltyExceededError) -> dict[str, str]:
    """Return the amounts that were approved and those of the service, with both currencies."""
    amounts: dict[str, Decimal | None]
    if isinstance(error, PriceChangedError):
        amounts = {"expected": error.expected, "found": error.found}
    else:
        amounts = {
            "max_penalty": error.limit,
            "penalty": error.penalty,
            "min_refund": error.min_refund,
            "refund": error.refund,
        }
    texts = {name: format_amount(one) for name, one in amounts.items() if one is not None}
    return {**texts, "currency": error.currency, "expected_currency": error.expected_currency}


def _ports(ports: Sequence[Port]) -> dict[str, object]:
    return {"candidates": [place_of(port) for port in ports[:_MAX_CANDIDATES]]}


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
    **details: JsonValue,
) -> Answer:
    error = {"code": code, "message": message, "outcome": outcome}
    return {
        "status": status,
        "error": {**error, "next_step": next_step or NEXT_STEPS[code], **details},
    }


def _next_step(error: FerryError) -> str:
    if isinstance(error, AlreadyDoneError):
        return NEXT_STEPS[code_of(error)]
    if isinstance(error, AvailabilityError):
        if error.status_code == HTTPStatus.NOT_FOUND:
            return _NO_SAILING
        if error.status_code == HTTPStatus.UNPROCESSABLE_ENTITY:
            return _NO_SUCH_TRIP
    return next((step for kind, step in _AFTER_FAILURE if isinstance(error, kind)), _LATER)


def code_of(error: FerryError) -> str:
    """Return the service's code in lower case if it is known, else the error's name."""
    if isinstance(error, APIError) and error.code in _SERVICE_CODES:
        return error.code.lower()
    if isinstance(error, AlreadyDoneError):
        is_end = isinstance(error.result, BookingCancellation | TicketCancellation)
        return "already_cancelled" if is_end else "already_paid"
    kind = type(error)
    return (
        _CODES.get(kind)
        or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__.removesuffix("Error")).lower()
    )
