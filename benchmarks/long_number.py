"""The decoding of a big answer with numbers of 17 digits, beside the same answer without them."""

from __future__ import annotations

import re
import sys
from functools import partial
from random import Random
from time import process_time
from typing import TYPE_CHECKING, Final

from ferry_sdk._protocols.json_body import decode_json

from ._command import main
from ._lines import Bar, Line, compare
from ._measure import measure_in_turn, timing
from ._payload import search_answer

if TYPE_CHECKING:
    from ._measure import Effort

BAR: Final = Bar(1.1)
MANY_BAR: Final = Bar(1.25)
RECORDS: Final = 1000
LONG: Final = b"137.50000000000003"
"""A price that is the sum of floats."""
_PRICE: Final = re.compile(rb'(?<="amount":)[\d.]+')


def measure(effort: Effort) -> list[Line]:
    """Measure the step from bytes to dictionaries; the further steps are the same for all."""
    records = effort.of(RECORDS, 10)
    plain = search_answer(records)
    random = Random(1)  # noqa: S311 -- prices, no secrets

    def long_price(_: re.Match[bytes]) -> bytes:
        return repr(random.uniform(40, 400)).encode()

    contents = {
        "plain": plain,
        "one": _PRICE.sub(LONG, plain, count=1),
        "many": _PRICE.sub(long_price, plain, count=records),
    }
    figures = measure_in_turn(
        {
            name: timing(partial(decode_json, content), clock=process_time)
            for name, content in contents.items()
        },
        rounds=effort.of(41),
    )
    names = {"one": "one number of 17 digits", "many": f"{records:,} numbers of 17 digits"}
    bars = {"one": BAR, "many": MANY_BAR}
    return [
        compare(
            figures,
            f"CPU of parsing {records:,} records with {what}",
            unit="ms",
            bar=bars[name],
            ours=name,
            to="plain",
            floor="plain",
        )
        for name, what in names.items()
    ]


if __name__ == "__main__":
    sys.exit(main(["long_number", *sys.argv[1:]]))
