"""Travellers are recognised in other spellings of their names."""

import pytest

from ferry_sdk.agents.tools.sanitize import name_key
from tests.agents.agent import order

JOSE = {"type": "Adult", "first_name": "José", "last_name": "O'Brien"}


@pytest.fixture
def booked_sailing(toolkit):
    """A sailing on which José O'Brien is booked."""
    sailing = toolkit.sailings()[0]
    toolkit.do("bookings_create", **order(sailing, passengers=[JOSE]))
    return sailing


@pytest.mark.parametrize(
    ("first_name", "last_name"),
    [
        pytest.param("Jose\u0301", "O'Brien", id="decomposed"),
        pytest.param("JOSÉ", "O\N{RIGHT SINGLE QUOTATION MARK}Brien", id="capitals"),
        pytest.param("Jose", "O-Brien.", id="other signs"),
        pytest.param("\N{FULLWIDTH LATIN CAPITAL LETTER J}osé", "O  Brien", id="wide letter"),
        pytest.param("José O'", "Brien", id="divided elsewhere"),
        pytest.param("O'Brien", "José", id="swapped"),
        pytest.param("Joseo", "Brien", id="without accent and sign"),
    ],
)
def test_another_spelling_is_a_duplicate(
    booked_sailing, toolkit, sending_nothing, first_name, last_name
):
    passengers = [{**JOSE, "first_name": first_name, "last_name": last_name}]
    with sending_nothing():
        toolkit.fail(
            "bookings_create", "already_done", **order(booked_sailing, passengers=passengers)
        )


@pytest.mark.parametrize(
    ("name", "as_on_document"),
    [
        ("Jürgen Müller", "Juergen Mueller"),
        ("Jürgen Müller", "Mueller Jürgen"),
        ("Jørn Kjær", "Joern Kjaer"),
        ("Åse Groß", "Aase Gross"),
        ("Łukasz Đorić", "Lukasz Doric"),
        ("王 小明", "小明 王"),
    ],
    ids=ascii,
)
def test_the_spelling_of_a_document_has_the_same_key(name, as_on_document):
    assert name_key(name) == name_key(as_on_document)


def test_different_names_have_different_keys():
    names = ["Ada Reyes", "Ida Reyes", "Ada Reyas", "Noel Braun", "Leon Braun", "Ada M Reyes", "-"]
    assert len({name_key(name) for name in names}) == len(names)
