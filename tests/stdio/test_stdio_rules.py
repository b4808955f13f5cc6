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


READS = {
    "trips_find",
    "places_find",
    "availability_search",
    "bookings_get",
    "bookings_cancel_fee",
    "tickets_get",
    "tickets_pdf",
    "catalogue_ports",
    "catalogue_journeys",
    "catalogue_departures",
    "catalogue_vehicle_brands",
    "catalogue_vehicle_types",
    "mcp_companies",
}


def run_server(sandbox, *options, env=None):
    """Run the server by itself until it ends."""
    found = {"PATH": "", **(environment(sandbox) if env is None else env)}
    return processes.run(command(*options), env=found)


class TestReadOnlyDefault:
    def test_writes_are_not_registered(self, hosts, ferry_sandbox):
        host = hosts(Person())
        assert set(host.tools()) == READS
        error(host.call("bookings_create", order(sailings(host)[0])), "writes_disabled")
        assert ferry_sandbox.counters.requests["bookings.create"] == 0
        assert set(hosts(None, "--writes").tools()) == READS | {
            one.replace(".", "_") for one in WRITES
        }

    def test_the_client_is_read_only_too(self, hosts):
        code = (
            "from ferry_sdk.agents.stdio import run\n"
            "toolkit = run.AsyncToolkit\n"
            "run.AsyncToolkit = lambda ferry, **_: toolkit(ferry, writes=True, tools='all')\n"
            "run.serve()"
        )
        assert set(hosts(run=[sys.executable, "-c", code]).tools()) == READS


class TestAnnotations:
    def test_every_tool_has_annotations(self, hosts):
        for name, tool in hosts(None, "--writes").tools().items():
            hints = tool.annotations
            assert tool.title
            assert tool.description
            assert hints.read_only_hint is (name in READS)
            assert hints.idempotent_hint is (name in READS)
            assert hints.destructive_hint is (name not in {*READS, "bookings_create"})


class TestConfirmation:
    @pytest.mark.parametrize("hosts", ["legacy"], indirect=True)  # else nothing comes back at all
    def test_a_host_that_fails_to_ask_sends_nothing(self, hosts, ferry_sandbox):
        def fails():
            raise ConnectionError

        host = hosts(Person(fails), "--writes")
        error(host.call("bookings_create", order(sailings(host)[0])), "approval_failed")
        assert ferry_sandbox.counters.effects == ()


class TestMarkPaid:
    def test_a_payment_cannot_be_recorded(self, hosts, ferry_sandbox):
        more = {"FERRY_ORGANISATION_TOKEN": ferry_sandbox.organisation_token}
        host = hosts(Person(), "--writes", env={**environment(ferry_sandbox), **more})
        assert not any("paid" in name for name in host.tools())
        with pytest.raises(MCPError) as caught:
            host.call("tickets_mark_paid", {"ticket_id": "t1"})
        assert caught.value.code == -32602
        assert ferry_sandbox.counters.requests["tickets.mark_paid"] == 0


class TestToken:
    def test_the_token_comes_from_a_file(self, hosts, ferry_sandbox, tmp_path):
        file = tmp_path / "token"
        file.write_text(f"{ferry_sandbox.token}\n", "utf-8")
        named = {"FERRY_TOKEN_FILE": str(file), "FERRY_BASE_URL": ferry_sandbox.base_url}
        result_of(hosts(env=named).call("catalogue_ports"))
        bare = {"FERRY_BASE_URL": ferry_sandbox.base_url}
        result_of(hosts(None, "--token-file", str(file), env=bare).call("catalogue_ports"))

    def test_tokens_are_removed_from_the_environment(self, monkeypatch, tmp_path):
        file = tmp_path / "token"
        file.write_text(" of-the-file\n", "utf-8")
        monkeypatch.setenv("FERRY_TOKEN", "of the environment")
        monkeypatch.setenv("FERRY_ORGANISATION_TOKEN", "of the organisation")
        monkeypatch.setenv("FERRY_TOKEN_FILE", str(file))
        again = take_token(None)
        inherited = subprocess.run(
            [sys.executable, "-c", "import os; print(*os.environ)"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        assert "FERRY_TOKEN" not in inherited
        assert "FERRY_ORGANISATION_TOKEN" not in inherited
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

    @pytest.mark.parametrize("missing", ["FERRY_TOKEN", "FERRY_BASE_URL"])
    def test_a_missing_setting_prints_one_line_and_ends_with_code_2(self, ferry_sandbox, missing):
        given = {k: v for k, v in environment(ferry_sandbox).items() if k != missing}
        ended = run_server(ferry_sandbox, env=given)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert ended.stderr.count("\n") == 1
        assert missing in ended.stderr
        assert ferry_sandbox.token not in ended.stderr

    @pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe\x00"])
    def test_an_invalid_token_file_is_named(self, ferry_sandbox, tmp_path, content):
        file = tmp_path / "token"
        if content is not None:
            file.write_bytes(content)
        given = {"FERRY_TOKEN_FILE": str(file), "FERRY_BASE_URL": ferry_sandbox.base_url}
        ended = run_server(ferry_sandbox, env=given)
        assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
        assert str(file) in ended.stderr

    def test_an_invalid_limit_is_named(self, ferry_sandbox, monkeypatch, capsys):
        for name, value in environment(ferry_sandbox).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(run, "log_to_stderr", int)
        with pytest.raises(SystemExit) as caught:
            run.serve(spend_limit={"EUR": "a lot"})
        assert caught.value.code == 2
        written = capsys.readouterr()
        assert (written.out, written.err.count("\n")) == ("", 1)
        assert "spend_limit" in written.err


class TestErrors:
    def test_the_text_of_an_unexpected_exception_is_hidden(self, hosts):
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


class TestOutputSchemas:
    def test_every_tool_has_an_output_schema_and_every_result_conforms(self, hosts):
        """The official client validates structured results, and raises if one does not conform."""
        host = hosts(Person(), "--writes")
        provider = sailings(host)[0]["provider"]["id"]
        assert all(tool.output_schema["type"] == "object" for tool in host.tools().values())
        booking = book(host)
        named = {"booking_id": booking["booking_id"]}
        ticket = {"ticket_id": result_of(host.call("bookings_confirm", named))["ticket_id"]}
        calls = {
            "availability_search": query(),
            "bookings_get": named,
            "bookings_cancel_fee": {"id": booking["booking_id"]},
            "tickets_get": ticket,
            "tickets_pdf": ticket,
            "catalogue_departures": {"provider_id": provider},
        }
        calls |= {
            name: {} for name in READS - calls.keys() if name.startswith(("catalogue_", "mcp_"))
        }
        with_detail = 0
        for name, arguments in calls.items():
            result_of(host.call(name, arguments))
            if "detail" in host.tools()[name].input_schema["properties"]:
                with_detail += 1
                result_of(host.call(name, {**arguments, "detail": "full"}))
        assert with_detail >= 3
