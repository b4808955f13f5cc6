"""Import every core module of an installed ferry_sdk where none of the extras is installed."""

from __future__ import annotations

import asyncio
import pkgutil
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import ferry_sdk

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
HINTS = {
    "agents": ("ferry_sdk.agents.mcp_server", "serve"),
    "journal": ("ferry_sdk.journal", "Journal"),
    "notebook": ("ferry_sdk.notebook", "fares_by_day"),
    "otel": ("ferry_sdk.otel", "event_hooks"),
    "sandbox": ("ferry_sdk.sandbox", "Sandbox"),
    "scan": ("ferry_sdk.scan", "FareScan"),
}
"""What the module of each extra gives, where it is installed."""


def core_modules() -> list[str]:
    """Name every module that has to work with the core dependencies alone."""
    found = pkgutil.walk_packages(ferry_sdk.__path__, "ferry_sdk.", onerror=lambda _: None)
    return [module.name for module in found if not f"{module.name}.".startswith(OPTIONAL_PREFIXES)]


async def open_and_close() -> None:
    """Make an async client and close it."""
    async with ferry_sdk.AsyncFerry("token", base_url="http://127.0.0.1:9"):
        pass


def missing_extra(module: str, name: str) -> str:
    """Say what a module answers where its extra is not installed."""
    try:
        return f"it could be loaded: {getattr(import_module(module), name)}"
    except ModuleNotFoundError as error:
        return str(error)


OPTIONAL_PREFIXES = tuple(f"{module}." for module in OPTIONAL)

package = Path(ferry_sdk.__file__).parent
if not package.is_relative_to(sys.prefix):
    sys.exit(f"This is not the installed package: {package}")
if not (package / "py.typed").is_file():
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
for extra, (module, name) in HINTS.items():
    hint = f"ferry-sdk[{extra}]"
    if hint not in missing_extra(module, name):
        sys.exit(f"{module} does not say that {hint} is missing: {missing_extra(module, name)}")
print(
    f"{len(modules)} modules imported, both clients made; the optional modules name their extras."
)
