"""A search with a big answer, read to the end and freed; and the decoding of its bytes alone."""

from __future__ import annotations

import json
import sys
from functools import partial
from time import process_time
from typing import TYPE_CHECKING, Final

import httpx

from ._clients import list_installed, open_searches
from ._command import main
from ._decoder import decoder
from ._lines import Bar, Line, compare
from ._measure import measure_in_turn, timing
from ._payload import search_answer
from ._readers import read_dicts, read_objects
from ._service import Service

if TYPE_CHECKING:
    from ._measure import Effort

WHOLE_BAR: Final = Bar(2.0)
DECODING_BAR: Final = Bar(1.3)
DECODED_BAR: Final = Bar(1.8)


def measure(effort: Effort) -> list[Line]:
    """Measure the search over one `httpx.Client` that all share, and the decoding alone."""
    records = effort.of(1000, 10)
    return [
        _measure_search(records, effort),
        _measure_decoding(records, effort),
        _measure_reading(records, effort),
    ]


def _measure_search(records: int, effort: Effort) -> Line:
    clients = ["ferry", "httpx", *list_installed("pydantic", "msgspec")]
    with (
        Service(records) as service,
        httpx.Client() as http,
        open_searches(clients, service.base_url, http) as calls,
    ):
        contenders = {name: timing(call) for name, call in calls.items()}
        figures = measure_in_turn(contenders, rounds=effort.of(15))
    what = f"search of {records:,}, read, freed"
    return compare(figures, what, unit="ms", bar=WHOLE_BAR, ours="ferry", to="httpx", floor="httpx")


def _measure_decoding(records: int, effort: Effort) -> Line:
    content = search_answer(records)
    contenders = {
        "ferry": timing(partial(decoder(), content)),
        "json.loads": timing(partial(json.loads, content)),
    }
    figures = measure_in_turn(contenders, rounds=effort.of(25))
    what = f"decoding {records:,} alone"
    return compare(
        figures,
        what,
        unit="ms",
        bar=DECODING_BAR,
        ours="ferry",
        to="json.loads",
        floor="json.loads",
    )


def _measure_reading(records: int, effort: Effort) -> Line:
    """Measure the decoding with the reading of the records. Freeing them is part of the time."""
    content = search_answer(records)
    decode = decoder()

    def loads() -> None:
        json.loads(content)

    def loads_and_reads() -> None:
        read_dicts(json.loads(content))

    contenders = {
        "ferry": timing(lambda: read_objects(decode(content)), clock=process_time),
        "json.loads": timing(loads, clock=process_time),
        "json.loads, read": timing(loads_and_reads, clock=process_time),
    }
    figures = measure_in_turn(contenders, rounds=effort.of(25))
    what = f"CPU of decoding {records:,}, read, freed"
    return compare(
        figures, what, unit="ms", bar=DECODED_BAR, ours="ferry", to="json.loads", floor="json.loads"
    )


if __name__ == "__main__":
    sys.exit(main(["big_answer", *sys.argv[1:]]))
