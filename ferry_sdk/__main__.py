"""The command line: ``ferry``, and ``python -m ferry_sdk``."""

from __future__ import annotations

import sys

from ferry_sdk._runtime.extras import needs_extra


def main() -> None:
    """Run the command line, and end the process with its exit code."""
    try:
        with needs_extra("ferry: the command line requires", "cli", ("rich", "typer")):
            from ferry_sdk.cli.app import run  # noqa: PLC0415 -- an extra
    except ModuleNotFoundError as error:
        if error.__cause__ is None:  # another module is missing
            raise
        sys.exit(str(error))
    run()


if __name__ == "__main__":
    main()
