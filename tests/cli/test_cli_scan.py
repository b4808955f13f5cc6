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
    """Return the searches of a scan's files."""
    tables = [pq.ParquetFile(part).read().to_pylist() for part in folder.glob("*.parquet")]
    return {row["search"] for table in tables for row in table}


# ---- ferry scan -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "option"),
    [
        pytest.param(WORDS, "--into", id="no folder"),
        pytest.param([*INTO, "--rate", "0"], "--rate", id="no rate"),
    ],
)
def test_invalid_scan_names_the_option(cli, words, option):
    assert option in cli(*words, code=2).err


@pytest.fixture
def interrupted_scan(cli, ferry_sandbox):
    """A scan whose second half failed."""
    ferry_sandbox.faults.add("server_error", "availability.search", times=None, after=10)
    ended = cli(*INTO, "--rate", "500", "--json", code=3)
    ferry_sandbox.faults.clear()
    return ended


@pytest.mark.slow
def test_scan_counts_what_failed(interrupted_scan):
    document = interrupted_scan.document
    assert (document["folder"], document["report"]["size"]) == ("fares", 20)
    assert 0 < document["report"]["failed"] <= 10
    assert "run again to repeat them" in interrupted_scan.err


def test_scan_asks_what_is_missing(cli, ferry_sandbox, tmp_path, interrupted_scan):
    failed = interrupted_scan.document["report"]["failed"]
    sent = ferry_sandbox.counters.requests["availability.search"]
    again = cli(*INTO)
    assert ferry_sandbox.counters.requests["availability.search"] == sent + failed
    assert "with sailings" in again.out
    assert "another" not in again.err
    assert len(searches(tmp_path / "fares")) == 20


@pytest.mark.slow
@pytest.mark.usefixtures("interrupted_scan")
def test_scan_of_another_party_wants_another_folder(cli):
    message = cli(*INTO, "--child", "9M", code=3).err
    assert "with other parties; use another folder" in message


@LONG
@pytest.mark.skipif(os.name != "posix", reason="a process cannot be sent Ctrl-C")
def test_ctrl_c_says_how_to_go_on(cli, ferry_sandbox, tmp_path):
    def has_begun():
        return ferry_sandbox.counters.requests.get("availability.search", 0) >= 8

    ferry_sandbox.faults.add("delay_before", "availability.search", seconds=0.2, times=None)
    output = interrupt(ferry_sandbox, tmp_path, *INTO, when=has_begun, number=signal.SIGINT)
    assert "of 20 searches are in fares; run the scan again to go on" in output
    ferry_sandbox.faults.clear()
    cli(*INTO)
    assert len(searches(tmp_path / "fares")) == 20


# ---- ferry conform ----------------------------------------------------------------------------


def test_service_that_conforms_exits_with_0(cli, ferry_sandbox):
    rows = [line.split() for line in cli("conform").out.splitlines()]
    assert rows[0] == ["assumption", "verdict", "seen"]
    assert ["no_sailings", "holds", "not_found"] in rows
    assert rows[-1][:5] == ["17", "holds,", "0", "differs,", "10"]
    assert effects(ferry_sandbox) == []


PROFILE = {"currency": "upper_case", "out_time": "ignored"}


@pytest.fixture
def other_service():
    """The settings of a service that differs from what the client assumes."""
    with Sandbox(profile=Profile(**PROFILE)) as other:
        yield {"FERRY_BASE_URL": other.base_url, "FERRY_TOKEN": other.token}


@pytest.mark.slow
def test_service_that_differs_exits_with_1(cli, tmp_path, other_service):
    file = tmp_path / "profile.json"
    shown = cli("conform", "--profile", str(file), code=1, **other_service)
    assert "currency: upper_case, but assumed: A search capitalizes" in shown.out
    assert json.loads(file.read_text()) == PROFILE


def test_profile_makes_a_service_that_differs_likewise(cli, tmp_path):
    file = tmp_path / "profile.json"
    file.write_text(json.dumps(PROFILE), "utf-8")
    with Sandbox(profile=file) as same:
        settings = {"FERRY_BASE_URL": same.base_url, "FERRY_TOKEN": same.token}
        document = cli("conform", "--json", code=1, **settings).document
    assert document["conformance"]["profile"] == PROFILE


@pytest.mark.slow
def test_conform_books_with_consent_alone(cli, ferry_sandbox):
    assert "--yes" in cli("conform", *BOOK[:-1], code=2).err
    assert effects(ferry_sandbox) == []


@pytest.mark.parametrize("words", ["--book", "--max-price 20", "--book --max-price 20 --ticket t1"])
def test_options_of_a_booking_need_each_other(cli, ferry_sandbox, words):
    assert "--book" in cli("conform", *words.split(), code=2).err
    assert effects(ferry_sandbox) == []


@pytest.mark.slow
def test_conform_cancels_its_booking(cli, ferry_sandbox):
    document = cli("conform", *BOOK, "--json").document["conformance"]
    verdicts = {row["verdict"] for row in document["rows"] if row["id"].startswith("created")}
    assert (verdicts, document["left"]) == ({"holds"}, None)
    assert effects(ferry_sandbox) == ["bookings.create", "bookings.cancel"]


@LONG
def test_profile_that_cannot_be_written_is_named(cli, tmp_path):
    file = str(tmp_path / "missing" / "profile.json")
    assert file in cli("conform", "--profile", file, code=3).err


@LONG
def test_booking_that_is_left_is_named(cli, ferry_sandbox):
    ferry_sandbox.faults.add("refused", "bookings.cancel", times=None)
    ended = cli("conform", *BOOK, code=5)
    (effect,) = ferry_sandbox.counters.effects
    assert f"a booking: booking {effect.subject} is not cancelled" in ended.err
