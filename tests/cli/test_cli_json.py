"""JSON output, and text output without a terminal."""

import re
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest

from ferry_sdk.models import Availability, Booking, Ticket
from tests.cli.conftest import SEARCH
from tests.support.tiers import LONG
from tests.support.trip import DAY, NOW, TRAVELLERS


def test_search_prints_complete_trips_of_every_company_on_the_route(cli):
    found = cli("search", *SEARCH, "--json").document
    assert set(found) == {"search", "trips", "sailings", "report"}
    assert found["search"]["origin"] == "Tarifa"
    assert found["search"]["passengers"][1] == {"type": "Child", "gender": "Male", "age": 9}
    prices = [Decimal(one["price"]) for one in found["trips"]]
    assert prices == sorted(prices)
    report = found["report"]
    assert {one["company"] for one in report["answered"]} == {"BALEARIA", "FRSIBERIA"}
    assert (report["calls"], report["is_complete"]) == (2, True)
    assert report["asked"][0].keys() == {"company", "depart_code", "arrive_code", "day"}
    only = cli("search", *SEARCH, "--company", "balearia", "--json").document
    assert {one["company"]["name"] for one in only["sailings"]} == {"Baleària"}
    sailings = {one["id"]: Availability.model_validate(one) for one in only["sailings"]}
    first = only["trips"][0]
    assert first["companies"] == ["BALEARIA"]
    assert first["back_id"] is None
    assert datetime.fromisoformat(first["depart_at"]) == sailings[first["outward_id"]].depart_at
    fare = first["fares"][0]
    assert (fare["kind"], fare["amount"], fare["currency"]) == ("single", first["price"], "EUR")
    (selection,) = fare["availabilities"]
    assert set(selection) >= {"availability_id", "tariff_id", "place_id"}

    ended = cli("search", *SEARCH, FORCE_COLOR="1")  # without a terminal, a table is plain text
    assert ended.err == ""
    title, heads, row, *_ = ended.out.splitlines()
    assert title.startswith("Tarifa → Tangier (city), ")
    assert " ".join(heads.split()) == "# leaves arrives takes company price from"
    assert row.endswith(" EUR")
    assert not set(ended.out) & set("─│┃\x1b")
    assert [line for line in ended.out.splitlines() if line != line.rstrip()] == []


@LONG
def test_the_amounts_of_every_document_have_the_decimals_of_their_currency(cli, booked):
    # Of many prices of a month, some end in 0.
    days = ["--from", f"{DAY}", "--to", f"{DAY + timedelta(days=27)}", "--adult", "34F"]
    for words in [
        ["calendar", *SEARCH[:2], *days],
        ["search", *SEARCH, "--reservation-type", "all"],
        ["search", "Barcelona", "Tunis", *SEARCH[2:], "--changes", "1"],
        ["cancel", booked, "--yes"],
    ]:
        found = re.findall(r'"(?:\w*_)?(?:amount|price)": "(.+)"', cli(*words, "--json").out)
        assert found
        assert [one for one in found if not re.fullmatch(r"\d+\.\d\d", one)] == []


@pytest.mark.usefixtures("ticket")
def test_show_of_a_cancelled_booking_shows_the_refund_if_it_can_be_read(
    cli, ferry, booked, ferry_sandbox
):
    assert "cancellation" not in cli("show", booked, "--json").document
    assert "refunded" not in cli("show", booked).out
    fee = ferry.bookings.cancel_fee(booked)
    back = ferry.bookings.cancel(booked).refund_amount
    lines = [" ".join(line.split()) for line in cli("show", booked).out.splitlines()]
    assert f"refunded {back:.2f} {fee.currency}" in lines
    assert f"kept {fee.penalty_amount:.2f} {fee.currency}" in lines
    assert cli("show", booked, "--json").document["cancellation"]["refund_amount"] == f"{back:.2f}"
    ferry_sandbox.faults.add("server_error", "bookings.cancel_fee", times=None)
    assert "refunded" not in cli("show", booked).out


def test_a_company_that_fails_or_is_beyond_the_patience_is_named(cli, ferry_sandbox):
    of_one = {"times": None, "company": "FRSIBERIA"}
    days = ["--from", f"{DAY}", "--adult", "34F", "--to"]
    ferry_sandbox.faults.add("delay_before", "availability.search", seconds=60, **of_one)
    for command in (["search", *SEARCH], ["calendar", *SEARCH[:2], *days, f"{DAY}"]):
        for patience in ("0.5", "4", "32"):  # on a busy machine, the other one takes its time
            ended = cli(*command, "--patience", patience, code=None)
            if ended.code == 0:
                break
        assert "Baleària" in ended.out or "BALEARIA" in ended.out
        assert f"warning: FRSIBERIA is missing on {DAY:%d %b %Y}: " in ended.err
    ferry_sandbox.faults.clear()
    ferry_sandbox.faults.add("server_error", "availability.search", **of_one)
    (failed,) = cli("search", *SEARCH, "--json").document["report"]["failed"]
    assert (failed["company"], failed["error"]["type"]) == ("FRSIBERIA", "ServerError")
    ended = cli("search", *SEARCH)
    assert "Baleària" in ended.out
    assert f"warning: FRSIBERIA is missing on {DAY:%d %b %Y}: " in ended.err
    ended = cli("calendar", *SEARCH[:2], *days, f"{DAY + timedelta(days=1)}")
    assert "warning: FRSIBERIA is missing for 2 days: " in ended.err


def test_trips_leave_at_the_time_or_later_and_on_other_days_if_wanted_and_a_calendar_has_each(cli):
    words = ["search", "Genoa", "Palermo", "--on", "2050-06-01", "--adult", "34F"]
    ended = cli(*words, code=4)
    assert ended.out == ""
    assert "nothing sails from Genoa to Palermo on Wed 01 Jun 2050" in ended.err
    assert "the next day with sailings is Fri 03 Jun 2050" in ended.err
    found = cli(*words, "--json", code=4).document
    assert found["trips"] == []
    assert [one["company"] for one in found["report"]["nothing"]] == ["GNV"]
    ended = cli(*words, "--flexible", "2")
    assert "the nearest day with sailings is Tue 31 May 2050" in ended.err
    _, _, first, second = ended.out.splitlines()
    assert {" ".join(row.split()[1:4]) for row in (first, second)} == {"Tue 31 May", "Fri 03 Jun"}
    words[4] = "2050-05-31"
    ended = cli(*words, "--back", "2050-06-01", code=4)
    assert "that can be combined with a sailing back on Wed 01 Jun 2050" in ended.err
    assert "next day" not in ended.err
    some = cli("search", *SEARCH, "--at", "12:00", "--json").document["trips"]
    assert some
    assert min(one["depart_at"][11:16] for one in some) >= "12:00"
    assert "at 23:30 or later" in cli("search", *SEARCH, "--at", "23:30", code=4).err
    days = ["--from", "2050-05-31", "--to", "2050-06-03", "--adult", "34F", "--json"]
    found = cli("calendar", "Gênes", "Palermo", *days).document
    assert set(found) == {"days", "cheapest", "report"}
    priced = {one["day"]: one["price"] for one in found["days"]}
    assert [*priced] == ["2050-05-31", "2050-06-01", "2050-06-02", "2050-06-03"]
    assert priced["2050-06-01"] is None
    least = min(Decimal(price) for price in priced.values() if price)
    assert Decimal(priced[found["cheapest"]]) == least
    assert found["days"][0]["company"] == "GNV"
    assert found["report"]["calls"] == 4
    nothing = ["--from", "2050-06-01", "--to", "2050-06-02", "--adult", "34F", "--json"]
    assert cli("calendar", "Genoa", "Palermo", *nothing, code=4).document["cheapest"] is None


def test_connections_are_shown_as_separate_tickets(cli, ferry):
    words = ["search", "Barcelona", "Tunis", "--on", f"{DAY}", "--adult", "34F", "--changes", "1"]
    shown = cli(*words).out
    assert "separate tickets: nobody is bound to wait" in shown.splitlines()[0]
    found = cli(*words, "--json").document
    assert set(found) == {"search", "itineraries", "report"}
    assert len(shown.splitlines()) == len(found["itineraries"]) + 2
    same = ferry.trips.connections("Barcelona", "Tunis", on=DAY, passengers=TRAVELLERS[:1])
    assert [(one["price"], one["via"]) for one in found["itineraries"]] == [
        (f"{one.price:.2f}", one.via.code) for one in same
    ]
    first = found["itineraries"][0]
    assert [leg["companies"] for leg in first["legs"]] == [[*leg.companies] for leg in same[0].legs]
    assert same[0].via.name in shown
    (row,) = [line for line in shown.splitlines() if line.startswith("1  ")]
    assert row.startswith(f"1  {same[0].depart_at:%a %d %b %H:%M}  {same[0].via.name}")
    assert f", {DAY:%Y}, separate tickets" in shown
    assert "--changes" in cli(*words, "--back", f"{DAY}", "--flexible", "1", code=2).err
    later = cli(*words, "--at", "23:59", code=4)
    assert "no two sailings meet from Barcelona to Tunis" in later.err


@LONG
def test_a_table_around_new_year_names_the_year_of_each_sailing(cli):
    words = ["Genoa", "Palermo", "--adult", "34F"]
    both = cli("search", *words, "--on", "2051-01-01", "--flexible", "3").out
    title, _, *rows = both.splitlines()
    assert not re.search(r"\d{4}", title)
    assert sorted(re.findall(r"\d{4}", "".join(rows))) == ["2050", "2051"]
    title, _, row = cli("search", *words, "--on", "2051-01-04").out.splitlines()
    assert title.endswith(", 2051")
    assert "2051" not in row


def test_routes_are_read_once_a_day(cli, ferry_sandbox, cache):
    (file,) = cache.iterdir()
    cli("search", "ESTRF", *SEARCH[1:])
    assert ferry_sandbox.counters.requests == {"availability.search": 2}
    file.unlink()
    for _ in range(2):
        cli("search", "ESTRF", *SEARCH[1:])
        assert ferry_sandbox.counters.requests["catalogue.journeys"] == 1


def test_relative_days_start_today_and_a_round_trip_has_returns(cli, ferry_sandbox):
    ferry_sandbox.clock.travel_to(datetime.now(timezone.utc))
    words = ["Tarifa", "MATNG", "--on", "+30", "--back", "+35", "--adult", "34F"]
    found = cli("search", *words, "--json").document
    assert {one["direction"] for one in found["sailings"]} == {"Outward", "Return"}


def test_ports_companies_and_vehicles_and_fares_of_tickets_are_found_unless_others_are_wanted(cli):
    first, *_ = cli("ports", "genuva", "--json").document["ports"]
    assert (first["code"], first["country_code"]) == ("ITGOA", "IT")
    assert (first["reason"], 0.5 < first["score"] < 0.85) == ("similar name", True)
    assert len(cli("ports", "--json").document["ports"]) > 100
    for country in ("Morocco", "Malta"):
        assert cli("ports", country.lower(), "--json").document["ports"][0]["country"] == country
    (company,) = cli("companies", "grandi navi", "--json").document["companies"]
    assert company["code"] == "GNV"
    golf = cli("vehicles", "golf", "--json").document["vehicles"][0]
    assert (golf["search_code"], golf["booking_code"]) == ("VOLKSWAGEN__GOLF", "CAR")

    def kinds(*words):
        found = cli("search", *SEARCH, *words, "--json").document
        return {fare["reservation_type"] for trip in found["trips"] for fare in trip["fares"]}

    assert kinds() == {"TICKET"}
    assert kinds("--reservation-type", "All") == {"TICKET", "PRESALE", "OPTION"}
    days = ["--from", f"{DAY}", "--to", f"{DAY}", "--adult", "34F", "--json"]
    prices = [
        Decimal(cli("calendar", *SEARCH[:2], *days, *words).document["days"][0]["price"])
        for words in (["--reservation-type=presale"], [])
    ]
    assert prices[0] < prices[1]
    soon = ["Tarifa", "MATNG", "--on", f"{NOW:%Y-%m-%d}", "--adult", "34F"]
    nothing = cli("search", *soon, "--reservation-type", "presale", code=4)
    assert re.search(r"[1-9]\d* trips have only fares of another reservation type", nothing.err)
    assert "no such fare from Tarifa to MATNG" in nothing.err
    assert "option or all" in cli("search", *SEARCH, "--reservation-type", "gift", code=2).err


def test_a_booking_is_made_shown_confirmed_and_cancelled(cli, order, tmp_path):
    made = cli("book", "--from", str(order), "--yes", "--json").document["booking"]
    some_id = made["booking_id"]
    booking = Booking.model_validate(cli("show", some_id, "--json").document["booking"])
    assert booking.booking_reference == made["booking_reference"]

    ended = cli("confirm", some_id, "--yes", "--expect-total", made["total_price"], "--json")
    ticket_id = ended.document["confirmation"]["ticket_id"]
    ticket = Ticket.model_validate(cli("show", ticket_id, "--json").document["ticket"])
    assert ticket.passengers[0].first_name == "Ada"
    for record in (some_id, ticket_id):
        shown = cli("show", record).out
        assert "Issued, OUTWARD" in shown
        assert "Ada Reyes" in shown

    saved = cli("voucher", ticket_id, "--to", "v.pdf", "--json").document["voucher"]
    assert saved["ticket_id"] == ticket_id
    assert saved["bytes"] == (tmp_path / "v.pdf").stat().st_size

    ended = cli("cancel", some_id, "--yes", "--json").document
    assert set(ended) == {"cancellation", "fee"}
    assert ended["cancellation"]["previewed"] == ended["fee"]
    assert ended["cancellation"]["booking_id"] == some_id
