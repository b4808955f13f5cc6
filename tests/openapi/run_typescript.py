"""Make types of the document of a running local service, and a journey with them on Node.

Usage: python -m tests.openapi.run_typescript
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from ferry_sdk.sandbox import Sandbox

WRITES = {"bookings.create", "tickets.mark_paid", "bookings.confirm", "bookings.cancel"}


def main() -> None:
    """Install what package-lock.json names, then generate, type check and run."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        sys.exit("npm and node are required")
    with TemporaryDirectory() as temporary, Sandbox() as sandbox:
        folder = Path(temporary) / "journey"
        shutil.copytree(Path(__file__).with_name("typescript"), folder)
        environment = {
            **os.environ,
            "FERRY_BASE_URL": sandbox.base_url,
            "FERRY_ORGANISATION_TOKEN": sandbox.organisation_token,
        }
        document = f"{sandbox.base_url}/openapi.json"
        for command in (
            (npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"),
            (npm, "exec", "--", "openapi-typescript", document, "--output", "ferry.d.ts"),
            (npm, "exec", "--", "tsc", "--project", "."),
            (node, "build/journey.js"),
        ):
            subprocess.run(command, cwd=folder, env=environment, check=True)
        effects = {effect.operation for effect in sandbox.counters.effects}
    assert effects == WRITES


if __name__ == "__main__":
    main()
