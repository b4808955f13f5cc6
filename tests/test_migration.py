"""The page for those who come from plain httpx: its endpoints, and what to look out for."""

import re
from contextlib import ExitStack

import httpx
import pytest

from ferry_sdk import (
    Ferry,
    InvalidInputError,
    OutcomeUnknownError,
    RequestTimeoutError,
    UnexpectedResponseError,
)
from ferry_sdk._engine.safety import SAFETY
from ferry_sdk.sandbox.operations import ENDPOINTS, RESOURCES, TOOLS
from tests.support.blocks import ROOT
from tests.support.trip import search_arguments

PAGE = (ROOT / "docs" / "migration.md").read_text("utf-8")
ROWS = {
    name: (method, path, notes)
    for method, path, name, notes in re.findall(
        r"^\| `(GET|POST) (\S+)` \| `([\w.]+)` \| (.+) \|$", PAGE, re.MULTILINE
    )
}
"""The rows of the table by the name of the method."""
BY_NAME = {endpoint.name: endpoint for endpoint in ENDPOINTS}
EACH_PASSENGER = {"order": 1, "type": "Adult", "param": "A", "gender": "Female", "age": 34}
QUERY = {name: str(value) for name, value in search_arguments().items() if name != "passengers"}
every_row = pytest.mark.parametrize("name", ROWS)


@pytest.fixture
def browser(ferry_sandbox):
    """A client of plain HTTP."""
    headers = {"Authorization": f"Bearer {ferry_sandbox.token}", "Accept": "application/json"}
    with httpx.Client(base_url=ferry_sandbox.base_url, headers=headers, trust_env=False) as browser:
        yield browser


@pytest.fixture
def availability(browser):
    """The answer to a search of plain HTTP."""
    body = {"request": QUERY, "passengers": [EACH_PASSENGER]}
    return browser.post("/api/availability", json=body).raise_for_status().json()


@pytest.fixture
def order(availability):
    """A body that books the first offer."""
    first = availability[0]
    chosen = {
        "availability_id": first["id"],
        "tariff_id": first["tariffs"][0]["id"],
        "place_id": first["places"][0]["id"],
    }
    ana = {"order": 1, "type": "Adult", "gender": "F", "age": 34}
    names = {"first_name": "Ana", "last_name": "Nuñez"}
    return {"availabilities": [chosen], "passengers": [ana | names]}


def test_table_has_every_endpoint():
    assert ROWS.keys() == BY_NAME.keys()


@every_row
def test_row_has_the_endpoint_of_its_method(name):
    endpoint = BY_NAME[name]
    assert ROWS[name][:2] == (endpoint.method, endpoint.path)


@every_row
def test_post_that_only_reads_is_marked(name):
    method, _, notes = ROWS[name]
    is_search = name == "availability.search"
    assert ("only reads" in notes) == (method == "POST" and SAFETY[name].is_read and not is_search)


@every_row
def test_row_names_the_required_id_of_the_body(name):
    method, _, notes = ROWS[name]
    required = [
        field
        for field, one in BY_NAME[name].arguments.model_fields.items()
        if one.is_required() and field.endswith("id")
    ]
    if method == "POST" and "{id}" not in BY_NAME[name].path:
        assert [field for field in required if f"`{field}`" not in notes] == []


@every_row
def test_methods_in_a_row_exist(name, ferry_sandbox):
    with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry:
        for group, method in re.findall(r"`(\w+)\.(\w+)`", ROWS[name][2]):
            assert callable(getattr(getattr(ferry, group), method))


def test_tool_is_a_method_of_its_name():
    names = {tool: f"mcp.{tool}" for tool in TOOLS}
    assert names == {tool: operation.name for tool, operation in TOOLS.items()}


def test_resource_is_a_method_of_its_name():
    names = {uri: f"mcp.{uri.rpartition('/')[2].replace('-', '_')}" for uri in RESOURCES}
    assert names == {uri: operation.name for uri, operation in RESOURCES.items()}


@pytest.fixture
def own(ferry_sandbox):
    """Make clients over httpx clients with these options."""
    with ExitStack() as stack:

        def made(**options):
            http = stack.enter_context(httpx.Client(trust_env=False, **options))
            address = ferry_sandbox.base_url
            return stack.enter_context(
                Ferry(ferry_sandbox.token, base_url=address, http_client=http, max_retries=0)
            )

        yield made


def test_search_of_the_client_refuses_empty_return_fields(own):
    with pytest.raises(InvalidInputError, match="ret_at"):
        own().availability.search(**search_arguments(), ret_at="")


def test_dumped_record_has_the_names_of_the_service(own, browser, order):
    ferry = own()
    booking = browser.post("/api/booking", json=order).raise_for_status().json()
    record = ferry.bookings.get(booking["booking_id"])
    dumped = record.model_dump(mode="json", by_alias=True)
    original = ferry.request("GET", f"/api/booking/{record.booking_id}")

    assert dumped["possible_actions"]["Pay"].keys() == original["possible_actions"]["Pay"].keys()
    assert dumped["total_price"] == str(record.total_price)
    assert isinstance(original["total_price"], float)


def test_hook_that_raises_makes_a_refusal_unknown(own):
    ferry = own(event_hooks={"response": [httpx.Response.raise_for_status]})
    with pytest.raises(OutcomeUnknownError):
        ferry.bookings.confirm("6b0ac0c2-0e5c-4b5c-9f3c-000000000000")


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        pytest.param(lambda ferry: ferry.catalogue.ports(), RequestTimeoutError, id="read"),
        pytest.param(lambda ferry: ferry.bookings.confirm("b-1"), OutcomeUnknownError, id="write"),
    ],
)
def test_exception_of_httpx_is_only_named(own, call, kind):
    def be_slow(_):
        raise httpx.ReadTimeout("slow")

    with pytest.raises(kind, match="ReadTimeout") as failed:
        call(own(transport=httpx.MockTransport(be_slow)))
    assert not isinstance(failed.value.__cause__, httpx.HTTPError)


BOOKING = {
    "booking_id": "b-1",
    "stage": "payment_due",
    "payment_status": "unpaid",
    "total_price": 14.1,
    "currency": "EUR",
}
"""The least that a mock answers to `bookings.get`."""


@pytest.fixture
def read_booking(own):
    """Read a booking that a mock answers with this body."""

    def read(body):
        transport = httpx.MockTransport(lambda _: httpx.Response(200, json=body))
        return own(transport=transport).bookings.get("b-1")

    return read


def test_mocked_booking_has_the_named_fields(read_booking):
    named = re.search(r"`bookings.get` reads (.+?)\.", PAGE)[1]
    assert re.findall(r"`(\w+)`", named) == [*BOOKING]
    assert read_booking(BOOKING).booking_id == "b-1"


@pytest.mark.parametrize("missing", BOOKING)
def test_mocked_booking_needs_each_of_them(read_booking, missing):
    with pytest.raises(UnexpectedResponseError, match=missing):
        read_booking({name: value for name, value in BOOKING.items() if name != missing})


@pytest.mark.parametrize("missing", ["order", "param"])
def test_search_needs_of_each_passenger(browser, missing):
    passenger = {name: value for name, value in EACH_PASSENGER.items() if name != missing}
    reply = browser.post("/api/availability", json={"request": QUERY, "passengers": [passenger]})
    assert (reply.status_code, reply.json()["field"]) == (422, f"passengers[0].{missing}")


def test_cheapest_tariff_may_be_a_presale(browser):
    query = search_arguments(company="BALEARIA", depart="ESALG", arrive="ESCEU")
    request = {name: str(value) for name, value in query.items() if name != "passengers"}
    body = {"request": request, "passengers": [EACH_PASSENGER]}
    sailing = browser.post("/api/availability", json=body).json()[0]
    assert min(sailing["tariffs"], key=lambda tariff: tariff["amount"])["type"] == "Presale"


def test_booking_has_other_words_for_gender(browser, order):
    order["passengers"][0]["gender"] = "Female"
    reply = browser.post("/api/booking", json=order)
    assert (reply.status_code, reply.json()["field"]) == (422, "passengers[0].gender")


@pytest.mark.parametrize(
    ("path", "wrong", "field"),
    [
        pytest.param("booking/confirm", "booking_id", "id", id="confirm"),
        pytest.param("booking/cancel-fee", "booking_id", "id", id="fee"),
        pytest.param("booking/cancel", "id", "booking_id", id="cancel"),
        pytest.param("ticket/cancel", "id", "ticket_id", id="ticket"),
    ],
)
def test_id_has_another_name_in_each_body(browser, order, path, wrong, field):
    booking = browser.post("/api/booking", json=order).raise_for_status().json()
    reply = browser.post(f"/api/{path}", json={wrong: booking["booking_id"]})
    assert (reply.status_code, reply.json()["field"]) == (422, field)


@pytest.mark.parametrize("path", ["journey", "departure"])
def test_catalogue_of_a_post_refuses_a_get(browser, path):
    assert browser.get(f"/api/{path}").status_code == 405
