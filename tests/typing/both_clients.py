"""What every call gives, as both type checkers see it; nothing here is run."""

from __future__ import annotations

import asyncio
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_type

from pydantic import JsonValue

import ferry_sdk as sdk
from ferry_sdk import AsyncFerry, Ferry, Records, Ticket
from ferry_sdk.models import McpResource, McpTool

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

ADULT: sdk.SearchPassengerDict = {"type": "Adult", "gender": "F", "age": 34}
TRAVELLER: sdk.PassengerDict = {"type": "Adult", "first_name": "Ada", "last_name": "Byron"}
CHOICE: sdk.SelectionDict = {"availability_id": "a", "tariff_id": "t", "place_id": "p"}


def sync_calls(ferry: Ferry) -> None:
    assert_type(
        ferry.availability.search(
            company="GNV",
            depart_code="ITGOA",
            arrive_code="ITPMO",
            out_journey_id="j1",
            out_at=date(2026, 7, 14),
            out_time=time(8, 30),
            passengers=[ADULT],
            ret_journey_id="j2",
            ret_at="2026-07-21",
            ret_time="08:30",
            out_is_open=False,
            vehicle={"code": "ABARTH__595"},
        ),
        Records[sdk.Availability],
    )
    assert_type(
        ferry.bookings.create(
            availabilities=[CHOICE],
            passengers=[TRAVELLER],
            reservation_type="OPTION",
            vehicle={"code": "CAR"},
            contact={"name": "Ada", "email": "ada@example.org"},
        ),
        sdk.BookingCreated,
    )
    assert_type(ferry.bookings.confirm("b1"), sdk.BookingConfirmation)
    assert_type(ferry.bookings.get("b1"), sdk.Booking)
    assert_type(ferry.bookings.cancel("b1", booking_reference=None), sdk.BookingCancellation)
    assert_type(ferry.bookings.cancel_fee("b1"), sdk.CancellationFee)
    assert_type(ferry.tickets.get("t1"), Ticket)
    assert_type(ferry.tickets.get(ticket_id="t1"), Ticket)
    assert_type(ferry.tickets.cancel("t1", ticket_number="n"), sdk.TicketCancellation)
    assert_type(ferry.tickets.cancel_fee("t1"), sdk.CancellationFee)
    assert_type(ferry.tickets.pdf("t1"), sdk.Voucher)
    assert_type(ferry.tickets.save_pdf("t1", "voucher.pdf"), Path)
    assert_type(ferry.tickets.read_pdf("t1"), bytes)
    assert_type(
        ferry.tickets.mark_paid("t1", external_payment_ref="pi_1", psp="x", paid_at="2026"),
        sdk.PaymentRecorded,
    )
    assert_type(ferry.catalogue.ports(), Records[sdk.Port])
    assert_type(ferry.catalogue.journeys(), Records[sdk.Journey])
    assert_type(ferry.catalogue.departures("GNV", journey_ids=["j1"]), Records[sdk.Departure])
    assert_type(ferry.catalogue.vehicle_brands(), Records[sdk.VehicleBrand])
    assert_type(ferry.catalogue.vehicle_types(), Records[sdk.VehicleType])


async def async_calls(ferry: AsyncFerry) -> None:
    adult = sdk.SearchPassenger(type=sdk.PassengerType.ADULT, gender=sdk.Gender.FEMALE, age=34)
    ada = sdk.Passenger(type=sdk.PassengerType.ADULT, first_name="Ada", last_name="Byron")
    assert_type(
        await ferry.availability.search(
            company="GNV",
            depart_code="ITGOA",
            arrive_code="ITPMO",
            out_journey_id="j1",
            out_at="2026-07-14",
            out_time="08:30",
            passengers=[adult],
            vehicle=sdk.VehicleQuery(code="ABARTH__595"),
        ),
        Records[sdk.Availability],
    )
    assert_type(
        await ferry.bookings.create(
            availabilities=[sdk.Selection(availability_id="a", tariff_id="t", place_id="p")],
            passengers=[ada],
            vehicle=sdk.Vehicle(code="CAR"),
            contact=sdk.Contact(name="Ada", email="ada@example.org"),
        ),
        sdk.BookingCreated,
    )
    assert_type(await ferry.bookings.confirm("b1"), sdk.BookingConfirmation)
    assert_type(await ferry.tickets.save_pdf("t1", Path("voucher.pdf")), Path)
    assert_type(await ferry.catalogue.ports(), Records[sdk.Port])
    assert_type(
        await ferry.mcp.create_booking(availabilities=[CHOICE], passengers=[TRAVELLER]),
        sdk.BookingCreated,
    )
    assert_type(await ferry.mcp.call_tool("view_ticket", {"id": "t1"}), JsonValue)
    assert_type(await ferry.mcp.list_tools(), Records[McpTool])


def sync_mcp(ferry: Ferry) -> None:
    assert_type(
        ferry.mcp.search_availability(
            company="GNV",
            depart_code="ITGOA",
            arrive_code="ITPMO",
            out_journey_id="j1",
            out_at="2026-07-14",
            out_time="08:30",
            passengers=[ADULT],
        ),
        Records[sdk.Availability],
    )
    assert_type(ferry.mcp.create_booking(id="a1", passengers=[TRAVELLER]), sdk.BookingCreated)
    assert_type(ferry.mcp.confirm_booking("b1"), sdk.BookingConfirmation)
    assert_type(ferry.mcp.view_ticket("t1"), Ticket)
    assert_type(ferry.mcp.cancel_ticket("t1", ticket_number=None), sdk.TicketCancellation)
    assert_type(ferry.mcp.ports(), Records[sdk.McpPort])
    assert_type(ferry.mcp.companies(), Records[sdk.Company])
    assert_type(ferry.mcp.countries(), Records[sdk.Country])
    assert_type(ferry.mcp.vehicle_brands(), Records[sdk.VehicleBrand])
    assert_type(ferry.mcp.vehicle_data(), Records[sdk.VehicleModel])
    assert_type(ferry.mcp.departures(), Records[sdk.ScheduledDeparture])
    assert_type(ferry.mcp.call_tool("view_ticket", {"id": "t1"}), JsonValue)
    assert_type(ferry.mcp.read_resource("resource://service/ports"), JsonValue)
    assert_type(ferry.mcp.list_tools(), Records[McpTool])
    assert_type(ferry.mcp.list_resources(), Records[McpResource])


async def methods_are_functions(ferry: Ferry, async_ferry: AsyncFerry) -> None:
    read: Callable[[str], Ticket] = ferry.tickets.get
    read_async: Callable[[str], Coroutine[Any, Any, Ticket]] = async_ferry.tickets.get
    assert_type(read("t1"), Ticket)
    assert_type(await read_async("t1"), Ticket)
    ports: Coroutine[Any, Any, Records[sdk.Port]] = async_ferry.catalogue.ports()
    assert_type(await ports, Records[sdk.Port])
    task = asyncio.create_task(async_ferry.tickets.get("t1"))
    assert_type(await task, Ticket)
    twice = await asyncio.gather(async_ferry.tickets.get("t1"), async_ferry.tickets.get("t2"))
    assert_type(twice, tuple[Ticket, Ticket])


def records(ferry: Ferry) -> None:
    ports = ferry.catalogue.ports()
    as_sequence: Sequence[sdk.Port] = ports
    assert_type(as_sequence[0], sdk.Port)
    assert_type(ports[0], sdk.Port)
    assert_type(ports[1:], tuple[sdk.Port, ...])
    assert_type(ports.unreadable, tuple[sdk.Unreadable, ...])
    assert_type([one.name for one in ports], list[str])


def fields(availability: sdk.Availability, booking: sdk.Booking, ticket: Ticket) -> None:
    assert_type(availability.tariffs, tuple[sdk.Tariff, ...])
    assert_type(availability.tariffs[0].amount, Decimal)
    assert_type(availability.tariffs[0].currency, str)
    assert_type(availability.depart_at, datetime)
    assert_type(availability.travel_time, timedelta)
    assert_type(availability.animals, JsonValue)
    assert_type(availability.select(tariff="t", place=availability.places[0]), sdk.Selection)
    assert_type(booking.stage, sdk.Stage)
    assert_type(booking.total_price, Decimal)
    assert_type(booking.pricing, sdk.Pricing | None)
    assert_type(booking.expire_at, datetime | str | None)
    assert_type(booking.next_actions(), tuple[sdk.NextAction, ...])
    assert_type(booking.next_actions()[0].name, str)
    assert_type(booking.tickets, tuple[Ticket, ...])
    assert_type(ticket.ticket_number, str | None)
    assert_type(ticket.vehicle, sdk.TicketVehicle | None)
    assert_type(ticket.passengers[0].birth_date, date | str | None)
