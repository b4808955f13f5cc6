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
from pathlib import Path

from ferry_sdk.sandbox import Sandbox

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

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
        given = {
            "FERRY_TOKEN": sandbox.token,
            "FERRY_BASE_URL": sandbox.base_url,
            "FERRY_SERVER": json.dumps(server),
        }
        done = subprocess.run(
            [*command, way, answer],
            env={**os.environ, **given},
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        made = [one.operation for one in sandbox.counters.effects]
    if done.returncode:
        sys.stderr.write(done.stdout + done.stderr)
        return f"failed ({done.returncode})"
    return "ok" if way == "http" or made == JOURNEY[answer] else f"failed: {made}"


def main(name, interpreter):
    """Print a row for each way; return True if all journeys were made."""
    row = tomllib.loads((HERE / "table.toml").read_text("utf-8"))[name]
    program, function = row["program"].split()
    package = re.split(r"\[|==|(?<=.)@", row["packages"][0])[0]
    place = HERE / program
    if program.endswith(".mjs"):  # Node looks for packages beside the program
        place = Path(interpreter).parents[2] / program
        found = place.parent / "node_modules" / package / "package.json"
        version = json.loads(found.read_text("utf-8"))["version"]
    else:
        asked = [interpreter, "-c", VERSION, package]
        version = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    whole = True
    for way in row["ways"]:
        results = [
            "-"
            if way == "http" and answer == "refused"
            else run([interpreter, str(place), function], way, answer)
            for answer in JOURNEY
        ]
        whole &= {*results} <= {"ok", "-"}
        cells = [row["title"], version, way, *results, row.get("remark", "")]
        sys.stdout.write(f"| {' | '.join(cells)} |\n")
        sys.stdout.flush()
    return whole


if __name__ == "__main__":
    sys.exit(not main(*sys.argv[1:]))
