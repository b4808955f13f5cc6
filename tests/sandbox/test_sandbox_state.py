"""The state file: what a restart of the local service keeps."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from datetime import datetime, timedelta, timezone
from types import SimpleNamespace

import httpx
import pytest
from offline_service import (
    BY_EMAIL,
    GUEST,
    NOW,
    ONE_TICKET,
    PENDING,
    TWO_TICKETS,
    OfflineService,
    ServiceOverHttp,
)

from ferry_sdk.sandbox import Clock, Sandbox
from ferry_sdk.sandbox.bookings import state
from ferry_sdk.sandbox.bookings.state import SandboxState
from ferry_sdk.sandbox.requests.access import Access
from tests.support.processes import start
from tests.support.tiers import LONG

DOCUMENT = {"doc_type": "Passport", "doc_number": "X 12-3", "doc_expiration": "2039-01-31"}
LADY = GUEST | DOCUMENT
LADY |= {"birth_date": "1990-02-28", "nationality": "gb", "gender": "F", "order": 1}
CONTACT = {"name": "Ada Byron", "email": "a@example.org", "prefix": "+44", "phone": "2071234567"}
CAR = {"code": "CAR", "brand": "Fiat", "model": "500", "identification": "AB 123"}


class ServiceOf(OfflineService):
    """The service of a sandbox, called without HTTP."""

    def __init__(self, sandbox):
        self.sandbox, self.clock, self.faults = sandbox, sandbox.clock, sandbox.faults

    @property
    def service(self):
        return self.sandbox.service

    def records(self, ids):
        bookings = [self.booking({"booking_id": each}, access=Access.ORGANISATION) for each in ids]
        tickets = [ticket["id"] for booking in bookings for ticket in booking["tickets"]]
        return [
            *bookings,
            *[self.perform("mcp.view_ticket", id=each) for each in tickets],
            *[self.perform("tickets.pdf", id=each) for each in tickets],
            *[self.fee(each) for each in [*ids, *tickets]],
        ]

    def voucher(self, booking_id):
        url = self.tickets({"booking_id": booking_id})[0]["pdf_url"]
        *_, ticket, key = url.removesuffix(".pdf").split("/")
        return self.service.voucher_file(ticket, key)


def every_kind_of_booking(service):
    whole = {"passengers": (LADY,), "more": {"contact": CONTACT}}
    presale = {"name": "PRESALE", "more": {"reservation_type": "PRESALE"}}
    created = [
        service.create(ONE_TICKET, back=7, **whole),
        service.create(TWO_TICKETS, passengers=(LADY,), more={"vehicle": CAR}, vehicle="FIAT__500"),
        service.create(TWO_TICKETS, **presale),
        service.create(TWO_TICKETS, name="FLEX", out_is_open=True),
        *(service.issue(line, **whole) for line in (ONE_TICKET, PENDING, BY_EMAIL)),
    ]
    assert service.booking(created[3])["journey_details"]["outward"]["is_open"]
    service.cancel(created[-1])
    service.faults.add("ticket_fails")
    created.append(service.issue(TWO_TICKETS, back=7))
    created.append(service.create(TWO_TICKETS))
    service.mark_paid(*service.tickets(created[-1]))
    created.append(service.create(TWO_TICKETS))
    service.faults.add("option_expired")
    service.error_of("bookings.confirm", id=created[-1]["booking_id"])
    return [each["booking_id"] for each in created]


def test_every_booking_is_the_same_after_a_restart(tmp_path):
    file = tmp_path / "state"
    with Sandbox(now=NOW, frozen=True, state=file) as sandbox:
        service = ServiceOf(sandbox)
        ids = every_kind_of_booking(service)
        records, voucher = service.records(ids), service.voucher(ids[4])
        stages = {record["stage"] for record in records if "stage" in record}
        assert len(stages) == 7, stages
    with Sandbox(state=file) as sandbox:
        again = ServiceOf(sandbox)
        assert again.records(ids) == records
        assert again.voucher(ids[4]) == voucher
        sandbox.clock.advance(timedelta(days=300))
        service.clock.advance(timedelta(days=300))
        assert again.records(ids) == service.records(ids)


def test_the_clock_goes_on_after_a_restart_and_seeded_ids_are_not_used_twice(tmp_path):
    how = {"state": tmp_path / "state", "seed": 5}
    moment = datetime(2031, 2, 3, 4, 5, 6, 789, tzinfo=timezone.utc)
    with Sandbox(**how) as sandbox:
        sandbox.clock.travel_to(moment)
        ids = {ServiceOf(sandbox).create()["booking_id"]}
    with Sandbox(now=NOW, frozen=True, **how) as sandbox:
        assert not sandbox.clock.frozen
        assert moment <= sandbox.clock.now() < moment + timedelta(days=1)
        sandbox.clock.freeze()
        sandbox.clock.travel_to(moment)
        ids.add(ServiceOf(sandbox).create()["booking_id"])
    with Sandbox(**how) as sandbox:
        assert sandbox.clock.frozen
        assert sandbox.clock.now() == moment
        ids.add(ServiceOf(sandbox).create()["booking_id"])
    assert len(ids) == 3


def names_of_bookings(**options):
    """Return every id, reference and number of two bookings of a new service."""
    names = []
    with Sandbox(now=NOW, frozen=True, **options) as sandbox:
        service = ServiceOf(sandbox)
        for line in (ONE_TICKET, TWO_TICKETS):
            booking = service.booking(service.issue(line, back=7))
            names += [booking["booking_id"], booking["booking_reference"]]
            for ticket in booking["tickets"]:
                names += [ticket["id"], ticket["ticket_number"]]
                names += (ticket["pdf_url"] or "").split("/")[5:]
    return names


def test_a_seed_determines_the_ids_of_bookings_and_without_one_they_are_random():
    first, random = names_of_bookings(seed=7), names_of_bookings()
    assert first == names_of_bookings(seed=7)
    assert len(set(first)) == len(first) == len(random) == 11
    for others in (names_of_bookings(seed=8), random):
        assert set(others).isdisjoint({*first, *names_of_bookings()})


def test_a_reset_restarts_the_ids_of_a_seed_and_empties_the_file(tmp_path):
    for seed, file in ((7, None), (7, tmp_path / "seeded"), (None, tmp_path / "random")):
        how = {"seed": seed, "state": file}
        with Sandbox(now=NOW, frozen=True, **how) as sandbox:
            names = []
            for _ in range(2):
                names.append(ServiceOf(sandbox).create()["booking_id"])
                sandbox.reset()
                assert ServiceOf(sandbox).refusal("bookings.get", id=names[-1])[0] == 404
        with Sandbox(**how) as sandbox:
            assert ServiceOf(sandbox).refusal("bookings.get", id=names[-1])[0] == 404
        assert (names[0] == names[1]) == (seed == 7), file


def test_the_file_is_private_and_has_one_user_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(state, "_TIMEOUT", 0.01)
    file = tmp_path / "state"
    file.touch(mode=0o644)
    with Sandbox(state=file) as sandbox:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        second = Sandbox(state=file)
        with pytest.raises(OSError, match="another service"):
            second.start()
        assert not second.running
        ServiceOf(sandbox).create()
        assert {stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()} == {0o600}
    with second:
        assert second.running


def test_a_path_of_another_kind_is_an_error_and_is_not_changed(tmp_path):
    names = ("text", "database", "folder", "pipe")
    text, database, folder, pipe = paths = [tmp_path / name for name in names]
    text.write_bytes(b"my diary, " * 200)
    with closing(sqlite3.connect(database)) as other:
        other.execute("CREATE TABLE diary (day TEXT)")
    before = text.read_bytes(), database.read_bytes()
    folder.mkdir(mode=0o755)
    os.mkfifo(pipe, 0o644)
    deep = tmp_path.joinpath(*["d" * 200] * 9)
    deep.mkdir(parents=True)  # SQLite takes shorter paths than the system
    for path, problem in (
        *((path, "is not a state file") for path in paths),
        *((path, "is not a valid file name") for path in ("a\0b", "a\ud800b")),
        (tmp_path / ("a" * 300), "too long"),
        (deep / "state", "unable to open"),
    ):
        with pytest.raises(OSError, match=problem):
            Sandbox(state=path).start()
    assert (text.read_bytes(), database.read_bytes()) == before
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, pipe)] == [0o755, 0o644]


def test_a_record_that_cannot_be_read_shows_no_traveller(tmp_path):
    file = tmp_path / "state"
    with Sandbox(now=NOW, state=file) as sandbox:
        ServiceOf(sandbox).create(passengers=(LADY,))
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE bookings SET record = replace(record, '1990-02-28', 'Byron')")
    with pytest.raises(OSError, match="cannot be read") as caught:
        Sandbox(state=file).start()
    assert "Byron" not in f"{caught.value!r} {caught.value.__cause__!r}"
    SandboxState(file).close()  # it is not locked any more


@LONG
def test_a_booking_outlives_a_killed_service(tmp_path):
    command = [sys.executable, "-u", "-m", "ferry_sdk", "sandbox", "--port=0", "--token=made-up"]
    command += ["--organisation-token=org", "--state=state", "--now", NOW.isoformat(), "--frozen"]
    tokens = SimpleNamespace(token="made-up", organisation_token="org", clock=Clock(NOW), faults=())
    created = None
    for ending in (signal.SIGKILL, signal.SIGINT):
        with start(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
            address = process.stdout.readline().strip().partition("=")[2]
            headers = {"accept": "application/json"}
            with httpx.Client(base_url=address, headers=headers, timeout=60) as http:
                service = ServiceOverHttp(tokens, http)
                created = created or service.create()
                assert service.booking(created)["stage"] == "payment_due"
            process.send_signal(ending)
            process.wait(60)


@pytest.fixture
def kept(tmp_path):
    """A service that keeps its bookings in a file, and the path of the file."""
    file = tmp_path / "state"
    with Sandbox(now=NOW, state=file) as sandbox:
        yield sandbox, file


@pytest.mark.parametrize("is_replaced", [False, True], ids=["removed", "replaced"])
def test_nothing_is_sold_without_its_file(kept, is_replaced):
    sandbox, file = kept
    service = ServiceOf(sandbox)
    service.create()
    file.unlink()
    if is_replaced:
        file.touch(mode=0o600)
    with pytest.raises(OSError, match="was removed, replaced or moved"):
        service.create()
    assert len(sandbox.counters.effects) == 1


def test_state_file_that_is_put_back_is_used(kept):
    sandbox, file = kept
    elsewhere = file.with_name("elsewhere")
    file.rename(elsewhere)
    with pytest.raises(OSError, match="was removed, replaced or moved"):
        ServiceOf(sandbox).create()
    elsewhere.rename(file)
    assert ServiceOf(sandbox).create()["booking_id"]
