"""Drive commands in a pseudo-terminal, from the first prompt to the exit code."""

import json
import os
import re
import time
from datetime import UTC, datetime, timedelta

import pytest

from ferry_sdk.cli.terminal.output import time_of
from tests.cli.conftest import SEARCH
from tests.cli.terminals import terminal
from tests.support.effects import effects
from tests.support.tiers import LONG, mostly_long
from tests.support.trip import DAY

HOSTILE = "B1\x1b]0;t\x07\x9b31m\x7f\u202e\u2066\n  fee     1.23 EUR\r\u2028  refund  9.99 EUR"
CONTROLS = {*"\x1b\x07\x9b\x7f\u202e\u2066\u2028"}
"""Characters that a terminal acts on, but for a carriage return: its own echo has some."""


CALENDAR = ["--from", f"{DAY}", "--to", f"{DAY + timedelta(days=2)}", "--adult", "34F"]


@pytest.fixture
def at_terminal(ferry_sandbox, tmp_path):
    """Start a command in a terminal."""
    return lambda *words, **more: terminal(ferry_sandbox, tmp_path, *words, **more)


# ---- Tables -----------------------------------------------------------------------------------


def test_search_shows_a_table_in_colour(at_terminal):
    with at_terminal("search", *SEARCH) as person:
        shown = person.finish(0)
        assert "\x1b[1m" in person.raw
    expected = ["Tarifa → Tangier (city), ", "leaves", "─────", "Baleària"]
    assert [words for words in expected if words not in shown] == []
    assert "To book, run ferry book" in shown


def test_calendar_shows_a_bar_for_each_day(at_terminal):
    with at_terminal("calendar", "Genua", "Palermo", *CALENDAR) as person:
        shown = person.finish(0)
    expected = ["████████", "no fare", "Genoa → Palermo"]
    assert [words for words in expected if words not in shown] == []
    assert shown.count("cheapest") == 1


@pytest.fixture
def narrow(at_terminal):
    """A list in a narrow terminal without colours: what was printed, and its lines."""
    with at_terminal("ports", "Genoa", size=(24, 40), NO_COLOR="1") as person:
        lines = person.finish(0).splitlines()
    return person.raw, lines


def test_narrow_terminal_has_a_line_for_each_value(narrow):
    _, lines = narrow
    words = [line.split() for line in lines]
    first = words.index(["code", "ITGOA"])  # a busy machine shows its progress before
    assert words[first + 1 : first + 3] == [["name", "Genoa"], ["country", "Italy"]]
    assert max(len(line) for line in lines[first:]) <= 40


def test_no_color_turns_colours_off(narrow):
    raw, _ = narrow
    assert "\x1b[3" not in raw


def test_round_trips_fit_80_columns(at_terminal):
    back = ("--back", f"{DAY + timedelta(days=2)}")
    with at_terminal("search", *SEARCH, *back, size=(30, 80)) as person:
        lines = person.finish(0).splitlines()
    first = next(index for index, line in enumerate(lines) if line.split()[:1] == ["1"])
    assert re.search(r"(\w{3} \d\d \w{3} \d\d:\d\d → \d\d:\d\d +){2}\d+\.\d\d EUR", lines[first])
    assert len(re.findall(r"\d:\d\d \w+", lines[first + 1])) == 2


def test_help_has_no_colour_that_a_background_hides(at_terminal):
    with at_terminal("journal", "list", "--help") as person:
        person.finish(0)
        assert "\x1b[1m" in person.raw
        assert not re.search(r"\x1b\[[0-9;]*3[236]m", person.raw)  # green, yellow, cyan


# ---- Progress ---------------------------------------------------------------------------------


def test_warning_has_a_line_of_its_own_beside_the_progress(ferry_sandbox, at_terminal, tmp_path):
    journal = pytest.importorskip("ferry_sdk.journal", reason="the extra is not installed")
    with journal.Journal(f"sqlite:///{tmp_path}/desk.db") as record:
        record.unresolved()
    (tmp_path / "paid.csv").write_text("booking_id,amount,currency\nb-9,5,EUR\n")
    ferry_sandbox.faults.add("delay_before", "bookings.get", seconds=1.5, times=None)

    with at_terminal("reconcile", "paid.csv", "--journal", "sqlite:///desk.db") as person:
        person.expect("Reading the bookings")
        person.finish(1)
        # The line of the indicator is erased before the warning.
        assert re.search(r"\x1b\[2K(\x1b\[[0-9;?]*\w)*warning: ", person.raw)


@LONG
def test_scan_shows_its_progress(ferry_sandbox, at_terminal):
    days = ["--from", f"{DAY}", "--to", f"{DAY + timedelta(days=25)}", "--adult", "34F"]
    ferry_sandbox.faults.add("delay_before", "availability.search", seconds=0.1, times=None)
    with at_terminal("scan", "Genoa", "Tunis", *days, "--into", "fares") as person:
        person.expect("/52")
        person.expect("0 failed")
        assert "with sailings" in person.finish(0)


@LONG
def test_voucher_shows_that_it_waits(ferry_sandbox, ferry, at_terminal, tmp_path, ticket):
    ferry_sandbox.faults.add("delay_before", "tickets.pdf", seconds=1.5)
    with at_terminal("voucher", ticket) as person:
        person.expect("Waiting for the voucher, 30 s at most")
        shown = person.finish(0)
    name = f"ticket-{ferry.tickets.get(ticket).ticket_number}.pdf"
    assert f"Saved {name}" in shown
    assert (tmp_path / name).read_bytes().startswith(b"%PDF-")


def test_wrapped_hint_stays_indented(at_terminal):
    with at_terminal("ports", size=(30, 60), FERRY_TOKEN="wrong") as person:
        lines = person.finish(4).splitlines()
    hint = lines[next(index for index, line in enumerate(lines) if "is invalid or" in line) :]
    assert len(hint) > 1
    assert all(line.startswith("  ") for line in hint)


# ---- Questions --------------------------------------------------------------------------------


def test_declined_booking_sends_nothing(ferry_sandbox, at_terminal, order):
    with at_terminal("book", "--from", str(order)) as person:
        person.expect("Ada Reyes")
        person.expect("Book it? [y/N]")
        person.expect(": ")
        os.write(person.child.child_fd, b"\xff\xfe\n")
        person.expect("expected y or n")
        person.answer("")
        shown = person.finish(6)
    assert "\nferry: declined; nothing was changed" in shown
    assert "bookings.create" not in ferry_sandbox.counters.requests


@LONG
@pytest.mark.parametrize(
    ("key", "code", "message"),
    [
        pytest.param("\x03", 130, "interrupted", id="Ctrl-C"),
        pytest.param("\x04", 6, "no answer", id="Ctrl-D"),
    ],
)
def test_booking_left_at_the_question_sends_nothing(
    ferry_sandbox, at_terminal, order, key, code, message
):
    with at_terminal("book", "--from", str(order)) as person:
        person.expect("Ada Reyes")
        person.expect("Book it? [y/N]")
        person.expect(": ")
        person.child.send(key)
        shown = person.finish(code)
    assert f"\nferry: {message}" in shown
    assert "bookings.create" not in ferry_sandbox.counters.requests


@LONG
def test_input_before_the_question_is_ignored(ferry_sandbox, at_terminal, booked):
    ferry_sandbox.faults.add("delay_before", "bookings.get", seconds=1.5)
    with at_terminal("confirm", booked) as person:
        person.expect("Reading the booking")
        person.child.sendline("y")
        person.expect("Confirm it for")
        person.answer("n")
        person.finish(6)
    assert "bookings.confirm" not in ferry_sandbox.counters.requests


@LONG
def test_ctrl_c_names_the_correlation_id(ferry_sandbox, at_terminal, booked):
    ferry_sandbox.faults.add("delay_after", "bookings.confirm", seconds=30)
    with at_terminal("confirm", booked, "--yes") as person:
        person.expect("Confirming")  # it is shown where something takes its time
        person.child.send("\x03")
        shown = person.finish(130)
    assert "bookings.confirm was interrupted and may have happened (correlation id " in shown
    assert "ferry: interrupted" in shown


def test_declined_confirmation_showed_the_total(ferry_sandbox, ferry, at_terminal, booked):
    total = f"{ferry.bookings.get(booked).total_price:.2f} EUR"
    with at_terminal("confirm", booked) as person:
        person.expect(f"Confirm it for {total}? [y/N]")
        person.answer("n")
        person.finish(6)
    assert "bookings.confirm" not in ferry_sandbox.counters.requests


def test_agreed_confirmation_names_the_voucher(ferry_sandbox, ferry, at_terminal, booked):
    with at_terminal("confirm", booked) as person:
        person.answer("y")
        shown = person.finish(0)
    assert f"ferry voucher {ferry.bookings.get(booked).tickets[0].id}" in shown
    assert effects(ferry_sandbox) == ["bookings.create", "bookings.confirm"]


@pytest.fixture
def change(at_terminal, booked, ticket, order):
    """Start the change of a paid booking in a terminal."""
    words = ("change", booked, "--from", str(order), "--journal", "sqlite:///desk.db")
    return lambda: at_terminal(*words)


PAID = ["bookings.create", "bookings.confirm"]


def test_declined_change_showed_the_refund(ferry_sandbox, ferry, booked, change):
    fee = ferry.bookings.cancel_fee(booked)
    with change() as person:
        person.expect(f"{fee.refund_amount:.2f} EUR")
        person.expect("and cancel the old booking?")
        person.answer("n")
        assert "nothing was changed" in person.finish(6)
    assert effects(ferry_sandbox) == PAID


def test_change_asks_once(ferry_sandbox, change):
    with change() as person:
        person.expect("and cancel the old booking?")
        person.answer("y")
        assert "changed" in person.finish(0)
    assert effects(ferry_sandbox) == [*PAID, *PAID, "bookings.cancel"]


@pytest.mark.parametrize("kind", mostly_long(["booking", "ticket"]))
def test_declined_cancellation_showed_the_fee(
    ferry_sandbox, ferry, at_terminal, booked, ticket, kind
):
    some_id = booked if kind == "booking" else ticket
    status = ferry.bookings.get(booked).stage if kind == "booking" else "Issued"
    fee = ferry.bookings.cancel_fee(some_id)
    with at_terminal("cancel", some_id) as person:
        person.expect(status)
        person.expect(f"{fee.penalty_amount:.2f} EUR")
        person.expect(f"Cancel {kind} ")
        person.answer("n")
        assert "nothing was changed" in person.finish(6)
    assert f"{kind}s.cancel" not in ferry_sandbox.counters.requests


@pytest.mark.parametrize("kind", mostly_long(["booking", "ticket"]))
def test_agreed_cancellation_shows_the_refund(
    ferry_sandbox, ferry, at_terminal, booked, ticket, kind
):
    some_id = booked if kind == "booking" else ticket
    fee = ferry.bookings.cancel_fee(some_id)
    with at_terminal("cancel", some_id) as person:
        person.answer("y")
        assert f"{fee.refund_amount:.2f} EUR" in person.finish(0)
    assert effects(ferry_sandbox)[-1] == f"{kind}s.cancel"


@LONG
def test_conform_asks_before_it_books(ferry_sandbox, at_terminal):
    with at_terminal("conform", "--book", "--max-price", "200") as person:
        person.expect("unpaid")
        person.answer("n")
        person.finish(6)
    assert effects(ferry_sandbox) == []


@LONG
def test_conform_cancels_its_booking_after_ctrl_c(ferry_sandbox, at_terminal):
    ferry_sandbox.faults.add("delay_before", "tickets.pdf", seconds=60)
    with at_terminal("conform", "--book", "--max-price", "200", "--yes") as person:
        while not ferry_sandbox.counters.requests["tickets.pdf"]:
            time.sleep(0.05)
        person.child.sendintr()
        person.finish(130)
    assert effects(ferry_sandbox) == ["bookings.create", "bookings.cancel"]


# ---- Hostile values ---------------------------------------------------------------------------


@pytest.fixture
def hostile(ferry_sandbox, booked):
    """A booking whose reference has characters that control a terminal."""
    reference = {"field": "booking_reference", "value": HOSTILE, "times": None}
    ferry_sandbox.faults.add("unknown_enum", "bookings.get", **reference)
    return booked


LINE = r"B1[^\r]* fee +1\.23 EUR +refund +9\.99 EUR"
"""The hostile reference on one line."""


def test_hostile_value_is_escaped_in_a_document(at_terminal, hostile):
    with at_terminal("show", hostile, "--json", size=(30, 300)) as person:
        shown = person.finish(0)
    assert not CONTROLS & {*person.raw.replace("\r\n", "\n")}
    assert json.loads(shown)["booking"]["booking_reference"] == HOSTILE


def test_hostile_value_is_one_line_of_the_output(at_terminal, hostile):
    with at_terminal("show", hostile, size=(30, 300)) as person:
        shown = person.finish(0)
    assert re.search(LINE, shown)
    assert not CONTROLS & {*shown}


def test_hostile_value_is_one_line_of_a_question(at_terminal, hostile):
    with at_terminal("cancel", hostile, size=(30, 300)) as person:
        person.expect("Cancel booking B1")
        person.answer("n")
        shown = person.finish(6)
    assert re.search(LINE, shown)
    assert not CONTROLS & {*shown}


# ---- The local service, and agents ------------------------------------------------------------


@LONG
def test_openapi_prints_the_document(tmp_path):
    with terminal(None, tmp_path, "openapi") as person:
        assert '"openapi": "3.1.0"' in person.finish(0)


@LONG
def test_demo_saves_a_voucher_over_each_protocol(tmp_path):
    with terminal(None, tmp_path, "demo", "--folder", "here") as person:
        assert "Cancelled: the ticket is cancelled." in person.finish(0)
    assert len(list((tmp_path / "here").glob("*.pdf"))) == 2


@pytest.fixture
def served(tmp_path):
    """What `ferry mcp` says, and the options that its server would get."""
    stand_in = tmp_path / "stand_in.py"
    stand_in.write_text(
        "import runpy, sys, types\n"
        "made = types.ModuleType('ferry_sdk.agents.mcp_server')\n"
        "made.serve = lambda **options: print('served', options)\n"
        "sys.modules['ferry_sdk.agents.mcp_server'] = made\n"
        "sys.argv = ['ferry', 'mcp', *sys.argv[1:]]\n"
        "runpy.run_module('ferry_sdk', run_name='__main__')\n",
        "utf-8",
    )
    words = ["--writes", "--spend-limit", "eur=500", "--penalty-limit", "EUR=50.5"]
    words += ["--per-booking", "200 eur", "--until", "2050-06-01T18:00+02:00"]
    with terminal(None, tmp_path, *words, program=str(stand_in)) as person:
        return person.finish(0)


def test_mcp_says_what_it_waits_for(served):
    assert "Waiting for an MCP client" in served


def test_mcp_passes_its_options_on(served):
    assert "'writes': True" in served
    assert "'spend_limit': {'EUR': '500'}, 'penalty_limit': {'EUR': '50.5'}" in served
    assert "'per_booking': {'EUR': '200'}, 'until': datetime.datetime(2050, 6, 1, 18, 0" in served


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        pytest.param(0, "22:00", id="the same day"),
        pytest.param(1, "22:00 +1", id="the next day"),
        pytest.param(2, "22:00 +2", id="two days later"),
    ],
)
def test_time_of_a_later_day_counts_the_days(days, expected):
    departure = datetime(2027, 3, 1, 22, 0, tzinfo=UTC)
    assert time_of(departure + timedelta(days=days), departure) == expected
