"""The help and the overview: what they list, how they fit, and what they import."""

import inspect
import sys
from importlib import import_module

import pytest

from ferry_sdk.cli.app import COMMANDS, load_command
from tests.cli.terminals import terminal
from tests.support import processes

NARROW = (24, 40)
FAMILIES = ("journal", "orders")
"""Commands that consist of others; their help is the summary."""


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in FAMILIES])
def test_the_summary_is_the_first_sentence_of_the_help(name):
    module, _, attribute = COMMANDS[name].function.partition(":")
    found = getattr(import_module(f"ferry_sdk.cli.commands.{module}"), attribute)
    paragraph = " ".join(inspect.cleandoc(found.__doc__).split("\n\n")[0].split())
    assert paragraph.partition(". ")[0].removesuffix(".") + "." == COMMANDS[name].summary


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_a_help(name):
    command = load_command(name)
    for one in getattr(command, "commands", {name: command}).values():
        assert [option.name for option in one.params if not option.help] == []


def test_ferry_alone_fits_a_terminal_of_80_by_24(cli):
    lines = cli(code=2).out.splitlines()
    assert len(lines) < 24  # the prompt needs one
    assert max(map(len, lines)) <= 80
    assert {line.split()[0] for line in lines if line.startswith("  ")} == {*COMMANDS}


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


def test_a_misspelt_command_is_suggested(cli):
    assert "Did you mean 'search'?" in cli("serch", code=2).err


def test_in_a_narrow_terminal_each_value_has_its_own_line(ferry_sandbox, tmp_path):
    with terminal(ferry_sandbox, tmp_path, "ports", "Genoa", size=NARROW) as person:
        lines = person.finish(0).splitlines()
    words = [line.split() for line in lines]
    first = words.index(["code", "ITGOA"])  # a busy machine shows its progress before
    assert words[first + 1 : first + 3] == [["name", "Genoa"], ["country", "Italy"]]
    assert max(map(len, lines[first:])) <= NARROW[1]
