"""`ferry --help`, beside `httpx --help`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from ._command import main
from ._interpreters import seconds_of
from ._lines import Bar, Line, compare
from ._measure import measure_in_turn

if TYPE_CHECKING:
    from ._measure import Effort

BAR: Final = Bar(1.2)
HELP: Final = """
import contextlib, io
sys.argv[1:] = ["--help"]
from {module} import main
with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
    main()
assert "Usage" in printed.getvalue()
"""


def measure(effort: Effort) -> list[Line]:
    """Measure it in new interpreters."""
    modules = {"ferry": "ferry_sdk.__main__", "httpx": "httpx"}
    contenders = {
        name: seconds_of(HELP.format(module=module), hidden=()) for name, module in modules.items()
    }
    figures = measure_in_turn(contenders, rounds=effort.of(15))
    return [compare(figures, "ferry --help", unit="ms", bar=BAR, ours="ferry", to="httpx")]


if __name__ == "__main__":
    sys.exit(main(["help_text", *sys.argv[1:]]))
