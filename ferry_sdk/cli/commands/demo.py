"""`ferry demo`: a complete booking against a local service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def demo(
    *, folder: Annotated[Path, typer.Option(help="Folder for the vouchers.")] = Path("vouchers")
) -> None:
    """Run a complete booking against a local service. It uses REST and MCP."""
    from ferry_sdk.cli.demo import run  # noqa: PLC0415 -- it needs the extra `sandbox`

    run(folder)
