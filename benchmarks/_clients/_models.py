"""Models of pydantic, as a program without the library would write them."""

from __future__ import annotations

from decimal import Decimal  # noqa: TC003 -- pydantic reads the annotations
from types import GenericAlias
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, create_model

from benchmarks._records import availability

if TYPE_CHECKING:
    from collections.abc import Mapping


class Fee(BaseModel):
    """The answer of a small call."""

    penalty_amount: Decimal
    refund_amount: Decimal
    currency: str
    ticket_status: str


class Created(BaseModel):
    """The answer of a create."""

    booking_id: str
    booking_reference: str
    stage: str
    possible_actions: dict[str, dict[str, Any]]
    status: str
    total_price: Decimal
    currency: str


def search_answer_type(base: type[BaseModel] = BaseModel, **kinds: type) -> Any:  # noqa: ANN401 -- a type made here
    """Return the type of a search's answer.

    Args:
        base: What the models inherit from.
        kinds: The types of what `availability` leaves open.
    """

    def model(name: str, members: Mapping[str, Any]) -> type[BaseModel]:
        fields: dict[str, Any] = {each: (kind, ...) for each, kind in members.items()}
        return create_model(name, __base__=base, **fields)

    return GenericAlias(list, (availability(model, **kinds),))
