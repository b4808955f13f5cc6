"""The command line: ``python -m ferry_sdk sandbox`` and ``python -m ferry_sdk demo``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ._version import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; the exit code."""
    given = _parser().parse_args(arguments)
    try:
        if given.command == "sandbox":
            from .sandbox import serve  # noqa: PLC0415 -- an extra, only where it is asked for

            serve(
                given.port,
                host=given.host,
                seed=given.seed,
                token=given.token,
                read_only_token=given.read_only_token,
                organisation_token=given.organisation_token,
            )
        else:
            from .demo import run  # noqa: PLC0415 -- the same

            run(given.folder)
    except (ModuleNotFoundError, OSError) as error:
        sys.stderr.write(f"ferry_sdk: {error}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ferry_sdk", description=__doc__)
    parser.add_argument("--version", action="version", version=f"ferry_sdk {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    sandbox = commands.add_parser("sandbox", help="run the local service until Ctrl-C")
    sandbox.add_argument("--port", type=int, default=8080, help="0 takes a free one (8080)")
    sandbox.add_argument("--seed", type=int, default=1, help="what times and prices follow from")
    sandbox.add_argument("--host", default="127.0.0.1", help="the address to listen on (127.0.0.1)")
    for token in ("--token", "--read-only-token", "--organisation-token"):
        sandbox.add_argument(token, help="a made-up token of the local service (random)")
    demo = commands.add_parser("demo", help="make the whole journey against a local service")
    demo.add_argument(
        "--folder", type=Path, default=Path("vouchers"), help="where vouchers go (./vouchers)"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
