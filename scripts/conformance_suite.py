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
"""The newest revision that begins with a handshake; the client also speaks the one without."""
OTHER_SCENARIOS = ("sep-2164-resource-not-found",)
"""Scenarios of a later revision that the local service passes."""

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
"""Why a scenario cannot pass. If one of these passes, this list is wrong."""
NOT_RUN = r"auth/.*|elicitation-sep1034-client-defaults"
"""Scenarios of the client that are not run: it has a token, and answers no question of a server."""


@dataclass(frozen=True)
class Result:
    """A scenario that was run, and how many of its checks passed."""

    suite: str
    side: str
    scenario: str
    revision: str
    passed: int
    total: int
    ended_well: bool

    @property
    def reason(self) -> str | None:
        """Why it cannot pass; None if it can."""
        for pattern, reason in EXPECTED.items():
            if re.fullmatch(pattern, self.scenario):
                return reason
        return None

    @property
    def is_a_fault(self) -> bool:
        """Whether it failed although it can pass, or passed although it cannot."""
        has_passed = self.ended_well and 0 < self.total == self.passed
        can_pass = self.reason is None
        return has_passed != can_pass

    def line(self) -> str:
        """Return the line of the table."""
        if self.is_a_fault and self.reason:
            mark = "FAULT: passes, though the list says that it cannot;"
        elif self.is_a_fault:
            mark = "FAULT"
        else:
            mark = "-" if self.reason else "pass"

        checks = f"{self.passed}/{self.total}"
        scenario = f"{self.scenario:32} {self.revision}"
        line = f"{self.suite:16} {self.side:7} {scenario} {checks:>6}  {mark}"
        return f"{line} {self.reason}" if self.reason else line


class Proxy(ThreadingHTTPServer):
    """The server that the suite connects to. The suite drops connections, which is no error."""

    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Print nothing: a check fails if its reply does not come."""


@contextmanager
def with_token(sandbox: Sandbox) -> Iterator[str]:
    """Serve the local service at an address that needs no token, because the suite has none."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            service = http.client.HTTPConnection(sandbox.base_url.removeprefix("http://"))
            headers = {**dict(self.headers), "Authorization": f"Bearer {sandbox.token}"}
            service.request(self.command, self.path, body=body, headers=headers)
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

    with Proxy(("127.0.0.1", 0), Handler) as server:
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

    def _run_command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 -- what scripts/conformance has installed
            [*self._command, *arguments], capture_output=True, check=False, text=True, timeout=120
        )

    def scenarios(self, side: str) -> Iterator[tuple[str, str]]:
        """Yield the scenarios to run, each with its revision."""
        listed = re.findall(r"  - (\S+) \[(.+)\]", self._run_command("list", f"--{side}").stdout)
        if not listed:
            sys.exit(f"{self.name} lists no scenarios for a {side}.")
        for name, revisions in listed:
            if name in OTHER_SCENARIOS:
                yield name, revisions
            elif not re.fullmatch(NOT_RUN, name):
                for revision in REVISIONS[side]:
                    if revision in revisions:
                        yield name, revision

    def run(self, side: str, scenario: str, revision: str, *subject: str) -> Result:
        """Run a scenario."""
        with TemporaryDirectory() as folder:
            chosen = ("--scenario", scenario, "--spec-version", revision, "-o", folder)
            done = self._run_command(side, *subject, *chosen)
            checks: list[dict[str, Any]] = []
            for file in Path(folder).rglob("checks.json"):
                checks += json.loads(file.read_text(encoding="utf-8"))

        counts = Counter(check["status"] for check in checks)
        return Result(
            suite=self.name,
            side=side,
            scenario=scenario,
            revision=revision,
            passed=counts["SUCCESS"],
            total=counts["SUCCESS"] + counts["FAILURE"],
            ended_well=done.returncode == 0,
        )


def run_all(modules: Path) -> Iterator[Result]:
    """Run every scenario of every version."""
    client = f"{sys.executable} {Path(__file__).with_name('conformance_client.py')}"
    with Sandbox() as sandbox, with_token(sandbox) as url:
        subjects = {"server": ("--url", url), "client": ("--command", client)}
        for name in SUITES:
            suite = Suite(modules, name)
            for side, subject in subjects.items():
                for scenario, revision in suite.scenarios(side):
                    yield suite.run(side, scenario, revision, *subject)


def main(modules: Path) -> None:
    """Print the table, and fail if there is a fault."""
    results: list[Result] = []
    for result in run_all(modules):
        print(result.line(), flush=True)
        results.append(result)

    faults = [result for result in results if result.is_a_fault]
    usable = [result for result in results if result.reason is None]
    passed = sum(result.passed for result in usable)
    total = sum(result.total for result in usable)
    print(
        f"{len(usable)} usable scenarios, {passed} of {total} checks passed; {len(faults)} faults."
    )
    if faults:
        sys.exit(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
