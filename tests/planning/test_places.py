"""Places and vehicles are found by the names that people give them."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferry_sdk import AmbiguousPlaceError, InvalidInputError, Port, ServerError, UnknownPlaceError
from ferry_sdk.planning.names import PlaceIndex, country_codes, fold
from tests.support.exchanges import caught

GENOA = ("ITGOA", "itgoa", "Genoa", "GENOVA", "Génova", "Gênes", "genes", "جنوة", "Genua")
FOUND = {
    **dict.fromkeys(GENOA, "ITGOA"),
    **dict.fromkeys(("Πειραιάς", "ΠΕΙΡΑΙΑΣ", "Athens"), "GRPIR"),
    **dict.fromkeys(("St Malo", "St. Malo", "saint-malo"), "FRSML"),
    **dict.fromkeys(("Tunis", "la goulette"), "TNLGN"),
    "Douvres": "GBDVR",
    "Barcelone": "ESBCN",
    "Rome": "ITCVV",
    "Neapel": "ITNAP",
    "Eivissa": "ESIBZ",
    "København": "DKCPH",
    "Gothenburg": "SEGOT",
    "Newcastle": "GBNSH",
    "Palma": "ESPMI",
    "Nizza": "FRNCE",
    "L'Île-Rousse": "FRILR",
}


def test_names_are_found_in_six_languages_or_refused_where_they_may_be_another(reader):
    assert {name: reader.places.get(name).code for name in FOUND} == FOUND
    scores = {"ITGOA": 1, "Genoa": 1, "Lübeck": 0.95, "Genua": 0.95}  # code, name, city, alias
    assert {text: reader.places.find(text, limit=1)[0].score for text in scores} == scores
    for name in ("Genoa, Italy", "Genova, IT", "gênes,italy"):
        assert reader.places.get(name).code == "ITGOA"
    for name in ("Genoa, Greece", ", Italy"):
        caught(UnknownPlaceError, reader.places.get, name)
    caught(AmbiguousPlaceError, reader.places.get, "Tangier, Morocco")
    for name, codes in (("Tanger", {"MAPTM", "MATNG"}), ("Porto", {"FRPVO", "ITPTO"})):
        refused = caught(AmbiguousPlaceError, reader.places.get, name)
        assert {port.code for port in refused.candidates} == codes
        again = pickle.loads(pickle.dumps(refused))
        assert again.candidates == refused.candidates
        assert (str(again), again.field, refused.field) == (str(refused), "text", "text")
    misspelled = {"Marsilia": "FRMRS", "Civitavechia": "ITCVV", "Igumenitsa": "GRIGO"}
    for name, code in misspelled.items():
        refused = caught(UnknownPlaceError, reader.places.get, name)
        assert refused.suggestions[0].code == code, name
        again = pickle.loads(pickle.dumps(refused))
        assert again.suggestions == refused.suggestions
        assert (str(again), again.field) == (str(refused), "text")
    refused = caught(UnknownPlaceError, reader.places.get, "Xyzzyqq")  # like no other
    assert refused.suggestions == ()
    assert "no port is called 'Xyzzyqq'" in str(refused)
    for no_text in ("", "  ", None, 7):
        assert caught(InvalidInputError, reader.places.get, no_text).field == "text"
    (match,) = reader.places.find("Tanger", limit=1)
    assert match.reason == "part of a name"
    scores = [one.score for one in reader.places.find("Marsilia", limit=9)]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)
    assert reader.places.find("Marsilia")[0].port.name == "Marseille"
    found = reader.places.find("Gen", limit=9)
    names = [match.port.name for match in found]
    assert names[0] == "Genoa"
    assert "Cherbourg" in names
    assert found[0].reason == "part of a name"
    refused = caught(UnknownPlaceError, reader.places.get, "Gen")  # no whole word, so a guess
    assert refused.suggestions[0].name == "Genoa"
    index = PlaceIndex()
    ports = ("Imalta", "Maltaville", "Great Maltaville", "Port Malta", "Malta")
    index.add_ports(Port(code=name, name=name, country="") for name in ports)
    ranked = [match.port.name for match in index.find("malta", 9)]
    assert ranked == ["Malta", "Port Malta", "Great Maltaville", "Maltaville", "Imalta"]
    assert index.find("great ma", 1)[0].port.name == "Great Maltaville"
    assert reader.places.get("Genoa").country_code == "IT"
    assert reader.places.find("Tunis")[0].port.country_code == "TN"
    assert reader.with_options(language="fr").places.get("Genoa").name == "Gênes"
    codes = country_codes(reader.mcp.countries())
    assert codes(Port(code="PMO1", name="Palermo", country="Italy")) == "IT"
    assert codes(Port(code="PMO1", name="Palermo", country="Italie")) == "IT"
    assert codes(Port(code="XXABC", name="Nowhere", country="Nowhere")) is None


def test_names_that_cannot_be_read_are_read_the_next_time(new_ferry, ferry_sandbox):
    ferry_sandbox.faults.add("server_error", "catalogue.ports", times=None)
    caught(ServerError, new_ferry.places.get, "Douvres")
    ferry_sandbox.faults.clear()
    ferry_sandbox.faults.add("server_error", "mcp.ports", times=None)
    caught(UnknownPlaceError, new_ferry.places.get, "Lübeck")
    ferry_sandbox.faults.clear()
    assert new_ferry.places.get("Lübeck").code == "DETRV"


@given(st.text())
def test_folding_twice_changes_nothing(text):
    assert fold(fold(text)) == fold(text)


@given(st.text(min_size=1), st.lists(st.text(min_size=1), max_size=5))
def test_any_text_is_found_or_refused(text, names):
    index = PlaceIndex()
    index.add_ports(
        Port(code=f"C{number}", name=name, country="") for number, name in enumerate(names)
    )
    try:
        port = index.get(text, "text")
    except (UnknownPlaceError, AmbiguousPlaceError):
        return
    assert port in index.ports.values()


def test_a_name_that_is_just_similar_enough_is_found():
    index = PlaceIndex()
    index.add_ports([Port(code="XXABC", name="Abcdezzzfghizzzz", country="")])
    (match,) = index.find("abcdefghi", 1)  # nine of twenty-five letters twice: 0.72
    assert (match.port.code, match.reason) == ("XXABC", "similar name")
    index, names = PlaceIndex(), ("Opqrstuuuu", "Opqrstu")  # the better one counts
    index.add_ports(Port(code="XXDEF", name=name, country="") for name in names)
    (match,) = index.find("opqrst", 9)
    assert match.score == pytest.approx(0.8 + 0.04 * 6 / 7, abs=0.001)


def test_a_car_is_found_by_its_name(reader):
    golfs = ("golf", "Volkswagen Golf", "VOLKSWAGEN__GOLF", "VW Golf")
    codes = {"fiat 500": "FIAT__500", "Giullia": "ALFA_ROMEO__GIULIA"}
    codes |= dict.fromkeys(golfs, "VOLKSWAGEN__GOLF")
    assert {text: reader.vehicles.find(text)[0].model.code for text in codes} == codes
    assert reader.vehicles.find("xyzzyqq") == ()
    golf = reader.vehicles.find("golf", limit=1)[0]
    assert golf.query.code == "VOLKSWAGEN__GOLF"
    vehicle = golf.booking(identification="GE 123 AB")
    assert vehicle.code in {one.code for one in reader.catalogue.vehicle_types()}
    assert (vehicle.vehicule_code, vehicle.identification) == ("VOLKSWAGEN__GOLF", "GE 123 AB")


def test_the_catalogue_is_read_once(new_ferry, ferry_sandbox):
    ferry_sandbox.faults.add("server_error", "mcp.vehicle_data")
    caught(ServerError, new_ferry.vehicles.find, "golf")
    assert new_ferry.vehicles.find("golf")
    ferry_sandbox.faults.add("server_error", "*", times=None)
    assert new_ferry.vehicles.find("golf")
