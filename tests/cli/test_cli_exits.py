"""The exit code and message of every outcome."""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from ferry_sdk.cli.terminal.errors import Exit
from tests.cli.commands import COMMAND, environment
from tests.support import processes
from tests.support.processes import start
from tests.support.tiers import LONG, mostly_long
from tests.support.trip import DAY

posix = pytest.mark.skipif(os.name != "posix", reason="files have no such rights")


def test_the_codes_are_stable():
    assert {one.name: int(one) for one in Exit} == {
        "DONE": 0,
        "FAILED": 1,
        "USAGE": 2,
        "NOT_SENT": 3,
        "REJECTED": 4,
        "UNKNOWN": 5,
        "DECLINED": 6,
        "INTERRUPTED": 130,
    }


def test_a_booking_without_a_reply_is_unknown_and_has_a_correlation_id(cli, ferry_sandbox, order):
    ferry_sandbox.faults.add("lose_reply", "bookings.create")
    message = cli("book", "--from", str(order), "--yes", code=5).err
    assert "correlation id" in message
    assert "do not repeat it" in message
    assert ferry_sandbox.counters.requests["bookings.create"] == 1

    ferry_sandbox.faults.add("lose_reply", "bookings.create")
    error = cli("book", "--from", str(order), "--yes", "--json", code=5).document["error"]
    assert error["outcome"] == "unknown"
    assert error["correlation_id"] in error["hint"]


def test_an_unreachable_service_means_not_sent(cli, ferry_sandbox):
    ferry_sandbox.stop()
    message = cli("ports", code=3).err
    assert "`ferry sandbox` starts a local service" in message
    assert ferry_sandbox.base_url.removeprefix("http://") in message
    assert message.count("\n") == 2
    assert cli("ports", "--json", code=3).document["error"]["outcome"] == "not_sent"


def test_a_read_without_a_reply_changed_nothing(cli, ferry_sandbox):
    ferry_sandbox.faults.add("lose_reply", "catalogue.ports", times=None)
    assert cli("ports", "--json", code=3).document["error"]["outcome"] == "unknown"


@pytest.mark.parametrize("command", mostly_long(["show", "confirm", "cancel", "voucher"]))
def test_an_unknown_id_is_rejected(cli, command):
    assert "404" in cli(command, "nothing", code=4).err


def test_a_read_only_token_is_rejected(cli, ferry_sandbox, order):
    read_only = ferry_sandbox.read_only_token
    message = cli("book", "--from", str(order), "--yes", code=4, FERRY_TOKEN=read_only).err
    assert "lacks the permission" in message
    assert read_only not in message


def test_a_missing_setting_is_named(cli):
    assert "FERRY_TOKEN" in cli("ports", code=3, FERRY_TOKEN="").err
    assert "FERRY_BASE_URL" in cli("ports", code=3, FERRY_BASE_URL="").err


def test_a_failed_guard_means_declined(cli, ferry_sandbox, booked):
    ended = cli("confirm", booked, "--yes", "--expect-total", "1", code=6)
    assert "expected 1" in ended.err
    cli("confirm", booked, "--yes")
    ended = cli("cancel", booked, "--yes", "--max-penalty", "0", code=6)
    assert "the limit is 0" in ended.err
    assert "bookings.cancel" not in ferry_sandbox.counters.requests


def test_what_changes_after_it_was_shown_holds_the_write_back(cli, ferry, ferry_sandbox, booked):
    faults, requests = ferry_sandbox.faults, ferry_sandbox.counters.requests
    foreign = {"field": "currency", "value": "Kwd", "after": 1, "times": None}
    faults.add("unknown_enum", "bookings.get", **foreign)
    ended = cli("confirm", booked, "--yes", code=6)
    total = ferry.bookings.get(booked).total_price
    assert f"costs {total:.3f} KWD, expected {total:.2f} EUR" in ended.err
    assert "bookings.confirm" not in requests
    faults.clear()
    cli("confirm", booked, "--yes")
    for fault, words in (
        (foreign, "KWD"),
        (foreign | {"field": "refund_amount", "value": "0.00"}, "pays back 0.00 EUR"),
    ):
        faults.add("unknown_enum", "bookings.cancel_fee", **fault)
        assert words in cli("cancel", booked, "--yes", code=6).err
        faults.clear()
    assert "bookings.cancel" not in requests


def test_what_is_done_already_is_said_and_nothing_is_asked(cli, ferry, ferry_sandbox, booked):
    ticket = ferry.bookings.confirm(booked).ticket_id
    assert "already confirmed" in cli("confirm", booked).out
    document = cli("confirm", booked, "--json").document
    assert document["already_done"] is True
    assert document["confirmation"]["ticket_id"] == ticket
    ferry.bookings.cancel(booked)
    before = dict(ferry_sandbox.counters.requests)
    for some_id in (booked, ticket):
        assert "already cancelled" in cli("cancel", some_id).out
        document = cli("cancel", some_id, "--json").document
        assert document["already_done"] is True
        assert document["cancellation"]["status"] == "cancelled"
    assert "voided" in cli("confirm", booked, code=3).err
    after = ferry_sandbox.counters.requests
    for name in ("bookings.confirm", "bookings.cancel", "tickets.cancel", "bookings.cancel_fee"):
        assert after.get(name) == before.get(name)


def test_a_booking_that_has_lapsed_is_not_asked_about(cli, ferry, ferry_sandbox, booked):
    ferry_sandbox.clock.travel_to(ferry.bookings.get(booked).expire_at + timedelta(seconds=1))
    for command in ("confirm", "cancel"):
        assert "lapsed" in cli(command, booked, code=3).err


def test_a_booking_that_is_paid_and_not_issued_yet_is_not_asked_about(
    cli, ferry, ferry_sandbox, booked
):
    ferry_sandbox.faults.add("fails_later", "bookings.confirm", seconds=3600)
    ferry.bookings.confirm(booked)
    assert ferry.bookings.get(booked).stage == "in_progress"
    confirmed = ferry_sandbox.counters.requests["bookings.confirm"]
    assert "paid already, and its tickets are being issued" in cli("confirm", booked, code=3).err
    assert "paid already" in cli("confirm", booked, "--yes", code=3).err
    assert ferry_sandbox.counters.requests["bookings.confirm"] == confirmed


def test_a_booking_that_is_confirmed_while_the_question_is_open_is_already_confirmed(
    cli, ferry, ferry_sandbox, booked
):
    """The first read shows it unpaid, as it was when the question was asked."""
    ferry.bookings.confirm(booked)
    ferry_sandbox.faults.add("unknown_enum", "bookings.get", field="stage", value="payment_due")
    ferry_sandbox.faults.add(
        "unknown_enum", "bookings.get", field="tickets.0.status", value="Blocked"
    )
    confirmed = ferry_sandbox.counters.requests["bookings.confirm"]
    assert "already confirmed" in cli("confirm", booked, "--yes").out
    assert ferry_sandbox.counters.requests["bookings.confirm"] == confirmed


@LONG
def test_a_fee_that_rises_after_it_was_shown_is_not_paid(
    ferry, ferry_sandbox, booked, ticket, tmp_path
):
    leaving = ferry.tickets.get(ticket).availability.outward.journey.depart_at
    ferry_sandbox.faults.add("delay_before", "bookings.cancel_fee", after=1, seconds=4)
    with start(
        [*COMMAND, "cancel", booked, "--yes"],
        cwd=tmp_path,
        env=environment(ferry_sandbox),
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while ferry_sandbox.counters.requests.get("bookings.cancel_fee", 0) < 2:
            assert process.poll() is None
        ferry_sandbox.clock.travel_to(leaving - timedelta(hours=12))
        _, output = process.communicate(timeout=30)
    assert process.returncode == 6, output
    assert "nothing was cancelled" in output


@pytest.mark.parametrize("command", mostly_long([["confirm"], ["cancel"], ["book", "--from"]]))
def test_without_a_terminal_and_without_yes_nothing_is_sent(
    cli, ferry_sandbox, booked, order, command
):
    before = dict(ferry_sandbox.counters.requests)
    subject = str(order) if command[0] == "book" else booked
    assert "--yes" in cli(*command, subject, code=2).err
    after = dict(ferry_sandbox.counters.requests)
    writes = ("bookings.create", "bookings.confirm", "bookings.cancel")
    assert [after.get(one) for one in writes] == [before.get(one) for one in writes]


@pytest.mark.parametrize(
    ("words", "named"),
    mostly_long(
        [
            (["search", "A", "B", "--on", "soon", "--adult", "3F"], "--on"),
            (["search", "A", "B", "--on", "+3", "--adult", "old"], "--adult"),
            (["search", "A", "B", "--on", "+3"], "--adult"),
            (["search", "A", "B", "--on", "+3", "--at", "25:00", "--adult", "3F"], "--at"),
            (["search", "A", "B", "--on", "+3", "--at", "8:30", "--adult", "3F"], "--at"),
            (["book"], "--from"),
            (["book", "--at", "08:30", "--from", "order.json", "--yes"], "--from"),
            (["book", "Tarifa", "--from", "order.json", "--yes"], "--from"),
            (["book", "--vehicle", "FIAT__500", "--from", "order.json", "--yes"], "--from"),
            (["confirm", "b", "--expect-total", "cheap"], "--expect-total"),
            (["cancel", "b", "--max-penalty", "nan"], "--max-penalty"),
            (["mcp", "--spend-limit", "500"], "--spend-limit"),
            (["mcp", "--penalty-limit", "EUR=much"], "--penalty-limit"),
            (["ports", "--token", "abc"], "--token"),
        ],
        short=4,
    ),
)
def test_an_invalid_command_line_names_the_option(cli, words, named):
    assert named in cli(*words, code=2, COLUMNS="200").err


def test_an_unknown_port_is_an_error_with_similar_names(cli):
    there = ["--on", f"{DAY}", "--adult", "34F"]
    assert "no company sails" in cli("search", "ESTRF", "ITGOA", *there, code=3).err
    days = ["--from", f"{DAY}", "--to", f"{DAY}", "--adult", "34F"]
    assert "no company sails" in cli("calendar", "ESTRF", "ITGOA", *days, code=3).err
    golf = ["--vehicle", "golff"]
    assert "VOLKSWAGEN__GOLF" in cli("search", "ESTRF", "MATNG", *there, *golf, code=3).err
    ended = cli("search", "Tarrifa", "MATNG", *there, code=3)
    assert ended.out == ""
    assert "did you mean Tarifa (ESTRF)?" in ended.err
    error = cli("search", "Tanger", "ESTRF", *there, "--json", code=3).document["error"]
    assert (error["type"], error["field"]) == ("AmbiguousPlaceError", "origin")


def test_a_name_that_nothing_has_is_an_error(cli):
    for command in ("ports", "companies", "vehicles"):
        ended = cli(command, "zzz", code=3)
        assert (ended.out, "nothing is called 'zzz'" in ended.err) == ("", True)
    assert cli("ports", "zzz", "--json", code=3).document == {"ports": []}


def test_a_service_that_names_no_company_wants_one(cli, ferry_sandbox, cache):
    (file,) = cache.iterdir()
    file.unlink()
    ferry_sandbox.mcp.set(is_absent=True)
    words = ["search", "Tarifa", "MATNG", "--on", f"{DAY}", "--adult", "34F"]
    assert "pass --company" in cli(*words, code=3).err
    assert "Baleària" in cli(*words, "--company", "BALEARIA").out
    message = cli(*words, "--company", "NOBODY", code=4).err
    assert "There is no ferry company NOBODY" in message


def test_a_search_for_a_past_day_has_a_hint(cli):
    gone = "2020-01-31"
    who = ["--adult", "34F"]
    message = cli("search", "Tarifa", "MATNG", "--on", gone, *who, code=4).err
    assert f"--on: {gone} is past" in message
    assert "fewer travellers" not in message
    error = cli("search", "Tarifa", "MATNG", "--on", gone, *who, "--json", code=4).document["error"]
    assert gone in error["hint"]


@LONG
def test_a_token_comes_from_a_file(cli, ferry_sandbox, tmp_path):
    file = tmp_path / "token"
    file.write_text(f"{ferry_sandbox.token}\n", "utf-8")
    file.chmod(0o600)
    assert cli("ports", "--token-file", str(file), FERRY_TOKEN="").err == ""
    assert cli("ports", FERRY_TOKEN_FILE=str(file), FERRY_TOKEN="another").err == ""
    assert "cannot be read" in cli("ports", "--token-file", "nowhere", code=3).err
    file.write_text("\n", "utf-8")
    assert "empty" in cli("ports", "--token-file", str(file), code=3).err
    file.write_text(f"{ferry_sandbox.token}\r\n", "utf-8-sig", newline="")
    assert cli("ports", "--token-file", str(file)).err == ""
    file.write_text("one\nanother\n", "utf-8")
    message = cli("ports", "--token-file", str(file), code=3).err
    assert f"{file}: contains more than a token" in message
    assert "another" not in message
    assert "chmod" not in cli("ports", "--token-file", str(tmp_path), code=3).err


@posix
def test_a_token_file_that_others_can_read_is_a_warning(cli, ferry_sandbox, tmp_path):
    file = tmp_path / "token"
    file.write_text(ferry_sandbox.token, "utf-8")
    file.chmod(0o644)
    assert "chmod 600" in cli("ports", "--token-file", str(file)).err


@posix
def test_a_pipe_without_another_end_blocks_no_command(cli, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for words in (
        ["book", "--from", str(pipe), "--yes"],
        ["conform", "--record", str(pipe)],
        ["ports", "--token-file", str(pipe)],
    ):
        assert "Traceback" not in cli(*words, code=Exit.NOT_SENT).err, words


def test_a_missing_extra_is_named_in_one_line(tmp_path):
    program = "import sys; sys.modules['typer'] = None; import ferry_sdk.__main__ as m; m.main()"
    done = processes.run([sys.executable, "-c", program], cwd=tmp_path, new=True)
    assert done.returncode == 1
    assert 'pip install "ferry-sdk[cli]"' in done.stderr
    assert done.stderr.count("\n") == 1


@LONG
def test_the_missing_extra_agents_is_named(cli, tmp_path):
    blocked = tmp_path / "sitecustomize.py"
    blocked.write_text("import sys; sys.modules['mcp'] = None", "utf-8")
    assert 'pip install "ferry-sdk[agents]"' in cli("mcp", code=1, PYTHONPATH=str(tmp_path)).err


@LONG
def test_a_voucher_needs_an_existing_folder(cli, ticket):
    message = cli("voucher", ticket, "--to", "no/such/folder/v.pdf", code=3).err
    assert message.count("\n") == 1


def test_a_voucher_replaces_no_file_that_the_command_does_not_name(
    cli, ferry_sandbox, ticket, tmp_path
):
    number = {"field": "ticket_number", "value": "../\u202e.bashrc"}
    ferry_sandbox.faults.add("unknown_enum", "tickets.get", times=3, **number)
    file = tmp_path / "ticket-_____bashrc.pdf"
    file.write_text("mine", "utf-8")
    message = cli("voucher", ticket, code=3).err
    assert f"{file.name} exists; --force replaces it" in message
    assert cli("voucher", ticket, "--to", str(tmp_path), "--json", code=3).document
    assert file.read_text("utf-8") == "mine"
    cli("voucher", ticket, "--force")
    assert file.read_bytes().startswith(b"%PDF-")


def test_the_voucher_of_a_booking_names_its_tickets(cli, booked, ticket):
    message = cli("voucher", booked, code=3).err
    assert f"this is the id of a booking; run `ferry voucher {ticket}` (" in message
    tickets = cli("show", booked, "--json").document["booking"]["tickets"]
    for shown in (cli("show", ticket, "--json").document["ticket"], *tickets):
        assert (shown["ticket_id"], shown["id"]) == (ticket, ticket)


def test_a_cancelled_ticket_has_no_voucher(cli, ferry, ticket):
    ferry.tickets.cancel(ticket)
    assert "it is Canceled and has no voucher" in cli("voucher", ticket, code=3).err


@LONG
@posix
def test_a_closed_pipe_prints_no_traceback(ferry_sandbox, tmp_path):
    command = f"{sys.executable} -W error -m ferry_sdk ports --json | head -n 1"
    done = subprocess.run(
        ["sh", "-c", command],  # noqa: S607 -- whichever shell
        cwd=tmp_path,
        env=environment(ferry_sandbox),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "{\n"
    assert done.stderr == ""


@LONG
@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="processes are not listed in /proc")
def test_the_arguments_of_a_process_contain_no_token(ferry_sandbox):
    ferry_sandbox.faults.add("delay_before", "catalogue.ports", seconds=2)
    with subprocess.Popen(
        [*COMMAND, "ports"], env=environment(ferry_sandbox), stdout=subprocess.PIPE
    ) as process:
        while not ferry_sandbox.counters.requests.get("catalogue.ports"):
            assert process.poll() is None
        started_with = Path(f"/proc/{process.pid}/cmdline").read_bytes()
        assert b"ports" in started_with
        assert ferry_sandbox.token.encode() not in started_with
        process.communicate(timeout=30)
