"""Use an installed ferry_sdk where none of the extras is installed.

Every core module is imported, and whatever requires an extra names it: public names, functions and
the command.
"""

from __future__ import annotations

import asyncio
import pkgutil
import shutil
import subprocess
import sys
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import ferry_sdk
from ferry_sdk.agents import AsyncToolkit, http_app
from ferry_sdk.models import Records

if TYPE_CHECKING:
    from collections.abc import Callable

EXTRAS = (
    "fastapi_offline",
    "fpdf",
    "httptools",
    "matplotlib",
    "mcp",
    "numpy",
    "pandas",
    "opentelemetry",
    "psycopg",
    "pyarrow",
    "pyrate_limiter",
    "pytest",
    "redis",
    "rich",
    "segno",
    "sqlalchemy",
    "starlette",
    "typer",
    "uvicorn",
)
OPTIONAL = (
    "ferry_sdk.__main__",
    "ferry_sdk.__pyinstaller.hook-ferry_sdk",
    "ferry_sdk.agents.mcp_server",
    "ferry_sdk.cli",
    "ferry_sdk.cli.demo",
    "ferry_sdk.journal",
    "ferry_sdk.notebook.frames",
    "ferry_sdk.notebook",
    "ferry_sdk.otel",
    "ferry_sdk.rate.redis_schedule",
    "ferry_sdk.sandbox",
    "ferry_sdk.scan",
)
NEEDING = {"journal", "notebook", "otel", "sandbox", "scan"}
"""The public packages of which names need the extra that is named like the package."""


def serve_over_http() -> None:
    """Make the MCP server's application for an HTTP server."""
    ferry = ferry_sdk.AsyncFerry("token", base_url="http://127.0.0.1:9")
    http_app(AsyncToolkit(ferry), secret="s" * 32)


FUNCTIONS: dict[str, list[Callable[[], object]]] = {
    "agents": [serve_over_http, lambda: import_module("ferry_sdk.agents.mcp_server")],
    "notebook": [lambda: Records().to_frame()],
    "rate": [lambda: ferry_sdk.Rate("50/second")],
}
"""What else needs an extra."""
COMMANDS = (["ferry"], ["ferry-sdk"], [Path(sys.executable).name, "-I", "-m", "ferry_sdk"])


def core_modules() -> list[str]:
    """Name every module that has to work with the core dependencies alone."""
    found = pkgutil.walk_packages(ferry_sdk.__path__, "ferry_sdk.", onerror=lambda _: None)
    return [module.name for module in found if not f"{module.name}.".startswith(OPTIONAL_PREFIXES)]


async def open_and_close() -> None:
    """Make an async client and close it."""
    async with ferry_sdk.AsyncFerry("token", base_url="http://127.0.0.1:9"):
        pass


def failure(act: Callable[[], object]) -> str:
    """Return the message of what is raised; empty if nothing is."""
    try:
        act()
    except (ModuleNotFoundError, ferry_sdk.ConfigurationError) as error:
        return str(error)
    return ""


def failures(package: str) -> set[str]:
    """Return the messages that the public names of a package raise."""
    try:
        module = import_module(f"ferry_sdk.{package}")
    except ModuleNotFoundError as error:
        return {str(error)}
    names: list[str] = getattr(module, "__all__", [])
    return {failure(partial(getattr, module, name)) for name in names} - {""}


def check_messages(extra: str, messages: set[str]) -> None:
    """Fail unless there are messages, and each names the extra as users install it."""
    wrong = [one for one in messages if f' an extra: pip install "ferry-sdk[{extra}]"' not in one]
    if wrong or not messages:
        sys.exit(f"The extra {extra} is not named: {wrong or 'nothing is raised'}")


OPTIONAL_PREFIXES = tuple(f"{module}." for module in OPTIONAL)

installed = Path(ferry_sdk.__file__).parent
if not installed.is_relative_to(sys.prefix):
    sys.exit(f"This is not the installed package: {installed}")
if not (installed / "py.typed").is_file():
    sys.exit("The package does not bring py.typed.")
present = [extra for extra in EXTRAS if find_spec(extra)]
if present:
    sys.exit(f"The core dependencies bring {', '.join(present)}; without extras means without.")

modules = core_modules()
for name in modules:
    import_module(name)
for name in ferry_sdk.__all__:
    getattr(ferry_sdk, name)
with ferry_sdk.Ferry("token", base_url="http://127.0.0.1:9"):
    pass
asyncio.run(open_and_close())

packages = {one.name for one in pkgutil.iter_modules(ferry_sdk.__path__)} - {"__main__", "cli"}
messages = {package: failures(package) for package in packages if not package.startswith("_")}
for package in NEEDING:
    check_messages(package, messages.pop(package))
if any(messages.values()):
    sys.exit(f"These need an extra, and should not: {messages}")
for extra, functions in FUNCTIONS.items():
    for function in functions:
        check_messages(extra, {failure(function)})

folder = Path(sys.executable).parent
for name, *arguments in COMMANDS:
    command = [shutil.which(name, path=folder) or sys.exit(f"There is no command {name}.")]
    command += [*arguments, "search"]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 -- of this environment
    check_messages("cli", {ended.stderr})
    # No traceback is printed.
    if ended.returncode != 1 or ended.stdout or len(ended.stderr.splitlines()) != 1:
        sys.exit(f"{name} does not end with a line: {ended}")

print(f"{len(modules)} modules imported, both clients made; what needs an extra names it.")
