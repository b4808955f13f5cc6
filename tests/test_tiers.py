"""What the quick tests leave out."""

from itertools import product
from types import SimpleNamespace

from tests.support.tiers import surplus


def case_of(*ids):
    return SimpleNamespace(callspec=SimpleNamespace(_idlist=ids))


def test_of_a_product_every_value_is_in_a_case_that_is_left():
    axes = ("sync", "asyncio"), ("read", "create"), ("cut", "reset", "hang")
    cases = [case_of(*values) for values in product(*axes)]
    left_out = surplus(cases)
    left = [case.callspec._idlist for case in cases if case not in left_out]
    assert len(left) == 3
    assert [{*values} for values in zip(*left, strict=True)] == [{*axis} for axis in axes]


def test_a_table_keeps_all_of_its_rows():
    assert surplus([case_of(row) for row in "abc"]) == []
