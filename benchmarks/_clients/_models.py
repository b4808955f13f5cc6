"""The records of a search as models of pydantic, of any base."""

from __future__ import annotations

from types import GenericAlias
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, create_model

from benchmarks._records import availability
from ferry_sdk.models import Passenger, Selection  # noqa: TC001 -- pydantic reads the annotations

if TYPE_CHECKING:
    from collections.abc import Mapping


class Booking(BaseModel):
    """The body of a create, validated as the library validates it."""

    availabilities: list[Selection]
    passengers: list[Passenger]


def found(base: type[BaseModel] = BaseModel, **kinds: type) -> Any:  # noqa: ANN401 -- a type made here
    """The type of a search's answer.

    Args:
        base: What the models inherit from.
        kinds: The types of what `availability` leaves open.
    """

    def model(name: str, members: Mapping[str, Any]) -> type[BaseModel]:
        fields: dict[str, Any] = {each: (kind, ...) for each, kind in members.items()}
        return create_model(name, __base__=base, **fields)

    return GenericAlias(list, (availability(model, **kinds),))
