"""The network, its timetable, its catalogues and its trial routes."""

import uuid
from datetime import date, datetime, timedelta, timezone

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from offline_service import ADULT, GUEST, NOW, ServiceOverHttp, rpc, run, selection
from sandbox_queries import DAYS as SUMMER
from sandbox_queries import NETWORK, PAIRS

from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.network.network import Network, journey_id
from ferry_sdk.sandbox.network.timetable import Timetable
from ferry_sdk.sandbox.offers.offers import Offers
from ferry_sdk.sandbox.requests.errors import RefusedError
from tests.support.exchanges import caught
from tests.support.tables import each
from tests.support.tiers import LONG

LANGUAGES = {"en", "fr", "it", "es", "el", "ar"}
COUNTS = {"ports": 183, "companies": 59, "journeys": 344, "countries": 27}
COUNTS |= {"vehicle_brands": 48, "vehicle_types": 23, "vehicle_models": 197}


@pytest.fixture(scope="module")
def catalogue():
    clock = Clock(datetime(2026, 7, 13, 9, tzinfo=timezone.utc), frozen=True)
    return Offers(clock, 1).catalogue


def test_the_network_and_its_catalogues_have_every_record(catalogue):
    assert Network.load() is NETWORK
    assert len(NETWORK.routes) == 172
    assert len({one.id for one in NETWORK.companies.values()}) == COUNTS["companies"]
    for name, count in COUNTS.items():
        assert len(getattr(NETWORK, name)) == count, name
        catalogue_name = {"vehicle_models": "vehicles"}.get(name, name)
        assert len(getattr(catalogue, catalogue_name)("en")) == count, name
    assert len(catalogue.ports_with_places("en")) == COUNTS["ports"]


def test_countries_companies_routes_and_ports_belong_together_with_names_ships_and_age_bands():
    assert {code for route in NETWORK.routes for code in route.companies} == set(NETWORK.companies)
    used = {port.code for route in NETWORK.routes for port in (route.depart, route.arrive)}
    assert used == set(NETWORK.ports)
    for route in NETWORK.routes:
        assert set(route.minutes_by_company) <= set(route.companies)
        assert set(route.stops) <= set(NETWORK.ports)
        assert route.minutes > 0
    for port in NETWORK.ports.values():
        assert port.zone.key == port.timezone
        assert 27 < port.latitude < 67
        assert -19 < port.longitude < 29
        assert port.code.startswith(port.country.code)
    for key, journey in NETWORK.journeys.items():
        assert str(uuid.UUID(key)) == key == journey_id(journey.depart.code, journey.arrive.code)
        back = NETWORK.journeys[journey_id(journey.arrive.code, journey.depart.code)]
        assert back.route is journey.route
        assert back.stops == journey.stops[::-1]
    # The id of a journey never changes.
    assert journey_id("FRMRS", "TNLGN") == "2d4d5912-3514-5011-94ec-f909e50895ac"
    ctn = NETWORK.companies["CTN"]
    for key in ("CTN", "ctn", ctn.id, ctn.id.upper()):
        assert NETWORK.company(key) is ctn
    gnv = NETWORK.companies["GNV"]
    assert [gnv.age_band(age) for age in (3, 14)] == ["Infant", "Adult"]
    assert [ctn.age_band(age) for age in (3, 14)] == ["Child", "Child"]
    for country in NETWORK.countries.values():
        assert set(country.names) == LANGUAGES
        assert all(country.names.values())
        assert country.phone_prefix.startswith("+")
        assert country.phone_prefix[1:].isdigit()
    tunisia = NETWORK.countries["TN"]
    assert (tunisia.phone_prefix, tunisia.name_in("es")) == ("+216", "Túnez")
    assert tunisia.name_in("sv") == "Tunisia"


def test_a_vehicle_is_found_by_model_or_type_and_an_unknown_name_reported_with_its_field():
    (problem,) = caught(RefusedError, NETWORK.company, "NOBODY", "provider_id").problems
    assert (problem.path, problem.text) == ("provider_id", "unknown_company")
    for code in ("FIAT__9000", "CAR", "GENERIC__TANK"):
        (problem,) = caught(RefusedError, NETWORK.vehicle, code).problems
        assert (problem.path, problem.text) == ("vehicle.code", "unknown_vehicle"), code
    assert NETWORK.vehicle("fiat__500").model == "500"
    bicycle = NETWORK.vehicle("GENERIC__BICYCLE")
    assert bicycle.type is NETWORK.vehicle_types["BICYCLE"]
    assert bicycle.length == bicycle.type.max_length


def test_the_catalogues_are_localised_and_their_departures_are_in_order(catalogue):
    ports = {each["code"]: each for each in catalogue.ports_with_places("es")}
    expected = {"name": "Marsella", "country": "Francia", "country_code": "FR"}
    assert {name: ports["FRMRS"][name] for name in expected} == expected
    routes = {each["journey_id"]: each["route"] for each in catalogue.journeys("it")}
    assert routes[journey_id("ITGOA", "FRBIA")] == "Genova → Bastia"
    assert {each["code"]: each["name"] for each in catalogue.countries("el")}["GR"] == "Ελλάδα"
    by_pair = {}
    for record in catalogue.scheduled_departures("en"):
        at = datetime.fromisoformat(record["depart_at"])
        by_pair.setdefault((record["company"]["code"], record["journey_id"]), []).append(at)
    assert {key for _, key in by_pair} == set(NETWORK.journeys)
    for moments in by_pair.values():
        assert moments == sorted(moments)
        assert moments[0] > datetime(2026, 7, 13, 9, tzinfo=timezone.utc)
        assert len(moments) <= 3


# The timetable and its time zones


TIMETABLE = Timetable.of_seed(1)
WINTER = [date(2027, 1, 11) + timedelta(days=number) for number in range(7)]


def pair(company, depart, arrive):
    return NETWORK.companies[company], NETWORK.journeys[journey_id(depart, arrive)]


CTN = pair("CTN", "FRMRS", "TNLGN")
ORESUND = pair("ORESUND", "SEHEL", "DKHLS")


def week(days, company, journey):
    return [each for day in days for each in TIMETABLE.sailings(company, journey, day)]


def test_companies_sail_by_season_hour_and_length():
    ids = []
    for company, journey in PAIRS:
        route = journey.route
        summer, winter = (week(days, company, journey) for days in (SUMMER, WINTER))
        ids += [each.id for each in summer]
        assert summer, (company.code, journey.key)
        # Only seasonal routes pause in winter.
        assert bool(winter) is (route.season in {"all-year", "mostly summer"})
        if route.overnight:
            assert min(each.depart_at.hour for each in summer + winter) >= 18
        if route.round_the_clock:
            hours = {each.depart_at.hour for each in week(SUMMER[:1], company, journey)}
            assert len(hours) >= 12
            assert min(hours) <= 2
        if company.fast_ships and route.fast:
            assert {each.ship for each in summer} <= {*company.fast_ships}
    assert len(ids) == len(set(ids))


@given(st.sampled_from(PAIRS), st.dates(date(1970, 1, 1), date(2199, 12, 31)))
def test_times_are_in_the_time_zones_of_both_ports(chosen, day):
    company, journey = chosen
    for sailing in TIMETABLE.sailings(company, journey, day):
        assert sailing.depart_at.date() == day
        assert sailing.depart_at.tzinfo is journey.depart.zone
        assert sailing.arrive_at.tzinfo is journey.arrive.zone
        assert sailing.minutes == journey.route.minutes_of(company)
        for moment in (sailing.depart_at, sailing.arrive_at):
            there_and_back = moment.astimezone(timezone.utc).astimezone(moment.tzinfo)
            assert there_and_back.replace(tzinfo=None) == moment.replace(tzinfo=None)


def gap(sailing):
    shown = sailing.arrive_at.replace(tzinfo=None) - sailing.depart_at.replace(tzinfo=None)
    return shown - timedelta(minutes=sailing.minutes)


ALGECIRAS = pair("BALEARIA", "ESALG", "MAPTM")
IN_RAMADAN = date(2026, 3, 2)  # Morocco keeps UTC


@each(
    ("line", "days", "hours"),
    [
        *((CTN, SUMMER, -1), (CTN, WINTER, 0)),
        *((ALGECIRAS, [date(2026, 1, 20)], 0), (ALGECIRAS, [IN_RAMADAN], -1)),
        *((ALGECIRAS, [date(2026, 3, 25)], 0), (ALGECIRAS, [date(2026, 7, 20)], -1)),
    ],
)
def test_two_ports_differ_by_an_hour_in_some_seasons_only(line, days, hours):
    assert {gap(each) for each in week(days, *line)} == {timedelta(hours=hours)}


def test_sailings_of_days_are_in_order_within_the_calendar_and_of_the_companys_journeys_only():
    company, journey = ORESUND
    assert TIMETABLE.sailings(CTN[0], journey, SUMMER[0]) == ()
    run = list(TIMETABLE.sailings_from(company, journey, SUMMER[0], 3))
    assert run == week(SUMMER[:3], company, journey)
    assert run[0].depart_at < datetime(2026, 7, 13, 12, tzinfo=journey.depart.zone)
    for day in (date.min, date(1969, 12, 31), date(2200, 1, 1), date.max):
        assert not list(TIMETABLE.sailings_from(company, journey, day, 1)), day
    assert not list(TIMETABLE.sailings_from(company, journey, date.max, 7))


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
    with run(Trial) as trial:
        yield trial


def test_trial_searches_find_nothing_or_fail_and_no_catalogue_knows_their_routes(service):
    for code in ("XXNIL", "XXFUL"):
        for protocol in ("availability.search", "mcp.search_availability"):
            error = service.error_of(protocol, service.search_body(code))
            assert error.code == "AVAILABILITY_ERROR"
    failed = service.refusal("availability.search", service.search_body("XXERR"))
    assert failed == (503, "SERVER_ERROR")
    listed = service.listed()
    assert len(listed) == len({each["journey_id"] for each in listed}) == 24
    assert {each["company"] for each in listed} == {"SANDBOX"}
    assert "XXSBX" not in service.http.get("/api/port").text
    assert "XXSBX" not in service.http.post("/api/journey").text
    for name in ("ports", "companies", "countries", "departures"):
        message = rpc("resources/read", uri=f"resource://service/{name}")
        read = service.http.post("/mcp", json=message).text
        assert "SANDBOX" not in read
        assert "XX" not in read
    assert "SANDBOX" not in service.sandbox.network.companies


@LONG
def test_a_search_is_slow(service):
    with pytest.raises(httpx.TimeoutException):
        service.http.post("/api/availability", json=service.search_body("XXSLO"), timeout=1)
    assert service.found("XXSLO")


def test_bookings_go_well_or_wrong_in_one_way_and_the_company_cancels_or_moves_a_sailing(service):
    usual = service.book("XXALL")
    service.confirm(usual)
    assert service.booking(usual)["stage"] == "ticketed"
    assert service.cancel(usual)
    found = service.found("XXPRC")
    chosen = selection(found)
    shown = next(each for each in found["tariffs"] if each["id"] == chosen["tariff_id"])
    dearer = service.perform("bookings.create", availabilities=[chosen], passengers=[GUEST])
    assert dearer["total_price"] == pytest.approx(shown["amount"] * 1.1, abs=0.01)
    at_once, later = service.book("XXFAI"), service.book("XXLAT")
    assert service.error_of("bookings.confirm", id=at_once["booking_id"]).status == 409
    assert service.booking(at_once)["stage"] == "rejected"
    service.confirm(later)
    assert service.booking(later)["stage"] == "in_progress"
    service.clock.advance(10)
    assert service.booking(later)["stage"] == "rejected"
    cancelled = service.book("XXCAN")
    assert service.booking(cancelled)["stage"] == "payment_due"
    service.confirm(cancelled)
    assert service.booking(cancelled)["stage"] == "voided"
    assert service.fee(cancelled["booking_id"])["refund_amount"] == cancelled["total_price"]
    found = service.found("XXMOV")
    chosen = [selection(found)]
    moved = service.perform("bookings.create", availabilities=chosen, passengers=[GUEST])
    service.confirm(moved)
    for _ in range(2):  # it moves once
        journey = service.booking(moved)["journey_details"]["outward"]
        late = datetime.fromisoformat(journey["depart_at"])
        assert late - datetime.fromisoformat(found["depart_at"]) == timedelta(hours=1)


def test_a_place_is_always_taken_or_a_reply_lost_and_no_fault_is_listed(service):
    for _ in range(2):
        refused = service.refusal("bookings.create", service.body("XXTKN"))
        assert refused == (409, "BOOKING_CREATE_ERROR")
    assert service.sandbox.counters.effects == ()
    body = service.body("XXLST")
    with pytest.raises(httpx.RemoteProtocolError):
        service.perform("bookings.create", body)
    (effect,) = service.sandbox.counters.effects
    assert service.booking({"booking_id": effect.subject})["stage"] == "payment_due"
    assert service.create()["stage"] == "payment_due"  # another route is as usual
    assert (service.faults.pending, service.faults.taken) == ((), ())
