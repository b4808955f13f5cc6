"""What cards, frames and charts look for in records. No class of a record is imported."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from pydantic import BaseModel

if TYPE_CHECKING:
    from ferry_sdk.models.availability import Availability, Tariff
    from ferry_sdk.models.base import Model


def models_of(records: Iterable[object]) -> list[Model]:
    """Return the values that are records of the service."""
    return [cast("Model", record) for record in records if isinstance(record, BaseModel)]


def sailings_of(models: Iterable[Model]) -> list[Availability]:
    """Return the sailings, recognised by their tariffs."""
    return [
        cast("Availability", model) for model in models if "tariffs" in type(model).model_fields
    ]


def calls_at(sailing: Availability) -> str:
    """Return the names of the ports of call; a port whose name is not known has its code."""
    return ", ".join(getattr(port, "name", port) for port in sailing.stops)


def cheapest_ticket(sailing: Availability) -> Tariff | None:
    """Return the cheapest ticket that is valid one way; None if there is none."""
    one_way = (tariff for tariff in sailing.tariffs if not tariff.roundtrip_locked)
    tickets = (tariff for tariff in one_way if tariff.type == "Ticket")
    return min(tickets, key=lambda tariff: tariff.amount, default=None)
