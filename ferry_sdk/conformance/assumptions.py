"""The assumptions of the client and the local service, where the interface leaves it open.

docs/assumptions.md shows the same list.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ferry_sdk._runtime.data import data_beside

PROBES: Final = ("reads", "a booking id", "a ticket id", "--book")
"""What shows an assumption."""


class Assumption(NamedTuple):
    """One assumption.

    Attributes:
        id: Its name.
        text: What is assumed, as a sentence.
        probe: What shows it, one of `PROBES`; or the reason why `check` cannot see it.
        values: The assumed value, and then others that a service may show.
    """

    id: str
    text: str
    probe: str
    values: tuple[str, ...] = ()


ASSUMPTIONS: Final = tuple(
    Assumption(row["id"], row["text"], row["probe"], tuple(row.get("values", ())))
    for row in data_beside(__file__)
)
"""All assumptions: the rows of `assumptions.json`."""
