"""Records that cannot be read are named by reports, lists and errors, and never vanish."""

import pickle
from datetime import timedelta

import pytest

from ferry_sdk import (
    Company,
    Departure,
    Ferry,
    Journey,
    McpPort,
    Port,
    Records,
    Unreadable,
    errors,
)
from ferry_sdk.planning import catalogues
from ferry_sdk.planning.names import PlaceIndex
from ferry_sdk.planning.results import (
    AskedSearch,
    Matches,
    SearchReport,
    UnreadableAnswer,
    count_unreadable,
    describe_unreadable,
)
from ferry_sdk.planning.routes import DEPARTURES_OF, RouteSources
from ferry_sdk.sandbox import Sandbox
from tests.models.test_cards import parse_html
from tests.planning.conftest import client_of_module
from tests.planning.strait import ADULT, DAY, STRAIT
from tests.support.exchanges import caught
from tests.support.tiers import mostly_long
from tests.support.trip import NOW

ENDS = {name: STRAIT[name] for name in ("origin", "destination")}
GAP = Unreadable(index=1, field="code", problem="missing", raw={"code": None})
PORTS_GAP = UnreadableAnswer(search=None, operation="catalogue.ports", records=(GAP,))
WHOLE_LIST = UnreadableAnswer(search=None, operation="catalogue.journeys", records=())
TO_PALERMO = {"origin": "Genoa", "destination": "Palermo"}


def spoil(sandbox, operation, field, index=0, **more):
    """Every answer of the operation has a record without a field."""
    sandbox.faults.add("missing_field", operation, times=None, field=field, index=index, **more)


def spoil_palermo(sandbox):
    """The port of Palermo has no code, in any language."""
    with Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        codes = [port.code for port in ferry.catalogue.ports()]
    spoil(sandbox, "catalogue.ports", "code", codes.index("ITPMO"))


def spoil_journey(sandbox):
    """The journey from Genoa to Palermo has no id."""
    with Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        routes = [journey.route for journey in ferry.catalogue.journeys()]
    spoil(sandbox, "catalogue.journeys", "journey_id", routes.index("Genoa → Palermo"))


@pytest.fixture(scope="module", params=mostly_long(["sync", "asyncio"]))
def without_journey(request):
    """A client of a service whose journey from Genoa to Palermo cannot be read."""
    with Sandbox(now=NOW) as sandbox, client_of_module(request, sandbox, max_retries=0) as client:
        spoil_journey(sandbox)
        yield client


@pytest.fixture(scope="module", params=mostly_long(["sync", "asyncio"]))
def without_palermo(request):
    """A client of a service whose port of Palermo cannot be read, in any language."""
    with Sandbox(now=NOW) as sandbox, client_of_module(request, sandbox, max_retries=0) as client:
        spoil_palermo(sandbox)
        yield client


@pytest.fixture
def broken_fares(ferry_sandbox):
    """The first sailing of each answer of Baleària has a tariff without an amount."""
    spoil(ferry_sandbox, "availability.search", "tariffs.0.amount", company="BALEARIA")


class TestSearches:
    """The report names the search, the call and the records."""

    pytestmark = pytest.mark.usefixtures("broken_fares")

    def check(self, report, *days):
        assert {answer.operation for answer in report.unreadable} == {"availability.search"}
        assert {answer.search.company for answer in report.unreadable} == {"BALEARIA"}
        assert {answer.search.day for answer in report.unreadable} == {*days}
        assert report.unreadable[0].records[0].field == "tariffs[0].amount"
        assert not report.is_complete
        assert not report.failed

    def test_search_names_unreadable_sailings(self, ferry):
        trips = ferry.trips.search(**STRAIT)
        self.check(trips.report, DAY)
        assert "BALEARIA" in {search.company for search in trips.report.answered}

    def test_repr_counts_unreadable_sailings(self, ferry):
        trips = ferry.trips.search(**STRAIT)
        text = ", 1 record of availability.search could not be read>"
        assert repr(trips).endswith(text)
        assert repr(trips.report).endswith(text)

    def test_table_counts_unreadable_sailings(self, ferry):
        table = ferry.trips.search(**STRAIT)._repr_html_()
        text = "1 record of availability.search could not be read. See .report.unreadable."
        assert text in parse_html(table).texts

    def test_calendar_counts_unreadable_sailings_by_day(self, ferry):
        days = {"start": DAY, "end": DAY + timedelta(1)}
        calendar = ferry.trips.calendar(**ENDS, **days, passengers=ADULT)
        self.check(calendar.report, *calendar)
        assert [day.unreadable for day in calendar.values()] == [1, 1]
        assert calendar.to_frame()["unreadable"].tolist() == [1, 1]
        assert "2 records of availability.search could not be read" in repr(calendar)
        notes = [text for text in parse_html(calendar._repr_html_()).texts if "not be read" in text]
        assert [note.removeprefix("cheapest, ") for note in notes[:2]] == [
            "1 could not be read"
        ] * 2

    def test_connections_name_unreadable_legs(self, ferry):
        ends = {"origin": "Tangier Med", "destination": "Ceuta", "on": DAY}
        found = ferry.trips.connections(**ends, passengers=ADULT)
        self.check(found.report, *(answer.search.day for answer in found.report.unreadable))
        assert "of availability.search could not be read" in repr(found)
        assert "of availability.search could not be read" in found._repr_html_()


def test_stream_names_unreadable_sailings(ferry_sandbox, with_routes, broken_fares):
    with (
        Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry,
        ferry.trips.stream(**STRAIT) as stream,
    ):
        list(stream)
        (answer,) = stream.report.unreadable
        assert (answer.search.company, answer.operation) == ("BALEARIA", "availability.search")
        assert "could not be read" in repr(stream)


def test_answer_of_unreadable_sailings_alone_failed(ferry, ferry_sandbox):
    ferry_sandbox.faults.add(
        "wrong_shape", "availability.search", times=None, company="BALEARIA", value=[{"id": 1}]
    )
    report = ferry.trips.search(**STRAIT).report
    assert [search.company for search in report.failed] == ["BALEARIA"]
    assert report.unreadable == ()


class TestJourneys:
    """A journey that cannot be read is not "no company sails"."""

    @pytest.mark.slow
    def test_unreadable_journey_leaves_the_route_unknown(self, without_journey):
        report = without_journey.trips.search(**TO_PALERMO, on=DAY, passengers=ADULT).report
        assert report.has_route is None
        assert [answer.operation for answer in report.unreadable] == ["catalogue.journeys"]
        assert report.unreadable[0].search is None
        assert not report.is_complete

    def test_texts_do_not_say_that_nobody_sails(self, without_journey):
        trips = without_journey.trips.search(**TO_PALERMO, on=DAY, passengers=ADULT)
        texts = [repr(trips), repr(trips.report), *parse_html(trips._repr_html_()).texts]
        assert not [text for text in texts if "no company" in text.lower()]
        assert "it is not known whether a company sails from the one place to the other" in texts[0]
        assert "It is not known whether a company sails from the one place to the other." in texts
        assert "1 record of catalogue.journeys could not be read" in texts[1]

    def test_calendar_does_not_say_that_nobody_sails(self, without_journey):
        days = {"start": DAY, "end": DAY}
        calendar = without_journey.trips.calendar(**TO_PALERMO, **days, passengers=ADULT)
        assert calendar.report.has_route is None
        assert "it is not known whether a company sails" in repr(calendar)
        assert "It is not known whether" in calendar._repr_html_()

    def test_routes_name_unreadable_journeys(self, without_journey):
        routes = without_journey.routes.find("Genoa", "Palermo")
        assert routes == ()
        assert [answer.operation for answer in routes.unreadable] == ["catalogue.journeys"]
        assert "1 record of catalogue.journeys could not be read" in repr(routes)
        assert "could not be read" in routes._repr_html_()

    def test_known_route_is_true_but_incomplete(self, without_journey):
        report = without_journey.trips.search(**STRAIT).report
        assert report.has_route is True
        assert not report.is_complete

    @pytest.mark.slow
    def test_file_of_routes_remembers_unreadable_journeys(self, clients, ferry_sandbox, tmp_path):
        spoil_journey(ferry_sandbox)
        settings = {"base_url": ferry_sandbox.base_url, "route_cache": tmp_path / "routes"}
        routes = clients(ferry_sandbox.token, **settings).routes.find("Genoa")
        catalogues.clear_cache()
        ferry_sandbox.faults.clear()
        ferry_sandbox.faults.add("server_error", "*", times=None)
        kept = clients(ferry_sandbox.token, **settings).routes.find("Genoa")
        assert kept == routes
        assert kept.unreadable == routes.unreadable != ()


def test_connections_without_a_journey_are_not_known(without_journey):
    ends = {"origin": "Stockholm", "destination": "Tunis (La Goulette)", "on": DAY}
    found = without_journey.trips.connections(**ends, passengers=ADULT)
    assert found.report.has_route is None
    assert "it is not known whether one can sail with one change" in repr(found)
    assert "It is not known whether one can sail with one change" in found._repr_html_()


class TestPorts:
    """A port that cannot be read is not "no port"."""

    @pytest.mark.parametrize("text", ["Palermo", "ITPMO", "Palerme", "Palrmo"])
    def test_unknown_place_says_that_ports_are_unreadable(self, without_palermo, text):
        error = caught(errors.UnknownPlaceError, without_palermo.places.get, text)
        assert "records of catalogue.ports could not be read" in str(error)

    @pytest.mark.slow
    def test_search_from_an_unreadable_port_says_so(self, without_palermo):
        search = {**TO_PALERMO, "on": DAY, "passengers": ADULT}
        error = caught(errors.UnknownPlaceError, without_palermo.trips.search, **search)
        assert error.field == "destination"
        assert "could not be read" in str(error)

    def test_places_name_unreadable_ports(self, without_palermo):
        places = without_palermo.places.find("Genoa")
        assert {answer.operation for answer in places.unreadable} == {"catalogue.ports"}
        assert count_unreadable(places.unreadable) == len(places.unreadable)
        assert "could not be read" in places._repr_html_()

    def test_routes_name_the_port_alone(self, without_palermo):
        (answer,) = without_palermo.routes.find("Genoa").unreadable
        assert answer.operation == "catalogue.ports"
        assert len(answer.records) == 1


def test_places_without_a_list_say_so(new_ferry, ferry_sandbox):
    ferry_sandbox.faults.add("wrong_shape", "mcp.ports", times=None, value="none")
    places = new_ferry.places.find("Atlantis City")
    assert places.unreadable == (UnreadableAnswer(None, "mcp.ports", ()),)
    error = caught(errors.UnknownPlaceError, new_ferry.places.get, "Atlantis City")
    assert "a whole list of mcp.ports could not be read" in str(error)


def test_places_name_a_city_without_a_code(new_ferry, ferry_sandbox):
    ports = [{"code": "ITGOA", "city": "Genoa"}, {"city": "Atlantis City"}]
    ferry_sandbox.faults.add("wrong_shape", "mcp.ports", times=None, value=ports)
    (answer,) = new_ferry.places.find("Atlantis City").unreadable
    (record,) = answer.records
    assert (answer.operation, record.index, record.field) == ("mcp.ports", 1, "code")


def test_lost_catalogue_leaves_the_route_unknown(new_ferry, ferry_sandbox):
    ferry_sandbox.faults.add("wrong_shape", "catalogue.journeys", times=None, value=[{"route": 1}])
    ends = {"origin": "ITGOA", "destination": "SESTO"}
    report = new_ferry.trips.search(**ends, on=DAY, passengers=ADULT).report
    assert report.has_route is None
    assert WHOLE_LIST in report.unreadable
    assert not report.is_complete


def test_service_without_mcp_lacks_nothing(new_ferry, ferry_sandbox):
    ferry_sandbox.faults.add("refused", "mcp.*", times=None)
    report = new_ferry.trips.search(**STRAIT, companies=["BALEARIA"]).report
    assert report.unreadable == ()
    assert report.is_complete


def test_unreadable_companies_are_not_what_the_service_says(new_ferry, ferry_sandbox):
    ferry_sandbox.faults.add("wrong_shape", "mcp.*", times=None, value="none")
    error = caught(errors.InvalidInputError, new_ferry.trips.search, **STRAIT)
    assert error.field == "companies"
    assert "the service does not say" not in str(error)
    assert "a whole list of mcp.companies" in str(error)


@pytest.mark.slow
def test_company_of_an_unreadable_departure_is_asked(new_ferry, ferry_sandbox):
    (route,) = new_ferry.routes.find("Genoa", "Tunis")
    departures = [each.journey_id for each in new_ferry.catalogue.departures("GNV")]
    catalogues.clear_cache()
    index = departures.index(route.journey_id)
    ferry_sandbox.faults.add(
        "unknown_enum", "catalogue.departures", times=None, field="departure_times", index=index
    )
    routes = new_ferry.routes.find("Genoa", "Tunis")
    assert "GNV" in routes[0].companies
    assert {answer.operation for answer in routes.unreadable} == {"catalogue.departures"}


class TestVehicles:
    """A vehicle that cannot be read is not "no vehicle"."""

    @pytest.fixture(autouse=True)
    def _without_a_code(self, ferry_sandbox):
        spoil(ferry_sandbox, "mcp.vehicle_data", "code")

    def test_vehicles_name_unreadable_models(self, new_ferry):
        vehicles = new_ferry.vehicles.find("golf")
        assert vehicles
        assert describe_unreadable(vehicles.unreadable).startswith("1 record of mcp.vehicle_data")

    def test_unknown_vehicle_says_that_models_are_unreadable(self, ferry):
        error = caught(errors.InvalidInputError, ferry.trips.search, **STRAIT, vehicle="Zeppelin")
        assert error.field == "vehicle"
        assert "1 record of mcp.vehicle_data could not be read" in str(error)


PORTS = [Port(code=code, name=name, country="") for code, name in {"A": "Ana", "B": "Bo"}.items()]
UNPLACED = Records([Journey(journey_id="j", route="Ana → Zed", duration_minutes=60)], [GAP])


def test_journey_between_unknown_ports_is_named():
    sources = RouteSources(ports=PORTS)
    sources.add("journeys", UNPLACED)
    (answer,) = sources.graph(is_complete=True).unreadable
    (record,) = answer.records
    assert (answer.operation, record.field, record.index) == ("catalogue.journeys", "route", 0)
    assert record.raw["route"] == "Ana → Zed"


def test_unreadable_port_explains_its_journeys():
    sources = RouteSources(ports=PORTS, unreadable=[PORTS_GAP])
    sources.add("journeys", UNPLACED)
    assert sources.graph(is_complete=True).unreadable == (PORTS_GAP,)


NAMELESS = [Company(name="A"), Company(code="B"), Company(id="c")]


def test_nameless_company_is_reported():
    sources = RouteSources()
    sources.add("companies", Records(NAMELESS, [Unreadable(0, "code", "wrong", raw={})]))
    (answer,) = sources.unreadable
    assert [(record.index, record.field) for record in answer.records] == [(1, "code")]
    assert [*sources.companies] == ["B", "c"]


def test_companies_with_other_fields_are_no_gaps():
    sources = RouteSources()
    sources.add("companies", NAMELESS[:1])
    assert sources.unreadable == []


def test_port_of_mcp_without_a_code_is_named():
    sources = RouteSources()
    sources.add("mcp_ports", Records([McpPort(code="ITGOA"), McpPort(city="Tunis")]))
    (answer,) = sources.graph(is_complete=True).unreadable
    assert [(record.index, record.field) for record in answer.records] == [(1, "code")]


def test_mcp_ports_with_other_fields_are_no_gaps():
    sources = RouteSources()
    sources.add("mcp_ports", Records([McpPort(city="Genoa"), McpPort(city="Tunis")]))
    assert sources.unreadable == []


def test_departure_without_a_journey_adds_nothing():
    lost = [Unreadable(0, "journey_id", "missing", raw=raw) for raw in ({"journey_id": ""}, "j", 1)]
    readable = Departure(journey_id="j", departure_times=())
    sources = RouteSources(ports=PORTS, journeys=[*UNPLACED], companies={"B": "b"})
    sources.add(f"{DEPARTURES_OF}B", Records([readable], lost))
    assert sources._times() == {"j": {"B": ()}}


UNREADABLE_NAMES = [
    pytest.param({"code": None, "name": "Porto Vecchio"}, "Vecchio", id="part of its name"),
    pytest.param({"code": "Vecchio", "name": None}, "Vecchio", id="its code"),
]


@pytest.mark.parametrize(("raw", "text"), UNREADABLE_NAMES)
def test_part_of_a_name_is_no_guess(raw, text):
    index = PlaceIndex()
    index.add_ports([Port(code="A", name="Vecchio Molo", country="")])
    assert index.get(text, "text").code == "A"
    gap = Unreadable(index=0, field="country", problem="missing", raw=raw)
    index.unreadable = (UnreadableAnswer(None, "catalogue.ports", (gap,)),)
    error = caught(errors.UnknownPlaceError, index.get, text, "text")
    assert [port.code for port in error.suggestions] == ["A"]


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param({"name": "Vecchiomare"}, id="another word"),
        pytest.param({"name": 5}, id="no text"),
        pytest.param([], id="no object"),
    ],
)
def test_other_unreadable_ports_forbid_no_part(raw):
    index = PlaceIndex()
    index.add_ports([Port(code="A", name="Vecchio Molo", country="")])
    gap = Unreadable(index=0, field="code", problem="missing", raw=raw)
    index.unreadable = (UnreadableAnswer(None, "catalogue.ports", (gap,)),)
    assert index.get("Vecchio", "text").code == "A"


SEARCH = AskedSearch("GNV", "ITGOA", "ITPMO", DAY)
FARES_GAP = UnreadableAnswer(SEARCH, "availability.search", (GAP,))


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        pytest.param([], "", id="nothing"),
        pytest.param([PORTS_GAP], "1 record of catalogue.ports could not be read", id="one record"),
        pytest.param(
            [PORTS_GAP, PORTS_GAP],
            "2 records of catalogue.ports could not be read",
            id="two records",
        ),
        pytest.param(
            [WHOLE_LIST],
            "a whole list of catalogue.journeys could not be read",
            id="a whole list",
        ),
        pytest.param(
            [WHOLE_LIST, FARES_GAP],
            "1 record of availability.search and a whole list of catalogue.journeys "
            "could not be read",
            id="a record and a whole list",
        ),
    ],
)
def test_words_count_records_by_call(answers, words):
    assert describe_unreadable(answers) == words


@pytest.mark.parametrize("answer", [PORTS_GAP, WHOLE_LIST], ids=["a record", "a whole list"])
def test_anything_unreadable_makes_a_report_incomplete(answer):
    assert SearchReport().is_complete
    assert not SearchReport(unreadable=(answer,)).is_complete


def test_matches_keep_their_gaps_in_copies():
    matches = Matches(["a"], [PORTS_GAP])
    again = pickle.loads(pickle.dumps(matches))
    assert (again, again.unreadable) == (("a",), (PORTS_GAP,))
    assert repr(Matches(["a"])) == "('a',)"


def test_frames_count_what_has_no_row(ferry, broken_fares):
    trips = ferry.trips.search(**STRAIT)
    assert trips.to_frame().attrs["unreadable"] == 1
    assert Records([trips[0].outward], [GAP]).to_frame().attrs["unreadable"] == 1


def test_sailing_of_another_port_is_named(clients, ferry_sandbox, with_routes):
    ferry_sandbox.faults.add(
        "unknown_enum",
        "availability.search",
        times=None,
        company="BALEARIA",
        field="depart_code",
        index=2,
        value="ESXXX",
    )
    ferry = clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url)
    (answer,) = ferry.trips.search(**STRAIT).report.unreadable
    (record,) = answer.records
    assert (answer.search.company, record.index, record.field) == ("BALEARIA", 2, "depart_code")
    assert record.raw["depart_code"] == "ESXXX"


def test_vehicle_without_a_code_is_named(new_ferry, ferry_sandbox):
    spoil(ferry_sandbox, "mcp.vehicle_data", "code", 1)
    vehicles = new_ferry.vehicles.find("golf")
    assert [record.index for record in vehicles.unreadable[0].records] == [1]


def test_country_that_cannot_be_read_is_no_port(new_ferry, ferry_sandbox):
    countries = [7, {"code": "FR", "name": "France"}]
    ferry_sandbox.faults.add("wrong_shape", "mcp.countries", times=None, value=countries)
    places = new_ferry.places.find("Genoa")
    assert [answer.operation for answer in places.unreadable] == ["mcp.countries"]
    error = caught(errors.UnknownPlaceError, new_ferry.places.get, "Atlantis City")
    assert "read" not in str(error)
