"""The command `ferry`, its environment and its result."""

import json
import os
import subprocess
import sys
from typing import NamedTuple

from tests.support import processes
from tests.support.trip import DAY

COMMAND = [sys.executable, "-W", "error", "-m", "ferry_sdk"]
SEARCH = ["Tarifa", "MATNG", "--on", str(DAY), "--adult", "34F", "--child", "9M"]
ADA = {"type": "Adult", "first_name": "Ada", "last_name": "Reyes", "gender": "Female", "age": 34}


class Ended(NamedTuple):
    """The result of a command."""

    code: int
    out: str
    err: str

    @property
    def document(self):
        return json.loads(self.out)


def environment(sandbox=None, **more):
    left = os.environ.keys() - processes.UNWANTED
    kept = {name: os.environ[name] for name in left if not name.startswith("FERRY_")}
    known = {"FERRY_BASE_URL": sandbox.base_url, "FERRY_TOKEN": sandbox.token} if sandbox else {}
    return {**kept, "PYTHONUTF8": "1", "TERM": "xterm-256color", **known, **more}


def interrupt(sandbox, folder, *words, when, by=subprocess.Popen.terminate, code=130, new=False):
    """Run `ferry` in a folder until something is true, interrupt it, and return its errors."""
    with processes.start(
        [*COMMAND, *words],
        cwd=folder,
        env=environment(sandbox),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        new=new,
    ) as process:
        while not when():
            assert process.poll() is None
        by(process)
        _, output = process.communicate(timeout=60)
    assert process.returncode == code, output
    return output
