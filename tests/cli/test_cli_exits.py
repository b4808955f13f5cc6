"""The exit code and message of every outcome."""

import os
import sys
from datetime import timedelta

import pytest

from ferry_sdk.cli.terminal.errors import Exit
from tests.support import processes
from tests.support.effects import effects
from tests.support.tiers import LONG, mostly_long
from tests.support.trip import DAY


def test_the_codes_are_stable():
    names = ["DONE", "FAILED", "USAGE", "NOT_SENT", "REJECTED", "UNKNOWN", "DECLINED"]
    codes = {name: code for code, name in enumerate(names)} | {"INTERRUPTED": 130}
    assert {one.name: int(one) for one in Exit} == codes


def test_a_booking_without_a_reply_is_unknown_and_a_service_that_is_not_there_is_named(
    cli, ferry_sandbox, order
):
    ferry_sandbox.faults.add("lose_reply", "bookings.create", times=2)
    words = ["book", "--from", str(order), "--yes"]
    message = cli(*words, code=5).err
    assert "correlation id" in message
    assert "do not repeat it" in message
    assert ferry_sandbox.counters.requests["bookings.create"] == 1
    error = cli(*words, "--json", code=5).document["error"]
    assert error["outcome"] == "unknown"
    assert error["correlation_id"] in error["hint"]
    ferry_sandbox.faults.add("lose_reply", "catalogue.ports", times=None)
    assert cli("ports", "--json", code=3).document["error"]["outcome"] == "unknown"
    ferry_sandbox.stop()
    message = cli("ports", code=3).err
    assert "`ferry sandbox` starts a local service" in message
    assert ferry_sandbox.base_url.removeprefix("http://") in message
    assert message.count("\n") == 2
    assert cli("ports", "--json", code=3).document["error"]["outcome"] == "not_sent"


@pytest.mark.parametrize("command", mostly_long(["show", "confirm", "cancel", "voucher"]))
def test_an_unknown_id_is_rejected(cli, command):
    assert "404" in cli(command, "nothing", code=4).err
    ended = cli(command, "nothing", "--json", code=4)
    kind = "TicketNotFoundError" if command == "voucher" else "NotFoundError"
    expected = {"exit_code": 4, "type": kind, "outcome": "rejected", "status_code": 404}
    error = ended.document["error"]
    assert (ended.err, error) == ("", error | expected)
    assert error["correlation_id"]


def test_a_read_only_token_is_rejected_and_a_missing_setting_named(cli, ferry_sandbox, order):
    read_only = ferry_sandbox.read_only_token
    message = cli("book", "--from", str(order), "--yes", code=4, FERRY_TOKEN=read_only).err
    assert "lacks the permission" in message
    assert read_only not in message
    for missing in ("FERRY_TOKEN", "FERRY_BASE_URL"):
        assert missing in cli("ports", code=3, **{missing: ""}).err


def test_a_failed_guard_or_a_change_after_it_was_shown_holds_the_write_back(
    cli, ferry, ferry_sandbox, booked
):
    faults, requests = ferry_sandbox.faults, ferry_sandbox.counters.requests
    assert "expected 1" in cli("confirm", booked, "--yes", "--expect-total", "1", code=6).err
    foreign = {"field": "currency", "value": "Kwd", "after": 1, "times": None}
    faults.add("unknown_enum", "bookings.get", **foreign)
    ended = cli("confirm", booked, "--yes", code=6)
    total = ferry.bookings.get(booked).total_price
    assert f"costs {total:.3f} KWD, expected {total:.2f} EUR" in ended.err
    assert "bookings.confirm" not in requests
    faults.clear()
    cli("confirm", booked, "--yes")
    assert "the limit is 0" in cli("cancel", booked, "--yes", "--max-penalty", "0", code=6).err
    for field, value, words in [
        ("currency", "Kwd", "KWD"),
        ("penalty_amount", "999.00", "costs 999.00 EUR"),
        ("refund_amount", "0.00", "pays back 0.00 EUR"),
    ]:
        changed = foreign | {"field": field, "value": value}
        faults.add("unknown_enum", "bookings.cancel_fee", **changed)
        assert words in cli("cancel", booked, "--yes", code=6).err
        faults.clear()
    assert "bookings.cancel" not in requests


def test_what_is_done_already_is_said_and_nothing_is_asked(cli, ferry, ferry_sandbox, booked):
    ticket = ferry.bookings.confirm(booked).ticket_id
    assert "already confirmed" in cli("confirm", booked).out
    document = cli("confirm", booked, "--json").document
    assert document["already_done"] is True
    assert document["confirmation"]["ticket_id"] == ticket
    # The first read shows it unpaid, as it was when the question was asked.
    for field, value in (("stage", "payment_due"), ("tickets.0.status", "Blocked")):
        ferry_sandbox.faults.add("unknown_enum", "bookings.get", field=field, value=value)
    assert "already confirmed" in cli("confirm", booked, "--yes").out
    ferry.bookings.cancel(booked)
    before = dict(ferry_sandbox.counters.requests)
    assert before["bookings.confirm"] == 1
    for some_id in (booked, ticket):
        assert "already cancelled" in cli("cancel", some_id).out
        document = cli("cancel", some_id, "--json").document
        assert document["already_done"] is True
        assert document["cancellation"]["status"] == "cancelled"
    assert "voided" in cli("confirm", booked, code=3).err
    after = ferry_sandbox.counters.requests
    for name in ("bookings.confirm", "bookings.cancel", "tickets.cancel", "bookings.cancel_fee"):
        assert after.get(name) == before.get(name)


def test_a_booking_that_is_paid_or_has_lapsed_is_not_asked_about(
    cli, ferry, ferry_sandbox, booked, order
):
    made = cli("book", "--from", str(order), "--yes", "--json").document["booking"]["booking_id"]
    ferry_sandbox.faults.add("fails_later", "bookings.confirm", seconds=3600)
    ferry.bookings.confirm(made)
    assert ferry.bookings.get(made).stage == "in_progress"
    assert "paid already, and its tickets are being issued" in cli("confirm", made, code=3).err
    assert "paid already" in cli("confirm", made, "--yes", code=3).err
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 1
    ferry_sandbox.clock.travel_to(ferry.bookings.get(booked).expire_at + timedelta(seconds=1))
    for command in ("confirm", "cancel"):
        assert "lapsed" in cli(command, booked, code=3).err


@pytest.mark.parametrize("command", mostly_long(["confirm", "cancel", "book --from"]))
def test_without_a_terminal_and_without_yes_nothing_is_sent(
    cli, ferry_sandbox, booked, order, command
):
    subject = booked if command in {"confirm", "cancel"} else str(order)
    assert "--yes" in cli(*command.split(), subject, code=2).err
    assert effects(ferry_sandbox) == ["bookings.create"]
    assert not ferry_sandbox.counters.requests.keys() & {"bookings.confirm", "bookings.cancel"}


INVALID = [
    ("search A B --on soon --adult 3F", "--on"),
    ("search A B --on +3 --adult old", "--adult"),
    ("search A B --on +3", "--adult"),
    ("search A B --on +3 --at 25:00 --adult 3F", "--at"),
    ("search A B --on +3 --at 8:30 --adult 3F", "--at"),
    ("book", "--from"),
    ("book --at 08:30 --from order.json --yes", "--from"),
    ("book Tarifa --from order.json --yes", "--from"),
    ("book --vehicle FIAT__500 --from order.json --yes", "--from"),
    ("confirm b --expect-total cheap", "--expect-total"),
    ("cancel b --max-penalty nan", "--max-penalty"),
    ("mcp --spend-limit 500", "--spend-limit"),
    ("mcp --penalty-limit EUR=much", "--penalty-limit"),
    ("ports --token abc", "--token"),
]


@pytest.mark.parametrize(("words", "named"), mostly_long(INVALID, short=4))
def test_an_invalid_command_line_names_the_option(cli, words, named):
    assert named in cli(*words.split(), code=2, COLUMNS="200").err


def test_an_unknown_name_is_an_error_with_similar_names(cli):
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
    for command in ("ports", "companies", "vehicles"):
        for text in ("zzz", "!!!"):
            ended = cli(command, text, code=3)
            assert (ended.out, f"nothing is called '{text}'" in ended.err) == ("", True)
    assert cli("ports", "zzz", "--json", code=3).document == {"ports": []}


def test_a_service_that_names_no_company_wants_one_and_a_past_day_has_a_hint(
    cli, ferry_sandbox, cache
):
    gone = ["search", "Tarifa", "MATNG", "--on", "2020-01-31", "--adult", "34F"]
    message = cli(*gone, code=4).err
    assert "--on: 2020-01-31 is past" in message
    assert "fewer travellers" not in message
    assert "2020-01-31" in cli(*gone, "--json", code=4).document["error"]["hint"]
    (file,) = cache.iterdir()
    file.unlink()
    ferry_sandbox.mcp.set(is_absent=True)
    words = ["search", "Tarifa", "MATNG", "--on", f"{DAY}", "--adult", "34F"]
    assert "pass --company" in cli(*words, code=3).err
    assert "Baleària" in cli(*words, "--company", "BALEARIA").out
    message = cli(*words, "--company", "NOBODY", code=4).err
    assert "There is no ferry company NOBODY" in message


@LONG
def test_a_token_comes_from_a_file(cli, ferry_sandbox, tmp_path):
    file = tmp_path / "token"
    file.write_text(f"{ferry_sandbox.token}\n", "utf-8")
    file.chmod(0o600)
    assert cli("ports", "--token-file", str(file), FERRY_TOKEN="").err == ""
    assert cli("ports", FERRY_TOKEN_FILE=str(file), FERRY_TOKEN="another").err == ""
    file.write_text(f"{ferry_sandbox.token}\r\n", "utf-8-sig", newline="")
    assert cli("ports", "--token-file", str(file)).err == ""
    assert "cannot be read" in cli("ports", "--token-file", "nowhere", code=3).err
    for content, said in (("\n", "is empty"), ("one\nanother\n", "contains more than a token")):
        file.write_text(content, "utf-8")
        message = cli("ports", "--token-file", str(file), code=3).err
        assert f"{file}: {said}" in message
        assert "another" not in message
    assert "chmod" not in cli("ports", "--token-file", str(tmp_path), code=3).err


@pytest.mark.skipif(os.name != "posix", reason="files have no such rights")
def test_a_token_file_that_others_can_read_is_a_warning_and_an_idle_pipe_blocks_no_command(
    cli, ferry_sandbox, tmp_path
):
    file = tmp_path / "token"
    file.write_text(ferry_sandbox.token, "utf-8")
    file.chmod(0o644)
    assert "chmod 600" in cli("ports", "--token-file", str(file)).err
    os.mkfifo(tmp_path / "pipe")
    for words in ("book --yes --from", "ports --token-file"):
        cli(*words.split(), "pipe", code=Exit.NOT_SENT)


@pytest.mark.parametrize(
    ("module", "extra", "words"),
    mostly_long([("typer", "cli", []), ("mcp", "agents", ["mcp"]), ("sqlalchemy", "journal", [])]),
)
def test_a_missing_extra_is_named_in_one_line(tmp_path, module, extra, words):
    words = words or ["journal", "list", "--journal", "sqlite:///ferry.db"]
    program = f"import sys; sys.modules[{module!r}] = None; from ferry_sdk.__main__ import main; "
    command = [sys.executable, "-c", f"{program}main()", *words]
    done = processes.run(command, cwd=tmp_path, new=True)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert f'pip install "ferry-sdk[{extra}]"' in done.stderr


def test_a_voucher_replaces_no_file_that_is_not_named_and_is_of_a_ticket_that_counts(
    cli, ferry, ferry_sandbox, booked, ticket, tmp_path
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
    message = cli("voucher", ticket, "--to", "no/such/folder/v.pdf", code=3).err
    assert message.count("\n") == 1
    message = cli("voucher", booked, code=3).err
    assert f"this is the id of a booking; run `ferry voucher {ticket}` (" in message
    tickets = cli("show", booked, "--json").document["booking"]["tickets"]
    for shown in (cli("show", ticket, "--json").document["ticket"], *tickets):
        assert (shown["ticket_id"], shown["id"]) == (ticket, ticket)
    ferry.tickets.cancel(ticket)
    assert "it is Canceled and has no voucher" in cli("voucher", ticket, code=3).err
