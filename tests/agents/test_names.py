"""Travellers are recognised in other spellings of their names."""

import pytest

from ferry_sdk.agents.tools.sanitize import name_key
from tests.agents.agent import order

JOSE = {"type": "Adult", "first_name": "José", "last_name": "O'Brien"}


def test_another_spelling_is_a_duplicate(toolkit, sending_nothing):
    sailing = toolkit.sailings()[0]
    toolkit.do("bookings_create", **order(sailing, passengers=[JOSE]))
    swapped = {**JOSE, "first_name": "O'BRIEN", "last_name": "Jose"}
    with sending_nothing():
        toolkit.fail("bookings_create", "already_done", **order(sailing, passengers=[swapped]))


@pytest.mark.parametrize(
    "spelling",
    [
        pytest.param("Jose\u0301 O'Brien", id="decomposed"),
        pytest.param("JOSÉ O\N{RIGHT SINGLE QUOTATION MARK}Brien", id="capitals"),
        pytest.param("Jose O-Brien.", id="other signs"),
        pytest.param("\N{FULLWIDTH LATIN CAPITAL LETTER J}osé O  Brien", id="wide letter"),
        pytest.param("José O' Brien", id="divided elsewhere"),
        pytest.param("O'Brien José", id="swapped"),
        pytest.param("Joseo Brien", id="without accent and sign"),
    ],
)
def test_another_spelling_has_the_same_key(spelling):
    assert name_key(spelling) == name_key("José O'Brien")


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
def test_the_spelling_on_documents_has_the_same_key(name, as_on_document):
    assert name_key(name) == name_key(as_on_document)


def test_different_names_have_different_keys():
    names = ["Ada Reyes", "Ida Reyes", "Ada Reyas", "Noel Braun", "Leon Braun", "Ada M Reyes", "-"]
    assert len({name_key(name) for name in names}) == len(names)
