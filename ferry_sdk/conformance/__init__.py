"""Compare a service with what the client and the local service assume of it."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import overload

from ferry_sdk.client import AsyncFerry, Ferry
from ferry_sdk.conformance.bookings import read_records
from ferry_sdk.conformance.calls import Call, Reply, Steps, perform, perform_async
from ferry_sdk.conformance.findings import Findings
from ferry_sdk.conformance.probes import Probes
from ferry_sdk.conformance.report import ConformanceReport, ConformanceRow, build_report

__all__ = ["ConformanceReport", "ConformanceRow", "check"]


@overload
def check(
    ferry: Ferry, *, booking_id: str | None = None, ticket_id: str | None = None
) -> ConformanceReport: ...
@overload
def check(
    ferry: AsyncFerry, *, booking_id: str | None = None, ticket_id: str | None = None
) -> Awaitable[ConformanceReport]: ...
def check(
    ferry: Ferry | AsyncFerry, *, booking_id: str | None = None, ticket_id: str | None = None
) -> ConformanceReport | Awaitable[ConformanceReport]:
    """Compare a service with what the client and the local service assume of it, with reads only.

    It sends up to 40 requests, one after another. The interface leaves the assumptions open, and
    The documentation lists them.

    Args:
        ferry: The client. With an `AsyncFerry`, the result is awaited.
        booking_id: A booking of which fields may be read; without one, some rows are not seen.
        ticket_id: The same of a ticket.

    Returns:
        A row for each assumption. A read that fails leaves its rows not seen.

    Raises:
        AuthenticationError: The service rejects the token.
        TransportError: The service cannot be reached.
        ConfigurationError: The client's settings do not allow reads.

    Example:
        ```python
        from ferry_sdk import Ferry
        from ferry_sdk.conformance import check
        from ferry_sdk.sandbox import Sandbox

        with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            report = check(ferry)
            print(report.differs, report.rows[0].id, report.rows[0].verdict)
            # > False no_sailings holds
        ```
    """
    run = _Check(booking_id, ticket_id)
    if isinstance(ferry, AsyncFerry):
        return perform_async(ferry, run.steps(), run.observe)
    return perform(ferry, run.steps(), run.observe)


class _Check:
    def __init__(self, booking_id: str | None, ticket_id: str | None) -> None:
        self._ids = booking_id, ticket_id
        self._findings = Findings()
        self._requests = 0

    def observe(self, _: Call, reply: Reply) -> None:
        self._requests += reply.requests

    def steps(self) -> Steps[ConformanceReport]:
        yield from Probes(self._findings).steps()
        yield from read_records(self._findings, *self._ids)
        return build_report(self._findings.seen, self._findings.reasons, self._requests)
