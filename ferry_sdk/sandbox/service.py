"""The operations of the service, with errors in the caller's language.

REST and MCP call the same operations by name. An operation checks the access of the
token, validates its arguments, runs under a lock if it uses bookings, and returns JSON or raises.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

from pydantic import JsonValue

from ferry_sdk.sandbox.alternatives import change_answer, finds_nothing, status_of
from ferry_sdk.sandbox.bookings.sales import Sales
from ferry_sdk.sandbox.bookings.state import SandboxState
from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.counters import Counters
from ferry_sdk.sandbox.faults import request_context
from ferry_sdk.sandbox.faults.faults import Faults
from ferry_sdk.sandbox.faults.kinds import Refused
from ferry_sdk.sandbox.network.seeded_random import Ids
from ferry_sdk.sandbox.offers.offers import Offers, search
from ferry_sdk.sandbox.requests.access import Access, CallContext, Caller
from ferry_sdk.sandbox.requests.errors import MalformedError, Problem, RefusedError, text
from ferry_sdk.sandbox.requests.operations import OPERATIONS
from ferry_sdk.sandbox.requests.searches import DepartureQuery, Search

if TYPE_CHECKING:
    from ferry_sdk.sandbox.responses.catalogue import Departures
    from ferry_sdk.sandbox.responses.control import BookingsState
    from ferry_sdk.sandbox.responses.fields import Error, FieldError

# Each handler takes the arguments that `OPERATIONS` names for its operation.
Handler = Callable[[Any, CallContext], object]

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
        if self.errors:
            wire["errors"] = list(self.errors)
        return wire


class Service:
    """The service without HTTP, in memory and, if it has one, in a state file; thread-safe."""

    def __init__(
        self,
        *,
        clock: Clock,
        offers: Offers,
        faults: Faults,
        counters: Counters,
        ids: Ids | None = None,
        state: SandboxState | None = None,
    ) -> None:
        self._profile = offers.profile
        self.clock = clock
        self.offers = offers
        self.faults = faults
        self.counters = counters
        self._lock = threading.Lock()
        self._sales = Sales(offers, faults, counters, ids or Ids(None), state)
        self._sales_handlers = _sales_handlers(self._sales)
        self._handlers = {**self._sales_handlers, **_catalogue_handlers(offers)}

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
        known, handler = OPERATIONS[operation], self._handlers[operation]
        try:
            _check_access(caller.access, known.access)
            request = known.arguments.read(arguments)
            self.check_refused(operation, caller)
            # Only the bookings have state, so a slow search does not block other calls.
            with self._selling() if operation in self._sales_handlers else nullcontext():
                context = CallContext(operation, caller, self.clock.now())
                made = cast("JsonValue", handler(request, context))
            _note_ids(operation, made)
            answer = change_answer(self._profile, operation, made)
        except RefusedError as error:
            if not finds_nothing(self._profile, error):
                usual = _service_error(error, operation, caller)
                raise replace(usual, status=status_of(self._profile, error)) from None
            answer = change_answer(self._profile, operation, [])
        return self.faults.reshape(operation, answer)

    def check_refused(self, operation: str, caller: Caller) -> None:
        """Raise an error if a fault refuses the operation.

        Raises:
            ServiceError: The fault `refused` occurs.
        """
        fault = self.faults.take_details(Refused, operation)
        if fault is not None:
            error = RefusedError(fault.status, Problem("refused"))
            usual = _service_error(error, operation, caller)
            code, message = fault.code or usual.code, fault.message or usual.message
            raise ServiceError(fault.status, code, message)

    def summaries(self, most: int) -> BookingsState:
        """Return the latest bookings without travellers, newest first."""
        with self._lock:
            return self._sales.summaries(most, self.clock.now())

    def detach(self) -> None:
        """Save nothing in the state file from now on."""
        with self._lock:
            self._sales.detach()

    @contextmanager
    def _selling(self) -> Generator[None]:
        """Hold the bookings, and save those that were used, even if the request is refused."""
        with self._lock:
            try:
                yield
            finally:
                self._sales.save()

    def voucher_file(self, ticket_id: str, key: str) -> bytes | None:
        """Return a voucher as PDF; None if the key is wrong or there is no voucher (yet)."""
        with self._lock:
            return self._sales.voucher_file(ticket_id, key, self.clock.now())


def _note_ids(operation: str, answer: JsonValue) -> None:
    """Note the booking and the ticket that an answer names, for the log of requests."""
    if isinstance(answer, dict):
        of_ticket = "ticket_id" if operation in {"tickets.get", "mcp.view_ticket"} else ""
        for name, value in answer.items():
            key = of_ticket if name == "id" else name
            if key in {"booking_id", "ticket_id"} and isinstance(value, str):
                request_context.current().named[key] = value


def _check_access(access: Access, needed: Access) -> None:
    if not access.allows(needed):
        paying = needed is Access.ORGANISATION
        raise RefusedError(403, Problem("organisation_only" if paying else "forbidden"))


def _sales_handlers(sales: Sales) -> dict[str, Handler]:
    return {
        "bookings.create": sales.create,
        "bookings.confirm": sales.confirm,
        "bookings.get": sales.booking,
        "bookings.cancel": sales.cancel_booking,
        "bookings.cancel_fee": sales.cancellation_fee,
        "tickets.get": sales.ticket,
        "tickets.cancel": sales.cancel_ticket,
        "tickets.pdf": sales.voucher_address,
        "tickets.mark_paid": sales.mark_paid,
        "mcp.create_booking": sales.create_by_tool,
        "mcp.confirm_booking": sales.confirm,
        "mcp.view_ticket": sales.ticket_by_tool,
        "mcp.cancel_ticket": sales.cancel_ticket,
    }


def _catalogue_handlers(offers: Offers) -> dict[str, Handler]:
    catalogue = offers.catalogue

    def find(request: Search, context: CallContext) -> object:
        return search(request, offers, context)

    def departures(request: DepartureQuery, _: CallContext) -> Departures:
        if request.journey_ids == [] and offers.profile.no_journeys == "none":
            return {"departures": []}
        found = catalogue.departures(request.provider_id, request.journey_ids or ())
        return {"departures": found}

    def list_of(records: Callable[[str], object], name: str | None = None) -> Handler:
        def handle(_: object, context: CallContext) -> object:
            found = records(context.caller.language)
            return found if name is None else {name: found}

        return handle

    return {
        "availability.search": find,
        "mcp.search_availability": find,
        "catalogue.ports": list_of(catalogue.ports, "ports"),
        "catalogue.journeys": list_of(catalogue.journeys, "journeys"),
        "catalogue.departures": departures,
        "catalogue.vehicle_brands": list_of(catalogue.vehicle_brands, "brands"),
        "catalogue.vehicle_types": list_of(catalogue.vehicle_types, "vehicle_types"),
        "mcp.ports": list_of(catalogue.ports_with_places),
        "mcp.companies": list_of(catalogue.companies),
        "mcp.countries": list_of(catalogue.countries),
        "mcp.vehicle_brands": list_of(catalogue.vehicle_brands),
        "mcp.vehicle_data": list_of(catalogue.vehicles),
        "mcp.departures": list_of(catalogue.scheduled_departures),
    }


def _service_error(error: RefusedError, operation: str, caller: Caller) -> ServiceError:
    messages = [
        (problem.path, text(problem.text, caller.language, problem.values))
        for problem in error.problems
    ]
    field, message = messages[0]
    return ServiceError(
        error.status,
        code_of(
            operation,
            error.status,
            malformed=caller.protocol == "rest" and isinstance(error, MalformedError),
        ),
        message if field is None else f"{field}: {message}",
        field,
        tuple({"field": path, "message": words} for path, words in messages if path is not None),
    )


def code_of(operation: str, status: int, *, malformed: bool) -> str:
    """Return the code of an error.

    Args:
        operation: The public name.
        status: The HTTP status.
        malformed: Whether a REST request is invalid, independent of the state of the service.
    """
    known = OPERATIONS[operation]
    if status == HTTPStatus.NOT_FOUND and known.reads_ticket:
        return "TICKET_NOT_FOUND"
    general = status == HTTPStatus.FORBIDDEN or malformed
    if known.error_code and not general:
        return known.error_code
    return _CODES.get(status) or HTTPStatus(status).name
