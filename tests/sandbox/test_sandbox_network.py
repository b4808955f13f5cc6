"""The network and its catalogues."""

import uuid
from datetime import datetime, timezone

import pytest

from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.network.network import Network, journey_id
from ferry_sdk.sandbox.offers.offers import Offers
from ferry_sdk.sandbox.requests.errors import RefusedError
from tests.support.exchanges import caught
from tests.support.tables import each

LANGUAGES = {"en", "fr", "it", "es", "el", "ar"}


@pytest.fixture(scope="module")
def network():
    return Network.load()


@pytest.fixture(scope="module")
def catalogue(network):
    clock = Clock()
    clock.freeze()
    clock.travel_to(datetime(2026, 7, 13, 9, tzinfo=timezone.utc))
    return Offers(network, clock, 1).catalogue


def test_the_network_has_every_record_of_its_data(network):
    assert len(network.ports) == 183
    assert len(network.companies) == 59
    assert len(network.routes) == 172
    assert len(network.journeys) == 344
    assert len(network.vehicle_brands) == 48
    assert len(network.vehicle_types) == 23
    assert len(network.vehicle_models) == 197
    assert len(network.countries) == 27


def test_the_network_is_loaded_once(network):
    assert Network.load() is network


def test_routes_and_companies_belong_together(network):
    sailed = {code for route in network.routes for code in route.companies}
    assert sailed == set(network.companies)
    for route in network.routes:
        assert set(route.minutes_by_company) <= set(route.companies)
        assert set(route.stops) <= set(network.ports)
        assert route.minutes > 0


def test_every_port_has_a_route(network):
    used = {port.code for route in network.routes for port in (route.depart, route.arrive)}
    assert used == set(network.ports)


def test_every_port_has_a_time_zone_and_european_coordinates(network):
    for port in network.ports.values():
        assert port.zone.key == port.timezone
        assert 27 < port.latitude < 67
        assert -19 < port.longitude < 29
        assert port.code.startswith(port.country.code)


def test_every_journey_has_a_journey_back(network):
    for key, journey in network.journeys.items():
        assert str(uuid.UUID(key)) == key == journey_id(journey.depart.code, journey.arrive.code)
        back = network.journeys[journey_id(journey.arrive.code, journey.depart.code)]
        assert back.route is journey.route
        assert back.stops == journey.stops[::-1]


def test_the_id_of_a_journey_never_changes():
    assert journey_id("FRMRS", "TNLGN") == "2d4d5912-3514-5011-94ec-f909e50895ac"


def test_a_company_is_found_by_code_and_by_id(network):
    ctn = network.companies["CTN"]
    for key in ("CTN", "ctn", ctn.id, ctn.id.upper()):
        assert network.company(key) is ctn
    assert len({each.id for each in network.companies.values()}) == 59


def test_every_company_has_a_ship(network):
    for company in network.companies.values():
        assert company.ships
        assert company.infant_below < company.child_below


def test_age_bands_differ_between_companies(network):
    companies = network.companies.values()
    assert {each.child_below for each in companies} == {12, 13, 15, 16, 18}
    assert {each.infant_below for each in companies} == {2, 3, 4}


@each(
    ("look_up", "field", "reason"),
    [
        (lambda n: n.company("NOBODY"), "request.company", "unknown_company"),
        (lambda n: n.company("NOBODY", "provider_id"), "provider_id", "unknown_company"),
        (lambda n: n.journey(str(uuid.UUID(int=0))), "request.out_journey_id", "unknown_journey"),
        (lambda n: n.vehicle("FIAT__9000"), "vehicle.code", "unknown_vehicle"),
        (lambda n: n.vehicle("CAR"), "vehicle.code", "unknown_vehicle"),
        (lambda n: n.vehicle("GENERIC__TANK"), "vehicle.code", "unknown_vehicle"),
    ],
)
def test_an_unknown_name_is_reported_with_its_field(network, look_up, field, reason):
    error = caught(RefusedError, look_up, network)
    (problem,) = error.problems
    assert (problem.path, problem.text) == (field, reason)


def test_a_vehicle_is_found_by_model_or_by_type(network):
    assert network.vehicle("fiat__500").model == "500"
    bicycle = network.vehicle("GENERIC__BICYCLE")
    assert bicycle.type is network.vehicle_types["BICYCLE"]
    assert bicycle.length == bicycle.type.max_length


def test_models_belong_to_brands_and_types(network):
    for code, model in network.vehicle_models.items():
        brand = network.vehicle_brands[code.partition("__")[0]]
        assert model.brand == brand.name
        assert model.length > 1
        assert model.type is network.vehicle_types[model.type.code]


def test_countries_have_their_names_and_prefixes(network):
    for country in network.countries.values():
        assert set(country.names) == LANGUAGES
        assert all(country.names.values())
        assert country.phone_prefix.startswith("+")
        assert country.phone_prefix[1:].isdigit()
    tunisia = network.countries["TN"]
    assert (tunisia.phone_prefix, tunisia.name_in("es")) == ("+216", "Túnez")
    assert tunisia.name_in("sv") == "Tunisia"


def test_the_catalogues_have_every_record(catalogue, network):
    assert len(catalogue.ports("en")) == len(catalogue.ports_with_places("en")) == 183
    assert len(catalogue.journeys("en")) == 344
    assert len(catalogue.companies("en")) == 59
    assert len(catalogue.countries("en")) == 27
    assert len(catalogue.vehicle_brands("en")) == 48
    assert len(catalogue.vehicle_types("en")) == 23
    assert len(catalogue.vehicles("en")) == 197
    sailed = {record["journey_id"] for record in catalogue.scheduled_departures("en")}
    assert sailed == set(network.journeys)


def test_the_catalogues_are_localised(catalogue):
    ports = {each["code"]: each for each in catalogue.ports_with_places("es")}
    assert ports["FRMRS"]["name"] == "Marsella"
    assert ports["FRMRS"]["country"] == "Francia"
    assert ports["FRMRS"]["country_code"] == "FR"
    routes = {each["journey_id"]: each["route"] for each in catalogue.journeys("it")}
    assert routes[journey_id("ITGOA", "FRBIA")] == "Genova → Bastia"
    countries = {each["code"]: each["name"] for each in catalogue.countries("el")}
    assert countries["GR"] == "Ελλάδα"


def test_departures_have_the_times_of_the_requested_journeys(catalogue, network):
    company = network.companies["CTN"]
    every = catalogue.departures(company.id)
    assert {each["journey_id"] for each in every} == {
        each.id for each in network.journeys_of(company)
    }
    wanted = journey_id("FRMRS", "TNLGN")
    (one,) = catalogue.departures("CTN", [wanted])
    assert one in every
    assert one["departure_times"]
    for at in one["departure_times"]:
        assert datetime.strptime(at, "%H:%M").replace(tzinfo=timezone.utc).hour >= 18


def test_scheduled_departures_are_in_the_future_and_in_order(catalogue):
    by_pair = {}
    for record in catalogue.scheduled_departures("en"):
        at = datetime.fromisoformat(record["depart_at"])
        by_pair.setdefault((record["company"]["code"], record["journey_id"]), []).append(at)
    for moments in by_pair.values():
        assert moments == sorted(moments)
        assert moments[0] > datetime(2026, 7, 13, 9, tzinfo=timezone.utc)
        assert len(moments) <= 3
