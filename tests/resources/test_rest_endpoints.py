"""The fifteen REST endpoints: requests and results."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal

import pytest

from ferry_sdk import (
    AvailabilityError,
    Booking,
    BookingCancellation,
    BookingConfirmation,
    BookingCreated,
    CancellationFee,
    Departure,
    Direction,
    InvalidInputError,
    Journey,
    PaymentRecorded,
    PaymentStatus,
    PermissionDeniedError,
    PlaceType,
    Port,
    Records,
    Stage,
    TariffType,
    Ticket,
    TicketCancellation,
    TicketDirection,
    TicketNotFoundError,
    TicketStatus,
    VehicleBrand,
    VehicleType,
    Voucher,
)
from ferry_sdk.sandbox.network.network import journey_id
from tests.support.summer import (
    BACK,
    CAR,
    DAY,
    NOW,
    ONE_TICKET,
    TRAVELLER,
    booked,
    chosen,
    ids_of,
    search,
    stopped,
    ticket_of,
)
from tests.support.wire import recorded

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
OUT = journey_id("ITGOA", "ITPMO")
RETURN = journey_id("ITPMO", "ITGOA")


@pytest.fixture
def clients(mostly_sync_clients):
    return mostly_sync_clients


@pytest.fixture(autouse=True)
def summer(ferry_sandbox):
    return stopped(ferry_sandbox)


@pytest.fixture
def wired_client(clients, ferry_sandbox):
    with recorded(clients, ferry_sandbox) as made:
        yield made


def every_endpoint(ferry):
    """Call every endpoint, with two bookings."""
    ferry.catalogue.ports()
    ferry.catalogue.journeys()
    ferry.catalogue.departures("GNV")
    ferry.catalogue.vehicle_brands()
    ferry.catalogue.vehicle_types()
    first = booked(ferry)
    ticket_id = ferry.bookings.get(first.booking_id).tickets[0].id
    ferry.tickets.mark_paid(ticket_id, external_payment_ref="pi_1")
    ferry.bookings.confirm(first.booking_id)
    ferry.tickets.get(ticket_id)
    ferry.tickets.pdf(ticket_id)
    ferry.tickets.cancel_fee(ticket_id)
    ferry.tickets.cancel(ticket_id)
    ferry.bookings.cancel(booked(ferry).booking_id)


def test_each_row_of_the_interface_is_asked_by_its_method_and_path(wired_client):
    ferry, wire = wired_client
    every_endpoint(ferry)
    asked = {
        (
            request.method,
            UUID.sub("{id}", request.url.raw_path.decode()),
            response.status_code,
        )
        for request, response in zip(wire.requests, wire.responses, strict=True)
    }
    assert asked == {
        ("POST", "/api/availability", 200),
        ("POST", "/api/booking", 201),
        ("POST", "/api/booking/confirm", 201),
        ("GET", "/api/booking/{id}", 200),
        ("POST", "/api/booking/cancel", 201),
        ("GET", "/api/ticket/{id}", 200),
        ("POST", "/api/ticket/cancel", 201),
        ("POST", "/api/booking/cancel-fee", 200),
        ("GET", "/api/ticket/{id}/pdf", 200),
        ("POST", "/api/ticket/{id}/mark-paid", 200),
        ("POST", "/api/departure", 201),
        ("POST", "/api/journey", 201),
        ("GET", "/api/port", 200),
        ("GET", "/api/vehicle-brand", 200),
        ("GET", "/api/vehicle-data", 200),
    }


def test_every_request_keeps_the_conventions(clients, ferry_sandbox):
    with recorded(
        clients, ferry_sandbox, language="fr", client_version=3, default_headers={"X-Shop": "9"}
    ) as (ferry, wire):
        every_endpoint(ferry)
    for request in wire.requests:
        headers = request.headers
        paying = request.url.path.endswith("/mark-paid")
        token = ferry_sandbox.organisation_token if paying else ferry_sandbox.token
        assert headers["authorization"] == f"Bearer {token}"
        assert headers["accept"] == "application/json"
        assert "gzip" in headers["accept-encoding"]
        assert headers["accept-language"] == "fr"
        assert headers["x-client-version"] == "3"
        assert headers["x-shop"] == "9"
        assert UUID.fullmatch(headers["x-client-correlation-id"])
        assert headers.get("content-type") == ("application/json" if request.content else None)
        assert request.method == "POST" or not request.content
    assert len({one.headers["x-client-correlation-id"] for one in wire.requests}) == len(
        wire.requests
    )
    for request, response in zip(wire.requests, wire.responses, strict=True):
        assert (
            response.headers["x-client-correlation-id"]
            == request.headers["x-client-correlation-id"]
        )


def test_what_was_not_set_is_not_sent(wired_client):
    ferry, wire = wired_client
    ferry.catalogue.ports()
    assert not {"accept-language", "x-client-version"} & set(wire.last.headers)


def test_a_catalogue_that_takes_no_body_is_sent_none(wired_client):
    ferry, wire = wired_client
    ferry.catalogue.journeys()
    assert (wire.last.method, wire.last.content) == ("POST", b"")


class TestSearch:
    def test_one_way_sends_what_is_required_and_nothing_else(self, wired_client):
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
            "passengers": [
                {"order": 1, "type": "Adult", "param": "A", "gender": "Female", "age": 34}
            ],
        }

    def test_a_round_trip_with_a_car_for_a_family_sends_everything(self, wired_client):
        ferry, wire = wired_client
        found = ferry.availability.search(
            company="GNV",
            depart_code="ITGOA",
            arrive_code="ITPMO",
            out_journey_id=OUT,
            out_at=DAY,
            out_time=time(0, 0),
            out_is_open=False,
            ret_journey_id=RETURN,
            ret_at=BACK,
            ret_time="06:30",
            ret_is_open=False,
            passengers=[
                {"type": "Infant", "gender": "M", "age": 1, "order": 3},
                {"type": "Child", "gender": "F", "age": 8},
                {"type": "Adult", "gender": "Male", "age": 40, "order": 1},
            ],
            vehicle={"code": CAR},
        )
        assert wire.body == {
            "request": {
                "company": "GNV",
                "depart_code": "ITGOA",
                "arrive_code": "ITPMO",
                "out_journey_id": OUT,
                "out_at": "2026-07-14",
                "out_time": "00:00",
                "out_is_open": False,
                "ret_journey_id": RETURN,
                "ret_at": "2026-07-21",
                "ret_time": "06:30",
                "ret_is_open": False,
            },
            "passengers": [
                {"order": 3, "type": "Infant", "param": "I", "gender": "Male", "age": 1},
                {"order": 2, "type": "Child", "param": "C", "gender": "Female", "age": 8},
                {"order": 1, "type": "Adult", "param": "A", "gender": "Male", "age": 40},
            ],
            "vehicle": {"code": CAR},
        }
        assert {one.direction for one in found} == {Direction.OUTWARD, Direction.RETURN}
        assert {one.passenger_count for one in found} == {3}

    def test_every_field_of_an_availability_is_read(self, both, ferry_sandbox):
        found = both.availability.search(**search(vehicle={"code": CAR}))
        assert isinstance(found, Records)
        assert found.unreadable == ()
        one = found[0]
        assert one.id
        assert (one.group_id, one.direction) == (1, Direction.OUTWARD)
        assert one.journey_id == OUT
        assert one.sailing_id.startswith("GNV-ITGOA-ITPMO-20260714-")
        assert (one.depart_name, one.arrive_name) == ("Genoa", "Palermo")
        assert (one.depart_code, one.arrive_code) == ("ITGOA", "ITPMO")
        assert one.is_open is False
        assert one.depart_at.utcoffset() == one.arrive_at.utcoffset() == timedelta(hours=2)
        assert one.depart_at.date() == DAY
        assert (one.duration, one.travel_time) == (21, timedelta(hours=20, minutes=30))
        company = ferry_sandbox.network.company("GNV", "company")
        assert (one.company.id, one.company.name, one.company.logo) == (
            company.id,
            company.name,
            company.logo,
        )
        assert one.provider.name == one.company.name
        assert one.gateway.code == "GNV"
        assert one.gateway.id
        assert one.gateway.provider == company.group
        assert one.passenger_count == 1
        assert one.stops == ()
        assert one.ship_name
        assert one.vehicle[0]["code"] == CAR
        assert {meal["code"] for meal in one.meals} >= {"DINNER"}
        assert one.animals["allowed"] is True

    def test_every_field_of_a_tariff_is_read(self, both):
        tariffs = both.availability.search(**search())[0].tariffs
        assert {one.type for one in tariffs} == set(TariffType)
        for one in tariffs:
            assert one.amount == one.balance_amount > 0
            assert one.amount == one.amount.quantize(Decimal("0.01"))
            assert one.currency == "EUR"
            assert one.date == NOW
            assert one.date < one.expiration_date
            assert one.date.utcoffset() == one.expiration_date.utcoffset() == timedelta(0)
            assert one.roundtrip_locked is False

    def test_every_field_of_a_place_is_read(self, both):
        places = both.availability.search(**search())[0].places
        assert {one.type for one in places} >= {PlaceType.SEAT, PlaceType.CABIN}
        assert [one.index for one in places] == list(range(1, len(places) + 1))
        for one in places:
            assert one.id.endswith(one.code)
            assert one.count > 0
            assert one.capacity >= 1
            assert one.name
            assert (one.in_board.adults, one.in_board.childs, one.in_board.babies) == (1, 0, 0)
            assert one.in_board.passengers == ({"order": 1, "type": "Adult", "age": 34},)
        cabin = next(one for one in places if one.type == "Cabin" and one.use == "Exclusive")
        assert cabin.gender == "Any"
        assert cabin.in_board.has_shower is cabin.in_board.has_toilet is True

    def test_a_fare_for_the_round_trip_says_that_it_is_locked(self, both):
        found = both.availability.search(**search(back=True))
        assert any(tariff.roundtrip_locked for one in found for tariff in one.tariffs)

    def test_an_open_ticket_is_asked_for_and_found(self, both):
        found = both.availability.search(**search(ONE_TICKET, out_is_open=True))
        assert {one.is_open for one in found} == {True}

    def test_nothing_sails_is_an_availability_error(self, both):
        with pytest.raises(AvailabilityError) as caught:
            both.availability.search(**search(out_at=date(2026, 7, 15)))
        assert (caught.value.status_code, caught.value.code) == (404, "AVAILABILITY_ERROR")


class TestBooking:
    def test_the_least_that_can_be_sent(self, wired_client):
        ferry, wire = wired_client
        selections = chosen(ferry.availability.search(**search()))
        made = ferry.bookings.create(availabilities=selections, passengers=[TRAVELLER])
        assert wire.body == {
            "availabilities": [ids_of(selections[0])],
            "passengers": [
                {
                    "order": 1,
                    "type": "Adult",
                    "first_name": "Marguerite",
                    "last_name": "Okonkwo",
                }
            ],
        }
        assert type(made) is BookingCreated

    def test_everything_that_can_be_sent(self, wired_client):
        ferry, wire = wired_client
        found = ferry.availability.search(**search(back=True, vehicle={"code": CAR}))
        selections = chosen(found)
        ferry.bookings.create(
            availabilities=selections,
            passengers=[
                {
                    "type": "Adult",
                    "first_name": "Zoë",
                    "last_name": "Παπαδοπούλου",
                    "gender": "Female",
                    "age": 34,
                    "birth_date": date(1992, 2, 29),
                    "nationality": "gr",
                    "doc_type": "Passport",
                    "doc_number": "AB1234567",
                    "doc_expiration": "2031-12-31",
                    "email": "zoe@example.org",
                }
            ],
            reservation_type="TICKET",
            vehicle={
                "code": "CAR",
                "vehicule_code": CAR,
                "brand": "Abarth",
                "model": "595",
                "identification": "AB-123-CD",
            },
            contact={
                "name": "Zoë",
                "email": "zoe@example.org",
                "prefix": "+30",
                "phone": "2101234567",
            },
        )
        assert wire.body == {
            "availabilities": [ids_of(one) for one in selections],
            "passengers": [
                {
                    "order": 1,
                    "type": "Adult",
                    "first_name": "Zoë",
                    "last_name": "Παπαδοπούλου",
                    "gender": "F",
                    "age": 34,
                    "birth_date": "1992-02-29",
                    "nationality": "GR",
                    "doc_type": "Passport",
                    "doc_number": "AB1234567",
                    "doc_expiration": "2031-12-31",
                    "email": "zoe@example.org",
                }
            ],
            "reservation_type": "TICKET",
            "vehicle": {
                "code": "CAR",
                "vehicule_code": CAR,
                "brand": "Abarth",
                "model": "595",
                "identification": "AB-123-CD",
            },
            "contact": {
                "name": "Zoë",
                "email": "zoe@example.org",
                "prefix": "+30",
                "phone": "2101234567",
            },
        }
        assert "Παπαδοπούλου".encode() in wire.last.content

    def test_what_was_made_says_its_price_and_what_is_next(self, both):
        found = both.availability.search(**search())
        tariff = next(one for one in found[0].tariffs if one.type == "Ticket")
        made = booked(both)
        assert made.booking_id
        assert made.booking_reference
        assert made.stage is Stage.PAYMENT_DUE
        assert made.status == "Blocked"
        assert (made.total_price, made.currency) == (tariff.amount, "EUR")
        assert [(one.name, one.is_mandatory, one.time_limit) for one in made.next_actions()] == [
            ("Pay", True, NOW + timedelta(hours=1)),
            ("Cancel", False, found[0].depart_at),
        ]

    @pytest.mark.parametrize(
        ("kind", "wanted", "status", "held"),
        [
            ("Option", "OPTION", "Blocked", timedelta(hours=24)),
            ("Presale", "PRESALE", "pending", timedelta(days=3)),
        ],
    )
    def test_an_option_and_a_presale_are_kept_until_their_tariff_expires(
        self, wired_client, kind, wanted, status, held
    ):
        ferry, wire = wired_client
        made = booked(ferry, kind=kind, reservation_type=wanted)
        assert wire.body["reservation_type"] == wanted
        assert made.status == status
        assert ferry.bookings.get(made.booking_id).expire_at == NOW + held
        confirmed = ferry.bookings.confirm(made.booking_id)
        assert confirmed.status == "confirmed"

    def test_it_is_confirmed_by_its_id(self, wired_client):
        ferry, wire = wired_client
        made = booked(ferry)
        confirmed = ferry.bookings.confirm(made.booking_id)
        assert wire.body == {"id": made.booking_id}
        assert type(confirmed) is BookingConfirmation
        assert confirmed.booking_id == made.booking_id
        assert confirmed.status == "confirmed"
        assert confirmed.ticket_number
        assert confirmed.read_back is False
        assert ferry.tickets.get(confirmed.ticket_id).ticket_number == confirmed.ticket_number

    def test_every_field_of_a_booking_is_read(self, both):
        made = booked(both)
        before = both.bookings.get(made.booking_id)
        assert before.expire_at == NOW + timedelta(hours=1)
        assert before.payment_status is PaymentStatus.UNPAID
        both.bookings.confirm(made.booking_id)
        one = both.bookings.get(made.booking_id)
        assert type(one) is Booking
        assert (one.booking_id, one.booking_reference) == (
            made.booking_id,
            made.booking_reference,
        )
        assert one.stage is Stage.TICKETED
        assert set(one.possible_actions) == {"Cancel", "Download"}
        assert one.possible_actions["Download"].time_limit is None
        assert one.possible_actions["Cancel"].requested_items == {}
        assert one.status == "Issued"
        assert one.payment_status is PaymentStatus.PAID
        assert one.all_tickets_paid is True
        assert one.ticket_count == len(one.tickets) == 1
        assert (one.total_price, one.currency) == (made.total_price, "EUR")
        assert one.expire_at is None
        assert one.journey_details["outward"]["ticket_id"] == one.tickets[0].id
        assert one.tickets[0] == both.tickets.get(one.tickets[0].id)

    def test_every_field_of_the_pricing_is_read(self, both):
        made = booked(both)
        both.bookings.confirm(made.booking_id)
        pricing = both.bookings.get(made.booking_id).pricing
        assert pricing is not None
        assert (pricing.viewer_role, pricing.currency) == ("agency", "EUR")
        assert pricing.received.amount == made.total_price
        assert pricing.received.currency == pricing.reverse.currency == "EUR"
        assert pricing.received.from_kind
        assert pricing.received.from_label
        assert pricing.kept.total == sum(line.amount for line in pricing.kept.lines) > 0
        assert pricing.kept.lines[0].key
        assert pricing.kept.lines[0].label
        assert pricing.kept.total + pricing.reverse.amount == made.total_price
        assert pricing.reverse.to_kind
        assert pricing.reverse.to_label
        assert pricing.balance.mutated is True
        assert (pricing.balance.before, pricing.balance.after) == (made.total_price, 0)

    def test_a_round_trip_of_two_tickets(self, both):
        made = booked(both, back=True)
        both.bookings.confirm(made.booking_id)
        booking = both.bookings.get(made.booking_id)
        assert booking.ticket_count == 2
        out, back = booking.tickets
        assert (out.direction, back.direction) == (
            TicketDirection.OUTWARD,
            TicketDirection.RETURN,
        )
        assert out.availability.outward.journey.arrive_port_name == "Palermo"
        assert out.availability.return_ is None
        assert back.availability.return_.journey.arrive_port_name == "Genoa"
        assert back.availability.outward is None

    def test_a_round_trip_on_one_ticket(self, both):
        monday = {"out_at": "2026-07-13", "ret_at": "2026-07-20"}
        found = both.availability.search(**search(("CTN", "FRMRS", "TNLGN"), back=True, **monday))
        made = both.bookings.create(availabilities=chosen(found), passengers=[TRAVELLER])
        (ticket,) = both.bookings.get(made.booking_id).tickets
        assert ticket.direction is TicketDirection.ROUND_TRIP
        assert ticket.availability.outward.journey.depart_port_name == "Marseille"
        assert ticket.availability.return_.journey.arrive_port_name == "Marseille"

    @pytest.mark.parametrize("with_reference", [True, False])
    def test_it_is_cancelled_with_or_without_its_reference(self, wired_client, with_reference):
        ferry, wire = wired_client
        made = booked(ferry)
        ferry.bookings.confirm(made.booking_id)
        fee = ferry.bookings.cancel_fee(made.booking_id)
        assert wire.body == {"id": made.booking_id}
        reference = made.booking_reference if with_reference else None
        done = ferry.bookings.cancel(made.booking_id, booking_reference=reference)
        sent = {"booking_id": made.booking_id}
        if with_reference:
            sent["booking_reference"] = made.booking_reference
        assert wire.body == sent
        assert type(done) is BookingCancellation
        assert (done.booking_id, done.status) == (made.booking_id, "cancelled")
        assert done.refund_amount == fee.refund_amount
        assert type(done.refund_amount) is Decimal
        booking = ferry.bookings.get(made.booking_id)
        assert booking.stage is Stage.VOIDED
        assert booking.next_actions() == ()


class TestTicket:
    def test_every_field_of_a_ticket_is_read(self, both):
        found = both.availability.search(**search(vehicle={"code": CAR}))
        made = both.bookings.create(
            availabilities=chosen(found),
            passengers=[
                TRAVELLER
                | {
                    "birth_date": "1992-02-29",
                    "nationality": "GR",
                    "doc_type": "Passport",
                    "doc_number": "AB1234567",
                    "doc_expiration": "2031-12-31",
                }
            ],
            vehicle={"code": "CAR", "vehicule_code": CAR, "brand": "Abarth", "model": "595"},
        )
        waiting = both.bookings.get(made.booking_id).tickets[0]
        assert (waiting.ticket_number, waiting.pdf_url) == (None, None)
        assert waiting.status is TicketStatus.BLOCKED
        ticket = both.tickets.get(both.bookings.confirm(made.booking_id).ticket_id)
        assert type(ticket) is Ticket
        assert ticket.id == waiting.id
        assert ticket.status in {TicketStatus.ISSUED, TicketStatus.PENDING}
        assert ticket.direction is TicketDirection.OUTWARD
        vehicle = ticket.vehicle
        assert (vehicle.code, vehicle.vehicule_code) == ("CAR", CAR)
        assert (vehicle.brand_name, vehicle.model) == ("Abarth", "595")
        assert vehicle.type
        (traveller,) = ticket.passengers
        assert (traveller.first_name, traveller.last_name) == ("Marguerite", "Okonkwo")
        assert traveller.birth_date == date(1992, 2, 29)
        assert (traveller.nationality, traveller.doc_type) == ("GR", "Passport")
        assert traveller.doc_number == "AB1234567"
        assert traveller.doc_expiration == date(2031, 12, 31)
        journey = ticket.availability.outward.journey
        assert (journey.depart_at, journey.arrive_at) == (
            found[0].depart_at,
            found[0].arrive_at,
        )
        assert journey.duration == timedelta(minutes=journey.duration_minutes)
        assert journey.duration == found[0].travel_time
        assert (journey.depart_port_name, journey.arrive_port_name) == ("Genoa", "Palermo")
        assert ticket.qr_code.startswith("data:image/png;base64,")
        assert isinstance(ticket.boarding_time, datetime)
        assert ticket.boarding_time == journey.depart_at - timedelta(minutes=90)

    def test_a_ticket_without_a_vehicle_has_none(self, both):
        assert ticket_of(both).vehicle is None

    @pytest.mark.parametrize("with_number", [True, False])
    def test_it_is_cancelled_with_or_without_its_number(self, wired_client, with_number):
        ferry, wire = wired_client
        ticket = ticket_of(ferry)
        number = ticket.ticket_number if with_number else None
        done = ferry.tickets.cancel(ticket.id, ticket_number=number)
        sent = {"ticket_id": ticket.id}
        if with_number:
            sent["ticket_number"] = ticket.ticket_number
        assert wire.body == sent
        assert type(done) is TicketCancellation
        assert (done.ticket_id, done.status) == (ticket.id, "cancelled")
        assert done.read_back is False
        assert ferry.tickets.get(ticket.id).status is TicketStatus.CANCELED

    def test_the_fee_is_told_for_a_ticket_and_for_a_booking(self, both, ferry_sandbox):
        made = booked(both)
        free = both.bookings.cancel_fee(made.booking_id)
        assert (free.penalty_amount, free.refund_amount, free.is_free) == (0, 0, True)
        ticket_id = both.bookings.confirm(made.booking_id).ticket_id
        fee = both.tickets.cancel_fee(ticket_id)
        assert type(fee) is CancellationFee
        assert fee == both.bookings.cancel_fee(made.booking_id)
        assert fee.penalty_amount + fee.refund_amount == made.total_price
        assert type(fee.penalty_amount) is type(fee.refund_amount) is Decimal
        assert (fee.currency, fee.ticket_status) == ("EUR", "Issued")
        assert not ferry_sandbox.counters.effects_of("tickets.cancel")

    def test_the_voucher_has_an_address_once_it_is_there(self, both, ferry_sandbox):
        ticket = ticket_of(both)
        before = both.tickets.pdf(ticket.id)
        assert type(before) is Voucher
        assert before.url is None
        ferry_sandbox.clock.advance(timedelta(minutes=11))
        url = both.tickets.pdf(ticket.id).url
        assert url is not None
        assert url.startswith(f"{ferry_sandbox.base_url}/voucher/{ticket.id}/")
        assert both.tickets.get(ticket.id).pdf_url == url


class TestPayment:
    def unpaid(self, ferry):
        return ferry.bookings.get(booked(ferry).booking_id).tickets[0].id

    def test_it_carries_the_organisation_token_and_what_was_said(self, wired_client, ferry_sandbox):
        ferry, wire = wired_client
        ticket_id = self.unpaid(ferry)
        paid_at = datetime(2026, 5, 1, 11, 30, tzinfo=timezone(timedelta(hours=2)))
        done = ferry.tickets.mark_paid(
            ticket_id, external_payment_ref="pi_3Nx", psp="Stripe", paid_at=paid_at
        )
        assert wire.path == f"/api/ticket/{ticket_id}/mark-paid"
        assert wire.body == {
            "external_payment_ref": "pi_3Nx",
            "psp": "Stripe",
            "paid_at": "2026-05-01T11:30:00+02:00",
        }
        assert wire.last.headers["authorization"] == f"Bearer {ferry_sandbox.organisation_token}"
        assert type(done) is PaymentRecorded
        assert (done.ticket_id, done.payment_status) == (ticket_id, PaymentStatus.PAID)
        assert done.read_back is False

    def test_the_least_is_the_reference(self, wired_client):
        ferry, wire = wired_client
        ferry.tickets.mark_paid(self.unpaid(ferry), external_payment_ref="pi_1")
        assert wire.body == {"external_payment_ref": "pi_1"}

    def test_the_ticket_can_then_be_issued(self, both):
        made = booked(both)
        ticket_id = both.bookings.get(made.booking_id).tickets[0].id
        both.tickets.mark_paid(ticket_id, external_payment_ref="pi_1")
        booking = both.bookings.get(made.booking_id)
        assert booking.stage is Stage.ISSUANCE_DUE
        assert booking.next_actions()[0].name == "Issue"

    def test_another_token_in_its_place_is_refused(self, clients, both, ferry_sandbox):
        ticket_id = self.unpaid(both)
        shop = clients(
            ferry_sandbox.token,
            base_url=ferry_sandbox.base_url,
            organisation_token=ferry_sandbox.token,
        )
        with pytest.raises(PermissionDeniedError) as caught:
            shop.tickets.mark_paid(ticket_id, external_payment_ref="pi_1")
        assert (caught.value.status_code, caught.value.outcome) == (403, "rejected")
        assert not ferry_sandbox.counters.effects_of("tickets.mark_paid")

    @pytest.mark.parametrize("reference", ["", "  ", None, 7])
    def test_a_reference_that_says_nothing_is_refused(self, both, ferry_sandbox, reference):
        with pytest.raises(InvalidInputError) as caught:
            both.tickets.mark_paid("t1", external_payment_ref=reference)
        assert caught.value.field == "external_payment_ref"
        assert ferry_sandbox.counters.requests["tickets.mark_paid"] == 0


class TestCatalogues:
    def test_ports(self, both):
        ports = both.catalogue.ports()
        assert {type(one) for one in ports} == {Port}
        assert len(ports) > 150
        marseille = next(one for one in ports if one.code == "FRMRS")
        assert (marseille.name, marseille.country) == ("Marseille", "France")

    def test_journeys(self, both):
        journeys = both.catalogue.journeys()
        assert {type(one) for one in journeys} == {Journey}
        one = next(one for one in journeys if one.journey_id == OUT)
        assert one.route == "Genoa → Palermo"
        assert one.duration == timedelta(minutes=one.duration_minutes) > timedelta(hours=10)

    def test_departures_of_a_provider_or_of_some_journeys(self, wired_client):
        ferry, wire = wired_client
        everything = ferry.catalogue.departures("GNV")
        assert wire.body == {"provider_id": "GNV"}
        assert {type(one) for one in everything} == {Departure}
        (only,) = ferry.catalogue.departures("GNV", journey_ids=[OUT])
        assert wire.body == {"provider_id": "GNV", "__journey_id": [OUT]}
        assert only in everything
        assert only.journey_id == OUT
        assert type(only.departure_times) is tuple
        assert all(re.fullmatch(r"\d\d:\d\d", one) for one in only.departure_times)

    def test_vehicles(self, both):
        brands = both.catalogue.vehicle_brands()
        assert VehicleBrand(id="ABARTH", name="Abarth") in brands
        types = both.catalogue.vehicle_types()
        assert VehicleType(code="CAR", name="Car up to 5 m", max_length=5, max_height=1.9) in types


class TestAccess:
    def test_a_read_only_token_reads_and_changes_nothing(self, clients, both, ferry_sandbox):
        reader = clients(ferry_sandbox.read_only_token, base_url=ferry_sandbox.base_url)
        made = booked(both)
        booking = reader.bookings.get(made.booking_id)
        assert booking.pricing is None
        assert reader.tickets.get(booking.tickets[0].id).id
        assert reader.bookings.cancel_fee(made.booking_id).is_free
        selections = chosen(reader.availability.search(**search()))
        writes = (
            lambda: reader.bookings.create(availabilities=selections, passengers=[TRAVELLER]),
            lambda: reader.bookings.confirm(made.booking_id),
            lambda: reader.bookings.cancel(made.booking_id),
            lambda: reader.tickets.cancel(booking.tickets[0].id),
        )
        for write in writes:
            with pytest.raises(PermissionDeniedError):
                write()
        assert [one.operation for one in ferry_sandbox.counters.effects] == ["bookings.create"]


@pytest.mark.parametrize(
    ("language", "names"),
    [
        ("en", ("Marseille", "Piraeus", "Tunisia")),
        ("fr", ("Marseille", "Le Pirée", "Tunisie")),
        ("el", ("Marseille", "Πειραιάς", "Τυνησία")),
        ("ar", ("مرسيليا", "Piraeus", "تونس")),
    ],
)
def test_names_come_in_the_language_asked_for(both, language, names):
    ports = {one.code: one for one in both.with_options(language=language).catalogue.ports()}
    assert (ports["FRMRS"].name, ports["GRPIR"].name, ports["TNLGN"].country) == names


def test_messages_come_in_the_language_asked_for(both):
    said = set()
    for language in ("en", "fr", "it", "es", "el", "ar"):
        with pytest.raises(TicketNotFoundError) as caught:
            both.with_options(language=language).tickets.get("t1")
        assert caught.value.code == "TICKET_NOT_FOUND"
        said.add(caught.value.message)
    assert len(said) == 6


class TestIdentifiers:
    @pytest.mark.parametrize(
        ("ticket_id", "segment"),
        [
            ("a/b", "a%2Fb"),
            ("../ports", "..%2Fports"),
            ("a?b=c", "a%3Fb%3Dc"),
            ("a#b", "a%23b"),
            ("%2e%2e", "%252e%252e"),
            ("a b", "a%20b"),
            ("a\\b;c", "a%5Cb%3Bc"),
            ("é☃", "%C3%A9%E2%98%83"),
            ("a\r\nX-Evil: 1", "a%0D%0AX-Evil%3A%201"),
            ("...", "..."),
            ("~a-b_c.d", "~a-b_c.d"),
        ],
    )
    def test_odd_characters_stay_inside_one_segment(self, wired_client, ticket_id, segment):
        ferry, wire = wired_client
        with pytest.raises(Exception) as caught:  # noqa: PT011 -- 404, by the service or its router
            ferry.tickets.get(ticket_id)
        assert getattr(caught.value, "status_code", None) == 404
        assert wire.path == f"/api/ticket/{segment}"

    @pytest.mark.parametrize("bad", ["", " ", "\t", ".", "..", "\ud800", None, 7, b"t1"])
    def test_what_cannot_be_a_segment_is_refused_before_the_wire(self, wired_client, bad):
        ferry, wire = wired_client
        calls = [
            ("booking_id", ferry.bookings.get),
            ("booking_id", ferry.bookings.confirm),
            ("booking_id", ferry.bookings.cancel),
            ("id", ferry.bookings.cancel_fee),
            ("ticket_id", ferry.tickets.get),
            ("ticket_id", ferry.tickets.cancel),
            ("id", ferry.tickets.cancel_fee),
            ("ticket_id", ferry.tickets.pdf),
            ("provider_id", ferry.catalogue.departures),
        ]
        for field, call in calls:
            with pytest.raises(InvalidInputError) as caught:
                call(bad)
            assert caught.value.field == field
            assert caught.value.outcome == "not_sent"
        assert wire.requests == []

    def test_the_journeys_asked_for_are_checked_one_by_one(self, wired_client):
        ferry, wire = wired_client
        with pytest.raises(InvalidInputError) as caught:
            ferry.catalogue.departures("GNV", journey_ids=[OUT, ""])
        assert caught.value.field == "journey_ids[1]"
        with pytest.raises(InvalidInputError) as caught:
            ferry.catalogue.departures("GNV", journey_ids=OUT)
        assert caught.value.field == "journey_ids"
        assert wire.requests == []
