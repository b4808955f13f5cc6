"""Random series of questions, answers, replays, restarts and kills of a server.

A series asks for writes by a card, a form or a code, answers some of the questions, sends answers
again, and ends the server in between, sometimes in the middle of an answer. Each write has a target
of its own, so that what the service has done shows which answer did it.

Usage: interleavings.py COUNT [FIRST_SEED]
"""

import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass

import httpx

from ferry_sdk import Ferry
from ferry_sdk.sandbox import Sandbox
from tests.agents.agent import order, query
from tests.support.processes import fork_server, start

VERSION = "2026-07-28"
NAMES = ["Zoë", "Łukasz", "Aïcha", "Bjørn", "Çelik", "Dvořák"]
STEPS = 14
APPROVED = {"card": True, "form": "accept", "code": True}
DECLARED = {
    "card": {
        "extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}
    },
    "form": {"elicitation": {"form": {}}},
    "code": {},
}
"""What a host declares that asks in this way; the newer protocol says it with each request."""


def message_of(number, way, name, params):
    """Return a call of a tool by a host that asks in this way."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientInfo": {"name": "interleavings", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": DECLARED[way],
    }
    params = {"name": name, **params, "_meta": meta}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


class _Server:
    """A server in a process of its own; it can be killed while a call is in progress."""

    def __init__(self, command, environment):
        self._process = start(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def kill(self):
        self._process.kill()
        self._process.wait()
        self._close()

    def _close(self):
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            with suppress(OSError):
                stream.close()


class StdioServer(_Server):
    """A server on pipes."""

    options = ()

    def call(self, message):
        """Return the result of a call; None if the server has ended."""
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
            while line := self._process.stdout.readline():
                reply = json.loads(line)
                if reply.get("id") == message["id"]:
                    return reply["result"]
        except (OSError, ValueError):
            pass
        return None

    def stop(self):
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._close()


class HttpServer(_Server):
    """A server over HTTP."""

    options = ("--http", "127.0.0.1:0")

    def __init__(self, command, environment):
        super().__init__(command, environment)
        for line in self._process.stderr:
            if "serving at" in line:
                self._url = re.findall(r"http://\S+", line)[0]
                break

    def call(self, message):
        """Return the result of a call; None if the server has ended."""
        headers = {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": VERSION,
            "Mcp-Method": message["method"],
            "Mcp-Name": message["params"]["name"],
        }
        try:
            text = httpx.post(self._url, json=message, headers=headers, timeout=60).text
        except httpx.TransportError:
            return None
        data = re.findall(r"^data: (.*)$", text, re.MULTILINE)
        return json.loads(data[-1] if data else text)["result"]

    def stop(self):
        self._process.terminate()
        self._process.wait(timeout=30)
        self._close()


SERVERS = {"stdio": StdioServer, "http": HttpServer}


@dataclass
class Question:
    """A question that a host has, with what it needs for an answer."""

    target: tuple[str, str]
    way: str
    tool: str
    arguments: dict
    result: dict
    is_declined: bool = False

    def answered(self, *, approved):
        """Return the tool and the parameters of the call that answers."""
        match self.way:
            case "card":
                call = self.result["_meta"]["ferry-sdk/card"]["call"]
                return "approval_card_answer", {"arguments": {"call": call, "approved": approved}}
            case "form":
                asked = self.result["inputRequests"]["approval"]["params"]["requestedSchema"]
                (box,) = asked["properties"]
                answer = {"action": "accept", "content": {box: True}}
                if not approved:
                    answer = {"action": "decline"}
                params = {
                    "arguments": self.arguments,
                    "requestState": self.result["requestState"],
                    "inputResponses": {"approval": answer},
                }
                return self.tool, params
            case "code":
                code = self.result["structuredContent"]["approval"]["confirmation_code"]
                arguments = {**self.arguments, "confirmation_code": code}
                return self.tool, {"arguments": arguments if approved else self.arguments}


class Series:
    """One random series."""

    def __init__(self, seed, transport, sandbox, folder):
        self._random = random.Random(f"{seed} {transport}")  # noqa: S311 -- no secret
        self._transport = SERVERS[transport]
        self._sandbox = sandbox
        self._folder = folder
        self._number = 0
        self._questions = []
        self._approved = []
        self.counts = Counter()
        self._server = self._start()
        found = self._call("card", "availability_search", {"arguments": query()})
        self._sailing = found["structuredContent"]["result"]["items"][0]

    def run(self):
        """Run the steps; return the targets of the effects, and those that were approved."""
        steps = [self._ask, self._ask, self._ask, self._answer, self._answer, self._answer]
        steps += [self._replay, self._stop_and_start, self._kill_in_answer]
        try:
            for _ in range(STEPS):
                self._random.choice(steps)()
        finally:
            self._server.kill()
        return self._effects(), set(self._approved)

    def _start(self):
        files = [
            "--state",
            f"{self._folder}/state",
            "--journal",
            f"sqlite:///{self._folder}/journal",
        ]
        options = ["--writes", "--tools", "all", *files, *self._transport.options]
        variables = {"FERRY_TOKEN": self._sandbox.token, "FERRY_BASE_URL": self._sandbox.base_url}
        command = [sys.executable, "-m", "ferry_sdk", "mcp", *options]
        return self._transport(command, {**os.environ, **variables})

    def _call(self, way, name, params):
        self._number += 1
        return self._server.call(message_of(self._number, way, name, params))

    def _ask(self):
        way = self._random.choice([*DECLARED])
        booked = [subject for operation, subject in self._effects() if operation == "create"]
        if booked and self._random.random() < 0.4:
            booking_id = self._booking_of(self._random.choice(booked))
            tool, arguments = "bookings_confirm", {"booking_id": booking_id}
            target = ("confirm", booking_id)
            self._call(way, "bookings_get", {"arguments": arguments})
        else:
            name = self._random.choice(NAMES)
            party = [{"type": "Adult", "first_name": name, "last_name": "Müller"}]
            tool, arguments = "bookings_create", order(self._sailing, passengers=party)
            target = ("create", name)

        result = self._call(way, tool, {"arguments": arguments})
        is_question = "requestState" in result or "approval" in (
            result.get("structuredContent") or {}
        )
        self.counts["asked" if is_question else "refused"] += 1
        if is_question:
            self._questions.append(Question(target, way, tool, arguments, result))

    def _answer(self):
        if self._questions:
            self._send(self._random.choice(self._questions), approved=self._random.random() < 0.7)

    def _replay(self):
        """Send an answer again, also one that was declined, as an approval."""
        if self._questions:
            question = self._random.choice(self._questions)
            self._send(question, approved=True)
            self._send(question, approved=True)
            self.counts["replayed"] += 1

    def _send(self, question, *, approved):
        name, params = question.answered(approved=approved)
        # An approval after the person has declined approves nothing.
        question.is_declined |= not approved
        if not question.is_declined:
            self._approved.append(question.target)
        result = self._call(question.way, name, params)
        done = (result or {}).get("structuredContent") or {}
        self.counts["done" if done.get("status") == "done" else "not done"] += 1

    def _stop_and_start(self):
        self._server.stop()
        self._server = self._start()
        self.counts["restarted"] += 1

    def _kill_in_answer(self):
        if not self._questions:
            return
        question = self._random.choice(self._questions)
        name, params = question.answered(approved=True)
        if not question.is_declined:
            self._approved.append(question.target)
        self._number += 1
        message = message_of(self._number, question.way, name, params)
        sender = threading.Thread(target=self._server.call, args=[message])
        sender.start()
        sender.join(self._random.random() * 0.08)
        self._server.kill()
        sender.join()
        self._server = self._start()
        self.counts["killed"] += 1

    def _effects(self):
        """Return the targets of what the service has done."""
        done = []
        with Ferry(self._sandbox.token, base_url=self._sandbox.base_url) as ferry:
            for effect in tuple(self._sandbox.counters.effects):
                if effect.operation == "bookings.create":
                    booking = ferry.bookings.get(effect.subject)
                    done.append(("create", booking.tickets[0].passengers[0].first_name))
                else:
                    done.append(("confirm", effect.subject))
        return done

    def _booking_of(self, name):
        """Return the booking of a traveller."""
        with Ferry(self._sandbox.token, base_url=self._sandbox.base_url) as ferry:
            for effect in tuple(self._sandbox.counters.effects):
                if effect.operation == "bookings.create":
                    booking = ferry.bookings.get(effect.subject)
                    if booking.tickets[0].passengers[0].first_name == name:
                        return booking.booking_id
        raise LookupError(name)


def run_series(seed, transport):
    """Run one series; return its counts, and what was done twice or without an approval."""
    with Sandbox() as sandbox, tempfile.TemporaryDirectory() as folder:
        series = Series(seed, transport, sandbox, folder)
        effects, approved = series.run()
    twice = [target for target, count in Counter(effects).items() if count > 1]
    unapproved = [target for target in effects if target not in approved]
    return series.counts, [*twice, *unapproved]


def main(count, first=0):
    total = Counter()
    for seed in range(first, first + count):
        for transport in SERVERS:
            counts, wrong = run_series(seed, transport)
            total += counts
            if wrong:
                sys.stdout.write(f"{transport} {seed}: {wrong}\n")
    sys.stdout.write(f"{count} series over each transport: {dict(total)}\n")


if __name__ == "__main__":
    with fork_server():
        main(*map(int, sys.argv[1:]))
