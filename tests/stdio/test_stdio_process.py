"""The server as a process: its output, its shutdown, and concurrent calls."""

import json
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import anyio
import anyio.to_thread
import pytest

from tests.agents.agent import error, order, result_of, sailings
from tests.backend.gathering import eventually
from tests.stdio.conftest import answer_of, command, environment
from tests.support.hold import Hold
from tests.support.processes import run, start
from tests.support.tiers import LONG, mostly_long

INITIALIZE = {"protocolVersion": "2025-11-25", "clientInfo": {"name": "test", "version": "1"}}
NOISY = """
import logging, os, sys
from ferry_sdk.agents.mcp_server import serve
from ferry_sdk.agents.toolkit import AsyncToolkit
call = AsyncToolkit.call
async def call_with_output(self, *arguments):
    print("stray words")
    os.write(1, b"stray bytes")
    sys.__stdout__.flush()
    try:
        raise ValueError("a canary")
    except ValueError:
        logging.getLogger("mcp.server").exception("it failed", stack_info=True)
    return await call(self, *arguments)
AsyncToolkit.call = call_with_output
serve(tools="all")
"""
CHANGED = """
from ferry_sdk.agents.mcp_server import elicitation, process, stdio
{} = {}
process.serve(tools="all", writes=True)
"""


PIPES = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | {"text": True}


class Pipes:
    def __init__(self, process):
        self.process = process
        self.output = ""
        self._id = 0

    def request(self, method, **params):
        self._id += 1
        self.send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        return self._id

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        self.output += line
        return json.loads(line)

    def reply_to(self, method, **params):
        number = self.request(method, **params)
        while (reply := self.receive()).get("id") != number:
            pass
        return reply

    def call(self, name, arguments=None):
        result = self.reply_to("tools/call", name=name, arguments=arguments or {})["result"]
        return json.loads(result["content"][0]["text"])

    def wait_for_end(self):
        output, errors = self.process.communicate(timeout=10)
        return self.output + output, errors


@contextmanager
def start_server(sandbox, run=None, *, new=False, capabilities=None):
    env = environment(sandbox)
    with start(run or command("--writes"), env=env, new=new, **PIPES) as process:
        try:
            spoken = Pipes(process)
            spoken.request("initialize", **{**INITIALIZE, "capabilities": capabilities or {}})
            assert spoken.receive()["result"]["protocolVersion"] == "2025-11-25"
            spoken.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            yield spoken
        finally:
            process.kill()


def test_stdout_carries_the_protocol_alone(ferry_sandbox):
    with start_server(ferry_sandbox, [sys.executable, "-c", NOISY]) as server:
        server.request("tools/call", name="catalogue_ports", arguments={})
        assert server.receive()["result"]["structuredContent"]["status"] == "done"
        output, errors = server.wait_for_end()
        assert server.process.returncode == 0
    assert [json.loads(line)["jsonrpc"] for line in output.splitlines()] == ["2.0", "2.0"]
    expected = ["stray words", "stray bytes", "ERROR mcp.server: it failed (ValueError)\n"]
    assert [words for words in expected if words not in errors] == []
    assert "canary" not in errors
    assert "Stack" not in errors


def test_no_output_has_the_token(ferry_sandbox):
    token = ferry_sandbox.token
    ferry_sandbox.faults.add("unauthorized", "catalogue.ports", times=None)
    with start_server(ferry_sandbox) as server:
        for junk in ("", "{", "[]", '"text"', "\x00", '{"jsonrpc": "2.0"}'):
            server.process.stdin.write(junk + "\n")
        assert server.reply_to("ping")["result"] == {}
        server.reply_to("tools/list")
        assert "error" in server.call("tickets_get", {"ticket_id": "none"})
        assert "error" in server.call("tickets_get", {"ticket_id": token})
        assert "error" in server.call("tickets_get", {"ticket_id": {"token": token}})
        assert "error" in server.call("catalogue_ports")
        assert "error" in server.reply_to("tools/call", name="no_such_tool", arguments={})
        assert server.reply_to("resources/read", uri="ferry://ports")["error"]
        ferry_sandbox.stop()
        assert "error" in server.call("catalogue_journeys")
        output, errors = server.wait_for_end()
    assert "no_such_tool" not in errors
    assert "Traceback" not in errors
    assert "INFO ferry_sdk: tool catalogue_ports: unauthorized (correlation id" in errors
    assert token not in output
    assert token not in errors


@pytest.mark.parametrize(
    "end",
    ["host", "input", signal.SIGINT, signal.SIGTERM],
    ids=["host", "input", "SIGINT", "SIGTERM"],
)
def test_a_signal_or_closed_pipe_ends_the_server(ferry_sandbox, end):
    ferry_sandbox.faults.add("delay_before", "catalogue.ports", seconds=30)
    with start_server(ferry_sandbox) as server:
        server.request("tools/call", name="catalogue_ports", arguments={})
        eventually(lambda: ferry_sandbox.counters.requests["catalogue.ports"])
        if end == "host":
            server.process.stdout.close()
            server.request("ping")
            time.sleep(0.2)
        if end in {"host", "input"}:
            server.process.stdin.close()
        else:
            server.process.send_signal(end)
        code = server.process.wait(timeout=10)
        assert code == 0 or end == "host"
        assert end in {"host", "input"} or server.process.stdout.read() == ""
        errors = server.process.stderr.read()
        assert "Traceback" not in errors
        assert "CRITICAL" not in errors


@pytest.mark.parametrize("reply", mostly_long(["null", "silence"]))
def test_a_question_without_an_answer_expires(ferry_sandbox, reply):
    run = [sys.executable, "-c", CHANGED.format("elicitation.VALID_FOR", 0.2)]
    with start_server(ferry_sandbox, run, capabilities={"elicitation": {}}) as server:
        server.request("tools/call", name="bookings_create", arguments=order(sailings(server)[0]))
        question = server.receive()
        assert question["method"] == "elicitation/create"
        if reply == "null":
            server.send({"jsonrpc": "2.0", "id": question["id"], "result": None})
        while "result" not in (answer := server.receive()):  # the question is withdrawn
            assert answer["method"].startswith("notifications/")
        error(json.loads(answer["result"]["content"][0]["text"]), "approval_expired")
        (box,) = question["params"]["requestedSchema"]["properties"]
        late = {"action": "accept", "content": {box: True}}
        server.send({"jsonrpc": "2.0", "id": question["id"], "result": late})
        server.reply_to("ping")
    assert ferry_sandbox.counters.effects == ()


@LONG
def test_a_host_that_never_reads_stderr_is_served(ferry_sandbox):
    """A pipe holds 64 KiB, about 650 lines; a write to a full pipe blocks."""
    with start_server(ferry_sandbox, new=True) as server:
        for _ in range(1_600):
            server.request("tools/call", name="no_such_tool", arguments={})
            assert server.receive()["error"]["code"] == -32602
        server.process.stdin.close()
        assert server.process.wait(timeout=10) == 0
        errors = server.process.stderr.read()
    assert errors.count("INFO ferry_sdk: tool ?: unknown_tool") > 300


@LONG
def test_two_signals_end_the_server_at_once(ferry_sandbox):
    run = [sys.executable, "-c", CHANGED.format("stdio._GRACE", 3600)]
    with start_server(ferry_sandbox, run) as server:
        begin_write(server, ferry_sandbox, seconds=60)
        while server.process.poll() is None:
            server.process.send_signal(signal.SIGINT)
            time.sleep(0.2)
        assert "tool bookings_create: interrupted" in server.process.stderr.read()


def begin_write(server, sandbox, seconds):
    asked = order(sailings(server)[0])
    code = server.call("bookings_create", asked)["approval"]["confirmation_code"]
    sandbox.faults.add("delay_after", "bookings.create", seconds=seconds)
    asked["confirmation_code"] = code
    server.request("tools/call", name="bookings_create", arguments=asked)
    eventually(lambda: sandbox.counters.effects)


@pytest.mark.parametrize("number", mostly_long([None, signal.SIGINT, signal.SIGTERM]))
@pytest.mark.parametrize("seconds", mostly_long([0.3, 60]))
def test_the_audit_has_a_write_in_progress(ferry_sandbox, number, seconds, tmp_path):
    """Hosts close the input, wait, send SIGTERM and wait again before they kill."""
    audit = tmp_path / "audit.jsonl"
    run = command("--writes", "--audit", str(audit))
    with start_server(ferry_sandbox, run) as server:
        begin_write(server, ferry_sandbox, seconds)
        if number:
            server.process.send_signal(number)
        output, errors = server.wait_for_end()
        assert server.process.returncode == 0
    text = audit.read_text("utf-8")
    *others, last = [json.loads(line) for line in text.splitlines()]
    assert "Okonkwo" not in text
    assert ferry_sandbox.token not in text
    if seconds == 60:
        assert "INFO ferry_sdk: tool bookings_create: interrupted (correlation id" in errors
        assert (last["code"], last["outcome"]) == ("interrupted", "unknown")
        return
    assert "INFO ferry_sdk: tool bookings_create: done (correlation id" in errors
    reply = json.loads(output.splitlines()[-1])
    assert reply["result"]["structuredContent"]["status"] == "done"
    assert audit.stat().st_mode & 0o777 == 0o600
    assert [one["tool"] for one in others] == ["availability_search", "bookings_create"]
    assert (last["tool"], last["outcome"]) == ("bookings_create", "done")
    assert last["subject"]["booking_id"] == ferry_sandbox.counters.effects[0].subject
    assert float(last["amount"]) > 0
    assert last["at"]


def refuses_audit(sandbox, path, problem):
    ended = run(command("--audit", str(path)), env=environment(sandbox))
    assert ended.returncode == 2
    assert "ferry_sdk: audit: " in ended.stderr
    assert problem in ended.stderr


def test_an_audit_file_for_others_is_refused(ferry_sandbox, tmp_path):
    audit = tmp_path / "audit.jsonl"
    audit.touch()
    audit.chmod(0o644)
    refuses_audit(ferry_sandbox, audit, "chmod 600")


def test_a_folder_is_no_audit_file(ferry_sandbox, tmp_path):
    refuses_audit(ferry_sandbox, tmp_path, "cannot be written")


def test_a_link_is_no_audit_file(ferry_sandbox, tmp_path):
    link = tmp_path / "link.jsonl"
    link.symlink_to(tmp_path / "new.jsonl")
    refuses_audit(ferry_sandbox, link, "cannot be written")
    assert not (tmp_path / "new.jsonl").exists()


def test_a_record_of_the_log_is_one_line():
    code = """
import logging
from ferry_sdk.agents.mcp_server.stderr_log import log_to_stderr
log_to_stderr()
try:
    raise ValueError("a secret")
except ValueError:
    message = "B1 %s\\nERROR ferry_sdk: forged"
    logging.getLogger("ferry_sdk").exception(message, "\\x1b[2J\\x9b\\u202e")
"""
    done = run([sys.executable, "-c", code])
    record = r"B1 \x1b[2J\x9b\u202e ERROR ferry_sdk: forged (ValueError)"
    assert done.stderr == f"ERROR ferry_sdk: {record}\n"


def test_a_slow_call_does_not_delay_another(hosts, ferry_sandbox):
    host = hosts()
    hold = Hold(ferry_sandbox, "catalogue.ports")
    slow = host.start_call("catalogue_ports", {})
    eventually(lambda: hold.held)
    others = [host.start_call("catalogue_vehicle_types", {}) for _ in range(5)]
    try:
        for other in others:
            result_of(answer_of(other.result(timeout=30)))
        assert not slow.done()
    finally:
        hold.release()
    result_of(answer_of(slow.result()))


def test_a_write_that_the_host_cancelled_is_unresolved(hosts, ferry_sandbox):
    host = hosts(None, "--writes")
    asked = order(sailings(host)[0])
    code = host.call("bookings_create", asked)["approval"]["confirmation_code"]
    ferry_sandbox.faults.add("delay_after", "bookings.create", seconds=5)

    async def give_up():
        with anyio.move_on_after(10) as scope:
            async with anyio.create_task_group() as group:
                again = {**asked, "confirmation_code": code}
                group.start_soon(host.client.call_tool, "bookings_create", again)
                await anyio.to_thread.run_sync(eventually, lambda: ferry_sandbox.counters.effects)
                scope.cancel()

    host.wait(give_up)
    while (answer := host.call("bookings_create", asked))["error"]["code"] == "under_way":
        time.sleep(0.05)
    error(answer, "outcome_unknown")
    assert ferry_sandbox.counters.requests["bookings.create"] == 1
