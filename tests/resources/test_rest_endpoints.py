"""The REST endpoints: requests and results."""

import json
import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from operator import attrgetter

import pytest

import ferry_sdk as sdk
from ferry_sdk import APIError, AvailabilityError, Direction, PaymentStatus, Stage, __version__
from ferry_sdk.models import Model
from ferry_sdk.resources.tickets import TicketsGroup
from ferry_sdk.sandbox.network.network import journey_id
from ferry_sdk.sandbox.operations import ENDPOINTS
from tests.support.samples import TICKET_PASSENGER
from tests.support.summer import CAR, NOW, TRAVELLER, booked, chosen, ids_of, search, ticket_of
from tests.support.wire import recorded

pytestmark = pytest.mark.usefixtures("summer")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
OUT = journey_id("ITGOA", "ITPMO")
MONDAYS = {"line": ("CTN", "FRMRS", "TNLGN"), "out_at": "2026-07-13", "ret_at": "2026-07-20"}
DOCUMENT = {name: value for name, value in TICKET_PASSENGER.items() if "_name" not in name} | {
    "nationality": "GR"
}
VEHICLE = {"code": "CAR", "vehicule_code": CAR, "brand": "Abarth", "model": "595"}
PATHS = [
    ("POST", "booking", 201),
    ("POST", "booking/confirm", 201),
    ("POST", "booking/cancel", 201),
    ("POST", "ticket/cancel", 201),
    ("POST", "departure", 201),
    ("POST", "journey", 201),
    ("POST", "availability", 200),
    ("POST", "booking/cancel-fee", 200),
    ("POST", "ticket/{id}/mark-paid", 200),
    ("GET", "booking/{id}", 200),
    ("GET", "ticket/{id}", 200),
    ("GET", "ticket/{id}/pdf", 200),
    ("GET", "port", 200),
    ("GET", "vehicle-brand", 200),
    ("GET", "vehicle-data", 200),
]
"""The endpoints of the interface, each with the status of a success."""


def every_endpoint(ferry):
    """Ask every endpoint once or more."""
    ferry.catalogue.ports()
    ferry.catalogue.journeys()
    ferry.catalogue.vehicle_brands()
    ferry.catalogue.vehicle_types()
    ferry.catalogue.departures("GNV")

    first = booked(ferry)
    ticket_id = ferry.bookings.get(first.booking_id).tickets[0].id
    ferry.tickets.mark_paid(ticket_id, external_payment_ref="pi_1")
    ferry.bookings.confirm(first.booking_id)
    ferry.tickets.get(ticket_id)
    ferry.tickets.pdf(ticket_id)
    ferry.tickets.cancel_fee(ticket_id)
    ferry.tickets.cancel(ticket_id)
    ferry.bookings.cancel(booked(ferry).booking_id)


def path_of(request):
    """Return the path of a request with ``{id}`` for each id."""
    return UUID.sub("{id}", request.url.raw_path.decode())


def test_every_endpoint_keeps_the_conventions(clients, ferry_sandbox):
    settings = {"language": "fr", "client_version": 3, "default_headers": {"X-Shop": "9"}}
    with recorded(clients, ferry_sandbox, **settings) as (ferry, wire):
        every_endpoint(ferry)

    asked, ids = set(), set()
    for request, response in zip(wire.requests, wire.responses, strict=True):
        path = path_of(request)
        asked.add((request.method, path, response.status_code))
        headers = request.headers
        is_payment = path.endswith("/mark-paid")
        token = ferry_sandbox.organisation_token if is_payment else ferry_sandbox.token
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

    assert asked == {(method, f"/api/{path}", status) for method, path, status in PATHS}
    assert len(ids) == len(wire.requests)


def test_the_paths_are_those_of_the_local_service():
    endpoints = {(endpoint.method, endpoint.path, endpoint.success) for endpoint in ENDPOINTS}
    assert endpoints == {(method, f"/api/{path}", status) for method, path, status in PATHS}


def test_what_is_not_set_is_not_sent(wired_client):
    ferry, wire = wired_client
    ferry.catalogue.journeys()
    assert not {"accept-language", "x-client-version"} & set(wire.last.headers)
    assert (wire.last.method, wire.last.content) == ("POST", b"")


def test_a_search_sends_what_is_required(wired_client):
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


def test_a_search_sends_every_argument(wired_client):
    ferry, wire = wired_client
    family = [
        {"type": "Infant", "gender": "M", "age": 1, "order": 3},
        {"type": "Child", "gender": "F", "age": 8},
        {"type": "Adult", "gender": "Male", "age": 40, "order": 1},
    ]
    optional = {"out_is_open": False, "ret_time": "06:30", "vehicle": {"code": CAR}}
    trip = search(back=True, passengers=family, **optional)

    sailings = ferry.availability.search(**trip)

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
    assert {sailing.direction for sailing in sailings} == {Direction.OUTWARD, Direction.RETURN}
    assert {sailing.passenger_count for sailing in sailings} == {3}


def test_a_day_without_sailings_is_an_error(both):
    with pytest.raises(AvailabilityError) as caught:
        both.availability.search(**search(out_at=date(2026, 7, 15)))
    assert (caught.value.status_code, caught.value.code) == (404, "AVAILABILITY_ERROR")


def parts(value):
    """Yield a record and all records inside it."""
    if isinstance(value, Model):
        yield value
        yield from parts(vars(value))
    elif isinstance(value, Mapping):
        yield from parts(tuple(value.values()))
    elif isinstance(value, tuple):
        for inner in value:
            yield from parts(inner)


def test_every_field_is_read(both):
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

    for part in parts((found[0], made, waiting, confirmed, ticket, booking, fee, done)):
        fields = {*type(part).model_fields} - {"country_code", "previewed", "read_back"}
        assert part.model_fields_set == fields, type(part)
        assert not part.model_extra, type(part)

    assert found[0].journey_id == journey_id("FRMRS", "TNLGN")
    assert found[0].depart_at.utcoffset() == timedelta(hours=2)
    assert waiting.expire_at == NOW + timedelta(hours=1)
    assert (booking.stage, booking.expire_at) == (Stage.TICKETED, None)
    assert booking.tickets == (ticket,)
    assert booking.pricing.received.amount == made.total_price


def test_a_booking_sends_what_is_required(wired_client):
    ferry, wire = wired_client
    sailings = ferry.availability.search(**search())
    selections = chosen(sailings)

    made = ferry.bookings.create(availabilities=selections, passengers=[TRAVELLER])

    assert wire.body == {
        "availabilities": [ids_of(selections[0])],
        "passengers": [{"order": 1, **TRAVELLER}],
    }
    assert made.booking_reference
    assert (made.stage, made.status) == (Stage.PAYMENT_DUE, "Blocked")
    assert (made.total_price, made.currency) == (selections[0].amount, "EUR")
    actions = made.next_actions()
    assert [(action.name, action.is_mandatory, action.time_limit) for action in actions] == [
        ("Pay", True, NOW + timedelta(hours=1)),
        ("Cancel", False, sailings[0].depart_at),
    ]


def test_a_booking_sends_every_argument(wired_client):
    ferry, wire = wired_client
    selections = chosen(ferry.availability.search(**search(back=True, vehicle={"code": CAR})))
    email = "zoe@example.org"
    names = {"first_name": "Zoë", "last_name": "Παπαδοπούλου", "age": 34, "email": email}
    zoe = TRAVELLER | names | DOCUMENT
    converted = {"gender": "Female", "nationality": "gr", "birth_date": date(1992, 2, 29)}
    optional = {
        "reservation_type": "TICKET",
        "vehicle": VEHICLE | {"identification": "AB-123-CD"},
        "contact": {"name": "Zoë", "email": email, "prefix": "+30", "phone": "2101234567"},
    }

    ferry.bookings.create(availabilities=selections, passengers=[zoe | converted], **optional)

    assert wire.body == {
        "availabilities": [ids_of(selection) for selection in selections],
        "passengers": [{"order": 1, "gender": "F", **zoe}],
        **optional,
    }
    assert "Παπαδοπούλου".encode() in wire.last.content


def test_a_booking_is_confirmed(wired_client):
    ferry, wire = wired_client
    made = booked(ferry)
    confirmed = ferry.bookings.confirm(made.booking_id)
    assert wire.body == {"id": made.booking_id}
    assert (confirmed.booking_id, confirmed.status) == (made.booking_id, "confirmed")
    assert confirmed.read_back is False
    assert ferry.tickets.get(confirmed.ticket_id).ticket_number == confirmed.ticket_number


WITH_REFERENCE = pytest.mark.parametrize(
    "with_reference", [True, False], ids=["reference", "no reference"]
)


@WITH_REFERENCE
def test_a_booking_is_cancelled(wired_client, with_reference):
    ferry, wire = wired_client
    made = booked(ferry)
    ferry.bookings.confirm(made.booking_id)
    fee = ferry.bookings.cancel_fee(made.booking_id)
    assert wire.body == {"id": made.booking_id}

    reference = {"booking_reference": made.booking_reference} if with_reference else {}
    done = ferry.bookings.cancel(made.booking_id, **reference)

    assert wire.body == {"booking_id": made.booking_id} | reference
    assert (done.booking_id, done.status) == (made.booking_id, "cancelled")
    assert done.refund_amount == fee.refund_amount
    booking = ferry.bookings.get(made.booking_id)
    assert (booking.stage, booking.next_actions()) == (Stage.VOIDED, ())


@WITH_REFERENCE
def test_a_ticket_is_cancelled(wired_client, with_reference):
    ferry, wire = wired_client
    ticket = ticket_of(ferry)

    reference = {"ticket_number": ticket.ticket_number} if with_reference else {}
    done = ferry.tickets.cancel(ticket.id, **reference)

    assert wire.body == {"ticket_id": ticket.id} | reference
    assert (done.ticket_id, done.status, done.read_back) == (ticket.id, "cancelled", False)
    assert ferry.tickets.get(ticket.id).status is sdk.TicketStatus.CANCELED


def test_the_fee_is_that_of_the_booking(both):
    booking_id = booked(both).booking_id
    ticket_id = both.bookings.confirm(booking_id).ticket_id
    fee = both.tickets.cancel_fee(ticket_id)
    assert fee == both.bookings.cancel_fee(booking_id)
    assert type(fee.penalty_amount) is type(fee.refund_amount) is Decimal
    assert (fee.currency, fee.ticket_status) == ("EUR", "Issued")


def test_a_payment_is_recorded(wired_client):
    ferry, wire = wired_client
    ticket_id = ferry.bookings.get(booked(ferry).booking_id).tickets[0].id
    paid_at = datetime(2026, 5, 1, 11, 30, tzinfo=timezone(timedelta(hours=2)))
    texts = {"external_payment_ref": "pi_3Nx", "psp": "Stripe"}

    done = ferry.tickets.mark_paid(ticket_id, **texts, paid_at=paid_at)

    assert wire.body == texts | {"paid_at": "2026-05-01T11:30:00+02:00"}
    assert (done.ticket_id, done.payment_status) == (ticket_id, PaymentStatus.PAID)
    assert done.read_back is False


def test_departures_are_those_of_the_journeys(wired_client):
    ferry, wire = wired_client
    everything = ferry.catalogue.departures("GNV")
    assert wire.body == {"provider_id": "GNV"}
    (only,) = ferry.catalogue.departures("GNV", journey_ids=[OUT])
    assert wire.body == {"provider_id": "GNV", "__journey_id": [OUT]}
    assert only in everything
    assert only.journey_id == OUT


def test_departures_have_times_of_day(both):
    (departure,) = both.catalogue.departures("GNV", journey_ids=[OUT])
    assert type(departure.departure_times) is tuple
    assert all(re.fullmatch(r"\d\d:\d\d", text) for text in departure.departure_times)


def test_the_records_of_the_catalogues(both):
    marseille = sdk.Port(code="FRMRS", name="Marseille", country="France")
    assert marseille in both.catalogue.ports()
    assert sdk.VehicleBrand(id="ABARTH", name="Abarth") in both.catalogue.vehicle_brands()
    car = sdk.VehicleType(code="CAR", name="Car up to 5 m", max_length=5, max_height=1.9)
    assert car in both.catalogue.vehicle_types()

    journeys = {journey.journey_id: journey for journey in both.catalogue.journeys()}
    journey = journeys[OUT]
    assert journey.route == "Genoa → Palermo"
    assert journey.duration == timedelta(minutes=journey.duration_minutes) > timedelta(hours=10)


def test_a_voucher_has_an_address_later(both, ferry_sandbox):
    ticket = ticket_of(both)
    assert both.tickets.pdf(ticket.id).url is None
    ferry_sandbox.clock.advance(timedelta(minutes=11))
    url = both.tickets.pdf(ticket.id).url
    assert url.startswith(f"{ferry_sandbox.base_url}/voucher/{ticket.id}/")
    assert both.tickets.get(ticket.id).pdf_url == url


@pytest.mark.parametrize(
    ("ticket_id", "segment"),
    [
        ("a/b", "a%2Fb"),
        ("../ports", "..%2Fports"),
        ("a?b=c", "a%3Fb%3Dc"),
        ("a#b", "a%23b"),
        ("%2e%2e", "%252e%252e"),
        ("a%2fb", "a%252fb"),
        ("a b", "a%20b"),
        ("...", "..."),
        ("a\\b;c", "a%5Cb%3Bc"),
        ("é☃", "%C3%A9%E2%98%83"),
        ("~a-b_c.d", "~a-b_c.d"),
        ("a\r\nX-Evil: 1", "a%0D%0AX-Evil%3A%201"),
    ],
)
def test_an_id_stays_inside_one_segment(ticket_id, segment):
    assert TicketsGroup.get(None, ticket_id).call.path == f"ticket/{segment}"


UNKNOWN_IDS = [
    ("tickets.get", {}),
    ("tickets.pdf", {}),
    ("tickets.read_pdf", {}),
    ("tickets.cancel", {}),
    ("tickets.mark_paid", {"external_payment_ref": "pi_1"}),
    ("tickets.wait_pdf", {"deadline": 5}),
    ("tickets.save_pdf", {"path": "ticket.pdf"}),
    ("bookings.get", {}),
    ("bookings.cancel", {}),
    ("bookings.wait", {"until": "ticketed", "deadline": 5}),
    ("bookings.confirm", {"expect_total": 1, "currency": "EUR"}),
]


@pytest.mark.parametrize(
    ("method", "arguments"), UNKNOWN_IDS, ids=[method for method, _ in UNKNOWN_IDS]
)
def test_an_unknown_id_is_named_as_the_argument(both, tmp_path, monkeypatch, method, arguments):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(APIError) as refused:
        attrgetter(method)(both)("none", **arguments)
    assert refused.value.field == ("ticket_id" if method.startswith("tickets") else "booking_id")


def store(ferry, kind="Ticket"):
    """Return an offer as JSON that one web request stores, and another books."""
    selections = chosen(ferry.availability.search(**search()), kind)
    return json.dumps([selection.model_dump(mode="json") for selection in selections])


@pytest.mark.parametrize("kind", ["Presale", "Option", "Ticket"])
def test_a_stored_offer_is_booked_at_its_price(both, kind):
    stored = json.loads(store(both, kind))
    booking = both.bookings.create(availabilities=stored, passengers=[TRAVELLER])
    assert booking.total_price == sdk.Selection.model_validate(stored[0]).amount


def test_an_expired_offer_is_not_sent(both, ferry_sandbox):
    stored = json.loads(store(both))
    ferry_sandbox.clock.advance(timedelta(days=7))
    both.catalogue.ports()  # its reply has the date
    with pytest.raises(sdk.InvalidInputError, match="expired"):
        both.bookings.create(availabilities=stored, passengers=[TRAVELLER])
    assert not ferry_sandbox.counters.requests["bookings.create"]
