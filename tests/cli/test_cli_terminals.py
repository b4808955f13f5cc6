"""Drive commands in a pseudo-terminal, from the first prompt to the exit code."""

import json
import os
import re
import time
from datetime import timedelta

import pytest

from tests.cli.conftest import SEARCH
from tests.cli.terminals import terminal
from tests.support.effects import effects
from tests.support.tiers import LONG, mostly_long
from tests.support.trip import DAY

HOSTILE = "B1\x1b]0;t\x07\x9b31m\x7f\u202e\u2066\n  fee     1.23 EUR\r\u2028  refund  9.99 EUR"
CONTROLS = {*"\x1b\x07\x9b\x7f\u202e\u2066\u2028"}
"""Characters that a terminal acts on, but for a carriage return: its own echo has some."""


@pytest.fixture
def at_terminal(ferry_sandbox, tmp_path):
    return lambda *words, **more: terminal(ferry_sandbox, tmp_path, *words, **more)


def test_search_shows_a_table_in_colour_and_calendar_a_bar_for_each_day(at_terminal):
    with at_terminal("search", *SEARCH) as person:
        shown = person.finish(0)
        assert "\x1b[1m" in person.raw
    for words in ("Tarifa → Tangier (city), ", "leaves", "─────", "Baleària"):
        assert words in shown
    assert "To book, run ferry book" in shown
    days = ["--from", f"{DAY}", "--to", f"{DAY + timedelta(days=2)}", "--adult", "34F"]
    with at_terminal("calendar", "Genua", "Palermo", *days) as person:
        shown = person.finish(0)
    for words in ("████████", "no fare", "Genoa → Palermo"):
        assert words in shown
    assert shown.count("cheapest") == 1


@LONG
def test_scan_shows_its_progress_and_voucher_that_it_waits(
    ferry_sandbox, ferry, at_terminal, tmp_path, ticket
):
    days = ["--from", f"{DAY}", "--to", f"{DAY + timedelta(days=25)}", "--adult", "34F"]
    ferry_sandbox.faults.add("delay_before", "availability.search", seconds=0.1, times=None)
    with at_terminal("scan", "Genoa", "Tunis", *days, "--into", "fares") as person:
        person.expect("/52")
        person.expect("0 failed")
        assert "with sailings" in person.finish(0)
    ferry_sandbox.faults.add("delay_before", "tickets.pdf", seconds=1.5)
    with at_terminal("voucher", ticket) as person:
        person.expect("Waiting for the voucher, 30 s at most")
        shown = person.finish(0)
    name = f"ticket-{ferry.tickets.get(ticket).ticket_number}.pdf"
    assert f"Saved {name}" in shown
    assert (tmp_path / name).read_bytes().startswith(b"%PDF-")


def test_no_color_turns_colours_off_and_in_a_narrow_terminal_each_value_has_its_own_line(
    at_terminal,
):
    with at_terminal("ports", "Genoa", size=(24, 40), NO_COLOR="1") as person:
        lines = person.finish(0).splitlines()
        assert "\x1b[3" not in person.raw
    words = [line.split() for line in lines]
    first = words.index(["code", "ITGOA"])  # a busy machine shows its progress before
    assert words[first + 1 : first + 3] == [["name", "Genoa"], ["country", "Italy"]]
    assert max(map(len, lines[first:])) <= 40


@pytest.mark.parametrize("key", mostly_long(["no", "\x03", "\x04"]))
def test_book_that_is_declined_or_left_at_the_question_sends_nothing(
    ferry_sandbox, at_terminal, order, key
):
    with at_terminal("book", "--from", str(order)) as person:
        person.expect("Ada Reyes")
        person.expect("Book it? [y/N]")
        person.expect(": ")
        if key == "no":
            os.write(person.child.child_fd, b"\xff\xfe\n")
            person.expect("expected y or n")
            person.answer("")
        else:
            person.child.send(key)
        shown = person.finish(130 if key == "\x03" else 6)
    said = {"no": "declined; nothing was changed", "\x03": "interrupted", "\x04": "no answer"}
    assert f"\nferry: {said[key]}" in shown
    assert "bookings.create" not in ferry_sandbox.counters.requests


@LONG
def test_input_typed_before_the_question_is_ignored_and_ctrl_c_names_the_correlation_id(
    ferry_sandbox, at_terminal, booked
):
    ferry_sandbox.faults.add("delay_before", "bookings.get", seconds=1.5)
    with at_terminal("confirm", booked) as person:
        person.expect("Reading the booking")
        person.child.sendline("y")
        person.expect("Confirm it for")
        person.answer("n")
        person.finish(6)
    assert "bookings.confirm" not in ferry_sandbox.counters.requests
    ferry_sandbox.faults.add("delay_after", "bookings.confirm", seconds=30)
    with at_terminal("confirm", booked, "--yes") as person:
        person.expect("Confirming")  # it is shown where something takes its time
        person.child.send("\x03")
        shown = person.finish(130)
    assert "bookings.confirm was interrupted and may have happened (correlation id " in shown
    assert "ferry: interrupted" in shown


def test_confirm_shows_the_total_and_asks(ferry_sandbox, ferry, at_terminal, booked):
    total = f"{ferry.bookings.get(booked).total_price:.2f} EUR"
    with at_terminal("confirm", booked) as person:
        person.expect(f"Confirm it for {total}? [y/N]")
        person.answer("n")
        person.finish(6)
    assert "bookings.confirm" not in ferry_sandbox.counters.requests
    with at_terminal("confirm", booked) as person:
        person.answer("y")
        shown = person.finish(0)
    assert f"ferry voucher {ferry.bookings.get(booked).tickets[0].id}" in shown
    assert effects(ferry_sandbox) == ["bookings.create", "bookings.confirm"]


def test_change_shows_what_is_paid_and_given_back_and_asks_once(
    ferry_sandbox, ferry, at_terminal, booked, ticket, order
):
    fee = ferry.bookings.cancel_fee(booked)
    words = ("change", booked, "--from", str(order), "--journal", "sqlite:///desk.db")
    made = ["bookings.create", "bookings.confirm"]
    with at_terminal(*words) as person:
        person.expect(f"{fee.refund_amount:.2f} EUR")
        person.expect("and cancel the old booking?")
        person.answer("n")
        assert "nothing was changed" in person.finish(6)
    assert effects(ferry_sandbox) == made
    with at_terminal(*words) as person:
        person.expect("and cancel the old booking?")
        person.answer("y")
        assert "changed" in person.finish(0)
    assert effects(ferry_sandbox) == [*made, *made, "bookings.cancel"]


@pytest.mark.parametrize("which", mostly_long(["booking", "ticket"]))
def test_cancel_shows_the_fee_and_asks(ferry_sandbox, ferry, at_terminal, booked, ticket, which):
    some_id = booked if which == "booking" else ticket
    fee = ferry.bookings.cancel_fee(some_id)
    stage = ferry.bookings.get(booked).stage
    with at_terminal("cancel", some_id) as person:
        person.expect(stage if which == "booking" else "Issued")
        person.expect(f"{fee.penalty_amount:.2f} EUR")
        person.expect(f"Cancel {which} ")
        person.answer("n")
        assert "nothing was changed" in person.finish(6)
    assert f"{which}s.cancel" not in ferry_sandbox.counters.requests
    with at_terminal("cancel", some_id) as person:
        person.answer("y")
        assert f"{fee.refund_amount:.2f} EUR" in person.finish(0)
    assert effects(ferry_sandbox)[-1] == f"{which}s.cancel"


def test_a_value_of_the_service_is_one_line_without_control_characters(
    ferry_sandbox, at_terminal, booked
):
    reference = {"field": "booking_reference", "value": HOSTILE, "times": 3}
    ferry_sandbox.faults.add("unknown_enum", "bookings.get", **reference)
    with at_terminal("show", booked, "--json", size=(30, 300)) as person:
        shown = person.finish(0)
    assert not CONTROLS & {*person.raw.replace("\r\n", "\n")}
    assert json.loads(shown)["booking"]["booking_reference"] == HOSTILE
    for command, code in (("cancel", 6), ("show", 0)):
        with at_terminal(command, booked, size=(30, 300)) as person:
            if command == "cancel":
                person.expect("Cancel booking B1")
                person.answer("n")
            shown = person.finish(code)
        assert re.search(r"B1[^\r]* fee +1\.23 EUR +refund +9\.99 EUR", shown)
        assert not CONTROLS & {*shown}


@LONG
def test_conform_asks_before_it_books_and_cancels_its_booking_after_ctrl_c(
    ferry_sandbox, at_terminal
):
    words = ("conform", "--book", "--max-price", "200")
    with at_terminal(*words) as person:
        person.expect("unpaid")
        person.answer("n")
        person.finish(6)
    assert effects(ferry_sandbox) == []
    ferry_sandbox.faults.add("delay_before", "tickets.pdf", seconds=60)
    with at_terminal(*words, "--yes") as person:
        while not ferry_sandbox.counters.requests["tickets.pdf"]:
            time.sleep(0.05)
        person.child.sendintr()
        person.finish(130)
    assert effects(ferry_sandbox) == ["bookings.create", "bookings.cancel"]


@LONG
def test_demo_runs_both_protocols_and_openapi_prints_the_document(tmp_path):
    with terminal(None, tmp_path, "openapi") as person:
        assert '"openapi": "3.1.0"' in person.finish(0)
    with terminal(None, tmp_path, "demo", "--folder", "here") as person:
        assert "Cancelled: the ticket is cancelled." in person.finish(0)
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
