"""Run the scenarios of the MCP conformance suite, and say which pass.

Usage: conformance_suite.py FOLDER, the `node_modules` that holds Node and the suite's versions
"""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import threading
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ferry_sdk.sandbox import Sandbox

if TYPE_CHECKING:
    from collections.abc import Iterator

SUITES = ("conformance-0.1", "conformance-0.2")
REVISIONS = {"server": ("2025-11-25",), "client": ("2025-11-25", "2026-07-28")}
"""The newest that begins with a handshake; the client also speaks the one that has none."""
ALONE = ("sep-2164-resource-not-found",)
"""Scenarios of a later revision whose promise the local service keeps all the same."""

OWN_TOOLS = "wants a tool or a resource of a server made for the suite"
EXPECTED = {
    r"tools-call-.*|json-schema-2020-12|elicitation-.*|server-sse-polling": OWN_TOOLS,
    r"resources-read-.*|resources-templates-read": OWN_TOOLS,
    r"prompts-.*": "the service has no prompts",
    r"resources-(un)?subscribe": "the catalogues do not change under a subscriber",
    r"completion-complete": "the service completes no arguments",
    r"logging-set-level": "the service sends no log messages",
    r"sse-retry": "a lost reply is not waited for: a read is sent again, a write is read back",
    r"request-metadata|http-standard-headers": "the client tries the handshake first",
    r"http-(custom|invalid-tool)-headers": "a tool's arguments are not repeated in headers",
    r"json-schema-ref-no-deref": "the scenario's server has no tool that can be called",
    r"sep-2322-client-request-state": "a result that asks for more input is an error",
}
"""Why a scenario cannot pass here; one of these that passes is a failure of this list."""
NOT_RUN = r"auth/.*|elicitation-sep1034-client-defaults"
"""Of the client's: it is given its token, so no OAuth; and it does not let servers ask back."""


@dataclass(frozen=True)
class Ran:
    """One scenario, and how many of its checks passed."""

    suite: str
    side: str
    scenario: str
    revision: str
    passed: int
    total: int
    ended_well: bool

    @property
    def reason(self) -> str | None:
        """Why it cannot pass, if it cannot."""
        found = (why for pattern, why in EXPECTED.items() if re.fullmatch(pattern, self.scenario))
        return next(found, None)

    @property
    def is_a_fault(self) -> bool:
        """Say whether it went otherwise than it should."""
        good = self.ended_well and 0 < self.total == self.passed
        return good is (self.reason is not None)

    def line(self) -> str:
        """Make a line of the table."""
        mark = "FAULT" if self.is_a_fault else "-" if self.reason else "pass"
        if self.is_a_fault and self.reason:
            mark = "FAULT: passes, though the list says that it cannot;"
        checks = f"{self.passed}/{self.total}"
        scenario = f"{self.scenario:32} {self.revision}"
        line = f"{self.suite:16} {self.side:7} {scenario} {checks:>6}  {mark}"
        return f"{line} {self.reason}" if self.reason else line


class Door(ThreadingHTTPServer):
    """Where the suite knocks; it leaves connections as it likes, which is no error."""

    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Say nothing: a reply that does not come shows in the checks."""


@contextmanager
def with_token(sandbox: Sandbox) -> Iterator[str]:
    """Serve the local service at an address where no token is asked for: the suite has none."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            service = http.client.HTTPConnection(sandbox.base_url.removeprefix("http://"))
            headers = {**dict(self.headers), "Authorization": f"Bearer {sandbox.token}"}
            service.request(self.command, self.path, body, headers)
            reply = service.getresponse()
            content = reply.read()
            self.send_response(reply.status)
            for name, value in reply.getheaders():
                if name.lower() not in {"connection", "content-length", "transfer-encoding"}:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            service.close()

        do_DELETE = do_GET = do_POST = forward  # noqa: N815 -- what http.server looks for

        def log_message(self, *_: object) -> None:
            pass

    with Door(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://localhost:{server.server_port}/mcp"
        finally:
            server.shutdown()
            thread.join()


class Suite:
    """One version of the suite."""

    def __init__(self, modules: Path, name: str) -> None:
        self.name = name
        self._command = [str(modules / ".bin" / "node"), str(modules / name / "dist" / "index.js")]

    def _asked(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 -- what scripts/conformance has installed
            [*self._command, *arguments], capture_output=True, check=False, text=True, timeout=120
        )

    def scenarios(self, side: str) -> Iterator[tuple[str, str]]:
        """Name the scenarios that are run, each with a revision that it is run at."""
        listed = re.findall(r"  - (\S+) \[(.+)\]", self._asked("list", f"--{side}").stdout)
        if not listed:
            sys.exit(f"{self.name} lists no scenarios for a {side}.")
        for name, revisions in listed:
            if name in ALONE:
                yield name, revisions
            elif not re.fullmatch(NOT_RUN, name):
                for revision in REVISIONS[side]:
                    if revision in revisions:
                        yield name, revision

    def run(self, side: str, scenario: str, revision: str, *subject: str) -> Ran:
        """Run one scenario."""
        with TemporaryDirectory() as folder:
            chosen = ("--scenario", scenario, "--spec-version", revision, "-o", folder)
            done = self._asked(side, *subject, *chosen)
            checks: list[dict[str, Any]] = [
                check
                for file in Path(folder).rglob("checks.json")
                for check in json.loads(file.read_text(encoding="utf-8"))
            ]
        counts = Counter(check["status"] for check in checks)
        total = counts["SUCCESS"] + counts["FAILURE"]
        ended_well = done.returncode == 0
        return Ran(self.name, side, scenario, revision, counts["SUCCESS"], total, ended_well)


def ran(modules: Path) -> Iterator[Ran]:
    """Run every scenario of every version."""
    client = f"{sys.executable} {Path(__file__).with_name('conformance_client.py')}"
    with Sandbox() as sandbox, with_token(sandbox) as url:
        subjects = {"server": ("--url", url), "client": ("--command", client)}
        for suite in (Suite(modules, name) for name in SUITES):
            for side, subject in subjects.items():
                for scenario, revision in suite.scenarios(side):
                    yield suite.run(side, scenario, revision, *subject)


def main(modules: Path) -> None:
    """Print the table, and fail where something is otherwise than it should be."""
    table: list[Ran] = []
    for one in ran(modules):
        print(one.line(), flush=True)
        table.append(one)
    faults = [one for one in table if one.is_a_fault]
    usable = [one for one in table if one.reason is None]
    checks = f"{sum(one.passed for one in usable)} of {sum(one.total for one in usable)} checks"
    print(f"{len(usable)} usable scenarios, {checks} passed; {len(faults)} faults.")
    if faults:
        sys.exit(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
