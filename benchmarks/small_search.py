"""The decoding of a search with few sailings, beside pydantic alone with the same models."""

from __future__ import annotations

import sys
from functools import partial
from time import process_time
from typing import TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter

from ferry_sdk import Availability

from ._command import main
from ._decoder import decoder
from ._lines import Bar, Line, compare
from ._measure import measure_in_turn, timing
from ._payload import search_answer
from ._readers import read_objects

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ._measure import Effort

BAR: Final = Bar(1.1)
SAILINGS: Final = (1, 4, 24)
"""Sailings that a search finds; one is the median."""
_A_ROUND: Final = 200
"""Sailings that are decoded in a round."""


def measure(effort: Effort) -> list[Line]:
    """Measure both from the bytes of a reply to records that are read and freed."""
    return [_measure_decoding(sailings, effort) for sailings in SAILINGS]


def _measure_decoding(sailings: int, effort: Effort) -> Line:
    content = search_answer(sailings)
    decode = decoder()
    validate = TypeAdapter(list[Availability]).validate_json
    contenders = {
        "ferry": partial(_decode_and_read, decode, content),
        "pydantic": partial(_decode_and_read, validate, content),
    }
    calls = effort.of(_A_ROUND // sailings)
    figures = measure_in_turn(
        {name: timing(work, calls, process_time) for name, work in contenders.items()},
        rounds=effort.of(41),
    )
    what = f"CPU of decoding {sailings}, read, freed"
    return compare(figures, what, unit="µs", bar=BAR, ours="ferry", to="pydantic", floor="pydantic")


def _decode_and_read(decode: Callable[[bytes], Sequence[Any]], content: bytes) -> None:
    read_objects(decode(content))


if __name__ == "__main__":
    sys.exit(main(["small_search", *sys.argv[1:]]))
