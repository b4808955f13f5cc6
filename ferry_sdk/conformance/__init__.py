"""Compare a service with what the client and the local service assume of it."""

from __future__ import annotations

from ferry_sdk.conformance.checks import check, check_with_booking
from ferry_sdk.conformance.report import ConformanceReport, ConformanceRow

__all__ = ["ConformanceReport", "ConformanceRow", "check", "check_with_booking"]
