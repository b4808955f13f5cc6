"""Show approval cards in a browser, press their buttons, and compare what the service has done.

Usage: approval_card.py MODULES CHROMIUM PICTURES: where puppeteer and axe are installed, the
browser, and a folder for pictures of the cards.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from ferry_sdk.sandbox import Sandbox

EXPECTED = ["bookings.create", "bookings.confirm", "bookings.cancel"]
"""What the stories of the script change, once for each theme and width."""
LOOKS = 4


def main(modules: str, browser: str, pictures: str) -> int:
    Path(pictures).mkdir(parents=True, exist_ok=True)
    node = shutil.which("node") or sys.exit("no Node on PATH")
    command = [sys.executable, "-m", "ferry_sdk", "mcp", "--http", "127.0.0.1:0", "--writes"]
    command += ["--tools", "all", "--spend-limit", "EUR=500", "--penalty-limit", "EUR=90"]
    with Sandbox() as sandbox:
        variables = {"FERRY_TOKEN": sandbox.token, "FERRY_BASE_URL": sandbox.base_url}
        with subprocess.Popen(
            command, env={**os.environ, **variables}, stderr=subprocess.PIPE, text=True
        ) as server:
            try:
                assert server.stderr is not None
                serving = next(line for line in server.stderr if "serving at" in line)
                url = re.findall(r"http://\S+", serving)[0]
                script = [str(Path(__file__).with_suffix(".mjs")), modules, url, sandbox.base_url]
                ended = subprocess.run([node, *script, browser, pictures], check=False)
            finally:
                server.kill()
        made = [effect.operation for effect in sandbox.counters.effects]

    if made != EXPECTED * LOOKS:
        sys.stderr.write(f"the service did {made}\n")
        return 1
    return ended.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
