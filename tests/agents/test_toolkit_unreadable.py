"""An agent is told how many records could not be read, and never that there are none."""

from datetime import date

import pytest

from ferry_sdk import Ferry
from ferry_sdk.agents.tools.trip_tools import TripsTable
from ferry_sdk.planning.catalogues import clear_cache
from tests.agents.agent import TRAVELLERS, error, result_of

DAY = date(2050, 6, 6)
STRAIT = {"origin": "Algeciras", "destination": "Tangier Med"}


def query(**changes):
    return {**STRAIT, "on": DAY.isoformat(), "passengers": TRAVELLERS, **changes}


def notes(answer):
    return " ".join(answer["notes"])


@pytest.fixture
def toolkit(toolkit_of):
    return toolkit_of({"deadline": 60})


@pytest.fixture
def broken_fares(ferry_sandbox, known_routes):
    """The first sailing of each answer of Baleària has a tariff without an amount."""
    fault = {"field": "tariffs.0.amount", "company": "BALEARIA", "times": None}
    ferry_sandbox.faults.add("missing_field", "availability.search", **fault)


@pytest.fixture
def broken_journey(ferry_sandbox):
    """The journey from Genoa to Palermo has no id."""
    clear_cache()
    with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry:
        routes = [journey.route for journey in ferry.catalogue.journeys()]
    index = routes.index("Genoa → Palermo")
    fault = {"field": "journey_id", "index": index, "times": None}
    ferry_sandbox.faults.add("missing_field", "catalogue.journeys", **fault)
    yield
    clear_cache()


@pytest.fixture
def broken_port(ferry_sandbox):
    """The first port has no code."""
    clear_cache()
    ferry_sandbox.faults.add("missing_field", "catalogue.ports", times=None, field="code")
    yield
    clear_cache()


@pytest.mark.usefixtures("broken_fares")
def test_offers_come_with_the_number_of_unreadable_sailings(toolkit):
    answer = toolkit.call("trips_find", query())
    assert result_of(answer)["unreadable"] == 1
    assert "1 record of availability.search could not be read, so offers may" in notes(answer)


@pytest.mark.usefixtures("broken_fares")
def test_connections_come_with_the_number_of_unreadable_sailings(toolkit):
    ends = {"origin": "Tangier Med", "destination": "Ceuta", "changes": 1}
    answer = toolkit.call("trips_find", query(**ends, limit=1))
    assert result_of(answer)["unreadable"] > 0
    assert "of availability.search could not be read" in notes(answer)


@pytest.mark.slow
@pytest.mark.usefixtures("broken_journey")
def test_unreadable_journey_is_not_said_to_be_none(toolkit):
    ends = {"origin": "Genoa", "destination": "Palermo"}
    answer = toolkit.call("trips_find", query(**ends))
    assert result_of(answer)["offers"] == []
    assert "It is not known whether a company sails this way." in notes(answer)
    assert "No company is known" not in notes(answer)


@pytest.mark.slow
@pytest.mark.usefixtures("broken_journey")
def test_empty_day_is_not_said_to_be_certain(toolkit, ferry_sandbox):
    ferry_sandbox.faults.add("refused", "availability.search", times=None, status=404)
    answer = toolkit.call("trips_find", query())
    assert "Nothing was found in what could be read." in notes(answer)
    assert "Try another day" not in notes(answer)


@pytest.mark.usefixtures("broken_port")
def test_ports_come_with_the_number_of_unreadable_ones(toolkit):
    answer = toolkit.call("places_find", {"text": "Genoa"})
    assert result_of(answer)["unreadable"] > 0
    assert "so ports may be missing" in notes(answer)


@pytest.mark.slow
@pytest.mark.usefixtures("broken_port")
def test_refused_place_says_that_ports_are_unreadable(toolkit):
    answer = toolkit.call("trips_find", query(origin="Atlantis City"))
    assert "could not be read" in error(answer, "unknown_place")["message"]


@pytest.mark.usefixtures("only_known_routes")
def test_refused_vehicle_says_that_vehicles_are_unreadable(toolkit, ferry_sandbox):
    ferry_sandbox.faults.add("missing_field", "mcp.vehicle_data", times=None, field="code")
    answer = toolkit.call("trips_find", query(vehicle="Zeppelin"))
    message = error(answer, "unknown_vehicle")["message"]
    assert "1 record of mcp.vehicle_data could not be read" in message


def test_places_without_a_letter_are_counted(ferry, known_routes):
    trip = ferry.trips.search(**STRAIT, on=DAY, passengers=TRAVELLERS)[0]
    place = trip.outward.places[0]
    places = tuple(place.model_copy(update={"name": f"cabin {number}"}) for number in range(30))
    table = TripsTable()
    table.add(
        "an offer",
        type(trip)(
            outward=trip.outward.model_copy(update={"places": places}),
            back=None,
            fares=trip.fares,
            companies=trip.companies,
        ),
    )
    assert (len(table.view["places"]), table.view["more_places"]) == (26, 4)
