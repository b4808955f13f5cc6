"""Fixtures: clients of every kind, a booking to change, a journal, no pauses."""

import logging

import pytest

from ferry_sdk.journal import Journal
from tests.backend.notes import Noting
from tests.support.tiers import mostly_long
from tests.support.trip import booked
from tests.transport.conftest import authority, good, trusted

__all__ = ["authority", "good", "trusted"]


@pytest.fixture(params=mostly_long(["asyncio", "trio"]))
def portal(request):
    return request.getfixturevalue(f"{request.param}_portal")


@pytest.fixture
def new_client(any_clients, ferry_sandbox):
    settings = {"base_url": ferry_sandbox.base_url}
    settings["organisation_token"] = ferry_sandbox.organisation_token
    return lambda token=ferry_sandbox.token, **more: any_clients(token, **settings, **more)


@pytest.fixture
def new_booking(ferry, ferry_sandbox):
    """Makes bookings that are not yet confirmed; what that took is not counted."""

    def made():
        booking_id = booked(ferry).booking_id
        ferry_sandbox.counters.reset()
        return booking_id

    return made


@pytest.fixture
def booking_id(new_booking):
    return new_booking()


@pytest.fixture
def journal(tmp_path):
    with Journal(f"sqlite:///{tmp_path / 'journal.db'}") as made:
        yield made


@pytest.fixture
def noting(journal):
    return Noting(journal)


@pytest.fixture
def warnings(caplog):
    def texts():
        return [
            record.getMessage()
            for record in caplog.records
            if record.name.startswith("ferry_sdk") and record.levelno >= logging.WARNING
        ]

    return texts
