"""`ferry scan`: a folder of Parquet files, and how to go on."""

import os
import signal
from datetime import timedelta

import pyarrow.parquet as pq
import pytest

from tests.cli.commands import interrupt
from tests.support.tiers import LONG
from tests.support.trip import DAY

LAST = DAY + timedelta(days=9)
WORDS = ["scan", "Genoa", "Tunis", "--from", f"{DAY}", "--to", f"{LAST}", "--adult", "34F"]
INTO = [*WORDS, "--into", "fares"]


def rows(folder):
    parts = folder.glob("*.parquet")
    return [row for part in parts for row in pq.ParquetFile(part).read().to_pylist()]


def test_a_scan_asks_what_is_missing(cli, ferry_sandbox, tmp_path):
    ferry_sandbox.faults.add("server_error", "availability.search", times=None, after=10)
    ended = cli(*INTO, "--rate", "500", "--json", code=3)
    first = ended.document
    failed = first["report"]["failed"]
    assert (first["folder"], first["report"]["size"], 0 < failed <= 10) == ("fares", 20, True)
    assert "run again to repeat them" in ended.err
    ferry_sandbox.faults.clear()
    sent = ferry_sandbox.counters.requests["availability.search"]
    again = cli(*INTO)
    assert ferry_sandbox.counters.requests["availability.search"] == sent + failed
    assert "with sailings" in again.out
    assert "another" not in again.err
    assert len({row["search"] for row in rows(tmp_path / "fares")}) == 20
    ended = cli(*INTO, "--child", "9M", code=3)
    assert "with other parties; use another folder" in ended.err


def test_a_scan_without_a_folder_or_with_an_invalid_rate_is_refused(cli):
    assert "--into" in cli(*WORDS, code=2).err
    assert "--rate" in cli(*INTO, "--rate", "0", code=2).err


@LONG
@pytest.mark.skipif(os.name != "posix", reason="a process cannot be sent Ctrl-C")
def test_ctrl_c_says_how_to_go_on(cli, ferry_sandbox, tmp_path):
    ferry_sandbox.faults.add("delay_before", "availability.search", seconds=0.2, times=None)

    def asked():
        return ferry_sandbox.counters.requests.get("availability.search", 0) >= 8

    output = interrupt(ferry_sandbox, tmp_path, *INTO, when=asked, number=signal.SIGINT)
    assert "of 20 searches are in fares; run the scan again to go on" in output
    ferry_sandbox.faults.clear()
    cli(*INTO)
    assert len({row["search"] for row in rows(tmp_path / "fares")}) == 20
