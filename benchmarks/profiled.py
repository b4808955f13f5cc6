"""Where the time of a small call goes, and of an answer of 1,000: `python -m benchmarks.profiled`.

What the README says of it comes from here. Nothing is judged.
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

from ._clients import opened
from ._measure import Effort, in_turn, timed
from ._payload import QUESTION, search_answer
from ._reading import read_objects
from ._service import FEW, Service

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ._clients import Call

_OWNERS: Final = ("ferry_sdk", "pydantic", "httpcore", "h11", "httpx", "anyio")
_IN_C: Final = {"_socket.": "the socket", "select.": "the socket", "pydantic_core": "pydantic"}
_STEPS: Final = ("parsed", "looked through", "made records, and read", "freed")


def main(arguments: Sequence[str]) -> None:
    """Print both; of less work with ``--tiny``, just to see that it runs."""
    effort = Effort(is_tiny="--tiny" in arguments)
    with Service(FEW) as service, opened("fee", ("ferry", "httpx"), service.base_url) as calls:
        contenders = {name: timed(call, effort.of(200)) for name, call in calls.items()}
        figures = in_turn(contenders, rounds=effort.of(15))
        for name, call in calls.items():
            functions, shares = _shares(call, effort.of(2000))
            _say(f"{name}: {figures.median(name) * 1e6:.0f} µs, {functions:,} calls of functions")
            for owner, share in sorted(shares.items(), key=itemgetter(1), reverse=True):
                _say(f"    {owner:<24}{share:6.1%}")
    for title, switch in (("as it comes", gc.enable), ("without the collector", gc.disable)):
        switch()
        _say(f"an answer of {effort.of(1000, 10):,}, {title}")
        for step, seconds in _of_an_answer(search_answer(effort.of(1000, 10)), effort).items():
            _say(f"    {step:<24}{seconds * 1e3:5.1f} ms")
    gc.enable()


def _shares(call: Call, calls: int) -> tuple[int, dict[str, float]]:
    """How many functions a call calls, and the shares of the time inside them by their owners."""
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
    if file != "~":
        return next((known for known in _OWNERS if f"/{known}/" in file), "the standard library")
    return next((owner for word, owner in _IN_C.items() if word in name), "functions in C")


def _of_an_answer(content: bytes, effort: Effort) -> dict[str, float]:
    answer = AvailabilityGroup.search(None, **QUESTION).answer

    def once() -> list[float]:
        gc.collect()
        began = perf_counter()
        value = decode_json(content)
        parsed = perf_counter()
        records = answer.read(value)
        seen = perf_counter()
        read_objects(records)
        read = perf_counter()
        del value, records
        return [parsed - began, seen - parsed, read - seen, perf_counter() - read]

    rounds = [once() for _ in range(effort.of(15))]
    return dict(zip(_STEPS, map(median, zip(*rounds, strict=True)), strict=True))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
