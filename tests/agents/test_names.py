"""Travellers are recognised in other spellings of their names."""

from ferry_sdk.agents.tools.sanitize import name_key
from tests.agents.agent import order


def test_the_same_travellers_in_another_spelling_are_a_duplicate(toolkit, sending_nothing):
    sailing = toolkit.sailings()[0]
    one = {"type": "Adult", "first_name": "José", "last_name": "O'Brien"}
    toolkit.do("bookings_create", **order(sailing, passengers=[one]))
    for first_name, last_name in (
        ("Jose\u0301", "O'Brien"),
        ("JOSÉ", "O\N{RIGHT SINGLE QUOTATION MARK}Brien"),
        ("Jose", "O-Brien."),
        ("\N{FULLWIDTH LATIN CAPITAL LETTER J}osé", "O  Brien"),
        ("José O'", "Brien"),
        ("O'Brien", "José"),
        ("Joseo", "Brien"),
    ):
        again = [{**one, "first_name": first_name, "last_name": last_name}]
        with sending_nothing():
            toolkit.fail("bookings_create", "already_done", **order(sailing, passengers=again))


def test_different_names_have_different_keys_and_spellings_of_a_document_the_same():
    for one, other in (
        ("Jürgen Müller", "Juergen Mueller"),
        ("Jürgen Müller", "Mueller Jürgen"),
        ("Jørn Kjær", "Joern Kjaer"),
        ("Åse Groß", "Aase Gross"),
        ("Łukasz Đorić", "Lukasz Doric"),
        ("王 小明", "小明 王"),
    ):
        assert name_key(one) == name_key(other), one
    names = ["Ada Reyes", "Ida Reyes", "Ada Reyas", "Noel Braun", "Leon Braun", "Ada M Reyes", "-"]
    assert len({*map(name_key, names)}) == len(names)
