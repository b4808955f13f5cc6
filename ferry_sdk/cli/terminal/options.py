"""The options that several commands have, described once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document, for programs.")]
BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="The service's address; else FERRY_BASE_URL."),
]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        metavar="PATH",
        help="A file with the token; else FERRY_TOKEN_FILE, else the token in FERRY_TOKEN.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
