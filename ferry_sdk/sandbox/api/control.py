"""Control endpoints, so that tests in another process or language can set up the service."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

from pydantic import JsonValue
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ferry_sdk._runtime.data import data_beside
from ferry_sdk.sandbox.api.openapi.pages import file_response
from ferry_sdk.sandbox.clock import to_utc
from ferry_sdk.sandbox.counters import Effect
from ferry_sdk.sandbox.faults.fault import Fault
from ferry_sdk.sandbox.faults.kinds import FaultKind
from ferry_sdk.sandbox.faults.mcp_options import McpSwitches
from ferry_sdk.sandbox.http.conventions import (
    has_local_origin,
    is_this_machine,
    parse_json,
    problem,
)
from ferry_sdk.sandbox.network.network import Network
from ferry_sdk.sandbox.request_log import LoggedRequest, RequestLog
from ferry_sdk.sandbox.requests.access import Tokens
from ferry_sdk.sandbox.requests.control import ClockUpdate, CountersQuery, RequestsQuery
from ferry_sdk.sandbox.requests.errors import InvalidOrderError, parse_fields
from ferry_sdk.sandbox.responses import control as responses
from ferry_sdk.sandbox.responses.fields import JsonObject
from ferry_sdk.sandbox.service import Service

_Fields = Mapping[str, JsonValue]
_PAGE = 1000
_LATEST = 100


@dataclass(frozen=True, slots=True)
class Control:
    """The endpoints under `/_sandbox`, for this machine and for holders of the control token."""

    service: Service
    switches: McpSwitches
    tokens: Tokens
    log: RequestLog
    reset: Callable[[], None]

    def routes(self) -> list[BaseRoute]:
        """Return one route for each path, so that a 405 names all its methods."""
        rows: dict[str, dict[str, Endpoint]] = {}
        for each in ENDPOINTS:
            rows.setdefault(each.path, {})[each.method] = each
        return [
            Route("/_sandbox/", self._page, methods=["GET"]),
            *(
                Route(path, partial(self._answer, methods), methods=list(methods))
                for path, methods in rows.items()
            ),
        ]

    async def _page(self, request: Request) -> Response:
        """Answer with the page. It shows nothing by itself, so that it can ask for the token."""
        denied = None if self.tokens.control else self._access_error(request)
        return denied or file_response("control.html")

    def read_clock(self, _: _Fields) -> responses.ClockReading:
        """Read the clock."""
        return {"now": self.service.clock.now().isoformat(), "frozen": self.service.clock.frozen}

    def move_clock(self, fields: _Fields) -> responses.ClockReading:
        """Move, freeze or resume the clock."""
        update = parse_fields(ClockUpdate, fields)
        # Validate everything first: an invalid update changes nothing.
        moment = to_utc(update.travel_to or self.service.clock.now())
        to_utc(moment + timedelta(seconds=update.advance or 0))
        if update.frozen is not None:
            (self.service.clock.freeze if update.frozen else self.service.clock.resume)()
        if update.travel_to is not None:
            self.service.clock.travel_to(update.travel_to)
        if update.advance is not None:
            self.service.clock.advance(update.advance)
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

    def list_kinds(self, _: _Fields) -> JsonObject:
        """List the kinds of fault, with the JSON Schema of their details."""
        return {kind.value: kind.details.model_json_schema() for kind in FaultKind}

    def list_trial_routes(self, _: _Fields) -> responses.TrialRoutes:
        """List the routes that each misbehave in one way."""
        return {
            "routes": [
                {
                    "company": way.route.companies[0],
                    "depart_code": way.depart.code,
                    "arrive_code": way.arrive.code,
                    "journey_id": way.id,
                    "route": f"{way.depart.name} → {way.arrive.name}",
                    "happens": way.route.happens,
                }
                for way in Network.load(with_trials=True).journeys.values()
                if way.route.happens
            ]
        }

    def list_requests(self, fields: _Fields) -> responses.RequestsState:
        """List the latest requests."""
        wanted = parse_fields(RequestsQuery, fields).correlation_id
        return {"requests": [_record(each) for each in self.log.entries(wanted)]}

    def list_bookings(self, _: _Fields) -> responses.BookingsState:
        """List the latest bookings, without travellers."""
        return self.service.summaries(_LATEST)

    def read_counters(self, fields: _Fields) -> responses.CountersState:
        """Read the counters."""
        after = parse_fields(CountersQuery, fields).after
        effects = self.service.counters.effects
        end = after + _PAGE
        return {
            "requests": dict(self.service.counters.requests),
            "effects": [_record(effect) for effect in effects[after:end]],
            "totals": dict(Counter(effect.operation for effect in effects)),
            "next": end if end < len(effects) else None,
            "connections": self.service.counters.connections,
        }

    def read_options(self, _: _Fields) -> JsonObject:
        """Read the options of /mcp."""
        return self.switches.current.model_dump(mode="json")

    def set_options(self, fields: _Fields) -> JsonObject:
        """Change some options of /mcp."""
        self.switches.set(**fields)
        return self.read_options({})

    def reset_all(self, _: _Fields) -> JsonObject:
        """Clear bookings, faults, counters and sessions; restore the clock and the options."""
        self.reset()
        return {}

    async def _answer(self, rows: Mapping[str, Endpoint], request: Request) -> Response:
        """Answer a request of one path; HEAD is answered as GET without a body."""
        if (denied := self._access_error(request)) is not None:
            return denied
        row = rows["GET" if request.method == "HEAD" else request.method]
        try:
            if row.method == "GET":
                return JSONResponse(row.handle(self, dict(request.query_params)))
            return JSONResponse(row.handle(self, _parse_body(await request.body())))
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
    """One method of one path of the controls: a row of `controls.json`.

    Attributes:
        answer: The place of the type of its answer.
        fields: The place of the model of its body, or of its query if the method is GET.
        first: What it does before it answers, such as `clock.reset`; then it takes no fields.
        handler: The method of `Control` that answers; by default the one with its name.
    """

    name: str
    summary: str
    method: str
    path: str
    answer: str
    fields: str | None = None
    first: str | None = None
    handler: str | None = None

    def handle(self, control: Control, fields: _Fields) -> object:
        """Return the answer."""
        if self.first is not None:
            attrgetter(self.first)(control)()
            fields = {}
        return getattr(control, self.handler or self.name)(fields)


_ROWS: dict[str, dict[str, str]] = data_beside(__file__, "controls.json")
ENDPOINTS = tuple(Endpoint(name, **row) for name, row in _ROWS.items())


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
