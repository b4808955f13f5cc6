"""A journal in use when its process forks: both sides go on, each with its own connections."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.journal.forking import WRITES
from tests.support.processes import run

ROOT = Path(__file__).parents[2]


def seen(url, way):
    """What the program saw; it runs by itself, because these tests have threads of their own."""
    done = run([sys.executable, "-m", "tests.journal.forking", url, way], cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "Error" not in done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("way", ["at once", "closing", "leaving it open"])
def test_parent_and_children_write_at_once(url, way):
    said = seen(url, way)
    everything = ["begun"] * WRITES + ["twin"]
    assert said["ours"] == everything
    assert said["theirs"] == [[*everything, "kept", "own"]] * 2
    assert said["exits"] == [0, 0]
    assert len(said["unresolved"]) == 3 * WRITES
    assert said["first"] == "done"
    assert said["same_connection"]


def test_a_journal_in_memory_stays_with_the_parent():
    said = seen("sqlite://", "at once")
    assert said["ours"] == ["begun"] * WRITES + ["twin"]
    assert said["theirs"] == [["ConfigurationError"] * (WRITES + 1) + ["kept"]] * 2
    assert said["first"] == "done"


def test_a_fork_does_not_wait_for_a_read(url):
    assert seen(url, "read") == ["at once", "first", str(WRITES), "first", 0]


def test_a_fork_waits_for_a_write_which_both_sides_then_have_once(url):
    assert seen(url, "write") == ["waited", "first second", str(WRITES), "first second", 0]
