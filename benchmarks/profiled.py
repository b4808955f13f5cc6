"""Print where the time of a small call goes, and that of an answer with 1,000 records.

`python -m benchmarks.profiled` gives the figures in the README. Nothing is judged.
"""

from __future__ import annotations

import gc
import pstats
import sys
from collections import defaultdict
from cProfile import Profile
from operator import itemgetter
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Final

from ferry_sdk._protocols.json_body import decode_json
from ferry_sdk.resources.availability import AvailabilityGroup

from ._clients import open_calls
from ._measure import Effort, measure_in_turn, timing
from ._payload import QUESTION, search_answer
from ._readers import read_objects
from ._service import FEW, Service

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ._clients import Call

_OWNERS: Final = ("ferry_sdk", "pydantic", "httpcore", "h11", "httpx", "anyio")
_IN_C: Final = {"_socket.": "the socket", "select.": "the socket", "pydantic_core": "pydantic"}
_STEPS: Final = ("parse", "check the columns", "make and read the records", "free")


def main(arguments: Sequence[str]) -> None:
    """Print both; with ``--tiny`` do little, just to see that it runs."""
    effort = Effort(is_tiny="--tiny" in arguments)
    with Service(FEW) as service, open_calls("fee", ("ferry", "httpx"), service.base_url) as calls:
        contenders = {name: timing(call, effort.of(200)) for name, call in calls.items()}
        figures = measure_in_turn(contenders, rounds=effort.of(15))

        for name, call in calls.items():
            functions, shares = _shares(call, effort.of(2000))
            _print(f"{name}: {figures.median(name) * 1e6:.0f} µs, {functions:,} calls of functions")
            for owner, share in sorted(shares.items(), key=itemgetter(1), reverse=True):
                _print(f"    {owner:<24}{share:6.1%}")

    for title, switch in (("by default", gc.enable), ("without the collector", gc.disable)):
        switch()
        _print(f"an answer of {effort.of(1000, 10):,}, {title}")
        for step, seconds in _time_steps(search_answer(effort.of(1000, 10)), effort).items():
            _print(f"    {step:<24}{seconds * 1e3:5.1f} ms")
    gc.enable()


def _shares(call: Call, calls: int) -> tuple[int, dict[str, float]]:
    """Return how many functions a call calls, and each owner's share of the time in them."""
    profile = Profile()
    profile.enable()
    for _ in range(calls):
        call()
    profile.disable()

    stats = vars(pstats.Stats(profile))
    seconds: defaultdict[str, float] = defaultdict(float)
    rows: Mapping[tuple[str, int, str], Sequence[float]] = stats["stats"]
    for (file, _, name), row in rows.items():
        seconds[_owner(file, name)] += row[2]
    total = sum(seconds.values())
    return stats["total_calls"] // calls, {who: spent / total for who, spent in seconds.items()}


def _owner(file: str, name: str) -> str:
    """Return the library of a function; a function in C has no file."""
    if file != "~":
        return next((known for known in _OWNERS if f"/{known}/" in file), "the standard library")
    return next((owner for word, owner in _IN_C.items() if word in name), "functions in C")


def _time_steps(content: bytes, effort: Effort) -> dict[str, float]:
    """Return the seconds of each step from the bytes of an answer until it is freed."""
    answer = AvailabilityGroup.search(None, **QUESTION).answer

    def once() -> list[float]:
        gc.collect()
        began = perf_counter()
        value = decode_json(content)
        parsed = perf_counter()
        records = answer.read(value)
        checked = perf_counter()
        read_objects(records)
        read = perf_counter()
        del value, records
        return [parsed - began, checked - parsed, read - checked, perf_counter() - read]

    rounds = [once() for _ in range(effort.of(15))]
    return dict(zip(_STEPS, map(median, zip(*rounds, strict=True)), strict=True))


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
