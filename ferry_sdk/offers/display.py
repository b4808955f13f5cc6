"""The table of a price history for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ferry_sdk._runtime.money import money
from ferry_sdk.notebook.html import Markup, bar, card, note, table

if TYPE_CHECKING:
    from ferry_sdk.offers.price_history import PriceHistory

_ROWS = 30
"""The rows of the table. Notebooks stay readable and small."""


def history_card(history: PriceHistory) -> Markup:
    """Return the latest observations as a table with a bar chart of the prices."""
    latest = history[-_ROWS:]
    highest = max((each.price for each in latest), default=None)
    rows: list[Sequence[object]] = []
    for each in latest:
        share = float(each.price) / float(highest) if highest else 0.0
        places = ", ".join(f"{number} {kind}" for kind, number in each.places.items())
        rows.append(
            (
                each.seen_at,
                each.depart_at,
                each.company,
                money(each.price, each.currency),
                bar(share),
                places,
            )
        )

    head = ["Seen", "Leaves", "Company", "Price from", "", "Places"]
    notes: list[Markup] = []
    if len(history) > _ROWS:
        notes.append(note(f"and {len(history) - _ROWS} earlier ones"))
    elif not history:
        notes.append(note("No search of this route was answered."))
    return card(history.route, table(head, rows), *notes, badges=["Prices over time"])
