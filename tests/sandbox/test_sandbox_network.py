"""The network, its timetable, its catalogues and its trial routes."""

import uuid
from datetime import date, datetime, timedelta, timezone

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from offline_service import ADULT, GUEST, NOW, ServiceOverHttp, selection
from sandbox_queries import DAYS as SUMMER
from sandbox_queries import NETWORK, PAIRS

from ferry_sdk.sandbox import Sandbox
from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.network.network import Network, journey_id
from ferry_sdk.sandbox.network.seeded_random import SeededRandom
from ferry_sdk.sandbox.network.timetable import Timetable
from ferry_sdk.sandbox.offers.offers import Offers
from ferry_sdk.sandbox.requests.errors import RefusedError
from tests.support.exchanges import caught
from tests.support.tables import each
from tests.support.tiers import LONG
from tests.support.wire import TLS

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


# The timetable and its time zones


TIMETABLE = Timetable(SeededRandom(1))
WINTER = [date(2027, 1, 11) + timedelta(days=number) for number in range(7)]


def pair(company, depart, arrive):
    return NETWORK.companies[company], NETWORK.journeys[journey_id(depart, arrive)]


def week(days, company, journey):
    return [each for day in days for each in TIMETABLE.sailings(company, journey, day)]


def test_services_of_one_seed_work_a_day_out_once():
    first, second = (Timetable.of_seed(seed) for seed in (1, 2))
    assert Timetable.of_seed(1) is first
    company, journey = pair("CTN", "FRMRS", "TNLGN")
    sailings = [each.sailings(company, journey, SUMMER[0]) for each in (first, first, second)]
    assert sailings[0] is sailings[1]
    assert sailings[0] == TIMETABLE.sailings(company, journey, SUMMER[0]) != sailings[2]


def test_every_company_sails_each_of_its_journeys_in_summer():
    for company, journey in PAIRS:
        assert week(SUMMER, company, journey), (company.code, journey.key)


def test_only_seasonal_routes_pause_in_winter():
    for company, journey in PAIRS:
        sailings = week(WINTER, company, journey)
        assert bool(sailings) is (journey.route.season in {"all-year", "mostly summer"})


@each(
    ("season", "first", "last"),
    [
        ("summer", date(2026, 6, 15), date(2026, 9, 15)),
        ("spring-autumn", date(2026, 4, 1), date(2026, 10, 31)),
    ],
)
def test_a_season_has_a_first_and_a_last_day(season, first, last):
    for company, journey in PAIRS:
        if journey.route.season != season:
            continue
        before = [first - timedelta(days=number) for number in range(1, 8)]
        after = [last + timedelta(days=number) for number in range(1, 8)]
        assert not week(before + after, company, journey)
        assert week([first + timedelta(days=number) for number in range(7)], company, journey)


def test_a_mostly_summer_route_sails_once_a_week_in_winter():
    company, journey = pair("BALEARIA", "ESVLC", "DZMOS")
    assert len(week(WINTER, company, journey)) == 1
    assert len(week(SUMMER, company, journey)) == 7


def test_overnight_ships_depart_in_the_evening():
    for company, journey in PAIRS:
        if journey.route.overnight:
            for sailing in week(SUMMER + WINTER, company, journey):
                assert sailing.depart_at.hour >= 18


def test_short_routes_sail_often_and_long_ones_rarely():
    for company, journey in PAIRS:
        sailings = len(week(SUMMER, company, journey))
        if journey.route.minutes <= 60:
            assert sailings >= 6 * 7
        if journey.route.minutes > 1900:
            assert sailings <= 3
        if journey.route.round_the_clock:
            hours = {each.depart_at.hour for each in week(SUMMER[:1], company, journey)}
            assert len(hours) >= 12
            assert min(hours) <= 2


def test_fast_ships_sail_the_fast_routes():
    for company, journey in PAIRS:
        if any(ship.fast for ship in company.ships) and journey.route.fast:
            assert all(each.ship.fast for each in week(SUMMER, company, journey))


def test_the_id_of_a_sailing_is_unique():
    names = [each.id for company, journey in PAIRS for each in week(SUMMER, company, journey)]
    assert len(names) == len(set(names))


def test_some_sailings_have_stops():
    (sailing, *_) = week(SUMMER, *pair("GNV", "ITGOA", "MAPTM"))
    assert sailing.stops == ("ESBCN",)
    days = [date(2026, 7, 1) + timedelta(days=number) for number in range(60)]
    calls = {each.stops for each in week(days, *pair("GNV", "ITCVV", "TNLGN"))}
    assert calls == {(), ("ITPMO",)}


def test_companies_have_their_own_durations():
    minutes = {
        code: week(SUMMER, *pair(code, "FIHEL", "EETLL"))[0].minutes
        for code in ("TALLINK", "ECKERO", "VIKING")
    }
    assert minutes == {"TALLINK": 120, "ECKERO": 135, "VIKING": 150}


@given(st.sampled_from(PAIRS), st.dates(date(1970, 1, 1), date(2199, 12, 31)))
def test_times_are_in_the_time_zones_of_both_ports(chosen, day):
    company, journey = chosen
    for sailing in TIMETABLE.sailings(company, journey, day):
        assert sailing.depart_at.date() == day
        assert sailing.depart_at.tzinfo is journey.depart.zone
        assert sailing.arrive_at.tzinfo is journey.arrive.zone
        delay = 60 if journey.route.minutes >= 1200 and day.month not in range(4, 11) else 0
        assert sailing.minutes == journey.route.minutes_of(company) + delay
        for moment in (sailing.depart_at, sailing.arrive_at):
            there_and_back = moment.astimezone(timezone.utc).astimezone(moment.tzinfo)
            assert there_and_back.replace(tzinfo=None) == moment.replace(tzinfo=None)


def gap(sailing):
    shown = sailing.arrive_at.replace(tzinfo=None) - sailing.depart_at.replace(tzinfo=None)
    return shown - timedelta(minutes=sailing.minutes)


def test_marseille_and_tunis_differ_by_an_hour_in_summer_only():
    assert {gap(each) for each in week(SUMMER, *pair("CTN", "FRMRS", "TNLGN"))} == {
        timedelta(hours=-1)
    }
    assert {gap(each) for each in week(WINTER, *pair("CTN", "FRMRS", "TNLGN"))} == {timedelta()}


@each(
    ("day", "hours"),
    [
        (date(2026, 1, 20), 0),
        (date(2026, 3, 2), -1),  # Ramadan: Morocco keeps UTC
        (date(2026, 3, 25), 0),
        (date(2026, 7, 20), -1),
    ],
)
def test_morocco_sets_its_clocks_back_in_ramadan(day, hours):
    sailings = TIMETABLE.sailings(*pair("BALEARIA", "ESALG", "MAPTM"), day)
    assert {gap(each) for each in sailings} == {timedelta(hours=hours)}


def test_no_sailing_departs_in_the_hour_that_summer_time_skips():
    night = date(2026, 3, 29)
    checked = 0
    for company, journey in PAIRS:
        if not journey.route.round_the_clock:
            continue
        moments = [each.depart_at for each in TIMETABLE.sailings(company, journey, night)]
        skipped = 1 if journey.depart.timezone == "Europe/London" else 2
        if journey.depart.timezone.startswith("Europe/"):
            checked += 1
            assert skipped not in {each.hour for each in moments}
        instants = [each.timestamp() for each in moments]
        assert instants == sorted(set(instants))
    assert checked >= 10


def test_the_hour_that_autumn_repeats_has_no_duplicate_departures():
    night = date(2026, 10, 25)
    for company, journey in PAIRS:
        instants = [
            each.depart_at.timestamp() for each in TIMETABLE.sailings(company, journey, night)
        ]
        assert instants == sorted(set(instants))


@each("night", [date(2026, 3, 28), date(2026, 10, 24)])
def test_a_change_of_summer_time_does_not_change_the_duration(night):
    across = 0
    for company, journey in PAIRS:
        delay = 60 if journey.route.minutes >= 1200 and night.month == 3 else 0
        for sailing in week([night, night + timedelta(days=1)], company, journey):
            assert sailing.minutes == journey.route.minutes_of(company) + delay
            across += gap(sailing) % timedelta(hours=24) != timedelta()
    assert across > 50


@each("day", [date.min, date(1969, 12, 31), date(2200, 1, 1), date.max])
def test_nothing_sails_beyond_the_calendar(day):
    company, journey = pair("ORESUND", "SEHEL", "DKHLS")
    assert not list(TIMETABLE.sailings_from(company, journey, day, 1))
    assert not list(TIMETABLE.sailings_from(company, journey, date.max, 7))


def test_a_company_sails_its_own_journeys_only():
    company, _ = pair("CTN", "FRMRS", "TNLGN")
    _, journey = pair("ORESUND", "SEHEL", "DKHLS")
    assert TIMETABLE.sailings(company, journey, SUMMER[0]) == ()


def test_sailings_of_several_days_are_in_order():
    company, journey = pair("ORESUND", "SEHEL", "DKHLS")
    run = list(TIMETABLE.sailings_from(company, journey, SUMMER[0], 3))
    assert run == week(SUMMER[:3], company, journey)
    assert run[0].depart_at < datetime(2026, 7, 13, 12, tzinfo=journey.depart.zone)


# The trial routes: each misbehaves in one way, and no catalogue knows them


DAY = (NOW + timedelta(days=30)).date().isoformat()


@pytest.fixture(scope="module")
def running():
    """Return a service at a fixed time, and an HTTP client of it."""
    with Sandbox(now=NOW, frozen=True) as sandbox:
        headers = {"accept": "application/json", "authorization": f"Bearer {sandbox.token}"}
        url = sandbox.base_url
        with httpx.Client(verify=TLS, base_url=url, headers=headers, timeout=60) as http:
            yield sandbox, http


@pytest.fixture
def trial(running):
    """Return the caller of a service after a reset."""
    sandbox, http = running
    sandbox.reset()
    return Trial(sandbox, http)


class Trial(ServiceOverHttp):
    """A caller who takes everything from the list of the trial routes."""

    def route(self, code):
        listed = self.http.get("/_sandbox/trial-routes").json()["routes"]
        return next(each for each in listed if each["arrive_code"] == code)

    def search_body(self, code):
        route = self.route(code)
        request = {name: route[name] for name in ("company", "depart_code", "arrive_code")}
        request |= {"out_journey_id": route["journey_id"], "out_at": DAY, "out_time": "00:00"}
        return {"request": request, "passengers": [ADULT]}

    def found(self, code, protocol="availability.search"):
        return self.perform(protocol, self.search_body(code))

    def body(self, code):
        return {"availabilities": [selection(self.found(code)[0])], "passengers": [GUEST]}

    def book(self, code):
        return self.perform("bookings.create", self.body(code))

    def error(self, code, operation="bookings.create"):
        return self.error_of(operation, self.body(code))


def test_all_goes_well_on_one_of_them(trial):
    created = trial.book("XXALL")
    trial.confirm(created)
    assert trial.booking(created)["stage"] == "ticketed"
    trial.perform("bookings.cancel", booking_id=created["booking_id"])


@each("code", ["XXNIL", "XXFUL"])
@each("protocol", ["availability.search", "mcp.search_availability"])
def test_nothing_sails_or_everything_is_sold(trial, code, protocol):
    error = trial.error_of(protocol, trial.search_body(code))
    assert error.code == "AVAILABILITY_ERROR"


def test_a_search_fails(trial):
    error = trial.error_of("availability.search", trial.search_body("XXERR"))
    assert (error.status, error.code) == (503, "SERVER_ERROR")


@LONG
def test_a_search_is_slow(trial, running):
    with pytest.raises(httpx.TimeoutException):
        running[1].post("/api/availability", json=trial.search_body("XXSLO"), timeout=1)
    assert trial.found("XXSLO")


def test_a_price_changes_when_the_booking_is_created(trial):
    found = trial.found("XXPRC")[0]
    chosen = selection(found)
    shown = next(each for each in found["tariffs"] if each["id"] == chosen["tariff_id"])
    created = trial.perform("bookings.create", availabilities=[chosen], passengers=[GUEST])
    assert created["total_price"] == pytest.approx(shown["amount"] * 1.1, abs=0.01)


def test_a_place_is_always_taken(trial):
    for _ in range(2):
        error = trial.error("XXTKN")
        assert (error.status, error.code) == (409, "BOOKING_CREATE_ERROR")
    assert trial.sandbox.counters.effects == ()


def test_a_reply_is_lost_although_the_booking_exists(trial):
    body = trial.body("XXLST")
    with pytest.raises(httpx.RemoteProtocolError):
        trial.perform("bookings.create", body)
    (effect,) = trial.sandbox.counters.effects
    assert trial.booking({"booking_id": effect.subject})["stage"] == "payment_due"


def test_a_ticket_fails_at_once_or_later(trial):
    at_once = trial.book("XXFAI")
    assert trial.error_of("bookings.confirm", id=at_once["booking_id"]).status == 409
    assert trial.booking(at_once)["stage"] == "rejected"
    later = trial.book("XXLAT")
    trial.confirm(later)
    assert trial.booking(later)["stage"] == "in_progress"
    trial.clock.advance(10)
    assert trial.booking(later)["stage"] == "rejected"


def test_a_sailing_is_cancelled_after_the_confirmation(trial):
    created = trial.book("XXCAN")
    assert trial.booking(created)["stage"] == "payment_due"
    trial.confirm(created)
    assert trial.booking(created)["stage"] == "voided"
    fee = trial.perform("bookings.cancel_fee", id=created["booking_id"])
    assert fee["refund_amount"] == created["total_price"]


def test_a_departure_moves_once_after_the_confirmation(trial):
    found = trial.found("XXMOV")[0]
    body = {"availabilities": [selection(found)], "passengers": [GUEST]}
    created = trial.perform("bookings.create", body)
    trial.confirm(created)
    for _ in range(2):
        journey = trial.booking(created)["journey_details"]["outward"]
        late = datetime.fromisoformat(journey["depart_at"])
        assert late - datetime.fromisoformat(found["depart_at"]) == timedelta(hours=1)


def test_no_catalogue_knows_the_trial_routes(trial, running):
    _, http = running
    for path in ("/api/port", "/api/journey"):
        method = "POST" if path == "/api/journey" else "GET"
        assert "XXSBX" not in http.request(method, path).text
    for name in ("ports", "companies", "countries", "departures"):
        params = {"uri": f"resource://service/{name}"}
        message = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": params}
        read = http.post("/mcp", json=message).text
        assert "SANDBOX" not in read
        assert "XX" not in read
    assert "SANDBOX" not in trial.sandbox.network.companies


def test_the_faults_of_a_trial_route_are_not_listed_and_hit_no_other(trial):
    trial.error("XXTKN")
    assert (trial.faults.pending, trial.faults.taken) == ((), ())
    assert trial.create()["stage"] == "payment_due"


def test_each_trial_route_has_a_way_back(trial, running):
    listed = running[1].get("/_sandbox/trial-routes").json()["routes"]
    assert len(listed) == len({each["journey_id"] for each in listed}) == 24
    assert {each["company"] for each in listed} == {"SANDBOX"}
