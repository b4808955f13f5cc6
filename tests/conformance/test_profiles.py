"""Assumptions: their page, and services that differ in one of them, which the check sees."""

import json
import re
from datetime import date
from pathlib import Path
from typing import get_args

import pytest

from ferry_sdk import Ferry
from ferry_sdk.conformance import check, check_with_booking
from ferry_sdk.conformance.assumptions import ASSUMPTIONS, BOOK, PROBES
from ferry_sdk.conformance.findings import Findings
from ferry_sdk.conformance.report import build_report
from ferry_sdk.sandbox import Profile, Sandbox
from tests.support.summer import TRAVELLER, chosen, search
from tests.support.tiers import LONG
from tests.support.trip import NOW

VALUES = {name: get_args(field.annotation) for name, field in Profile.model_fields.items()}
"""The values of each field of a profile, the default first."""
BY_ID = {assumption.id: assumption for assumption in ASSUMPTIONS}
SEEN = [assumption for assumption in ASSUMPTIONS if assumption.probe in PROBES]


def report_of(profile, *, books):
    """Check a service with a profile, with its own booking or with one that is paid."""
    with (
        Sandbox(profile=profile, now=NOW, frozen=True) as sandbox,
        Ferry(sandbox.token, base_url=sandbox.base_url) as ferry,
    ):
        if books:
            return check_with_booking(ferry, max_price=500)
        found = ferry.availability.search(**search(out_at=date(2050, 7, 15)))
        booking = ferry.bookings.create(availabilities=chosen(found), passengers=[TRAVELLER])
        ferry.bookings.confirm(booking.booking_id)
        sandbox.clock.advance(60)
        return check(ferry, booking_id=booking.booking_id)


def test_page_shows_the_whole_list():
    text = (Path(__file__).parents[2] / "docs" / "assumptions.md").read_text("utf-8")
    row = re.compile(r"^\| `(\w+)` \| (.+) \| ([^|]+) \|$", re.MULTILINE)
    assert row.findall(text.replace("`--book`", "--book")) == [
        (assumption.id, assumption.text, assumption.probe) for assumption in ASSUMPTIONS
    ]


@pytest.mark.parametrize("assumption", SEEN, ids=lambda assumption: assumption.id)
def test_assumption_has_several_values_to_see(assumption):
    assert len({*assumption.values}) == len(assumption.values) > 1


@pytest.mark.parametrize("name", VALUES)
def test_default_of_a_profile_is_what_is_assumed(name):
    assert VALUES[name][0] == BY_ID[name].values[0]


@pytest.mark.parametrize("assumption", SEEN, ids=lambda assumption: assumption.id)
def test_profile_has_the_values_of_an_assumption(assumption):
    assert {*assumption.values} <= {*VALUES[assumption.id]}


DIFFERENCES = [
    pytest.param(name, value, marks=() if name in ("amount", "times", "created_stage") else LONG)
    for name, values in VALUES.items()
    if BY_ID[name].probe in PROBES
    for value in values[1:]
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "value"), DIFFERENCES)
def test_difference_is_in_its_row_alone(name, value):
    report = report_of(Profile(**{name: value}), books=BY_ID[name].probe == BOOK)
    assert {row.id: row.seen for row in report.rows if row.verdict == "differs"} == {name: value}


@pytest.mark.slow
def test_service_with_the_profile_has_the_report(tmp_path):
    profile = Profile(
        no_sailings="empty_list",
        currency="upper_case",
        qr_code="base64",
        search_list="in_object",
        port_country="code",
    )
    report = report_of(profile, books=False)
    assert report.profile() == profile.model_dump(exclude_defaults=True)
    file = tmp_path / "profile.json"
    file.write_text(json.dumps(report.profile()))
    assert report_of(file, books=False) == report


@pytest.fixture
def partly_reproduced():
    """The profile of a service of which a local service cannot reproduce one value."""
    findings = Findings(None)
    findings.seen = {"currency": "upper_case", "balance": "another amount"}
    return build_report(findings).profile()


def test_profile_names_what_is_not_reproduced(partly_reproduced):
    assert partly_reproduced == {
        "currency": "upper_case",
        "not_reproduced": {"balance": "another amount"},
    }


def test_local_service_ignores_what_is_not_reproduced(partly_reproduced, tmp_path):
    file = tmp_path / "profile.json"
    file.write_text(json.dumps(partly_reproduced))
    assert Profile.load(file) == Profile(currency="upper_case")
