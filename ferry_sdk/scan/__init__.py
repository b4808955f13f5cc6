"""Scan the fares of a season into a folder of Parquet files, at one rate."""

from __future__ import annotations

from ferry_sdk._runtime.extras import needs_extra

with needs_extra("scans require", "scan", ["pyarrow"]):
    from ferry_sdk.scan.report import ScanReport
    from ferry_sdk.scan.scan import FareScan
    from ferry_sdk.scan.searches import Party

__all__ = ["FareScan", "Party", "ScanReport"]
