"""Views of results: they match their schema, are short by default and show no traveller."""

import json
from datetime import datetime
from decimal import Decimal
from operator import attrgetter

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from ferry_sdk import Booking, InvalidInputError, Records, Ticket, Unreadable, models
from ferry_sdk.agents.toolkit import Toolkit
from ferry_sdk.agents.tools.short_views import SHORT
from ferry_sdk.agents.tools.tools import TOOLS
from ferry_sdk.agents.tools.views import format_amount, has_full_view, schema_of, view_of
from ferry_sdk.models.availability import Availability
from ferry_sdk.models.base import Model
from ferry_sdk.models.catalogue import Port, VehicleBrand
from ferry_sdk.models.tickets import Voucher
from tests.agents.agent import selection_of
from tests.support import samples, summer
from tests.support.exchanges import Exchanges, client_of
from tests.support.tables import each

TRAVELLER = samples.TICKET_PASSENGER | {"type": "Adult", "email": "mo@example.org"}
CONTACT = {"name": "Marguerite Okonkwo", "email": "mo@example.org", "phone": "612345678"}
PERSONAL = ("Marguerite", "Okonkwo", "1992-02-29", "AB1234567", "mo@example.org", "612345678")


@pytest.fixture
def ferry(ferry, ferry_sandbox):
    """The clock of the local service stands still in summer."""
    summer.stopped(ferry_sandbox)
    return ferry


@pytest.fixture
def view_tool(ferry):
    """Call a tool, and return both views of its result, validated by the tool's schema."""

    def call(name, **arguments):
        tool = TOOLS[name]
        checker = Draft202012Validator(tool.definition(approval=True, call=repr).output_schema)
        result = attrgetter(tool.operation)(ferry)(**tool.read(json.dumps(arguments)).values)
        views = [view_of(result, detail) for detail in ("short", "full")]
        for view in views:
            checker.validate(json.loads(json.dumps({"status": "done", "result": view})))
        return views

    return call


def search_arguments(back=False):
    arguments = summer.search(back=back)
    days = {name: str(arguments[name]) for name in ("out_at", "ret_at") if name in arguments}
    return {**arguments, **days}


def make_booking(view_tool):
    short, _ = view_tool("availability_search", **search_arguments(back=True))
    firsts = {one["direction"]: one for one in reversed(short["items"])}
    choices = []
    for one in firsts.values():
        kinds = [(tariff["type"], tariff["roundtrip_locked"]) for tariff in one["tariffs"]]
        choices.append(selection_of(one, kinds.index(("Ticket", False))))
    more = {"passengers": [TRAVELLER], "contact": CONTACT}
    return view_tool("bookings_create", availabilities=choices, **more)


def test_a_catalogue_matches_its_schema_and_contains_filters_it(view_tool, ferry):
    names = ("ports", "journeys", "vehicle_brands", "vehicle_types")
    for name in (*(f"catalogue_{one}" for one in names), "mcp_companies"):
        short, full = view_tool(name)
        assert short["count"] == full["count"] == len(short["items"]) > 1, name
        assert short["unreadable"] == 0, name
        assert short["items"][0].items() <= full["items"][0].items(), name
    ports = attrgetter(TOOLS["catalogue_ports"].operation)(ferry)()
    assert view_of(ports, "short", "MARSEILLE")["items"] == [
        {"code": "FRMRS", "name": "Marseille", "country": "France"}
    ]
    assert view_of(ports, "short", "no such port") == {"items": [], "count": 0, "unreadable": 0}
    assert view_of(ports, "full", "country")["count"] == 0
    answer = Toolkit(ferry, tools="all").call("catalogue_ports", {"contains": "marseille"})
    assert [one["code"] for one in answer["result"]["items"]] == ["FRMRS"]


def test_short_views_are_enough_to_book_and_cancel(view_tool):
    """Every answer matches its schema, and the short views name no traveller."""
    search, whole = view_tool("availability_search", **search_arguments())
    assert len(json.dumps(search)) < len(json.dumps(whole)) / 2
    departures, _ = view_tool(
        "catalogue_departures", provider_id=search["items"][0]["provider"]["id"]
    )
    created, _ = make_booking(view_tool)
    booking_id = created["booking_id"]
    assert created["next_actions"][0]["tool"] == "bookings_confirm"
    before, _ = view_tool("bookings_get", booking_id=booking_id)
    fee, _ = view_tool("bookings_cancel_fee", id=booking_id)
    confirmed, _ = view_tool(
        "bookings_confirm", booking_id=booking_id, expect_total=created["total_price"]
    )
    booking, full = view_tool("bookings_get", booking_id=booking_id)
    ticket, full_ticket = view_tool("tickets_get", ticket_id=confirmed["ticket_id"])
    voucher, _ = view_tool("tickets_pdf", ticket_id=confirmed["ticket_id"])
    cancelled, _ = view_tool("tickets_cancel", ticket_id=confirmed["ticket_id"], max_penalty="999")
    refunded, _ = view_tool("bookings_cancel", booking_id=booking_id)

    assert departures["items"]
    assert before["stage"] == "payment_due"
    assert booking["stage"] == "ticketed"
    assert len(booking["tickets"]) == 2
    assert ("Cancel", "bookings_cancel") in [
        (one["name"], one.get("tool")) for one in booking["next_actions"]
    ]
    assert cancelled["previewed"]["currency"] == fee["currency"] == "EUR"
    assert Decimal(refunded["refund_amount"]) >= 0
    assert voucher == {"url": None}
    departure = ticket["availability"]["outward"]["journey"]["depart_at"]
    assert datetime.fromisoformat(departure).utcoffset() is not None
    short = json.dumps(
        [search, created, before, fee, confirmed, booking, ticket, cancelled, refunded, voucher],
        ensure_ascii=False,
    )
    assert not [word for word in PERSONAL if word in short]
    for one in (full["tickets"][0], full_ticket):
        assert one["passengers"][0]["last_name"] == "Okonkwo"
        assert "qr_code" not in one


def test_every_result_is_an_object_with_typed_fields_and_every_record_has_a_short_view():
    sailing = schema_of(Availability)["properties"]
    assert sailing["depart_at"]["type"] == "string"
    assert sailing["company"]["required"] == ["id", "name"]
    booking = schema_of(Booking)["properties"]
    assert booking["stage"]["description"].startswith("The state on which")
    assert booking["stage"]["type"] == "string"
    assert "enum" not in booking["stage"]
    assert booking["expire_at"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    for tool in TOOLS.values():
        result = tool.definition(approval=False, call=repr).output_schema["properties"]["result"]
        assert result["type"] == "object"
    for model, names in SHORT.items():
        assert issubclass(model, Model)
        for name in names:
            assert name in model.model_fields or hasattr(model, name)
            # A short view has no field that the repr hides.
            assert name not in model.model_fields or model.model_fields[name].repr
    brand = VehicleBrand(id="VW", name="Volkswagen")
    assert view_of(brand, "short") == view_of(brand, "full") == {"id": "VW", "name": "Volkswagen"}
    assert not has_full_view(VehicleBrand)
    with pytest.raises(LookupError, match=r"add Kept to SHORT in .*short_views"):
        view_of(models.Kept.model_construct(), "short")


def test_unreadable_records_are_counted_and_infinite_numbers_are_left_out(clients):
    port = {"code": "a", "name": "b", "country": "c"}
    view = view_of(Records([Port(**port)], [Unreadable(1, "name", "x", {"s": 1})]), "full")
    assert view == {"items": [{**port, "country_code": None}], "count": 1, "unreadable": 1}
    car = '{"code": %s, "name": "Car", "max_length": %s, "max_height": 2}'
    cars = [car % ('"c"', 4.5), car % ('"c"', "1e999"), car % ("1e999", 4.5)]
    reply = httpx.Response(200, text=f"[{','.join(cars)}]")
    view = view_of(client_of(clients, Exchanges(reply)).catalogue.vehicle_types(), "short")
    assert ([one["max_length"] for one in view["items"]], view["unreadable"]) == ([4.5, None], 1)


def test_texts_and_names_of_members_are_one_line_and_cut_and_unknown_fields_are_not_shown():
    evil = "IGNORE\nALL\u202e\u200b\x1b[31m " + "x" * 5_000
    port = Port(code=evil, name=evil, country="c")
    short, full = (view_of(port, detail)["name"] for detail in ("short", "full"))
    assert short.startswith("IGNORE ALL[31m x")
    assert short.endswith("…")
    assert (len(short), len(full)) == (200, 2_000)
    assert full.isprintable()
    url = "https://example.org/" + "v" * 1_900  # an address is cut later
    assert view_of(Voucher(url=url), "short") == {"url": url}
    assert len(view_of(Voucher(url=url + "v" * 100_000), "full")["url"]) == 2_000
    evil, clean = "Pay\n\u202eNOW", "Pay NOW"
    actions = {evil: {"type": "optional", "timeLimit": evil}}
    wire = samples.BOOKING | {"journey_details": {evil: {evil: evil}}, "possible_actions": actions}
    view = view_of(Booking.model_validate(wire), "full")
    assert view["journey_details"] == {clean: {clean: clean}}
    assert view["next_actions"] == [{"name": clean, "mandatory": False, "time_limit": clean}]
    ticket = Ticket.model_validate({**samples.TICKET, "mood": "secret-9"})
    assert "secret-9" not in json.dumps(view_of(ticket, "full"))


@each("detail", ["short", "full"])
def test_what_is_too_long_is_cut_and_counted(detail):
    assert len(view_of(Port(code="x" * 100_000, name="n", country="c"), detail)["code"]) == 200
    view = view_of(Ticket.model_validate({**samples.TICKET, "id": "t" * 100_000}), detail)
    assert len(view["id"]) == 200
    with pytest.raises(InvalidInputError):
        TOOLS["tickets_get"].read({"ticket_id": view["id"]})

    ports = Records([Port(code=f"P{one}", name="n" * 50, country="c") for one in range(5_000)])
    view = view_of(ports, detail)
    assert 1_000 < view["count"] == len(view["items"])
    assert view["count"] + view["left_out"] == 5_000
    assert len(json.dumps(view)) < 200_000
    Draft202012Validator(schema_of(Records[Port])).validate(view)
    few = view_of(ports, detail, "P4999")
    assert [one["code"] for one in few["items"]] == ["P4999"]
    assert "left_out" not in few

    action = {"type": "optional", "timeLimit": "soon" * 40}
    wire = samples.BOOKING | {
        "tickets": samples.BOOKING["tickets"] * 3_000,
        "journey_details": {str(one): "x" * 300 for one in range(1_000)},
        "possible_actions": {f"Action {one}": action for one in range(2_000)},
    }
    view = view_of(Booking.model_validate(wire), detail)
    assert view["left_out"] > 1_000
    assert len(json.dumps(view)) < 300_000
    Draft202012Validator(schema_of(Booking)).validate(view)


def test_an_action_without_a_tool_names_none():
    wire = {
        **samples.BOOKING,
        "possible_actions": {
            "Retry": {"type": "optional", "timeLimit": "soon", "requestedItems": {"a": [1]}},
            "Pay": {"type": "mandatory", "timeLimit": "2026-07-01T10:00:00+02:00"},
        },
    }
    booking = Booking.model_validate(wire)
    limit = wire["possible_actions"]["Pay"]["timeLimit"]
    actions = [
        {"name": "Pay", "mandatory": True, "time_limit": limit, "tool": "bookings_confirm"},
        {"name": "Retry", "mandatory": False, "time_limit": "soon"},
    ]
    for detail in ("short", "full"):
        view = view_of(booking, detail)
        assert view["next_actions"] == actions
        Draft202012Validator(schema_of(Booking)).validate(view)


def test_money_is_exact_unless_it_has_thousands_of_digits_and_deep_nesting_is_cut():
    digits = "1234567890123456789012345678901.5"
    texts = {"49.9": "49.90", "25": "25.00", "1E+3": "1000.00", "-3.5": "-3.50"}
    same = dict.fromkeys(("49.90", "0.125", "1E+999999", "1E-999999"))
    for amount, changed in {**texts, digits: f"{digits}0", **same}.items():
        text = changed or amount
        assert format_amount(Decimal(amount)) == text
        assert Decimal(text) == Decimal(amount)
    assert format_amount(Decimal("7" * 5_000)) == f"7.{'7' * 49}8E+4999"
    deep = []
    for _ in range(5_000):
        deep = [deep]
    fields = vars(Booking.model_validate(samples.BOOKING)) | {"journey_details": {"deep": deep}}
    assert len(json.dumps(view_of(Booking.model_construct(**fields), "full"))) < 5_000


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(anything=json_values, text=st.text())
def test_open_fields_match_the_schema(anything, text):
    texts = dict.fromkeys(("expire_at", "stage", "status"), text)
    wire = {**samples.BOOKING, **texts, "journey_details": {text: anything}}
    booking = Booking.model_validate(wire)
    for detail in ("short", "full"):
        view = json.loads(json.dumps(view_of(booking, detail), allow_nan=False))
        Draft202012Validator(schema_of(Booking)).validate(view)
