"""Display of records: HTML cards, tables, data frames. No class of a record is imported."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from pydantic import BaseModel

from ferry_sdk.models.enums import TariffType

if TYPE_CHECKING:
    from ferry_sdk.models.availability import Availability, Tariff
    from ferry_sdk.models.base import Model


@contextmanager
def require_packages(*packages: str) -> Generator[None, None, None]:
    """Import in this block; if one of the packages is missing, raise an error with the extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in packages:
            raise
        raise ModuleNotFoundError(
            f'frames and charts require an extra: pip install "ferry-sdk[notebook]" '
            f"({error.name} is not installed)",
            name=error.name,
        ) from error


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
    tickets = (
        tariff
        for tariff in sailing.tariffs
        if tariff.type == TariffType.TICKET and not tariff.roundtrip_locked
    )
    return min(tickets, key=lambda tariff: tariff.amount, default=None)
