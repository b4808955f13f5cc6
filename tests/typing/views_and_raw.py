"""Views, context managers and raw responses, as both type checkers see them; nothing is run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, assert_type

import httpx

import ferry_sdk as sdk
from ferry_sdk import AsyncFerry, Ferry, RawResponse, Ticket
from ferry_sdk.models import McpTool


def making() -> None:
    with Ferry() as ferry:
        assert_type(ferry, Ferry)
    Ferry(lambda: "token", timeout=3, http_client=httpx.Client(), client_version=2)
    Ferry("token", base_url="https://x", timeout=sdk.Timeout(connect=1), default_headers={"a": "b"})
    AsyncFerry("token", timeout=None, http_client=httpx.AsyncClient())


async def making_async() -> None:
    async def token() -> str:
        return "token"

    async with AsyncFerry(token) as ferry:
        assert_type(ferry, AsyncFerry)
    await ferry.aclose()


def views(ferry: Ferry) -> None:
    view = ferry.with_options(
        timeout=None,
        max_retries=0,
        language=None,
        correlation_id="c",
        read_only=True,
        extra_headers={"x": "y"},
    )
    assert_type(view, Ferry)
    assert_type(view.tickets.get("t1"), Ticket)
    with sdk.correlation("abc") as said:
        assert_type(said, str)


async def async_views(ferry: AsyncFerry) -> None:
    view = ferry.with_options(language="el")
    assert_type(view, AsyncFerry)
    assert_type(await view.tickets.get("t1"), Ticket)


def raw(ferry: Ferry) -> None:
    answer = ferry.with_raw_response.tickets.get("t1")
    assert_type(answer, RawResponse[Ticket])
    assert_type(answer.parse(), Ticket)
    assert_type(answer.status_code, int)
    assert_type(answer.headers, Mapping[str, str])
    assert_type(answer.content, bytes)
    assert_type(answer.request_id, str | None)
    assert_type(answer.correlation_id, str)
    assert_type(answer.elapsed, float)
    assert_type(answer.attempts, tuple[sdk.Attempt, ...])
    assert_type(ferry.with_raw_response.catalogue.ports(), RawResponse[sdk.Records[sdk.Port]])
    assert_type(ferry.with_raw_response.mcp.list_tools().parse(), sdk.Records[McpTool])


async def async_raw(ferry: AsyncFerry) -> None:
    answer = await ferry.with_raw_response.bookings.confirm("b1")
    assert_type(answer, RawResponse[sdk.BookingConfirmation])
    assert_type(answer.parse(), sdk.BookingConfirmation)
    made = await ferry.with_raw_response.mcp.create_booking(id="a1", passengers=[])
    assert_type(made.parse(), sdk.BookingCreated)
    assert_type((await ferry.with_raw_response.mcp.ports()).parse(), sdk.Records[sdk.McpPort])
    view = ferry.with_options(max_retries=0).with_raw_response
    assert_type(await view.tickets.get("t1"), RawResponse[Ticket])


def errors(error: Exception) -> None:
    if isinstance(error, sdk.FerryError):
        assert_type(error.outcome, Literal["not_sent", "rejected", "unknown"])
        assert_type(error.attempts, tuple[sdk.Attempt, ...])
        assert_type(error.correlation_id, str | None)
    if isinstance(error, sdk.OutcomeUnknownError):
        assert_type(error.request, sdk.RequestDigest)
    if isinstance(error, sdk.APIError):
        assert_type(error.code, str | None)
        assert_type(error.status_code, int)
    if isinstance(error, sdk.RateLimitError):
        assert_type(error.retry_after, float | None)
