"""Drive every command in a pseudo-terminal, from the first prompt to the exit code."""

from __future__ import annotations

import os
import sys
from datetime import timedelta

import pytest

from tests.cli.commands import SEARCH
from tests.support.tiers import LONG, mostly_long

pytest.importorskip("pexpect")
if sys.platform == "win32":
    pytest.skip("there are no pseudo-terminals", allow_module_level=True)

from ferry_sdk.cli.app import COMMANDS
from tests.cli.terminals import terminal
from tests.support.summer import BACK, DAY, stopped

DRIVEN = {
    "search",
    "book",
    "show",
    "confirm",
    "cancel",
    "voucher",
    "ports",
    "doctor",
    "sandbox",
    "demo",
    "mcp",
}


def effects(sandbox) -> list[str]:
    return [one.operation for one in sandbox.counters.effects]


def test_every_command_is_driven_here():
    assert {command.__name__ for command in COMMANDS} == DRIVEN


def test_search_shows_a_table_in_colour(ferry_sandbox, tmp_path):
    with terminal(ferry_sandbox, tmp_path, "search", *SEARCH) as person:
        shown = person.ends(0)
        assert "\x1b[1m" in person.raw
    assert "Tarifa → Tangier (city), " in shown
    assert "leaves" in shown
    assert "─────" in shown
    assert "Ceuta Jet" in shown
    assert "To book one of them" in shown


@LONG
def test_no_colour_where_none_is_wanted(ferry_sandbox, tmp_path):
    with terminal(ferry_sandbox, tmp_path, "ports", "Tangier", NO_COLOR="1") as person:
        assert "Tangier Med" in person.ends(0)
        assert "\x1b[3" not in person.raw


def test_book_from_the_first_question_to_the_booking(ferry_sandbox, ferry, tmp_path):
    stopped(ferry_sandbox)
    with terminal(ferry_sandbox, tmp_path, "book") as person:
        person.says("Nowhere")
        person.sees("no port is called 'Nowhere'")
        person.says("Genoa", "Palermo", "31st")
        person.sees("expected a day")
        person.says(f"{DAY}", "34")
        person.sees("expected an age and F or M")
        person.says("34F", "9M", "", "FIAT__501")
        person.sees("FIAT__500")
        person.says("FIAT__500")
        person.sees("Which sailing out: only one available.")
        person.sees("Which tariff")
        person.says("9", "two", "1")
        person.sees("Which place")
        person.says("4")
        person.sees("Traveller 1: Adult, 34, Female")
        person.says("")
        person.sees("a value is required")
        person.says("Ada", "Reyes", "1992-02-30")
        person.sees("expected a day")
        person.says("1992-02-28", "Spain")
        person.sees("two-letter country code")
        person.says("es", "X123", "2031-01-01")
        person.sees("Traveller 2: Child, 9, Male")
        person.says("Tom", "Reyes", "", "", "", "1234 ABC", "ada")
        person.sees("expected an address with an @")
        person.says("ada@example.org", "", "+34", "600600600")
        person.sees("Outside cabin with 2 berths")
        assert effects(ferry_sandbox) == []
        person.sees("Book it? [y/N]")
        person.says("perhaps")
        person.sees("expected y or n")
        person.says("y")
        shown = person.ends(0)
    assert effects(ferry_sandbox) == ["bookings.create"]
    booking = ferry.bookings.get(ferry_sandbox.counters.effects[0].subject)
    assert booking.booking_reference in shown
    assert f"ferry confirm {booking.booking_id}" in shown
    first, second = booking.tickets[0].passengers
    assert (first.first_name, first.doc_number, first.nationality) == ("Ada", "X123", "ES")
    assert (second.first_name, second.doc_number) == ("Tom", None)
    assert booking.tickets[0].vehicle.vehicule_code == "FIAT__500"


@LONG
def test_book_a_way_back_and_another_day_where_nothing_sails(ferry_sandbox, ferry, tmp_path):
    stopped(ferry_sandbox)
    before = timedelta(days=1)
    days = ["--on", f"{DAY - before}", "--back", f"{BACK - before}"]
    words = ["Genoa", "Palermo", *days, "--adult", "40M"]
    with terminal(ferry_sandbox, tmp_path, "book", *words) as person:
        person.sees("No sailing fits this search.")
        person.says(f"{DAY}")
        person.sees("There is no sailing back on that day.")
        person.says(f"{BACK}")
        person.sees("Which tariff")
        person.says("1")
        person.sees("Which place")
        person.says("1")
        person.sees("Palermo → Genoa")
        while person.child.expect_exact(["First name", "Which tariff", "Which place"]):
            person.says("")
        person.says("Tom", "Reyes", "", "", "", "")
        person.sees("Book it?")
        person.says("yes")
        person.ends(0)
    (made,) = ferry_sandbox.counters.effects
    directions = {one.direction for one in ferry.bookings.get(made.subject).tickets}
    assert directions & {"RETURN", "OUTWARD+RETURN"}


def test_book_declined_sends_nothing(ferry_sandbox, tmp_path, order):
    with terminal(ferry_sandbox, tmp_path, "book", "--from", str(order)) as person:
        person.sees("Ada Reyes")
        person.sees("Book it? [y/N]")
        person.says("")
        assert "declined; nothing was changed" in person.ends(6)
    assert "bookings.create" not in ferry_sandbox.counters.requests


@LONG
@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_ctrl_c_and_ctrl_d_at_a_question_send_nothing(ferry_sandbox, tmp_path, order, key):
    with terminal(ferry_sandbox, tmp_path, "book", "--from", str(order)) as person:
        person.sees("Book it? [y/N]")
        person.sees(": ")
        person.child.send(key)
        shown = person.ends(130 if key == "\x03" else 6)
    said = "interrupted" if key == "\x03" else "no answer"
    assert f"\nferry: {said}" in shown
    assert "bookings.create" not in ferry_sandbox.counters.requests


@LONG
def test_ctrl_c_in_a_write_names_its_correlation_id(ferry_sandbox, tmp_path, booked):
    ferry_sandbox.faults.add("delay_after", "bookings.confirm", seconds=30)
    with terminal(ferry_sandbox, tmp_path, "confirm", booked, "--yes") as person:
        person.sees("Confirming")  # it is shown where something takes its time
        person.child.send("\x03")
        shown = person.ends(130)
    assert "bookings.confirm was interrupted and may have happened (correlation id " in shown
    assert "ferry: interrupted" in shown


@LONG
def test_what_is_no_text_is_asked_for_again(ferry_sandbox, tmp_path):
    strict = {"PYTHONIOENCODING": "utf-8:strict"}
    with terminal(ferry_sandbox, tmp_path, "book", **strict) as person:
        person.sees(": ")
        os.write(person.child.child_fd, b"\xff\xfe\n")
        person.sees("no port is called")
        person.child.send("\x03")
        person.ends(130)


@LONG
def test_show_names_the_travellers(ferry_sandbox, tmp_path, booked, ticket):
    with terminal(ferry_sandbox, tmp_path, "show", booked) as person:
        assert "Ada Reyes" in person.ends(0)
    with terminal(ferry_sandbox, tmp_path, "show", ticket) as person:
        shown = person.ends(0)
    assert "Issued, OUTWARD" in shown
    assert "Ada Reyes" in shown


def test_confirm_shows_the_total_and_asks(ferry_sandbox, ferry, tmp_path, booked):
    total = f"{ferry.bookings.get(booked).total_price:.2f} EUR"
    with terminal(ferry_sandbox, tmp_path, "confirm", booked) as person:
        person.sees(f"Confirm it for {total}? [y/N]")
        person.says("n")
        person.ends(6)
    assert "bookings.confirm" not in ferry_sandbox.counters.requests
    with terminal(ferry_sandbox, tmp_path, "confirm", booked) as person:
        person.says("y")
        shown = person.ends(0)
    assert f"ferry voucher {ferry.bookings.get(booked).tickets[0].id}" in shown
    assert effects(ferry_sandbox) == ["bookings.create", "bookings.confirm"]


@LONG
def test_what_was_typed_before_the_question_is_no_yes(ferry_sandbox, tmp_path, booked):
    ferry_sandbox.faults.add("delay_before", "bookings.get", seconds=1.5)
    with terminal(ferry_sandbox, tmp_path, "confirm", booked) as person:
        person.sees("Reading the booking")
        person.child.sendline("y")
        person.sees("Confirm it for")
        person.says("n")
        person.ends(6)
    assert "bookings.confirm" not in ferry_sandbox.counters.requests


@pytest.mark.parametrize("which", mostly_long(["booking", "ticket"]))
def test_cancel_shows_the_fee_and_asks(ferry_sandbox, ferry, tmp_path, booked, ticket, which):
    some_id = booked if which == "booking" else ticket
    fee = ferry.bookings.cancel_fee(some_id)
    stage = ferry.bookings.get(booked).stage
    with terminal(ferry_sandbox, tmp_path, "cancel", some_id) as person:
        person.sees(stage if which == "booking" else "Issued")
        person.sees(f"{fee.penalty_amount:.2f} EUR")
        person.sees(f"Cancel {which} ")
        person.says("n")
        assert "nothing was changed" in person.ends(6)
    cancelling = f"{which}s.cancel"
    assert cancelling not in ferry_sandbox.counters.requests
    with terminal(ferry_sandbox, tmp_path, "cancel", some_id) as person:
        person.says("y")
        shown = person.ends(0)
    assert f"{fee.refund_amount:.2f} EUR" in shown
    assert effects(ferry_sandbox)[-1] == cancelling


@LONG
def test_voucher_waits_and_says_so(ferry_sandbox, ferry, tmp_path, ticket):
    ferry_sandbox.faults.add("delay_before", "tickets.pdf", seconds=1.5)
    with terminal(ferry_sandbox, tmp_path, "voucher", ticket) as person:
        person.sees("Fetching the voucher")
        shown = person.ends(0)
    name = f"{ferry.tickets.get(ticket).ticket_number}.pdf"
    assert f"Saved {name}" in shown
    assert (tmp_path / name).read_bytes().startswith(b"%PDF-")


@LONG
def test_ports_are_found_by_a_part_of_anything(ferry_sandbox, tmp_path):
    with terminal(ferry_sandbox, tmp_path, "ports", "moroc") as person:
        shown = person.ends(0)
    assert "MATNG" in shown
    assert "ESTRF" not in shown


@LONG
def test_doctor_is_content(ferry_sandbox, tmp_path):
    with terminal(ferry_sandbox, tmp_path, "doctor") as person:
        shown = person.ends(0)
    for words in ("configuration", "set (FERRY_TOKEN)", "can read the catalogue", "skew", "python"):
        assert words in shown
    assert "fail" not in shown
    assert ferry_sandbox.token not in shown


def test_sandbox_runs_until_ctrl_c(tmp_path):
    with terminal(None, tmp_path, "sandbox", "--port", "0", "--token", "made-up") as person:
        person.sees("FERRY_TOKEN=made-up")
        person.sees("Ctrl-C stops")
        person.child.send("\x03")
        assert "# stopped" in person.ends(0)


def test_demo_makes_the_journey(tmp_path):
    with terminal(None, tmp_path, "demo", "--folder", "here") as person:
        shown = person.ends(0)
    assert "Cancelled: the ticket is cancelled." in shown
    assert len(list((tmp_path / "here").glob("*.pdf"))) == 2


def test_mcp_serves_with_the_limits_that_were_said(tmp_path):
    stand_in = tmp_path / "stand_in.py"
    stand_in.write_text(
        "import runpy, sys, types\n"
        "made = types.ModuleType('ferry_sdk.agents.stdio')\n"
        "made.serve = lambda **said: print('served', said)\n"
        "sys.modules['ferry_sdk.agents'] = types.ModuleType('ferry_sdk.agents')\n"
        "sys.modules['ferry_sdk.agents.stdio'] = made\n"
        "sys.argv = ['ferry', 'mcp', *sys.argv[1:]]\n"
        "runpy.run_module('ferry_sdk', run_name='__main__')\n",
        "utf-8",
    )
    words = ["--writes", "--spend-limit", "eur=500", "--penalty-limit", "EUR=50.5"]
    with terminal(None, tmp_path, *words, program=str(stand_in)) as person:
        shown = person.ends(0)
    assert "'writes': True" in shown
    assert "'spend_limit': {'EUR': '500'}, 'penalty_limit': {'EUR': '50.5'}" in shown
