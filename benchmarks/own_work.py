"""The library's own work in one call: what a call costs above the same HTTP client used alone."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from http import HTTPStatus
from itertools import cycle, repeat
from time import process_time
from typing import TYPE_CHECKING, Any, Final

from ferry_sdk import APIError, BookingCreated, CancellationFee, Ferry
from ferry_sdk.models.inputs import Passenger, Selection

from ._lines import Bar, Line, compared
from ._measure import Figures, in_turn, timed
from ._memory_client import MemoryClient, MemoryReply, always, by_word
from ._payload import (
    BOOKING_ID,
    CREATED,
    FEE,
    HEADERS,
    PASSENGER,
    RATE_LIMITED,
    REFUSED,
    SELECTION,
    TOKEN,
    bookings,
    mcp_created,
)
from ._running import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pydantic import BaseModel

    from ._measure import Effort

    Booking = Mapping[str, Any]

CREATE_BAR: Final = Bar(4)
READ_BAR: Final = Bar(7)
DIFFERENT_BAR: Final = Bar(3.2)
REFUSED_BAR: Final = Bar(17)
LIMITED_BAR: Final = Bar(17)
MCP_BAR: Final = Bar(5.5)
CALLS: Final = 100
ROUNDS: Final = 61
_UUID: Final = "6f1d0c6a-2b7c-4a0f-9d55-0b8e5c0e3a1d"
_URL: Final = "http://127.0.0.1:1"
_TIMEOUT: Final = (5.0, 30.0, 30.0, 5.0)


def measure(effort: Effort) -> list[Line]:
    """Measure a read and creates, by CPU time, through the library and without it."""
    same = repeat({"availabilities": [SELECTION], "passengers": [PASSENGER]})
    different = bookings()
    created = MemoryReply(CREATED)
    limited = MemoryReply(RATE_LIMITED, 429, more_headers={"Retry-After": "0"})
    answers = cycle((limited, created))
    usual = MemoryClient(always(MemoryReply(CREATED, request_id=_UUID)))
    others = {
        "create": MemoryClient(always(created)),
        "refused": MemoryClient(always(MemoryReply(REFUSED, 422))),
        "limited": MemoryClient(lambda _url, _content: next(answers)),
        "mcp": MemoryClient(by_word(mcp_created())),
    }
    return [
        _create("bookings.create", CREATE_BAR, effort, usual, same),
        _read(effort),
        _create("a create of others each time", DIFFERENT_BAR, effort, others["create"], different),
        _create("a create that is refused", REFUSED_BAR, effort, others["refused"], different),
        _create("a create after a 429", LIMITED_BAR, effort, others["limited"], different),
        _create("mcp.create_booking", MCP_BAR, effort, others["mcp"], different, by_mcp=True),
    ]


def _read(effort: Effort) -> Line:
    client = MemoryClient(always(MemoryReply(FEE, request_id=_UUID)))
    body = {"id": BOOKING_ID}

    def floor() -> CancellationFee:
        json.dumps(body)
        return CancellationFee.model_validate_json(FEE)

    with Ferry(TOKEN, base_url=_URL, http_client=client) as ferry:
        return _line(
            "bookings.cancel_fee",
            READ_BAR,
            effort,
            lambda: ferry.bookings.cancel_fee(BOOKING_ID),
            lambda: _post(client, "/api/booking/cancel-fee", body, CancellationFee),
            floor,
        )


def _create(
    what: str,
    bar: Bar,
    effort: Effort,
    client: MemoryClient,
    bodies: Iterator[Booking],
    *,
    by_mcp: bool = False,
) -> Line:
    """Measure a create; without the library, its request is sent until it is not limited."""
    path = "/mcp" if by_mcp else "/api/booking"
    with Ferry(TOKEN, base_url=_URL, http_client=client) as ferry:
        send = ferry.mcp.create_booking if by_mcp else ferry.bookings.create

        def call() -> None:
            with suppress(APIError):
                send(**next(bodies))

        def raw() -> object:
            body = next(bodies)
            sent = {"method": "tools/call", "params": {"arguments": body}} if by_mcp else body
            return _post(client, path, sent, BookingCreated)

        return _line(what, bar, effort, call, raw, lambda: _with_pydantic(next(bodies)))


def _line(
    what: str,
    bar: Bar,
    effort: Effort,
    call: Callable[[], object],
    raw: Callable[[], object],
    floor: Callable[[], object],
) -> Line:
    contenders = {"call": call, "raw": raw, "pydantic": floor}
    rounds = in_turn(
        {
            name: timed(work, effort.of(CALLS, 2), clock=process_time)
            for name, work in contenders.items()
        },
        rounds=effort.of(ROUNDS),
    ).rounds
    own = [whole - alone for whole, alone in zip(rounds["call"], rounds["raw"], strict=True)]
    figures = Figures({"own": own, **rounds})
    return compared(
        figures, f"own work of {what}", "µs", bar, ours="own", to="pydantic", floor="pydantic"
    )


def _post(
    client: MemoryClient, path: str, body: Mapping[str, object], model: type[BaseModel]
) -> BaseModel | None:
    """Make the call without the library: the body as JSON, the reply validated."""
    content = json.dumps(body).encode()
    while True:
        request = client.build_request(
            "POST", f"{_URL}{path}", content=content, headers=HEADERS, timeout=_TIMEOUT
        )
        reply = client.send(request, stream=True)
        received = b"".join(reply.iter_raw())
        if reply.status_code == HTTPStatus.TOO_MANY_REQUESTS:
            continue
        if reply.status_code != HTTPStatus.OK:
            json.loads(received)
            return None
        if path == "/mcp":
            received = json.loads(received)["result"]["content"][0]["text"]
        return model.model_validate_json(received)


def _with_pydantic(booking: Booking) -> BookingCreated:
    """Validate and encode the input of a create, and decode its reply."""
    inputs = {
        "availabilities": [
            Selection.model_validate(one).model_dump(mode="json", exclude_unset=True)
            for one in booking["availabilities"]
        ],
        "passengers": [
            Passenger.model_validate(one).model_dump(mode="json") for one in booking["passengers"]
        ],
    }
    json.dumps(inputs)
    return BookingCreated.model_validate_json(CREATED)


if __name__ == "__main__":
    sys.exit(main(["own_work", *sys.argv[1:]]))
