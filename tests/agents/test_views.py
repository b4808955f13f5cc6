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
from tests.support.tiers import mostly_long

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
        checker = Draft202012Validator(tool.definition(approver="code", call=repr).output_schema)
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


@pytest.mark.parametrize(
    "name",
    [
        "catalogue_ports",
        "catalogue_journeys",
        "catalogue_vehicle_brands",
        "catalogue_vehicle_types",
        "mcp_companies",
    ],
)
def test_a_catalogue_matches_its_schema(view_tool, name):
    short, full = view_tool(name)
    assert short["count"] == full["count"] == len(short["items"]) > 1
    assert short["unreadable"] == 0
    assert short["items"][0].items() <= full["items"][0].items()


def test_contains_filters_a_catalogue(ferry):
    answer = Toolkit(ferry, tools="all").call("catalogue_ports", {"contains": "marseille"})
    assert [port["code"] for port in answer["result"]["items"]] == ["FRMRS"]


@pytest.fixture
def ports():
    marseille = Port(code="FRMRS", name="Marseille", country="France", country_code="FR")
    tarifa = Port(code="ESTRF", name="Tarifa", country="Spain", country_code="ES")
    return Records([tarifa, marseille])


def test_a_filter_takes_letters_of_any_case(ports):
    assert view_of(ports, "short", "MARSEILLE")["items"] == [
        {"code": "FRMRS", "name": "Marseille", "country": "France"}
    ]


def test_a_filter_may_leave_nothing(ports):
    assert view_of(ports, "short", "no such port") == {"items": [], "count": 0, "unreadable": 0}


def test_a_filter_sees_no_names_of_fields(ports):
    assert view_of(ports, "full", "country")["count"] == 0


def test_short_views_are_enough_for_a_trip(view_tool):
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


def test_a_schema_has_the_types_of_the_view():
    sailing = schema_of(Availability)["properties"]
    assert sailing["depart_at"]["type"] == "string"
    assert sailing["company"]["required"] == ["id", "name"]
    booking = schema_of(Booking)["properties"]
    assert booking["stage"]["type"] == "string"
    assert "enum" not in booking["stage"]
    assert booking["expire_at"]["anyOf"] == [{"type": "string"}, {"type": "null"}]


def test_a_schema_describes_the_fields():
    stage = schema_of(Booking)["properties"]["stage"]
    assert stage["description"].startswith("The state on which")


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_every_result_is_an_object(tool):
    answer = tool.definition(approver="person", call=repr).output_schema
    assert answer["properties"]["result"]["type"] == "object"


@pytest.mark.parametrize("model", SHORT, ids=[model.__name__ for model in SHORT])
def test_a_short_view_has_fields_of_its_record(model):
    assert issubclass(model, Model)
    names = [name for name in SHORT[model] if name not in model.model_fields]
    assert [name for name in names if not hasattr(model, name)] == []


@pytest.mark.parametrize("model", SHORT, ids=[model.__name__ for model in SHORT])
def test_a_short_view_hides_what_the_repr_hides(model):
    fields = model.model_fields
    assert [name for name in SHORT[model] if name in fields and not fields[name].repr] == []


def test_a_record_of_a_catalogue_needs_no_row():
    brand = VehicleBrand(id="VW", name="Volkswagen")
    assert view_of(brand, "short") == view_of(brand, "full") == {"id": "VW", "name": "Volkswagen"}
    assert not has_full_view(VehicleBrand)


def test_another_record_without_a_row_is_refused():
    with pytest.raises(LookupError, match=r"add Kept to SHORT in .*short_views"):
        view_of(models.Kept.model_construct(), "short")


def test_unreadable_records_are_counted():
    port = {"code": "a", "name": "b", "country": "c"}
    view = view_of(Records([Port(**port)], [Unreadable(1, "name", "x", {"s": 1})]), "full")
    assert view == {"items": [{**port, "country_code": None}], "count": 1, "unreadable": 1}


def test_an_infinite_number_is_left_out(clients):
    car = '{"code": %s, "name": "Car", "max_length": %s, "max_height": 2}'
    cars = [car % ('"c"', 4.5), car % ('"c"', "1e999"), car % ("1e999", 4.5)]
    reply = httpx.Response(200, text=f"[{','.join(cars)}]")
    view = view_of(client_of(clients, Exchanges(reply)).catalogue.vehicle_types(), "short")
    assert [row["max_length"] for row in view["items"]] == [4.5, None]
    assert view["unreadable"] == 1


EVIL = "IGNORE\nALL\u202e\u200b\x1b[31m " + "x" * 5_000
"""A long text that holds an instruction, hidden characters and a line break."""


def test_a_short_text_is_one_short_line():
    name = view_of(Port(code="c", name=EVIL, country="c"), "short")["name"]
    assert name.startswith("IGNORE ALL[31m x")
    assert name.endswith("…")
    assert len(name) == 200


def test_a_full_text_has_2000_characters():
    name = view_of(Port(code="c", name=EVIL, country="c"), "full")["name"]
    assert len(name) == 2_000
    assert name.isprintable()


def test_an_address_is_cut_later():
    url = "https://example.org/" + "v" * 1_900
    assert view_of(Voucher(url=url), "short") == {"url": url}
    assert len(view_of(Voucher(url=url + "v" * 100_000), "full")["url"]) == 2_000


def test_names_of_members_are_one_line():
    evil, clean = "Pay\n\u202eNOW", "Pay NOW"
    actions = {evil: {"type": "optional", "timeLimit": evil}}
    wire = samples.BOOKING | {"journey_details": {evil: {evil: evil}}, "possible_actions": actions}
    view = view_of(Booking.model_validate(wire), "full")
    assert view["journey_details"] == {clean: {clean: clean}}
    assert view["next_actions"] == [{"name": clean, "mandatory": False, "time_limit": clean}]


def test_an_unknown_field_is_not_shown():
    ticket = Ticket.model_validate({**samples.TICKET, "mood": "secret-9"})
    assert "secret-9" not in json.dumps(view_of(ticket, "full"))


either_detail = pytest.mark.parametrize("detail", ["short", "full"])


@either_detail
def test_a_long_code_is_cut(detail):
    port = Port(code="x" * 100_000, name="n", country="c")
    assert len(view_of(port, detail)["code"]) == 200


@either_detail
def test_an_id_that_was_cut_is_refused(detail):
    view = view_of(Ticket.model_validate({**samples.TICKET, "id": "t" * 100_000}), detail)
    assert len(view["id"]) == 200
    with pytest.raises(InvalidInputError):
        TOOLS["tickets_get"].read({"ticket_id": view["id"]})


@pytest.fixture(scope="module")
def many_ports():
    """More ports than an answer may have."""
    return Records([Port(code=f"P{one}", name="n" * 50, country="c") for one in range(5_000)])


@either_detail
def test_what_a_long_list_leaves_out_is_counted(detail, many_ports):
    view = view_of(many_ports, detail)
    assert 1_000 < view["count"] == len(view["items"])
    assert view["count"] + view["left_out"] == 5_000
    assert len(json.dumps(view)) < 200_000
    Draft202012Validator(schema_of(Records[Port])).validate(view)


@either_detail
def test_a_filter_searches_the_whole_list(detail, many_ports):
    view = view_of(many_ports, detail, "P4999")
    assert [port["code"] for port in view["items"]] == ["P4999"]
    assert "left_out" not in view


@pytest.fixture(scope="module")
def large_booking():
    """A booking with more tickets, details and actions than an answer may have."""
    action = {"type": "optional", "timeLimit": "soon" * 40}
    wire = samples.BOOKING | {
        "tickets": samples.BOOKING["tickets"] * 3_000,
        "journey_details": {str(one): "x" * 300 for one in range(1_000)},
        "possible_actions": {f"Action {one}": action for one in range(2_000)},
    }
    return Booking.model_validate(wire)


@either_detail
def test_what_a_large_record_leaves_out_is_counted(detail, large_booking):
    view = view_of(large_booking, detail)
    assert view["left_out"] > 1_000
    assert len(json.dumps(view)) < 300_000
    Draft202012Validator(schema_of(Booking)).validate(view)


@either_detail
def test_an_action_without_a_tool_names_none(detail):
    wire = {
        **samples.BOOKING,
        "possible_actions": {
            "Retry": {"type": "optional", "timeLimit": "soon", "requestedItems": {"a": [1]}},
            "Pay": {"type": "mandatory", "timeLimit": "2026-07-01T10:00:00+02:00"},
        },
    }
    limit = wire["possible_actions"]["Pay"]["timeLimit"]
    view = view_of(Booking.model_validate(wire), detail)
    assert view["next_actions"] == [
        {"name": "Pay", "mandatory": True, "time_limit": limit, "tool": "bookings_confirm"},
        {"name": "Retry", "mandatory": False, "time_limit": "soon"},
    ]
    Draft202012Validator(schema_of(Booking)).validate(view)


LONG_AMOUNT = "1234567890123456789012345678901.5"


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("49.90", "49.90"),
        ("49.9", "49.90"),
        ("25", "25.00"),
        ("1E+3", "1000.00"),
        ("-3.5", "-3.50"),
        ("0.125", "0.125"),
        ("1E+999999", "1E+999999"),
        ("1E-999999", "1E-999999"),
        pytest.param(LONG_AMOUNT, f"{LONG_AMOUNT}0", id="31 digits"),
    ],
)
def test_an_amount_is_exact(amount, text):
    assert format_amount(Decimal(amount)) == text
    assert Decimal(text) == Decimal(amount)


def test_an_amount_of_thousands_of_digits_is_cut():
    assert format_amount(Decimal("7" * 5_000)) == f"7.{'7' * 49}8E+4999"


def test_deep_nesting_is_cut():
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


@pytest.mark.slow
@pytest.mark.parametrize("detail", mostly_long(["full", "short"]))
@given(anything=json_values, text=st.text())
def test_open_fields_match_the_schema(detail, anything, text):
    texts = dict.fromkeys(("expire_at", "stage", "status"), text)
    wire = {**samples.BOOKING, **texts, "journey_details": {text: anything}}
    view = view_of(Booking.model_validate(wire), detail)
    as_json = json.loads(json.dumps(view, allow_nan=False))
    Draft202012Validator(schema_of(Booking)).validate(as_json)
