"""Readers of a search's answer: they read every member of every tariff and every place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter, itemgetter
from typing import Any

from ._records import IN_BOARD, PLACE, TARIFF

Read = Callable[[Iterable[Any]], None]


def _reader(getter: Callable[..., Callable[[Any], Any]]) -> Read:
    """Return a reader; the getter is `attrgetter` or `itemgetter`."""
    tariffs_of = getter("tariffs")
    places_of = getter("places")
    in_board_of = getter("in_board")
    read_tariff = getter(*TARIFF)
    read_place = getter(*PLACE)
    read_in_board = getter(*IN_BOARD)

    def read(answer: Iterable[Any]) -> None:
        for sailing in answer:
            for tariff in tariffs_of(sailing):
                read_tariff(tariff)
            for place in places_of(sailing):
                read_place(place)
                read_in_board(in_board_of(place))

    return read


read_objects: Read = _reader(attrgetter)
"""Read records whose members are attributes."""

read_dicts: Read = _reader(itemgetter)
"""Read records that are dictionaries."""
