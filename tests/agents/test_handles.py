"""Travellers by handles: their data is in bookings and approvals, and in nothing a model reads."""

import json
from datetime import date

import pytest

from ferry_sdk import ConfigurationError, Traveller
from tests.agents.agent import error, result_of

DOCUMENT = {"doc_type": "Passport", "doc_number": "XK4471902"}
ZOE = {"first_name": "Zoë", "last_name": "Núñez", "gender": "Female"}
SON = {"first_name": "Iñigo", "last_name": "O'Hara", "gender": "Male"}
PARTY = {
    "t1": Traveller(**ZOE, birth_date=date(1991, 4, 2), **DOCUMENT),
    "the son": Traveller(**SON, birth_date=date(2041, 8, 9)),
}
PRIVATE = ("Zoë", "Núñez", "Iñigo", "Hara", "XK4471902", "1991-", "2041-08")
SEARCH = {"origin": "Dover", "destination": "Calais", "on": "2050-07-12"}


def take_party():
    return PARTY


@pytest.mark.usefixtures("known_routes")
@pytest.mark.parametrize("travellers", [PARTY, take_party], ids=["mapping", "function"])
def test_travellers_are_booked_by_their_handles(toolkit_of, agree, asked, travellers):
    records = []
    toolkit = toolkit_of(
        {"deadline": 30},
        tools="journey",
        writes=True,
        approve=agree,
        audit=records.append,
        travellers=travellers,
    )
    party = {"travellers": ["the son", "t1"]}
    listed = toolkit.call("travellers_list")
    found = toolkit.call("trips_find", {**SEARCH, **party})
    offer = result_of(found)["offers"][0]["offer"]
    made = toolkit.call("bookings_create", {"offer": offer, **party})
    read = toolkit.call("bookings_get", {"booking_id": result_of(made)["booking_id"]})

    assert result_of(listed) == {"travellers": ["t1", "the son"]}
    (request,) = asked
    assert request.travellers == ('"Iñigo O\'Hara"', '"Zoë Núñez"')
    audited = [repr(record) for record in records]
    shown = json.dumps([listed, found, made, read, audited], ensure_ascii=False)
    assert [private for private in PRIVATE if private in shown] == []


@pytest.mark.parametrize("tools", ["journey", "all"])
@pytest.mark.parametrize(
    ("travellers", "field"),
    [pytest.param(None, "passengers", id="data"), pytest.param(PARTY, "travellers", id="handles")],
)
def test_one_way_of_naming_travellers_is_offered(toolkit_of, tools, travellers, field):
    toolkit = toolkit_of(tools=tools, writes=True, travellers=travellers)
    offered = {tool.name: tool.input_schema for tool in toolkit.definitions()}
    assert ("travellers_list" in offered) is (travellers is not None)
    taking = offered.keys() & {"trips_find", "bookings_create", "availability_search"}
    arguments = set().union(*(offered[name]["properties"] for name in taking))
    assert arguments & {"passengers", "travellers"} == {field}
    assert [name for name in taking if field not in offered[name]["properties"]] == []
    assert ("last_name" in json.dumps(offered)) is (travellers is None)


@pytest.mark.parametrize("handles", [["t1", "t9"], ["t1", "t1"]], ids=["unknown", "twice"])
def test_a_wrong_handle_is_refused(toolkit_of, handles):
    toolkit = toolkit_of(tools="journey", travellers=PARTY)
    answer = toolkit.call("trips_find", {**SEARCH, "travellers": handles})
    assert error(answer, "invalid_arguments")["field"] == "travellers.1"


def test_a_function_may_return_nobody(toolkit_of):
    nobody = toolkit_of(travellers=lambda: None)
    assert result_of(nobody.call("travellers_list")) == {"travellers": []}


@pytest.mark.parametrize(
    "travellers",
    [
        pytest.param({"t1": {"first_name": "Ada"}}, id="no traveller"),
        pytest.param({1: PARTY["t1"]}, id="no label"),
        pytest.param([PARTY["t1"]], id="a list"),
    ],
)
def test_another_form_of_travellers_is_refused(toolkit_of, travellers):
    with pytest.raises(ConfigurationError, match="travellers"):
        toolkit_of(travellers=travellers)
