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
    departure,
    search_request,
    selection,
)

import ferry_sdk.sandbox
from ferry_sdk.sandbox.requests.bookings import McpNewBooking, NewBooking, Payment
from ferry_sdk.sandbox.requests.errors import LANGUAGES, RefusedError, language_of, messages, text
from ferry_sdk.sandbox.requests.searches import Search

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
    *steps, last = (int(step) if step.isdigit() else step for step in re.findall(r"\w+", path))
    inner = body
    for step in steps:
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


# Searches


def test_complete_search_is_read():
    assert Search.read(SEARCH)


def test_search_with_an_infant_is_read():
    assert Search.read({**SEARCH, "passengers": [ADULT, INFANT]})


def test_return_of_a_search_can_be_empty():
    empty = {"ret_journey_id": "", "ret_at": "", "ret_time": ""}
    request = Search.read({**SEARCH, "request": {**SEARCH["request"], **empty}}).request
    assert (request.ret_journey_id, request.ret_at, request.ret_time) == (None, None, None)


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        pytest.param("request.company", LEAVE_OUT, "missing", id="no-company"),
        ("request.company", "  ", "empty"),
        ("request.company", 7, "text"),
        pytest.param("request.company", "x" * 201, "too_long", id="long-text"),
        pytest.param("request.company", "\ud800", "malformed", id="half-a-surrogate-pair"),
        ("request.compny", "CTN", "unknown_field"),
        pytest.param("request", [], "object", id="list-as-request"),
        ("request.out_at", "2026-02-30", "date"),
        pytest.param("request.out_at", "20260701", "date", id="date-without-hyphens"),
        pytest.param("request.out_at", 20260701, "date", id="date-as-a-number"),
        ("request.out_time", "24:00", "time"),
        ("request.out_time", "8:00", "time"),
        ("request.out_is_open", "yes", "boolean"),
        pytest.param("passengers", [], "empty", id="no-passenger"),
        pytest.param("passengers", {}, "list", id="object-as-passengers"),
        pytest.param("passengers", [ADULT] * 10, "too_many", id="ten-passengers"),
        ("passengers[0].type", "ADT", "choice"),
        ("passengers[0].param", "C", "param"),
        ("passengers[0].gender", "M", "choice"),
        ("passengers[0].age", "35", "whole_number"),
        ("passengers[0].age", True, "whole_number"),
        ("passengers[0].age", 1.5, "whole_number"),
        ("passengers[0].age", -1, "too_small"),
        ("passengers[0].age", 121, "too_great"),
        pytest.param("passengers[0].age", 10**30, "too_great", id="huge-age"),
        ("passengers[0].age", 5, "age_of_type"),
        ("passengers[0].order", 2, "order"),
        pytest.param("passengers[0].order", LEAVE_OUT, "missing", id="no-order"),
        ("vehicle.code", "PEUGEOT 208", "vehicle_form"),
    ],
)
def test_invalid_field_of_a_search_is_named(path, value, problem):
    body = change({**SEARCH, "vehicle": {"code": "FIAT__500"}}, path, value)
    assert (path, problem) in problems_in(Search, body)


def test_every_invalid_field_is_named_at_once():
    body = change(change(SEARCH, "request.out_at", "soon"), "passengers[0].age", "x")
    assert problems_in(Search, body) == {
        ("request.out_at", "date"),
        ("passengers[0].age", "whole_number"),
    }


EARLY_RETURN = {"ret_journey_id": "j", "ret_at": "2026-06-30", "ret_time": "08:00"}


@pytest.mark.parametrize(
    ("path", "value", "problems"),
    [
        pytest.param(
            "request.ret_at",
            "2026-07-02",
            {
                ("request.ret_journey_id", "return_incomplete"),
                ("request.ret_time", "return_incomplete"),
            },
            id="incomplete-return",
        ),
        pytest.param(
            "request",
            {**SEARCH["request"], **EARLY_RETURN},
            {("request.ret_at", "return_before_outward")},
            id="early-return",
        ),
        pytest.param(
            "passengers",
            [{**INFANT, "order": 1}],
            {("passengers[0].type", "infant_alone")},
            id="infant-alone",
        ),
        pytest.param(
            "passengers",
            [ADULT, ADULT],
            {("passengers[1].order", "order")},
            id="same-order-twice",
        ),
    ],
)
def test_fields_of_a_search_must_fit_together(path, value, problems):
    assert problems_in(Search, change(SEARCH, path, value)) == problems


# Bookings


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, id="complete"),
        pytest.param({"passengers": [GUEST], "vehicle": None, "contact": None}, id="least"),
        pytest.param(
            {"passengers": [{**GUEST, "order": 2}, {**GUEST, "order": 1}]}, id="any-order"
        ),
    ],
)
def test_valid_booking_is_read(changes):
    assert NewBooking.read({**BOOKING, **changes})


SELECTIONS = BOOKING["availabilities"]


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        pytest.param("availabilities", [], "empty", id="no-availability"),
        pytest.param("availabilities", SELECTIONS * 3, "too_many", id="three-availabilities"),
        pytest.param("availabilities[0].place_id", LEAVE_OUT, "missing", id="no-place"),
        pytest.param("vehicle.code", LEAVE_OUT, "missing", id="no-vehicle-code"),
        ("reservation_type", "Ticket", "choice"),
        ("passengers[0].type", "ADT", "choice"),
        ("passengers[0].first_name", "", "empty"),
        ("passengers[0].birthdate", "x", "unknown_field"),
        ("passengers[0].gender", "Female", "choice"),
        ("passengers[0].birth_date", "15/05/1990", "date"),
        ("passengers[0].nationality", "FRA", "country"),
        ("passengers[0].doc_type", "Library", "choice"),
        pytest.param(
            "passengers[0].doc_type", LEAVE_OUT, "document_incomplete", id="document-without-a-type"
        ),
        ("passengers[0].doc_number", None, "document_incomplete"),
        ("passengers[0].doc_number", "é!", "document_number"),
        ("passengers[0].email", "ada", "email"),
        ("contact.email", "a@b@c", "email"),
        ("contact.prefix", "+0", "prefix"),
        ("contact.phone", "+33612", "phone"),
    ],
)
def test_invalid_field_of_a_booking_is_named(path, value, problem):
    assert (path, problem) in problems_in(NewBooking, change(BOOKING, path, value))


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        pytest.param(
            "passengers",
            [PASSENGER, PASSENGER],
            ("passengers[1].order", "order"),
            id="same-order-twice",
        ),
        pytest.param(
            "availabilities",
            SELECTIONS * 2,
            ("availabilities[1].availability_id", "availability_twice"),
            id="same-availability-twice",
        ),
    ],
)
def test_fields_of_a_booking_must_fit_together(path, value, problem):
    assert problems_in(NewBooking, change(BOOKING, path, value)) == {problem}


# The tool that creates a booking

TOOL_GUEST = {**GUEST, "type": "ADT"}


def test_tool_takes_the_id_of_an_availability():
    assert McpNewBooking.read({"id": "a", "passengers": [TOOL_GUEST]}).id == "a"


@pytest.mark.parametrize(
    ("body", "path", "problem"),
    [
        pytest.param(
            {"id": "a", "passengers": [GUEST]}, "passengers[0].type", "choice", id="type-of-rest"
        ),
        pytest.param(
            {**BOOKING, "id": "a", "passengers": [TOOL_GUEST]}, "id", "either", id="both-ids"
        ),
        pytest.param({"passengers": [TOOL_GUEST]}, "availabilities", "missing", id="no-ids"),
        pytest.param(
            {"id": "a", "passengers": [{**TOOL_GUEST, "age": 4}]},
            "passengers[0].age",
            "age_of_type",
            id="age-of-another-type",
        ),
    ],
)
def test_tool_names_its_invalid_field(body, path, problem):
    assert problems_in(McpNewBooking, body) == {(path, problem)}


# Bookings that do not fit their search


def refuse(offline, body):
    """Create a booking that is refused, and return its invalid fields and the message."""
    error = offline.error_of("bookings.create", body)
    assert error.status == 422
    assert error.code == "BOOKING_CREATE_ERROR"
    return {each["field"] for each in error.errors}, error.message


@pytest.mark.parametrize("name", ["availability_id", "tariff_id", "place_id"])
def test_unknown_id_of_a_selection_is_named(offline, name):
    body = {"availabilities": offline.select(), "passengers": [GUEST]}
    body = change(body, f"availabilities[0].{name}", "another")
    assert refuse(offline, body)[0] == {f"availabilities[0].{name}"}


def test_place_of_another_availability_is_named(offline):
    (selected,) = offline.select()
    (other,) = offline.select(from_day=90)
    body = {
        "availabilities": [{**selected, "place_id": other["place_id"]}],
        "passengers": [GUEST],
    }
    assert refuse(offline, body)[0] == {"availabilities[0].place_id"}


def test_expired_tariff_is_refused(offline):
    body = {"availabilities": offline.select(), "passengers": [GUEST]}
    offline.clock.advance(30 * 60)
    fields, message = refuse(offline, body)
    assert fields == {"availabilities[0].tariff_id"}
    assert "expired" in message


def test_sailing_that_has_departed_is_refused(offline):
    body = {"availabilities": offline.select(), "passengers": [GUEST]}
    booking = offline.booking(offline.perform("bookings.create", body))
    offline.clock.travel_to(departure(booking))
    assert "availabilities[0].availability_id" in refuse(offline, body)[0]


CHILD_GUEST = {**GUEST, "type": "Child", "age": 8}


@pytest.mark.parametrize(
    "party",
    [
        pytest.param([CHILD_GUEST], id="another-type"),
        pytest.param([GUEST, GUEST], id="more-adults"),
        pytest.param([GUEST, CHILD_GUEST], id="one-more-child"),
    ],
)
def test_party_that_was_not_searched_is_refused(offline, party):
    fields, message = refuse(offline, {"availabilities": offline.select(), "passengers": party})
    assert fields == {"passengers"}
    assert "1 Adult" in message


def test_reservation_type_must_be_that_of_the_tariff(offline):
    option = {"availabilities": offline.select(name="OPTION"), "passengers": [GUEST]}
    assert refuse(offline, option)[0] == {"reservation_type"}
    assert offline.perform("bookings.create", {**option, "reservation_type": "OPTION"})


@pytest.mark.parametrize(
    ("searched", "booked", "field"),
    [
        pytest.param("PEUGEOT__208", {}, "vehicle", id="missing"),
        pytest.param(None, {"vehicle": {"code": "CAR"}}, "vehicle", id="not-searched"),
        pytest.param(
            "PEUGEOT__208", {"vehicle": {"code": "CAMPER"}}, "vehicle.code", id="another-type"
        ),
    ],
)
def test_vehicle_must_be_the_searched_one(offline, searched, booked, field):
    selections = offline.select(vehicle=searched)
    body = {"availabilities": selections, "passengers": [GUEST], **booked}
    assert refuse(offline, body)[0] == {field}


def test_ticket_has_the_searched_vehicle(offline):
    body = {
        "availabilities": offline.select(vehicle="PEUGEOT__208"),
        "passengers": [GUEST],
        "vehicle": {"code": "CAR"},
    }
    (ticket,) = offline.tickets(offline.perform("bookings.create", body))
    assert ticket["vehicle"] == {
        "code": "CAR",
        "vehicule_code": "PEUGEOT__208",
        "brand_name": "Peugeot",
        "model": "208",
        "type": "Car up to 5 m",
    }


def test_two_ways_out_are_refused(offline):
    (first,) = offline.select(TWO_TICKETS)
    (second,) = offline.select(TWO_TICKETS, from_day=80)
    body = {"availabilities": [first, second], "passengers": [GUEST]}
    assert refuse(offline, body)[0] == {"availabilities[1].availability_id"}


def test_return_before_the_way_out_is_refused(offline):
    late_way_out, _ = offline.select(TWO_TICKETS, back=3, from_day=90)
    _, early_return = offline.select(TWO_TICKETS, back=3)
    body = {"availabilities": [late_way_out, early_return], "passengers": [GUEST]}
    fields, message = refuse(offline, body)
    assert fields == {"availabilities[1].availability_id"}
    assert "before" in message


AGED_TRAVELLER = {**PASSENGER, "birth_date": "1991-03-01"}


@pytest.mark.parametrize(
    ("passenger", "name", "value"),
    [
        pytest.param(AGED_TRAVELLER, "birth_date", "2030-01-01", id="birth-in-the-future"),
        pytest.param(AGED_TRAVELLER, "birth_date", "1980-01-01", id="birth-against-the-age"),
        pytest.param(GUEST, "birth_date", "2022-01-01", id="birth-against-the-type"),
        pytest.param(AGED_TRAVELLER, "doc_expiration", "2026-06-01", id="expired-document"),
    ],
)
def test_passenger_must_fit_the_crossing(offline, passenger, name, value):
    body = {"availabilities": offline.select(), "passengers": [{**passenger, name: value}]}
    assert refuse(offline, body)[0] == {f"passengers[0].{name}"}


# Searches that do not fit the network or the day


@pytest.mark.parametrize(
    ("field", "value"), [("request.company", "NOBODY"), ("request.out_at", "2026-04-30")]
)
def test_search_that_cannot_be_made_names_its_field(offline, field, value):
    error = offline.error_of("availability.search", change(SEARCH, field, value))
    assert (error.status, error.field, error.code) == (422, field, "AVAILABILITY_ERROR")
    assert error.message.startswith(f"{field}: ")


@pytest.mark.parametrize(("hour", "is_past"), [(21, False), (22, True)])
def test_today_ends_at_midnight_of_the_port(offline, hour, is_past):
    today = change(SEARCH, "request.out_at", "2026-05-01")
    offline.clock.travel_to(NOW.replace(hour=hour))
    error = offline.attempt("availability.search", today)
    assert (error is not None and error.field == "request.out_at") == is_past


# The tool without HTTP


def test_tool_books_the_cheapest_tariff_by_id(offline):
    (availability, *_) = offline.search()
    body = {"id": availability["id"], "passengers": [TOOL_GUEST]}
    created = offline.perform("mcp.create_booking", body, protocol="mcp")
    amounts = [each["amount"] for each in availability["tariffs"] if each["type"] == "Ticket"]
    assert created["total_price"] == min(amounts)
    assert offline.counters.effects_of("bookings.create")


def test_tool_names_an_unknown_id(offline):
    body = {"id": "x", "passengers": [TOOL_GUEST]}
    error = offline.error_of("mcp.create_booking", body, protocol="mcp")
    assert (error.field, error.code) == ("id", "BOOKING_CREATE_ERROR")


def test_tool_books_a_selection(offline):
    (availability, *_) = offline.search()
    option = {
        "availabilities": [selection(availability, "OPTION")],
        "passengers": [TOOL_GUEST],
        "reservation_type": "OPTION",
    }
    created = offline.perform("mcp.create_booking", option, protocol="mcp")
    assert created["stage"] == "payment_due"


# Times of payments


def payment(moment):
    return {"id": "T", "external_payment_ref": "P", "paid_at": moment}


@pytest.mark.parametrize(
    "moment",
    [
        "2027-03-20T10:00:00Z",
        "2027-03-20t10:00:00z",
        "2027-03-20T10:00Z",
        "2027-03-20T10:00:00.1Z",
        "2027-03-20T10:00:00.123456789Z",
        "2027-03-20T10:00:00+01:00",
        "2028-02-29T23:59:59-00:00",
        "2027-03-20T10:00:00-0330",
        "2027-03-20T10:00:00,5Z",
    ],
)
def test_time_with_an_offset_is_read(moment):
    assert Payment.read(payment(moment)).paid_at.utcoffset() is not None


@pytest.mark.parametrize(
    "moment",
    [
        "2027-03-20T10:00:00",
        "2027-03-20",
        "2027-03-20 10:00:00Z",
        "2027-02-29T10:00:00Z",
        "2027-13-01T10:00:00Z",
        "2027-03-20T24:00:00Z",
        "2027-03-20T10:60:00Z",
        "20270320T100000Z",
        "2027-03-20T23:59:60Z",
        "2027-03-20T10Z",
        "2027-03-20T10:00:00+24:00",
        "",
        5,
        True,
        "0000-03-20T10:00:00Z",
        "2027-03-20T10:00:00Z\n",
        "\uff12\uff10\uff12\uff17-03-20T10:00:00Z",
    ],
)
def test_any_other_time_is_refused(moment):
    assert {path for path, _ in problems_in(Payment, payment(moment))} == {"paid_at"}


# Messages

SCRIPTS = {"el": "[\u0370-\u03ff]", "ar": "[\u0600-\u06ff]"}
every_language = pytest.mark.parametrize("language", LANGUAGES)
every_other_language = pytest.mark.parametrize("language", LANGUAGES[1:])


def placeholders(message):
    return {name for _, name, _, _ in Formatter().parse(message) if name}


@every_language
def test_language_has_every_message(language):
    assert list(messages(language)) == list(messages("en"))


@every_language
def test_messages_have_the_same_placeholders(language):
    named = {key: placeholders(message) for key, message in messages(language).items()}
    assert named == {key: placeholders(message) for key, message in messages("en").items()}


@every_other_language
def test_messages_are_translated(language):
    english = messages("en")
    same = [key for key, message in messages(language).items() if message == english[key]]
    assert same in ([], ["label_commission"])


@pytest.mark.parametrize("language", SCRIPTS)
def test_messages_are_in_the_script_of_the_language(language):
    other = [
        key
        for key, message in messages(language).items()
        if not re.search(SCRIPTS[language], message)
    ]
    assert other == []


@every_language
def test_error_is_in_the_language_of_the_caller(offline, language):
    error = offline.error_of("bookings.get", id="nowhere", language=language)
    assert error.message == f"id: {messages(language)['booking_unknown']}"


def test_every_message_is_used():
    used = set()
    for path in Path(ferry_sdk.sandbox.__file__).parent.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        used |= {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert set(messages("en")) <= used


@pytest.mark.parametrize(
    ("header", "language"),
    [
        (None, "en"),
        ("", "en"),
        ("de", "en"),
        ("*", "en"),
        (";;,,q=1", "en"),
        ("fr", "fr"),
        ("FR-ca", "fr"),
        ("fr;q=0.8, es;q=0.5", "fr"),
        ("de, it;q=0.4", "it"),
        (" ar ; q=0.9 , en ; q=0.8 ", "ar"),
    ],
)
def test_header_prefers_a_language(header, language):
    assert language_of(header) == language


def test_message_has_its_values():
    assert text("choice", "fr", {"expected": "M, F"}).endswith(": M, F.")
