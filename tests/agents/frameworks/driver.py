"""Run a framework's programs against the local service, and print its rows of the table.

`python -m tests.agents.frameworks.driver NAME INTERPRETER`: a name in `table.toml`, and the Python
or the Node of an environment in which its packages are installed. This process needs the extras
agents and sandbox.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from ferry_sdk.sandbox import Sandbox

HERE = Path(__file__).parent
JOURNEY = {"given": ["bookings.create", "bookings.confirm"], "refused": []}
"""What happens at the service, by the person's answer."""
VERSION = "import sys; from importlib.metadata import version; print(version(sys.argv[1]))"


def run(command, way, answer):
    """Make the journey; return "ok", or how it failed."""
    with Sandbox() as sandbox, tempfile.TemporaryDirectory() as folder:
        server = [sys.executable, "-m", "ferry_sdk", "mcp", "--writes"]
        if way == "state":
            server += ["--state", f"{folder}/state.db"]
        variables = {
            "FERRY_TOKEN": sandbox.token,
            "FERRY_BASE_URL": sandbox.base_url,
            "FERRY_SERVER": json.dumps(server),
        }
        program = subprocess.run(
            [*command, way, answer],
            env={**os.environ, **variables},
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        effects = [effect.operation for effect in sandbox.counters.effects]

    if program.returncode:
        sys.stderr.write(program.stdout + program.stderr)
        return f"failed ({program.returncode})"
    # Over HTTP, a program only lists the tools.
    if way == "http" or effects == JOURNEY[answer]:
        return "ok"
    return f"failed: {effects}"


def place_of(program, interpreter):
    """Return the path at which a program runs; Node looks for packages beside it."""
    if program.endswith(".mjs"):
        return Path(interpreter).parents[2] / program
    return HERE / program


def version_of(package, place, interpreter):
    """Return the version of a package in the environment of a program."""
    if place.suffix == ".mjs":
        manifest = place.parent / "node_modules" / package / "package.json"
        return json.loads(manifest.read_text("utf-8"))["version"]

    command = [interpreter, "-c", VERSION, package]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def main(name, interpreter):
    """Print a row for each way; return True if all journeys were made."""
    row = tomllib.loads((HERE / "table.toml").read_text("utf-8"))[name]
    program, function = row["program"].split()
    package = re.split(r"\[|==|(?<=.)@", row["packages"][0])[0]
    place = place_of(program, interpreter)
    version = version_of(package, place, interpreter)

    is_whole = True
    for way in row["ways"]:
        results = []
        for answer in JOURNEY:
            if way == "http" and answer == "refused":
                results.append("-")
            else:
                results.append(run([interpreter, str(place), function], way, answer))
        is_whole &= set(results) <= {"ok", "-"}

        cells = [row["title"], version, way, *results, row.get("remark", "")]
        sys.stdout.write(f"| {' | '.join(cells)} |\n")
        sys.stdout.flush()
    return is_whole


if __name__ == "__main__":
    sys.exit(not main(*sys.argv[1:]))
