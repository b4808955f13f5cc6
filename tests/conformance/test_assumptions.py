"""The page of assumptions and the list in the code say the same."""

import re
from pathlib import Path

from ferry_sdk.conformance.assumptions import ASSUMPTIONS, PROBES

PAGE = Path(__file__).parents[2] / "docs" / "assumptions.md"


def test_the_page_has_each_assumption_with_its_sentence_in_order():
    row = re.compile(r"^\| `(\w+)` \| (.+) \| ([^|]+) \|$", re.MULTILINE)
    assert row.findall(PAGE.read_text("utf-8").replace("`--book`", "--book")) == [
        (one.id, one.text, one.probe) for one in ASSUMPTIONS
    ]


def test_what_a_check_can_see_has_an_assumed_value_and_others():
    for one in ASSUMPTIONS:
        if one.probe in PROBES:
            assert len({*one.values}) == len(one.values) > 1, one.id
