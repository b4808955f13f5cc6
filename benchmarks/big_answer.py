"""A search with a big answer, read to the end and freed; and the decoding of its bytes alone."""

from __future__ import annotations

import json
import sys
from functools import partial
from time import process_time
from typing import TYPE_CHECKING, Final

import httpx

from ._clients import installed, searches
from ._decoding import decoding
from ._lines import Bar, Line, compared
from ._measure import in_turn, timed
from ._payload import search_answer
from ._reading import read_dicts, read_objects
from ._running import main
from ._service import Service

if TYPE_CHECKING:
    from ._measure import Effort

WHOLE_BAR: Final = Bar(2.0)
DECODING_BAR: Final = Bar(1.3)
DECODED_BAR: Final = Bar(1.8)


def measure(effort: Effort) -> list[Line]:
    """Measure it over one `httpx.Client` that all share."""
    records = effort.of(1000, 10)
    return [_whole(records, effort), _decoding(records, effort), _decoded(records, effort)]


def _whole(records: int, effort: Effort) -> Line:
    clients = ["ferry", "httpx", *installed("pydantic", "msgspec")]
    with (
        Service(records) as service,
        httpx.Client() as http,
        searches(clients, service.base_url, http) as calls,
    ):
        contenders = {name: timed(call) for name, call in calls.items()}
        figures = in_turn(contenders, rounds=effort.of(15))
    what = f"search of {records:,}, read, freed"
    return compared(figures, what, "ms", WHOLE_BAR, ours="ferry", to="httpx", floor="httpx")


def _decoding(records: int, effort: Effort) -> Line:
    content = search_answer(records)
    contenders = {
        "ferry": timed(partial(decoding(), content)),
        "json.loads": timed(partial(json.loads, content)),
    }
    figures = in_turn(contenders, rounds=effort.of(25))
    what = f"decoding {records:,} alone"
    return compared(
        figures, what, "ms", DECODING_BAR, ours="ferry", to="json.loads", floor="json.loads"
    )


def _decoded(records: int, effort: Effort) -> Line:
    """Both results are freed within the measurement; only the records are read."""
    content, decode = search_answer(records), decoding()

    def loads() -> None:
        json.loads(content)

    def loads_and_reads() -> None:
        read_dicts(json.loads(content))

    contenders = {
        "ferry": timed(lambda: read_objects(decode(content)), clock=process_time),
        "json.loads": timed(loads, clock=process_time),
        "json.loads, read": timed(loads_and_reads, clock=process_time),
    }
    figures = in_turn(contenders, rounds=effort.of(25))
    what = f"CPU of decoding {records:,}, read, freed"
    return compared(
        figures, what, "ms", DECODED_BAR, ours="ferry", to="json.loads", floor="json.loads"
    )


if __name__ == "__main__":
    sys.exit(main(["big_answer", *sys.argv[1:]]))
