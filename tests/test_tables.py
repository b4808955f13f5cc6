"""A table of rows is one test, which names the row that fails."""

import pytest

from tests.support.tables import each


def test_every_row_is_tried_and_one_that_fails_is_named():
    tried = []

    @each("number, name", [(1, "one"), pytest.param(2, "two", id="second")])
    def is_small(name, number):
        tried.append(name)
        assert number < 2

    with pytest.raises(AssertionError, match="'number': 2, 'name': 'two'") as failed:
        is_small()
    assert isinstance(failed.value.__cause__, AssertionError)
    assert tried == ["one", "two"]
