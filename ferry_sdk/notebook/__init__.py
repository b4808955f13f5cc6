"""Charts of records. They require matplotlib, which the extra ``notebook`` installs.

Cards, tables and data frames are methods of the records (`_repr_html_`, `to_frame`), which load
`cards` and `frames` of this package on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferry_sdk.notebook.charts import fares_by_day, network_map

__all__ = ["fares_by_day", "network_map"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ferry_sdk.notebook import charts  # noqa: PLC0415 -- loads matplotlib

    return getattr(charts, name)


def __dir__() -> list[str]:
    return sorted(__all__)
