"""JSON output, and text output without a terminal."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache

import pytest

from ferry_sdk import Ferry
from ferry_sdk.models import Availability, Booking, Ticket
from ferry_sdk.sandbox import Sandbox
from tests.cli.conftest import SEARCH, environment, run_here
from tests.support.tiers import LONG
from tests.support.trip import DAY, NOW, TRAVELLERS

ONE_ADULT = ["--adult", "34F"]


def days(first, last):
    """The options of a calendar."""
    return ["--from", f"{first}", "--to", f"{last}", *ONE_ADULT]


@pytest.fixture(scope="module")
def service():
    """The service of the tests that only read."""
    with Sandbox(now=NOW) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def run_once(service, tmp_path_factory):
    """Run a command that only reads, once for all tests of this module."""
    folder = tmp_path_factory.mktemp("cache")

    @cache
    def run(*words, **variables):
        env = environment(service, XDG_CACHE_HOME=str(folder), **variables)
        ended = run_here(words, folder=folder, variables=env)
        assert ended.code == 0, ended
        return ended

    return run


# ---- ferry search -----------------------------------------------------------------------------


@pytest.fixture
def found(run_once):
    """The document of a search of every company."""
    return run_once("search", *SEARCH, "--json").document


def test_document_of_a_search_has_four_members(found):
    assert found.keys() == {"search", "trips", "sailings", "report"}


def test_document_has_the_search(found):
    assert found["search"]["origin"] == "Tarifa"
    assert found["search"]["passengers"][1] == {"type": "Child", "gender": "Male", "age": 9}


def test_trips_are_sorted_by_price(found):
    prices = [Decimal(trip["price"]) for trip in found["trips"]]
    assert prices == sorted(prices)


def test_report_names_every_company(found):
    report = found["report"]
    assert {search["company"] for search in report["answered"]} == {"BALEARIA", "FRSIBERIA"}
    assert (report["calls"], report["is_complete"]) == (2, True)
    assert report["asked"][0].keys() == {"company", "depart_code", "arrive_code", "day"}


@pytest.fixture
def of_one_company(run_once):
    """The document of a search of one company."""
    return run_once("search", *SEARCH, "--company", "balearia", "--json").document


def test_search_of_one_company_has_its_sailings(of_one_company):
    assert {way["company"]["name"] for way in of_one_company["sailings"]} == {"Baleària"}


def test_trip_names_its_sailing(of_one_company):
    sailings = {way["id"]: Availability.model_validate(way) for way in of_one_company["sailings"]}
    trip = of_one_company["trips"][0]
    assert trip["companies"] == ["BALEARIA"]
    assert trip["back_id"] is None
    assert datetime.fromisoformat(trip["depart_at"]) == sailings[trip["outward_id"]].depart_at


def test_fare_has_the_arguments_of_a_booking(of_one_company):
    trip = of_one_company["trips"][0]
    fare = trip["fares"][0]
    assert (fare["kind"], fare["amount"], fare["currency"]) == ("single", trip["price"], "EUR")
    (selection,) = fare["availabilities"]
    assert selection.keys() >= {"availability_id", "tariff_id", "place_id"}


@pytest.fixture
def table(run_once):
    """What a search prints without a terminal."""
    ended = run_once("search", *SEARCH, FORCE_COLOR="1")
    assert ended.err == ""
    return ended.out


def test_table_has_a_title_with_the_route(table):
    assert table.startswith("Tarifa → Tangier (city), ")


def test_table_has_heads_above_rows(table):
    _, heads, row, *_ = table.splitlines()
    assert " ".join(heads.split()) == "# leaves arrives takes company price from"
    assert row.endswith(" EUR")


def test_table_is_plain_text(table):
    assert not set(table) & set("─│┃\x1b")
    assert [line for line in table.splitlines() if line != line.rstrip()] == []


def check_decimals(document):
    """Assert that each amount of a document has the two decimals of its currency."""
    amounts = re.findall(r'"(?:\w*_)?(?:amount|price)": "(.+)"', document)
    assert amounts
    assert [amount for amount in amounts if not re.fullmatch(r"\d+\.\d\d", amount)] == []


@LONG
@pytest.mark.parametrize(
    "words",
    [
        # Of many prices of a month, some end in 0.
        pytest.param(["calendar", *SEARCH[:2], *days(DAY, DAY + timedelta(27))], id="calendar"),
        pytest.param(["search", *SEARCH, "--reservation-type", "all"], id="search"),
        pytest.param(
            ["search", "Barcelona", "Tunis", *SEARCH[2:], "--changes", "1"], id="connections"
        ),
    ],
)
def test_prices_have_the_decimals_of_their_currency(run_once, words):
    check_decimals(run_once(*words, "--json").out)


@LONG
def test_fee_has_the_decimals_of_its_currency(cli, booked):
    check_decimals(cli("cancel", booked, "--yes", "--json").out)


# ---- Companies that fail ----------------------------------------------------------------------

OF_ONE = {"times": None, "company": "FRSIBERIA"}


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["search", *SEARCH], id="search"),
        pytest.param(["calendar", *SEARCH[:2], *days(DAY, DAY)], id="calendar"),
    ],
)
def test_slow_company_is_named(cli, ferry_sandbox, words):
    ferry_sandbox.faults.add("delay_before", "availability.search", seconds=60, **OF_ONE)
    for patience in ("0.5", "4", "32"):  # on a busy machine, the other one takes its time
        ended = cli(*words, "--patience", patience, code=None)
        if ended.code == 0:
            break
    assert "Baleària" in ended.out or "BALEARIA" in ended.out
    assert f"warning: FRSIBERIA is missing on {DAY:%d %b %Y}: " in ended.err


@pytest.fixture
def failing_company(ferry_sandbox):
    """Every search of one of two companies fails."""
    ferry_sandbox.faults.add("server_error", "availability.search", **OF_ONE)


@pytest.mark.usefixtures("failing_company")
def test_document_names_the_error_of_a_company(cli):
    (failed,) = cli("search", *SEARCH, "--json").document["report"]["failed"]
    assert (failed["company"], failed["error"]["type"]) == ("FRSIBERIA", "ServerError")


@pytest.mark.usefixtures("failing_company")
def test_failed_company_is_a_warning_beside_the_others(cli):
    ended = cli("search", *SEARCH)
    assert "Baleària" in ended.out
    assert f"warning: FRSIBERIA is missing on {DAY:%d %b %Y}: " in ended.err


@pytest.mark.usefixtures("failing_company")
def test_failed_days_of_a_calendar_are_one_warning(cli):
    ended = cli("calendar", *SEARCH[:2], *days(DAY, DAY + timedelta(days=1)))
    assert "warning: FRSIBERIA is missing for 2 days: " in ended.err


# ---- Days on which nothing sails ----------------------------------------------------------------

TO_PALERMO = ["search", "Genoa", "Palermo", *ONE_ADULT, "--on"]


def test_day_without_sailings_names_the_next_one(cli):
    ended = cli(*TO_PALERMO, "2050-06-01", code=4)
    assert "nothing sails from Genoa to Palermo on Wed 01 Jun 2050" in ended.err
    assert "the next day with sailings is Fri 03 Jun 2050" in ended.err
    assert ended.out == ""


def test_document_of_an_empty_day_names_the_company(cli):
    document = cli(*TO_PALERMO, "2050-06-01", "--json", code=4).document
    assert document["trips"] == []
    assert [search["company"] for search in document["report"]["nothing"]] == ["GNV"]


def test_flexible_search_shows_other_days(cli):
    ended = cli(*TO_PALERMO, "2050-06-01", "--flexible", "2")
    assert "the nearest day with sailings is Tue 31 May 2050" in ended.err
    _, _, *rows = ended.out.splitlines()
    assert {" ".join(row.split()[1:4]) for row in rows} == {"Tue 31 May", "Fri 03 Jun"}


def test_missing_return_is_named(cli):
    ended = cli(*TO_PALERMO, "2050-05-31", "--back", "2050-06-01", code=4)
    assert "that can be combined with a sailing back on Wed 01 Jun 2050" in ended.err
    assert "next day" not in ended.err


def test_trips_leave_at_the_time_or_later(cli):
    trips = cli("search", *SEARCH, "--at", "12:00", "--json").document["trips"]
    assert trips
    assert min(trip["depart_at"][11:16] for trip in trips) >= "12:00"


@pytest.mark.slow
def test_time_after_the_last_sailing_is_named(cli):
    assert "at 23:30 or later" in cli("search", *SEARCH, "--at", "23:30", code=4).err


# ---- ferry calendar ---------------------------------------------------------------------------


@pytest.fixture
def calendar(run_once):
    """The document of a calendar of four days, with a day without sailings."""
    words = ["calendar", "Gênes", "Palermo", *days("2050-05-31", "2050-06-03")]
    return run_once(*words, "--json").document


def test_calendar_has_every_day(calendar):
    assert calendar.keys() == {"days", "cheapest", "report"}
    prices = {day["day"]: day["price"] for day in calendar["days"]}
    assert [*prices] == ["2050-05-31", "2050-06-01", "2050-06-02", "2050-06-03"]
    assert prices["2050-06-01"] is None


def test_calendar_names_its_cheapest_day(calendar):
    prices = {day["day"]: Decimal(day["price"]) for day in calendar["days"] if day["price"]}
    assert prices[calendar["cheapest"]] == min(prices.values())


def test_calendar_reports_its_searches(calendar):
    assert calendar["days"][0]["company"] == "GNV"
    assert calendar["report"]["calls"] == 4


def test_calendar_without_sailings_has_no_cheapest_day(cli):
    words = ["calendar", "Genoa", "Palermo", *days("2050-06-01", "2050-06-02")]
    assert cli(*words, "--json", code=4).document["cheapest"] is None


# ---- Connections ------------------------------------------------------------------------------

BY_PORT = ["search", "Barcelona", "Tunis", "--on", f"{DAY}", *ONE_ADULT, "--changes", "1"]


@pytest.fixture(scope="module")
def itineraries(service):
    """The connections that the command finds, too."""
    with Ferry(service.token, base_url=service.base_url) as ferry:
        return ferry.trips.connections("Barcelona", "Tunis", on=DAY, passengers=TRAVELLERS[:1])


@pytest.mark.slow
def test_connections_are_a_table_of_separate_tickets(run_once, itineraries):
    title, _, *rows = run_once(*BY_PORT).out.splitlines()
    assert title.endswith(f", {DAY:%Y}, separate tickets: nobody is bound to wait")
    assert len(rows) == len(itineraries)
    first = itineraries[0]
    assert rows[0].startswith(f"1  {first.depart_at:%a %d %b %H:%M}  {first.via.name}")


def test_document_has_every_connection(run_once, itineraries):
    document = run_once(*BY_PORT, "--json").document
    assert document.keys() == {"search", "itineraries", "report"}
    assert [(shown["price"], shown["via"]) for shown in document["itineraries"]] == [
        (f"{itinerary.price:.2f}", itinerary.via.code) for itinerary in itineraries
    ]
    legs = document["itineraries"][0]["legs"]
    assert [leg["companies"] for leg in legs] == [[*leg.companies] for leg in itineraries[0].legs]


def test_connections_exclude_a_return(cli):
    ended = cli(*BY_PORT, "--back", f"{DAY}", "--flexible", "1", code=2)
    assert "--changes" in ended.err


def test_missing_connection_is_named(cli):
    ended = cli(*BY_PORT, "--at", "23:59", code=4)
    assert "no two sailings meet from Barcelona to Tunis" in ended.err


# ---- Dates and routes -------------------------------------------------------------------------


@LONG
def test_rows_around_new_year_have_the_year(cli):
    ended = cli(*TO_PALERMO, "2051-01-01", "--flexible", "3")
    title, _, *rows = ended.out.splitlines()
    assert not re.search(r"\d{4}", title)
    assert sorted(re.findall(r"\d{4}", "".join(rows))) == ["2050", "2051"]


@LONG
def test_title_has_the_year_of_all_rows(cli):
    title, _, row = cli(*TO_PALERMO, "2051-01-04").out.splitlines()
    assert title.endswith(", 2051")
    assert "2051" not in row


def test_known_routes_are_not_read_again(cli, ferry_sandbox):
    cli("search", "ESTRF", *SEARCH[1:])
    assert ferry_sandbox.counters.requests == {"availability.search": 2}


@pytest.mark.slow
def test_routes_are_read_once_a_day(cli, ferry_sandbox, cache):
    (file,) = cache.iterdir()
    file.unlink()
    cli("search", "ESTRF", *SEARCH[1:])
    assert ferry_sandbox.counters.requests["catalogue.journeys"] == 1
    cli("search", "ESTRF", *SEARCH[1:])
    assert ferry_sandbox.counters.requests["catalogue.journeys"] == 1


def test_relative_days_start_today(cli, ferry_sandbox):
    ferry_sandbox.clock.travel_to(datetime.now(UTC))
    words = ["search", "Tarifa", "MATNG", "--on", "+30", "--back", "+35", *ONE_ADULT]
    sailings = cli(*words, "--json").document["sailings"]
    assert {way["direction"] for way in sailings} == {"Outward", "Return"}


# ---- ferry ports, companies and vehicles ------------------------------------------------------


def test_ports_are_found_by_a_similar_name(cli):
    port, *_ = cli("ports", "genuva", "--json").document["ports"]
    assert (port["code"], port["country_code"]) == ("ITGOA", "IT")
    assert port["reason"] == "similar name"
    assert 0.5 < port["score"] < 0.85


def test_all_ports_are_listed(cli):
    assert len(cli("ports", "--json").document["ports"]) > 100


@pytest.mark.parametrize("country", ["Morocco", "Malta"])
def test_ports_are_found_by_country(cli, country):
    port, *_ = cli("ports", country.lower(), "--json").document["ports"]
    assert port["country"] == country


def test_companies_are_found_by_part_of_their_name(cli):
    (company,) = cli("companies", "grandi navi", "--json").document["companies"]
    assert company["code"] == "GNV"


def test_vehicles_have_two_codes(cli):
    golf, *_ = cli("vehicles", "golf", "--json").document["vehicles"]
    assert (golf["search_code"], golf["booking_code"]) == ("VOLKSWAGEN__GOLF", "CAR")


def test_vehicle_is_found_by_several_words(cli):
    panda, *_ = cli("vehicles", "fiat", "panda", "--json").document["vehicles"]
    assert panda["search_code"] == "FIAT__PANDA"


# ---- Types of fares ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "types"),
    [
        pytest.param([], {"TICKET"}, id="default"),
        pytest.param(["--reservation-type", "All"], {"TICKET", "PRESALE", "OPTION"}, id="all"),
    ],
)
def test_fares_are_of_the_wanted_types(cli, words, types):
    trips = cli("search", *SEARCH, *words, "--json").document["trips"]
    fares = [fare for trip in trips for fare in trip["fares"]]
    assert {fare["reservation_type"] for fare in fares} == types


def test_calendar_has_fares_of_the_wanted_type(cli):
    words = ["calendar", *SEARCH[:2], *days(DAY, DAY), "--json"]
    (ticket,) = cli(*words).document["days"]
    (presale,) = cli(*words, "--reservation-type=presale").document["days"]
    assert Decimal(presale["price"]) < Decimal(ticket["price"])


def test_trips_without_a_wanted_fare_are_counted(cli):
    soon = ["search", "Tarifa", "MATNG", "--on", f"{NOW:%Y-%m-%d}", *ONE_ADULT]
    message = cli(*soon, "--reservation-type", "presale", code=4).err
    assert re.search(r"[1-9]\d* trips have only fares of another reservation type", message)
    assert "no such fare from Tarifa to MATNG" in message


def test_unknown_type_of_fares_is_an_error(cli):
    assert "option or all" in cli("search", *SEARCH, "--reservation-type", "gift", code=2).err


# ---- Bookings ---------------------------------------------------------------------------------


def test_document_of_a_booking_can_be_shown_again(cli, order):
    made = cli("book", "--from", str(order), "--yes", "--json").document["booking"]
    shown = cli("show", made["booking_id"], "--json").document["booking"]
    assert Booking.model_validate(shown).booking_reference == made["booking_reference"]


def test_document_of_a_confirmation_has_the_ticket(cli, ferry, booked):
    total = str(ferry.bookings.get(booked).total_price)
    ended = cli("confirm", booked, "--yes", "--expect-total", total, "--json")
    ticket_id = ended.document["confirmation"]["ticket_id"]
    ticket = Ticket.model_validate(cli("show", ticket_id, "--json").document["ticket"])
    assert ticket.passengers[0].first_name == "Ada"


@pytest.mark.parametrize("kind", ["booking", "ticket"])
def test_show_prints_tickets_with_their_travellers(cli, booked, ticket, kind):
    shown = cli("show", booked if kind == "booking" else ticket).out
    assert "Issued, OUTWARD" in shown
    assert "Ada Reyes" in shown


def test_document_of_a_voucher_names_its_file(cli, ticket, tmp_path):
    saved = cli("voucher", ticket, "--to", "v.pdf", "--json").document["voucher"]
    assert saved["ticket_id"] == ticket
    assert saved["bytes"] == (tmp_path / "v.pdf").stat().st_size


@pytest.mark.usefixtures("ticket")
def test_document_of_a_cancellation_has_the_fee(cli, booked):
    document = cli("cancel", booked, "--yes", "--json").document
    assert document.keys() == {"cancellation", "fee"}
    assert document["cancellation"]["previewed"] == document["fee"]
    assert document["cancellation"]["booking_id"] == booked


@pytest.mark.usefixtures("ticket")
def test_standing_booking_has_no_refund(cli, booked):
    assert "refunded" not in cli("show", booked).out


@pytest.mark.usefixtures("ticket")
def test_document_of_a_standing_booking_has_no_cancellation(cli, booked):
    assert "cancellation" not in cli("show", booked, "--json").document


@pytest.fixture
def cancellation(ferry, booked, ticket):
    """The fee of a booking that is cancelled."""
    fee = ferry.bookings.cancel_fee(booked)
    ferry.bookings.cancel(booked)
    return fee


def test_cancelled_booking_shows_the_refund(cli, booked, cancellation):
    lines = [" ".join(line.split()) for line in cli("show", booked).out.splitlines()]
    assert f"refunded {cancellation.refund_amount:.2f} {cancellation.currency}" in lines
    assert f"kept {cancellation.penalty_amount:.2f} {cancellation.currency}" in lines


def test_document_of_a_cancelled_booking_has_the_refund(cli, booked, cancellation):
    shown = cli("show", booked, "--json").document["cancellation"]
    assert shown["refund_amount"] == f"{cancellation.refund_amount:.2f}"


@pytest.mark.usefixtures("cancellation")
def test_refund_that_cannot_be_read_is_left_out(cli, booked, ferry_sandbox):
    ferry_sandbox.faults.add("server_error", "bookings.cancel_fee", times=None)
    assert "refunded" not in cli("show", booked).out
