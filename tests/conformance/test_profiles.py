"""Assumptions: their page, and services that differ in one of them, which the check sees."""

import json
import re
from datetime import date
from pathlib import Path
from typing import get_args

import pytest

from ferry_sdk import Ferry
from ferry_sdk.conformance import check, check_with_booking
from ferry_sdk.conformance.assumptions import ASSUMPTIONS, PROBES
from ferry_sdk.conformance.findings import Findings
from ferry_sdk.conformance.report import build_report
from ferry_sdk.sandbox import Profile, Sandbox
from tests.support.summer import TRAVELLER, chosen, search
from tests.support.tiers import LONG
from tests.support.trip import NOW

VALUES = {name: get_args(field.annotation) for name, field in Profile.model_fields.items()}
KNOWN = {one.id: one for one in ASSUMPTIONS}


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


def test_the_page_shows_the_whole_list():
    text = (Path(__file__).parents[2] / "docs" / "assumptions.md").read_text("utf-8")
    parts = re.findall(r"\.\./ferry_sdk/conformance/assumptions\.py#(\w+)\)$", text, re.MULTILINE)
    assert parts == ["seen", "unseen"]
    hooks = pytest.importorskip("scripts.docs_hooks")
    shown = "\n".join(hooks.LISTS[f"conformance/assumptions.py#{part}"]() for part in parts)
    row = re.compile(r"^\| `(\w+)` \| (.+) \| ([^|]+) \|$", re.MULTILINE)
    assert row.findall(shown.replace("`--book`", "--book")) == [
        (one.id, one.text, one.probe) for one in ASSUMPTIONS
    ]


def test_a_profile_and_the_list_have_the_same_values_and_defaults_and_others_to_see():
    for one in ASSUMPTIONS:
        if one.probe in PROBES:
            assert len({*one.values}) == len(one.values) > 1, one.id
    assert VALUES.keys() <= KNOWN.keys()
    defaults = {name: values[0] for name, values in VALUES.items()}
    assert defaults == {name: KNOWN[name].values[0] for name in VALUES}
    named = {one.id: one.values for one in ASSUMPTIONS if one.probe in PROBES}
    assert named.keys() <= VALUES.keys()
    assert not [name for name, values in named.items() if not set(values) <= set(VALUES[name])]


DIFFERENCES = [
    pytest.param(name, value, marks=() if name in ("amount", "times", "created_stage") else LONG)
    for name, values in VALUES.items()
    if KNOWN[name].probe in PROBES
    for value in values[1:]
]


@pytest.mark.parametrize(("name", "value"), DIFFERENCES)
def test_a_service_that_differs_in_one_assumption_differs_in_its_row_alone(name, value):
    report = report_of(Profile(**{name: value}), books=KNOWN[name].probe == PROBES[-1])
    assert {row.id: row.seen for row in report.rows if row.verdict == "differs"} == {name: value}


def test_a_local_service_with_the_profile_of_another_gets_the_same_report(tmp_path):
    values = {"no_sailings": "empty_list", "currency": "upper_case", "qr_code": "base64"}
    other = Profile(**values, search_list="in_object", port_country="code")
    report = report_of(other, books=False)
    file = tmp_path / "profile.json"
    file.write_text(json.dumps(report.profile()))
    assert report.profile() == other.model_dump(exclude_defaults=True)
    assert report_of(file, books=False) == report
    # What a local service cannot reproduce is apart.
    findings = Findings(None)
    findings.seen = {"currency": "upper_case", "balance": "another amount"}
    report = build_report(findings)
    profile = {"currency": "upper_case", "not_reproduced": {"balance": "another amount"}}
    assert report.profile() == profile
    file.write_text(json.dumps(profile))
    assert Profile.load(file) == Profile(currency="upper_case")
