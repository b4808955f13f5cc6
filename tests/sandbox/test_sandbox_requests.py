"""What is accepted in a request, and the messages of what is not."""

import ast
import copy
import re
from datetime import date
from pathlib import Path
from string import Formatter

import pytest
from offline_service import (
    ADULT,
    GUEST,
    NOW,
    ONE_TICKET,
    TWO_TICKETS,
    OfflineService,
    departure,
    search_request,
    selection,
)

import ferry_sdk.sandbox
from ferry_sdk.sandbox.requests.bookings import McpNewBooking, NewBooking, Payment
from ferry_sdk.sandbox.requests.errors import LANGUAGES, RefusedError, language_of, messages, text
from ferry_sdk.sandbox.requests.searches import Search
from tests.support.tables import each

SEARCH = {"request": search_request(ONE_TICKET, date(2026, 7, 1)), "passengers": [ADULT]}
PASSENGER = {**GUEST, "order": 1, "age": 35, "gender": "F", "birth_date": "1990-05-15"}
PASSENGER |= {"nationality": "fr", "doc_type": "Passport", "doc_number": "12AB34567"}
PASSENGER |= {"doc_expiration": "2030-01-01"}
BOOKING = {
    "availabilities": [{"availability_id": "a", "tariff_id": "t", "place_id": "p"}],
    "passengers": [PASSENGER],
    "vehicle": {"code": "CAR", "brand": "Peugeot", "model": "208", "identification": "AB-123-CD"},
    "contact": {"name": "Ada", "email": "a@b", "prefix": "+33", "phone": "612345678"},
}
INFANT = {"order": 2, "type": "Infant", "param": "I", "gender": "Male", "age": 1}
LEAVE_OUT = object()


def change(body, path, value):
    """Return the body with one value changed or left out, as in `passengers[0].age`."""
    body = copy.deepcopy(body)
    *way, last = (int(step) if step.isdigit() else step for step in re.findall(r"\w+", path))
    inner = body
    for step in way:
        inner = inner[step]
    if value is LEAVE_OUT:
        del inner[last]
    else:
        inner[last] = value
    return body


def problems_in(model, body):
    with pytest.raises(RefusedError) as caught:
        model.read(body)
    assert caught.value.status == 422
    return {(problem.path, problem.text) for problem in caught.value.problems}


def test_valid_requests_are_read_and_the_tool_has_its_own_passenger_types_and_arguments():
    Search.read(SEARCH)
    Search.read({**SEARCH, "passengers": [ADULT, INFANT]})
    NewBooking.read(BOOKING)
    NewBooking.read({**BOOKING, "passengers": [GUEST], "vehicle": None, "contact": None})
    # A return can be empty, and passengers in any order.
    empty = {"ret_journey_id": "", "ret_at": "", "ret_time": ""}
    asked = Search.read({**SEARCH, "request": {**SEARCH["request"], **empty}}).request
    assert (asked.ret_journey_id, asked.ret_at, asked.ret_time) == (None, None, None)
    party = [{**GUEST, "order": 2}, {**GUEST, "order": 1}]
    assert NewBooking.read({**BOOKING, "passengers": party})
    guest = {**GUEST, "type": "ADT"}
    assert McpNewBooking.read({"id": "a", "passengers": [guest]}).id == "a"
    for body, path, words in (
        ({"id": "a", "passengers": [GUEST]}, "passengers[0].type", "choice"),
        ({**BOOKING, "id": "a", "passengers": [guest]}, "id", "either"),
        ({"passengers": [guest]}, "availabilities", "missing"),
        ({"id": "a", "passengers": [{**guest, "age": 4}]}, "passengers[0].age", "age_of_type"),
    ):
        assert problems_in(McpNewBooking, body) == {(path, words)}


def test_every_invalid_field_of_a_search_or_a_booking_is_named():
    company = [(LEAVE_OUT, "missing"), ("  ", "empty"), (7, "text"), ("x" * 201, "too_long")]
    age = {"35": "whole_number", True: "whole_number", 1.5: "whole_number", -1: "too_small"}
    age |= {121: "too_great", 10**30: "too_great", 5: "age_of_type"}
    for path, values in {
        "request.company": [*company, ("\ud800", "malformed")],
        "request.compny": [("CTN", "unknown_field")],
        "request": [([], "object")],
        "request.out_at": [(day, "date") for day in ("2026-02-30", "20260701", 20260701)],
        "request.out_time": [("24:00", "time"), ("8:00", "time")],
        "request.out_is_open": [("yes", "boolean")],
        "passengers": [([], "empty"), ({}, "list"), ([ADULT] * 10, "too_many")],
        "passengers[0].type": [("ADT", "choice")],
        "passengers[0].param": [("C", "param")],
        "passengers[0].gender": [("M", "choice")],
        "passengers[0].age": age.items(),
        "passengers[0].order": [(2, "order"), (LEAVE_OUT, "missing")],
        "vehicle.code": [("PEUGEOT 208", "vehicle_form")],
    }.items():
        for value, words in values:
            body = change({**SEARCH, "vehicle": {"code": "FIAT__500"}}, path, value)
            assert (path, words) in problems_in(Search, body), (path, value)
    chosen, guest = BOOKING["availabilities"], "passengers[0]"
    for path, value, words in (
        *(("availabilities", [], "empty"), ("availabilities", chosen * 3, "too_many")),
        *((x, LEAVE_OUT, "missing") for x in ("availabilities[0].place_id", "vehicle.code")),
        *(("reservation_type", "Ticket", "choice"), (f"{guest}.type", "ADT", "choice")),
        *((f"{guest}.first_name", "", "empty"), (f"{guest}.birthdate", "x", "unknown_field")),
        *((f"{guest}.gender", "Female", "choice"), (f"{guest}.birth_date", "15/05/1990", "date")),
        *((f"{guest}.nationality", "FRA", "country"), (f"{guest}.doc_type", "Library", "choice")),
        (f"{guest}.doc_type", LEAVE_OUT, "document_incomplete"),
        (f"{guest}.doc_number", None, "document_incomplete"),
        *((f"{guest}.doc_number", "é!", "document_number"), (f"{guest}.email", "ada", "email")),
        *(("contact.email", "a@b@c", "email"), ("contact.prefix", "+0", "prefix")),
        ("contact.phone", "+33612", "phone"),
    ):
        assert (path, words) in problems_in(NewBooking, change(BOOKING, path, value)), path
    late = {"ret_journey_id": "j", "ret_at": "2026-06-30", "ret_time": "08:00"}
    soon = change(change(SEARCH, "request.out_at", "soon"), "passengers[0].age", "x")
    lone = [(f"request.{one}", "return_incomplete") for one in ("ret_journey_id", "ret_time")]
    alone, before = INFANT | {"order": 1}, "return_before_outward"
    twice, second = BOOKING["availabilities"] * 2, "availabilities[1].availability_id"
    for model, body, *problems in (
        (Search, soon, ("request.out_at", "date"), ("passengers[0].age", "whole_number")),
        (Search, change(SEARCH, "request.ret_at", "2026-07-02"), *lone),
        (Search, change(SEARCH, "request", SEARCH["request"] | late), ("request.ret_at", before)),
        (Search, SEARCH | {"passengers": [alone]}, ("passengers[0].type", "infant_alone")),
        (Search, SEARCH | {"passengers": [ADULT, ADULT]}, ("passengers[1].order", "order")),
        (NewBooking, BOOKING | {"passengers": [PASSENGER] * 2}, ("passengers[1].order", "order")),
        (NewBooking, BOOKING | {"availabilities": twice}, (second, "availability_twice")),
    ):
        assert problems_in(model, body) == {*problems}


def refuse(offline, body):
    """Create a booking that is refused, and return its invalid fields and the message."""
    error = offline.error_of("bookings.create", body)
    assert error.status == 422
    assert error.code == "BOOKING_CREATE_ERROR"
    return {one["field"] for one in error.errors}, error.message


def test_ids_of_a_selection_must_belong_together_be_known_and_not_have_expired(offline):
    (chosen,), (other,) = offline.select(), offline.select(from_day=90)
    body = {"availabilities": [chosen], "passengers": [GUEST]}
    wrong = [(name, "another") for name in ("availability_id", "tariff_id", "place_id")]
    for name, value in (*wrong, ("place_id", other["place_id"])):
        mixed = change(body, f"availabilities[0].{name}", value)
        assert refuse(offline, mixed)[0] == {f"availabilities[0].{name}"}
    booking = offline.booking(offline.perform("bookings.create", body))
    offline.clock.advance(30 * 60)
    fields, message = refuse(offline, body)
    assert fields == {"availabilities[0].tariff_id"}
    assert "expired" in message
    offline.clock.travel_to(departure(booking))
    assert "availabilities[0].availability_id" in refuse(offline, body)[0]


def test_passengers_vehicle_and_reservation_type_must_match_the_search(offline):
    chosen = offline.select()
    child = {**GUEST, "type": "Child", "age": 8}
    for party in ([child], [GUEST, GUEST], [GUEST, child]):
        fields, message = refuse(offline, {"availabilities": chosen, "passengers": party})
        assert fields == {"passengers"}
        assert "1 Adult" in message
    option = {"availabilities": offline.select(name="OPTION"), "passengers": [GUEST]}
    assert refuse(offline, option)[0] == {"reservation_type"}
    assert offline.perform("bookings.create", {**option, "reservation_type": "OPTION"})
    driven = {"availabilities": offline.select(vehicle="PEUGEOT__208"), "passengers": [GUEST]}
    car = {"vehicle": {"code": "CAR"}}
    on_foot = {"availabilities": chosen, "passengers": [GUEST], **car}
    assert refuse(offline, driven)[0] == refuse(offline, on_foot)[0] == {"vehicle"}
    assert refuse(offline, {**driven, "vehicle": {"code": "CAMPER"}})[0] == {"vehicle.code"}
    (ticket,) = offline.tickets(offline.perform("bookings.create", driven | car))
    assert ticket["vehicle"] == car["vehicle"] | {
        "vehicule_code": "PEUGEOT__208",
        "brand_name": "Peugeot",
        "model": "208",
        "type": "Car up to 5 m",
    }


def test_sailings_birth_dates_and_documents_must_fit_the_crossing_and_the_type(offline):
    one, other = offline.select(TWO_TICKETS), offline.select(TWO_TICKETS, from_day=80)
    body = {"availabilities": [*one, *other], "passengers": [GUEST]}
    assert refuse(offline, body)[0] == {"availabilities[1].availability_id"}
    late = offline.select(TWO_TICKETS, back=3, from_day=90)[0]
    early = offline.select(TWO_TICKETS, back=3)[1]
    fields, message = refuse(offline, {**body, "availabilities": [late, early]})
    assert fields == {"availabilities[1].availability_id"}
    assert "before" in message
    traveller = {**PASSENGER, "birth_date": "1991-03-01"}
    chosen = offline.select()
    for guest, name, values in (
        (traveller, "birth_date", ("2030-01-01", "1980-01-01")),
        (traveller, "doc_expiration", ("2026-06-01",)),
        (GUEST, "birth_date", ("2022-01-01",)),
    ):
        for value in values:
            body = {"availabilities": chosen, "passengers": [{**guest, name: value}]}
            assert refuse(offline, body)[0] == {f"passengers[0].{name}"}, value


def test_a_search_with_unknown_names_or_a_day_past_at_the_port_is_refused(offline):
    for field, value in (("request.company", "NOBODY"), ("request.out_at", "2026-04-30")):
        error = offline.error_of("availability.search", change(SEARCH, field, value))
        assert (error.status, error.field, error.code) == (422, field, "AVAILABILITY_ERROR")
        assert error.message.startswith(f"{field}: ")
    today = change(SEARCH, "request.out_at", "2026-05-01")
    for hour, past in ((21, False), (22, True)):
        offline.clock.travel_to(NOW.replace(hour=hour))
        error = offline.attempt("availability.search", today)
        assert (error is not None and error.field == "request.out_at") == past, hour


def test_the_tool_books_the_cheapest_tariff_and_place_by_id(offline):
    (availability, *_) = offline.search()
    guest = {**GUEST, "type": "ADT"}
    body = {"id": availability["id"], "passengers": [guest]}
    created = offline.perform("mcp.create_booking", body, protocol="mcp")
    tickets = [one["amount"] for one in availability["tariffs"] if one["type"] == "Ticket"]
    assert created["total_price"] == min(tickets)
    assert offline.counters.effects_of("bookings.create")
    error = offline.error_of("mcp.create_booking", {**body, "id": "x"}, protocol="mcp")
    assert (error.field, error.code) == ("id", "BOOKING_CREATE_ERROR")
    chosen = [selection(availability, "OPTION")]
    option = {"availabilities": chosen, "passengers": [guest], "reservation_type": "OPTION"}
    assert offline.perform("mcp.create_booking", option, protocol="mcp")["stage"] == "payment_due"


def payment(moment):
    return {"id": "T", "external_payment_ref": "P", "paid_at": moment}


READ = [
    *("2027-03-20T10:00:00Z", "2027-03-20t10:00:00z", "2027-03-20T10:00Z"),
    *("2027-03-20T10:00:00.1Z", "2027-03-20T10:00:00.123456789Z", "2027-03-20T10:00:00+01:00"),
    *("2028-02-29T23:59:59-00:00", "2027-03-20T10:00:00-0330", "2027-03-20T10:00:00,5Z"),
]
UNREAD = [
    *("2027-03-20T10:00:00", "2027-03-20", "2027-03-20 10:00:00Z", "2027-02-29T10:00:00Z"),
    *("2027-13-01T10:00:00Z", "2027-03-20T24:00:00Z", "2027-03-20T10:60:00Z", "20270320T100000Z"),
    *("2027-03-20T23:59:60Z", "2027-03-20T10Z", "2027-03-20T10:00:00+24:00", "", 5, True),
    *("0000-03-20T10:00:00Z", "2027-03-20T10:00:00Z\n", "\uff12\uff10\uff12\uff17-03-20T10:00:00Z"),
]


def test_a_payment_accepts_every_form_of_a_time_with_an_offset_and_no_other():
    for moment in READ:
        assert Payment.read(payment(moment)).paid_at.utcoffset() is not None, moment
    for moment in UNREAD:
        assert {path for path, _ in problems_in(Payment, payment(moment))} == {"paid_at"}, moment


@each("language", LANGUAGES)
def test_every_language_has_the_same_messages_and_placeholders(language):
    def placeholders(message):
        return {name for _, name, _, _ in Formatter().parse(message) if name}

    english, said = messages("en"), messages(language)
    assert list(said) == list(english)
    scripts = {"el": "[\u0370-\u03ff]", "ar": "[\u0600-\u06ff]"}
    for key, message in said.items():
        assert placeholders(message) == placeholders(english[key]), key
        assert re.search(scripts.get(language, ""), message), key
        assert language == "en" or key == "label_commission" or message != english[key], key
    error = OfflineService().error_of("bookings.get", id="nowhere", language=language)
    assert error.message == f"id: {said['booking_unknown']}"


def test_every_message_is_used_in_the_preferred_language_with_its_values():
    used = {
        node.value
        for path in Path(ferry_sdk.sandbox.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert set(messages("en")) <= used
    for language, headers in {
        "en": (None, "", "de", "*", ";;,,q=1"),
        "fr": ("fr", "FR-ca", "fr;q=0.8, es;q=0.5"),
        "it": ("de, it;q=0.4",),
        "ar": (" ar ; q=0.9 , en ; q=0.8 ",),
    }.items():
        for header in headers:
            assert (header, language_of(header)) == (header, language)
    assert text("choice", "fr", {"expected": "M, F"}).endswith(": M, F.")
