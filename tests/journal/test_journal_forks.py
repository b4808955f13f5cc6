"""A journal in use when its process forks: both sides go on, each with its own connections."""

import json
import sys
from pathlib import Path

import pytest

from tests.journal.forking import WRITES
from tests.support.processes import run
from tests.support.tiers import mostly_long

ROOT = Path(__file__).parents[2]


def run_program(url, way):
    """What the program saw; it runs by itself, because these tests have threads of their own."""
    done = run([sys.executable, "-m", "tests.journal.forking", url, way], cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "Error" not in done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("way", mostly_long(["at once", "closing", "leaving it open"]))
def test_parent_and_children_write_at_once(url, way):
    report = run_program(url, way)
    everything = ["begun"] * WRITES + ["twin"]
    assert report["ours"] == everything
    assert report["theirs"] == [[*everything, "kept", "own"]] * 2
    assert report["exits"] == [0, 0]
    assert len(report["unresolved"]) == 3 * WRITES
    assert report["first"] == "done"
    assert report["same_connection"]


def test_a_journal_in_memory_stays_with_the_parent():
    report = run_program("sqlite://", "at once")
    assert report["ours"] == ["begun"] * WRITES + ["twin"]
    assert report["theirs"] == [["ConfigurationError"] * (WRITES + 1) + ["kept"]] * 2
    assert report["first"] == "done"


def test_a_fork_does_not_wait_for_a_read(url):
    assert run_program(url, "read") == ["at once", "first", str(WRITES), "first", 0]


def test_a_fork_waits_for_a_write_which_both_sides_then_have_once(url):
    assert run_program(url, "write") == ["waited", "first second", str(WRITES), "first second", 0]
