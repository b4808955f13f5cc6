"""The library's own work in a call: the cost of the call, minus that of its HTTP client alone."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from itertools import cycle, repeat
from time import process_time
from typing import TYPE_CHECKING, Any, Final

from ferry_sdk import APIError, BookingCreated, CancellationFee, Ferry
from ferry_sdk.models.inputs import Passenger, Selection

from ._command import main
from ._lines import Bar, Line, compare
from ._measure import Figures, measure_in_turn, timing
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
    """Measure the CPU time of a read and of creates, with the library and without it."""
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

    measure_create = partial(_measure_create, effort)
    return [
        measure_create("bookings.create", bar=CREATE_BAR, client=usual, bodies=same),
        _measure_read(effort),
        measure_create(
            "a create of others each time",
            bar=DIFFERENT_BAR,
            client=others["create"],
            bodies=different,
        ),
        measure_create(
            "a create that is refused", bar=REFUSED_BAR, client=others["refused"], bodies=different
        ),
        measure_create(
            "a create after a 429", bar=LIMITED_BAR, client=others["limited"], bodies=different
        ),
        measure_create(
            "mcp.create_booking", bar=MCP_BAR, client=others["mcp"], bodies=different, by_mcp=True
        ),
    ]


def _measure_read(effort: Effort) -> Line:
    client = MemoryClient(always(MemoryReply(FEE, request_id=_UUID)))
    body = {"id": BOOKING_ID}

    def floor() -> CancellationFee:
        json.dumps(body)
        return CancellationFee.model_validate_json(FEE)

    with Ferry(TOKEN, base_url=_URL, http_client=client) as ferry:
        return _compare_own_work(
            "bookings.cancel_fee",
            effort,
            bar=READ_BAR,
            call=lambda: ferry.bookings.cancel_fee(BOOKING_ID),
            raw=lambda: _post(client, "/api/booking/cancel-fee", body=body, model=CancellationFee),
            floor=floor,
        )


def _measure_create(
    effort: Effort,
    what: str,
    *,
    bar: Bar,
    client: MemoryClient,
    bodies: Iterator[Booking],
    by_mcp: bool = False,
) -> Line:
    """Measure a create; without the library, its request is repeated after each 429."""
    path = "/mcp" if by_mcp else "/api/booking"
    with Ferry(TOKEN, base_url=_URL, http_client=client) as ferry:
        send = ferry.mcp.create_booking if by_mcp else ferry.bookings.create

        def call() -> None:
            with suppress(APIError):
                send(**next(bodies))

        def raw() -> object:
            body = next(bodies)
            sent = {"method": "tools/call", "params": {"arguments": body}} if by_mcp else body
            return _post(client, path, body=sent, model=BookingCreated)

        return _compare_own_work(
            what,
            effort,
            bar=bar,
            call=call,
            raw=raw,
            floor=lambda: _validate_booking(next(bodies)),
        )


def _compare_own_work(
    what: str,
    effort: Effort,
    *,
    bar: Bar,
    call: Callable[[], object],
    raw: Callable[[], object],
    floor: Callable[[], object],
) -> Line:
    """Return the line of the library's own work beside the floor.

    Args:
        what: The call.
        effort: How much is done.
        bar: What the ratio has to hold.
        call: Makes the call with the library.
        raw: Sends the same request without the library.
        floor: Validates and encodes the same input and output with pydantic alone.
    """
    contenders = {"call": call, "raw": raw, "pydantic": floor}
    rounds = measure_in_turn(
        {
            name: timing(work, effort.of(CALLS, 2), clock=process_time)
            for name, work in contenders.items()
        },
        rounds=effort.of(ROUNDS),
    ).rounds

    own = [whole - alone for whole, alone in zip(rounds["call"], rounds["raw"], strict=True)]
    figures = Figures({"own": own, **rounds})
    return compare(
        figures,
        f"own work of {what}",
        unit="µs",
        bar=bar,
        ours="own",
        to="pydantic",
        floor="pydantic",
    )


def _post(
    client: MemoryClient, path: str, *, body: Mapping[str, object], model: type[BaseModel]
) -> BaseModel | None:
    """Make the call without the library: encode the body, and validate the reply."""
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


def _validate_booking(booking: Booking) -> BookingCreated:
    """Validate and encode the input of a create, and decode its reply."""
    inputs = {
        "availabilities": [
            Selection.model_validate(selection).model_dump(mode="json", exclude_unset=True)
            for selection in booking["availabilities"]
        ],
        "passengers": [
            Passenger.model_validate(passenger).model_dump(mode="json")
            for passenger in booking["passengers"]
        ],
    }
    json.dumps(inputs)
    return BookingCreated.model_validate_json(CREATED)


if __name__ == "__main__":
    sys.exit(main(["own_work", *sys.argv[1:]]))
