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
from ferry_sdk._engine.limits import FRESH_FOR
from ferry_sdk.models.catalogue import Company
from ferry_sdk.planning import catalogues
from ferry_sdk.planning.route_files import content_of, read_graph
from ferry_sdk.planning.routes import DEPARTURES_OF, GRAPH, RouteSources
from ferry_sdk.sandbox.network.network import Network, journey_id
from tests.backend.gathering import UnderWay, at_once, eventually
from tests.support import trip
from tests.support.exchanges import caught
from tests.support.hold import Hold
from tests.support.tiers import mostly_long

NAMES = {"AAAAA": "Ana", "BBBBB": "Bo - Bay", "CCCCC": "Ana"}
PORTS = [Port(code=code, name=name, country="") for code, name in NAMES.items()]


def journey_of(text, **more):
    return Journey(**{"journey_id": "j", "route": text, "duration_minutes": 60, **more})


def ends_of(ports, text, **more):
    """The codes of the two ports of a journey with this text; None if no route is made of it."""
    sources = RouteSources(ports=ports)
    sources.add("journeys", [journey_of(text, **more)])
    routes = sources.graph(is_complete=True).routes
    return (routes[0].depart_code, routes[0].arrive_code) if routes else None


@pytest.mark.parametrize("language", mostly_long([None, "fr", "ar", "de"], short=2))
def test_every_route_of_the_service_is_found_in_each_language(reader, language):
    journeys = Network.load().journeys.values()
    routes = reader.with_options(language=language).routes.find()
    companies = {route.journey_id: {*route.companies} for route in routes}
    assert companies == {one.id: {*one.route.companies} for one in journeys}
    assert len(routes) == len(journeys)
    for route in routes:
        assert route.journey_id == journey_id(route.depart_code, route.arrive_code)


def test_routes_have_one_end_or_two_and_say_who_sails_them_and_when(reader):
    (route,) = reader.routes.find("Genoa", "Tunis")
    assert (route.depart_code, route.arrive_code) == ("ITGOA", "TNLGN")
    assert set(route.companies) == {"GNV", "CTN"}
    assert route.duration == timedelta(hours=24)
    assert set(route.departure_times) == {"GNV", "CTN"}
    assert all(":" in time for times in route.departure_times.values() for time in times)
    (french,) = reader.with_options(language="fr").routes.find("ITGOA", "TNLGN")
    assert (route.depart_name, french.depart_name) == ("Genoa", "Gênes")
    assert route.journey_id == french.journey_id
    assert {None, "fr"} <= {language for _, _, language, _ in catalogues._graphs}
    assert {route.depart_code for route in reader.routes.find("Genoa")} == {"ITGOA"}
    port = reader.places.get("Tunis")
    assert {route.arrive_code for route in reader.routes.find(destination=port)} == {"TNLGN"}
    assert reader.routes.find("Genoa", "Stockholm") == ()
    refused = caught(errors.UnknownPlaceError, reader.routes.find, "Genoa", "Atlantis City")
    assert refused.field == "destination"


def test_the_catalogues_are_read_once_for_all_threads_and_event_loops(ferry_sandbox):
    seen, found = [], []
    hooks = {"request": [lambda event: seen.append(event.operation)]}
    settings = {"base_url": ferry_sandbox.base_url, "event_hooks": hooks}

    async def find():
        async with AsyncFerry(ferry_sandbox.token, **settings) as ferry:
            found.append(len(await ferry.routes.find()))

    def find_in_thread():
        with Ferry(ferry_sandbox.token, **settings) as ferry:
            found.append(len(ferry.routes.find()))

    works = [partial(anyio.run, find, backend=one) for one in ["asyncio", "trio"] * 2]
    for call in at_once(*works, find_in_thread, find_in_thread):
        call.value()
    assert seen.count("catalogue.journeys") == 1
    assert len(seen) <= 70
    assert found == [found[0]] * 6
    find_in_thread()
    assert seen.count("catalogue.journeys") == 1
    with Ferry(ferry_sandbox.token, **settings) as ferry:
        ferry.routes.refresh()
    assert seen.count("catalogue.journeys") == 2


def test_a_caller_with_a_short_deadline_spoils_the_reading_for_nobody(clients, ferry_sandbox):
    hold = Hold(ferry_sandbox, "catalogue.journeys")
    ferry = clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url)

    def hurry():
        for deadline in (0.5, 2.5, 12.5):  # a longer one on a busy machine
            caught(errors.RequestTimeoutError, ferry.with_options(deadline=deadline).routes.find)
            if hold.held:
                return

    hurried = UnderWay(hurry)
    eventually(lambda: hold.held)
    assert ferry.routes.find("Genoa", "Palermo")  # it joins that reading, and reads again
    hurried.value()
    hold.release()


def test_a_company_whose_departures_cannot_be_read_is_asked_nevertheless(new_ferry, ferry_sandbox):
    ferry_sandbox.faults.add("server_error", "catalogue.departures", times=None)
    assert len(new_ferry.routes.find()) == len(new_ferry.catalogue.journeys())
    (graph,) = catalogues._graphs.values()
    assert len(graph.unread) == len(new_ferry.mcp.companies())
    assert not graph.is_complete
    (route,) = new_ferry.routes.find("Genoa", "Tunis")
    assert set(graph.unread) <= set(graph.sailed_by(route))


BROKEN = ["ports journeys", "ports", "journeys", "ports journeys departures"]


@pytest.mark.parametrize("broken", mostly_long(BROKEN))
def test_the_timetable_names_the_routes_that_rest_does_not(ferry, ferry_sandbox, broken):
    def found(origin):
        routes = ferry.routes.find(origin)
        return {(one.depart_code, one.arrive_code, one.journey_id) for one in routes}

    expected = found("ITGOA")
    catalogues.clear_cache()
    for name in broken.split():
        ferry_sandbox.faults.add("server_error", f"catalogue.{name}", times=None)
    assert found("Genoa") <= expected
    (route,) = ferry.routes.find("ITGOA", "ITPMO")
    assert route.companies
    assert route.duration > timedelta(hours=5)
    assert ferry.trips.search("Genoa", "ITPMO", on=trip.DAY, passengers=trip.TRAVELLERS, flexible=5)
    (graph,) = catalogues._graphs.values()
    assert not graph.is_complete, "it is read again soon"


def test_a_better_graph_outlives_the_failure_of_a_catalogue(ferry, ferry_sandbox):
    routes = ferry.routes.find()
    ferry_sandbox.faults.add("server_error", "catalogue.journeys", times=None)
    caught(errors.ServerError, ferry.routes.refresh)
    assert ferry.routes.find() == routes
    ferry_sandbox.faults.add("rate_limited", "mcp.departures", times=None)
    catalogues.clear_cache()
    with pytest.raises(errors.ServerError):  # neither protocol has the journeys
        ferry.routes.find()
    ferry_sandbox.faults.clear()
    ferry_sandbox.faults.add("delay_before", "catalogue.journeys", times=None, seconds=60)
    caught(errors.RequestTimeoutError, ferry.with_options(deadline=0.1).routes.find)


def test_an_old_graph_is_used_while_another_one_is_made(ferry_sandbox, with_routes):
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


def test_a_search_finds_its_routes_while_another_one_confirms_some(reader):
    reader.routes.find()
    *_, graph = map(replace, catalogues._graphs.values())
    first, *_, last = graph.routes
    confirming = UnderWay(lambda: [graph.confirm(first.journey_id, f"C{n}") for n in range(999)])
    while not confirming.is_over:
        assert graph.between(last.depart_code, last.arrive_code)


def test_a_graph_in_a_folder_is_used_by_others_or_replaced(clients, ferry_sandbox, tmp_path):
    folder = tmp_path / "routes"
    settings = {"base_url": ferry_sandbox.base_url, "route_cache": folder}
    routes = clients(ferry_sandbox.token, **settings).routes.find()
    catalogues.clear_cache()
    ferry_sandbox.faults.add("server_error", "*", times=None)
    assert clients(ferry_sandbox.token, **settings).routes.find() == routes
    ferry_sandbox.faults.clear()
    (file,) = folder.iterdir()
    old = GRAPH.validate_json(file.read_bytes())
    old.made_at -= 30 * FRESH_FOR
    old.routes = old.routes[:1]

    def age():
        file.write_bytes(content_of(old))

    def replace_by_pipe():
        file.unlink()
        os.mkfifo(file)

    for spoil in (age, replace_by_pipe) if os.name == "posix" else (age,):
        spoil()
        catalogues.clear_cache()
        reads = ferry_sandbox.counters.requests["catalogue.journeys"]
        assert clients(ferry_sandbox.token, **settings).routes.find() == routes
        assert ferry_sandbox.counters.requests["catalogue.journeys"] == reads + 1
        assert GRAPH.validate_json(file.read_bytes()).routes == routes


def test_a_file_that_was_changed_is_not_used(tmp_path):
    file = tmp_path / "routes.json"
    graph = RouteSources(ports=PORTS).graph(is_complete=True)
    whole = content_of(graph)
    members = json.loads(whole)
    changes = ({"is_refreshing": True}, {"made_at": 0}, {"companies": {"NEW": "1"}})
    changed = [json.dumps(members | change).encode() for change in changes]
    for content in (*changed, b'{"ports": {}}', b"", b"{", b"[]", b"\xff\xfe", whole[:-1]):
        file.write_bytes(content)
        assert read_graph(file) is None, content
        assert not file.exists(), content
    for mode in (0o620, 0o602) if os.name == "posix" else ():
        file.write_bytes(whole)
        file.chmod(mode)
        assert read_graph(file) is None, mode
    if os.name == "posix" and os.geteuid() == 0:
        file.write_bytes(whole)
        os.chown(file, 1, -1)
        assert read_graph(file) is None
    file.write_bytes(whole)
    assert read_graph(file) == graph


def test_a_folder_that_cannot_be_written_stops_no_search(clients, ferry_sandbox, tmp_path, caplog):
    blocked = tmp_path / "file"
    settings = {"base_url": ferry_sandbox.base_url, "route_cache": blocked / "routes"}
    ferry = clients(ferry_sandbox.token, **settings)
    blocked.write_text("no folder")
    assert ferry.routes.find("Genoa", "Tunis")
    assert "could not be saved" in caplog.text
    for wrong in (blocked, "", 7, "a\0b", "a" * 300, "\ud800", "~no-such-user/routes"):
        with pytest.raises(errors.ConfigurationError, match="route_cache"):
            Ferry("token", base_url="https://ferry.example", route_cache=wrong)


def test_a_route_text_is_split_at_ports_and_the_timetable_tells_what_texts_do_not():
    codes = {"depart_code": "BBBBB", "arrive_code": "CCCCC"}
    assert ends_of(PORTS, "Bo - Bay → Ana") is None, "two ports have this name"
    assert ends_of(PORTS, "Bo - Bay → Ana", **codes) == ("BBBBB", "CCCCC")
    en_dash = "ANA > Bo \u2013 Bay"
    for text in ("Ana → Bo - Bay", "Ana - Bo - Bay", en_dash, "Ana->Bo Bay", "AAAAA-BBBBB"):
        assert ends_of(PORTS[:2], text) == ("AAAAA", "BBBBB"), text
    sources = RouteSources(ports=PORTS)
    sources.add("journeys", [journey_of("Ana express")])
    sources.add("companies", [Company(id="1", code="ONE")])
    sources.add("ONE", [])
    assert not sources.are_enough()
    ends = {"depart_code": "AAAAA", "arrive_code": "BBBBB"}
    departure = {"journey_id": "j", "company": {"id": "2", "code": "TWO"}, **ends}
    sources.add("timetable", [ScheduledDeparture.model_validate(departure)])
    (route,) = sources.graph(is_complete=True).routes
    assert (route.depart_code, route.arrive_code, route.companies) == ("AAAAA", "BBBBB", ("TWO",))
    sources = RouteSources(ports=PORTS[:2])  # a company without a code is named by its id
    sources.add("journeys", [journey_of("Ana → Bo Bay")])
    sources.add("companies", [Company(id="1", name="One")])
    sources.add("1", [Departure(journey_id="j", departure_times=("08:00",))])
    (route,) = sources.graph(is_complete=True).routes
    assert (route.departure_times, route.companies) == ({"1": ("08:00",)}, ("1",))
    assert sources.are_enough()
    sources.add("journeys", [*sources.journeys, journey_of("Ana express")])  # the same journey
    assert sources.are_enough()
    for minutes in (0, 10**30):
        sources.add("journeys", [journey_of("Ana → Bo Bay", duration_minutes=minutes)])
        (route,) = sources.graph(is_complete=True).routes
        assert route.duration == timedelta(0)
    sources.add(DEPARTURES_OF + "ports", [])
    assert sources.ports == PORTS[:2]


@given(st.text(), st.text())
def test_any_text_of_a_route_is_read_or_left_out(route, name):
    sources = RouteSources(ports=[*PORTS, Port(code="DDDDD", name=name, country="")])
    sources.journeys = [journey_of(route)]
    graph = sources.graph(is_complete=True)
    assert json.loads(GRAPH.dump_json(graph))["routes"] == [] or graph.routes[0].depart_code
