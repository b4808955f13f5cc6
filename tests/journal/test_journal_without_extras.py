"""What is said where an extra is not installed."""

import sys

import pytest

from tests.support.processes import run

WITHOUT = """
import sys
sys.modules[{missing!r}] = None
try:
    {statement}
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize(
    ("missing", "statement", "said"),
    [
        (
            "sqlalchemy",
            "from ferry_sdk.journal import Journal",
            'ModuleNotFoundError the journal requires an extra: pip install "ferry-sdk[journal]"',
        ),
        (
            "psycopg",
            "from ferry_sdk.journal import Journal; Journal('postgresql://u:tr0ub4dor@h/db')",
            "ConfigurationError a journal in PostgreSQL requires an extra: ",
        ),
        (
            "psycopg",
            "from ferry_sdk.journal import Journal; print(Journal('sqlite://').unresolved())",
            "()\n",
        ),
    ],
)
def test_the_extra_is_named_where_it_is_needed(missing, statement, said):
    program = WITHOUT.format(missing=missing, statement=statement)
    done = run([sys.executable, "-c", program], new=missing == "sqlalchemy")
    assert done.stdout.startswith(said)
    assert "tr0ub4dor" not in done.stdout
