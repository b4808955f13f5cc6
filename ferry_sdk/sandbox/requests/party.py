"""The passengers of a request: their types, ages and order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field

from ferry_sdk.sandbox.requests.errors import Problem
from ferry_sdk.sandbox.requests.fields import WHOLE

PassengerType = Literal["Adult", "Child", "Infant"]

MOST_PASSENGERS = 9
AGES: Mapping[PassengerType, tuple[int, int]] = {
    "Adult": (12, 120),
    "Child": (1, 17),
    "Infant": (0, 4),
}

Order = Annotated[int, Field(ge=1, le=MOST_PASSENGERS), WHOLE]


def age_problems(index: int, kind: PassengerType, age: int) -> Iterator[Problem]:
    """Yield the problem of an age that does not fit the type of its passenger."""
    least, most = AGES[kind]
    if not least <= age <= most:
        values = {"type": kind, "least": least, "most": most}
        yield Problem("age_of_type", f"passengers[{index}].age", values)


def party_problems(party: list[tuple[int | None, PassengerType]]) -> Iterator[Problem]:
    """Yield the problems of the passengers together, given the order and the type of each."""
    taken: set[int] = set()
    for index, (order, _) in enumerate(party):
        position = index + 1 if order is None else order
        if position in taken or position > len(party):
            yield Problem("order", f"passengers[{index}].order", {"count": len(party)})
        taken.add(position)

    kinds = [kind for _, kind in party]
    if "Infant" in kinds and "Adult" not in kinds:
        yield Problem("infant_alone", f"passengers[{kinds.index('Infant')}].type")
