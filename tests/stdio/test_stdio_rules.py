"""Rules for a booking server over stdio, one after the other."""

import subprocess
import sys
from datetime import datetime, timedelta

import pytest
from mcp import MCPError
from mcp.types import ElicitResult

from ferry_sdk import ConfigurationError
from ferry_sdk.agents.mcp_server import process
from ferry_sdk.agents.mcp_server.process import take_token
from tests.agents.agent import WRITES, book, error, order, query, result_of, sailings
from tests.backend.gathering import eventually
from tests.stdio.conftest import NO, YES, Person, command, environment
from tests.support import processes
from tests.support.operations import OPERATIONS
from tests.support.tiers import LONG

pytestmark = LONG

CATALOGUES = {name.replace(".", "_") for name in OPERATIONS if name.startswith("catalogue.")}
READS = CATALOGUES | {
    "trips_find",
    "places_find",
    "availability_search",
    "bookings_get",
    "bookings_cancel_fee",
    "tickets_get",
    "tickets_pdf",
    "mcp_companies",
}
WRITE_TOOLS = {name.replace(".", "_") for name in WRITES}


def test_without_writes_the_tools_only_read(hosts, ferry_sandbox):
    host = hosts(Person())
    assert set(host.tools()) == READS
    error(host.call("bookings_create", order(sailings(host)[0])), "writes_disabled")
    assert ferry_sandbox.counters.requests["bookings.create"] == 0


def test_writes_are_registered_with_hints(hosts, ferry_sandbox):
    more = {"FERRY_ORGANISATION_TOKEN": ferry_sandbox.organisation_token}
    host = hosts(Person(), "--writes", env={**environment(ferry_sandbox), **more})
    tools = host.tools()
    assert set(tools) == READS | WRITE_TOOLS
    assert {name for name, tool in tools.items() if tool.annotations.read_only_hint} == READS
    assert {name for name, tool in tools.items() if tool.annotations.idempotent_hint} == READS
    destructive = {name for name, tool in tools.items() if tool.annotations.destructive_hint}
    assert destructive == WRITE_TOOLS - {"bookings_create"}
    assert all(tool.title and tool.description for tool in tools.values())
    assert {tool.output_schema["type"] for tool in tools.values()} == {"object"}
    with pytest.raises(MCPError) as caught:  # a payment cannot be recorded
        host.call("tickets_mark_paid", {"ticket_id": "t1"})
    assert caught.value.code == -32602
    assert ferry_sandbox.counters.requests["tickets.mark_paid"] == 0


def test_a_read_only_client_offers_no_writes(hosts):
    code = (
        "from ferry_sdk.agents.mcp_server import process\n"
        "toolkit = process.AsyncToolkit\n"
        "process.AsyncToolkit = lambda ferry, **_: toolkit(ferry, writes=True, tools='all')\n"
        "process.serve()"
    )
    assert set(hosts(run=[sys.executable, "-c", code]).tools()) == READS


@pytest.mark.parametrize("hosts", ["legacy"], indirect=True)  # else nothing comes back at all
def test_a_host_that_fails_to_ask_sends_nothing(hosts, ferry_sandbox):
    def fails():
        raise ConnectionError

    host = hosts(Person(fails), "--writes")
    error(host.call("bookings_create", order(sailings(host)[0])), "approval_failed")
    assert ferry_sandbox.counters.effects == ()


def test_the_token_comes_from_a_file(hosts, ferry_sandbox, tmp_path):
    file = tmp_path / "token"
    file.write_text(f"{ferry_sandbox.token}\n", "utf-8")
    bare = {"FERRY_BASE_URL": ferry_sandbox.base_url}
    result_of(hosts(env={"FERRY_TOKEN_FILE": str(file), **bare}).call("catalogue_ports"))
    result_of(hosts(None, "--token-file", str(file), env=bare).call("catalogue_ports"))


@pytest.fixture
def token_file(tmp_path):
    file = tmp_path / "token"
    file.write_text(" of-the-file\n", "utf-8")
    return file


@pytest.fixture
def tokens_in_environment(monkeypatch):
    monkeypatch.setenv("FERRY_TOKEN", "of the environment")
    monkeypatch.setenv("FERRY_ORGANISATION_TOKEN", "of the organisation")


@pytest.mark.usefixtures("tokens_in_environment")
def test_tokens_are_removed_from_the_environment():
    take_token(None)
    names = [sys.executable, "-c", "import os; print(*os.environ)"]
    inherited = subprocess.run(names, capture_output=True, text=True, check=True).stdout.split()
    assert not {"FERRY_TOKEN", "FERRY_ORGANISATION_TOKEN"} & {*inherited}


@pytest.mark.usefixtures("tokens_in_environment")
def test_the_file_is_read_again_at_each_call(monkeypatch, token_file):
    monkeypatch.setenv("FERRY_TOKEN_FILE", str(token_file))
    token = take_token(None)
    assert callable(token)
    assert token() == "of-the-file"
    token_file.write_text("another", "utf-8")
    assert token() == "another"


@pytest.mark.usefixtures("tokens_in_environment")
def test_a_file_that_is_missing_is_refused(tmp_path):
    with pytest.raises(ConfigurationError):
        take_token(tmp_path / "none")


@pytest.mark.usefixtures("tokens_in_environment")
def test_the_token_may_be_in_the_environment():
    assert take_token(None) == "of the environment"


def test_a_token_is_needed():
    with pytest.raises(ConfigurationError):
        take_token(None)


def ends_with_code_2(words, env):
    """Run the server, and assert that it ends with one line on stderr that has these words."""
    ended = processes.run(command(), env={"PATH": "", **env})
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
    assert words in ended.stderr
    return ended.stderr


@pytest.mark.parametrize("missing", ["FERRY_TOKEN", "FERRY_BASE_URL"])
def test_a_missing_setting_ends_with_code_2(ferry_sandbox, missing):
    known = environment(ferry_sandbox)
    settings = {name: known[name] for name in known if name != missing}
    stderr = ends_with_code_2(missing, settings)
    assert ferry_sandbox.token not in stderr


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(None, id="missing"),
        pytest.param(b"", id="empty"),
        pytest.param(b" \n", id="blank"),
        pytest.param(b"\xff\xfe\x00", id="no text"),
    ],
)
def test_an_unusable_token_file_ends_with_code_2(ferry_sandbox, tmp_path, content):
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
        file.chmod(0o600)  # one that others can read is warned of
    settings = {"FERRY_TOKEN_FILE": str(file), "FERRY_BASE_URL": ferry_sandbox.base_url}
    ends_with_code_2(str(file), settings)


def test_an_invalid_limit_ends_with_code_2(ferry_sandbox, monkeypatch, capsys):
    for name, value in environment(ferry_sandbox).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(process, "log_to_stderr", int)
    with pytest.raises(SystemExit) as caught:
        process.serve(spend_limit={"EUR": "a lot"})
    assert caught.value.code == 2
    written = capsys.readouterr()
    assert (written.out, written.err.count("\n")) == ("", 1)
    assert "spend_limit" in written.err


def test_every_result_conforms_to_its_schema(hosts):
    """The official client validates structured results, and raises if one does not conform."""
    host = hosts(Person(), "--writes")
    provider = sailings(host)[0]["provider"]["id"]
    booking_id = book(host)["booking_id"]
    confirmed = result_of(host.call("bookings_confirm", {"booking_id": booking_id}))
    ticket = {"ticket_id": confirmed["ticket_id"]}
    tools = host.tools()
    calls = {name: {} for name, tool in tools.items() if "required" not in tool.input_schema} | {
        "availability_search": query(),
        "bookings_get": {"booking_id": booking_id},
        "bookings_cancel_fee": {"id": booking_id},
        "tickets_get": ticket,
        "tickets_pdf": ticket,
        "catalogue_departures": {"provider_id": provider},
    }
    with_detail = [name for name in calls if "detail" in tools[name].input_schema["properties"]]
    assert len(with_detail) >= 3
    for name, arguments in calls.items():
        result_of(host.call(name, arguments))
    for name in with_detail:
        result_of(host.call(name, {**calls[name], "detail": "full"}))


def test_the_text_of_an_exception_is_hidden(hosts):
    code = (
        "from ferry_sdk.agents.mcp_server import serve\n"
        "from ferry_sdk.agents.toolkit import AsyncToolkit\n"
        "async def call(*_, **__): raise ValueError('the canary')\n"
        "AsyncToolkit.call = call\n"
        "serve()"
    )
    host = hosts(run=[sys.executable, "-c", code])
    with pytest.raises(Exception, match="Internal error") as caught:
        host.call("catalogue_ports")
    assert "canary" not in str(caught.value.__dict__)
    eventually(lambda: "ValueError" in host.stderr)
    assert "canary" not in host.stderr


def test_no_write_takes_a_code_beside_a_person(hosts):
    tools = hosts(Person(), "--writes").tools()
    writes = [tools[name] for name in WRITE_TOOLS]
    schemas = [(tool.input_schema["properties"], str(tool.output_schema)) for tool in writes]
    assert [one for one in schemas if "confirmation_code" in one[0]] == []
    assert [one for one in schemas if "confirmation_code" in one[1]] == []
    assert [tool.name for tool in writes if "code" in tool.description] == []


def test_without_a_person_every_write_takes_a_code(hosts):
    tools = hosts(None, "--writes").tools()
    writes = [tools[name] for name in WRITE_TOOLS]
    properties = [tool.input_schema["properties"] for tool in writes]
    assert [one for one in properties if "confirmation_code" not in one] == []
    assert [tool.name for tool in writes if "confirmation_code" not in tool.description] == []


def test_a_guess_is_no_approval(hosts, ferry_sandbox):
    person = Person()
    host = hosts(person, "--writes")
    wanted = order(sailings(host)[0])
    guesses = [
        ("confirmation_code", "BCDFGHJKLM"),
        ("confirmation_code", "yes"),
        ("confirmation_code", True),
        ("confirmation_code", {"approve": True}),
        ("ok", {"approve": True}),
        ("approval", {"approve": True}),
        ("approve", {"approve": True}),
        ("approved", {"approve": True}),
        ("inputResponses", {"approve": True}),
        ("requestState", {"approve": True}),
    ]
    for field, value in guesses:  # one server for all
        refused = host.call("bookings_create", {**wanted, field: value})
        assert error(refused, "invalid_arguments")["field"] == field
    assert person.shown == []
    assert ferry_sandbox.counters.effects == ()


def test_a_person_who_declines_is_asked_twice(hosts, ferry_sandbox):
    person = Person(NO)
    host = hosts(person, "--writes")
    contact = {"name": "Noel Okonkwo", "email": "noel@example.org"}
    arguments = order(sailings(host)[0], contact=contact)
    for _ in range(4):
        error(host.call("bookings_create", arguments), "declined")
    assert len(person.shown) == 2
    assert '\nContact: "Noel Okonkwo", "noel@example.org"' in person.shown[0]
    assert ferry_sandbox.counters.effects == ()


def test_an_approval_is_for_one_price(hosts, ferry_sandbox):
    """The fee rises before the person answers, so the approval is for another question."""
    person = Person()
    host = hosts(person, "--writes")
    which = {"booking_id": book(host)["booking_id"]}
    confirmed = result_of(host.call("bookings_confirm", which))
    ticket = result_of(host.call("tickets_get", {"ticket_id": confirmed["ticket_id"]}))
    leaving = ticket["availability"]["outward"]["journey"]["depart_at"]
    late = datetime.fromisoformat(leaving) - timedelta(hours=12)

    def penalty():
        fee = result_of(host.call("bookings_cancel_fee", {"id": which["booking_id"]}))
        return f"{fee['penalty_amount']} EUR"

    def yes_but_late():
        ferry_sandbox.clock.travel_to(late)
        person.answer = NO
        return YES

    before = penalty()
    person.answer = yes_but_late
    refused = host.call("bookings_cancel", which)["error"]
    assert before != penalty()
    assert before in person.shown[2]
    if hosts.era == "modern":  # asked again in the same call
        assert refused["code"] == "declined"
        assert penalty() in person.shown[3]
    else:
        assert refused["code"] == "penalty_exceeded"
        assert len(person.shown) == 3
    assert ferry_sandbox.counters.effects_of("bookings.cancel") == ()
    person.answer = YES
    after = penalty()
    result_of(host.call("bookings_cancel", which))
    assert after in person.shown[-1]


def test_a_recorded_approval_answers_no_other_question(hosts, ferry_sandbox, tmp_path):
    """Some hosts answer each new question with the answer to an earlier one, as LangGraph does."""
    person, audit = Person(), tmp_path / "audit.jsonl"
    host = hosts(person, "--writes", "--audit", str(audit))
    booking = {"booking_id": book(host)["booking_id"]}
    recorded = ElicitResult(action="accept", content={person.boxes[0]: True})
    for answer in (recorded, ElicitResult(action="accept", content={"approve_": True})):
        person.answer, before = answer, len(person.shown)
        if hosts.era == "modern":  # each question is a call of its own, and the client gives up
            with pytest.raises(Exception, match="round"):
                host.call("bookings_confirm", booking)
        else:
            error(host.call("bookings_confirm", booking), "approval_failed")
        assert len(person.shown) > before + 1
        assert len({*person.boxes}) == 2
    assert '"code": "declined"' in audit.read_text("utf-8") or hosts.era == "legacy"
    assert len(ferry_sandbox.counters.effects) == 1
    person.answer = YES
    result_of(host.call("bookings_confirm", booking))
