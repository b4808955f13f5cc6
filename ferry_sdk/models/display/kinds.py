"""Recognise the records with their own display, without importing their classes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from pydantic import BaseModel

from ferry_sdk.models.enums import TariffType

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


def cheapest_ticket(sailing: Availability) -> Tariff | None:
    """Return the cheapest ticket that is valid one way; None if there is none."""
    tickets = (
        tariff
        for tariff in sailing.tariffs
        if tariff.type == TariffType.TICKET and not tariff.roundtrip_locked
    )
    return min(tickets, key=lambda tariff: tariff.amount, default=None)
