"""Runs against a server that answers in every wrong way; each prints how it is made again."""

import pytest

from tests.support.tiers import mostly_long
from tests.system.hostile.running import Stage, explore

EACH = 5
RUNS = 300


@pytest.fixture(scope="module")
def stage():
    """Makes runs against one hostile server, each with a client of its own."""
    with Stage() as stage:
        yield stage


@pytest.mark.own_http_client("a run has an HTTP client of the kind that it names")
@pytest.mark.parametrize("first", mostly_long(range(0, RUNS, EACH), short=1, ids=str))
def test_no_reply_makes_the_client_break_a_promise(stage, record_property, first):
    ran, findings = explore(stage, range(first, first + EACH))
    record_property("runs against the hostile server", ran)
    assert not findings, "\n".join(map(str, findings))
