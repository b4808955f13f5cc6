"""The REST endpoints: requests and results."""

import json
import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

import pytest

import ferry_sdk as sdk
from ferry_sdk import APIError, AvailabilityError, Direction, PaymentStatus, Stage, __version__
from ferry_sdk.models import Model
from ferry_sdk.resources.tickets import TicketsGroup
from ferry_sdk.sandbox.network.network import journey_id
from ferry_sdk.sandbox.operations import ENDPOINTS
from tests.support.samples import TICKET_PASSENGER
from tests.support.summer import CAR, NOW, TRAVELLER, booked, chosen, ids_of, search, ticket_of
from tests.support.tables import each
from tests.support.wire import recorded

pytestmark = pytest.mark.usefixtures("summer")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
OUT = journey_id("ITGOA", "ITPMO")
MONDAYS = {"line": ("CTN", "FRMRS", "TNLGN"), "out_at": "2026-07-13", "ret_at": "2026-07-20"}
DOCUMENT = {name: value for name, value in TICKET_PASSENGER.items() if "_name" not in name} | {
    "nationality": "GR"
}
VEHICLE = {"code": "CAR", "vehicule_code": CAR, "brand": "Abarth", "model": "595"}
PATHS = {
    ("POST", 201): "booking booking/confirm booking/cancel ticket/cancel departure journey",
    ("POST", 200): "availability booking/cancel-fee ticket/{id}/mark-paid",
    ("GET", 200): "booking/{id} ticket/{id} ticket/{id}/pdf port vehicle-brand vehicle-data",
}
"""The endpoints of the interface by the status of a success."""


def every_endpoint(ferry):
    for name in ("ports", "journeys", "vehicle_brands", "vehicle_types"):
        getattr(ferry.catalogue, name)()
    ferry.catalogue.departures("GNV")
    first = booked(ferry)
    ticket_id = ferry.bookings.get(first.booking_id).tickets[0].id
    ferry.tickets.mark_paid(ticket_id, external_payment_ref="pi_1")
    ferry.bookings.confirm(first.booking_id)
    for name in ("get", "pdf", "cancel_fee", "cancel"):
        getattr(ferry.tickets, name)(ticket_id)
    ferry.bookings.cancel(booked(ferry).booking_id)


def test_every_endpoint_is_asked_as_it_is_and_keeps_the_conventions(clients, ferry_sandbox):
    settings = {"language": "fr", "client_version": 3, "default_headers": {"X-Shop": "9"}}
    with recorded(clients, ferry_sandbox, **settings) as (ferry, wire):
        every_endpoint(ferry)
    asked, ids = set(), set()
    for request, response in zip(wire.requests, wire.responses, strict=True):
        path = UUID.sub("{id}", request.url.raw_path.decode())
        asked.add((request.method, path, response.status_code))
        headers = request.headers
        paying = path.endswith("/mark-paid")
        token = ferry_sandbox.organisation_token if paying else ferry_sandbox.token
        expected = {
            "authorization": f"Bearer {token}",
            "accept": "application/json",
            "accept-encoding": "gzip",
            "accept-language": "fr",
            "user-agent": f"ferry_sdk/{__version__}",
            "x-client-version": "3",
            "x-shop": "9",
        }
        assert {name: headers[name] for name in expected} == expected
        assert headers.get("content-type") == ("application/json" if request.content else None)
        assert request.method == "POST" or not request.content
        correlation_id = headers["x-client-correlation-id"]
        assert UUID.fullmatch(correlation_id)
        assert response.headers["x-client-correlation-id"] == correlation_id
        ids.add(correlation_id)
    known = {
        (method, f"/api/{path}", status)
        for (method, status), paths in PATHS.items()
        for path in paths.split()
    }
    assert asked == known == {(each.method, each.path, each.success) for each in ENDPOINTS}
    assert len(ids) == len(wire.requests)


def test_a_search_sends_what_is_required_or_everything_and_nothing_that_was_not_set(wired_client):
    ferry, wire = wired_client
    ferry.catalogue.journeys()
    assert not {"accept-language", "x-client-version"} & set(wire.last.headers)
    assert (wire.last.method, wire.last.content) == ("POST", b"")
    ferry, wire = wired_client
    ferry.availability.search(**search())
    assert wire.body == {
        "request": {
            "company": "GNV",
            "depart_code": "ITGOA",
            "arrive_code": "ITPMO",
            "out_journey_id": OUT,
            "out_at": "2026-07-14",
            "out_time": "00:00",
        },
        "passengers": [{"order": 1, "type": "Adult", "param": "A", "gender": "Female", "age": 34}],
    }
    with pytest.raises(AvailabilityError) as caught:
        ferry.availability.search(**search(out_at=date(2026, 7, 15)))
    assert (caught.value.status_code, caught.value.code) == (404, "AVAILABILITY_ERROR")
    ferry, wire = wired_client
    family = [
        {"type": "Infant", "gender": "M", "age": 1, "order": 3},
        {"type": "Child", "gender": "F", "age": 8},
        {"type": "Adult", "gender": "Male", "age": 40, "order": 1},
    ]
    more = {"out_is_open": False, "ret_time": "06:30", "vehicle": {"code": CAR}}
    trip = search(back=True, passengers=family, **more)
    found = ferry.availability.search(**trip)
    assert wire.body == {
        "request": {name: trip[name] for name in trip if name not in {"passengers", "vehicle"}}
        | {"out_at": "2026-07-14", "ret_at": "2026-07-21"},
        "passengers": [
            {"order": 3, "type": "Infant", "param": "I", "gender": "Male", "age": 1},
            {"order": 2, "type": "Child", "param": "C", "gender": "Female", "age": 8},
            {"order": 1, "type": "Adult", "param": "A", "gender": "Male", "age": 40},
        ],
        "vehicle": {"code": CAR},
    }
    assert {one.direction for one in found} == {Direction.OUTWARD, Direction.RETURN}
    assert {one.passenger_count for one in found} == {3}


def parts(record):
    yield record
    for value in vars(record).values():
        inner = value.values() if isinstance(value, Mapping) else value
        for one in inner if isinstance(value, Mapping | tuple) else [inner]:
            if isinstance(one, Model):
                yield from parts(one)


def test_every_field_of_the_interface_is_answered_and_read(both):
    found = both.availability.search(**search(**MONDAYS, back=True, vehicle={"code": CAR}))
    assert found.unreadable == ()
    made = both.bookings.create(
        availabilities=chosen(found), passengers=[{**TRAVELLER, **DOCUMENT}], vehicle=VEHICLE
    )
    waiting = both.bookings.get(made.booking_id)
    confirmed = both.bookings.confirm(made.booking_id)
    ticket = both.tickets.get(confirmed.ticket_id)
    booking = both.bookings.get(made.booking_id)
    fee = both.tickets.cancel_fee(ticket.id)
    done = both.tickets.cancel(ticket.id)
    for record in (found[0], made, waiting, confirmed, ticket, booking, fee, done):
        for part in parts(record):
            fields = {*type(part).model_fields} - {"country_code", "previewed", "read_back"}
            assert part.model_fields_set == fields, type(part)
            assert not part.model_extra, type(part)
    assert found[0].journey_id == journey_id("FRMRS", "TNLGN")
    assert found[0].depart_at.utcoffset() == timedelta(hours=2)
    assert waiting.expire_at == NOW + timedelta(hours=1)
    assert (booking.stage, booking.expire_at) == (Stage.TICKETED, None)
    assert booking.tickets == (ticket,)
    assert booking.pricing.received.amount == made.total_price


def test_the_least_and_everything_of_a_booking_and_its_confirmation(wired_client):
    ferry, wire = wired_client
    found = ferry.availability.search(**search())
    selections = chosen(found)
    made = ferry.bookings.create(availabilities=selections, passengers=[TRAVELLER])
    assert wire.body == {
        "availabilities": [ids_of(selections[0])],
        "passengers": [{"order": 1, **TRAVELLER}],
    }
    assert made.booking_reference
    assert (made.stage, made.status) == (Stage.PAYMENT_DUE, "Blocked")
    assert (made.total_price, made.currency) == (selections[0].amount, "EUR")
    assert [(one.name, one.is_mandatory, one.time_limit) for one in made.next_actions()] == [
        ("Pay", True, NOW + timedelta(hours=1)),
        ("Cancel", False, found[0].depart_at),
    ]
    confirmed = ferry.bookings.confirm(made.booking_id)
    assert wire.body == {"id": made.booking_id}
    assert (confirmed.booking_id, confirmed.status) == (made.booking_id, "confirmed")
    assert confirmed.read_back is False
    assert ferry.tickets.get(confirmed.ticket_id).ticket_number == confirmed.ticket_number
    ferry, wire = wired_client
    selections = chosen(ferry.availability.search(**search(back=True, vehicle={"code": CAR})))
    zoe = TRAVELLER | {"first_name": "Zoë", "last_name": "Παπαδοπούλου", "age": 34} | DOCUMENT
    zoe["email"] = email = "zoe@example.org"
    more = {
        "reservation_type": "TICKET",
        "vehicle": VEHICLE | {"identification": "AB-123-CD"},
        "contact": {"name": "Zoë", "email": email, "prefix": "+30", "phone": "2101234567"},
    }
    said = {"gender": "Female", "nationality": "gr", "birth_date": date(1992, 2, 29)}
    ferry.bookings.create(availabilities=selections, passengers=[{**zoe, **said}], **more)
    assert wire.body == {
        "availabilities": [ids_of(one) for one in selections],
        "passengers": [{"order": 1, "gender": "F", **zoe}],
        **more,
    }
    assert "Παπαδοπούλου".encode() in wire.last.content


@each("with_reference", [True, False])
def test_bookings_and_tickets_are_cancelled_without_a_reference_too(wired_client, with_reference):
    ferry, wire = wired_client
    made = booked(ferry)
    ferry.bookings.confirm(made.booking_id)
    fee = ferry.bookings.cancel_fee(made.booking_id)
    assert wire.body == {"id": made.booking_id}
    more = {"booking_reference": made.booking_reference} if with_reference else {}
    done = ferry.bookings.cancel(made.booking_id, **more)
    assert wire.body == {"booking_id": made.booking_id} | more
    assert (done.booking_id, done.status) == (made.booking_id, "cancelled")
    assert done.refund_amount == fee.refund_amount
    booking = ferry.bookings.get(made.booking_id)
    assert (booking.stage, booking.next_actions()) == (Stage.VOIDED, ())

    booking_id = booked(ferry).booking_id
    ticket = ferry.tickets.get(ferry.bookings.confirm(booking_id).ticket_id)
    fee = ferry.tickets.cancel_fee(ticket.id)
    assert fee == ferry.bookings.cancel_fee(booking_id)
    assert type(fee.penalty_amount) is type(fee.refund_amount) is Decimal
    assert (fee.currency, fee.ticket_status) == ("EUR", "Issued")
    more = {"ticket_number": ticket.ticket_number} if with_reference else {}
    done = ferry.tickets.cancel(ticket.id, **more)
    assert wire.body == {"ticket_id": ticket.id} | more
    assert (done.ticket_id, done.status, done.read_back) == (ticket.id, "cancelled", False)
    assert ferry.tickets.get(ticket.id).status is sdk.TicketStatus.CANCELED


def test_a_payment_and_a_question_for_departures_carry_what_was_said(wired_client):
    ferry, wire = wired_client
    ticket_id = ferry.bookings.get(booked(ferry).booking_id).tickets[0].id
    paid_at = datetime(2026, 5, 1, 11, 30, tzinfo=timezone(timedelta(hours=2)))
    said = {"external_payment_ref": "pi_3Nx", "psp": "Stripe"}
    done = ferry.tickets.mark_paid(ticket_id, **said, paid_at=paid_at)
    assert wire.body == said | {"paid_at": "2026-05-01T11:30:00+02:00"}
    assert (done.ticket_id, done.payment_status) == (ticket_id, PaymentStatus.PAID)
    assert done.read_back is False
    ferry, wire = wired_client
    everything = ferry.catalogue.departures("GNV")
    assert wire.body == {"provider_id": "GNV"}
    (only,) = ferry.catalogue.departures("GNV", journey_ids=[OUT])
    assert wire.body == {"provider_id": "GNV", "__journey_id": [OUT]}
    assert only in everything
    assert only.journey_id == OUT
    assert type(only.departure_times) is tuple
    assert all(re.fullmatch(r"\d\d:\d\d", one) for one in only.departure_times)


def test_the_catalogues_and_the_address_of_a_voucher_once_it_is_there(both, ferry_sandbox):
    ports = both.catalogue.ports()
    assert sdk.Port(code="FRMRS", name="Marseille", country="France") in ports
    one = next(one for one in both.catalogue.journeys() if one.journey_id == OUT)
    assert one.route == "Genoa → Palermo"
    assert one.duration == timedelta(minutes=one.duration_minutes) > timedelta(hours=10)
    assert sdk.VehicleBrand(id="ABARTH", name="Abarth") in both.catalogue.vehicle_brands()
    car = sdk.VehicleType(code="CAR", name="Car up to 5 m", max_length=5, max_height=1.9)
    assert car in both.catalogue.vehicle_types()
    ticket = ticket_of(both)
    assert both.tickets.pdf(ticket.id).url is None
    ferry_sandbox.clock.advance(timedelta(minutes=11))
    url = both.tickets.pdf(ticket.id).url
    assert url.startswith(f"{ferry_sandbox.base_url}/voucher/{ticket.id}/")
    assert both.tickets.get(ticket.id).pdf_url == url


def test_odd_characters_of_an_id_stay_inside_one_segment():
    for ticket_id, segment in (
        *(("a/b", "a%2Fb"), ("../ports", "..%2Fports"), ("a?b=c", "a%3Fb%3Dc"), ("a#b", "a%23b")),
        *(("%2e%2e", "%252e%252e"), ("a%2fb", "a%252fb"), ("a b", "a%20b"), ("...", "...")),
        *(("a\\b;c", "a%5Cb%3Bc"), ("é☃", "%C3%A9%E2%98%83"), ("~a-b_c.d", "~a-b_c.d")),
        ("a\r\nX-Evil: 1", "a%0D%0AX-Evil%3A%201"),
    ):
        assert TicketsGroup.get(None, ticket_id).call.path == f"ticket/{segment}"


def test_an_unknown_id_is_named_as_the_argument(both, tmp_path):
    for field, group, calls in (
        ("ticket_id", both.tickets, {"get": {}, "pdf": {}, "read_pdf": {}, "cancel": {}}),
        ("ticket_id", both.tickets, {"mark_paid": {"external_payment_ref": "pi_1"}}),
        ("ticket_id", both.tickets, {"wait_pdf": {"deadline": 5}}),
        ("ticket_id", both.tickets, {"save_pdf": {"path": tmp_path / "ticket.pdf"}}),
        ("booking_id", both.bookings, {"get": {}, "cancel": {}}),
        ("booking_id", both.bookings, {"wait": {"until": "ticketed", "deadline": 5}}),
        ("booking_id", both.bookings, {"confirm": {"expect_total": 1, "currency": "EUR"}}),
    ):
        for name, more in calls.items():
            with pytest.raises(APIError) as refused:
                getattr(group, name)("none", **more)
            assert refused.value.field == field, name


def store(ferry, kind="Ticket"):
    """Return an offer as JSON that one web request stores, and another books."""
    found = ferry.availability.search(**search())
    return json.dumps([one.model_dump(mode="json") for one in chosen(found, kind)])


@pytest.mark.parametrize("kind", ["Presale", "Option", "Ticket"])
def test_a_stored_offer_is_booked_as_what_it_is(both, kind):
    stored = json.loads(store(both, kind))
    booking = both.bookings.create(availabilities=stored, passengers=[TRAVELLER])
    assert booking.total_price == sdk.Selection.model_validate(stored[0]).amount


def test_a_stored_offer_is_not_sent_after_it_has_expired(both, ferry_sandbox):
    stored = json.loads(store(both))
    ferry_sandbox.clock.advance(timedelta(days=7))
    both.catalogue.ports()  # its reply has the date
    with pytest.raises(sdk.InvalidInputError, match="expired"):
        both.bookings.create(availabilities=stored, passengers=[TRAVELLER])
    assert not ferry_sandbox.counters.requests["bookings.create"]
