"""A booking backend: a journal records every write, and recovers it after a crash.

Set FERRY_TOKEN and FERRY_BASE_URL, and run `uvicorn --factory backend:create_app`. As a script it
books against the local service.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, cast

import httpx
from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from ferry_sdk import (
    AsyncFerry,
    BookingConfirmation,
    BookingCreated,
    FerryError,
    InvalidInputError,
    OutcomeUnknownError,
    Passenger,
    PriceChangedError,
    SearchPassenger,
    Selection,
    Trip,
    UnresolvedWriteError,
    Vehicle,
)
from ferry_sdk.journal import Journal
from ferry_sdk.sandbox import Sandbox

LONGEST_CALL = 30


class Query(BaseModel):
    """What a customer asks for: two places and two days, by the names that people write."""

    origin: str
    destination: str
    on: date
    back: date
    passengers: list[SearchPassenger]
    car: str


class Offer(BaseModel):
    """A trip with its cheapest fare, and the selections that book it."""

    depart_at: datetime
    companies: tuple[str, ...]
    price: Decimal
    currency: str
    availabilities: tuple[Selection, ...]

    @classmethod
    def of(cls, trip: Trip) -> Offer:
        """Return the offer of a trip."""
        return cls(
            depart_at=trip.depart_at,
            companies=trip.companies,
            price=trip.price,
            currency=trip.currency,
            availabilities=trip.select(),
        )


class Found(BaseModel):
    """The offers, the car as a booking takes it, and the companies that did not answer."""

    offers: list[Offer]
    vehicle: Vehicle
    missing: list[str]


class Order(BaseModel):
    """A customer's order: the selections of an offer, the passengers and the car."""

    availabilities: list[Selection]
    passengers: list[Passenger]
    vehicle: Vehicle


class Agreed(BaseModel):
    """The price that the customer agreed to."""

    total: Decimal


def client(request: Request) -> AsyncFerry:
    """Return the client that all requests share."""
    return cast("AsyncFerry", request.app.state.ferry)


Client = Annotated[AsyncFerry, Depends(client)]
routes = APIRouter()


@routes.post("/trips")
async def search(query: Query, ferry: Client) -> Found:
    """Search the trips of every company."""
    cars = await ferry.vehicles.find(query.car)
    if not cars:
        raise InvalidInputError(f"no vehicle is called {query.car!r}", field="car")
    trips = await ferry.trips.search(
        query.origin,
        query.destination,
        on=query.on,
        back=query.back,
        flexible=3,
        passengers=query.passengers,
        vehicle=cars[0].query,
    )
    return Found(
        offers=[Offer.of(trip) for trip in trips[:20]],
        vehicle=cars[0].booking(),
        missing=[failed.company for failed in trips.report.failed],
    )


@routes.post("/bookings", status_code=201)
async def create(order: Order, ferry: Client) -> BookingCreated:
    """Book. While the outcome is unknown, the same order is rejected."""
    return await ferry.bookings.create(
        availabilities=order.availabilities,
        passengers=order.passengers,
        vehicle=order.vehicle,
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
        case InvalidInputError():
            status = 422  # an unknown place too, with what it may have meant
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
        query = {
            "origin": "Barcelona",
            "destination": "Palma",
            "on": day.isoformat(),
            "back": (day + timedelta(days=14)).isoformat(),
            "passengers": [
                {"type": "Adult", "gender": "Female", "age": 38},
                {"type": "Adult", "gender": "Male", "age": 41},
                {"type": "Child", "gender": "Male", "age": 7},
            ],
            "car": "golf",
        }
        found = (await browser.post("/trips", json=query)).json()
        offer = found["offers"][0]
        print("found:", *offer["companies"], offer["price"], offer["currency"])
        order = {
            "availabilities": offer["availabilities"],
            "passengers": [
                {"type": "Adult", "first_name": "Ada", "last_name": "Reyes"},
                {"type": "Adult", "first_name": "Noor", "last_name": "Reyes"},
                {"type": "Child", "first_name": "Leo", "last_name": "Reyes"},
            ],
            "vehicle": {**found["vehicle"], "identification": "1234 BCD"},
        }
        booking = (await browser.post("/bookings", json=order)).json()
        print("booked:", booking["booking_reference"], booking["total_price"], booking["currency"])
        path = f"/bookings/{booking['booking_id']}/confirmation"
        confirmed = await browser.post(path, json={"total": offer["price"]})
        print("confirmed:", confirmed.json()["ticket_number"])

        sandbox.faults.add("lose_reply", "bookings.create")
        for _ in range(2):
            reply = await browser.post("/bookings", json=order)
            print(reply.status_code, reply.json()["message"])


if __name__ == "__main__":
    with Sandbox() as service, tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(service, f"sqlite:///{Path(folder) / 'ferry.db'}"))
