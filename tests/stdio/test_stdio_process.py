"""The server as a process: what it writes where, how it ends, many calls at once."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from types import SimpleNamespace

import anyio
import anyio.to_thread
import pytest

from tests.agents.agent import done, error, order, sailings
from tests.stdio.host import answer_of, command, environment
from tests.support.processes import start
from tests.support.tiers import LONG, mostly_long

INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
NOISY = """
import logging, os, sys
from ferry_sdk.agents.stdio import serve
from ferry_sdk.agents.toolkit import AsyncToolkit
call = AsyncToolkit.call
async def noisily(self, *arguments):
    print("stray words")
    os.write(1, b"stray bytes")
    sys.__stdout__.flush()
    try:
        raise ValueError("a canary")
    except ValueError:
        logging.getLogger("mcp.server").exception("it failed", stack_info=True)
    return await call(self, *arguments)
AsyncToolkit.call = noisily
serve()
"""
PATIENT = """
from ferry_sdk.agents.stdio import run
run._GRACE = 3600
run.serve(writes=True)
"""


class Line:
    """The server at the other end of two pipes, spoken to in plain JSON-RPC."""

    def __init__(self, process):
        self.process = process
        self.said = ""
        self._id = 0

    def asks(self, method, **params):
        self._id += 1
        self.sends({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        return self._id

    def sends(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def hears(self):
        line = self.process.stdout.readline()
        self.said += line
        return json.loads(line)

    def ends(self):
        """Everything it wrote to stdout and to stderr, once it has ended by itself."""
        said, errors = self.process.communicate(timeout=10)
        return self.said + said, errors


def until(happened):
    """Wait for something that another thread or process does."""
    while not happened():
        time.sleep(0.01)


@contextmanager
def line(env, run=None, *, new=False):
    pipe = subprocess.PIPE
    with start(
        run or command("--writes"),
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        env=env,
        text=True,
        new=new,
    ) as process:
        try:
            spoken = Line(process)
            spoken.asks("initialize", **INITIALIZE)
            assert spoken.hears()["result"]["protocolVersion"] == "2025-11-25"
            spoken.sends({"jsonrpc": "2.0", "method": "notifications/initialized"})
            yield spoken
        finally:
            process.kill()


def test_stdout_carries_the_protocol_and_nothing_else(ferry_sandbox):
    with line(environment(ferry_sandbox), [sys.executable, "-c", NOISY]) as server:
        server.asks("tools/call", name="catalogue_ports", arguments={})
        assert server.hears()["result"]["structuredContent"]["status"] == "done"
        said, errors = server.ends()
        assert server.process.returncode == 0
    assert [json.loads(one)["jsonrpc"] for one in said.splitlines()] == ["2.0", "2.0"]
    assert "stray words" in errors
    assert "stray bytes" in errors
    assert "ERROR mcp.server: it failed\n(ValueError)\n" in errors
    assert "canary" not in errors
    assert "Stack" not in errors


def test_what_is_no_message_does_not_end_it(ferry_sandbox):
    with line(environment(ferry_sandbox), new=True) as server:
        for junk in ("", "{", "[]", '"text"', "\x00", '{"jsonrpc": "2.0"}'):
            server.process.stdin.write(junk + "\n")
        number = server.asks("ping")
        while (reply := server.hears()).get("id") != number:
            pass
        assert reply["result"] == {}
        _, errors = server.ends()
    assert "Traceback" not in errors


def test_the_token_is_in_no_output(ferry_sandbox):
    token = ferry_sandbox.token
    calls = [
        ("tickets_get", {"ticket_id": "none"}),
        ("tickets_get", {"ticket_id": token}),
        ("tickets_get", {"ticket_id": {"token": token}}),
        ("catalogue_ports", {}),
        ("no_such_tool", {}),
    ]
    ferry_sandbox.faults.add("unauthorized", "catalogue.ports", times=None)
    with line(environment(ferry_sandbox)) as server:
        server.asks("tools/list")
        server.hears()
        for name, arguments in calls:
            server.asks("tools/call", name=name, arguments=arguments)
            assert server.hears()["result"]["isError"]
        server.asks("resources/read", uri="ferry://ports")
        assert server.hears()["error"]
        ferry_sandbox.stop()
        server.asks("tools/call", name="catalogue_journeys", arguments={})
        assert server.hears()["result"]["isError"]
        said, errors = server.ends()
    assert "no_such_tool" not in errors
    assert "INFO ferry_sdk: tool catalogue_ports: unauthorized (correlation id" in errors
    assert token not in said
    assert token not in errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it(ferry_sandbox, number):
    ferry_sandbox.faults.add("delay_before", "catalogue.ports", seconds=30)
    with line(environment(ferry_sandbox)) as server:
        server.asks("tools/call", name="catalogue_ports", arguments={})
        until(lambda: ferry_sandbox.counters.requests["catalogue.ports"])
        server.process.send_signal(number)
        assert server.process.wait(timeout=10) == 0
        assert server.process.stdout.read() == ""
        assert "Traceback" not in server.process.stderr.read()


def test_the_end_of_its_input_ends_it(ferry_sandbox):
    ferry_sandbox.faults.add("delay_before", "catalogue.ports", seconds=30)
    with line(environment(ferry_sandbox)) as server:
        server.asks("tools/call", name="catalogue_ports", arguments={})
        until(lambda: ferry_sandbox.counters.requests["catalogue.ports"])
        _, errors = server.ends()
        assert server.process.returncode == 0
    assert "Traceback" not in errors


def test_a_host_that_is_gone_ends_it(ferry_sandbox):
    with line(environment(ferry_sandbox)) as server:
        server.process.stdout.close()
        server.asks("ping")
        time.sleep(0.2)
        server.process.stdin.close()
        server.process.wait(timeout=10)
        assert "Traceback" not in server.process.stderr.read()


@LONG
def test_a_host_that_never_reads_stderr_is_served(ferry_sandbox):
    """A pipe takes 64 KiB, about 650 lines; whoever writes more waits for somebody who reads."""
    with line(environment(ferry_sandbox)) as server:
        for _ in range(1_600):
            server.asks("tools/call", name="no_such_tool", arguments={})
            assert server.hears()["result"]["isError"]
        server.process.stdin.close()
        assert server.process.wait(timeout=10) == 0
        errors = server.process.stderr.read()
    assert errors.count("INFO ferry_sdk: tool ?: unknown_tool") > 300


@LONG
def test_a_host_that_reads_stderr_late_is_told_what_was_dropped(tmp_path):
    code = """
import logging, os, sys, time
from ferry_sdk.agents.stdio.run import log_to_stderr
log_to_stderr()
for number in range(5_000):
    logging.getLogger("ferry_sdk").info("line %d", number)
sys.stdout.write("written\\n")
sys.stdout.flush()
sys.stdin.readline()
while logging.getLogger().handlers[0]._lines.unfinished_tasks:
    time.sleep(0.01)
logging.getLogger("ferry_sdk").info("the last line")
""".replace("\\\\", "\\")
    pipe = subprocess.PIPE
    with start(
        [sys.executable, "-c", code], stdin=pipe, stdout=pipe, stderr=pipe, text=True
    ) as process:
        assert process.stdout.readline() == "written\n"
        _, errors = process.communicate("\n", timeout=30)
    lines = errors.splitlines()
    assert "INFO ferry_sdk: line 0" in lines[0]
    assert lines[-1] == "INFO ferry_sdk: the last line"
    (dropped,) = (int(one.split()[2]) for one in lines if one.endswith("were dropped"))
    assert len(lines) - 2 + dropped == 5_000


def begun_write(server, sandbox, seconds):
    """A booking that was asked for, and whose effect is there without its reply."""

    def call(name, arguments=None):
        number = server.asks("tools/call", name=name, arguments=arguments or {})
        while (reply := server.hears()).get("id") != number:
            pass
        return reply["result"]["structuredContent"]

    asked = order(sailings(SimpleNamespace(call=call))[0])
    code = call("bookings_create", asked)["approval"]["confirmation_code"]
    sandbox.faults.add("delay_after", "bookings.create", seconds=seconds)
    asked["confirmation_code"] = code
    server.asks("tools/call", name="bookings_create", arguments=asked)
    until(lambda: sandbox.counters.effects)


@pytest.mark.parametrize("number", mostly_long([None, signal.SIGINT, signal.SIGTERM]))
def test_a_write_under_way_may_end(ferry_sandbox, number):
    """Hosts close the input, wait, send SIGTERM and wait again before they kill."""
    with line(environment(ferry_sandbox)) as server:
        begun_write(server, ferry_sandbox, seconds=0.5)
        if number:
            server.process.send_signal(number)
        said, errors = server.ends()
        assert server.process.returncode == 0
    assert "INFO ferry_sdk: tool bookings_create: done (correlation id" in errors
    reply = json.loads(said.splitlines()[-1])
    assert reply["result"]["structuredContent"]["status"] == "done"


@LONG
@pytest.mark.parametrize("number", [None, signal.SIGTERM])
def test_a_write_that_takes_too_long_is_on_record(ferry_sandbox, number):
    with line(environment(ferry_sandbox)) as server:
        begun_write(server, ferry_sandbox, seconds=60)
        if number:
            server.process.send_signal(number)
        _, errors = server.ends()
        assert server.process.returncode == 0
    assert "INFO ferry_sdk: tool bookings_create: interrupted (correlation id" in errors


@LONG
def test_a_second_signal_ends_it_at_once(ferry_sandbox):
    with line(environment(ferry_sandbox), [sys.executable, "-c", PATIENT]) as server:
        begun_write(server, ferry_sandbox, seconds=60)
        while server.process.poll() is None:
            server.process.send_signal(signal.SIGINT)
            time.sleep(0.2)
        assert "tool bookings_create: interrupted" in server.process.stderr.read()


def test_a_slow_call_holds_no_other_up(hosts, ferry_sandbox):
    ferry_sandbox.faults.add("delay_before", "catalogue.ports", seconds=3)
    host = hosts()
    slow = host.soon("catalogue_ports", {})
    until(lambda: ferry_sandbox.counters.requests["catalogue.ports"])
    others = [host.soon("catalogue_vehicle_types", {}) for _ in range(5)]
    for other in others:
        done(answer_of(other.result()))
    assert not slow.done()
    done(answer_of(slow.result()))


def test_the_same_write_asked_for_at_once_is_made_once(hosts, ferry_sandbox):
    host = hosts(None, "--writes")
    asked = order(sailings(host)[0])
    code = host.call("bookings_create", asked)["approval"]["confirmation_code"]
    ferry_sandbox.faults.add("delay_after", "bookings.create", seconds=1)
    calls = [host.soon("bookings_create", {**asked, "confirmation_code": code}) for _ in range(4)]
    answers = [answer_of(call.result())["status"] for call in calls]
    assert sorted(answers) == ["done", "refused", "refused", "refused"]
    assert len(ferry_sandbox.counters.effects) == 1


def test_a_write_that_the_host_gave_up_is_remembered_as_unknown(hosts, ferry_sandbox):
    host = hosts(None, "--writes")
    asked = order(sailings(host)[0])
    code = host.call("bookings_create", asked)["approval"]["confirmation_code"]
    ferry_sandbox.faults.add("delay_after", "bookings.create", seconds=5)

    async def give_up():
        with anyio.move_on_after(10) as scope:
            async with anyio.create_task_group() as group:
                again = {**asked, "confirmation_code": code}
                group.start_soon(host.client.call_tool, "bookings_create", again)
                await anyio.to_thread.run_sync(until, lambda: ferry_sandbox.counters.effects)
                scope.cancel()

    host.wait(give_up)
    while (answer := host.call("bookings_create", asked))["error"]["code"] == "under_way":
        time.sleep(0.05)
    error(answer, "outcome_unknown")
    assert ferry_sandbox.counters.requests["bookings.create"] == 1
