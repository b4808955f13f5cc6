"""The texts of a request that nothing may show, in whatever shape the request has them."""

import json

import pytest

from ferry_sdk._engine.redaction import HIDDEN, Redactor
from ferry_sdk._protocols.json_body import encode_json, personal_data
from ferry_sdk._protocols.mcp.call import Mcp
from ferry_sdk._protocols.rest import Rest

TRAVELLER = {"first_name": "Zoé", "last_name": "Reyes", "type": "Adult", "age": 34}
NAMES = {"Zoé", "Reyes", "ZoéReyes", "ReyesZoé", "ZReyes", "ReyesZ"}

BODIES = {
    "names and how they are joined": (TRAVELLER, NAMES),
    "at any depth": ([{"a": {"b": [TRAVELLER]}}], NAMES),
    "a number": ({"phone": 612345987}, {"612345987"}),
    "no joined initials": ({"first_name": "A", "last_name": "B"}, {"A", "B"}),
    "short names": ({"first_name": "A", "last_name": "Ng"}, {"A", "Ng", "ANg", "NgA"}),
    "no value": ({"first_name": None, "last_name": "", "email": []}, set()),
    "an object as a datum": ({"identification": {"name": "Zoé"}}, {"Zoé"}),
    "a list of names": ({"name": ["Zoé", "Leo"]}, {"['Zoé', 'Leo']"}),
    "quotation marks": ({"name": 'Zoé "Zo" R.'}, {'Zoé "Zo" R.'}),
    "other members": ({"ship": "Zoé", "type": "Adult"}, set()),
    "nothing": (None, set()),
}


@pytest.mark.parametrize(("body", "texts"), BODIES.values(), ids=BODIES)
def test_personal_data_of_a_body(body, texts):
    assert personal_data(json.dumps(body)) == texts


@pytest.mark.parametrize(("body", "texts"), BODIES.values(), ids=BODIES)
def test_both_protocols_hide_the_same(body, texts):
    rest = Rest("POST", "booking", encode_json(body))
    assert rest.secrets() == Mcp.tool("create_booking", {"x": body}).secrets() == texts


def test_each_name_of_a_list_is_hidden():
    texts = personal_data('{"name": ["Zoé", "Leo"]}')
    assert Redactor((), texts).show("neither ZOE nor Leo") == f"neither {HIDDEN} nor {HIDDEN}"


def test_a_query_is_searched_too():
    rest = Rest("GET", "x", params={"name": "Zoé", "page": "2"})
    assert rest.secrets() == {"Zoé"}


def test_a_request_without_a_body_has_none():
    assert Rest.get("port").secrets() == frozenset()


def test_half_a_character_is_kept():
    assert Mcp.tool("x", {"name": "Zoé\ud800"}).secrets() == {"Zoé\ud800"}


def test_a_deep_body_is_searched():
    body = {"name": "Zoé"}
    for _ in range(240):
        body = {"a": body}
    assert Rest("POST", "x", encode_json(body)).secrets() == {"Zoé"}
