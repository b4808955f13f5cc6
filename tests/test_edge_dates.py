"""Dates at the ends of the calendar, as services send them for "no date"."""

from contextlib import suppress
from datetime import timedelta

import pytest

from ferry_sdk import Ferry, FerryError
from ferry_sdk.aftersales import watch
from ferry_sdk.agents import Toolkit
from ferry_sdk.conformance import check
from ferry_sdk.scan import FareScan, Party
from tests.support.cases import case
from tests.support.routes import know_routes
from tests.support.tiers import is_quick, mostly_long
from tests.support.trip import DAY, TRAVELLERS, booked, search_arguments

EDGES = [
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-12:00",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
]
LEG = "tickets.0.availability.outward.journey"
FIELDS = {
    "bookings.get": [
        "expire_at",
        "possible_actions.Pay.timeLimit",
        "tickets.0.boarding_time",
        f"{LEG}.depart_at",
        f"{LEG}.arrive_at",
    ],
    "availability.search": ["depart_at", "arrive_at", "tariffs.0.expiration_date"],
    "mcp.departures": ["depart_at"],
}
"""The fields with dates, by operation."""


def show(records):
    """Show records, or one of them, in every way."""
    assert repr(records)
    assert records._repr_html_()
    if hasattr(records, "to_frame"):
        assert records.to_frame().to_string()


def readers(ferry, booking_id, folder):
    """What reads the dates of an operation."""
    toolkit = Toolkit(ferry, tools="all")
    wanted = {"passengers": TRAVELLERS, "companies": ["CTN"]}
    days = (DAY, DAY + timedelta(days=1))
    route = ("FRMRS", "TNLGN")
    trip = {"origin": "FRMRS", "destination": "TNLGN"}

    def scan():
        scan = FareScan(folder, routes=[route], dates=days, parties=[Party("family", TRAVELLERS)])
        scan.run(ferry)
        assert scan.report.answered
        assert len(scan.to_frame())

    return {
        "bookings.get": [
            lambda: show(ferry.bookings.get(booking_id)),
            lambda: show(ferry.bookings.get(booking_id).tickets[0]),
            lambda: [*watch(ferry, [booking_id, ferry.bookings.get(booking_id)], deadline=0.1)],
            lambda: ferry.bookings.wait(booking_id, until="ticketed", deadline=0.1),
            lambda: ferry.bookings.confirm(booking_id, expect_total=1),
            lambda: toolkit.call("bookings_get", {"booking_id": booking_id}),
        ],
        "availability.search": [
            lambda: show(ferry.availability.search(**search_arguments())),
            lambda: str(ferry.availability.search(**search_arguments()).to_frame(by="tariff")),
            lambda: show(ferry.trips.search(*route, on=DAY, **wanted)),
            lambda: show(ferry.trips.search(*route, on=DAY, back=days[1], **wanted)),
            lambda: show(ferry.trips.calendar(*route, start=DAY, end=days[1], **wanted)),
            lambda: toolkit.call("trips_find", trip | {"on": str(DAY), **wanted}),
            scan,
        ],
        "mcp.departures": [lambda: show(ferry.mcp.departures()), lambda: check(ferry)],
    }


def read_or_fail(read):
    """Read, or fail as a call may fail."""
    with suppress(FerryError):
        read()


@pytest.mark.slow
@pytest.mark.parametrize("edge", mostly_long(EDGES))
def test_extreme_date_stops_nothing(ferry_sandbox, tmp_path, edge):
    know_routes(ferry_sandbox)
    with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url, max_retries=0) as ferry:
        booking_id = booked(ferry).booking_id
        for operation, fields in FIELDS.items():
            for field in fields[-1:] if is_quick() else fields:
                ferry_sandbox.faults.clear()
                ferry_sandbox.faults.add(
                    "unknown_enum", operation, times=None, field=field, value=edge
                )
                reads = readers(ferry, booking_id, tmp_path / field)[operation]
                for number, read in enumerate(reads):
                    with case(operation, field, number):
                        read_or_fail(read)
