"""The exceptions of the library, for both protocols. All are subclasses of `FerryError`.

Errors can be pickled and copied. Attributes that may contain travellers' data (``body``,
``last_seen``) are left out of a pickle.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from decimal import Decimal
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from ferry_sdk._runtime.docstrings import docstring_of
from ferry_sdk._runtime.money import money
from ferry_sdk.types import Attempt, JournalEntry, Outcome, RequestDigest

if TYPE_CHECKING:
    from ferry_sdk._engine.redaction import Redactor
    from ferry_sdk.models.bookings import BookingCancellation, BookingConfirmation
    from ferry_sdk.models.catalogue import Port
    from ferry_sdk.models.tickets import PaymentRecorded, TicketCancellation
    from ferry_sdk.orders import Order

_REDIRECTION = 3
_MEMORY_ONLY = frozenset({"body", "last_seen"})
"""Attributes that are left out of a pickle."""


class FerryError(Exception):
    """The base class of all errors of the library.

    Attributes:
        outcome: What became of the call: ``not_sent`` (its request did not reach the service),
            ``rejected`` (the service refused it) or ``unknown`` (it may have happened).
        operation: The operation, such as ``bookings.create``; empty outside a call.
        attempts: All attempts, in order.
        correlation_id: The id sent with every attempt; None outside a call.
        request_id: The service's id of the last request of the operation; None without a reply.
    """

    outcome: Outcome = "not_sent"
    operation: str = ""
    attempts: tuple[Attempt, ...] = ()
    correlation_id: str | None = None
    request_id: str | None = None

    def __init__(self, message: str, *, outcome: Outcome = "not_sent") -> None:
        super().__init__(message)
        self.outcome = outcome

    def redact(self, redactor: Redactor) -> None:
        """Hide tokens and travellers' data in the texts of the error.

        The library's own words name no traveller, so travellers' data is hidden only in the words
        that they quote (`mark_quoted`). Without this, a traveller called Field would remove the
        word from messages.
        """
        quoted = take_quoted(self)
        shown = redactor.show(quoted)
        redactor_of_tokens = redactor.without_travellers()

        redacted: list[str] = []
        for argument in self.args:
            text = str(argument).replace(quoted, shown)
            redacted.append(redactor_of_tokens.show(text) or type(self).__name__)
        self.args: tuple[object, ...] = tuple(redacted)

    def __init_subclass__(cls) -> None:
        """Add the documented attributes to the class, because `dir` shows only those."""
        names = re.findall(r"^    (\w+): ", docstring_of(cls), re.MULTILINE)
        for name in set(names).difference(dir(cls)):
            setattr(cls, name, None)

    def __reduce__(self) -> tuple[Any, ...]:
        state = vars(self).copy()
        for name in _MEMORY_ONLY & state.keys():
            state[name] = None
        return _rebuild, (type(self), self.args, state)

    def __copy__(self) -> Self:
        return _rebuild(type(self), self.args, vars(self))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return _rebuild(type(self), self.args, deepcopy(vars(self), memo))


FerryErrorT = TypeVar("FerryErrorT", bound=FerryError)
ErrorT = TypeVar("ErrorT", bound=BaseException)


def _rebuild(kind: type[FerryErrorT], args: tuple[Any, ...], state: dict[str, Any]) -> FerryErrorT:
    error = kind.__new__(kind)
    error.args = args
    vars(error).update(state)
    return error


class ConfigurationError(FerryError):
    """A setting, which the message names, is missing, invalid or does not allow the call."""


class InvalidInputError(FerryError, ValueError):
    """An argument is invalid.

    Attributes:
        field: The argument, as a path (``passengers[0].birth_date``).
    """

    def __init__(self, problem: str, *, field: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field: str = field


class UnknownPlaceError(InvalidInputError):
    """No port has this name.

    Attributes:
        suggestions: The ports whose names are spelled similarly, best first.
    """

    def __init__(self, problem: str, *, field: str, suggestions: Sequence[Port] = ()) -> None:
        super().__init__(problem, field=field)
        self.suggestions: tuple[Port, ...] = tuple(suggestions)


class AmbiguousPlaceError(InvalidInputError):
    """Several ports have this name.

    Attributes:
        candidates: The ports.
    """

    def __init__(self, problem: str, *, field: str, candidates: Sequence[Port] = ()) -> None:
        super().__init__(problem, field=field)
        self.candidates: tuple[Port, ...] = tuple(candidates)


class IdempotencyError(InvalidInputError):
    """The idempotency key was used for another booking, so nothing was sent.

    Attributes:
        entry: The journal entry of the other booking.
    """

    def __init__(self, entry: JournalEntry) -> None:
        problem = f"the key was used for another booking ({_ids_of(entry)})"
        super().__init__(problem, field="idempotency_key")
        self.entry: JournalEntry = entry


class ReadOnlyError(FerryError):
    """A write was called on a read-only client."""


class TransportError(FerryError):
    """An attempt failed in the network."""


class ConnectionFailedError(TransportError):
    """The connection failed or was lost."""


class RequestTimeoutError(TransportError, TimeoutError):
    """A timeout or a deadline ended the call.

    Attributes:
        last_seen: The last record that a wait read; not pickled.
    """

    def __init__(
        self, message: str, *, outcome: Outcome = "not_sent", last_seen: object = None
    ) -> None:
        super().__init__(message, outcome=outcome)
        self.last_seen: object = last_seen


class UnexpectedResponseError(FerryError):
    """A reply does not have the expected content.

    Attributes:
        status_code: The HTTP status; None if the reply ended before it.
        request_id: The service's id of the request.
        field: The invalid field, as a path (``tickets[0].status``); None for the whole reply.
        body: The reply as far as it was read; not pickled.
    """

    def __init__(
        self,
        message: str,
        *,
        status_code: int | None = None,
        request_id: str | None = None,
        field: str | None = None,
        body: object = None,
    ) -> None:
        super().__init__(message, outcome="unknown")
        self.status_code: int | None = status_code
        self.request_id: str | None = request_id
        self.field: str | None = field
        self.body: object = body

    def redact(self, redactor: Redactor) -> None:
        """Hide tokens and travellers' data in the texts of the error."""
        super().redact(redactor)
        self.field = _redact_field(self.field, redactor)

    @property
    def is_redirect(self) -> bool:
        """Whether the reply was a redirect. Redirects are not followed."""
        return self.status_code is not None and self.status_code // 100 == _REDIRECTION


class OutcomeUnknownError(FerryError):
    """A write may have happened; `Ferry.recover` reads it back again.

    Attributes:
        request: Identifies the request, without its content.
        subject: The ids of what the write changes; empty if it creates something.
        last_seen: The last known state: the reply that could not be parsed, or the booking or
            ticket read back; not pickled.
        entry_id: Its entry in the journal; None without one.
        booking_id: The booking that the write changes, or that the failed reply of a create
            named; None if it is not known.
    """

    def __init__(
        self,
        message: str,
        *,
        request: RequestDigest,
        subject: Mapping[str, str] | None = None,
        last_seen: object = None,
        entry_id: str | None = None,
        booking_id: str | None = None,
    ) -> None:
        super().__init__(message, outcome="unknown")
        self.request: RequestDigest = request
        self.subject: dict[str, str] = dict(subject or {})
        self.last_seen: object = last_seen
        self.entry_id: str | None = entry_id
        self.booking_id: str | None = booking_id or self.subject.get("booking_id")


def _ids_of(entry: JournalEntry) -> str:
    """Return the ids by which a person finds an entry and what it made."""
    ids = f"journal entry {entry.id}, correlation id {entry.correlation_id}"
    return ids if entry.booking_id is None else f"booking {entry.booking_id}, {ids}"


def _currency_hint(currency: str, expected_currency: str) -> str:
    if currency == expected_currency:
        return ""
    return f", which is in another currency: pass an amount in {currency}"


class PriceChangedError(FerryError):
    """The booking does not cost what was expected, so it was not confirmed.

    Attributes:
        expected: What the caller expected, in `expected_currency`.
        found: What the booking costs now, in `currency`.
        currency: The currency of the booking.
        expected_currency: The currency that the caller passed, else the booking's.
    """

    def __init__(
        self,
        *,
        expected: Decimal,
        found: Decimal,
        currency: str,
        expected_currency: str | None = None,
    ) -> None:
        self.expected: Decimal = expected
        self.found: Decimal = found
        self.currency: str = currency
        self.expected_currency: str = expected_currency or currency

        price = money(found, currency)
        expected_price = money(expected, self.expected_currency)
        hint = _currency_hint(currency, self.expected_currency)
        super().__init__(f"the booking costs {price}, expected {expected_price}{hint}")


class PenaltyExceededError(FerryError):
    """The cancellation costs more, or pays back less, than was allowed; nothing was cancelled.

    Attributes:
        limit: The highest penalty that the caller allowed; None without one.
        min_refund: The lowest refund that the caller allowed; None without one.
        penalty: What the cancellation would cost, in `currency`.
        refund: What it would pay back, in `currency`; None if it is not known.
        currency: The currency of the fee.
        expected_currency: The currency that the caller passed, else that of the fee.
    """

    def __init__(
        self,
        *,
        limit: Decimal | None,
        penalty: Decimal,
        currency: str,
        min_refund: Decimal | None = None,
        refund: Decimal | None = None,
        expected_currency: str | None = None,
    ) -> None:
        self.limit: Decimal | None = limit
        self.min_refund: Decimal | None = min_refund
        self.penalty: Decimal = penalty
        self.refund: Decimal | None = refund
        self.currency: str = currency
        self.expected_currency: str = expected_currency or currency

        # Amounts of two currencies cannot be compared, so each limit is then reported.
        is_foreign = self.expected_currency != currency
        problems: list[str] = []

        if limit is not None and (is_foreign or penalty > limit):
            cost = money(penalty, currency)
            highest = money(limit, self.expected_currency)
            problems.append(f"the cancellation costs {cost}, the limit is {highest}")

        if min_refund is not None and (is_foreign or refund is None or refund < min_refund):
            paid_back = "an unknown amount" if refund is None else money(refund, currency)
            lowest = money(min_refund, self.expected_currency)
            problems.append(f"the cancellation pays back {paid_back}, expected at least {lowest}")

        hint = _currency_hint(currency, self.expected_currency)
        super().__init__("; ".join(problems) + hint)


class AlreadyDoneError(FerryError):
    """The effect of a write was there before it, so the service refused it or it was not sent.

    It is no `APIError`: a sale that is already confirmed has not failed.

    Attributes:
        result: What the write returns, with ``read_back=True``.
        last_seen: The booking or ticket that shows the effect; not pickled.
    """

    def __init__(
        self,
        message: str,
        *,
        result: BookingConfirmation | BookingCancellation | TicketCancellation | PaymentRecorded,
        last_seen: object = None,
        outcome: Outcome = "not_sent",
    ) -> None:
        super().__init__(message, outcome=outcome)
        self.result: (
            BookingConfirmation | BookingCancellation | TicketCancellation | PaymentRecorded
        ) = result
        self.last_seen: object = last_seen


class OrderError(FerryError):
    """A step of an order failed, so the order is not what the caller requested.

    Attributes:
        order: What stands now, part by part.
        cause: Why; its own `outcome` is that of the step that failed.
    """

    def __init__(self, order: Order, cause: FerryError) -> None:
        states: list[str] = []
        for number, part in enumerate(order.parts, 1):
            name = part.booking_id or f"part {number}"
            states.append(f"{name} is {part.state}")
        outcome: Outcome = "unknown" if order.state == "unknown" else cause.outcome

        super().__init__(f"order {order.id}: {cause} ({', '.join(states)})", outcome=outcome)
        self.order: Order = order
        self.cause: FerryError = cause


class JournalError(FerryError):
    """The journal could not be read or written. A write that it did not record was not sent."""


class UnresolvedWriteError(FerryError):
    """The journal has the same write, which may have happened, so it was not sent.

    Recover the entry, or settle it in the journal. If it belongs to an order, resume the order.

    Attributes:
        entry: The earlier write's entry. If the write has an idempotency key, it may be ``done``:
            its booking is not known, or cannot be read now.
        order_id: The order that was begun with the same idempotency key; None without one.
    """

    order_id: str | None = None

    def __init__(self, entry: JournalEntry, *, order_id: str | None = None) -> None:
        problem = f"the same {entry.operation} may have happened already"
        if order_id is not None:
            problem = f"order {order_id} has this idempotency key and has not ended"
            self.order_id = order_id
        super().__init__(f"{problem} ({_ids_of(entry)})")
        self.entry: JournalEntry = entry


class APIError(FerryError):
    """The service returned an error.

    Attributes:
        status_code: The HTTP status (200 if MCP wraps the error).
        code: The service's error code, such as ``BOOKING_CREATE_ERROR``; None without one.
        message: The service's message, localised, on one line of at most 500 characters, or the
            phrase of the status. Tokens, e-mail addresses and what the call sent of a traveller
            are hidden.
        field: The invalid argument, as a path (``passengers[0].birth_date``), if the service names
            it.
        request_id: The service's id of the request.
        body: The reply, decoded if it is JSON; not pickled.
        retry_after: Seconds the service asks to wait; None without a Retry-After.
        www_authenticate: The challenge of a 401 or 403 (header WWW-Authenticate), if any.
    """

    def __init__(
        self,
        message: str,
        *,
        status_code: int,
        code: str | None = None,
        field: str | None = None,
        request_id: str | None = None,
        body: object = None,
        retry_after: float | None = None,
        www_authenticate: str | None = None,
    ) -> None:
        super().__init__(message, outcome="rejected")
        self.status_code: int = status_code
        self.field: str | None = field
        self.request_id: str | None = request_id
        self.body: object = body
        self.retry_after: float | None = retry_after
        self.www_authenticate: str | None = www_authenticate
        self.show(message, code)

    def show(self, message: str, code: str | None) -> None:
        """Set the message and the code, and the text with both."""
        self.message: str = message
        self.code: str | None = code
        details = f"HTTP {self.status_code}"
        if code:
            details += f", {code}"
        self.args: tuple[Any, ...] = (f"{message} ({details})",)

    def redact(self, redactor: Redactor) -> None:
        """Hide tokens and travellers' data in all that the service wrote."""
        phrase = phrase_of(self.status_code)
        names_nobody = {phrase, SESSION_ENDED, *SERVICE_CODES}

        message = self.message
        if message not in names_nobody:
            message = redactor.show(message)
        code = self.code or ""
        if code not in names_nobody:
            code = redactor.show(code)
        self.show(message or phrase, code or None)

        self.field = _redact_field(self.field, redactor)
        if self.www_authenticate is not None:
            self.www_authenticate = redactor.show(self.www_authenticate)


class BadRequestError(APIError):
    """400: the request is invalid."""


class AuthenticationError(APIError):
    """401: the token is missing, wrong or no longer valid."""


class PermissionDeniedError(APIError):
    """403: the token does not allow this."""


class NotFoundError(APIError):
    """404: there is nothing with this id."""


class VoucherNotReadyError(NotFoundError):
    """The ticket has no voucher yet, or the company sends it by e-mail; ask again later.

    The service's reply is a success without an address, so `status_code` is 200.
    """

    def show(self, message: str, code: str | None) -> None:
        """Set the message; the text does not show the status, which is no error."""
        super().show(message, code)
        self.args: tuple[Any, ...] = (message,)


class ConflictError(APIError):
    """409: the state of the booking or ticket does not allow it."""


class UnprocessableEntityError(APIError):
    """422: a field of the request is invalid; the message names it."""


class RateLimitError(APIError):
    """429: too many requests; see `retry_after`."""


class ServerError(APIError):
    """5xx: the service failed."""


class AvailabilityError(APIError):
    """AVAILABILITY_ERROR: the search failed."""


class NoSailingsError(AvailabilityError):
    """AVAILABILITY_ERROR with status 404: no sailing fits the search."""


class BookingCreateError(APIError):
    """BOOKING_CREATE_ERROR: the booking was not created."""


class BookingConfirmError(APIError):
    """BOOKING_CONFIRM_ERROR: the booking was not confirmed."""


class TicketViewError(APIError):
    """TICKET_VIEW_ERROR: the ticket cannot be shown."""


class TicketNotFoundError(NotFoundError):
    """TICKET_NOT_FOUND: there is no such ticket."""


class TicketCancelError(APIError):
    """TICKET_CANCEL_ERROR: the ticket was not cancelled."""


SERVICE_CODES: Final[Mapping[str, type[APIError]]] = {
    "AVAILABILITY_ERROR": AvailabilityError,
    "BOOKING_CREATE_ERROR": BookingCreateError,
    "BOOKING_CONFIRM_ERROR": BookingConfirmError,
    "TICKET_VIEW_ERROR": TicketViewError,
    "TICKET_NOT_FOUND": TicketNotFoundError,
    "TICKET_CANCEL_ERROR": TicketCancelError,
}
"""The codes that the interface has for a failed call."""


SESSION_ENDED: Final = "the session ended, nothing was done"
"""The message of a call that was refused because its MCP session is gone."""

_PHRASES: Final[Mapping[int, str]] = {status.value: status.phrase for status in HTTPStatus}


def phrase_of(status_code: int) -> str:
    """Return the standard phrase of a status, the message of a refusal without words."""
    return _PHRASES.get(status_code, "the service refused")


def _redact_field(field: str | None, redactor: Redactor) -> str | None:
    """Return the path of a field; None if something must be hidden in it.

    The rest of such a path would name another field.
    """
    if field is None or redactor.show(field) != field:
        return None
    return field


def mark_quoted(error: ErrorT, words: str) -> ErrorT:
    """Note which words in the message of an error are from a reply or another library.

    `FerryError.redact` hides travellers' data only in these words.
    """
    vars(error)["_quoted"] = words
    return error


def take_quoted(error: BaseException) -> str:
    """Return the words that the message of an error quotes, and forget them."""
    quoted: str = vars(error).pop("_quoted", "")
    return quoted


def trim(error: ErrorT) -> ErrorT:
    """Return the error without the library's inner frames, whose variables hold requests.

    An interruption keeps the `FerryError` that it replaced as its context, because that error may
    report that a write may have happened.
    """
    replaced = error.__context__

    link: BaseException | None = error
    while link is not None:
        link.__traceback__ = None
        link.__context__ = None
        link = link.__cause__

    if isinstance(replaced, FerryError) and not isinstance(error, FerryError):
        error.__context__ = trim(replaced)
    return error
