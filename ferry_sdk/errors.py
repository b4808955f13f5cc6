"""Every failure that leaves the library: one family, for both protocols.

An error is plain data. It survives pickle, copy and deepcopy, in another process too. What may
hold a traveller's data (``body``, ``last_seen``) stays in memory and is left out of a pickle.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from decimal import Decimal
from typing import Any, ClassVar, TypeVar

from typing_extensions import Self

from ferry_sdk.types import Attempt, JournalEntry, Outcome, RequestDigest

_REDIRECTION = 3


class FerryError(Exception):
    """Anything that went wrong for a cause that is the library's or the service's.

    Attributes:
        outcome: What became of the call: ``not_sent`` (nothing reached the service),
            ``rejected`` (the service refused it) or ``unknown`` (it may have happened).
        operation: The operation's name, such as ``bookings.create``; empty outside a call.
        attempts: What was tried, in order.
        correlation_id: The id that every attempt carried; None outside a call.
    """

    _memory_only: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, message: str, *, outcome: Outcome = "not_sent") -> None:
        super().__init__(message)
        self.outcome: Outcome = outcome
        self.operation: str = ""
        self.attempts: tuple[Attempt, ...] = ()
        self.correlation_id: str | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        kept = {
            name: None if name in self._memory_only else value for name, value in vars(self).items()
        }
        return _rebuild, (type(self), self.args, kept)

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
    """The client's settings do not allow the call, or no client at all; names the setting."""


class InvalidInputError(FerryError, ValueError):
    """An argument that the service could only refuse.

    Attributes:
        field: The argument, as a path (``passengers[0].birth_date``).
    """

    def __init__(self, problem: str, *, field: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field: str = field


class ReadOnlyError(FerryError):
    """A write, asked of a client that only reads."""


class TransportError(FerryError):
    """The network, not the service, ended an attempt."""


class ConnectionFailedError(TransportError):
    """No connection came about, or it broke."""


class RequestTimeoutError(TransportError, TimeoutError):
    """A time-out or a deadline ended the call.

    Attributes:
        last_seen: What a wait saw last; in memory only.
    """

    _memory_only = frozenset({"last_seen"})

    def __init__(
        self, message: str, *, outcome: Outcome = "not_sent", last_seen: object = None
    ) -> None:
        super().__init__(message, outcome=outcome)
        self.last_seen: object = last_seen


class UnexpectedResponseError(FerryError):
    """A reply that cannot be read as what it should be.

    Attributes:
        status_code: The HTTP status of the reply; None where it broke off before one.
        request_id: The service's id of the exchange.
        field: Where the reply is wrong, as a path (``tickets[0].status``); None for the whole.
        body: The reply as far as it was read; in memory only.
    """

    _memory_only = frozenset({"body"})

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

    @property
    def is_redirect(self) -> bool:
        """Whether the reply was a redirect, which is not followed."""
        return self.status_code is not None and self.status_code // 100 == _REDIRECTION


class OutcomeUnknownError(FerryError):
    """A write that may have happened; `Ferry.recover` reads it back again.

    Attributes:
        request: Which request it was, without its content.
        subject: The ids of what was to be changed; empty where it was to be made.
        last_seen: What was last known of its subject: the reply that could not be read, or the
            booking or ticket read back; in memory only.
        entry_id: Its entry in the journal; None without one.
    """

    _memory_only = frozenset({"last_seen"})

    def __init__(
        self,
        message: str,
        *,
        request: RequestDigest,
        subject: Mapping[str, str] | None = None,
        last_seen: object = None,
        entry_id: str | None = None,
    ) -> None:
        super().__init__(message, outcome="unknown")
        self.request: RequestDigest = request
        self.subject: dict[str, str] = dict(subject or {})
        self.last_seen: object = last_seen
        self.entry_id: str | None = entry_id


class PriceChangedError(FerryError):
    """A guard: the booking does not cost what was expected, and was not confirmed.

    Attributes:
        expected: What the caller expected.
        found: What the booking costs now.
        currency: The currency of both, as the service says it.
    """

    def __init__(self, *, expected: Decimal, found: Decimal, currency: str) -> None:
        super().__init__(f"the booking costs {found} {currency}, and {expected} was expected")
        self.expected: Decimal = expected
        self.found: Decimal = found
        self.currency: str = currency


class PenaltyExceededError(FerryError):
    """A guard: cancelling costs more than was allowed, and nothing was cancelled.

    Attributes:
        limit: What the caller allowed.
        penalty: What would be kept.
        currency: The currency of both, as the service says it.
    """

    def __init__(self, *, limit: Decimal, penalty: Decimal, currency: str) -> None:
        super().__init__(f"cancelling costs {penalty} {currency}, and {limit} was allowed")
        self.limit: Decimal = limit
        self.penalty: Decimal = penalty
        self.currency: str = currency


class JournalError(FerryError):
    """The journal could not be read or written; a write that it would not record did not leave."""


class UnresolvedWriteError(FerryError):
    """The same write is on record and may have happened, so it was not sent.

    Recover the entry, or settle it in the journal.

    Attributes:
        entry: The earlier write's entry.
    """

    def __init__(self, entry: JournalEntry) -> None:
        super().__init__(
            f"the same {entry.operation} may have happened already "
            f"(journal entry {entry.id}, correlation id {entry.correlation_id})"
        )
        self.entry: JournalEntry = entry


class APIError(FerryError):
    """The service said no.

    Attributes:
        status_code: The HTTP status of the answer (200 where MCP wraps a refusal).
        code: The service's own code, such as ``BOOKING_CREATE_ERROR``; None where it gave none.
        message: The service's own words, localised, or the status's where it gave none. Of a
            booking or a ticket they may name a traveller: `str` and pickles have only those of
            its words that name nobody.
        request_id: The service's id of the exchange.
        body: The answer, decoded where it is JSON; in memory only.
        retry_after: Seconds the service asks to wait; None where it does not say.
        www_authenticate: The challenge of a 401 or 403 (header WWW-Authenticate), if any.
    """

    _memory_only = frozenset({"body"})

    def __init__(
        self,
        message: str,
        *,
        status_code: int,
        code: str | None = None,
        request_id: str | None = None,
        body: object = None,
        retry_after: float | None = None,
        www_authenticate: str | None = None,
    ) -> None:
        known = ", ".join(part for part in (f"HTTP {status_code}", code) if part)
        super().__init__(f"{message} ({known})", outcome="rejected")
        self._public: tuple[str, str | None] = message, code
        self.message: str = message
        self.status_code: int = status_code
        self.code: str | None = code
        self.request_id: str | None = request_id
        self.body: object = body
        self.retry_after: float | None = retry_after
        self.www_authenticate: str | None = www_authenticate

    def show(self, message: str, code: str | None) -> None:
        """Let `str`, logs and pickles have these words in place of the service's own."""
        known = ", ".join(part for part in (f"HTTP {self.status_code}", code) if part)
        self.args: tuple[Any, ...] = (f"{message} ({known})",)
        self._public = message, code

    def __reduce__(self) -> tuple[Any, ...]:
        rebuilt, (kind, args, kept) = super().__reduce__()
        kept["message"], kept["code"] = self._public
        return rebuilt, (kind, args, kept)


class BadRequestError(APIError):
    """400: the request makes no sense to the service."""


class AuthenticationError(APIError):
    """401: the token is missing, wrong or no longer valid."""


class PermissionDeniedError(APIError):
    """403: the token does not give this access."""


class NotFoundError(APIError):
    """404: there is nothing of that id."""


class ConflictError(APIError):
    """409: the subject's state does not allow it."""


class UnprocessableEntityError(APIError):
    """422: a field of the request is wrong; the message names it."""


class RateLimitError(APIError):
    """429: too many requests; `retry_after` says for how long, where the service does."""


class ServerError(APIError):
    """5xx: the service failed."""


class AvailabilityError(APIError):
    """AVAILABILITY_ERROR: the search failed, or nothing sails."""


class BookingCreateError(APIError):
    """BOOKING_CREATE_ERROR: no booking was made."""


class BookingConfirmError(APIError):
    """BOOKING_CONFIRM_ERROR: the booking was not confirmed."""


class TicketViewError(APIError):
    """TICKET_VIEW_ERROR: the ticket cannot be shown."""


class TicketNotFoundError(NotFoundError):
    """TICKET_NOT_FOUND: there is no such ticket."""


class TicketCancelError(APIError):
    """TICKET_CANCEL_ERROR: the ticket was not cancelled."""


def trim(error: ErrorT) -> ErrorT:
    """Return the error without the library's inner frames, whose variables hold requests.

    An interruption keeps the `FerryError` whose place it took, as its context: it may say that a
    write may have happened.
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
