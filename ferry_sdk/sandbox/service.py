"""The operations of the service, with errors in the caller's language.

REST and MCP call the same operations by name. An operation checks the access of the
token, validates its arguments, runs under a lock if it uses bookings, and returns JSON or raises.
"""

from __future__ import annotations

import threading
from contextlib import nullcontext
from typing import TYPE_CHECKING, TypeVar, cast

from ferry_sdk.sandbox.bookings.sales import Sales
from ferry_sdk.sandbox.network.network import MismatchError
from ferry_sdk.sandbox.network.seeded_random import Ids
from ferry_sdk.sandbox.offers.offers import search
from ferry_sdk.sandbox.requests import requests
from ferry_sdk.sandbox.requests.access import CallContext, Caller
from ferry_sdk.sandbox.requests.errors import MalformedError, Problem, RefusedError, text
from ferry_sdk.sandbox.requests.validation import read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic import JsonValue

    from ferry_sdk.sandbox.clock import Clock
    from ferry_sdk.sandbox.counters import Counters
    from ferry_sdk.sandbox.faults.faults import Faults
    from ferry_sdk.sandbox.offers.offers import Offers

    Handler = Callable[[Mapping[str, object], CallContext], object]

__all__ = ["Caller", "Service", "ServiceError"]

B = TypeVar("B", bound=requests.Body)

_ERROR_CODES = {
    "availability.search": "AVAILABILITY_ERROR",
    "bookings.create": "BOOKING_CREATE_ERROR",
    "bookings.confirm": "BOOKING_CONFIRM_ERROR",
    "tickets.get": "TICKET_VIEW_ERROR",
    "tickets.cancel": "TICKET_CANCEL_ERROR",
    "mcp.search_availability": "AVAILABILITY_ERROR",
    "mcp.create_booking": "BOOKING_CREATE_ERROR",
    "mcp.confirm_booking": "BOOKING_CONFIRM_ERROR",
    "mcp.view_ticket": "TICKET_VIEW_ERROR",
    "mcp.cancel_ticket": "TICKET_CANCEL_ERROR",
}
_TICKET_READS = {"tickets.get", "tickets.pdf", "tickets.mark_paid", "mcp.view_ticket"}
_CODES = {403: "FORBIDDEN", 404: "NOT_FOUND", 409: "CONFLICT", 422: "VALIDATION_ERROR"}
_NOT_FOUND, _FORBIDDEN = 404, 403


class ServiceError(Exception):
    """An error of an operation, with its message in the caller's language.

    Attributes:
        status: The HTTP status.
        code: The error code.
        message: The message in the caller's language.
        field: The path of the first invalid field, if any.
        errors: Every invalid field with its message.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        field: str | None = None,
        errors: tuple[Mapping[str, str], ...] = (),
    ) -> None:
        super().__init__(status, code, message, field, errors)
        self.status = status
        self.code = code
        self.message = message
        self.field = field
        self.errors = errors

    def to_wire(self) -> dict[str, JsonValue]:
        """Return the error object of the interface."""
        wire: dict[str, JsonValue] = {"error": True, "code": self.code, "message": self.message}
        if self.field is not None:
            wire["field"] = self.field
        if self.errors:
            wire["errors"] = [dict(error) for error in self.errors]
        return wire


class Service:
    """The service without HTTP, in memory; thread-safe."""

    def __init__(
        self,
        *,
        clock: Clock,
        offers: Offers,
        faults: Faults,
        counters: Counters,
        ids: Ids | None = None,
    ) -> None:
        self.clock = clock
        self.offers = offers
        self.faults = faults
        self.counters = counters
        self._lock = threading.Lock()
        self._sales = Sales(offers, faults, counters, ids or Ids(None))
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
        handler = self._handlers[operation]
        try:
            _check_access(operation, caller)
            # Only the bookings have state, so a slow search does not block other calls.
            with self._lock if operation in self._sales_handlers else nullcontext():
                answer = handler(arguments, CallContext(operation, caller, self.clock.now()))
        except MismatchError as error:
            problem = Problem(error.reason, error.field, {"value": error.value})
            raise _service_error(RefusedError(422, problem), operation, caller) from None
        except RefusedError as error:
            raise _service_error(error, operation, caller) from None
        return self.faults.reshape(operation, cast("JsonValue", answer))

    def voucher_file(self, ticket_id: str, key: str) -> bytes | None:
        """Return a voucher as PDF; None if the key is wrong or there is no voucher (yet)."""
        with self._lock:
            return self._sales.voucher_file(ticket_id, key, self.clock.now())


def _check_access(operation: str, caller: Caller) -> None:
    if not caller.access.allows(operation):
        paying = operation == "tickets.mark_paid"
        raise RefusedError(403, Problem("organisation_only" if paying else "forbidden"))


def _handler(model: type[B], handler: Callable[[B, CallContext], object]) -> Handler:
    return lambda arguments, context: handler(read(model, arguments), context)


def _sales_handlers(sales: Sales) -> dict[str, Handler]:
    confirm = _handler(requests.Identified, sales.confirm)
    cancel_ticket = _handler(requests.TicketCancellation, sales.cancel_ticket)
    return {
        "bookings.create": _handler(requests.NewBooking, sales.create),
        "bookings.confirm": confirm,
        "bookings.get": _handler(requests.Identified, sales.booking),
        "bookings.cancel": _handler(requests.BookingCancellation, sales.cancel_booking),
        "bookings.cancel_fee": _handler(requests.Identified, sales.cancellation_fee),
        "tickets.get": _handler(requests.Identified, sales.ticket),
        "tickets.cancel": cancel_ticket,
        "tickets.pdf": _handler(requests.Identified, sales.voucher_address),
        "tickets.mark_paid": _handler(requests.Payment, sales.mark_paid),
        "mcp.create_booking": _handler(requests.McpNewBooking, sales.create_by_tool),
        "mcp.confirm_booking": confirm,
        "mcp.view_ticket": _handler(requests.Identified, sales.ticket_by_tool),
        "mcp.cancel_ticket": cancel_ticket,
    }


def _catalogue_handlers(offers: Offers) -> dict[str, Handler]:
    catalogue = offers.catalogue

    def departures(request: requests.DepartureQuery, _: CallContext) -> object:
        found = catalogue.departures(request.provider_id, request.journey_ids or ())
        return {"departures": found}

    def list_handler(records: Callable[[str], object], name: str | None = None) -> Handler:
        def handler(_: requests.Nothing, context: CallContext) -> object:
            found = records(context.caller.language)
            return found if name is None else {name: found}

        return _handler(requests.Nothing, handler)

    search_handler = _handler(
        requests.Search, lambda request, context: search(request, offers, context)
    )
    return {
        "availability.search": search_handler,
        "mcp.search_availability": search_handler,
        "catalogue.ports": list_handler(catalogue.ports, "ports"),
        "catalogue.journeys": list_handler(catalogue.journeys, "journeys"),
        "catalogue.departures": _handler(requests.DepartureQuery, departures),
        "catalogue.vehicle_brands": list_handler(lambda _: catalogue.vehicle_brands(), "brands"),
        "catalogue.vehicle_types": list_handler(
            lambda _: catalogue.vehicle_types(), "vehicle_types"
        ),
        "mcp.ports": list_handler(catalogue.ports_with_places),
        "mcp.companies": list_handler(catalogue.companies),
        "mcp.countries": list_handler(catalogue.countries),
        "mcp.vehicle_brands": list_handler(lambda _: catalogue.vehicle_brands()),
        "mcp.vehicle_data": list_handler(lambda _: catalogue.vehicles()),
        "mcp.departures": list_handler(catalogue.scheduled_departures),
    }


def _service_error(error: RefusedError, operation: str, caller: Caller) -> ServiceError:
    messages = [
        (problem.path, text(problem.text, caller.language, problem.values))
        for problem in error.problems
    ]
    field, message = messages[0]
    return ServiceError(
        error.status,
        _code(error, operation, caller),
        message if field is None else f"{field}: {message}",
        field,
        tuple({"field": path, "message": words} for path, words in messages if path is not None),
    )


def _code(error: RefusedError, operation: str, caller: Caller) -> str:
    """Return the error code: general for access and REST validation, else the operation's."""
    if error.status == _NOT_FOUND and operation in _TICKET_READS:
        return "TICKET_NOT_FOUND"
    general = error.status == _FORBIDDEN or (
        caller.protocol == "rest" and isinstance(error, MalformedError)
    )
    return _CODES[error.status] if general else _ERROR_CODES.get(operation, _CODES[error.status])
