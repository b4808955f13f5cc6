"""The state file: what a restart of the local service keeps."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
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
        records = service.records(ids)
        voucher = service.voucher(ids[4])
        stages = {record["stage"] for record in records if "stage" in record}
        assert len(stages) == 7, stages

    with Sandbox(state=file) as sandbox:
        restarted = ServiceOf(sandbox)
        assert restarted.records(ids) == records
        assert restarted.voucher(ids[4]) == voucher
        # The first service goes on in memory: both age alike.
        sandbox.clock.advance(timedelta(days=300))
        service.clock.advance(timedelta(days=300))
        assert restarted.records(ids) == service.records(ids)


MOMENT = datetime(2031, 2, 3, 4, 5, 6, 789, tzinfo=UTC)


def test_clock_runs_on_after_a_restart(tmp_path):
    options = {"state": tmp_path / "state"}
    with Sandbox(**options) as sandbox:
        sandbox.clock.travel_to(MOMENT)
    with Sandbox(now=NOW, frozen=True, **options) as sandbox:
        assert not sandbox.clock.frozen
        assert MOMENT <= sandbox.clock.now() < MOMENT + timedelta(days=1)


def test_frozen_clock_stands_still_after_a_restart(tmp_path):
    options = {"state": tmp_path / "state"}
    with Sandbox(**options) as sandbox:
        sandbox.clock.freeze()
        sandbox.clock.travel_to(MOMENT)
    with Sandbox(**options) as sandbox:
        assert sandbox.clock.frozen
        assert sandbox.clock.now() == MOMENT


def test_ids_of_a_seed_are_not_used_twice(tmp_path):
    ids = []
    for _ in range(3):
        with Sandbox(state=tmp_path / "state", seed=5) as sandbox:
            ids.append(ServiceOf(sandbox).create()["booking_id"])
    assert len(set(ids)) == 3


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


@pytest.fixture(scope="module")
def seeded_names():
    return names_of_bookings(seed=7)


def test_seed_determines_the_ids_of_bookings(seeded_names):
    assert names_of_bookings(seed=7) == seeded_names
    assert len(set(seeded_names)) == len(seeded_names) == 11


def test_another_seed_has_other_ids(seeded_names):
    assert set(names_of_bookings(seed=8)).isdisjoint(seeded_names)


def test_ids_without_a_seed_are_random(seeded_names):
    random = names_of_bookings()
    assert len(random) == 11
    assert set(random).isdisjoint([*seeded_names, *names_of_bookings()])


@pytest.mark.parametrize(
    ("seed", "file_name", "repeats"),
    [
        pytest.param(7, None, True, id="seed-in-memory"),
        pytest.param(7, "state", True, id="seed-with-a-file"),
        pytest.param(None, "state", False, id="random-with-a-file"),
    ],
)
def test_reset_restarts_the_ids_of_a_seed(tmp_path, seed, file_name, repeats):
    state = None if file_name is None else tmp_path / file_name
    with Sandbox(now=NOW, frozen=True, seed=seed, state=state) as sandbox:
        first = ServiceOf(sandbox).create()["booking_id"]
        sandbox.reset()
        second = ServiceOf(sandbox).create()["booking_id"]
    assert (first == second) == repeats


def test_reset_empties_the_file(tmp_path):
    with Sandbox(now=NOW, frozen=True, state=tmp_path / "state") as sandbox:
        booking_id = ServiceOf(sandbox).create()["booking_id"]
        sandbox.reset()
        assert ServiceOf(sandbox).refusal("bookings.get", id=booking_id)[0] == 404
    with Sandbox(state=tmp_path / "state") as sandbox:
        assert ServiceOf(sandbox).refusal("bookings.get", id=booking_id)[0] == 404


# The file


def test_files_are_private(tmp_path):
    file = tmp_path / "state"
    file.touch(mode=0o644)
    with Sandbox(state=file) as sandbox:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        ServiceOf(sandbox).create()
        assert {stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()} == {0o600}


def test_file_has_one_user_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(state, "_TIMEOUT", 0.01)
    file = tmp_path / "state"
    second = Sandbox(state=file)
    with Sandbox(state=file):
        with pytest.raises(OSError, match="another service"):
            second.start()
        assert not second.running
    with second:
        assert second.running


def make_text(path):
    path.write_bytes(b"my diary, " * 200)


def make_database(path):
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE diary (day TEXT)")


def make_folder(path):
    path.mkdir(mode=0o755)


def make_pipe(path):
    os.mkfifo(path, 0o644)


@pytest.mark.parametrize("make", [make_text, make_database])
def test_other_file_is_refused_unchanged(tmp_path, make):
    path = tmp_path / "state"
    make(path)
    content = path.read_bytes()
    with pytest.raises(OSError, match="is not a state file"):
        Sandbox(state=path).start()
    assert path.read_bytes() == content


@pytest.mark.parametrize("make", [make_folder, make_pipe])
def test_path_of_another_kind_is_refused_unchanged(tmp_path, make):
    path = tmp_path / "state"
    make(path)
    mode = path.stat().st_mode
    with pytest.raises(OSError, match="is not a state file"):
        Sandbox(state=path).start()
    assert path.stat().st_mode == mode


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"], ids=ascii)
def test_impossible_name_of_a_file_is_refused(name):
    with pytest.raises(OSError, match="is not a valid file name"):
        Sandbox(state=name).start()


def test_long_name_of_a_file_is_refused(tmp_path):
    with pytest.raises(OSError, match="too long"):
        Sandbox(state=tmp_path / ("a" * 300)).start()


def test_deep_path_of_a_file_is_refused(tmp_path):
    deep = tmp_path.joinpath(*["d" * 200] * 9)
    deep.mkdir(parents=True)  # SQLite takes shorter paths than the system
    with pytest.raises(OSError, match="unable to open"):
        Sandbox(state=deep / "state").start()


def test_record_that_cannot_be_read_shows_no_traveller(tmp_path):
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
def test_booking_outlives_a_killed_service(tmp_path):
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
    """Return a service that keeps its bookings in a file, and the path of the file."""
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
