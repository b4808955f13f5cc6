"""Mistakes that both type checkers have to report, each at its mark; nothing here is run."""

# ruff: noqa: B007, F841 -- names that hold a mistake are not used

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx

from ferry_sdk import AsyncFerry, Ferry, PassengerDict, SearchPassengerDict, Selection, Ticket

if TYPE_CHECKING:
    import httpx2


def sync_mistakes(ferry: Ferry) -> None:
    ferry.tickets.get(id="t1")  # MISTAKE: wrong argument name
    ferry.tickets.get(5)  # MISTAKE: wrong type
    ferry.tickets.get()  # MISTAKE: missing argument
    ferry.tickets.get("t1", "t2")  # MISTAKE: too many arguments
    ferry.tickets.fetch("t1")  # MISTAKE: unknown method
    ferry.ferries.get("t1")  # MISTAKE: unknown group
    ferry.tickets.get("t1").ticket_nr  # MISTAKE: unknown field
    number: str = ferry.tickets.get("t1").ticket_number  # MISTAKE: may be None
    ferry.bookings.get("b1").stage = "voided"  # MISTAKE: immutable
    ferry.bookings.cancel("b1", "reference")  # MISTAKE: by name only
    ferry.tickets.mark_paid("t1")  # MISTAKE: a reference is required
    ferry.tickets.mark_paid("t1", external_payment_ref="p", paid_at=1.5)  # MISTAKE: a float
    ferry.catalogue.departures("GNV", journey_ids=[1])  # MISTAKE: ids are texts
    ferry.catalogue.ports()[0] = None  # MISTAKE: records cannot be changed
    ferry.with_options(max_retries=None)  # MISTAKE: None is no number of retries
    ferry.with_options(retries=1)  # MISTAKE: unknown option
    ticket: Ticket = ferry.with_raw_response.tickets.get("t1")  # MISTAKE: not yet parsed
    ferry.bookings.create(availabilities=[], passengers=[{"type": "Adult"}])  # MISTAKE: no name
    ferry.mcp.create_booking(id=7, passengers=[])  # MISTAKE: an id is a text
    ferry.availability.search(company="GNV", passengers=[])  # MISTAKE: most is missing


async def async_mistakes(ferry: AsyncFerry) -> None:
    ferry.tickets.get("t1").status  # MISTAKE: not awaited
    ticket: Ticket = ferry.tickets.get("t1")  # MISTAKE: not awaited
    for port in ferry.catalogue.ports():  # MISTAKE: not awaited
        pass
    (await ferry.tickets.get("t1")).qr  # MISTAKE: unknown field
    await ferry.tickets.get(None)  # MISTAKE: None is no id
    raw: Ticket = await ferry.with_raw_response.tickets.get("t1")  # MISTAKE: not yet parsed
    with ferry:  # MISTAKE: async with
        pass


async def token() -> str:
    return "token"


def inputs() -> None:
    Ferry(token)  # MISTAKE: an async function needs AsyncFerry
    Ferry("t", timeout="3")  # MISTAKE: seconds are numbers
    Ferry("t", "https://x")  # MISTAKE: by name only
    one: SearchPassengerDict = {"type": "Adlut", "gender": "F", "age": 3}  # MISTAKE: misspelt
    two: SearchPassengerDict = {"type": "Adult", "gender": "F", "age": 3.5}  # MISTAKE: a float
    three: PassengerDict = {"type": "Adult", "first_name": "A", "lastname": "B"}  # MISTAKE: key
    Selection(availability_id="a", tariff_id="t")  # MISTAKE: a place is missing
    Selection(availability_id=1, tariff_id="t", place_id="p")  # MISTAKE: an id is a text


def http_clients(waits: httpx.Client, awaits: httpx2.AsyncClient) -> None:
    Ferry("t", http_client=awaits)  # MISTAKE: one that is awaited
    AsyncFerry("t", http_client=waits)  # MISTAKE: one that is not awaited
    Ferry("t", http_client=httpx.HTTPTransport())  # MISTAKE: a transport
