"""Compare a service with what the client and the local service assume of it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from decimal import Decimal
from typing import Any

from ferry_sdk._engine.batch import Plan
from ferry_sdk._engine.correlation import next_correlation_id
from ferry_sdk._engine.effects import Flow
from ferry_sdk.client import AsyncFerry, Ferry, transport_of
from ferry_sdk.client.functions import client_function
from ferry_sdk.conformance.bookings import BY_WRITES, book, choose, read_records
from ferry_sdk.conformance.findings import Findings
from ferry_sdk.conformance.probes import Probes
from ferry_sdk.conformance.report import ConformanceReport, build_report
from ferry_sdk.models.availability import Availability, Tariff
from ferry_sdk.resources.arguments import money

Approve = Callable[[Availability, Tariff], object]


@client_function
def check(
    ferry: Ferry | AsyncFerry,
    *,
    booking_id: str | None = None,
    ticket_id: str | None = None,
) -> ConformanceReport | Coroutine[Any, Any, ConformanceReport]:
    """Compare a service with what the client and the local service assume of it, with reads only.

    It sends up to 40 requests, one after another, besides retries; if MCP has no timetable, it
    also reads the route graph. The interface leaves the assumptions open; the documentation lists
    them.

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
    findings = Findings(ferry.with_options(read_only=True))
    return perform(findings, _read(findings, booking_id, ticket_id))


@client_function
def check_with_booking(
    ferry: Ferry | AsyncFerry,
    *,
    max_price: Decimal | int | str,
    currency: str = "EUR",
    approve: Approve | None = None,
) -> ConformanceReport | Coroutine[Any, Any, ConformanceReport]:
    """Compare a service as `check` does, and make a booking to see more.

    It books one adult at least 30 days ahead, on the cheapest of the sailings that it searches.
    The booking is never confirmed or paid. It is cancelled at the end, after an error or an
    interruption too, unless the service demands a fee; ``left`` and a warning in the log name a
    booking that may be left.

    Args:
        ferry: The client. With an `AsyncFerry`, the result is awaited.
        max_price: The highest acceptable amount of the tariff.
        currency: The currency of `max_price`.
        approve: Called with the sailing and the tariff before the booking is sent. If it raises,
            nothing is booked.

    Returns:
        A row for each assumption, and what is left of the booking.

    Raises:
        AuthenticationError: The service rejects the token.
        TransportError: The service cannot be reached.
        ConfigurationError: The client's settings do not allow reads.
        InvalidInputError: The price is not an amount.

    Example:
        ```python
        from ferry_sdk import Ferry
        from ferry_sdk.conformance import check_with_booking
        from ferry_sdk.sandbox import Sandbox

        with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            report = check_with_booking(ferry, max_price=50)
            print(report.differs, report.left)
            # > False None
        ```
    """
    limit = money(max_price, "max_price")
    findings = Findings(ferry)
    return perform(findings, _book(findings, limit, currency, approve))


def _read(findings: Findings, booking_id: str | None, ticket_id: str | None) -> Flow[None]:
    yield from Probes(findings).steps()
    yield from read_records(findings, booking_id, ticket_id)


def _book(findings: Findings, limit: Decimal, currency: str, approve: Approve | None) -> Flow[None]:
    probes = Probes(findings)
    yield from probes.steps()

    choice = yield from choose(findings, probes.sample(), limit, currency)
    if choice is None:
        return
    if approve is not None:
        approve(choice.sailing, choice.tariff)

    # Made here and not by the client, so that `left` can name it before the booking is sent.
    settings = transport_of(findings.ferry).settings
    correlation_id = settings.correlation_id or next_correlation_id()
    yield from findings.try_steps(BY_WRITES, book(findings, choice, correlation_id))


def perform(
    findings: Findings, steps: Flow[None]
) -> ConformanceReport | Coroutine[Any, Any, ConformanceReport]:
    """Make the calls of the steps, and return the report of their findings."""
    plan = Plan(lambda _: steps)  # the steps need no batch: they make one call at a time
    if isinstance(findings.ferry, AsyncFerry):
        return _perform_async(findings, findings.ferry, plan)

    # A second interruption may end the inner block before it has named the booking.
    with findings.name_left_booking(), findings.name_left_booking():
        transport_of(findings.ferry).run(plan)
    return build_report(findings)


async def _perform_async(
    findings: Findings, ferry: AsyncFerry, plan: Plan[None]
) -> ConformanceReport:
    with findings.name_left_booking(), findings.name_left_booking():
        await transport_of(ferry).run(plan)
    return build_report(findings)
