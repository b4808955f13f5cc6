"""Control endpoints, so that tests in another process or language can set up the service."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ferry_sdk.sandbox.clock import Clock, to_utc
from ferry_sdk.sandbox.counters import Counters
from ferry_sdk.sandbox.faults.faults import DETAILS, Fault, Faults
from ferry_sdk.sandbox.faults.mcp_options import McpSwitches
from ferry_sdk.sandbox.http.conventions import (
    has_local_origin,
    is_this_machine,
    parse_json,
    problem,
)
from ferry_sdk.sandbox.requests.access import Tokens
from ferry_sdk.sandbox.requests.errors import InvalidOrderError, parse_fields
from ferry_sdk.sandbox.requests.fields import Moment

_Fields = Mapping[str, JsonValue]
_Handler = Callable[[_Fields], JsonValue]
_PAGE = 1000
_CENTURY = 100 * 366 * 24 * 3600.0


class ClockUpdate(BaseModel):
    """Changes to the clock, applied in the order of the fields."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

    frozen: bool | None = None
    travel_to: Moment | None = None
    advance: Annotated[float, Field(ge=0, le=_CENTURY, allow_inf_nan=False)] | None = None


class CountersQuery(BaseModel):
    """The page of effects to return: those after the first `after`."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    after: Annotated[int, Field(ge=0)] = 0


@dataclass(frozen=True, slots=True)
class Control:
    """The endpoints under `/_sandbox`, for this machine and for holders of the control token."""

    clock: Clock
    faults: Faults
    counters: Counters
    switches: McpSwitches
    tokens: Tokens
    reset: Callable[[], None]

    def routes(self) -> list[BaseRoute]:
        """Return one route for each path."""
        handlers: dict[str, dict[str, _Handler]] = {
            "clock": {
                "GET": self._clock,
                "POST": self._move_clock,
                "DELETE": _after(self.clock.reset, self._clock),
            },
            "faults": {
                "GET": self._faults,
                "POST": self._add_fault,
                "DELETE": _after(self.faults.clear, self._faults),
            },
            "faults/kinds": {"GET": self._kinds},
            "counters": {
                "GET": self._counters,
                "DELETE": _after(self.counters.reset, self._counters),
            },
            "options": {
                "GET": self._options,
                "PATCH": self._set_options,
                "DELETE": _after(self.switches.reset, self._options),
            },
            "reset": {"POST": _after(self.reset, lambda _: {})},
        }
        return [
            Route(f"/_sandbox/{name}", self._endpoint(methods), methods=list(methods))
            for name, methods in handlers.items()
        ]

    def _clock(self, _: _Fields) -> JsonValue:
        return {"now": self.clock.now().isoformat(), "frozen": self.clock.frozen}

    def _move_clock(self, fields: _Fields) -> JsonValue:
        update = parse_fields(ClockUpdate, fields)
        # Validate everything first: an invalid update changes nothing.
        moment = to_utc(update.travel_to or self.clock.now())
        to_utc(moment + timedelta(seconds=update.advance or 0))
        if update.frozen is not None:
            (self.clock.freeze if update.frozen else self.clock.resume)()
        if update.travel_to is not None:
            self.clock.travel_to(update.travel_to)
        if update.advance is not None:
            self.clock.advance(update.advance)
        return self._clock({})

    def _faults(self, _: _Fields) -> JsonValue:
        return {
            "pending": [fault.to_wire() for fault in self.faults.pending],
            "taken": [fault.to_wire() for fault in self.faults.taken],
        }

    def _add_fault(self, fields: _Fields) -> JsonValue:
        return self.faults.add(Fault.read(fields)).to_wire()

    def _kinds(self, _: _Fields) -> JsonValue:
        return {kind.value: details.model_json_schema() for kind, details in DETAILS.items()}

    def _counters(self, fields: _Fields) -> JsonValue:
        after = parse_fields(CountersQuery, fields).after
        effects = self.counters.effects
        end = after + _PAGE
        return {
            "requests": dict(self.counters.requests),
            "effects": [
                {
                    "operation": effect.operation,
                    "subject": effect.subject,
                    "at": effect.at.isoformat(),
                }
                for effect in effects[after:end]
            ],
            "totals": dict(Counter(effect.operation for effect in effects)),
            "next": end if end < len(effects) else None,
            "connections": self.counters.connections,
        }

    def _options(self, _: _Fields) -> JsonValue:
        return self.switches.current.model_dump(mode="json")

    def _set_options(self, fields: _Fields) -> JsonValue:
        self.switches.set(**fields)
        return self._options({})

    def _endpoint(
        self, handlers: Mapping[str, _Handler]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return the handler of one path; HEAD is answered as GET without a body."""

        async def endpoint(request: Request) -> Response:
            if (denied := self._access_error(request)) is not None:
                return denied
            handler = handlers["GET" if request.method == "HEAD" else request.method]
            in_query = request.method in {"GET", "HEAD"}
            try:
                fields = (
                    dict(request.query_params) if in_query else _parse_body(await request.body())
                )
                return JSONResponse(handler(fields))
            except InvalidOrderError as error:
                return problem(422, "VALIDATION_ERROR", error.message, field=error.field)
            except (ValueError, OverflowError) as error:
                return problem(422, "VALIDATION_ERROR", str(error))

        return endpoint

    def _access_error(self, request: Request) -> Response | None:
        """Return the error response if the request may not use the controls, else None."""
        if self.tokens.opens_controls(request.headers.get("authorization")):
            return None
        if is_this_machine(request):
            if has_local_origin(request):
                return None
            return problem(403, "FORBIDDEN", "This origin cannot use the controls")
        if self.tokens.control is None:
            return problem(403, "FORBIDDEN", "Only this machine can use the controls")
        challenge = {"www-authenticate": "Bearer"}
        return problem(401, "UNAUTHORIZED", "The control token is missing or wrong", challenge)


def _after(act: Callable[[], None], show: _Handler) -> _Handler:
    """Return a handler that acts and then answers with the new state."""

    def handle(_: _Fields) -> JsonValue:
        act()
        return show({})

    return handle


def _parse_body(body: bytes) -> _Fields:
    try:
        fields = parse_json(body or b"{}")
    except ValueError:
        raise InvalidOrderError("body", "The body is not valid JSON") from None
    if not isinstance(fields, dict):
        raise InvalidOrderError("body", "The body must be a JSON object")
    return fields
