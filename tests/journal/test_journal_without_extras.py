"""What is said where an extra is not installed."""

import sys

import pytest

from tests.support.processes import run

WITHOUT = """
import sys
sys.modules[{missing!r}] = None
try:
    from ferry_sdk.journal import Journal
    print(Journal({url!r}).unresolved())
except Exception as error:
    print(type(error).__name__, error)
"""
NO_JOURNAL = 'ModuleNotFoundError the journal requires an extra: pip install "ferry-sdk[journal]"'
NO_SERVER = "ConfigurationError a journal in PostgreSQL requires an extra: "


@pytest.mark.parametrize(
    ("missing", "url", "said"),
    [
        ("sqlalchemy", "sqlite://", NO_JOURNAL),
        ("psycopg", "postgresql://u:tr0ub4dor@h/db", NO_SERVER),
        ("psycopg", "sqlite://", "()\n"),
    ],
)
def test_the_extra_is_named_where_it_is_needed(missing, url, said):
    program = WITHOUT.format(missing=missing, url=url)
    done = run([sys.executable, "-c", program], new=missing == "sqlalchemy")
    assert done.stdout.startswith(said)
    assert "tr0ub4dor" not in done.stdout
