"""Scan the fares of a season into a folder of Parquet files, at one rate."""

from __future__ import annotations

try:
    import pyarrow as pa  # type: ignore[import-untyped]  # it has no types
except ModuleNotFoundError as _error:
    raise ModuleNotFoundError(
        'scans require an extra: pip install "ferry-sdk[scan]" (pyarrow is not installed)',
        name=_error.name,
    ) from _error

from ferry_sdk.scan.report import ScanReport
from ferry_sdk.scan.scan import FareScan
from ferry_sdk.scan.searches import Party

del pa

__all__ = ["FareScan", "Party", "ScanReport"]
