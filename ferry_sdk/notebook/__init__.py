"""Charts of records. They require matplotlib, which the extra ``notebook`` installs.

Cards, tables and data frames are methods of the records (`_repr_html_`, `to_frame`), which load
`cards` and `frames` of this package on first use.
"""

from __future__ import annotations

from ferry_sdk._runtime.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
