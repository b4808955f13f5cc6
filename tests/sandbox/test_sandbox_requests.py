"""What is accepted in a request, and the messages of what is not."""

import ast
import copy
import re
from datetime import timedelta, timezone
from pathlib import Path
from string import Formatter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from offline_service import (
    ADULT,
    GUEST,
    NOW,
    ONE_TICKET,
    TWO_TICKETS,
    OfflineService,
    departure,
    selection,
)

import ferry_sdk.sandbox
from ferry_sdk.sandbox.requests.bookings import McpNewBooking, NewBooking, Payment
from ferry_sdk.sandbox.requests.errors import LANGUAGES, RefusedError, language_of, messages, text
from ferry_sdk.sandbox.requests.searches import Search
from tests.support.tables import each

SEARCH = {
    "request": {
        "company": "CTN",
        "depart_code": "FRMRS",
        "arrive_code": "TNLGN",
        "out_journey_id": "j",
        "out_at": "2026-07-01",
        "out_time": "08:00",
    },
    "passengers": [ADULT],
}
BOOKING = {
    "availabilities": [{"availability_id": "a", "tariff_id": "t", "place_id": "p"}],
    "passengers": [
        {
            **GUEST,
            "order": 1,
            "age": 35,
            "gender": "F",
            "birth_date": "1990-05-15",
            "nationality": "fr",
            "doc_type": "Passport",
            "doc_number": "12AB34567",
            "doc_expiration": "2030-01-01",
        }
    ],
    "vehicle": {"code": "CAR", "brand": "Peugeot", "model": "208", "identification": "AB-123-CD"},
    "contact": {"name": "Ada", "email": "a@b", "prefix": "+33", "phone": "612345678"},
}
INFANT = {"order": 2, "type": "Infant", "param": "I", "gender": "Male", "age": 1}
LEAVE_OUT = object()


def change(body, path, value):
    """Return the body with one value changed or left out."""
    body = copy.deepcopy(body)
    inner = body
    for step in path[:-1]:
        inner = inner[step]
    if value is LEAVE_OUT:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return body


def problems_in(model, body):
    with pytest.raises(RefusedError) as caught:
        model.read(body)
    assert caught.value.status == 422
    return {(problem.path, problem.text) for problem in caught.value.problems}


def test_the_examples_are_valid():
    Search.read(SEARCH)
    NewBooking.read(BOOKING)
    NewBooking.read({**BOOKING, "passengers": [GUEST], "vehicle": None, "contact": None})


@each(
    ("path", "value", "field", "text"),
    [
        (("request", "company"), LEAVE_OUT, "request.company", "missing"),
        (("request", "company"), "  ", "request.company", "empty"),
        (("request", "company"), 7, "request.company", "text"),
        (("request", "company"), "x" * 201, "request.company", "too_long"),
        (("request", "company"), "\ud800", "request.company", "malformed"),
        (("request", "compny"), "CTN", "request.compny", "unknown_field"),
        (("request",), [], "request", "object"),
        (("request", "out_at"), "2026-02-30", "request.out_at", "date"),
        (("request", "out_at"), "20260701", "request.out_at", "date"),
        (("request", "out_at"), 20260701, "request.out_at", "date"),
        (("request", "out_time"), "24:00", "request.out_time", "time"),
        (("request", "out_time"), "8:00", "request.out_time", "time"),
        (("request", "out_is_open"), "yes", "request.out_is_open", "boolean"),
        (("request", "ret_at"), "2026-07-02", "request.ret_journey_id", "return_incomplete"),
        (("passengers",), [], "passengers", "empty"),
        (("passengers",), {}, "passengers", "list"),
        (("passengers",), [ADULT] * 10, "passengers", "too_many"),
        (("passengers", 0, "type"), "ADT", "passengers[0].type", "choice"),
        (("passengers", 0, "param"), "C", "passengers[0].param", "param"),
        (("passengers", 0, "gender"), "M", "passengers[0].gender", "choice"),
        (("passengers", 0, "age"), "35", "passengers[0].age", "whole_number"),
        (("passengers", 0, "age"), True, "passengers[0].age", "whole_number"),
        (("passengers", 0, "age"), 1.5, "passengers[0].age", "whole_number"),
        (("passengers", 0, "age"), -1, "passengers[0].age", "too_small"),
        (("passengers", 0, "age"), 121, "passengers[0].age", "too_great"),
        (("passengers", 0, "age"), 10**30, "passengers[0].age", "too_great"),
        (("passengers", 0, "age"), 5, "passengers[0].age", "age_of_type"),
        (("passengers", 0, "order"), 2, "passengers[0].order", "order"),
        (("passengers", 0, "order"), LEAVE_OUT, "passengers[0].order", "missing"),
        (("vehicle",), {"code": "PEUGEOT 208"}, "vehicle.code", "vehicle_form"),
    ],
)
def test_an_invalid_search_names_its_field(path, value, field, text):
    assert (field, text) in problems_in(Search, change(SEARCH, path, value))


@each(
    ("path", "value", "field", "text"),
    [
        (("availabilities",), [], "availabilities", "empty"),
        (("availabilities",), BOOKING["availabilities"] * 3, "availabilities", "too_many"),
        (
            ("availabilities",),
            BOOKING["availabilities"] * 2,
            "availabilities[1].availability_id",
            "availability_twice",
        ),
        (("availabilities", 0, "place_id"), LEAVE_OUT, "availabilities[0].place_id", "missing"),
        (("reservation_type",), "Ticket", "reservation_type", "choice"),
        (("passengers", 0, "type"), "ADT", "passengers[0].type", "choice"),
        (("passengers", 0, "first_name"), "", "passengers[0].first_name", "empty"),
        (("passengers", 0, "birthdate"), "x", "passengers[0].birthdate", "unknown_field"),
        (("passengers", 0, "gender"), "Female", "passengers[0].gender", "choice"),
        (("passengers", 0, "birth_date"), "15/05/1990", "passengers[0].birth_date", "date"),
        (("passengers", 0, "nationality"), "FRA", "passengers[0].nationality", "country"),
        (("passengers", 0, "doc_type"), "Library", "passengers[0].doc_type", "choice"),
        (("passengers", 0, "doc_type"), LEAVE_OUT, "passengers[0].doc_type", "document_incomplete"),
        (("passengers", 0, "doc_number"), "é!", "passengers[0].doc_number", "document_number"),
        (("passengers", 0, "doc_number"), None, "passengers[0].doc_number", "document_incomplete"),
        (("passengers", 0, "email"), "ada", "passengers[0].email", "email"),
        (("contact", "email"), "a@b@c", "contact.email", "email"),
        (("contact", "prefix"), "+0", "contact.prefix", "prefix"),
        (("contact", "phone"), "+33612", "contact.phone", "phone"),
        (("vehicle", "code"), LEAVE_OUT, "vehicle.code", "missing"),
    ],
)
def test_an_invalid_booking_names_its_field(path, value, field, text):
    assert (field, text) in problems_in(NewBooking, change(BOOKING, path, value))


def test_every_invalid_field_is_named():
    body = change(change(SEARCH, ("request", "out_at"), "soon"), ("passengers", 0, "age"), "x")
    found = problems_in(Search, body)
    assert found == {("request.out_at", "date"), ("passengers[0].age", "whole_number")}


def test_each_order_of_a_passenger_occurs_once():
    twice = problems_in(Search, {**SEARCH, "passengers": [ADULT, ADULT]})
    assert twice == {("passengers[1].order", "order")}
    second = {**GUEST, "order": 1}
    assert problems_in(NewBooking, {**BOOKING, "passengers": [second, {**GUEST, "order": 1}]})
    NewBooking.read({**BOOKING, "passengers": [{**GUEST, "order": 2}, second]})


def test_an_infant_needs_an_adult():
    alone = {**INFANT, "order": 1}
    assert problems_in(Search, {**SEARCH, "passengers": [alone]}) == {
        ("passengers[0].type", "infant_alone")
    }
    Search.read({**SEARCH, "passengers": [ADULT, INFANT]})


def test_a_return_is_empty_or_complete():
    empty = {"ret_journey_id": "", "ret_at": "", "ret_time": ""}
    asked = Search.read({**SEARCH, "request": {**SEARCH["request"], **empty}}).request
    assert (asked.ret_journey_id, asked.ret_at, asked.ret_time) == (None, None, None)
    early = {"ret_journey_id": "j", "ret_at": "2026-06-30", "ret_time": "08:00"}
    found = problems_in(Search, {**SEARCH, "request": {**SEARCH["request"], **early}})
    assert found == {("request.ret_at", "return_before_outward")}


def test_the_tool_has_its_own_passenger_types_and_arguments():
    guest = {**GUEST, "type": "ADT"}
    assert McpNewBooking.read({"id": "a", "passengers": [guest]}).id == "a"
    words = problems_in(McpNewBooking, {"id": "a", "passengers": [GUEST]})
    assert words == {("passengers[0].type", "choice")}
    both = {**BOOKING, "id": "a", "passengers": [guest]}
    assert problems_in(McpNewBooking, both) == {("id", "either")}
    neither = {"passengers": [guest]}
    assert problems_in(McpNewBooking, neither) == {("availabilities", "missing")}
    old = {"id": "a", "passengers": [{**guest, "age": 4}]}
    assert problems_in(McpNewBooking, old) == {("passengers[0].age", "age_of_type")}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
PATHS = [
    ("request",),
    ("passengers",),
    ("passengers", 0),
    *(("request", name) for name in SEARCH["request"]),
    *(("passengers", 0, name) for name in ADULT),
]
OFFLINE = OfflineService()


@given(path=st.sampled_from(PATHS), value=JSON)
def test_any_value_is_accepted_or_refused_with_a_message(path, value):
    error = OFFLINE.attempt("availability.search", change(SEARCH, path, value))
    if error is not None:
        assert error.status in {404, 422}
        assert error.message
        assert set(error.to_wire()) <= {"error", "code", "message", "field", "errors"}


def refuse(offline, body):
    """Create a booking that is refused, and return its invalid fields and the message."""
    error = offline.error_of("bookings.create", body)
    assert error.status == 422
    assert error.code == "BOOKING_CREATE_ERROR"
    return {one["field"] for one in error.errors}, error.message


@each("name", ["availability_id", "tariff_id", "place_id"])
def test_an_unknown_id_in_a_selection_is_named(offline, name):
    (chosen,) = offline.select()
    body = {"availabilities": [{**chosen, name: "another"}], "passengers": [GUEST]}
    fields, _ = refuse(offline, body)
    assert fields == {f"availabilities[0].{name}"}


def test_a_place_of_another_availability_is_refused(offline):
    first, second = offline.select(), offline.select(from_day=90)
    mixed = {**first[0], "place_id": second[0]["place_id"]}
    fields, _ = refuse(offline, {"availabilities": [mixed], "passengers": [GUEST]})
    assert fields == {"availabilities[0].place_id"}


def test_an_expired_tariff_is_refused(offline):
    (chosen,) = offline.select()
    offline.clock.advance(30 * 60)
    fields, message = refuse(offline, {"availabilities": [chosen], "passengers": [GUEST]})
    assert fields == {"availabilities[0].tariff_id"}
    assert "expired" in message


def test_the_passengers_must_match_the_search(offline):
    chosen = offline.select()
    child = {**GUEST, "type": "Child", "age": 8}
    for party in ([child], [GUEST, GUEST], [GUEST, child]):
        fields, message = refuse(offline, {"availabilities": chosen, "passengers": party})
        assert fields == {"passengers"}
        assert "1 Adult" in message


def test_the_vehicle_must_match_the_search(offline):
    driven, walked = offline.select(vehicle="PEUGEOT__208"), offline.select()
    body = {"passengers": [GUEST], "availabilities": driven}
    assert refuse(offline, body)[0] == {"vehicle"}
    assert refuse(offline, {**body, "vehicle": {"code": "CAMPER"}})[0] == {"vehicle.code"}
    on_foot = {**body, "availabilities": walked, "vehicle": {"code": "CAR"}}
    assert refuse(offline, on_foot)[0] == {"vehicle"}
    booking = offline.booking(
        offline.perform("bookings.create", {**body, "vehicle": {"code": "CAR"}})
    )
    assert booking["tickets"][0]["vehicle"] == {
        "code": "CAR",
        "vehicule_code": "PEUGEOT__208",
        "brand_name": "Peugeot",
        "model": "208",
        "type": "Car up to 5 m",
    }


def test_the_reservation_type_must_match_the_tariff(offline):
    body = {"availabilities": offline.select(name="OPTION"), "passengers": [GUEST]}
    assert refuse(offline, body)[0] == {"reservation_type"}
    assert offline.perform("bookings.create", {**body, "reservation_type": "OPTION"})


def test_two_availabilities_must_be_outward_and_a_later_return(offline):
    one, other = offline.select(TWO_TICKETS), offline.select(TWO_TICKETS, from_day=80)
    body = {"availabilities": [*one, *other], "passengers": [GUEST]}
    assert refuse(offline, body)[0] == {"availabilities[1].availability_id"}
    late = offline.select(TWO_TICKETS, back=3, from_day=90)[0]
    early = offline.select(TWO_TICKETS, back=3)[1]
    fields, message = refuse(offline, {**body, "availabilities": [late, early]})
    assert fields == {"availabilities[1].availability_id"}
    assert "before" in message


@each(
    ("name", "value"),
    [("birth_date", "2030-01-01"), ("birth_date", "1980-01-01"), ("doc_expiration", "2026-06-01")],
)
def test_birth_dates_and_documents_must_fit_the_crossing(offline, name, value):
    guest = {**BOOKING["passengers"][0], "birth_date": "1991-03-01", name: value}
    fields, _ = refuse(offline, {"availabilities": offline.select(), "passengers": [guest]})
    assert fields == {f"passengers[0].{name}"}


def test_a_birth_date_alone_must_fit_the_type(offline):
    guest = {**GUEST, "birth_date": "2022-01-01"}
    fields, _ = refuse(offline, {"availabilities": offline.select(), "passengers": [guest]})
    assert fields == {"passengers[0].birth_date"}


def test_a_past_sailing_cannot_be_booked(offline):
    body = {"availabilities": offline.select(), "passengers": [GUEST]}
    booking = offline.booking(offline.perform("bookings.create", body))
    offline.clock.travel_to(departure(booking))
    assert "availabilities[0].availability_id" in refuse(offline, body)[0]


@each(
    ("name", "value", "field", "status"),
    [
        ("company", "NOBODY", "request.company", 422),
        ("company", "DFDS", "request.company", 422),
        ("out_journey_id", "nowhere", "request.out_journey_id", 422),
        ("depart_code", "XXXXX", "request.depart_code", 422),
        ("arrive_code", "ITGOA", "request.out_journey_id", 422),
        ("out_at", "2026-04-30", "request.out_at", 422),
    ],
)
def test_a_search_with_unknown_names_is_refused(offline, name, value, field, status):
    offline.search()
    journey = offline.search(ONE_TICKET)[0]["journey_id"]
    request = {**SEARCH["request"], "out_journey_id": journey, name: value}
    error = offline.error_of("availability.search", request=request, passengers=[ADULT])
    assert (error.status, error.field, error.code) == (status, field, "AVAILABILITY_ERROR")
    assert error.message.startswith(f"{field}: ")


@each(("hour", "past"), [(21, False), (22, True)])
def test_a_day_is_past_by_the_time_zone_of_the_port(offline, hour, past):
    request = {**SEARCH["request"], "out_at": "2026-05-01"}
    request["out_journey_id"] = offline.search()[0]["journey_id"]
    offline.clock.travel_to(NOW.replace(hour=hour))
    error = offline.attempt("availability.search", request=request, passengers=[ADULT])
    assert (error is not None and error.field == "request.out_at") == past


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
    *("2027-03-20T10:00:00.1Z", "2027-03-20T10:00:00,123456789Z", "2027-03-20T10:00:00+01:00"),
    *("2027-03-20T10:00:00-0330", "2027-03-20T10:00:00+01", "20270320T100000Z"),
    *("20270320T100000.25+0100", "20270320T1000Z", "2028-02-29T23:59:59-00:00"),
]
UNREAD = [
    *("2027-03-20T10:00:00", "2027-03-20", "2027-03-20 10:00:00Z", "2027-02-29T10:00:00Z"),
    *("2027-13-01T10:00:00Z", "2027-03-20T24:00:00Z", "2027-03-20T10:60:00Z"),
    *("2027-03-20T23:59:60Z", "2027-03-20T10Z", "2027-0320T10:00:00Z", "2027-03-20T10:0000Z"),
    *("2027-03-20T10:00:00.Z", "2027-03-20T10:00.5Z", "2027-03-20T10:00:00+24:00"),
    *("2027-03-20T10:00:00+01:60", "2027-03-20T10:00:00+1", "2027-W11-6T10:00:00Z"),
    *("2027-079T10:00:00Z", "0000-03-20T10:00:00Z", "2027-03-20T10:00:00Z\n"),
    *("\uff12\uff10\uff12\uff17-03-20T10:00:00Z", "", 5, True),
]


def test_a_payment_accepts_every_form_of_a_time_with_an_offset_and_no_other():
    for moment in READ:
        assert Payment.read(payment(moment)).paid_at.utcoffset() is not None, moment
    for moment in UNREAD:
        assert {path for path, _ in problems_in(Payment, payment(moment))} == {"paid_at"}, moment


OFFSETS = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda each: timedelta(minutes=each))


@given(st.datetimes(timezones=OFFSETS.map(timezone)), st.booleans(), st.integers(0, 6))
def test_a_time_is_read_in_basic_and_extended_format_with_any_fraction(moment, is_basic, digits):
    day, hour = ("%Y%m%d", "%H%M%S") if is_basic else ("%Y-%m-%d", "%H:%M:%S")
    fraction = f".{moment.microsecond:06}"[: digits + 1] if digits else ""
    offset = moment.isoformat()[-6:].replace(":", "" if is_basic else ":")
    written = f"{moment.year:04}{moment.strftime(f'{day[2:]}T{hour}')}{fraction}{offset}"
    kept = moment.replace(microsecond=int(f"{fraction[1:]:0<6}"))
    read = Payment.read(payment(written))
    assert read.paid_at == kept
    assert read.paid_at.utcoffset() == kept.utcoffset()


PACKAGE = Path(ferry_sdk.sandbox.__file__).parent


def placeholders(message):
    return {name for _, name, _, _ in Formatter().parse(message) if name}


@each("language", LANGUAGES)
def test_every_language_has_the_same_messages_and_placeholders(language):
    english = messages("en")
    said = messages(language)
    assert list(said) == list(english)
    for key, message in said.items():
        assert placeholders(message) == placeholders(english[key]), key


def test_every_message_is_translated():
    for key, message in messages("en").items():
        same = [each for each in LANGUAGES[1:] if messages(each)[key] == message]
        assert not same or key == "label_commission", (key, same)


def test_greek_and_arabic_use_their_scripts():
    for key in messages("en"):
        assert re.search("[\u0370-\u03ff]", messages("el")[key]), key
        assert re.search("[\u0600-\u06ff]", messages("ar")[key]), key


def test_every_message_is_used():
    used = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                used.add(node.value)
    assert set(messages("en")) <= used


@each(
    ("header", "language"),
    [
        (None, "en"),
        ("", "en"),
        ("fr", "fr"),
        ("FR-ca", "fr"),
        ("de", "en"),
        ("de, it;q=0.4", "it"),
        ("fr;q=0.2, es;q=0.8", "es"),
        ("fr;q=0.5, es;q=0.5", "fr"),
        ("es;q=0.5, fr;q=0.5", "es"),
        ("fr;q=0, *", "en"),
        ("en;q=0, *", "fr"),
        ("*", "en"),
        ("it;q=0", "en"),
        ("el;q=nonsense, ar;q=0.1", "ar"),
        ("el;q=1.5, ar;q=0.1", "ar"),
        (" ar ; q=0.9 , en ; q=0.8 ", "ar"),
        (";;,,q=1", "en"),
    ],
)
def test_the_preferred_supported_language_is_chosen(header, language):
    assert language_of(header) == language


def test_values_fill_the_placeholders_of_a_message():
    assert text("choice", "fr", {"expected": "M, F"}).endswith(": M, F.")


@each("language", LANGUAGES)
def test_an_error_is_in_the_callers_language(language):
    error = OfflineService().error_of("bookings.get", id="nowhere", language=language)
    assert error.message == f"id: {messages(language)['booking_unknown']}"
