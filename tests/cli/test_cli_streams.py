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


@pytest.mark.parametrize("closed", mostly_long(["<&- >&- 2>&-", "<&-", ">&-", "2>&-"]))
def test_a_closed_stream_is_no_failure_but_nobody_can_be_asked(
    shell, ferry_sandbox, booked, closed
):
    for command in ("book", "confirm"):
        assert shell([command, "ID"], "<&-").code in {2, 4}
    assert shell(["book", "--from", "-", "--yes"], "<&-").code == 3
    assert effects(ferry_sandbox) == ["bookings.create"]
    assert shell(["confirm", booked, "--yes"], closed).code == 0
    assert effects(ferry_sandbox) == ["bookings.create", "bookings.confirm"]


full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")


@pytest.mark.parametrize("as_json", mostly_long([[], ["--json"]]))
@pytest.mark.parametrize("nowhere", [pytest.param("> /dev/full", marks=full), "| true"])
def test_a_write_whose_result_cannot_be_printed_has_its_own_exit_code(
    shell, ferry_sandbox, order, as_json, nowhere
):
    """Exit code 1 would invite a second booking."""
    ferry_sandbox.faults.add("delay_before", "bookings.create", seconds=0.5)  # `true` has ended
    ended = [shell(["book", "--from", str(order), "--yes", *as_json], nowhere)]
    (made,) = ferry_sandbox.counters.effects
    for command in ("confirm", "cancel"):
        ferry_sandbox.faults.add("delay_before", f"bookings.{command}", seconds=0.5)
        ended.append(shell([command, made.subject, "--yes", *as_json], nowhere))
    for one in ended:
        assert one.code == 5, one
        assert f"{made.subject}: it was " in one.err
        assert "do not repeat" in one.err
    assert effects(ferry_sandbox) == ["bookings.create", "bookings.confirm", "bookings.cancel"]


@full
def test_a_read_whose_result_cannot_be_printed_says_why_unless_the_pipe_is_closed(shell):
    for words in (["ports"], ["ports", "--json"]):
        ended = shell(words, "> /dev/full")
        assert ended.code == 1
        assert "No space left" in ended.err
    ended = shell(["ports", "--json"], "| head -n 1")
    assert (ended.out, ended.err) == ("{\n", "")


def test_an_order_is_utf_8_in_every_encoding_of_the_terminal(shell, ferry, order):
    content = json.loads(order.read_text("utf-8"))
    content["passengers"][0]["first_name"] = "Zoë"
    order.write_text(json.dumps(content, ensure_ascii=False), "utf-8-sig")
    other = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252"}
    words = ["book", "--yes", "--json", "--from"]
    made = shell([*words, "-"], f"< {order}", **other).document["booking"]["booking_id"]
    (ticket,) = ferry.bookings.get(made).tickets
    assert ticket.passengers[0].first_name == "Zoë"
    assert shell([*words, str(order)]).code == 0
    # Characters that the encoding lacks are replaced.
    other["PYTHONIOENCODING"] = "ascii"
    found = shell(["ports", "--json"], **other)
    assert found.out.isascii()
    assert not "".join(port["name"] for port in found.document["ports"]).isascii()
    assert shell(["search", *SEARCH], **other).code == 0


def test_a_hostile_name_is_printed_as_text(shell, ferry_sandbox):
    last = ["search", *SEARCH, "--company", "BALEARIA", "--at", "20:00"]
    plain = shell(last).out
    hostile = {"field": "company.name", "value": HOSTILE, "times": 1, "index": 5}
    ferry_sandbox.faults.add("unknown_enum", "availability.search", **hostile)
    shown = shell(last).out
    assert "Ferry [red]x[/red] :smile: �[2J�]0;t��31m one more" in shown
    assert shown.count("\n") == plain.count("\n")
    assert not set(shown) & set("\x1b\x07\x9b")
