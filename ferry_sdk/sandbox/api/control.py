"""Control endpoints, so that tests in another process or language can set up the service."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any, NamedTuple

from pydantic import JsonValue
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ferry_sdk.sandbox.api.openapi.pages import file_response
from ferry_sdk.sandbox.clock import to_utc
from ferry_sdk.sandbox.counters import Effect
from ferry_sdk.sandbox.faults.fault import Fault, FaultRequest
from ferry_sdk.sandbox.faults.kinds import FaultKind
from ferry_sdk.sandbox.faults.mcp_options import McpOptions, McpSwitches
from ferry_sdk.sandbox.http.conventions import (
    has_local_origin,
    is_this_machine,
    parse_json,
    problem,
)
from ferry_sdk.sandbox.network.network import Network
from ferry_sdk.sandbox.request_log import LoggedRequest, RequestLog
from ferry_sdk.sandbox.requests.access import Tokens
from ferry_sdk.sandbox.requests.control import (
    BookingToMake,
    ClockUpdate,
    ControlModel,
    CountersQuery,
    RequestsQuery,
)
from ferry_sdk.sandbox.requests.errors import InvalidOrderError, parse_fields
from ferry_sdk.sandbox.responses import control as responses
from ferry_sdk.sandbox.responses.fields import JsonObject
from ferry_sdk.sandbox.service import Service

_Fields = Mapping[str, JsonValue]
_PAGE = 1000
"""The most effects in one answer."""
_LATEST = 100
"""How many bookings are listed."""


@dataclass(frozen=True, slots=True)
class Control:
    """The endpoints under `/_sandbox`, for this machine and for holders of the control token."""

    service: Service
    switches: McpSwitches
    tokens: Tokens
    log: RequestLog
    reset: Callable[[], None]
    base_url: str = ""
    """The URL of the service as the request names it, without a trailing slash."""

    def routes(self) -> list[BaseRoute]:
        """Return one route for each path, so that a 405 names all its methods."""
        by_path: dict[str, dict[str, Endpoint]] = {}
        for endpoint in ENDPOINTS:
            by_path.setdefault(endpoint.path, {})[endpoint.method] = endpoint

        routes: list[BaseRoute] = [Route("/_sandbox/", self._page, methods=["GET"])]
        for path, by_method in by_path.items():
            answer = partial(self._answer, by_method)
            routes.append(Route(path, answer, methods=list(by_method)))
        return routes

    async def _page(self, request: Request) -> Response:
        """Answer with the page.

        The page shows nothing by itself. If there is a control token, anybody may load the page,
        because it asks for the token.
        """
        if self.tokens.control is None and (denied := self._access_error(request)) is not None:
            return denied
        return file_response("control.html")

    def read_clock(self, _: _Fields) -> responses.ClockReading:
        """Read the clock."""
        return {"now": self.service.clock.now().isoformat(), "frozen": self.service.clock.frozen}

    def move_clock(self, fields: _Fields) -> responses.ClockReading:
        """Move, freeze or resume the clock."""
        clock = self.service.clock
        update = parse_fields(ClockUpdate, fields)

        # Validate everything first: an invalid update changes nothing.
        moment = to_utc(update.travel_to or clock.now())
        to_utc(moment + timedelta(seconds=update.advance or 0))

        if update.frozen is True:
            clock.freeze()
        elif update.frozen is False:
            clock.resume()
        if update.travel_to is not None:
            clock.travel_to(update.travel_to)
        if update.advance is not None:
            clock.advance(update.advance)
        return self.read_clock({})

    def reset_clock(self, _: _Fields) -> responses.ClockReading:
        """Restore the initial time."""
        self.service.clock.reset()
        return self.read_clock({})

    def list_faults(self, _: _Fields) -> responses.FaultsState:
        """List the faults."""
        return {
            "pending": [fault.to_wire() for fault in self.service.faults.pending],
            "taken": [fault.to_wire() for fault in self.service.faults.taken],
        }

    def add_fault(self, fields: _Fields) -> JsonObject:
        """Request a fault."""
        return self.service.faults.add(Fault.read(fields)).to_wire()

    def clear_faults(self, _: _Fields) -> responses.FaultsState:
        """Remove all faults."""
        self.service.faults.clear()
        return self.list_faults({})

    def list_kinds(self, _: _Fields) -> JsonObject:
        """List the kinds of fault, with the JSON Schema of their details."""
        return {kind.value: kind.details.model_json_schema() for kind in FaultKind}

    def list_trial_routes(self, _: _Fields) -> responses.TrialRoutes:
        """List the routes that each misbehave in one way."""
        journeys = Network.load(with_trials=True).journeys.values()
        return {
            "routes": [
                {
                    "company": journey.route.companies[0],
                    "depart_code": journey.depart.code,
                    "arrive_code": journey.arrive.code,
                    "journey_id": journey.id,
                    "route": f"{journey.depart.name} → {journey.arrive.name}",
                    "happens": journey.route.happens,
                }
                for journey in journeys
                if journey.route.happens
            ]
        }

    def list_requests(self, fields: _Fields) -> responses.RequestsState:
        """List the latest requests."""
        query = parse_fields(RequestsQuery, fields)
        entries = self.log.entries(query.correlation_id)
        return {"requests": [_record(entry) for entry in entries]}

    def clear_requests(self, _: _Fields) -> responses.RequestsState:
        """Forget the requests."""
        self.log.clear()
        return self.list_requests({})

    def list_bookings(self, _: _Fields) -> responses.BookingsState:
        """List the latest bookings, without travellers."""
        return self.service.summaries(_LATEST)

    def make_booking(self, fields: _Fields) -> JsonValue:
        """Make a booking in a stage, and return it as a client reads it."""
        return self.service.prepare(parse_fields(BookingToMake, fields), self.base_url)

    def read_counters(self, fields: _Fields) -> responses.CountersState:
        """Read the counters."""
        counters = self.service.counters
        after = parse_fields(CountersQuery, fields).after
        effects = counters.effects
        end = after + _PAGE
        return {
            "requests": dict(counters.requests),
            "effects": [_record(effect) for effect in effects[after:end]],
            "totals": dict(Counter(effect.operation for effect in effects)),
            "next": end if end < len(effects) else None,
            "connections": counters.connections,
        }

    def reset_counters(self, _: _Fields) -> responses.CountersState:
        """Set every counter to zero."""
        self.service.counters.reset()
        return self.read_counters({})

    def read_options(self, _: _Fields) -> JsonObject:
        """Read the options of /mcp."""
        return self.switches.current.model_dump(mode="json")

    def set_options(self, fields: _Fields) -> JsonObject:
        """Change some options of /mcp."""
        self.switches.set(**fields)
        return self.read_options({})

    def reset_options(self, _: _Fields) -> JsonObject:
        """Restore the initial options of /mcp."""
        self.switches.reset()
        return self.read_options({})

    def reset_all(self, _: _Fields) -> JsonObject:
        """Clear bookings, faults, counters and sessions; restore the clock and the options."""
        self.reset()
        return {}

    async def _answer(self, by_method: Mapping[str, Endpoint], request: Request) -> Response:
        """Answer a request of one path; HEAD is answered as GET without a body."""
        if (denied := self._access_error(request)) is not None:
            return denied

        method = "GET" if request.method == "HEAD" else request.method
        endpoint = by_method[method]
        try:
            if method == "GET":
                fields: _Fields = dict(request.query_params)
            else:
                fields = _parse_body(await request.body())
            control = replace(self, base_url=str(request.base_url).rstrip("/"))
            answer = await run_in_threadpool(endpoint.perform, control, fields)
            return JSONResponse(answer)
        except InvalidOrderError as error:
            return problem(422, "VALIDATION_ERROR", error.message, field=error.field)
        except ValueError as error:
            return problem(422, "VALIDATION_ERROR", str(error))

    def _access_error(self, request: Request) -> Response | None:
        """Return the error response if the request may not use the controls, else None."""
        if self.tokens.opens_controls(request.headers.get("authorization")):
            return None
        if is_this_machine(request):
            if has_local_origin(request):
                return None
            return problem(403, "FORBIDDEN", "This origin cannot use the controls")
        if self.tokens.control is None:
            return problem(
                403, "FORBIDDEN", "Only this machine can use the controls, and not through a proxy"
            )
        challenge = {"www-authenticate": "Bearer"}
        return problem(401, "UNAUTHORIZED", "The control token is missing or wrong", challenge)


class Endpoint(NamedTuple):
    """One method of one path of the controls.

    Attributes:
        name: The name in the OpenAPI document.
        summary: What it does.
        method: The HTTP method.
        path: The path.
        perform: The method of `Control` that performs it.
        answer: The type of its answer, or the operation that has the same answer.
        fields: The model of its body, or of its query if the method is GET.
    """

    name: str
    summary: str
    method: str
    path: str
    perform: Callable[[Control, _Fields], object]
    answer: Any
    fields: type[ControlModel] | None = None


ENDPOINTS = (
    Endpoint(
        "read_clock",
        summary="Read the clock",
        method="GET",
        path="/_sandbox/clock",
        perform=Control.read_clock,
        answer=responses.ClockReading,
    ),
    Endpoint(
        "move_clock",
        summary="Move, freeze or resume the clock",
        method="POST",
        path="/_sandbox/clock",
        perform=Control.move_clock,
        answer=responses.ClockReading,
        fields=ClockUpdate,
    ),
    Endpoint(
        "reset_clock",
        summary="Restore the initial time",
        method="DELETE",
        path="/_sandbox/clock",
        perform=Control.reset_clock,
        answer=responses.ClockReading,
    ),
    Endpoint(
        "list_faults",
        summary="List the faults",
        method="GET",
        path="/_sandbox/faults",
        perform=Control.list_faults,
        answer=responses.FaultsState,
    ),
    Endpoint(
        "add_fault",
        summary="Request a fault",
        method="POST",
        path="/_sandbox/faults",
        perform=Control.add_fault,
        answer=FaultRequest,
        fields=FaultRequest,
    ),
    Endpoint(
        "clear_faults",
        summary="Remove all faults",
        method="DELETE",
        path="/_sandbox/faults",
        perform=Control.clear_faults,
        answer=responses.FaultsState,
    ),
    Endpoint(
        "list_kinds",
        summary="List the kinds of fault, with the JSON Schema of their details",
        method="GET",
        path="/_sandbox/faults/kinds",
        perform=Control.list_kinds,
        answer=JsonObject,
    ),
    Endpoint(
        "list_trial_routes",
        summary="List the routes that each misbehave in one way",
        method="GET",
        path="/_sandbox/trial-routes",
        perform=Control.list_trial_routes,
        answer=responses.TrialRoutes,
    ),
    Endpoint(
        "list_requests",
        summary="List the latest requests",
        method="GET",
        path="/_sandbox/requests",
        perform=Control.list_requests,
        answer=responses.RequestsState,
        fields=RequestsQuery,
    ),
    Endpoint(
        "clear_requests",
        summary="Forget the requests",
        method="DELETE",
        path="/_sandbox/requests",
        perform=Control.clear_requests,
        answer=responses.RequestsState,
    ),
    Endpoint(
        "list_bookings",
        summary="List the latest bookings, without travellers",
        method="GET",
        path="/_sandbox/bookings",
        perform=Control.list_bookings,
        answer=responses.BookingsState,
    ),
    Endpoint(
        "make_booking",
        summary="Make a booking in a stage, without a request",
        method="POST",
        path="/_sandbox/bookings",
        perform=Control.make_booking,
        answer="bookings.get",
        fields=BookingToMake,
    ),
    Endpoint(
        "read_counters",
        summary="Read the counters",
        method="GET",
        path="/_sandbox/counters",
        perform=Control.read_counters,
        answer=responses.CountersState,
        fields=CountersQuery,
    ),
    Endpoint(
        "reset_counters",
        summary="Set every counter to zero",
        method="DELETE",
        path="/_sandbox/counters",
        perform=Control.reset_counters,
        answer=responses.CountersState,
    ),
    Endpoint(
        "read_options",
        summary="Read the options of /mcp",
        method="GET",
        path="/_sandbox/options",
        perform=Control.read_options,
        answer=McpOptions,
    ),
    Endpoint(
        "set_options",
        summary="Change some options of /mcp",
        method="PATCH",
        path="/_sandbox/options",
        perform=Control.set_options,
        answer=McpOptions,
        fields=McpOptions,
    ),
    Endpoint(
        "reset_options",
        summary="Restore the initial options of /mcp",
        method="DELETE",
        path="/_sandbox/options",
        perform=Control.reset_options,
        answer=McpOptions,
    ),
    Endpoint(
        "reset_all",
        summary="Clear bookings, faults, counters and sessions; restore the clock and the options",
        method="POST",
        path="/_sandbox/reset",
        perform=Control.reset_all,
        answer=JsonObject,
    ),
)


def _record(entry: LoggedRequest | Effect) -> Any:  # noqa: ANN401 -- a record of `responses`
    return {**asdict(entry), "at": entry.at.isoformat()}


def _parse_body(body: bytes) -> _Fields:
    try:
        fields = parse_json(body or b"{}")
    except ValueError:
        raise InvalidOrderError("body", "The body is not valid JSON") from None
    if not isinstance(fields, dict):
        raise InvalidOrderError("body", "The body must be a JSON object")
    return fields
