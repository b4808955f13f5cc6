"""The check of names finds what it is for."""

from pathlib import Path

import pytest

from scripts.names import faults

RULES = {"modules_in_ing": ["polling"], "names": {"telling": "hook_runner"}}


@pytest.mark.parametrize(
    ("path", "source", "fault"),
    [
        ("ferry_sdk/telling.py", "", "a module is named by a noun"),
        ("ferry_sdk/a.py", "def _telling(): ...\n", "a.py:1: _telling"),
        ("ferry_sdk/a.py", "class Telling: ...\n", "a.py:1: Telling"),
        ("ferry_sdk/a.py", "def f(telling): telling = 1\n", "a.py:1: telling"),
        ("ferry_sdk/a.py", "self.telling = 1\n", "a.py:1: telling"),
        ("ferry_sdk/a.py", "import x as telling\n", "telling"),
    ],
    ids=["module", "function", "class", "argument", "attribute", "import"],
)
def test_refused_name_is_found_where_it_is_given(path, source, fault):
    (found,) = faults(Path(path), source, RULES)
    assert fault in found


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("ferry_sdk/polling.py", "hook_runner = 1\n"),
        ("ferry_sdk/a.py", "print(x.telling, 'telling')\n"),
    ],
    ids=["allowed", "only used"],
)
def test_other_name_is_no_fault(path, source):
    assert [*faults(Path(path), source, RULES)] == []
