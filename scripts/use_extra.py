"""Use what one extra brings, where ferry_sdk is installed with that extra alone.

Usage: use_extra.py EXTRA; without one, list the extras of the installed package.

`FERRY_BASE_URL` and `FERRY_TOKEN` name a local service. The extra `sandbox` needs none.
"""

from __future__ import annotations

import asyncio
import os
import pkgutil
import re
import subprocess
import sys
from datetime import date, timedelta
from importlib import import_module
from importlib.metadata import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import ferry_sdk

if TYPE_CHECKING:
    from collections.abc import Callable


README = Path(__file__).parents[1] / "README.md"


def import_all(package: str, *besides: str) -> None:
    """Import every module of a part of the library."""
    path = import_module(package).__path__
    for module in pkgutil.walk_packages(path, f"{package}."):
        if module.name not in besides:
            import_module(module.name)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command `ferry` of this environment."""
    command = [str(Path(sys.executable).with_name("ferry")), *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 -- of this environment


def failure(act: Callable[[], object]) -> str:
    """Return the message of what is raised; empty if nothing is."""
    try:
        act()
    except (ModuleNotFoundError, ferry_sdk.FerryError) as error:
        return str(error)
    return ""


def check_hint(extra: str, message: str) -> None:
    """Fail unless a message names another extra as users install it."""
    if f' an extra: pip install "ferry-sdk[{extra}]"' not in message:
        sys.exit(f"The extra {extra} is not named: {message or 'nothing is raised'}")


def check_commands(commands: dict[str, str]) -> None:
    """Fail unless each command names the extra that it needs besides."""
    for line, extra in commands.items():
        ended = run(*line.split())
        check_hint(extra, ended.stderr)
        if ended.returncode != 1 or len(ended.stderr.splitlines()) != 1:
            sys.exit(f"ferry {line} does not end with a line: {ended}")


def agents() -> None:
    """Find a port by a tool of `ferry mcp`, as a host does."""
    import_all("ferry_sdk.agents")
    check_commands({"mcp --journal sqlite:///ferry.db": "journal", "demo": "sandbox"})
    asyncio.run(find_port())


async def find_port() -> None:
    """Start the MCP server and call a tool."""
    settings = {name: os.environ[name] for name in ("FERRY_BASE_URL", "FERRY_TOKEN")}
    stdio = import_module("mcp.client.stdio")
    command = str(Path(sys.executable).with_name("ferry"))
    server = stdio.StdioServerParameters(command=command, args=["mcp"], env=settings)
    async with import_module("mcp").Client(server) as client:
        result = await client.call_tool("places_find", {"text": "Genoa"})
    if "ITGOA" not in str(result.content):
        sys.exit(f"The MCP server does not find Genoa: {result}")


def cli() -> None:
    """Print the ports by the command, and name the extras that other commands need."""
    # The journey wants the local service, and a command's journal the extra of the journal.
    import_all("ferry_sdk.cli", "ferry_sdk.cli.demo", "ferry_sdk.cli.terminal.command_journal")
    listed = run("ports", "--json")
    if "ITGOA" not in listed.stdout:
        sys.exit(f"The command line does not list the ports: {listed}")
    journal = "--journal sqlite:///ferry.db"
    days = "--from +30 --to +31"
    check_commands(
        {
            "demo": "sandbox",
            "openapi": "sandbox",
            "sandbox": "sandbox",
            "mcp": "agents",
            f"confirm id {journal}": "journal",
            f"find Reyes {journal}": "journal",
            f"journal list {journal}": "journal",
            f"offers list {journal}": "journal",
            f"orders list {journal}": "journal",
            f"scan Genoa Tunis {days} --adult 34F --into fares": "scan",
            f"scan Genoa Tunis {days} --adult 34F --into fares --rate 50": "scan",
        }
    )


def fast() -> None:
    """Read a reply by llhttp."""
    replies = import_module("ferry_sdk._transport.http11.replies")
    if replies.new_reader is not replies.LlhttpReader:
        sys.exit("The parser of the extra is not used.")
    with ferry_sdk.Ferry() as ferry:
        ferry.catalogue.ports()


def journal() -> None:
    """Record a write in a file."""
    import_all("ferry_sdk.journal")
    open_journal = import_module("ferry_sdk.journal").Journal
    check_hint("postgresql", failure(lambda: open_journal("postgresql://127.0.0.1:9/ferry")))
    with (
        TemporaryDirectory() as folder,
        open_journal(f"sqlite:///{folder}/ferry.db") as record,
        ferry_sdk.Ferry(journal=record) as ferry,
    ):
        failure(lambda: ferry.bookings.confirm("no-such-booking"))
        if [entry.state for entry in record.entries()] != ["rejected"]:
            sys.exit("The write is not on record.")


def notebook() -> None:
    """Make a frame and a map of ports."""
    import_all("ferry_sdk.notebook")
    with ferry_sdk.Ferry() as ferry:
        ports = ferry.mcp.ports()
    ports.to_frame()
    import_module("ferry_sdk.notebook").network_map(ports)


def otel() -> None:
    """Make the spans and metrics of a call."""
    hooks = import_module("ferry_sdk.otel").event_hooks(metrics=True)
    with ferry_sdk.Ferry(event_hooks=hooks) as ferry:
        ferry.catalogue.ports()


def postgresql() -> None:
    """Import the driver, which needs no library of the system's, and look for a database."""
    import_all("ferry_sdk.journal")
    if import_module("psycopg").pq.__impl__ != "binary":
        sys.exit("The driver of PostgreSQL is not the one that brings its own library.")
    record = import_module("ferry_sdk.journal").Journal("postgresql://127.0.0.1:9/ferry")
    if not failure(record.entries):
        sys.exit("There is no database, and no error.")


def rate() -> None:
    """Limit a call, and read the URL of a storage that is not there."""
    with ferry_sdk.Ferry(limiter=ferry_sdk.Rate("50/second")) as ferry:
        ferry.catalogue.ports()
    ferry_sdk.Rate("50/second", storage="redis://127.0.0.1:9")


def sandbox() -> None:
    """Run the programs of README.md, which tells users to install this extra."""
    import_all("ferry_sdk.sandbox", "ferry_sdk.sandbox.pytest_plugin")
    import_module("ferry_sdk.cli.demo")
    check_commands({"mcp": "agents", "journal list --journal sqlite:///ferry.db": "journal"})
    programs = re.findall(
        r"^```python\n(.*?)^```", README.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    for program in programs:
        if "def test_" not in program:  # users bring pytest
            command = [sys.executable, "-I", "-c", program]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 -- this interpreter


def scan() -> None:
    """Save the fares of a day."""
    import_all("ferry_sdk.scan")
    scans = import_module("ferry_sdk.scan")
    day = date.today() + timedelta(days=30)  # noqa: DTZ011 -- any day will do
    parties = [scans.Party("one", [{"type": "Adult", "gender": "Female", "age": 34}])]
    with TemporaryDirectory() as folder, ferry_sdk.Ferry() as ferry:
        fares = scans.FareScan(
            folder, routes=[("Genoa", "Tunis")], dates=(day, day), parties=parties
        )
        report = fares.run(ferry)
        if report.failed or report.not_asked:
            sys.exit(f"The scan is not whole: {report}")
        check_hint("notebook", failure(fares.to_frame))


USES = {
    "agents": agents,
    "cli": cli,
    "fast": fast,
    "journal": journal,
    "notebook": notebook,
    "otel": otel,
    "postgresql": postgresql,
    "rate": rate,
    "sandbox": sandbox,
    "scan": scan,
}

if not Path(ferry_sdk.__file__).is_relative_to(sys.prefix):
    sys.exit(f"This is not the installed package: {ferry_sdk.__file__}")
extras = metadata("ferry-sdk").get_all("Provides-Extra") or []
if sorted(extras) != sorted(USES):
    sys.exit(f"The package has the extras {sorted(extras)}, and this script knows {sorted(USES)}.")
if len(sys.argv) == 1:
    print(*sorted(extras))
else:
    USES[sys.argv[1]]()
    print(f"ferry-sdk[{sys.argv[1]}] does what it is for.")
