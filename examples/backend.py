"""A booking backend: a journal records every write, and recovers it after a crash.

Set FERRY_TOKEN and FERRY_BASE_URL, and run `uvicorn --factory backend:create_app`. As a script it
books against the local service.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, cast

import httpx
from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from ferry_sdk import (
    AsyncFerry,
    Availability,
    BookingConfirmation,
    BookingCreated,
    FerryError,
    OutcomeUnknownError,
    Passenger,
    PriceChangedError,
    Selection,
    UnresolvedWriteError,
)
from ferry_sdk.journal import Journal
from ferry_sdk.sandbox import Sandbox

LONGEST_CALL = 30


class Order(BaseModel):
    """A customer's order: ids from a search, and the passengers."""

    availabilities: list[Selection]
    passengers: list[Passenger]


class Agreed(BaseModel):
    """The price that the customer agreed to."""

    total: Decimal


def client(request: Request) -> AsyncFerry:
    """Return the client that all requests share."""
    return cast("AsyncFerry", request.app.state.ferry)


Client = Annotated[AsyncFerry, Depends(client)]
routes = APIRouter()


@routes.get("/sailings")
async def search(day: date, ferry: Client) -> list[Availability]:
    """Search the sailings from Tarifa to Tangier on a day."""
    journeys = await ferry.catalogue.journeys()
    found = await ferry.availability.search(
        company="BALEARIA",
        depart_code="ESTRF",
        arrive_code="MATNG",
        out_journey_id=next(
            one.journey_id for one in journeys if one.route == "Tarifa → Tangier (city)"
        ),
        out_at=day,
        out_time="00:00",
        passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
    )
    return list(found)


@routes.post("/bookings", status_code=201)
async def create(order: Order, ferry: Client) -> BookingCreated:
    """Book. While the outcome is unknown, the same order is rejected."""
    return await ferry.bookings.create(
        availabilities=order.availabilities, passengers=order.passengers
    )


@routes.post("/bookings/{booking_id}/confirmation")
async def confirm(booking_id: str, agreed: Agreed, ferry: Client) -> BookingConfirmation:
    """Confirm at the agreed price. If the reply is lost, the effect is read back."""
    return await ferry.bookings.confirm(booking_id, expect_total=agreed.total)


@routes.get("/to-ask")
async def to_ask(request: Request) -> list[str]:
    """List the correlation ids to ask the service's support about."""
    return cast("list[str]", request.app.state.to_ask)


async def recover_all(ferry: AsyncFerry, journal: Journal, *, spare: float) -> list[str]:
    """Recover writes of earlier processes. Return the ids that a person has to ask about."""
    left: list[str] = []
    for entry in await asyncio.to_thread(journal.unresolved, older_than=spare):
        try:
            await ferry.recover(entry)
        except FerryError:
            left.append(entry.correlation_id)
    return left


async def describe_error(_: Request, error: Exception) -> JSONResponse:
    """Return the outcome of a failed call, and the id to ask about."""
    assert isinstance(error, FerryError)
    match error:
        case OutcomeUnknownError():
            status = 202  # not an error: browsers and proxies may retry after errors
        case PriceChangedError() | UnresolvedWriteError():
            status = 409
        case _:
            status = {"not_sent": 503, "rejected": 422, "unknown": 502}[error.outcome]
    about = error.entry if isinstance(error, UnresolvedWriteError) else error
    content = {
        "outcome": error.outcome,
        "message": str(error),
        "correlation_id": getattr(about, "correlation_id", None),
    }
    return JSONResponse(content, status)


def create_app(
    journal_url: str = "sqlite:///ferry.db",
    *,
    token: str | None = None,
    base_url: str | None = None,
    spare: float = 2 * LONGEST_CALL,
) -> FastAPI:
    """Return the application. Its client is configured by arguments or the environment.

    Args:
        journal_url: The journal's database. All processes of the backend share it.
        token: The service's token.
        base_url: The service's address.
        spare: Seconds. Newer writes are not recovered, because they may still be in progress.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None, None]:
        with Journal(journal_url) as journal:
            async with AsyncFerry(
                token, base_url=base_url, deadline=LONGEST_CALL, journal=journal
            ) as ferry:
                app.state.ferry = ferry
                app.state.to_ask = await recover_all(ferry, journal, spare=spare)
                yield

    app = FastAPI(title="Bookings", lifespan=lifespan)
    app.include_router(routes)
    app.add_exception_handler(FerryError, describe_error)
    return app


async def main(sandbox: Sandbox, journal_url: str) -> None:
    """Order as a browser does, and lose a reply."""
    app = create_app(journal_url, token=sandbox.token, base_url=sandbox.base_url)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://shop") as browser,
    ):
        day = date.today() + timedelta(days=30)
        sailing = (await browser.get("/sailings", params={"day": day.isoformat()})).json()[0]
        order = {
            "availabilities": [
                {
                    "availability_id": sailing["id"],
                    "tariff_id": sailing["tariffs"][0]["id"],
                    "place_id": sailing["places"][0]["id"],
                }
            ],
            "passengers": [{"type": "Adult", "first_name": "Ada", "last_name": "Reyes"}],
        }
        booking = (await browser.post("/bookings", json=order)).json()
        print("booked:", booking["booking_reference"], booking["total_price"], booking["currency"])
        path = f"/bookings/{booking['booking_id']}/confirmation"
        confirmed = await browser.post(path, json={"total": booking["total_price"]})
        print("confirmed:", confirmed.json()["ticket_number"])

        sandbox.faults.add("lose_reply", "bookings.create")
        for _ in range(2):
            reply = await browser.post("/bookings", json=order)
            print(reply.status_code, reply.json()["message"])


if __name__ == "__main__":
    with Sandbox() as service, tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(service, f"sqlite:///{Path(folder) / 'ferry.db'}"))
