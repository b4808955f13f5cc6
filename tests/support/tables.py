"""Tables of what needs no service: one test goes through all rows and names the one that fails."""

import inspect
from functools import wraps

from tests.support.tiers import LONG, is_quick


def each(names, rows):
    """Have one test go through the rows, as `pytest.mark.parametrize` makes a test of each."""
    is_one = isinstance(names, str) and "," not in names
    arguments = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
    table = [
        dict(zip(arguments, values, strict=True))
        for values, marks in (_values_of(row, is_one=is_one) for row in rows)
        if not (is_quick() and LONG.mark in marks)
    ]

    def decorate(test):
        @wraps(test)
        def test_rows(*given, **fixtures):
            for row in table:
                try:
                    test(*given, **fixtures, **row)
                except Exception as error:
                    raise AssertionError(f"it fails for {row}") from error

        signature = inspect.signature(test)
        others = [one for name, one in signature.parameters.items() if name not in arguments]
        test_rows.__signature__ = signature.replace(parameters=others)
        return test_rows

    return decorate


def _values_of(row, *, is_one):
    if hasattr(row, "marks"):
        return row.values, [getattr(mark, "mark", mark) for mark in row.marks]
    return [row] if is_one else row, ()
