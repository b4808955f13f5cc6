"""Tables of rows that need no new service: one test goes through all of them.

`each` is used as `pytest.mark.parametrize`, where set-up takes longer than a row:

    @each("name", READABLE)
    def test_an_odd_reply_is_read(ferry_over, name): ...

1. pytest sees one test with the arguments that are no columns: the fixtures, here `ferry_over`.
2. That test calls the function once for each row, here with ``name="gzip"``, ``name="deflate"``.
3. A row that fails ends the test with an error that shows the row.

Rows marked `LONG` are left out by `scripts/test`, as tests with this mark are.
"""

import inspect
from functools import wraps

from tests.support.tiers import LONG, is_quick


def each(names, rows):
    """Have one test go through the rows, as `pytest.mark.parametrize` makes a test of each."""
    if isinstance(names, str):
        columns = [name.strip() for name in names.split(",")]
        is_single = "," not in names
    else:
        columns = names
        is_single = False

    table = []
    for row in rows:
        if not (is_quick() and LONG.mark in _marks_of(row)):
            values = _values_of(row, is_single=is_single)
            table.append(dict(zip(columns, values, strict=True)))

    def decorate(test):
        @wraps(test)
        def test_rows(*args, **fixtures):
            for row in table:
                try:
                    test(*args, **fixtures, **row)
                except Exception as error:
                    raise AssertionError(f"it fails for {row}") from error

        # pytest asks the signature which fixtures a test needs.
        signature = inspect.signature(test)
        parameters = signature.parameters.items()
        fixtures = [parameter for name, parameter in parameters if name not in columns]
        test_rows.__signature__ = signature.replace(parameters=fixtures)
        return test_rows

    return decorate


def _marks_of(row):
    return [getattr(mark, "mark", mark) for mark in getattr(row, "marks", ())]


def _values_of(row, *, is_single):
    """Return the values of a row, which may be made by `pytest.param`."""
    if hasattr(row, "marks"):
        return row.values
    return [row] if is_single else row
