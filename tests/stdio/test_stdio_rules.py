"""Rules for a booking server over stdio, one after the other."""

import subprocess
import sys

import pytest
from mcp import MCPError

from ferry_sdk import ConfigurationError
from ferry_sdk.agents.stdio import run
from ferry_sdk.agents.stdio.run import take_token
from tests.agents.agent import WRITES, book, error, order, query, result_of, sailings
from tests.stdio.host import Person, command, environment
from tests.support import processes
from tests.support.tiers import LONG

pytestmark = LONG

CATALOGUES = ("ports", "journeys", "departures", "vehicle_brands", "vehicle_types")
READS = {
    *("trips_find", "places_find", "availability_search", "bookings_get", "bookings_cancel_fee"),
    *("tickets_get", "tickets_pdf", "mcp_companies", *(f"catalogue_{one}" for one in CATALOGUES)),
}


def test_writes_are_not_registered_unless_wanted_and_every_tool_is_described(hosts, ferry_sandbox):
    host = hosts(Person())
    assert set(host.tools()) == READS
    error(host.call("bookings_create", order(sailings(host)[0])), "writes_disabled")
    assert ferry_sandbox.counters.requests["bookings.create"] == 0
    more = {"FERRY_ORGANISATION_TOKEN": ferry_sandbox.organisation_token}
    host = hosts(Person(), "--writes", env={**environment(ferry_sandbox), **more})
    assert set(host.tools()) == READS | {one.replace(".", "_") for one in WRITES}
    for name, tool in host.tools().items():
        hints = tool.annotations
        assert tool.title
        assert tool.description
        assert tool.output_schema["type"] == "object"
        assert hints.read_only_hint is (name in READS)
        assert hints.idempotent_hint is (name in READS)
        assert hints.destructive_hint is (name not in {*READS, "bookings_create"})
    with pytest.raises(MCPError) as caught:  # a payment cannot be recorded
        host.call("tickets_mark_paid", {"ticket_id": "t1"})
    assert caught.value.code == -32602
    assert ferry_sandbox.counters.requests["tickets.mark_paid"] == 0


def test_the_client_is_read_only_too(hosts):
    code = (
        "from ferry_sdk.agents.stdio import run\n"
        "toolkit = run.AsyncToolkit\n"
        "run.AsyncToolkit = lambda ferry, **_: toolkit(ferry, writes=True, tools='all')\n"
        "run.serve()"
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
    named = {"FERRY_TOKEN_FILE": str(file), **bare}
    result_of(hosts(env=named).call("catalogue_ports"))
    result_of(hosts(None, "--token-file", str(file), env=bare).call("catalogue_ports"))


def test_tokens_are_removed_from_the_environment(monkeypatch, tmp_path):
    file = tmp_path / "token"
    file.write_text(" of-the-file\n", "utf-8")
    monkeypatch.setenv("FERRY_TOKEN", "of the environment")
    monkeypatch.setenv("FERRY_ORGANISATION_TOKEN", "of the organisation")
    monkeypatch.setenv("FERRY_TOKEN_FILE", str(file))
    again = take_token(None)
    shown = [sys.executable, "-c", "import os; print(*os.environ)"]
    inherited = subprocess.run(shown, capture_output=True, text=True, check=True).stdout.split()
    assert not {"FERRY_TOKEN", "FERRY_ORGANISATION_TOKEN"} & {*inherited}
    assert callable(again)
    assert again() == "of-the-file"
    file.write_text("another", "utf-8")
    assert again() == "another"
    with pytest.raises(ConfigurationError):
        take_token(tmp_path / "none")
    monkeypatch.delenv("FERRY_TOKEN_FILE")
    monkeypatch.setenv("FERRY_TOKEN", "of the environment")
    assert take_token(None) == "of the environment"
    with pytest.raises(ConfigurationError):
        take_token(None)


def test_a_missing_setting_or_an_invalid_token_file_ends_with_code_2_and_one_line(
    ferry_sandbox, tmp_path
):
    file, known = tmp_path / "token", environment(ferry_sandbox)
    without = {name: known[name] for name in known if name != "FERRY_TOKEN"}
    cases = [("FERRY_TOKEN", None, without), ("FERRY_BASE_URL", None, {"FERRY_TOKEN": "t"})]
    of_file = {"FERRY_TOKEN_FILE": str(file), "FERRY_BASE_URL": ferry_sandbox.base_url}
    cases += [(str(file), content, of_file) for content in (None, b"", b" \n", b"\xff\xfe\x00")]
    for words, content, given in cases:
        if content is not None:
            file.write_bytes(content)
        ended = processes.run(command(), env={"PATH": "", **given})
        assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
        assert words in ended.stderr, (words, content)
        assert ferry_sandbox.token not in ended.stderr


def test_an_invalid_limit_is_named(ferry_sandbox, monkeypatch, capsys):
    for name, value in environment(ferry_sandbox).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(run, "log_to_stderr", int)
    with pytest.raises(SystemExit) as caught:
        run.serve(spend_limit={"EUR": "a lot"})
    assert caught.value.code == 2
    written = capsys.readouterr()
    assert (written.out, written.err.count("\n")) == ("", 1)
    assert "spend_limit" in written.err


def test_the_text_of_an_unexpected_exception_is_hidden(hosts):
    code = (
        "from ferry_sdk.agents.stdio import serve\n"
        "from ferry_sdk.agents.toolkit import AsyncToolkit\n"
        "async def call(*_, **__): raise ValueError('the canary')\n"
        "AsyncToolkit.call = call\n"
        "serve()"
    )
    host = hosts(run=[sys.executable, "-c", code])
    with pytest.raises(Exception, match="Internal error") as caught:
        host.call("catalogue_ports")
    assert "canary" not in str(caught.value.__dict__)
    assert "ValueError" in host.stderr
    assert "canary" not in host.stderr


def test_every_result_conforms_to_the_schema_of_its_tool(hosts):
    """The official client validates structured results, and raises if one does not conform."""
    host = hosts(Person(), "--writes")
    provider = sailings(host)[0]["provider"]["id"]
    booking_id = book(host)["booking_id"]
    confirmed = result_of(host.call("bookings_confirm", {"booking_id": booking_id}))
    ticket = {"ticket_id": confirmed["ticket_id"]}
    calls = {name: {} for name in READS if name.startswith(("catalogue_", "mcp_"))} | {
        "availability_search": query(),
        "bookings_get": {"booking_id": booking_id},
        "bookings_cancel_fee": {"id": booking_id},
        "tickets_get": ticket,
        "tickets_pdf": ticket,
        "catalogue_departures": {"provider_id": provider},
    }
    tools, with_detail = host.tools(), 0
    for name, arguments in calls.items():
        result_of(host.call(name, arguments))
        if "detail" in tools[name].input_schema["properties"]:
            with_detail += 1
            result_of(host.call(name, {**arguments, "detail": "full"}))
    assert with_detail >= 3
