"""The timetable and its time zones."""

from datetime import date, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st
from sandbox_queries import DAYS as SUMMER
from sandbox_queries import NETWORK, PAIRS

from ferry_sdk.sandbox.network.network import journey_id
from ferry_sdk.sandbox.network.seeded_random import SeededRandom
from ferry_sdk.sandbox.network.timetable import Timetable
from tests.support.tables import each

TIMETABLE = Timetable(SeededRandom(1))
WINTER = [date(2027, 1, 11) + timedelta(days=number) for number in range(7)]


def pair(company, depart, arrive):
    return NETWORK.companies[company], NETWORK.journeys[journey_id(depart, arrive)]


def week(days, company, journey):
    return [each for day in days for each in TIMETABLE.sailings(company, journey, day)]


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
