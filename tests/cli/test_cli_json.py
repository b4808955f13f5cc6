"""JSON output, and text output without a terminal."""

from __future__ import annotations

import json
from datetime import datetime, timezone

from ferry_sdk.models import Availability, Booking, Ticket
from tests.cli.commands import SEARCH
from tests.support.tiers import LONG


def test_search_prints_the_search_and_complete_records(cli):
    found = cli("search", *SEARCH, "--company", "BALEARIA", "--json").document
    assert set(found) == {"search", "sailings"}
    assert found["search"]["depart_code"] == "ESTRF"
    assert found["search"]["companies"] == ["BALEARIA"]
    assert found["search"]["passengers"][1] == {"type": "Child", "gender": "Male", "age": 9}
    sailings = [Availability.model_validate(one) for one in found["sailings"]]
    assert {one.company.name for one in sailings} == {"Baleària"}
    assert isinstance(found["sailings"][0]["tariffs"][0]["amount"], str)


def test_every_company_on_the_route_is_asked(cli):
    found = cli("search", *SEARCH, "--json").document
    assert found["search"]["companies"] == ["BALEARIA", "FRSIBERIA"]
    times = [Availability.model_validate(one).depart_at for one in found["sailings"]]
    assert times == sorted(times)
    assert len({one["company"]["name"] for one in found["sailings"]}) == 2


def test_company_and_journey_need_no_look_up(cli, ferry_sandbox, ferry):
    (journey,) = (
        one for one in ferry.catalogue.journeys() if one.route == "Tarifa → Tangier (city)"
    )
    ferry_sandbox.counters.reset()
    words = ["--company", "BALEARIA", "--journey", journey.journey_id, "--json"]
    cli("search", "ESTRF", "MATNG", *SEARCH[2:], *words)
    assert ferry_sandbox.counters.requests == {"availability.search": 1}


def test_relative_days_start_today_and_a_round_trip_has_returns(cli, ferry_sandbox):
    ferry_sandbox.clock.travel_to(datetime.now(timezone.utc))
    words = ["Tarifa", "MATNG", "--on", "+30", "--back", "+35", "--adult", "34F"]
    found = cli("search", *words, "--json").document
    assert {one["direction"] for one in found["sailings"]} == {"Outward", "Return"}


def test_ports(cli):
    found = cli("ports", "tangier", "--json").document
    assert {"code": "MATNG", "name": "Tangier (city)", "country": "Morocco"} in found["ports"]
    assert cli("ports", "atlantis", "--json", code=3).document == {"ports": []}


def test_a_booking_is_made_shown_confirmed_and_cancelled(cli, order, tmp_path):
    made = cli("book", "--from", str(order), "--yes", "--json").document["booking"]
    some_id = made["booking_id"]
    booking = Booking.model_validate(cli("show", some_id, "--json").document["booking"])
    assert booking.booking_reference == made["booking_reference"]

    ended = cli("confirm", some_id, "--yes", "--expect-total", made["total_price"], "--json")
    ticket_id = ended.document["confirmation"]["ticket_id"]
    ticket = Ticket.model_validate(cli("show", ticket_id, "--json").document["ticket"])
    assert ticket.passengers[0].first_name == "Ada"

    saved = cli("voucher", ticket_id, "--to", "v.pdf", "--json").document["voucher"]
    assert saved["ticket_id"] == ticket_id
    assert saved["bytes"] == (tmp_path / "v.pdf").stat().st_size

    ended = cli("cancel", some_id, "--yes", "--json").document
    assert set(ended) == {"cancellation", "fee"}
    assert ended["cancellation"]["previewed"] == ended["fee"]
    assert ended["cancellation"]["booking_id"] == some_id


def test_doctor(cli, ferry_sandbox):
    ferry_sandbox.clock.travel_to(datetime.now(timezone.utc))
    document = cli("doctor", "--json").document
    assert document["exit_code"] == 0
    assert {one["part"] for one in document["findings"]} == {
        "configuration",
        "connection",
        "token",
        "clock",
        "versions",
    }
    assert {one["state"] for one in document["findings"]} == {"ok"}


def test_an_error_is_a_json_document(cli, ferry_sandbox):
    ended = cli("show", "nothing", "--json", code=4)
    error = ended.document["error"]
    assert ended.err == ""
    assert error["exit_code"] == 4
    assert error["type"] == "NotFoundError"
    assert error["outcome"] == "rejected"
    assert error["status_code"] == 404
    assert error["correlation_id"]


def test_without_a_terminal_tables_are_plain_text(cli):
    ended = cli("search", *SEARCH, FORCE_COLOR="1")
    assert ended.err == ""
    title, heads, first, *_ = ended.out.splitlines()
    assert title.startswith("Tarifa → Tangier (city), ")
    assert " ".join(heads.split()) == "# leaves arrives takes ship Ticket Presale Option places"
    assert first.split()[0] == "1"
    assert not set(ended.out) & set("─│┃\x1b")
    assert [line for line in ended.out.splitlines() if line != line.rstrip()] == []


@LONG
def test_characters_that_the_encoding_lacks_are_replaced(cli):
    found = cli("ports", "--json", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert found.out.isascii()
    assert not "".join(port["name"] for port in json.loads(found.out)["ports"]).isascii()
    cli("search", *SEARCH, PYTHONUTF8="0", PYTHONIOENCODING="ascii")
