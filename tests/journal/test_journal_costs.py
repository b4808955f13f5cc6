"""What a write costs: the statements that it sends, and what Python does for them."""

import pytest
from sqlalchemy import event

from ferry_sdk.journal import Journal
from ferry_sdk.types import OutcomeDetails
from tests.journal.intents import confirmation, intent
from tests.support.costs import Costs, counting

MOST_BYTECODES = 4_500
"""Half more than `begin` takes. It took 18,000 while each write built its statements anew."""
DETAILS = OutcomeDetails("b1", ("t1",))


@pytest.fixture
def used(journal):
    """A journal that has compiled its statements."""
    journal.end(journal.begin(intent()), "done", DETAILS)
    return journal


@pytest.fixture
def used_file(sqlite_url):
    """The same in a file of SQLite."""
    with Journal(sqlite_url) as journal:
        journal.end(journal.begin(intent()), "done", DETAILS)
        yield journal


@pytest.fixture
def sent(used):
    """The statements that change entries, or read them, from now on."""
    seen = []

    def note(_connection, _cursor, statement, *_):
        if "ferry_journal" in statement:
            seen.append(statement)

    event.listen(used._engine, "before_cursor_execute", note)
    return seen


def bytecodes(work, *arguments):
    with counting(Costs()) as costs:
        work(*arguments)
    return costs.bytecodes


def test_begin_is_one_statement(used, sent):
    used.begin(intent(b"another"))
    assert [each.partition(" ")[0] for each in sent] == ["INSERT"]


def test_end_is_one_statement(used, sent):
    entry_id = used.begin(intent(b"another"))
    sent.clear()
    used.end(entry_id, "done", DETAILS)
    assert [each.partition(" ")[0] for each in sent] == ["UPDATE"]


def test_statement_is_compiled_once(used, sent):
    for number in range(3):
        used.end(used.begin(confirmation(f"b{number}")), "done", DETAILS)
    assert len({id(each) for each in sent}) == 2


def test_begin_takes_few_bytecodes(used_file):
    assert bytecodes(used_file.begin, intent(b"another")) <= MOST_BYTECODES


def test_end_takes_few_bytecodes(used_file):
    entry_id = used_file.begin(intent(b"another"))
    assert bytecodes(used_file.end, entry_id, "done", DETAILS) <= MOST_BYTECODES
