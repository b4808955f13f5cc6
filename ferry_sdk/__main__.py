"""The command line: ``ferry``, and ``python -m ferry_sdk``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line, and end the process with its exit code."""
    try:
        from ferry_sdk.cli.app import run  # noqa: PLC0415 -- an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"rich", "typer"}:
            raise
        sys.exit(
            'ferry: the command line requires an extra: pip install "ferry-sdk[cli]" '
            f"({error.name} is not installed)"
        )
    run()


if __name__ == "__main__":
    main()
