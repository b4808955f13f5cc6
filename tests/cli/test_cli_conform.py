"""`ferry conform`: the service against what the client assumes."""

import json

import pytest

from ferry_sdk.sandbox import Profile, Sandbox
from tests.support.effects import effects
from tests.support.tiers import LONG, mostly_long


def test_a_service_that_conforms_exits_with_0_and_nothing_is_written(cli, ferry_sandbox):
    ended = cli("conform")
    rows = [line.split() for line in ended.out.splitlines()]
    assert rows[0] == ["assumption", "verdict", "seen"]
    assert ["no_sailings", "holds", "not_found"] in rows
    assert rows[-1][:5] == ["17", "holds,", "0", "differs,", "10"]
    assert effects(ferry_sandbox) == []


def test_a_service_that_differs_exits_with_1_and_its_profile_makes_another_one(cli, tmp_path):
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


def test_a_booking_is_made_with_consent_alone_and_cancelled(cli, ferry_sandbox, tmp_path):
    file = tmp_path / "replies.jsonl"
    declined = cli("conform", "--book", "--max-price", "200", code=2)
    assert "--yes" in declined.err
    assert effects(ferry_sandbox) == []
    options = ("--book", "--max-price", "200", "--yes", "--record", str(file), "--json")
    document = cli("conform", *options).document["conformance"]
    assert {row["verdict"] for row in document["rows"] if row["id"].startswith("created")} == {
        "holds"
    }
    assert document["left"] is None
    assert effects(ferry_sandbox) == ["bookings.create", "bookings.cancel"]
    operations = {json.loads(line)["operation"] for line in file.read_text().splitlines()}
    assert {"bookings.create", "bookings.cancel"} <= operations


@LONG
def test_a_booking_that_is_left_exits_with_5_and_is_named(cli, ferry_sandbox):
    ferry_sandbox.faults.add("refused", "bookings.cancel", times=None)
    ended = cli("conform", "--book", "--max-price", "200", "--yes", code=5)
    (effect,) = ferry_sandbox.counters.effects
    assert f"a booking: booking {effect.subject} is not cancelled" in ended.err


@pytest.mark.parametrize(
    "options", mostly_long(["--book", "--max-price 20", "--book --max-price 20 --ticket t1"])
)
def test_options_that_do_not_fit_are_refused(cli, options):
    assert "--book" in cli("conform", *options.split(), code=2).err


@LONG
def test_a_profile_that_cannot_be_written_is_named(cli, tmp_path):
    file = tmp_path / "missing" / "profile.json"
    assert str(file) in cli("conform", "--profile", str(file), code=3).err
