"""Places and vehicles are found by the names that people give them."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferry_sdk import AmbiguousPlaceError, InvalidInputError, Port, ServerError, UnknownPlaceError
from ferry_sdk.planning.names import PlaceIndex, country_codes, fold
from tests.support.exchanges import caught

GENOA = ("ITGOA", "itgoa", "Genoa", "GENOVA", "Génova", "Gênes", "genes", "جنوة", "Genua")
NAMES = {
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
MISSPELLED = [("Marsilia", "FRMRS"), ("Civitavechia", "ITCVV"), ("Igumenitsa", "GRIGO")]


class TestFold:
    @given(st.text())
    def test_folding_twice_changes_nothing(self, text):
        assert fold(fold(text)) == fold(text)


@pytest.fixture(scope="module")
def code_of(reader):
    """The function that gives the code of a port's country."""
    return country_codes(reader.mcp.countries())


class TestCountryCodes:
    @pytest.mark.parametrize("country", ["Italy", "Italie"])
    def test_name_gives_the_code(self, code_of, country):
        assert code_of(Port(code="PMO1", name="Palermo", country=country)) == "IT"

    def test_unknown_country_has_no_code(self, code_of):
        assert code_of(Port(code="XXABC", name="Nowhere", country="Nowhere")) is None

    @pytest.mark.slow
    def test_ports_have_the_code_of_their_country(self, reader):
        assert reader.places.get("Genoa").country_code == "IT"
        assert reader.places.find("Tunis")[0].port.country_code == "TN"


class TestGet:
    def test_name_in_any_language_is_enough(self, reader):
        assert {name: reader.places.get(name).code for name in NAMES} == NAMES

    @pytest.mark.parametrize("name", ["Genoa, Italy", "Genova, IT", "gênes,italy"])
    def test_country_may_follow_the_name(self, reader, name):
        assert reader.places.get(name).code == "ITGOA"

    @pytest.mark.parametrize("name", ["Genoa, Greece", ", Italy"])
    def test_other_country_is_refused(self, reader, name):
        caught(UnknownPlaceError, reader.places.get, name)

    def test_country_of_two_ports_is_not_enough(self, reader):
        caught(AmbiguousPlaceError, reader.places.get, "Tangier, Morocco")

    def test_port_has_its_name_in_the_language(self, reader):
        assert reader.with_options(language="fr").places.get("Genoa").name == "Gênes"

    @pytest.mark.parametrize(
        ("name", "codes"),
        [
            pytest.param("Tanger", {"MAPTM", "MATNG"}, id="Tanger"),
            pytest.param("Porto", {"FRPVO", "ITPTO"}, id="Porto"),
        ],
    )
    def test_ambiguous_name_has_candidates(self, reader, name, codes):
        error = caught(AmbiguousPlaceError, reader.places.get, name)
        assert {port.code for port in error.candidates} == codes
        assert error.field == "text"
        again = pickle.loads(pickle.dumps(error))
        assert (again.candidates, str(again), again.field) == (error.candidates, str(error), "text")

    @pytest.mark.parametrize(("name", "code"), MISSPELLED)
    def test_misspelled_name_has_suggestions(self, reader, name, code):
        error = caught(UnknownPlaceError, reader.places.get, name)
        assert error.suggestions[0].code == code
        again = pickle.loads(pickle.dumps(error))
        assert again.suggestions == error.suggestions
        assert (str(again), again.field) == (str(error), "text")

    def test_part_of_a_word_is_a_guess(self, reader):
        error = caught(UnknownPlaceError, reader.places.get, "Gen")
        assert error.suggestions[0].name == "Genoa"

    def test_name_like_no_other_has_no_suggestion(self, reader):
        error = caught(UnknownPlaceError, reader.places.get, "Xyzzyqq")
        assert error.suggestions == ()
        assert "no port is called 'Xyzzyqq'" in str(error)

    @pytest.mark.parametrize("text", ["", "  ", None, 7], ids=repr)
    def test_no_text_is_refused(self, reader, text):
        assert caught(InvalidInputError, reader.places.get, text).field == "text"

    @given(st.text(min_size=1), st.lists(st.text(min_size=1), max_size=5))
    def test_any_text_is_found_or_refused(self, text, names):
        index = PlaceIndex()
        index.add_ports(
            Port(code=f"C{number}", name=name, country="") for number, name in enumerate(names)
        )
        try:
            port = index.get(text, "text")
        except (UnknownPlaceError, AmbiguousPlaceError):
            return
        assert port in index.ports.values()


class TestFind:
    @pytest.mark.parametrize(
        ("text", "score"),
        [
            pytest.param("ITGOA", 1, id="code"),
            pytest.param("Genoa", 1, id="name"),
            pytest.param("Lübeck", 0.95, id="city"),
            pytest.param("Genua", 0.95, id="alias"),
        ],
    )
    def test_score_tells_what_matches(self, reader, text, score):
        assert reader.places.find(text, limit=1)[0].score == score

    @pytest.mark.parametrize("text", ["Tanger", "Gen"])
    def test_part_of_a_name_matches(self, reader, text):
        assert reader.places.find(text, limit=1)[0].reason == "part of a name"

    def test_best_match_comes_first(self, reader):
        matches = reader.places.find("Marsilia", limit=9)
        assert matches[0].port.name == "Marseille"
        scores = [match.score for match in matches]
        assert scores == sorted(scores, reverse=True)
        assert all(0 < score <= 1 for score in scores)

    def test_beginning_of_a_name_comes_first(self, reader):
        names = [match.port.name for match in reader.places.find("Gen", limit=9)]
        assert names[0] == "Genoa"
        assert "Cherbourg" in names

    @pytest.fixture
    def malta(self):
        """An index of ports with similar names, the worst first."""
        index = PlaceIndex()
        names = ("Imalta", "Maltaville", "Great Maltaville", "Port Malta", "Malta")
        index.add_ports(Port(code=name, name=name, country="") for name in names)
        return index

    def test_whole_words_outrank_beginnings(self, malta):
        ranked = [match.port.name for match in malta.find("malta", 9)]
        assert ranked == ["Malta", "Port Malta", "Great Maltaville", "Maltaville", "Imalta"]

    def test_beginning_of_several_words_matches(self, malta):
        assert malta.find("great ma", 1)[0].port.name == "Great Maltaville"

    def test_just_similar_enough_matches(self):
        index = PlaceIndex()
        index.add_ports([Port(code="XXABC", name="Abcdezzzfghizzzz", country="")])
        (match,) = index.find("abcdefghi", 1)  # nine of twenty-five letters twice: 0.72
        assert (match.port.code, match.reason) == ("XXABC", "similar name")

    def test_better_name_of_a_port_counts(self):
        index = PlaceIndex()
        names = ("Opqrstuuuu", "Opqrstu")
        index.add_ports(Port(code="XXDEF", name=name, country="") for name in names)
        (match,) = index.find("opqrst", 9)
        assert match.score == pytest.approx(0.8 + 0.04 * 6 / 7, abs=0.001)


class TestReading:
    def test_failed_names_are_read_the_next_time(self, new_ferry, ferry_sandbox):
        ferry_sandbox.faults.add("server_error", "catalogue.ports", times=None)
        caught(ServerError, new_ferry.places.get, "Douvres")
        ferry_sandbox.faults.clear()
        assert new_ferry.places.get("Douvres").code == "GBDVR"

    def test_failed_cities_are_read_the_next_time(self, new_ferry, ferry_sandbox):
        ferry_sandbox.faults.add("server_error", "mcp.ports", times=None)
        caught(UnknownPlaceError, new_ferry.places.get, "Lübeck")
        ferry_sandbox.faults.clear()
        assert new_ferry.places.get("Lübeck").code == "DETRV"


class TestVehicles:
    @pytest.mark.parametrize(
        ("text", "code"),
        [
            pytest.param("golf", "VOLKSWAGEN__GOLF", id="model"),
            pytest.param("Volkswagen Golf", "VOLKSWAGEN__GOLF", id="make and model"),
            pytest.param("VOLKSWAGEN__GOLF", "VOLKSWAGEN__GOLF", id="code"),
            pytest.param("VW Golf", "VOLKSWAGEN__GOLF", id="model among other words"),
            pytest.param("fiat 500", "FIAT__500", id="model with digits"),
            pytest.param("Giullia", "ALFA_ROMEO__GIULIA", id="misspelled model"),
        ],
    )
    def test_car_is_found_by_its_name(self, reader, text, code):
        assert reader.vehicles.find(text)[0].model.code == code

    def test_no_car_is_like_the_text(self, reader):
        assert reader.vehicles.find("xyzzyqq") == ()

    def test_search_takes_the_code_of_the_model(self, reader):
        golf = reader.vehicles.find("golf", limit=1)[0]
        assert golf.query.code == "VOLKSWAGEN__GOLF"

    def test_booking_takes_the_code_of_the_type(self, reader):
        golf = reader.vehicles.find("golf", limit=1)[0]
        vehicle = golf.booking(identification="GE 123 AB")
        types = {vehicle_type.code for vehicle_type in reader.catalogue.vehicle_types()}
        assert vehicle.code in types
        assert vehicle.vehicule_code == "VOLKSWAGEN__GOLF"
        assert vehicle.identification == "GE 123 AB"

    def test_failed_catalogue_is_read_the_next_time(self, new_ferry, ferry_sandbox):
        ferry_sandbox.faults.add("server_error", "mcp.vehicle_data")
        caught(ServerError, new_ferry.vehicles.find, "golf")
        assert new_ferry.vehicles.find("golf")

    def test_catalogue_is_read_once(self, new_ferry, ferry_sandbox):
        assert new_ferry.vehicles.find("golf")
        ferry_sandbox.faults.add("server_error", "*", times=None)
        assert new_ferry.vehicles.find("golf")
