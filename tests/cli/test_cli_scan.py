"""`ferry scan` and `ferry conform`: many calls, whose results go to a file or a folder."""

import json
import os
import signal
from datetime import timedelta

import pyarrow.parquet as pq
import pytest

from ferry_sdk.sandbox import Profile, Sandbox
from tests.cli.conftest import interrupt
from tests.support.effects import effects
from tests.support.tiers import LONG
from tests.support.trip import DAY

LAST = DAY + timedelta(days=9)
WORDS = ["scan", "Genoa", "Tunis", "--from", f"{DAY}", "--to", f"{LAST}", "--adult", "34F"]
INTO = [*WORDS, "--into", "fares"]
BOOK = ("--book", "--max-price", "200", "--yes")


def searches(folder):
    tables = [pq.ParquetFile(part).read().to_pylist() for part in folder.glob("*.parquet")]
    return {row["search"] for table in tables for row in table}


def test_a_scan_asks_what_is_missing(cli, ferry_sandbox, tmp_path):
    assert "--into" in cli(*WORDS, code=2).err
    assert "--rate" in cli(*INTO, "--rate", "0", code=2).err
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
    assert len(searches(tmp_path / "fares")) == 20
    ended = cli(*INTO, "--child", "9M", code=3)
    assert "with other parties; use another folder" in ended.err


@LONG
@pytest.mark.skipif(os.name != "posix", reason="a process cannot be sent Ctrl-C")
def test_ctrl_c_says_how_to_go_on(cli, ferry_sandbox, tmp_path):
    def asked():
        return ferry_sandbox.counters.requests.get("availability.search", 0) >= 8

    ferry_sandbox.faults.add("delay_before", "availability.search", seconds=0.2, times=None)
    output = interrupt(ferry_sandbox, tmp_path, *INTO, when=asked, number=signal.SIGINT)
    assert "of 20 searches are in fares; run the scan again to go on" in output
    ferry_sandbox.faults.clear()
    cli(*INTO)
    assert len(searches(tmp_path / "fares")) == 20


def test_a_service_that_conforms_exits_with_0_another_with_1_and_its_profile_makes_another_one(
    cli, ferry_sandbox, tmp_path
):
    rows = [line.split() for line in cli("conform").out.splitlines()]
    assert rows[0] == ["assumption", "verdict", "seen"]
    assert ["no_sailings", "holds", "not_found"] in rows
    assert rows[-1][:5] == ["17", "holds,", "0", "differs,", "10"]
    assert effects(ferry_sandbox) == []
    file = tmp_path / "profile.json"
    with Sandbox(profile=Profile(currency="upper_case", out_time="ignored")) as other:
        address = {"FERRY_BASE_URL": other.base_url, "FERRY_TOKEN": other.token}
        shown = cli("conform", "--profile", str(file), code=1, **address)
    assert "currency: upper_case, but assumed: A search capitalizes" in shown.out
    profile = {"currency": "upper_case", "out_time": "ignored"}
    assert json.loads(file.read_text()) == profile
    with Sandbox(profile=file) as same:
        address = {"FERRY_BASE_URL": same.base_url, "FERRY_TOKEN": same.token}
        document = cli("conform", "--json", code=1, **address).document
    assert document["conformance"]["profile"] == profile


def test_a_booking_is_made_with_consent_alone_and_cancelled(cli, ferry_sandbox):
    assert "--yes" in cli("conform", *BOOK[:-1], code=2).err
    for wrong in ("--book", "--max-price 20", "--book --max-price 20 --ticket t1"):
        assert "--book" in cli("conform", *wrong.split(), code=2).err
    assert effects(ferry_sandbox) == []
    document = cli("conform", *BOOK, "--json").document["conformance"]
    verdicts = {row["verdict"] for row in document["rows"] if row["id"].startswith("created")}
    assert (verdicts, document["left"]) == ({"holds"}, None)
    assert effects(ferry_sandbox) == ["bookings.create", "bookings.cancel"]


@LONG
def test_a_booking_that_is_left_and_a_profile_that_cannot_be_written_are_named(
    cli, ferry_sandbox, tmp_path
):
    file = str(tmp_path / "missing" / "profile.json")
    assert file in cli("conform", "--profile", file, code=3).err
    ferry_sandbox.faults.add("refused", "bookings.cancel", times=None)
    ended = cli("conform", *BOOK, code=5)
    (effect,) = ferry_sandbox.counters.effects
    assert f"a booking: booking {effect.subject} is not cancelled" in ended.err
