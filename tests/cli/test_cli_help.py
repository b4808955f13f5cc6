"""The help, the overview and the completion: what they list, and what they import."""

import inspect
import sys
from importlib import import_module

import pytest

from ferry_sdk.cli.app import load_command
from ferry_sdk.cli.command_table import COMMANDS
from tests.cli.conftest import environment
from tests.support import processes
from tests.support.tables import each
from tests.support.tiers import LONG, mostly_long

COMPLETE = [sys.executable, "-W", "error", "-c", "from ferry_sdk.__main__ import main; main()"]


@each("name", COMMANDS)
def test_every_option_has_a_help_and_the_summary_is_the_first_sentence_of_the_help(name):
    command = load_command(name)
    for one in getattr(command, "commands", {name: command}).values():
        assert [option.name for option in one.params if not option.help] == []
    if name in {"journal", "orders"}:
        return  # they consist of other commands; their help is the summary
    found = getattr(import_module(f"ferry_sdk.cli.commands.{name}"), name)
    paragraph = " ".join(inspect.cleandoc(found.__doc__).split("\n\n")[0].split())
    assert paragraph.partition(". ")[0].removesuffix(".") + "." == COMMANDS[name].summary


def test_ferry_alone_fits_a_terminal_of_80_by_24_and_a_misspelt_command_is_suggested(cli):
    lines = cli(code=2).out.splitlines()
    assert len(lines) < 24  # the prompt needs one
    assert max(map(len, lines)) <= 80
    assert {line.split()[0] for line in lines if line.startswith("  ")} == {*COMMANDS}
    assert "Did you mean 'search'?" in cli("serch", code=2).err


def test_the_help_imports_no_client():
    program = """
import sys
sys.argv[1:] = ["--help"]
from ferry_sdk.__main__ import main
try:
    main()
finally:
    print(sorted({"pydantic", "httpx", "httpcore", "ferry_sdk.client"} & sys.modules.keys()))
"""
    done = processes.run([sys.executable, "-c", program], new=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "reconcile" in done.stdout


@pytest.mark.parametrize("shell", mostly_long(["bash", "zsh", "fish", "powershell"]))
def test_each_shell_has_a_completion_script(shell):
    done = processes.run(COMPLETE, env=environment(_FERRY_COMPLETE=f"source_{shell}"))
    assert "_FERRY_COMPLETE" in done.stdout, done


def complete(sandbox, *words, **more):
    asked = {"_FERRY_COMPLETE": "complete_bash", "COMP_WORDS": "\n".join(("ferry", *words))}
    asked |= {"COMP_CWORD": str(len(words)), **more}
    done = processes.run(COMPLETE, env=environment(sandbox, **asked))
    assert done.stderr == ""
    return done.stdout


def test_options_are_completed(ferry_sandbox):
    assert "--max-penalty" in complete(ferry_sandbox, "cancel", "--m")


@LONG
def test_commands_and_port_codes_are_completed_with_the_service_only(ferry_sandbox):
    assert complete(ferry_sandbox, "vou").split() == ["voucher"]
    assert complete(ferry_sandbox, "search", "MATN").split() == ["MATNG"]
    assert "MAPTM" in complete(ferry_sandbox, "search", "ESTRF", "MA").split()
    name = {"field": "name", "value": "Port\x1b[2J"}
    ferry_sandbox.faults.add("unknown_enum", "catalogue.ports", index=0, **name)
    fish = {"_TYPER_COMPLETE_ARGS": "ferry search ", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    shown = complete(ferry_sandbox, _FERRY_COMPLETE="complete_fish", **fish)
    assert "Port�[2J" in shown
    assert "\x1b" not in shown
    ferry_sandbox.stop()
    assert complete(ferry_sandbox, "search", "MATN").strip() == ""
    assert complete(ferry_sandbox, "search", "MATN", FERRY_TOKEN_FILE="/nowhere").strip() == ""
