"""Who sails where, made of the catalogues of both protocols."""

import json
import os
import threading
from dataclasses import replace
from datetime import timedelta
from functools import partial

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferry_sdk import AsyncFerry, Departure, Ferry, Journey, Port, ScheduledDeparture, errors
from ferry_sdk.models.catalogue import Company
from ferry_sdk.planning import catalogues
from ferry_sdk.planning.route_files import content_of, read_graph
from ferry_sdk.planning.routes import DEPARTURES_OF, FRESH_FOR, GRAPH, RouteSources
from ferry_sdk.sandbox.network.network import Network, journey_id
from tests.backend.gathering import UnderWay, at_once, eventually
from tests.support import trip
from tests.support.exchanges import caught
from tests.support.hold import Hold
from tests.support.tiers import mostly_long

ANA = Port(code="AAAAA", name="Ana", country="")
BO_BAY = Port(code="BBBBB", name="Bo - Bay", country="")
OTHER_ANA = Port(code="CCCCC", name="Ana", country="")


def journey_of(text, **members):
    return Journey(**{"journey_id": "j", "route": text, "duration_minutes": 60, **members})


def route_of(sources):
    """Return the only route of a graph that is made of the sources."""
    (route,) = sources.graph(is_complete=True).routes
    return route


class TestFind:
    @pytest.mark.parametrize("language", mostly_long([None, "fr", "ar", "de"], short=2))
    def test_every_route_is_found_in_each_language(self, reader, language):
        journeys = Network.load().journeys.values()
        routes = reader.with_options(language=language).routes.find()
        companies = {route.journey_id: {*route.companies} for route in routes}
        assert companies == {journey.id: {*journey.route.companies} for journey in journeys}
        assert len(routes) == len(journeys)
        for route in routes:
            assert route.journey_id == journey_id(route.depart_code, route.arrive_code)

    @pytest.fixture
    def to_tunis(self, reader):
        (route,) = reader.routes.find("Genoa", "Tunis")
        return route

    def test_route_has_its_ports(self, to_tunis):
        assert (to_tunis.depart_code, to_tunis.arrive_code) == ("ITGOA", "TNLGN")
        assert to_tunis.duration == timedelta(hours=24)

    def test_routes_are_hashable(self, reader, to_tunis):
        assert to_tunis in set(reader.routes.find("Genoa"))

    def test_route_names_its_companies(self, to_tunis):
        assert {*to_tunis.companies} == {"GNV", "CTN"}

    def test_route_has_times_by_company(self, to_tunis):
        assert {*to_tunis.departure_times} == {"GNV", "CTN"}
        for times in to_tunis.departure_times.values():
            assert all(":" in time for time in times)

    def test_names_are_in_the_language(self, reader, to_tunis):
        (french,) = reader.with_options(language="fr").routes.find("ITGOA", "TNLGN")
        assert (to_tunis.depart_name, french.depart_name) == ("Genoa", "Gênes")
        assert to_tunis.journey_id == french.journey_id
        assert {None, "fr"} <= {language for _, _, language, _ in catalogues._graphs}

    def test_origin_alone_is_enough(self, reader):
        assert {route.depart_code for route in reader.routes.find("Genoa")} == {"ITGOA"}

    def test_destination_alone_is_enough(self, reader):
        routes = reader.routes.find(destination=reader.places.get("Tunis"))
        assert {route.arrive_code for route in routes} == {"TNLGN"}

    def test_ports_without_a_route_give_none(self, reader):
        assert reader.routes.find("Genoa", "Stockholm") == ()

    def test_unknown_place_is_named(self, reader):
        find = reader.routes.find
        assert caught(errors.UnknownPlaceError, find, "Genoa", "Atlantis City").field == (
            "destination"
        )


class TestSharedReading:
    @pytest.fixture
    def requests(self):
        """The operation of each request."""
        return []

    @pytest.fixture
    def settings(self, ferry_sandbox, requests):
        hooks = {"request": [lambda event: requests.append(event.operation)]}
        return {"base_url": ferry_sandbox.base_url, "event_hooks": hooks}

    def test_concurrent_callers_read_once(self, ferry_sandbox, settings, requests):
        counts = []

        async def find():
            async with AsyncFerry(ferry_sandbox.token, **settings) as ferry:
                counts.append(len(await ferry.routes.find()))

        def find_in_thread():
            with Ferry(ferry_sandbox.token, **settings) as ferry:
                counts.append(len(ferry.routes.find()))

        works = [partial(anyio.run, find, backend=one) for one in ["asyncio", "trio"] * 2]
        for call in at_once(*works, find_in_thread, find_in_thread):
            call.value()
        assert requests.count("catalogue.journeys") == 1
        assert len(requests) <= 70
        assert counts == [counts[0]] * 6
        find_in_thread()
        assert requests.count("catalogue.journeys") == 1

    @pytest.mark.usefixtures("with_routes")
    def test_refresh_reads_again(self, ferry_sandbox, settings, requests):
        with Ferry(ferry_sandbox.token, **settings) as ferry:
            ferry.routes.find()
            assert requests.count("catalogue.journeys") == 0
            ferry.routes.refresh()
        assert requests.count("catalogue.journeys") == 1

    @pytest.mark.slow
    def test_short_deadline_fails_for_no_other(self, clients, ferry_sandbox):
        hold = Hold(ferry_sandbox, "catalogue.journeys")
        ferry = clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url)

        def hurry():
            for deadline in (0.5, 2.5, 12.5):  # a longer one on a busy machine
                find = ferry.with_options(deadline=deadline).routes.find
                caught(errors.RequestTimeoutError, find)
                if hold.held:
                    return

        hurried = UnderWay(hurry)
        eventually(lambda: hold.held)
        assert ferry.routes.find("Genoa", "Palermo")  # it joins that reading, and reads again
        hurried.value()
        hold.release()


class TestFailures:
    @pytest.mark.slow
    def test_company_without_departures_is_asked(self, new_ferry, ferry_sandbox):
        ferry_sandbox.faults.add("server_error", "catalogue.departures", times=None)
        assert len(new_ferry.routes.find()) == len(new_ferry.catalogue.journeys())
        (graph,) = catalogues._graphs.values()
        assert len(graph.unread) == len(new_ferry.mcp.companies())
        assert not graph.is_complete
        (route,) = new_ferry.routes.find("Genoa", "Tunis")
        assert {*graph.unread} <= {*graph.companies_on(route)}

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "broken",
        mostly_long(
            [
                pytest.param(["ports", "journeys"], id="ports and journeys"),
                pytest.param(["ports"], id="ports"),
                pytest.param(["journeys"], id="journeys"),
                pytest.param(["ports", "journeys", "departures"], id="all"),
            ]
        ),
    )
    def test_timetable_stands_in_for_rest(self, ferry, ferry_sandbox, broken):
        def routes_from(origin):
            routes = ferry.routes.find(origin)
            return {(route.depart_code, route.arrive_code, route.journey_id) for route in routes}

        expected = routes_from("ITGOA")
        catalogues.clear_cache()
        for name in broken:
            ferry_sandbox.faults.add("server_error", f"catalogue.{name}", times=None)
        assert routes_from("Genoa") <= expected
        (route,) = ferry.routes.find("ITGOA", "ITPMO")
        assert route.companies
        assert route.duration > timedelta(hours=5)
        search = {"on": trip.DAY, "passengers": trip.TRAVELLERS, "flexible": 5}
        assert ferry.trips.search("Genoa", "ITPMO", **search)
        (graph,) = catalogues._graphs.values()
        assert not graph.is_complete, "it is read again soon"

    @pytest.mark.slow
    def test_better_graph_outlives_a_failure(self, ferry, ferry_sandbox):
        routes = ferry.routes.find()
        ferry_sandbox.faults.add("server_error", "catalogue.journeys", times=None)
        caught(errors.ServerError, ferry.routes.refresh)
        assert ferry.routes.find() == routes
        ferry_sandbox.faults.clear()
        ferry.routes.refresh()
        assert ferry.routes.find() == routes

    def test_no_journeys_are_an_error(self, new_ferry, ferry_sandbox):
        ferry_sandbox.faults.add("server_error", "catalogue.journeys", times=None)
        ferry_sandbox.faults.add("rate_limited", "mcp.departures", times=None)
        caught(errors.ServerError, new_ferry.routes.find)

    def test_reading_ends_at_the_deadline(self, new_ferry, ferry_sandbox):
        ferry_sandbox.faults.add("delay_before", "catalogue.journeys", times=None, seconds=60)
        find = new_ferry.with_options(deadline=0.1).routes.find
        caught(errors.RequestTimeoutError, find)


class TestAge:
    @pytest.mark.slow
    def test_old_graph_is_used_while_another_is_made(self, ferry_sandbox, with_routes):
        again = threading.Event()

        def count(event):
            if event.operation == "catalogue.journeys":
                again.set()

        settings = {"base_url": ferry_sandbox.base_url, "event_hooks": {"request": [count]}}
        with Ferry(ferry_sandbox.token, **settings) as ferry:
            *_, key = catalogues._graphs
            old = catalogues._graphs[key]
            old.made_at -= 25 * 3600
            old.confirm(old.routes[0].journey_id, "NEW")
            assert ferry.routes.find() == old.routes
            assert again.wait(30)
            eventually(lambda: catalogues._graphs[key] is not old)  # the answers are being joined
            assert "NEW" in ferry.routes.find()[0].companies, "what searches have shown is kept"

    @pytest.mark.slow
    def test_routes_are_found_while_others_are_confirmed(self, reader):
        reader.routes.find()
        *_, graph = map(replace, catalogues._graphs.values())
        first, *_, last = graph.routes
        confirming = UnderWay(
            lambda: [graph.confirm(first.journey_id, f"C{number}") for number in range(999)]
        )
        while not confirming.is_over:
            assert graph.between(last.depart_code, last.arrive_code)


class TestFolder:
    """The folder `route_cache`."""

    @pytest.fixture
    def folder(self, tmp_path):
        return tmp_path / "routes"

    @pytest.fixture
    def find(self, clients, ferry_sandbox, folder):
        """Find the routes as a new process does."""

        def find():
            catalogues.clear_cache()
            settings = {"base_url": ferry_sandbox.base_url, "route_cache": folder}
            return clients(ferry_sandbox.token, **settings).routes.find()

        return find

    @pytest.fixture
    def routes(self, find):
        """The routes, which are in a file now."""
        return find()

    def test_graph_in_a_file_is_used(self, ferry_sandbox, find, routes):
        ferry_sandbox.faults.add("server_error", "*", times=None)
        assert find() == routes

    @staticmethod
    def age(file):
        old = GRAPH.validate_json(file.read_bytes())
        old.made_at -= 30 * FRESH_FOR
        old.routes = old.routes[:1]
        file.write_bytes(content_of(old))

    @staticmethod
    def replace_by_pipe(file):
        file.unlink()
        os.mkfifo(file)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "spoil",
        [
            pytest.param(age, id="an old graph"),
            pytest.param(
                replace_by_pipe,
                id="a pipe",
                marks=pytest.mark.skipif(os.name != "posix", reason="Windows has no named pipes"),
            ),
        ],
    )
    def test_other_file_is_replaced(self, ferry_sandbox, folder, find, routes, spoil):
        (file,) = folder.iterdir()
        spoil(file)
        reads = ferry_sandbox.counters.requests["catalogue.journeys"]
        assert find() == routes
        assert ferry_sandbox.counters.requests["catalogue.journeys"] == reads + 1
        assert GRAPH.validate_json(file.read_bytes()).routes == routes

    @pytest.mark.slow
    def test_read_only_folder_stops_no_search(self, clients, ferry_sandbox, tmp_path, caplog):
        blocked = tmp_path / "file"
        settings = {"base_url": ferry_sandbox.base_url, "route_cache": blocked / "routes"}
        ferry = clients(ferry_sandbox.token, **settings)
        blocked.write_text("no folder")
        assert ferry.routes.find("Genoa", "Tunis")
        assert "could not be saved" in caplog.text

    @pytest.mark.parametrize(
        "wrong",
        [
            pytest.param("", id="empty"),
            pytest.param(7, id="a number"),
            pytest.param("a\0b", id="a null byte"),
            pytest.param("a" * 300, id="too long"),
            pytest.param("\ud800", id="half a pair"),
            pytest.param("~no-such-user/routes", id="an unknown user"),
        ],
    )
    def test_wrong_folder_is_refused(self, wrong):
        with pytest.raises(errors.ConfigurationError, match="route_cache"):
            Ferry("token", base_url="https://ferry.example", route_cache=wrong)

    def test_file_in_place_of_a_folder_is_refused(self, tmp_path):
        file = tmp_path / "file"
        file.write_text("no folder")
        with pytest.raises(errors.ConfigurationError, match="route_cache"):
            Ferry("token", base_url="https://ferry.example", route_cache=file)


GRAPH_OF_PORTS = RouteSources(ports=[ANA, BO_BAY, OTHER_ANA]).graph(is_complete=True)
WHOLE = content_of(GRAPH_OF_PORTS)


def changed(**members):
    """Return the content of a file whose members were changed, but not its digest."""
    return json.dumps(json.loads(WHOLE) | members).encode()


class TestFiles:
    @pytest.fixture
    def file(self, tmp_path):
        """The file of a graph."""
        file = tmp_path / "routes.json"
        file.write_bytes(WHOLE)
        return file

    def test_whole_file_is_read(self, file):
        assert read_graph(file) == GRAPH_OF_PORTS

    @pytest.mark.parametrize(
        "content",
        [
            pytest.param(changed(is_refreshing=True), id="a new member"),
            pytest.param(changed(made_at=0), id="another time"),
            pytest.param(changed(companies={"NEW": "1"}), id="another company"),
            pytest.param(b'{"ports": {}}', id="no digest"),
            pytest.param(b"", id="empty"),
            pytest.param(b"{", id="a brace"),
            pytest.param(b"[]", id="a list"),
            pytest.param(b"\xff\xfe", id="no text"),
            pytest.param(WHOLE[:-1], id="cut"),
        ],
    )
    def test_changed_file_is_removed(self, file, content):
        file.write_bytes(content)
        assert read_graph(file) is None
        assert not file.exists()

    @pytest.mark.skipif(os.name != "posix", reason="Windows has no modes of files")
    @pytest.mark.parametrize("mode", [0o620, 0o602], ids=oct)
    def test_file_that_others_can_write_is_not_used(self, file, mode):
        file.chmod(mode)
        assert read_graph(file) is None

    @pytest.mark.skipif(
        os.name != "posix" or os.geteuid() != 0, reason="only root can give files away"
    )
    def test_file_of_another_user_is_not_used(self, file):
        os.chown(file, 1, -1)
        assert read_graph(file) is None


def ends_of(ports, text, **members):
    """Return the codes of the ports of a journey with this text; None if it makes no route."""
    sources = RouteSources(ports=ports)
    sources.add("journeys", [journey_of(text, **members)])
    routes = sources.graph(is_complete=True).routes
    return (routes[0].depart_code, routes[0].arrive_code) if routes else None


class TestTexts:
    """The text of a journey names its two ports."""

    @pytest.mark.parametrize(
        "text",
        [
            pytest.param("Ana → Bo - Bay", id="an arrow"),
            pytest.param("Ana - Bo - Bay", id="hyphens"),
            pytest.param("ANA > Bo \u2013 Bay", id="capitals and a dash"),
            pytest.param("Ana->Bo Bay", id="no spaces"),
            pytest.param("AAAAA-BBBBB", id="codes"),
        ],
    )
    def test_text_is_divided_at_its_ports(self, text):
        assert ends_of([ANA, BO_BAY], text) == ("AAAAA", "BBBBB")

    def test_name_of_two_ports_makes_no_route(self):
        assert ends_of([ANA, BO_BAY, OTHER_ANA], "Bo - Bay → Ana") is None

    def test_codes_decide_between_two_ports(self):
        codes = {"depart_code": "BBBBB", "arrive_code": "CCCCC"}
        ends = ends_of([ANA, BO_BAY, OTHER_ANA], "Bo - Bay → Ana", **codes)
        assert ends == ("BBBBB", "CCCCC")

    @given(st.text(), st.text())
    def test_any_text_is_read_or_left_out(self, text, name):
        other = Port(code="DDDDD", name=name, country="")
        sources = RouteSources(ports=[ANA, BO_BAY, OTHER_ANA, other])
        sources.journeys = [journey_of(text)]
        graph = sources.graph(is_complete=True)
        assert json.loads(GRAPH.dump_json(graph))["routes"] == [] or graph.routes[0].depart_code


class TestSources:
    @pytest.fixture
    def express(self):
        """The sources of a journey whose text names no ports, and of a company."""
        sources = RouteSources(ports=[ANA, BO_BAY, OTHER_ANA])
        sources.add("journeys", [journey_of("Ana express")])
        sources.add("companies", [Company(id="1", code="ONE")])
        sources.add("ONE", [])
        return sources

    def test_journey_without_ports_is_not_enough(self, express):
        assert not express.are_enough()

    def test_timetable_gives_what_the_text_does_not(self, express):
        departure = {
            "journey_id": "j",
            "company": {"id": "2", "code": "TWO"},
            "depart_code": "AAAAA",
            "arrive_code": "BBBBB",
        }
        express.add("timetable", [ScheduledDeparture.model_validate(departure)])
        route = route_of(express)
        assert (route.depart_code, route.arrive_code) == ("AAAAA", "BBBBB")
        assert route.companies == ("TWO",)

    @pytest.fixture
    def without_code(self):
        """The sources of a journey that a company without a code sails."""
        sources = RouteSources(ports=[ANA, BO_BAY])
        sources.add("journeys", [journey_of("Ana → Bo Bay")])
        sources.add("companies", [Company(id="1", name="One")])
        sources.add("1", [Departure(journey_id="j", departure_times=("08:00",))])
        return sources

    def test_company_without_a_code_has_its_id(self, without_code):
        route = route_of(without_code)
        assert (route.departure_times, route.companies) == ({"1": ("08:00",)}, ("1",))

    def test_placed_journeys_are_enough(self, without_code):
        assert without_code.are_enough()

    def test_one_text_of_a_journey_is_enough(self, without_code):
        without_code.add("journeys", [*without_code.journeys, journey_of("Ana express")])
        assert without_code.are_enough()

    @pytest.mark.parametrize("minutes", [0, 10**30], ids=["none", "too many"])
    def test_impossible_duration_is_unknown(self, without_code, minutes):
        without_code.add("journeys", [journey_of("Ana → Bo Bay", duration_minutes=minutes)])
        assert route_of(without_code).duration == timedelta(0)

    def test_company_may_be_called_as_a_catalogue(self, without_code):
        without_code.add(DEPARTURES_OF + "ports", [])
        assert without_code.ports == [ANA, BO_BAY]
