"""The price a sailing is shown at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferry_sdk.models.enums import TariffType

if TYPE_CHECKING:
    from ferry_sdk.models.availability import Availability, Tariff


def cheapest_ticket(sailing: Availability) -> Tariff | None:
    """Its cheapest tariff that is a ticket and holds without a way back; None: it has none."""
    tickets = (
        tariff
        for tariff in sailing.tariffs
        if tariff.type == TariffType.TICKET and not tariff.roundtrip_locked
    )
    return min(tickets, key=lambda tariff: tariff.amount, default=None)
