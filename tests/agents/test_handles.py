"""Travellers by handles: their data is in bookings and approvals, and in nothing a model reads."""

import json
from datetime import date

import pytest

from ferry_sdk import ConfigurationError, Traveller
from tests.agents.agent import result_of

DOCUMENT = {"doc_type": "Passport", "doc_number": "XK4471902"}
ZOE = {"first_name": "Zoë", "last_name": "Núñez", "gender": "Female"}
SON = {"first_name": "Iñigo", "last_name": "O'Hara", "gender": "Male"}
PARTY = {
    "t1": Traveller(**ZOE, birth_date=date(1991, 4, 2), **DOCUMENT),
    "the son": Traveller(**SON, birth_date=date(2041, 8, 9)),
}
PRIVATE = ("Zoë", "Núñez", "Iñigo", "Hara", "XK4471902", "1991-", "2041-08")
SEARCH = {"origin": "Dover", "destination": "Calais", "on": "2050-07-12"}


@pytest.mark.usefixtures("known_routes")
def test_travellers_are_booked_by_their_handles(toolkit_of, agree, asked):
    records = []
    for travellers in (PARTY, lambda: PARTY):
        asked.clear()
        toolkit = toolkit_of(
            {"deadline": 30},
            tools="journey",
            writes=True,
            approve=agree,
            audit=records.append,
            travellers=travellers,
        )
        answers = [toolkit.call("travellers_list")]
        assert result_of(answers[0]) == {"travellers": ["t1", "the son"]}
        party = {"travellers": ["the son", "t1"]}
        answers.append(toolkit.call("trips_find", {**SEARCH, **party}))
        offer = result_of(answers[1])["offers"][0]["offer"]
        answers.append(toolkit.call("bookings_create", {"offer": offer, **party}))
        made = result_of(answers[2])["booking_id"]
        answers.append(toolkit.call("bookings_get", {"booking_id": made}))
        (request,) = asked
        assert request.travellers == ('"Iñigo O\'Hara"', '"Zoë Núñez"')
        shown = json.dumps([answers, [repr(one) for one in records]], ensure_ascii=False)
        assert [one for one in PRIVATE if one in shown] == []


def test_one_way_of_naming_travellers_is_offered_and_a_wrong_handle_refused(toolkit_of):
    for tools in ("journey", "all"):
        for travellers in (None, PARTY):
            toolkit = toolkit_of(tools=tools, writes=True, travellers=travellers)
            offered = {one.name: one.input_schema for one in toolkit.definitions()}
            assert ("travellers_list" in offered) is (travellers is not None)
            for name in offered.keys() & {"trips_find", "bookings_create", "availability_search"}:
                fields = offered[name]["properties"].keys() & {"passengers", "travellers"}
                assert fields == {"travellers" if travellers else "passengers"}
            text = json.dumps(offered)
            assert ("last_name" in text) is (travellers is None)
    toolkit = toolkit_of(tools="journey", travellers=PARTY)
    for handles in (["t1", "t9"], ["t1", "t1"]):
        error = toolkit.call("trips_find", {**SEARCH, "travellers": handles})["error"]
        assert (error["code"], error["field"]) == ("invalid_arguments", "travellers.1"), handles
    nobody = toolkit_of(travellers=lambda: None)
    assert result_of(nobody.call("travellers_list")) == {"travellers": []}
    for wrong in ({"t1": {"first_name": "Ada"}}, {1: PARTY["t1"]}, [PARTY["t1"]]):
        with pytest.raises(ConfigurationError, match="travellers"):
            toolkit_of(travellers=wrong)
