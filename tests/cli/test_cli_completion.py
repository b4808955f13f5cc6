"""Shell completion."""

import subprocess
import sys

import pytest

from tests.cli.commands import environment
from tests.support import processes
from tests.support.tiers import LONG, mostly_long

COMPLETE = "from ferry_sdk.__main__ import main; main()"


def complete(sandbox, *words, **more):
    asked = {"_FERRY_COMPLETE": "complete_bash", "COMP_WORDS": "\n".join(("ferry", *words))}
    asked |= {"COMP_CWORD": str(len(words)), **more}
    done = processes.run(
        [sys.executable, "-W", "error", "-c", COMPLETE], env=environment(sandbox, **asked)
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("shell", mostly_long(["bash", "zsh", "fish", "powershell"]))
def test_each_shell_has_a_completion_script(shell):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", COMPLETE],
        env=environment(_FERRY_COMPLETE=f"source_{shell}"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "_FERRY_COMPLETE" in done.stdout, done


def test_options_are_completed(ferry_sandbox):
    assert "--max-penalty" in complete(ferry_sandbox, "cancel", "--m")


@LONG
def test_commands_and_port_codes_are_completed(ferry_sandbox):
    assert complete(ferry_sandbox, "vou").split() == ["voucher"]
    assert complete(ferry_sandbox, "search", "MATN").split() == ["MATNG"]
    assert "MAPTM" in complete(ferry_sandbox, "search", "ESTRF", "MA").split()


@LONG
def test_completion_removes_control_characters(ferry_sandbox):
    name = {"field": "name", "value": "Port\x1b[2J"}
    ferry_sandbox.faults.add("unknown_enum", "catalogue.ports", index=0, **name)
    asked = {
        "_FERRY_COMPLETE": "complete_fish",
        "_TYPER_COMPLETE_ARGS": "ferry search ",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    shown = complete(ferry_sandbox, **asked)
    assert "Port�[2J" in shown
    assert "\x1b" not in shown


@LONG
def test_completion_is_empty_without_the_service(ferry_sandbox):
    ferry_sandbox.stop()
    assert complete(ferry_sandbox, "search", "MATN").strip() == ""
    assert complete(ferry_sandbox, "search", "MATN", FERRY_TOKEN_FILE="/nowhere").strip() == ""
