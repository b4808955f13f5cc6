"""The network, its timetable, its catalogues and its trial routes."""

import re
import uuid
from datetime import UTC, date, datetime, timedelta

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from offline_service import ADULT, GUEST, NOW, ServiceOverHttp, departure, rpc, run, selection
from sandbox_queries import DAYS as SUMMER
from sandbox_queries import NETWORK, PAIRS

from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.network.network import Network, journey_id
from ferry_sdk.sandbox.network.timetable import Timetable
from ferry_sdk.sandbox.offers.offers import Offers
from ferry_sdk.sandbox.requests.errors import RefusedError
from tests.support.exchanges import caught
from tests.support.tiers import LONG

LANGUAGES = {"en", "fr", "it", "es", "el", "ar"}


@pytest.fixture(scope="module")
def catalogue():
    """Return the catalogues of a service on the morning of 13 July 2026."""
    clock = Clock(datetime(2026, 7, 13, 9, tzinfo=UTC), frozen=True)
    return Offers(clock, 1).catalogue


# The network


def test_network_is_loaded_once():
    assert Network.load() is NETWORK


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("ports", 183),
        ("companies", 59),
        ("journeys", 344),
        ("countries", 27),
        ("vehicle_brands", 48),
        ("vehicle_types", 23),
        ("vehicle_models", 197),
        ("routes", 172),
    ],
)
def test_network_has_every_element(name, count):
    assert len(getattr(NETWORK, name)) == count


def test_every_company_has_an_id_of_its_own():
    assert len({company.id for company in NETWORK.companies.values()}) == len(NETWORK.companies)


def test_every_company_sails_a_route():
    sailing = {code for route in NETWORK.routes for code in route.companies}
    assert sailing == set(NETWORK.companies)


def test_every_port_is_on_a_route():
    departs = {route.depart.code for route in NETWORK.routes}
    arrives = {route.arrive.code for route in NETWORK.routes}
    assert departs | arrives == set(NETWORK.ports)


def test_every_route_takes_time():
    for route in NETWORK.routes:
        assert route.minutes > 0, route
        assert set(route.minutes_by_company) <= set(route.companies), route


def test_ships_stop_at_known_ports():
    for route in NETWORK.routes:
        assert set(route.stops) <= set(NETWORK.ports), route


def test_every_port_is_in_europe_or_north_africa():
    for port in NETWORK.ports.values():
        assert 27 < port.latitude < 67, port
        assert -19 < port.longitude < 29, port


def test_every_port_has_the_code_of_its_country():
    for port in NETWORK.ports.values():
        assert port.code.startswith(port.country.code)


def test_every_port_has_a_time_zone():
    for port in NETWORK.ports.values():
        assert port.zone.key == port.timezone


def test_every_journey_has_one_back():
    for journey in NETWORK.journeys.values():
        back = NETWORK.journeys[journey_id(journey.arrive.code, journey.depart.code)]
        assert back.route is journey.route
        assert back.stops == journey.stops[::-1]


def test_journeys_have_their_ids_as_keys():
    for key, journey in NETWORK.journeys.items():
        assert str(uuid.UUID(key)) == key == journey_id(journey.depart.code, journey.arrive.code)


def test_id_of_a_journey_never_changes():
    assert journey_id("FRMRS", "TNLGN") == "2d4d5912-3514-5011-94ec-f909e50895ac"


CTN_COMPANY = NETWORK.companies["CTN"]


@pytest.mark.parametrize("key", ["CTN", "ctn", CTN_COMPANY.id, CTN_COMPANY.id.upper()])
def test_company_is_found_by_code_or_id(key):
    assert NETWORK.company(key) is CTN_COMPANY


def test_unknown_company_is_named():
    (problem,) = caught(RefusedError, NETWORK.company, "NOBODY", "provider_id").problems
    assert (problem.path, problem.text) == ("provider_id", "unknown_company")


@pytest.mark.parametrize(
    ("company", "age", "band"),
    [("GNV", 3, "Infant"), ("GNV", 14, "Adult"), ("CTN", 3, "Child"), ("CTN", 14, "Child")],
)
def test_company_has_its_own_age_bands(company, age, band):
    assert NETWORK.companies[company].age_band(age) == band


def test_every_country_has_a_name_in_every_language():
    for country in NETWORK.countries.values():
        assert set(country.names) == LANGUAGES, country
        assert all(country.names.values()), country


def test_every_country_has_a_phone_prefix():
    for country in NETWORK.countries.values():
        assert re.fullmatch(r"\+\d+", country.phone_prefix), country


def test_country_has_its_localised_name():
    tunisia = NETWORK.countries["TN"]
    assert (tunisia.phone_prefix, tunisia.name_in("es")) == ("+216", "Túnez")
    assert tunisia.name_in("sv") == "Tunisia"


def test_vehicle_is_found_by_its_model():
    assert NETWORK.vehicle("fiat__500").model == "500"


def test_vehicle_is_found_by_its_type():
    bicycle = NETWORK.vehicle("GENERIC__BICYCLE")
    assert bicycle.type is NETWORK.vehicle_types["BICYCLE"]
    assert bicycle.length == bicycle.type.max_length


@pytest.mark.parametrize("code", ["FIAT__9000", "CAR", "GENERIC__TANK"])
def test_unknown_vehicle_is_named(code):
    (problem,) = caught(RefusedError, NETWORK.vehicle, code).problems
    assert (problem.path, problem.text) == ("vehicle.code", "unknown_vehicle")


# The catalogues


@pytest.mark.parametrize(
    ("name", "elements"),
    [
        ("ports", NETWORK.ports),
        ("ports_with_places", NETWORK.ports),
        ("companies", NETWORK.companies),
        ("journeys", NETWORK.journeys),
        ("countries", NETWORK.countries),
        ("vehicle_brands", NETWORK.vehicle_brands),
        ("vehicle_types", NETWORK.vehicle_types),
        ("vehicles", NETWORK.vehicle_models),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_catalogue_has_every_element(catalogue, name, elements):
    assert len(getattr(catalogue, name)("en")) == len(elements)


def test_ports_are_localised(catalogue):
    ports = {port["code"]: port for port in catalogue.ports_with_places("es")}
    expected = {"name": "Marsella", "country": "Francia", "country_code": "FR"}
    assert {name: ports["FRMRS"][name] for name in expected} == expected


def test_routes_are_localised(catalogue):
    routes = {journey["journey_id"]: journey["route"] for journey in catalogue.journeys("it")}
    assert routes[journey_id("ITGOA", "FRBIA")] == "Genova → Bastia"


def test_countries_are_localised(catalogue):
    names = {country["code"]: country["name"] for country in catalogue.countries("el")}
    assert names["GR"] == "Ελλάδα"


@pytest.fixture(scope="module")
def scheduled(catalogue):
    """Return the times of the scheduled departures by company and journey."""
    by_pair = {}
    for record in catalogue.scheduled_departures("en"):
        key = (record["company"]["code"], record["journey_id"])
        by_pair.setdefault(key, []).append(datetime.fromisoformat(record["depart_at"]))
    return by_pair


def test_every_journey_has_scheduled_departures(scheduled):
    assert {journey for _, journey in scheduled} == set(NETWORK.journeys)


def test_scheduled_departures_are_the_next_three(scheduled):
    for times in scheduled.values():
        assert times == sorted(times)
        assert times[0] > datetime(2026, 7, 13, 9, tzinfo=UTC)
        assert len(times) <= 3


# The timetable and its time zones


TIMETABLE = Timetable.of_seed(1)
WINTER = [date(2027, 1, 11) + timedelta(days=number) for number in range(7)]


def pair(company, depart, arrive):
    return NETWORK.companies[company], NETWORK.journeys[journey_id(depart, arrive)]


CTN = pair("CTN", "FRMRS", "TNLGN")
ORESUND = pair("ORESUND", "SEHEL", "DKHLS")


def week(days, company, journey):
    return [sailing for day in days for sailing in TIMETABLE.sailings(company, journey, day)]


@pytest.fixture(scope="module")
def weeks():
    """Return the sailings of a summer and of a winter week by company and journey."""
    return {pair: (week(SUMMER, *pair), week(WINTER, *pair)) for pair in PAIRS}


@pytest.mark.slow
def test_every_company_sails_in_summer(weeks):
    assert all(summer for summer, _ in weeks.values())


def test_only_seasonal_routes_pause_in_winter(weeks):
    for (_, journey), (_, winter) in weeks.items():
        assert bool(winter) is (journey.route.season in {"all-year", "mostly summer"})


def test_overnight_ships_leave_in_the_evening(weeks):
    for (_, journey), (summer, winter) in weeks.items():
        if journey.route.overnight:
            assert min(sailing.depart_at.hour for sailing in summer + winter) >= 18


def test_some_ships_sail_round_the_clock():
    for company, journey in PAIRS:
        if journey.route.round_the_clock:
            hours = {each.depart_at.hour for each in week(SUMMER[:1], company, journey)}
            assert len(hours) >= 12
            assert min(hours) <= 2


def test_fast_ships_sail_fast_routes(weeks):
    for (company, journey), (summer, _) in weeks.items():
        if company.fast_ships and journey.route.fast:
            assert {sailing.ship for sailing in summer} <= {*company.fast_ships}


def test_every_sailing_has_an_id_of_its_own(weeks):
    ids = [sailing.id for summer, _ in weeks.values() for sailing in summer]
    assert len(ids) == len(set(ids))


@given(st.sampled_from(PAIRS), st.dates(date(1970, 1, 1), date(2199, 12, 31)))
def test_times_are_those_of_both_ports(company_and_journey, day):
    company, journey = company_and_journey
    for sailing in TIMETABLE.sailings(company, journey, day):
        assert sailing.depart_at.date() == day
        assert sailing.depart_at.tzinfo is journey.depart.zone
        assert sailing.arrive_at.tzinfo is journey.arrive.zone
        assert sailing.minutes == journey.route.minutes_of(company)


@given(st.sampled_from(PAIRS), st.dates(date(1970, 1, 1), date(2199, 12, 31)))
def test_local_times_exist(company_and_journey, day):
    for sailing in TIMETABLE.sailings(*company_and_journey, day):
        for moment in (sailing.depart_at, sailing.arrive_at):
            there_and_back = moment.astimezone(UTC).astimezone(moment.tzinfo)
            assert there_and_back.replace(tzinfo=None) == moment.replace(tzinfo=None)


def gap(sailing):
    """Return how much later the clock of the arrival port shows."""
    shown = sailing.arrive_at.replace(tzinfo=None) - sailing.depart_at.replace(tzinfo=None)
    return shown - timedelta(minutes=sailing.minutes)


ALGECIRAS = pair("BALEARIA", "ESALG", "MAPTM")


@pytest.mark.parametrize(
    ("line", "days", "hours"),
    [
        pytest.param(CTN, SUMMER, -1, id="tunisia-in-summer"),
        pytest.param(CTN, WINTER, 0, id="tunisia-in-winter"),
        pytest.param(ALGECIRAS, [date(2026, 1, 20)], 0, id="morocco-in-winter"),
        pytest.param(ALGECIRAS, [date(2026, 3, 2)], -1, id="morocco-in-ramadan"),
        pytest.param(ALGECIRAS, [date(2026, 3, 25)], 0, id="morocco-after-ramadan"),
        pytest.param(ALGECIRAS, [date(2026, 7, 20)], -1, id="morocco-in-summer"),
    ],
)
def test_two_ports_differ_in_some_seasons_only(line, days, hours):
    assert {gap(sailing) for sailing in week(days, *line)} == {timedelta(hours=hours)}


def test_company_does_not_sail_the_journeys_of_others():
    ctn, _ = CTN
    _, journey = ORESUND
    assert TIMETABLE.sailings(ctn, journey, SUMMER[0]) == ()


def test_sailings_from_a_day_are_in_order():
    sailings = list(TIMETABLE.sailings_from(*ORESUND, SUMMER[0], 3))
    assert sailings == week(SUMMER[:3], *ORESUND)
    noon = datetime(2026, 7, 13, 12, tzinfo=sailings[0].depart_at.tzinfo)
    assert sailings[0].depart_at < noon


@pytest.mark.parametrize(
    ("day", "days"),
    [
        pytest.param(date.min, 1, id="first day"),
        pytest.param(date(1969, 12, 31), 1, id="day before 1970"),
        pytest.param(date(2200, 1, 1), 1, id="day after 2199"),
        pytest.param(date.max, 1, id="last day"),
        pytest.param(date.max, 7, id="days after the last"),
    ],
)
def test_nothing_sails_outside_the_calendar(day, days):
    assert not list(TIMETABLE.sailings_from(*ORESUND, day, days))


# The trial routes: each misbehaves in one way, and no catalogue knows them


DAY = (NOW + timedelta(days=30)).date().isoformat()


class Trial(ServiceOverHttp):
    """A caller who takes everything from the list of the trial routes."""

    def listed(self):
        return self.http.get("/_sandbox/trial-routes").json()["routes"]

    def search_body(self, code):
        route = next(each for each in self.listed() if each["arrive_code"] == code)
        request = {name: route[name] for name in ("company", "depart_code", "arrive_code")}
        request |= {"out_journey_id": route["journey_id"], "out_at": DAY, "out_time": "00:00"}
        return {"request": request, "passengers": [ADULT]}

    def found(self, code):
        return self.perform("availability.search", self.search_body(code))[0]

    def body(self, code):
        return {"availabilities": [selection(self.found(code))], "passengers": [GUEST]}

    def book(self, code):
        return self.perform("bookings.create", self.body(code))


@pytest.fixture(scope="module")
def running_service():
    """A client of a service with the real network, which runs for the whole module."""
    with run(Trial) as trial:
        yield trial


@pytest.mark.parametrize("code", ["XXNIL", "XXFUL"])
@pytest.mark.parametrize("operation", ["availability.search", "mcp.search_availability"])
def test_trial_search_finds_nothing(service, operation, code):
    error = service.error_of(operation, service.search_body(code))
    assert error.code == "AVAILABILITY_ERROR"


def test_trial_search_fails(service):
    refusal = service.refusal("availability.search", service.search_body("XXERR"))
    assert refusal == (503, "SERVER_ERROR")


@LONG
def test_trial_search_is_slow(service):
    with pytest.raises(httpx.TimeoutException):
        service.http.post("/api/availability", json=service.search_body("XXSLO"), timeout=1)
    assert service.found("XXSLO")


def test_trial_routes_are_listed(service):
    listed = service.listed()
    assert len(listed) == len({route["journey_id"] for route in listed}) == 24
    assert {route["company"] for route in listed} == {"SANDBOX"}


def test_rest_catalogues_have_no_trial_route(service):
    assert "XXSBX" not in service.http.get("/api/port").text
    assert "XXSBX" not in service.http.post("/api/journey").text


@pytest.mark.parametrize("name", ["ports", "companies", "countries", "departures"])
def test_mcp_catalogue_has_no_trial_route(service, name):
    message = rpc("resources/read", uri=f"resource://service/{name}")
    text = service.http.post("/mcp", json=message).text
    assert "SANDBOX" not in text
    assert "XX" not in text


def test_network_of_the_service_has_no_trial_company(service):
    assert "SANDBOX" not in service.sandbox.network.companies


def test_trial_booking_goes_well(service):
    created = service.book("XXALL")
    service.confirm(created)
    assert service.booking(created)["stage"] == "ticketed"
    assert service.cancel(created)


def test_trial_booking_is_dearer_than_its_search(service):
    availability = service.found("XXPRC")
    selected = selection(availability)
    (tariff,) = (each for each in availability["tariffs"] if each["id"] == selected["tariff_id"])
    body = {"availabilities": [selected], "passengers": [GUEST]}
    created = service.perform("bookings.create", body)
    assert created["total_price"] == pytest.approx(tariff["amount"] * 1.1, abs=0.01)


def test_trial_ticket_fails_at_once(service):
    created = service.book("XXFAI")
    assert service.error_of("bookings.confirm", id=created["booking_id"]).status == 409
    assert service.booking(created)["stage"] == "rejected"


def test_trial_ticket_fails_later(service):
    created = service.book("XXLAT")
    service.confirm(created)
    assert service.booking(created)["stage"] == "in_progress"
    service.clock.advance(10)
    assert service.booking(created)["stage"] == "rejected"


def test_trial_sailing_is_cancelled_after_the_confirmation(service):
    created = service.book("XXCAN")
    assert service.booking(created)["stage"] == "payment_due"
    service.confirm(created)
    assert service.booking(created)["stage"] == "voided"
    assert service.fee(created["booking_id"])["refund_amount"] == created["total_price"]


def test_trial_departure_moves_once(service):
    availability = service.found("XXMOV")
    body = {"availabilities": [selection(availability)], "passengers": [GUEST]}
    created = service.perform("bookings.create", body)
    service.confirm(created)
    searched = datetime.fromisoformat(availability["depart_at"])
    moved = [departure(service.booking(created)) - searched for _ in range(2)]
    assert moved == [timedelta(hours=1)] * 2


def test_trial_place_is_always_taken(service):
    body = service.body("XXTKN")
    refusals = [service.refusal("bookings.create", body) for _ in range(2)]
    assert refusals == [(409, "BOOKING_CREATE_ERROR")] * 2
    assert service.sandbox.counters.effects == ()


def test_trial_reply_is_lost(service):
    body = service.body("XXLST")
    with pytest.raises(httpx.RemoteProtocolError):
        service.perform("bookings.create", body)
    (effect,) = service.sandbox.counters.effects
    assert service.booking({"booking_id": effect.subject})["stage"] == "payment_due"


def test_trial_faults_are_not_listed(service):
    service.refusal("bookings.create", service.body("XXTKN"))
    assert (service.faults.pending, service.faults.taken) == ((), ())


def test_other_routes_are_as_usual(service):
    service.refusal("bookings.create", service.body("XXTKN"))
    assert service.create()["stage"] == "payment_due"
