"""The library as programs have it that are optimised, zipped, or run where little is there."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import ferry_sdk

PACKAGE = Path(ferry_sdk.__file__).parent
TEXTS = """
import contextlib, json, sys
from ferry_sdk import errors
from ferry_sdk.agents.tools.tools import TOOLS
texts = {}
for tool in TOOLS.values():
    for approver in ("code", "card", "person"):
        made = tool.definition(approver=approver, call=repr)
        texts[f"{made.name} {approver}"] = [
            made.title, made.description, made.input_schema, made.output_schema
        ]
for name, kind in vars(errors).items():
    if isinstance(kind, type):
        texts[name] = [attribute for attribute in dir(kind) if not attribute.startswith("_")]
print(json.dumps(texts, sort_keys=True))
"""
"""Prints what is read from docstrings: tools' definitions, and the attributes of errors."""
DEMO = """
import runpy, sys
sys.argv = ["ferry", "demo"]
runpy.run_module("ferry_sdk", run_name="__main__")
"""
UNWRITABLE = "/proc/nowhere"


def run(*arguments, folder=None, **variables):
    """Run a program of this interpreter; return what it prints."""
    environment = {**os.environ, "COLUMNS": "80", **variables}
    ended = subprocess.run(
        [sys.executable, *arguments],
        env={name: value for name, value in environment.items() if value is not None},
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=100,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def texts():
    """The texts as they are without options."""
    return run("-c", TEXTS)


@pytest.mark.parametrize("option", ["-O", "-OO"])
def test_texts_are_the_same_when_optimised(texts, option):
    assert run(option, "-c", TEXTS) == texts


@pytest.mark.parametrize("command", [[], ["search"], ["mcp"], ["journal", "list"]], ids=" ".join)
def test_helps_are_the_same_when_optimised(command):
    arguments = ["-m", "ferry_sdk", *command, "--help"]
    assert run("-OO", *arguments) == run(*arguments)


@pytest.fixture(scope="module")
def zipped(tmp_path_factory):
    """The package in a zip file."""
    path = tmp_path_factory.mktemp("zipped") / "ferry.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(PACKAGE.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                archive.write(file, file.relative_to(PACKAGE.parent))
    return str(path)


def test_texts_are_the_same_in_a_zip(texts, zipped, tmp_path):
    check = "import ferry_sdk; assert 'ferry.zip' in ferry_sdk.__file__\n"
    assert run("-c", check + TEXTS, folder=tmp_path, PYTHONPATH=zipped) == texts


PLACES = {
    "optimised": {"options": ["-O"]},
    "without docstrings": {"options": ["-OO"]},
    "no home": {"HOME": UNWRITABLE, "XDG_CACHE_HOME": None, "XDG_CONFIG_HOME": None},
    "C locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_demo_runs(place, tmp_path):
    variables = dict(PLACES[place])
    options = variables.pop("options", [])
    printed = run(*options, "-m", "ferry_sdk", "demo", folder=tmp_path, **variables)
    assert "The service answered" in printed


@pytest.mark.slow
def test_demo_runs_in_a_zip(zipped, tmp_path):
    printed = run("-c", DEMO, folder=tmp_path, PYTHONPATH=zipped)
    assert "The service answered" in printed
