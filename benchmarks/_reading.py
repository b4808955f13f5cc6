"""A search's answer read to the end: every member of every tariff and every place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter, itemgetter
from typing import Any

from ._records import IN_BOARD, PLACE, TARIFF

Read = Callable[[Iterable[Any]], None]


def _reader(getter: Callable[..., Callable[[Any], Any]]) -> Read:
    tariffs, places, on_board = getter("tariffs"), getter("places"), getter("in_board")
    tariff, place, board = getter(*TARIFF), getter(*PLACE), getter(*IN_BOARD)

    def read(answer: Iterable[Any]) -> None:
        for one in answer:
            for each in tariffs(one):
                tariff(each)
            for each in places(one):
                place(each)
                board(on_board(each))

    return read


read_objects: Read = _reader(attrgetter)
"""Read records whose members are attributes."""

read_dicts: Read = _reader(itemgetter)
"""Read records that are dictionaries."""
