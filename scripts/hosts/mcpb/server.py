"""Start `ferry mcp` with the settings of the host that has installed the bundle.

The host puts each setting into the environment. `ferry mcp` itself reads `FERRY_TOKEN` and
`FERRY_BASE_URL` there. The other settings are options of the command, which this module adds.
"""

from __future__ import annotations

import os
import sys

from ferry_sdk.__main__ import main


def options() -> list[str]:
    """Return the options of `ferry mcp` that the environment asks for."""
    given: list[str] = []
    if os.environ.pop("FERRY_MCP_WRITES", "") == "true":
        given.append("--writes")
    if limit := os.environ.pop("FERRY_MCP_SPEND_LIMIT", "").strip():
        given.extend(["--spend-limit", limit])
    return given


if __name__ == "__main__":
    sys.argv[1:] = ["mcp", *options()]
    main()
