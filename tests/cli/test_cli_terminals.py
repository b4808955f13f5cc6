"""Drive commands in a pseudo-terminal, from the first prompt to the exit code."""

import json
import os
import re
import sys
import time
from datetime import timedelta

import pytest

from tests.cli.commands import SEARCH
from tests.support.effects import effects
from tests.support.tiers import LONG, mostly_long

pytest.importorskip("pexpect")
if sys.platform == "win32":
    pytest.skip("there are no pseudo-terminals", allow_module_level=True)

from tests.cli.terminals import terminal
from tests.support.trip import DAY as LATER

HOSTILE = "B1\x1b]0;t\x07\x9b31m\x7f\u202e\u2066\n  fee     1.23 EUR\r\u2028  refund  9.99 EUR"
CONTROLS = {*"\x1b\x07\x9b\x7f\u202e\u2066\u2028"}
"""Characters that a terminal acts on, but for a carriage return: its own echo has some."""


def test_search_shows_a_table_in_colour(ferry_sandbox, tmp_path):
    with terminal(ferry_sandbox, tmp_path, "search", *SEARCH) as person:
        shown = person.finish(0)
        assert "\x1b[1m" in person.raw
    assert "Tarifa → Tangier (city), " in shown
    assert "leaves" in shown
    assert "─────" in shown
    assert "Baleària" in shown
    assert "To book, run ferry book" in shown


def test_calendar_shows_a_bar_for_each_day(ferry_sandbox, tmp_path):
    days = ["--from", f"{LATER}", "--to", f"{LATER + timedelta(days=2)}", "--adult", "34F"]
    with terminal(ferry_sandbox, tmp_path, "calendar", "Genua", "Palermo", *days) as person:
        shown = person.finish(0)
    assert "████████" in shown
    assert "nothing sails" in shown
    assert shown.count("cheapest") == 1
    assert "Genoa → Palermo" in shown


@LONG
def test_scan_shows_its_progress(ferry_sandbox, tmp_path):
    days = ["--from", f"{LATER}", "--to", f"{LATER + timedelta(days=25)}", "--adult", "34F"]
    ferry_sandbox.faults.add("delay_before", "availability.search", seconds=0.1, times=None)
    words = ["Genoa", "Tunis", *days, "--into", "fares"]
    with terminal(ferry_sandbox, tmp_path, "scan", *words) as person:
        person.expect("/52")
        person.expect("0 failed")
        shown = person.finish(0)
    assert "with sailings" in shown


@LONG
def test_no_color_turns_colours_off(ferry_sandbox, tmp_path):
    with terminal(ferry_sandbox, tmp_path, "ports", "Tangier", NO_COLOR="1") as person:
        assert "Tangier Med" in person.finish(0)
        assert "\x1b[3" not in person.raw


def test_book_declined_sends_nothing(ferry_sandbox, tmp_path, order):
    with terminal(ferry_sandbox, tmp_path, "book", "--from", str(order)) as person:
        person.expect("Ada Reyes")
        person.expect("Book it? [y/N]")
        person.expect(": ")
        os.write(person.child.child_fd, b"\xff\xfe\n")
        person.expect("expected y or n")
        person.answer("")
        assert "declined; nothing was changed" in person.finish(6)
    assert "bookings.create" not in ferry_sandbox.counters.requests


@LONG
@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_ctrl_c_and_ctrl_d_at_a_question_send_nothing(ferry_sandbox, tmp_path, order, key):
    with terminal(ferry_sandbox, tmp_path, "book", "--from", str(order)) as person:
        person.expect("Book it? [y/N]")
        person.expect(": ")
        person.child.send(key)
        shown = person.finish(130 if key == "\x03" else 6)
    output = "interrupted" if key == "\x03" else "no answer"
    assert f"\nferry: {output}" in shown
    assert "bookings.create" not in ferry_sandbox.counters.requests


@LONG
def test_ctrl_c_in_a_write_names_its_correlation_id(ferry_sandbox, tmp_path, booked):
    ferry_sandbox.faults.add("delay_after", "bookings.confirm", seconds=30)
    with terminal(ferry_sandbox, tmp_path, "confirm", booked, "--yes") as person:
        person.expect("Confirming")  # it is shown where something takes its time
        person.child.send("\x03")
        shown = person.finish(130)
    assert "bookings.confirm was interrupted and may have happened (correlation id " in shown
    assert "ferry: interrupted" in shown


def test_confirm_shows_the_total_and_asks(ferry_sandbox, ferry, tmp_path, booked):
    total = f"{ferry.bookings.get(booked).total_price:.2f} EUR"
    with terminal(ferry_sandbox, tmp_path, "confirm", booked) as person:
        person.expect(f"Confirm it for {total}? [y/N]")
        person.answer("n")
        person.finish(6)
    assert "bookings.confirm" not in ferry_sandbox.counters.requests
    with terminal(ferry_sandbox, tmp_path, "confirm", booked) as person:
        person.answer("y")
        shown = person.finish(0)
    assert f"ferry voucher {ferry.bookings.get(booked).tickets[0].id}" in shown
    assert effects(ferry_sandbox) == ["bookings.create", "bookings.confirm"]


def test_change_shows_what_is_paid_and_given_back_and_asks_once(
    ferry_sandbox, ferry, tmp_path, booked, order
):
    ferry.bookings.confirm(booked)
    fee = ferry.bookings.cancel_fee(booked)
    words = ("change", booked, "--from", str(order), "--journal", "sqlite:///desk.db")
    with terminal(ferry_sandbox, tmp_path, *words) as person:
        person.expect(f"{fee.refund_amount:.2f} EUR")
        person.expect("and cancel the old booking?")
        person.answer("n")
        assert "nothing was changed" in person.finish(6)
    assert effects(ferry_sandbox) == ["bookings.create", "bookings.confirm"]
    with terminal(ferry_sandbox, tmp_path, *words) as person:
        person.expect("and cancel the old booking?")
        person.answer("y")
        assert "changed" in person.finish(0)
    made = ["bookings.create", "bookings.confirm"]
    assert effects(ferry_sandbox) == [*made, *made, "bookings.cancel"]


@LONG
def test_input_typed_before_the_question_is_ignored(ferry_sandbox, tmp_path, booked):
    ferry_sandbox.faults.add("delay_before", "bookings.get", seconds=1.5)
    with terminal(ferry_sandbox, tmp_path, "confirm", booked) as person:
        person.expect("Reading the booking")
        person.child.sendline("y")
        person.expect("Confirm it for")
        person.answer("n")
        person.finish(6)
    assert "bookings.confirm" not in ferry_sandbox.counters.requests


@pytest.mark.parametrize("which", mostly_long(["booking", "ticket"]))
def test_cancel_shows_the_fee_and_asks(ferry_sandbox, ferry, tmp_path, booked, ticket, which):
    some_id = booked if which == "booking" else ticket
    fee = ferry.bookings.cancel_fee(some_id)
    stage = ferry.bookings.get(booked).stage
    with terminal(ferry_sandbox, tmp_path, "cancel", some_id) as person:
        person.expect(stage if which == "booking" else "Issued")
        person.expect(f"{fee.penalty_amount:.2f} EUR")
        person.expect(f"Cancel {which} ")
        person.answer("n")
        assert "nothing was changed" in person.finish(6)
    cancelling = f"{which}s.cancel"
    assert cancelling not in ferry_sandbox.counters.requests
    with terminal(ferry_sandbox, tmp_path, "cancel", some_id) as person:
        person.answer("y")
        shown = person.finish(0)
    assert f"{fee.refund_amount:.2f} EUR" in shown
    assert effects(ferry_sandbox)[-1] == cancelling


def test_a_value_of_the_service_is_one_line_without_control_characters(
    ferry_sandbox, tmp_path, booked
):
    for words in (["cancel", booked], ["show", booked]):
        ferry_sandbox.faults.add(
            "unknown_enum", "bookings.get", field="booking_reference", value=HOSTILE
        )
        with terminal(ferry_sandbox, tmp_path, *words, size=(30, 300)) as person:
            if words[0] == "cancel":
                person.expect("Cancel booking B1")
                person.answer("n")
            shown = person.finish(6 if words[0] == "cancel" else 0)
        assert re.search(r"B1[^\r]* fee +1\.23 EUR +refund +9\.99 EUR", shown)
        assert not CONTROLS & {*shown}


def test_json_on_a_terminal_escapes_control_characters(ferry_sandbox, tmp_path, booked):
    ferry_sandbox.faults.add(
        "unknown_enum", "bookings.get", field="booking_reference", value=HOSTILE
    )
    with terminal(ferry_sandbox, tmp_path, "show", booked, "--json", size=(30, 300)) as person:
        shown = person.finish(0)
    assert not CONTROLS & {*person.raw.replace("\r\n", "\n")}
    assert json.loads(shown)["booking"]["booking_reference"] == HOSTILE


@LONG
def test_voucher_shows_that_it_waits(ferry_sandbox, ferry, tmp_path, ticket):
    ferry_sandbox.faults.add("delay_before", "tickets.pdf", seconds=1.5)
    with terminal(ferry_sandbox, tmp_path, "voucher", ticket) as person:
        person.expect("Waiting for the voucher, 30 s at most")
        shown = person.finish(0)
    name = f"ticket-{ferry.tickets.get(ticket).ticket_number}.pdf"
    assert f"Saved {name}" in shown
    assert (tmp_path / name).read_bytes().startswith(b"%PDF-")


@LONG
def test_conform_asks_before_it_books(ferry_sandbox, tmp_path):
    words = ("conform", "--book", "--max-price", "200")
    with terminal(ferry_sandbox, tmp_path, *words) as person:
        person.expect("unpaid")
        person.answer("n")
        person.finish(6)
    assert effects(ferry_sandbox) == []


@LONG
def test_conform_cancels_its_booking_after_ctrl_c(ferry_sandbox, tmp_path):
    ferry_sandbox.faults.add("delay_before", "tickets.pdf", seconds=60)
    words = ("conform", "--book", "--max-price", "200", "--yes")
    with terminal(ferry_sandbox, tmp_path, *words) as person:
        while not ferry_sandbox.counters.requests["tickets.pdf"]:
            time.sleep(0.05)
        person.child.sendintr()
        person.finish(130)
    assert effects(ferry_sandbox) == ["bookings.create", "bookings.cancel"]


def test_sandbox_runs_until_ctrl_c(tmp_path):
    with terminal(None, tmp_path, "sandbox", "--port", "0", "--token", "made-up") as person:
        person.expect("export FERRY_TOKEN=made-up")
        person.expect("Ctrl-C stops")
        person.child.send("\x03")
        assert "# stopped" in person.finish(0)


def test_openapi_prints_the_document(tmp_path):
    with terminal(None, tmp_path, "openapi") as person:
        shown = person.finish(0)
    assert '"openapi": "3.1.0"' in shown


@pytest.mark.long
def test_demo_runs_both_protocols(tmp_path):
    with terminal(None, tmp_path, "demo", "--folder", "here") as person:
        shown = person.finish(0)
    assert "Cancelled: the ticket is cancelled." in shown
    assert len(list((tmp_path / "here").glob("*.pdf"))) == 2


def test_mcp_says_what_it_waits_for_and_passes_the_limits_on(tmp_path):
    stand_in = tmp_path / "stand_in.py"
    stand_in.write_text(
        "import runpy, sys, types\n"
        "made = types.ModuleType('ferry_sdk.agents.stdio')\n"
        "made.serve = lambda **options: print('served', options)\n"
        "sys.modules['ferry_sdk.agents'] = types.ModuleType('ferry_sdk.agents')\n"
        "sys.modules['ferry_sdk.agents.stdio'] = made\n"
        "sys.argv = ['ferry', 'mcp', *sys.argv[1:]]\n"
        "runpy.run_module('ferry_sdk', run_name='__main__')\n",
        "utf-8",
    )
    words = ["--writes", "--spend-limit", "eur=500", "--penalty-limit", "EUR=50.5"]
    with terminal(None, tmp_path, *words, program=str(stand_in)) as person:
        shown = person.finish(0)
    assert "Waiting for an MCP client" in shown
    assert "'writes': True" in shown
    assert "'spend_limit': {'EUR': '500'}, 'penalty_limit': {'EUR': '50.5'}" in shown
