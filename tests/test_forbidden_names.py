"""The check of names finds what it is for."""

from pathlib import Path

from scripts.names import faults

RULES = {"modules_in_ing": ["polling"], "names": {"telling": "hook_runner"}}


def test_a_refused_name_is_found_where_it_is_given():
    for path, source, found in (
        ("ferry_sdk/polling.py", "hook_runner = 1\n", []),
        ("ferry_sdk/telling.py", "", ["a module is named by a noun"]),
        ("ferry_sdk/a.py", "def _telling(): ...\n", ["a.py:1: _telling"]),
        ("ferry_sdk/a.py", "class Telling: ...\n", ["a.py:1: Telling"]),
        ("ferry_sdk/a.py", "def f(telling): telling = 1\n", ["a.py:1: telling"]),
        ("ferry_sdk/a.py", "self.telling = 1\n", ["a.py:1: telling"]),
        ("ferry_sdk/a.py", "import x as telling\n", ["telling"]),
        ("ferry_sdk/a.py", "print(x.telling, 'telling')\n", []),
    ):
        faulty = list(faults(Path(path), source, RULES))
        assert len(faulty) == len(found), source
        assert all(part in fault for part, fault in zip(found, faulty, strict=True)), source
