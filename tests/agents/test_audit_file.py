"""The audit file: each record is where a reader of its path finds it."""

import json
from datetime import UTC, datetime

import pytest

from ferry_sdk import ConfigurationError
from ferry_sdk.agents.policy.audit import AuditRecord
from ferry_sdk.agents.policy.audit_file import AuditFile


def record(tool):
    return AuditRecord(
        at=datetime(2026, 5, 4, tzinfo=UTC),
        tool=tool,
        status="done",
        code=None,
        outcome="done",
        subject={},
        approval=None,
        amount=None,
        currency=None,
        correlation_id="c-1",
        seconds=0.5,
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "audit.jsonl"


def tools_in(path):
    return [json.loads(line)["tool"] for line in path.read_text().splitlines()]


def test_records_are_appended(path):
    audit = AuditFile(path)
    audit(record("bookings_get"))
    audit(record("bookings_create"))
    assert tools_in(path) == ["bookings_get", "bookings_create"]


def test_a_record_after_a_rotation_is_kept(path):
    audit = AuditFile(path)
    audit(record("bookings_get"))
    path.rename(path.with_name("audit.1"))
    audit(record("bookings_create"))
    assert tools_in(path) == ["bookings_create"]


def test_a_link_in_its_place_is_refused(path):
    audit = AuditFile(path)
    path.unlink()
    path.symlink_to(path.with_name("another"))
    with pytest.raises(ConfigurationError, match="cannot be written"):
        audit(record("bookings_get"))
