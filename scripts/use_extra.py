"""Use what one extra brings, where ferry_sdk is installed with that extra alone.

Usage: use_extra.py EXTRA; without one, list the extras of the installed package.
"""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys
from importlib import import_module
from importlib.metadata import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

import ferry_sdk


def import_all(package: str, *besides: str) -> None:
    """Import every module of a part of the library."""
    path = import_module(package).__path__
    for module in pkgutil.walk_packages(path, f"{package}."):
        if module.name not in besides:
            import_module(module.name)


def agents() -> None:
    """Start the MCP server with an empty token: it says so, and ends."""
    import_all("ferry_sdk.agents")
    try:
        import_module("ferry_sdk.agents.mcp_server").serve(token_file=Path(os.devnull))
    except SystemExit:
        return
    sys.exit("The MCP server runs without a token.")


def cli() -> None:
    """Run the command line, as far as it goes without a service."""
    # The journey wants the local service, and a command's journal the extra of the journal.
    import_all("ferry_sdk.cli", "ferry_sdk.cli.demo", "ferry_sdk.cli.terminal.command_journal")
    command = [sys.executable, "-I", "-m", "ferry_sdk", "--help"]
    if "search" not in subprocess.run(command, check=True, capture_output=True, text=True).stdout:  # noqa: S603 -- this interpreter
        sys.exit("The command line does not show its commands.")


def fast() -> None:
    """See that replies are read by llhttp."""
    replies = import_module("ferry_sdk._transport.http11.replies")
    if replies.new_reader is not replies.LlhttpReader:
        sys.exit("The parser of the extra is not used.")


def journal() -> None:
    """Keep a journal in a file."""
    import_all("ferry_sdk.journal")
    opened = import_module("ferry_sdk.journal").Journal
    with TemporaryDirectory() as folder, opened(f"sqlite:///{folder}/ferry.db") as kept:
        kept.unresolved()


def notebook() -> None:
    """Make a frame."""
    import_all("ferry_sdk.notebook")
    import_module("ferry_sdk.models").Records().to_frame()


def otel() -> None:
    """Make the hooks that make spans."""
    import_module("ferry_sdk.otel").event_hooks()


def postgresql() -> None:
    """Import the driver, which needs no library of the system's."""
    import_all("ferry_sdk.journal")
    if import_module("psycopg").pq.__impl__ != "binary":
        sys.exit("The driver of PostgreSQL is not the one that brings its own library.")


def rate() -> None:
    """Take a turn, and read the URL of a storage that is not there."""
    ferry_sdk.Rate("50/second").acquire("catalogue.ports")
    ferry_sdk.Rate("50/second", storage="redis://127.0.0.1:9")


def sandbox() -> None:
    """Ask the local service something."""
    import_all("ferry_sdk.sandbox", "ferry_sdk.sandbox.pytest_plugin")  # users bring pytest
    import_module("ferry_sdk.cli.demo")
    local = import_module("ferry_sdk.sandbox")
    with (
        local.Sandbox() as service,
        ferry_sdk.Ferry(service.token, base_url=service.base_url) as ferry,
    ):
        ferry.catalogue.ports()


def scan() -> None:
    """Write and read a part."""
    import_all("ferry_sdk.scan")
    parts = import_module("ferry_sdk.scan.parts")
    rows = import_module("ferry_sdk.scan.tables").Rows().table()
    with TemporaryDirectory() as folder:
        part = parts.Part(Path(folder, "part-00000.parquet"), scan="1", searches=(), run="1")
        parts.write_part(part, rows, rows)
        parts.read_report(part.path, "1")


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
