"""What is said where an extra is not installed."""

import subprocess
import sys

import pytest

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
            "import ferry_sdk.journal",
            'ModuleNotFoundError the journal requires an extra: pip install "ferry-sdk[journal]"',
        ),
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
    ],
)
def test_the_extra_is_named(missing, statement, said):
    program = WITHOUT.format(missing=missing, statement=statement)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(said)
    assert "tr0ub4dor" not in done.stdout


def test_sqlite_needs_no_psycopg():
    statement = "from ferry_sdk.journal import Journal; print(Journal('sqlite://').unresolved())"
    program = WITHOUT.format(missing="psycopg", statement=statement)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "()\n"


def test_the_core_does_not_load_the_journal():
    program = "import sys, ferry_sdk; ferry_sdk.Ferry; print('sqlalchemy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
