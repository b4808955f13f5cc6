"""The help, the overview and the completion: what they list, and what they import."""

import inspect
import sys
from importlib import import_module

import pytest

from ferry_sdk.cli.app import load_command
from ferry_sdk.cli.command_table import COMMANDS
from tests.cli.conftest import environment
from tests.support import processes
from tests.support.tiers import LONG, mostly_long

COMPLETE = [sys.executable, "-W", "error", "-c", "from ferry_sdk.__main__ import main; main()"]
SINGLE = [name for name, row in COMMANDS.items() if not row.is_family]
FAMILIES = [name for name, row in COMMANDS.items() if row.is_family]


def module_of(name):
    return import_module(f"ferry_sdk.cli.commands.{name}")


# ---- The table of commands --------------------------------------------------------------------


@pytest.mark.parametrize("name", SINGLE)
def test_summary_is_the_first_sentence_of_the_help(name):
    function = getattr(module_of(name), name)
    paragraph = " ".join(inspect.cleandoc(function.__doc__).split("\n\n")[0].split())
    assert paragraph.partition(". ")[0].removesuffix(".") + "." == COMMANDS[name].summary


@pytest.mark.parametrize("name", FAMILIES)
def test_family_has_commands(name):
    commands = module_of(name).COMMANDS
    assert load_command(name).commands.keys() == commands.keys()
    assert len(commands) > 1


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_a_help(name):
    command = load_command(name)
    commands = getattr(command, "commands", {name: command})
    options = [option for single in commands.values() for option in single.params]
    assert [option.name for option in options if not option.help] == []


# ---- The help at 80 columns -------------------------------------------------------------------

ROOM = 26
"""Columns of a description, at least: a few words, not one."""


def commands_of(name):
    """Return the command of this name, or those of the family, by what a user types."""
    command = load_command(name)
    family = getattr(command, "commands", None)
    if family is None:
        return {name: command}
    return {f"{name} {single}": of_family for single, of_family in family.items()}


@pytest.mark.parametrize("name", COMMANDS)
def test_descriptions_have_room_at_80_columns(cli, name):
    for words, command in commands_of(name).items():
        lines = cli(*words.split(), "--help", COLUMNS="80").out.splitlines()
        assert max(len(line) for line in lines) <= 80
        rows = {line.strip("│* ").partition(" ")[0]: line.rstrip("│ ") for line in lines}
        for option in command.params:
            if option.opts[0].startswith("--"):
                first_words = " ".join(option.help.split()[:2])
                start = rows[option.opts[0]].index(f" {first_words}") + 1
                assert 80 - len("│") - start >= ROOM, (words, option.opts[0])


def test_help_of_the_sandbox_names_its_variables_once(cli):
    shown = cli("sandbox", "--help", COLUMNS="80").out
    assert shown.count("FERRY_SANDBOX_PORT") == 1
    assert "env var" not in shown


# ---- The overview and the help ----------------------------------------------------------------


@pytest.fixture
def overview(cli):
    """The lines of `ferry` alone."""
    return cli(code=2).out.splitlines()


def test_overview_fits_a_terminal_of_80_by_24(overview):
    assert len(overview) < 24  # the prompt needs one
    assert max(len(line) for line in overview) <= 80


def test_overview_lists_every_command(overview):
    listed = [line.split()[0] for line in overview if line.startswith("  ")]
    assert listed == [*COMMANDS]


def test_misspelt_command_has_a_suggestion(cli):
    assert "Did you mean 'search'?" in cli("serch", code=2).err


@pytest.mark.slow
def test_help_imports_neither_a_client_nor_a_command():
    program = """
import sys
sys.argv[1:] = ["--help"]
from ferry_sdk.__main__ import main
try:
    main()
finally:
    heavy = {"pydantic", "httpx", "httpcore", "ferry_sdk.client", "ferry_sdk.cli.commands"}
    print(sorted(heavy & sys.modules.keys()))
"""
    done = processes.run([sys.executable, "-c", program], new=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "reconcile" in done.stdout


# ---- Completion -------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", mostly_long(["bash", "zsh", "fish", "powershell"]))
def test_each_shell_has_a_completion_script(shell):
    done = processes.run(COMPLETE, env=environment(_FERRY_COMPLETE=f"source_{shell}"))
    assert "_FERRY_COMPLETE" in done.stdout, done


@pytest.fixture
def complete(ferry_sandbox):
    """Complete the last word of a command line, in Bash or as other variables say."""

    def complete(*words, **variables):
        bash = {
            "_FERRY_COMPLETE": "complete_bash",
            "COMP_WORDS": "\n".join(("ferry", *words)),
            "COMP_CWORD": str(len(words)),
        }
        done = processes.run(COMPLETE, env=environment(ferry_sandbox, **bash | variables))
        assert done.stderr == ""
        return done.stdout

    return complete


def test_options_are_completed(complete):
    assert "--max-penalty" in complete("cancel", "--m")


@LONG
def test_commands_are_completed(complete):
    assert complete("vou").split() == ["voucher"]


@LONG
def test_port_codes_are_completed(complete):
    assert complete("search", "MATN").split() == ["MATNG"]


@LONG
def test_destinations_are_completed(complete):
    assert "MAPTM" in complete("search", "ESTRF", "MA").split()


@LONG
def test_completed_names_have_no_control_characters(complete, ferry_sandbox):
    name = {"field": "name", "value": "Port\x1b[2J"}
    ferry_sandbox.faults.add("unknown_enum", "catalogue.ports", index=0, **name)
    fish = {
        "_FERRY_COMPLETE": "complete_fish",
        "_TYPER_COMPLETE_ARGS": "ferry search ",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    shown = complete(**fish)
    assert "Port�[2J" in shown
    assert "\x1b" not in shown


@LONG
@pytest.mark.parametrize(
    "variables", [{}, {"FERRY_TOKEN_FILE": "/nowhere"}], ids=["token", "missing token file"]
)
def test_missing_service_completes_nothing(complete, ferry_sandbox, variables):
    ferry_sandbox.stop()
    assert complete("search", "MATN", **variables).strip() == ""
