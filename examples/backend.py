"""The backend of a web shop: it searches, books, takes payments, and delivers vouchers.

A journal records every write, and recovers it after a crash. Set FERRY_TOKEN and FERRY_BASE_URL,
and run `uvicorn --factory backend:create_app`. As a script it sells against the local service.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import partial
from http import HTTPStatus
from math import ceil
from pathlib import Path
from typing import Annotated, cast

import httpx
from anyio import create_task_group, current_time, sleep_until, to_thread
from fastapi import APIRouter, Depends, FastAPI, Header, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel

from ferry_sdk import (
    AlreadyDoneError,
    APIError,
    AsyncFerry,
    AuthenticationError,
    AvailabilityError,
    BadRequestError,
    BookingConfirmation,
    BookingConfirmError,
    BookingCreated,
    BookingCreateError,
    ConflictError,
    FerryError,
    IdempotencyError,
    InvalidInputError,
    JournalError,
    NoSailingsError,
    NotFoundError,
    OrderError,
    OutcomeUnknownError,
    Passenger,
    PenaltyExceededError,
    PermissionDeniedError,
    PriceChangedError,
    RateLimitError,
    RequestTimeoutError,
    SearchPassenger,
    Selection,
    TicketCancelError,
    TransportError,
    Trip,
    UnexpectedResponseError,
    UnprocessableEntityError,
    UnresolvedWriteError,
    Vehicle,
)
from ferry_sdk.aftersales import BookingEvent, watch
from ferry_sdk.journal import Journal
from ferry_sdk.sandbox import Sandbox

LONGEST_CALL = 30
ROUND = 60.0
"""Seconds after which the shop looks for new bookings to watch."""
REMIND = (timedelta(days=1), timedelta(hours=2))
logger = logging.getLogger("shop")


class Payments:
    """Stands for your payment provider: put its calls into these methods.

    Pass the booking's id as the idempotency key, so that each method may be called again. When
    money was given back or the total changed, a new authorisation needs another key, such as the
    id with a number.
    """

    def __init__(self) -> None:
        self.states: dict[str, str] = {}

    async def authorise(self, booking_id: str, total: Decimal, card: str) -> None:
        """Reserve the money on the customer's card."""
        if card == "declined":
            raise InvalidInputError("the card was declined", field="card")
        logger.info("reserved %s for %s", total, booking_id)
        if self.states.get(booking_id) != "captured":
            self.states[booking_id] = "authorised"

    async def capture(self, booking_id: str) -> None:
        """Take the reserved money."""
        self.states[booking_id] = "captured"

    async def release(self, booking_id: str) -> None:
        """Give the reserved money back; money that was taken stays, until a person refunds it."""
        if self.states.get(booking_id) == "authorised":
            self.states[booking_id] = "released"


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


class Payment(BaseModel):
    """The price that the customer agreed to, and the card as the provider names it."""

    total: Decimal
    currency: str
    card: str


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
async def create(
    order: Order, ferry: Client, idempotency_key: Annotated[str | None, Header()] = None
) -> BookingCreated:
    """Book once for the number of the order. While the outcome is unknown, it is rejected.

    Check that the key is of this customer: the key of another one may return that one's booking.
    """
    return await ferry.bookings.create(
        availabilities=order.availabilities,
        passengers=order.passengers,
        vehicle=order.vehicle,
        idempotency_key=idempotency_key,
    )


@routes.post("/bookings/{booking_id}/payment")
async def pay(
    booking_id: str, payment: Payment, request: Request, ferry: Client
) -> BookingConfirmation:
    """Reserve the money, and confirm at the agreed price.

    The money stays reserved until the watch knows what became of the booking: after a lost reply
    or a second click, it may be confirmed; and a ticket that is being issued may fail.
    """
    payments: Payments = request.app.state.payments
    await payments.authorise(booking_id, payment.total, payment.card)
    try:
        return await ferry.bookings.confirm(
            booking_id, expect_total=payment.total, currency=payment.currency
        )
    except AlreadyDoneError as error:
        return cast("BookingConfirmation", error.result)


@routes.get("/tickets/{ticket_id}/voucher")
async def voucher(ticket_id: str, ferry: Client) -> Response:
    """Return the boarding voucher; 404 while there is none. Check first whose ticket it is."""
    return Response(await ferry.tickets.read_pdf(ticket_id), media_type="application/pdf")


@routes.get("/to-ask")
async def to_ask(request: Request) -> list[str]:
    """List the correlation ids to ask the service's support about."""
    state = request.app.state
    entries = await to_thread.run_sync(partial(state.journal.unresolved, older_than=state.spare))
    return [entry.correlation_id for entry in entries]


async def recover_all(ferry: AsyncFerry, journal: Journal, *, spare: float) -> None:
    """Read back the writes of killed processes. What remains needs a person."""
    for entry in await to_thread.run_sync(partial(journal.unresolved, older_than=spare)):
        with suppress(FerryError):
            await ferry.recover(entry)


async def settle(event: BookingEvent, payments: Payments) -> None:
    """Take the money of a booking with all its tickets, and give it back if there will be none.

    A person decides about a booking with some of them; its money stays as it is.
    """
    if event.kind == "ticketed":
        await payments.capture(event.booking_id)
    elif event.kind in {"lapsed", "rejected", "voided"}:
        await payments.release(event.booking_id)
    logger.info("%s: %s", event.kind, event.booking_id)  # send the customer a mail here


async def follow(ferry: AsyncFerry, journal: Journal, payments: Payments, *, spare: float) -> None:
    """Watch all bookings until they depart, also those of a process that was killed."""
    while True:
        next_round = current_time() + ROUND
        try:
            await recover_all(ferry, journal, spare=spare)
            async for event in watch(
                ferry, None, deadline=ROUND, journal=journal, until="departure", remind=REMIND
            ):
                await settle(event, payments)
        except FerryError:
            logger.exception("the watch failed; it starts again")
        await sleep_until(next_round)


STATUSES: dict[int, tuple[type[FerryError], ...]] = {
    202: (OutcomeUnknownError,),
    404: (NotFoundError, NoSailingsError),
    409: (
        AlreadyDoneError,
        BookingConfirmError,
        ConflictError,
        OrderError,
        PenaltyExceededError,
        PriceChangedError,
        TicketCancelError,
        UnresolvedWriteError,
    ),
    422: (
        InvalidInputError,
        AvailabilityError,
        BadRequestError,
        BookingCreateError,
        UnprocessableEntityError,
    ),
    500: (AuthenticationError, PermissionDeniedError),
    503: (JournalError, RateLimitError),
    504: (RequestTimeoutError,),
    502: (APIError, TransportError, UnexpectedResponseError),
}
"""The statuses of errors; the first that has the class of an error, or a base of it, counts."""


def status_of(error: FerryError) -> int:
    """Return the HTTP status that says what became of a browser's request."""
    # A confirmation or a cancellation of what does not exist has a class of its own, and over MCP
    # no status.
    if isinstance(error, APIError) and error.status_code == HTTPStatus.NOT_FOUND:
        return HTTPStatus.NOT_FOUND
    of_id = (BookingConfirmError, TicketCancelError)
    if isinstance(error, of_id) and error.field in {"booking_id", "ticket_id"}:
        return HTTPStatus.NOT_FOUND
    found = (status for status, kinds in STATUSES.items() if isinstance(error, kinds))
    return next(found, 500)


def describe(error: FerryError) -> dict[str, str | None]:
    """Return what a browser may know of an error: the outcome, and the id to ask about.

    There is no id if the arguments were refused before a call.
    """
    outcome, correlation_id = error.outcome, error.correlation_id
    if isinstance(error, UnresolvedWriteError):  # an earlier request may have done it
        outcome, correlation_id = "unknown", error.entry.correlation_id

    is_write = isinstance(error, (OutcomeUnknownError, UnresolvedWriteError, OrderError))
    if is_write and outcome == "unknown":
        message = "The outcome is not known."
    elif isinstance(error, IdempotencyError):  # it names a booking, perhaps another customer's
        message = "This order was sent before, with other contents."
    elif status_of(error) in {404, 409, 422}:
        message = str(error)
    else:
        message = "The service cannot answer now."
    return {"outcome": outcome, "message": message, "correlation_id": correlation_id}


def headers_of(error: FerryError) -> dict[str, str]:
    """Return when the browser may ask again, if the service has said it."""
    seconds = error.retry_after if isinstance(error, APIError) else None
    return {} if seconds is None else {"Retry-After": str(ceil(seconds))}


async def answer_error(_: Request, error: Exception) -> JSONResponse:
    """Answer with the status and the description of an error."""
    assert isinstance(error, FerryError)
    return JSONResponse(describe(error), status_of(error), headers_of(error))


def create_app(
    journal_url: str = "sqlite:///ferry.db",
    *,
    payments: Payments | None = None,
    token: str | None = None,
    base_url: str | None = None,
    route_cache: str | Path | None = "routes",
    spare: float = 2 * LONGEST_CALL,
) -> FastAPI:
    """Return the application. Its client is configured by arguments or the environment.

    Args:
        journal_url: The journal's database. All processes of the backend share it.
        payments: The payment provider.
        token: The service's token.
        base_url: The service's address.
        route_cache: A folder that keeps who sails where across starts.
        spare: Seconds. Newer writes are not recovered, because they may still be in progress.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None, None]:
        with Journal(journal_url) as journal:
            async with (
                AsyncFerry(
                    token,
                    base_url=base_url,
                    deadline=LONGEST_CALL,
                    journal=journal,
                    route_cache=route_cache,
                ) as ferry,
                create_task_group() as tasks,
            ):
                with suppress(FerryError):  # the first search tries again
                    await ferry.routes.find()
                    await ferry.places.find("Genoa")  # reads the names of all ports
                provider = payments or Payments()
                app.state.ferry, app.state.journal = ferry, journal
                app.state.payments, app.state.spare = provider, spare
                tasks.start_soon(partial(follow, ferry, journal, provider, spare=spare))
                yield
                tasks.cancel_scope.cancel()

    app = FastAPI(title="Bookings", lifespan=lifespan)
    app.include_router(routes)
    app.add_exception_handler(FerryError, answer_error)
    return app


async def main(sandbox: Sandbox, folder: Path) -> None:
    """Order as a browser does, and lose a reply."""
    app = create_app(
        f"sqlite:///{folder / 'ferry.db'}",
        token=sandbox.token,
        base_url=sandbox.base_url,
        route_cache=folder / "routes",
    )
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
        path = f"/bookings/{booking['booking_id']}/payment"
        payment = {
            "total": offer["price"],
            "currency": offer["currency"],
            "card": "a test card",
        }
        confirmed = (await browser.post(path, json=payment)).json()
        print("confirmed:", confirmed["ticket_number"])
        sandbox.clock.advance(timedelta(minutes=15))  # some companies make vouchers later
        pdf = await browser.get(f"/tickets/{confirmed['ticket_id']}/voucher")
        print("voucher:", pdf.headers["content-type"], len(pdf.content), "bytes")

        sandbox.faults.add("lose_reply", "bookings.create")
        for _ in range(2):
            reply = await browser.post("/bookings", json=order)
            print(reply.status_code, reply.json()["message"])


if __name__ == "__main__":
    with Sandbox() as service, tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(service, Path(folder)))
