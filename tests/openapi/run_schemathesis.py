"""Run schemathesis over the REST endpoints of a local service that has the documented booking.

Usage: python -m tests.openapi.run_schemathesis [OPTIONS OF schemathesis run]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from ferry_sdk.sandbox import Sandbox
from ferry_sdk.sandbox.api.openapi import pages
from scripts.openapi.examples import NOW

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DOCUMENT = json.loads(pages.document())
WRITES = {f"bookings.{name}" for name in ("create", "confirm", "cancel")}
WRITES |= {"tickets.cancel", "tickets.mark_paid"}


def example(path: str) -> object:
    body = DOCUMENT["paths"][path]["post"]["requestBody"]
    return body["content"]["application/json"]["example"]


def main(*options: str) -> None:
    """Run it; exit with an error if a check fails or a write never succeeds."""
    # With this seed and this time, the ids are those of the examples.
    with Sandbox(seed=1, now=NOW, frozen=True) as sandbox:
        token = sandbox.organisation_token
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        with httpx.Client(base_url=sandbox.base_url, headers=headers, timeout=60) as client:
            for path in ("/api/availability", "/api/booking"):
                client.post(path, json=example(path)).raise_for_status()
        sandbox.counters.reset()
        command = [sys.executable, "-m", "schemathesis.cli"]
        command += ["--config-file", str(HERE / "schemathesis.toml")]
        command += ["run", f"{sandbox.base_url}/openapi.json"]
        command += ["--include-path-regex", "^/api/"]
        command += ["--checks", "all"]
        command += ["--generation-deterministic"]
        for name, value in headers.items():
            command += ["--header", f"{name}: {value}"]
        command += options
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "FERRY_BASE_URL": sandbox.base_url,
            "FERRY_ORGANISATION_TOKEN": token,
            "SCHEMATHESIS_HOOKS": "tests.openapi.checks",
        }
        with TemporaryDirectory() as folder:  # schemathesis keeps a record of its run there
            done = subprocess.run(command, cwd=folder, env=environment, check=False)
        missing = WRITES - {effect.operation for effect in sandbox.counters.effects}
    if missing and not done.returncode:
        sys.exit(f"No request succeeded: {', '.join(sorted(missing))}")
    sys.exit(done.returncode)


if __name__ == "__main__":
    main(*sys.argv[1:])
