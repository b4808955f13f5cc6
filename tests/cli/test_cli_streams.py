"""Streams that are closed, full, unread or in another encoding."""

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import COMMAND, SEARCH, Ended, environment
from tests.support.effects import effects
from tests.support.processes import launch_command
from tests.support.tiers import LONG, mostly_long

if os.name != "posix":
    pytest.skip("the shell's own words for it", allow_module_level=True)

pytestmark = LONG

HOSTILE = "Ferry [red]x[/red] :smile: \x1b[2J\x1b]0;t\x07\x9b31m\none more"


@pytest.fixture
def shell(ferry_sandbox, tmp_path):
    def run(words, redirected="", **more):
        env = environment(ferry_sandbox, **more)
        command = shlex.join(launch_command([*COMMAND, *words], env))
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", f"{command} {redirected}"],  # noqa: S607 -- whichever bash
            cwd=tmp_path,
            env=env,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=50,
        )
        assert "Traceback" not in done.stderr
        assert "Exception ignored" not in done.stderr
        return Ended(done.returncode, done.stdout, done.stderr)

    return run


@pytest.mark.parametrize("command", ["book", "confirm"])
def test_closed_input_is_no_crash(shell, command):
    assert shell([command, "ID"], "<&-").code in {2, 4}


def test_order_of_a_closed_input_is_not_sent(shell, ferry_sandbox):
    assert shell(["book", "--from", "-", "--yes"], "<&-").code == 3
    assert effects(ferry_sandbox) == []


@pytest.mark.parametrize("closed", mostly_long(["<&- >&- 2>&-", "<&-", ">&-", "2>&-"]))
def test_closed_stream_is_no_failure(shell, ferry_sandbox, booked, closed):
    assert shell(["confirm", booked, "--yes"], closed).code == 0
    assert effects(ferry_sandbox) == ["bookings.create", "bookings.confirm"]


full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
NOWHERE = [pytest.param("> /dev/full", marks=full, id="full"), pytest.param("| true", id="unread")]


def check_unprinted(ended, booking_id):
    """Check that a write whose result was not printed has an exit code of its own."""
    assert ended.code == 5, ended
    assert f"{booking_id}: it was " in ended.err
    assert "do not repeat" in ended.err


@pytest.mark.parametrize("as_json", mostly_long([[], ["--json"]]))
@pytest.mark.parametrize("nowhere", NOWHERE)
def test_unprinted_booking_is_not_to_be_repeated(shell, ferry_sandbox, order, as_json, nowhere):
    """Exit code 1 would invite a second booking."""
    ferry_sandbox.faults.add("delay_before", "bookings.create", seconds=0.5)  # `true` has ended
    ended = shell(["book", "--from", str(order), "--yes", *as_json], nowhere)
    (effect,) = ferry_sandbox.counters.effects
    check_unprinted(ended, effect.subject)


@pytest.mark.parametrize("as_json", mostly_long([[], ["--json"]]))
@pytest.mark.parametrize("nowhere", NOWHERE)
@pytest.mark.parametrize("command", ["confirm", "cancel"])
def test_unprinted_change_is_not_to_be_repeated(
    shell, ferry, ferry_sandbox, booked, command, as_json, nowhere
):
    if command == "cancel":
        ferry.bookings.confirm(booked)
    ferry_sandbox.faults.add("delay_before", f"bookings.{command}", seconds=0.5)
    check_unprinted(shell([command, booked, "--yes", *as_json], nowhere), booked)
    assert effects(ferry_sandbox).count(f"bookings.{command}") == 1


@full
@pytest.mark.parametrize("words", [["ports"], ["ports", "--json"]], ids=["text", "JSON"])
def test_unprinted_read_is_a_failure(shell, words):
    ended = shell(words, "> /dev/full")
    assert ended.code == 1
    assert "No space left" in ended.err


def test_closed_pipe_is_not_named(shell):
    ended = shell(["ports", "--json"], "| head -n 1")
    assert (ended.out, ended.err) == ("{\n", "")


BOOK = ["book", "--yes", "--json", "--from"]
CP1252 = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252"}
ASCII = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}


@pytest.fixture
def zoe(order):
    """An order for a traveller whose name is not ASCII."""
    content = json.loads(order.read_text("utf-8"))
    content["passengers"][0]["first_name"] = "Zoë"
    order.write_text(json.dumps(content, ensure_ascii=False), "utf-8-sig")
    return order


def test_order_of_a_pipe_is_always_utf_8(shell, ferry, zoe):
    made = shell([*BOOK, "-"], f"< {zoe}", **CP1252).document["booking"]["booking_id"]
    (ticket,) = ferry.bookings.get(made).tickets
    assert ticket.passengers[0].first_name == "Zoë"


def test_file_of_an_order_may_have_a_mark(shell, zoe):
    assert shell([*BOOK, str(zoe)]).code == 0


def test_document_escapes_what_the_encoding_lacks(shell):
    ended = shell(["ports", "--json"], **ASCII)
    assert ended.out.isascii()
    assert not "".join(port["name"] for port in ended.document["ports"]).isascii()


def test_text_replaces_what_the_encoding_lacks(shell):
    assert shell(["search", *SEARCH], **ASCII).code == 0


def test_hostile_name_is_printed_as_text(shell, ferry_sandbox):
    last = ["search", *SEARCH, "--company", "BALEARIA", "--at", "20:00"]
    plain = shell(last).out
    hostile = {"field": "company.name", "value": HOSTILE, "times": 1, "index": 5}
    ferry_sandbox.faults.add("unknown_enum", "availability.search", **hostile)
    shown = shell(last).out
    assert "Ferry [red]x[/red] :smile: �[2J�]0;t��31m one more" in shown
    assert shown.count("\n") == plain.count("\n")
    assert not set(shown) & set("\x1b\x07\x9b")
