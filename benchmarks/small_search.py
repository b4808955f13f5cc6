"""The decoding of a search that finds few sailings, beside pydantic alone with the same models."""

from __future__ import annotations

import sys
from functools import partial
from time import process_time
from typing import TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter

from ferry_sdk import Availability

from ._decoding import decoding
from ._lines import Bar, Line, compared
from ._measure import in_turn, timed
from ._payload import search_answer
from ._reading import read_objects
from ._running import main

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
    return [_line(sailings, effort) for sailings in SAILINGS]


def _line(sailings: int, effort: Effort) -> Line:
    content, decode = search_answer(sailings), decoding()
    validate = TypeAdapter(list[Availability]).validate_json
    contenders = {
        "ferry": partial(_decode_and_read, decode, content),
        "pydantic": partial(_decode_and_read, validate, content),
    }
    calls = effort.of(_A_ROUND // sailings)
    figures = in_turn(
        {name: timed(work, calls, process_time) for name, work in contenders.items()},
        rounds=effort.of(41),
    )
    what = f"CPU of decoding {sailings}, read, freed"
    return compared(figures, what, "µs", BAR, ours="ferry", to="pydantic", floor="pydantic")


def _decode_and_read(decode: Callable[[bytes], Sequence[Any]], content: bytes) -> None:
    read_objects(decode(content))


if __name__ == "__main__":
    sys.exit(main(["small_search", *sys.argv[1:]]))
