"""The page of assumptions and the list in the code say the same."""

import re
from pathlib import Path

import pytest

from ferry_sdk.conformance.assumptions import ASSUMPTIONS, PROBES

TEXT = (Path(__file__).parents[2] / "docs" / "assumptions.md").read_text("utf-8")


def test_the_page_shows_the_whole_list():
    parts = re.findall(r"\.\./ferry_sdk/conformance/assumptions\.json#(\w+)\)$", TEXT, re.MULTILINE)
    assert parts == ["seen", "unseen"]
    hooks = pytest.importorskip("scripts.docs_hooks")
    shown = "\n".join(hooks.LISTS[f"conformance/assumptions.json#{part}"]() for part in parts)
    row = re.compile(r"^\| `(\w+)` \| (.+) \| ([^|]+) \|$", re.MULTILINE)
    assert row.findall(shown.replace("`--book`", "--book")) == [
        (one.id, one.text, one.probe) for one in ASSUMPTIONS
    ]


def test_what_a_check_can_see_has_an_assumed_value_and_others():
    for one in ASSUMPTIONS:
        if one.probe in PROBES:
            assert len({*one.values}) == len(one.values) > 1, one.id
