"""The library's own work in one call: what a call costs above the same HTTP client used alone."""

from __future__ import annotations

import json
import sys
from time import process_time
from typing import TYPE_CHECKING, Any, Final

from ferry_sdk import BookingCreated, CancellationFee, Ferry
from ferry_sdk.models.inputs import Passenger, Selection

from ._lines import Bar, Line, compared
from ._measure import Figures, in_turn, timed
from ._payload import BOOKING_ID, CREATED, FEE, HEADERS, PASSENGER, SELECTION, TOKEN
from ._running import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pydantic import BaseModel

    from ._measure import Effort

CREATE_BAR: Final = Bar(4)
READ_BAR: Final = Bar(7)
_URL: Final = "http://127.0.0.1:1"
_TIMEOUT: Final = (5.0, 30.0, 30.0, 5.0)


class MemoryClient:
    """An HTTP client that sends nothing and gives the same reply to every request.

    Args:
        body: The body of the reply.
    """

    is_closed = False
    status_code = 200
    is_stream_consumed = False
    extensions: Mapping[str, Any] = {}
    headers: Mapping[str, str] = {
        "Content-Type": "application/json",
        "Date": "Fri, 01 May 2026 12:00:00 GMT",
        "X-Request-Id": "6f1d0c6a-2b7c-4a0f-9d55-0b8e5c0e3a1d",
    }

    def __init__(self, body: bytes) -> None:
        self._body = body

    def build_request(self, method: str, url: str, **parts: object) -> tuple[object, ...]:
        """Return the parts of a request."""
        return method, url, parts

    def send(self, *_: object, **__: object) -> MemoryClient:
        """Return the reply, which is this object too."""
        return self

    def iter_raw(self) -> Iterator[bytes]:
        """Yield the body of the reply."""
        yield self._body

    iter_bytes = iter_raw

    def close(self) -> None:
        """Do nothing: there is no connection."""


def measure(effort: Effort) -> list[Line]:
    """Measure a create and a read, by CPU time, through the library and without it."""
    created, fee = MemoryClient(CREATED), MemoryClient(FEE)
    with (
        Ferry(TOKEN, base_url=_URL, http_client=created) as creating,
        Ferry(TOKEN, base_url=_URL, http_client=fee) as reading,
    ):
        body: dict[str, Any] = {"availabilities": [SELECTION], "passengers": [PASSENGER]}
        return [
            _line(
                "bookings.create",
                CREATE_BAR,
                effort,
                lambda: creating.bookings.create(**body),
                lambda: _post(created, "/api/booking", body, BookingCreated),
                _create_with_pydantic,
            ),
            _line(
                "bookings.cancel_fee",
                READ_BAR,
                effort,
                lambda: reading.bookings.cancel_fee(BOOKING_ID),
                lambda: _post(fee, "/api/booking/cancel-fee", {"id": BOOKING_ID}, CancellationFee),
                _read_with_pydantic,
            ),
        ]


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
            name: timed(work, effort.of(500, 2), clock=process_time)
            for name, work in contenders.items()
        },
        rounds=effort.of(31),
    ).rounds
    own = [whole - alone for whole, alone in zip(rounds["call"], rounds["raw"], strict=True)]
    figures = Figures({"own": own, **rounds})
    return compared(
        figures, f"own work of {what}", "µs", bar, ours="own", to="pydantic", floor="pydantic"
    )


def _post(
    client: MemoryClient, path: str, body: Mapping[str, object], model: type[BaseModel]
) -> BaseModel:
    """Make the call without the library: the body as JSON, the reply validated."""
    request = client.build_request(
        "POST", f"{_URL}{path}", content=json.dumps(body), headers=HEADERS, timeout=_TIMEOUT
    )
    reply = client.send(request, stream=True)
    return model.model_validate_json(b"".join(reply.iter_raw()))


def _create_with_pydantic() -> BookingCreated:
    inputs = {
        "availabilities": [
            Selection.model_validate(SELECTION).model_dump(mode="json", exclude_unset=True)
        ],
        "passengers": [Passenger.model_validate(PASSENGER).model_dump(mode="json")],
    }
    json.dumps(inputs)
    return BookingCreated.model_validate_json(CREATED)


def _read_with_pydantic() -> CancellationFee:
    json.dumps({"id": BOOKING_ID})
    return CancellationFee.model_validate_json(FEE)


if __name__ == "__main__":
    sys.exit(main(["own_work", *sys.argv[1:]]))
