"""The operations of the service, with errors in the caller's language.

REST and MCP call the same operations by name. An operation checks the access of the
token, validates its arguments, runs under a lock if it uses bookings, and returns JSON or raises.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import InitVar, dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue

from ferry_sdk.sandbox import request_context
from ferry_sdk.sandbox.bookings.bookings import Booking
from ferry_sdk.sandbox.bookings.records import summary_record
from ferry_sdk.sandbox.bookings.sales import Sales
from ferry_sdk.sandbox.bookings.state import SandboxState
from ferry_sdk.sandbox.bookings.state_records import load_booking
from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.counters import Counters
from ferry_sdk.sandbox.faults.details import Refused
from ferry_sdk.sandbox.faults.faults import Faults
from ferry_sdk.sandbox.handlers import Handler, handlers
from ferry_sdk.sandbox.network.seeded_random import Ids
from ferry_sdk.sandbox.offers.offers import Offers
from ferry_sdk.sandbox.operations import OPERATIONS, Operation
from ferry_sdk.sandbox.profile_changes import change_answer, finds_nothing, status_of
from ferry_sdk.sandbox.requests.access import ONLY_ACCOUNT, Access, CallContext, Caller
from ferry_sdk.sandbox.requests.control import BookingToMake
from ferry_sdk.sandbox.requests.errors import (
    InvalidOrderError,
    MalformedError,
    Problem,
    RefusedError,
    text,
)

if TYPE_CHECKING:
    from ferry_sdk.sandbox.responses.control import BookingsState
    from ferry_sdk.sandbox.responses.fields import Error, FieldError

_CODES = {403: "FORBIDDEN", 404: "NOT_FOUND", 409: "CONFLICT", 422: "VALIDATION_ERROR"}


@dataclass(eq=False)
class ServiceError(Exception):
    """An error of an operation, with its message in the caller's language.

    Attributes:
        status: The HTTP status.
        code: The error code.
        message: The message in the caller's language.
        field: The path of the first invalid field, if any.
        errors: Every invalid field with its message.
    """

    status: int
    code: str
    message: str
    field: str | None = None
    errors: tuple[FieldError, ...] = ()

    def to_wire(self) -> Error:
        """Return the error object of the interface."""
        wire: Error = {"error": True, "code": self.code, "message": self.message}
        if self.field is not None:
            wire["field"] = self.field
            wire["errors"] = list(self.errors)
        return wire


@dataclass(eq=False, repr=False, kw_only=True)
class Service:
    """The service without HTTP, in memory and, if it has one, in a state file; thread-safe.

    Each account has offers and bookings of its own, so an id of another account is unknown.
    """

    clock: Clock
    offers: Offers
    faults: Faults
    counters: Counters
    accounts: Sequence[str] = (ONLY_ACCOUNT,)
    ids: InitVar[Ids | None] = None
    state: InitVar[SandboxState | None] = None

    def __post_init__(self, ids: Ids | None, state: SandboxState | None) -> None:
        self._profile = self.offers.profile
        self._lock = threading.Lock()
        self._state = state
        self._bookings: list[Booking] = []
        self._sales: dict[str, Sales] = {}
        self._handlers: dict[str, Mapping[str, Handler]] = {}

        ids = ids or Ids(None)
        for account in self.accounts:
            offers = self.offers if account == self.accounts[0] else self.offers.apart()
            sales = Sales(
                account=account,
                every=self._bookings,
                offers=offers,
                faults=self.faults,
                counters=self.counters,
                ids=ids,
                state=state,
            )
            self._sales[account] = sales
            self._handlers[account] = handlers(sales, offers, offers.catalogue)

        if state is not None:
            self._restore(state)

    def _restore(self, state: SandboxState) -> None:
        """Add the bookings of the state file; those of other accounts stay in the file only."""
        for record in state.bookings():
            booking = load_booking(record, self.offers.network)
            if booking.account in self._sales:
                self._sales[booking.account].add(booking)

    def perform(self, operation: str, arguments: Mapping[str, object], caller: Caller) -> JsonValue:
        """Perform an operation and return its answer as JSON.

        Args:
            operation: The public name.
            arguments: The body of the request, with the id in the path as `id`.
            caller: Who calls.

        Raises:
            ServiceError: The service refuses the request.
            KeyError: The operation does not exist.
        """
        row = OPERATIONS[operation]
        handler = self._handlers[caller.account][operation]
        try:
            answer = self._answer(row, handler, arguments, caller)
        except RefusedError as error:
            if not finds_nothing(self._profile, error):
                service_error = _service_error(error, operation, caller)
                raise replace(service_error, status=status_of(self._profile, error)) from None
            answer = change_answer(self._profile, operation, [])
        return self.faults.reshape(operation, answer)

    def _answer(
        self, row: Operation, handler: Handler, arguments: Mapping[str, object], caller: Caller
    ) -> JsonValue:
        """Return the answer of an operation as the profile selects it.

        Raises:
            RefusedError: The operation refuses the request.
            ServiceError: A fault refuses it.
        """
        _check_access(caller.access, row.access)
        request = row.arguments.read(arguments)
        self.check_refused(row.name, caller)

        # Only the bookings have state, so a slow search does not block other calls.
        held: AbstractContextManager[None] = nullcontext()
        if handler.uses_bookings:
            held = self._hold_bookings(caller.account)
        with held:
            # A call that waited for the bookings sees their deadlines as they are now.
            context = CallContext(row.name, caller, self.clock.now())
            performed = cast("JsonValue", handler.perform(request, context))

        if handler.uses_bookings:
            _note_ids(performed)
        answer = change_answer(self._profile, row.name, performed)
        return answer if row.member is None else {row.member: answer}

    def check_refused(self, operation: str, caller: Caller) -> None:
        """Raise an error if a fault refuses the operation.

        Raises:
            ServiceError: The fault `refused` occurs.
        """
        if fault := self.faults.take(Refused, operation):
            default = _service_error(
                RefusedError(fault.status, Problem("refused")), operation, caller
            )
            raise ServiceError(
                status=fault.status,
                code=fault.code or default.code,
                message=fault.message or default.message,
            )

    def prepare(self, order: BookingToMake, base_url: str) -> JsonValue:
        """Make a booking in the stage that a test needs, and return it as its reader has it.

        Args:
            order: What to make.
            base_url: The URL of the service, without a trailing slash.

        Raises:
            InvalidOrderError: There is no such account, or no such booking.
        """
        account = self.accounts[0] if order.account is None else order.account
        if account not in self._sales:
            names = ", ".join(self.accounts)
            raise InvalidOrderError("account", f"there is no account {account!r}, only {names}")

        operation = "bookings.get"
        caller = Caller(
            access=Access.READ_WRITE,
            language="en",
            protocol="rest",
            base_url=base_url,
            account=account,
        )
        with self._hold_bookings(account):
            context = CallContext(operation, caller, self.clock.now())
            record = self._sales[account].prepare(order, context)
        return change_answer(self._profile, operation, record)

    def summaries(self, most: int) -> BookingsState:
        """Return the latest bookings of all accounts without travellers, newest first."""
        with self._lock:
            now = self.clock.now()
            latest = [*reversed(self._bookings[-most:])]
            for booking in latest:
                booking.settle(now)
            return {
                "bookings": [summary_record(booking) for booking in latest],
                "total": len(self._bookings),
            }

    def detach(self) -> None:
        """Save nothing in the state file from now on."""
        with self._lock:
            self._state = None
            for sales in self._sales.values():
                sales.state = None

    @contextmanager
    def _hold_bookings(self, account: str) -> Generator[None]:
        """Hold the bookings, and save those that were used, even if the request is refused."""
        with self._lock:
            if self._state is not None:
                self._state.check_place()
            try:
                yield
            finally:
                self._sales[account].save()

    def voucher_file(self, ticket_id: str, key: str) -> bytes | None:
        """Return a voucher as PDF; None if the key is wrong or there is no voucher (yet)."""
        with self._lock:
            for sales in self._sales.values():
                file = sales.voucher_file(ticket_id, key, self.clock.now())
                if file is not None:
                    return file
        return None


def _note_ids(answer: JsonValue) -> None:
    """Note the booking and the ticket that an answer names, for the log of requests."""
    if not isinstance(answer, dict):
        return
    ids = {"ticket_id": answer.get("id"), **answer}  # only a ticket has an id of this name
    for key in ("booking_id", "ticket_id"):
        value = ids.get(key)
        if isinstance(value, str):
            request_context.current().answer_ids[key] = value


def _check_access(access: Access, needed: Access) -> None:
    if access.allows(needed):
        return
    text_key = "organisation_only" if needed is Access.ORGANISATION else "forbidden"
    raise RefusedError(403, Problem(text_key))


def _service_error(error: RefusedError, operation: str, caller: Caller) -> ServiceError:
    messages = [
        (problem.path, text(problem.text, caller.language, problem.values))
        for problem in error.problems
    ]

    first_field, first_message = messages[0]
    field_errors: list[FieldError] = [
        {"field": field, "message": message} for field, message in messages if field is not None
    ]

    is_malformed = caller.protocol == "rest" and isinstance(error, MalformedError)
    return ServiceError(
        status=error.status,
        code=code_of(operation, error.status, malformed=is_malformed),
        message=first_message if first_field is None else f"{first_field}: {first_message}",
        field=first_field,
        errors=tuple(field_errors),
    )


def code_of(operation: str, status: int, *, malformed: bool) -> str:
    """Return the code of an error.

    Args:
        operation: The public name.
        status: The HTTP status.
        malformed: Whether a REST request is invalid, independent of the state of the service.
    """
    row = OPERATIONS[operation]
    if status == HTTPStatus.NOT_FOUND and row.unknown_id_code:
        return row.unknown_id_code
    is_general = status == HTTPStatus.FORBIDDEN or malformed
    if row.error_code and not is_general:
        return row.error_code
    return _CODES.get(status) or HTTPStatus(status).name
