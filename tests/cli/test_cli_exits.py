"""The exit code and message of every outcome."""

import os
import sys
from datetime import timedelta

import pytest

from ferry_sdk._engine.safety import SAFETY
from ferry_sdk.cli.terminal.errors import _HINTS, Exit
from tests.support import processes
from tests.support.effects import effects
from tests.support.tiers import LONG, mostly_long
from tests.support.trip import DAY

STRAIT = ["search", "Tarifa", "MATNG", "--on", f"{DAY}", "--adult", "34F"]


def test_codes_are_stable():
    assert {code.name: code.value for code in Exit} == {
        "DONE": 0,
        "FAILED": 1,
        "USAGE": 2,
        "NOT_SENT": 3,
        "REJECTED": 4,
        "UNKNOWN": 5,
        "DECLINED": 6,
        "INTERRUPTED": 130,
    }


# ---- Hints ------------------------------------------------------------------------------------


def test_hints_name_operations_of_the_client():
    named = {hint.operation for hint in _HINTS} - {None}
    assert named <= SAFETY.keys() | {"tickets.wait_pdf"}


def test_special_hints_stand_before_general_ones():
    general: list[type] = []
    for hint in _HINTS:
        assert not issubclass(hint.error, (*general,)), hint.text
        if hint.operation is None and hint.field is None and not hint.words:
            general.append(hint.error)


# ---- A lost reply, and no service ---------------------------------------------------------------


@pytest.fixture
def book(order):
    """The words that book without a question."""
    return ["book", "--from", str(order), "--yes"]


@pytest.fixture
def lost_booking(ferry_sandbox):
    """The reply to the next booking is lost."""
    ferry_sandbox.faults.add("lose_reply", "bookings.create")


@pytest.mark.slow
@pytest.mark.usefixtures("lost_booking")
def test_lost_booking_is_not_to_be_repeated(cli, ferry_sandbox, book):
    message = cli(*book, code=5).err
    assert "correlation id" in message
    assert "do not repeat it" in message
    assert ferry_sandbox.counters.requests["bookings.create"] == 1


@pytest.mark.usefixtures("lost_booking")
def test_document_of_a_loss_has_its_correlation_id(cli, book):
    error = cli(*book, "--json", code=5).document["error"]
    assert error["outcome"] == "unknown"
    assert error["correlation_id"] in error["hint"]


def test_lost_read_changes_nothing(cli, ferry_sandbox):
    ferry_sandbox.faults.add("lose_reply", "catalogue.ports", times=None)
    assert cli("ports", "--json", code=3).document["error"]["outcome"] == "unknown"


@pytest.fixture
def stopped_service(ferry_sandbox):
    """A service that is not there."""
    ferry_sandbox.stop()
    return ferry_sandbox


def test_missing_service_is_named(cli, stopped_service):
    message = cli("ports", code=3).err
    assert "`ferry sandbox` starts a local service" in message
    assert stopped_service.base_url.removeprefix("http://") in message
    assert message.count("\n") == 2


@pytest.mark.usefixtures("stopped_service")
def test_request_to_a_missing_service_is_not_sent(cli):
    assert cli("ports", "--json", code=3).document["error"]["outcome"] == "not_sent"


# ---- Rejections -------------------------------------------------------------------------------


@pytest.mark.parametrize("command", mostly_long(["show", "confirm", "cancel", "voucher"]))
def test_unknown_id_is_rejected(cli, command):
    assert "404" in cli(command, "nothing", code=4).err


@pytest.mark.parametrize(
    ("command", "error_type"),
    mostly_long(
        [
            ("show", "NotFoundError"),
            ("confirm", "NotFoundError"),
            ("cancel", "NotFoundError"),
            ("voucher", "TicketNotFoundError"),
        ]
    ),
)
def test_document_of_an_unknown_id_names_the_error(cli, command, error_type):
    ended = cli(command, "nothing", "--json", code=4)
    error = ended.document["error"]
    expected = {"exit_code": 4, "type": error_type, "outcome": "rejected", "status_code": 404}
    assert error == error | expected
    assert error["correlation_id"]
    assert ended.err == ""


def test_read_only_token_lacks_the_permission(cli, ferry_sandbox, book):
    read_only = ferry_sandbox.read_only_token
    message = cli(*book, code=4, FERRY_TOKEN=read_only).err
    assert "lacks the permission" in message
    assert read_only not in message


@pytest.mark.parametrize("setting", ["FERRY_TOKEN", "FERRY_BASE_URL"])
def test_missing_setting_is_named(cli, setting):
    assert setting in cli("ports", code=3, **{setting: ""}).err


# ---- Guards -----------------------------------------------------------------------------------


@pytest.fixture
def change_field(ferry_sandbox):
    """Change a field of an operation's replies, from its second reply on."""

    def change(operation, field, value):
        ferry_sandbox.faults.add(
            "unknown_enum", operation, field=field, value=value, after=1, times=None
        )

    return change


def test_other_total_is_not_confirmed(cli, ferry_sandbox, booked):
    assert "expected 1" in cli("confirm", booked, "--yes", "--expect-total", "1", code=6).err
    assert "bookings.confirm" not in ferry_sandbox.counters.requests


def test_currency_that_changes_meanwhile_is_not_confirmed(
    cli, ferry, ferry_sandbox, booked, change_field
):
    total = ferry.bookings.get(booked).total_price
    change_field("bookings.get", "currency", "Kwd")
    message = cli("confirm", booked, "--yes", code=6).err
    assert f"costs {total:.3f} KWD, expected {total:.2f} EUR" in message
    assert "bookings.confirm" not in ferry_sandbox.counters.requests


@pytest.mark.usefixtures("ticket")
def test_fee_above_the_limit_is_not_accepted(cli, ferry_sandbox, booked):
    message = cli("cancel", booked, "--yes", "--max-penalty", "0", code=6).err
    assert "the limit is 0" in message
    assert "bookings.cancel" not in ferry_sandbox.counters.requests


@pytest.mark.usefixtures("ticket")
@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        pytest.param("currency", "Kwd", "KWD", id="currency"),
        pytest.param("penalty_amount", "999.00", "costs 999.00 EUR", id="fee"),
        pytest.param("refund_amount", "0.00", "pays back 0.00 EUR", id="refund"),
    ],
)
def test_fee_that_changes_meanwhile_stops_the_cancellation(
    cli, ferry_sandbox, booked, change_field, field, value, words
):
    change_field("bookings.cancel_fee", field, value)
    assert words in cli("cancel", booked, "--yes", code=6).err
    assert "bookings.cancel" not in ferry_sandbox.counters.requests


# ---- What is done already ---------------------------------------------------------------------


@pytest.mark.usefixtures("ticket")
def test_confirmed_booking_is_said_to_be_confirmed(cli, ferry_sandbox, booked):
    assert "already confirmed" in cli("confirm", booked).out
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 1


def test_document_of_a_confirmed_booking_has_its_ticket(cli, booked, ticket):
    document = cli("confirm", booked, "--json").document
    assert document["already_done"] is True
    assert document["confirmation"]["ticket_id"] == ticket


@pytest.mark.usefixtures("ticket")
def test_booking_confirmed_meanwhile_is_said_to_be_confirmed(cli, ferry_sandbox, booked):
    # The first read shows it unpaid, as it was when the question was asked.
    faults = ferry_sandbox.faults
    faults.add("unknown_enum", "bookings.get", field="stage", value="payment_due")
    faults.add("unknown_enum", "bookings.get", field="tickets.0.status", value="Blocked")
    assert "already confirmed" in cli("confirm", booked, "--yes").out
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 1


@pytest.fixture
def cancelled(ferry, booked, ticket):
    """The ids of a cancelled booking and of its ticket."""
    ferry.bookings.cancel(booked)
    return {"booking": booked, "ticket": ticket}


@pytest.mark.parametrize("kind", ["booking", "ticket"])
def test_cancelled_record_is_said_to_be_cancelled(cli, ferry_sandbox, cancelled, kind):
    before = dict(ferry_sandbox.counters.requests)
    assert "already cancelled" in cli("cancel", cancelled[kind]).out
    after = ferry_sandbox.counters.requests
    operations = ["bookings.cancel", "tickets.cancel", "bookings.cancel_fee"]
    assert [after.get(name) for name in operations] == [before.get(name) for name in operations]


@pytest.mark.parametrize("kind", ["booking", "ticket"])
def test_document_of_a_cancelled_record_says_so(cli, cancelled, kind):
    document = cli("cancel", cancelled[kind], "--json").document
    assert document["already_done"] is True
    assert document["cancellation"]["status"] == "cancelled"


def test_cancelled_booking_cannot_be_confirmed(cli, ferry_sandbox, cancelled):
    assert "voided" in cli("confirm", cancelled["booking"], code=3).err
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 1


@pytest.mark.parametrize("words", [[], ["--yes"]], ids=["asking", "yes"])
def test_paid_booking_is_not_asked_about(cli, ferry, ferry_sandbox, booked, words):
    ferry_sandbox.faults.add("fails_later", "bookings.confirm", seconds=3600)
    ferry.bookings.confirm(booked)
    assert ferry.bookings.get(booked).stage == "in_progress"
    assert "already confirmed" in cli("confirm", booked, *words).out
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 1


@pytest.mark.parametrize("command", ["confirm", "cancel"])
def test_lapsed_booking_is_not_asked_about(cli, ferry, ferry_sandbox, booked, command):
    ferry_sandbox.clock.travel_to(ferry.bookings.get(booked).expire_at + timedelta(seconds=1))
    assert "lapsed" in cli(command, booked, code=3).err


# ---- The command line -------------------------------------------------------------------------


@pytest.mark.parametrize("command", mostly_long(["confirm", "cancel", "book --from"]))
def test_nothing_is_sent_without_a_terminal_or_yes(cli, ferry_sandbox, booked, order, command):
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
    ("mcp --per-booking EUR=200", "--per-booking"),
    ("mcp --until 2050-06-01T18:00", "--until"),
    ("ports --token abc", "--token"),
]


@pytest.mark.parametrize(("words", "option"), mostly_long(INVALID, short=4))
def test_invalid_command_line_names_the_option(cli, words, option):
    assert option in cli(*words.split(), code=2, COLUMNS="200").err


# ---- The address ------------------------------------------------------------------------------

ELSEWHERE = ["ports", "--base-url", "http://ferry.invalid"]


def test_plain_http_elsewhere_names_the_option(cli):
    message = cli(*ELSEWHERE, code=3).err
    assert "(FERRY_ALLOW_HTTP=1, ferry --allow-http)" in message
    assert "set FERRY_BASE_URL" not in message


@pytest.mark.parametrize(
    ("words", "variables"),
    [
        pytest.param(["--allow-http"], {}, id="option"),
        pytest.param([], {"FERRY_ALLOW_HTTP": "1"}, id="variable"),
    ],
)
def test_plain_http_elsewhere_may_be_allowed(cli, words, variables):
    error = cli(*ELSEWHERE, *words, "--json", code=3, **variables).document["error"]
    assert error["type"] == "ConnectionFailedError"


def test_address_with_extra_path_has_a_hint(cli, ferry_sandbox):
    message = cli("show", "b-1", "--base-url", f"{ferry_sandbox.base_url}/api", code=4).err
    assert "base_url ends in /api, but the client adds the path itself" in message
    assert "correct --base-url, or FERRY_BASE_URL" in message


def test_token_file_with_the_header_says_so(cli, tmp_path):
    (tmp_path / "token").write_text("Bearer t-1\n")
    (tmp_path / "token").chmod(0o600)
    message = cli("ports", "--token-file", "token", code=3).err
    assert 'expected the token alone, without "Bearer"' in message


# ---- Names ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["search", "ESTRF", "ITGOA", *STRAIT[3:]], id="search"),
        pytest.param(
            ["calendar", "ESTRF", "ITGOA", "--from", f"{DAY}", "--to", f"{DAY}", "--adult", "34F"],
            id="calendar",
        ),
    ],
)
def test_route_that_nobody_sails_is_an_error(cli, words):
    assert "no company sails" in cli(*words, code=3).err


def test_unknown_vehicle_has_similar_names(cli):
    message = cli("search", "ESTRF", "MATNG", *STRAIT[3:], "--vehicle", "golff", code=3).err
    assert "VOLKSWAGEN__GOLF" in message


def test_unknown_port_has_similar_names(cli):
    ended = cli("search", "Tarrifa", "MATNG", *STRAIT[3:], code=3)
    assert "did you mean Tarifa (ESTRF)?" in ended.err
    assert ended.out == ""


def test_ambiguous_port_names_its_field(cli):
    ended = cli("search", "Tanger", "ESTRF", *STRAIT[3:], "--json", code=3)
    error = ended.document["error"]
    assert (error["type"], error["field"]) == ("AmbiguousPlaceError", "origin")


@pytest.mark.parametrize("text", ["zzz", "!!!"], ids=["letters", "signs"])
@pytest.mark.parametrize("command", ["ports", "companies", "vehicles"])
def test_text_that_finds_nothing_is_an_error(cli, command, text):
    ended = cli(command, text, code=3)
    assert f"nothing is called '{text}'" in ended.err
    assert ended.out == ""


def test_document_without_a_match_is_an_empty_list(cli):
    assert cli("ports", "zzz", "--json", code=3).document == {"ports": []}


@pytest.fixture
def past_search():
    """The words of a search on a day that is past."""
    return ["search", "Tarifa", "MATNG", "--on", "2020-01-31", "--adult", "34F"]


def test_past_day_has_a_hint(cli, past_search):
    message = cli(*past_search, code=4).err
    assert "--on: 2020-01-31 is past" in message
    assert "fewer travellers" not in message


def test_document_has_the_hint_at_a_past_day(cli, past_search):
    error = cli(*past_search, "--json", code=4).document["error"]
    assert "2020-01-31" in error["hint"]


@pytest.fixture
def no_companies(ferry_sandbox, cache):
    """A service that names no company, because it has no MCP and no route is known."""
    (file,) = cache.iterdir()
    file.unlink()
    ferry_sandbox.mcp.set(is_absent=True)


@pytest.mark.usefixtures("no_companies")
def test_service_without_companies_wants_one(cli):
    assert "pass --company" in cli(*STRAIT, code=3).err


@pytest.mark.usefixtures("no_companies")
def test_named_company_is_asked(cli):
    assert "Baleària" in cli(*STRAIT, "--company", "BALEARIA").out


@pytest.mark.usefixtures("no_companies")
def test_unknown_company_is_named(cli):
    message = cli(*STRAIT, "--company", "NOBODY", code=4).err
    assert "There is no ferry company NOBODY" in message


# ---- Token files ------------------------------------------------------------------------------


@pytest.fixture
def token_file(ferry_sandbox, tmp_path):
    """A file with the token, which nobody else can read."""
    file = tmp_path / "token"
    file.write_text(f"{ferry_sandbox.token}\n", "utf-8")
    file.chmod(0o600)
    return file


@LONG
def test_token_comes_from_the_file_of_an_option(cli, token_file):
    assert cli("ports", "--token-file", str(token_file), FERRY_TOKEN="").err == ""


@LONG
def test_file_of_the_environment_is_before_its_token(cli, token_file):
    assert cli("ports", FERRY_TOKEN_FILE=str(token_file), FERRY_TOKEN="another").err == ""


@LONG
def test_token_file_of_windows_is_read(cli, ferry_sandbox, token_file):
    token_file.write_text(f"{ferry_sandbox.token}\r\n", "utf-8-sig", newline="")
    assert cli("ports", "--token-file", str(token_file)).err == ""


@LONG
def test_missing_token_file_cannot_be_read(cli):
    assert "cannot be read" in cli("ports", "--token-file", "nowhere", code=3).err


@LONG
@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param("\n", "is empty", id="empty"),
        pytest.param("one\nanother\n", "contains more than a token", id="two lines"),
    ],
)
def test_token_file_without_one_token_is_named(cli, token_file, content, problem):
    token_file.write_text(content, "utf-8")
    message = cli("ports", "--token-file", str(token_file), code=3).err
    assert f"{token_file}: {problem}" in message
    assert "another" not in message


@LONG
def test_folder_is_no_token_file_of_others(cli, tmp_path):
    assert "chmod" not in cli("ports", "--token-file", str(tmp_path), code=3).err


needs_posix = pytest.mark.skipif(os.name != "posix", reason="files have no such rights")


@needs_posix
def test_token_file_for_others_has_a_warning(cli, token_file):
    token_file.chmod(0o644)
    assert "chmod 600" in cli("ports", "--token-file", str(token_file)).err


@needs_posix
@pytest.mark.parametrize("words", ["book --yes --from", "ports --token-file"], ids=str.split)
def test_idle_pipe_blocks_no_command(cli, tmp_path, words):
    os.mkfifo(tmp_path / "pipe")
    cli(*words.split(), "pipe", code=Exit.NOT_SENT)


# ---- Extras -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "extra", "words"),
    mostly_long(
        [
            pytest.param("typer", "cli", ["ports"], id="cli"),
            pytest.param("mcp", "agents", ["mcp"], id="agents"),
            pytest.param(
                "sqlalchemy",
                "journal",
                ["journal", "list", "--journal", "sqlite:///ferry.db"],
                id="journal",
            ),
        ]
    ),
)
def test_missing_extra_is_named_in_one_line(tmp_path, module, extra, words):
    program = f"import sys; sys.modules[{module!r}] = None; from ferry_sdk.__main__ import main; "
    command = [sys.executable, "-c", f"{program}main()", *words]
    done = processes.run(command, cwd=tmp_path, new=True)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert f'pip install "ferry-sdk[{extra}]"' in done.stderr


# ---- Vouchers ---------------------------------------------------------------------------------


@pytest.fixture
def existing_voucher(ferry_sandbox, tmp_path):
    """A file of the name that a voucher gets; the ticket's number would leave the folder."""
    number = {"field": "ticket_number", "value": "../\u202e.bashrc"}
    ferry_sandbox.faults.add("unknown_enum", "tickets.get", times=None, **number)
    file = tmp_path / "ticket-_____bashrc.pdf"
    file.write_text("mine", "utf-8")
    return file


def test_voucher_replaces_no_existing_file(cli, ticket, existing_voucher):
    message = cli("voucher", ticket, code=3).err
    assert f"{existing_voucher.name} exists; --force replaces it" in message
    assert existing_voucher.read_text("utf-8") == "mine"


def test_voucher_replaces_no_existing_file_of_a_folder(cli, ticket, existing_voucher):
    folder = str(existing_voucher.parent)
    assert cli("voucher", ticket, "--to", folder, "--json", code=3).document
    assert existing_voucher.read_text("utf-8") == "mine"


@pytest.mark.slow
def test_voucher_replaces_a_file_with_force(cli, ticket, existing_voucher):
    cli("voucher", ticket, "--force")
    assert existing_voucher.read_bytes().startswith(b"%PDF-")


def test_missing_folder_of_a_voucher_is_one_line(cli, ticket):
    message = cli("voucher", ticket, "--to", "no/such/folder/v.pdf", code=3).err
    assert message.count("\n") == 1


def test_voucher_of_a_ticket_number_names_show(cli, ferry, ticket):
    number = ferry.tickets.get(ticket).ticket_number
    assert "`ferry show NUMBER`" in cli("voucher", number, code=4).err


def test_voucher_of_a_booking_names_its_tickets(cli, booked, ticket):
    message = cli("voucher", booked, code=3).err
    assert f"this is the id of a booking; run `ferry voucher {ticket}` (" in message


def test_cancelled_ticket_has_no_voucher(cli, ferry, ticket):
    ferry.tickets.cancel(ticket)
    assert "it is Canceled and has no voucher" in cli("voucher", ticket, code=3).err


def test_document_of_a_ticket_has_its_id_twice(cli, ticket):
    shown = cli("show", ticket, "--json").document["ticket"]
    assert (shown["ticket_id"], shown["id"]) == (ticket, ticket)


def test_tickets_of_a_booking_have_their_ids_twice(cli, booked, ticket):
    (shown,) = cli("show", booked, "--json").document["booking"]["tickets"]
    assert (shown["ticket_id"], shown["id"]) == (ticket, ticket)
