"""What `entries` returns: the filters, the order and the pages."""

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import time_machine
from sqlalchemy import event

from ferry_sdk import InvalidInputError
from ferry_sdk.journal import Journal
from ferry_sdk.types import OutcomeDetails
from tests.journal.intents import confirmation, intent, run_sql
from tests.support.exchanges import caught

START = datetime(2027, 3, 1, 9, tzinfo=timezone.utc)
TOKYO = timezone(timedelta(hours=9))
NO_ZONE = START.replace(tzinfo=None)


def at(minutes):
    return START + timedelta(minutes=minutes)


def begin_at(journal, *minutes):
    ids = []
    for number, minute in enumerate(minutes):
        with time_machine.travel(at(minute), tick=False):
            ids.append(journal.begin(confirmation(f"b{number}")))
    return ids


def ids_of(found):
    return [entry.id for entry in found]


class TestFilters:
    def test_entries_come_oldest_first_since_a_moment_and_until_before_one(self, any_journal):
        second, first, fourth, third = begin_at(any_journal, 1, 0, 3, 2)
        any_journal.end(first, "done")
        any_journal.end(third, "rejected")
        ids = [first, second, third, fourth]
        assert ids_of(any_journal.entries()) == ids
        assert ids_of(any_journal.entries(limit=10**30)) == ids
        assert ids_of(any_journal.entries(since=at(1), until=at(3))) == ids[1:3]
        assert any_journal.entries(since=at(2), until=at(2)) == ()
        assert ids_of(any_journal.entries(since=at(1).astimezone(TOKYO))) == ids[1:]
        for since in (at(5), any_journal.entry(fourth)):
            error = caught(InvalidInputError, any_journal.entries, since=since, until=at(2))
            assert error.field == "until", "it is before the start"
        twice = datetime(2050, 10, 30, 2, 30, tzinfo=ZoneInfo("Europe/Rome"))  # clocks go back
        since, until = twice.replace(minute=45), twice.replace(fold=1)
        assert any_journal.entries(since=since, until=until) == ()

    def test_all_filters_together(self, any_journal):
        first = any_journal.begin(confirmation("b1"))
        any_journal.end(first, "rejected")
        second = any_journal.begin(confirmation("b1"))
        any_journal.begin(confirmation("b2"))
        created = any_journal.begin(intent())
        any_journal.end(created, "done", OutcomeDetails("b1"))
        assert ids_of(any_journal.entries(booking_id="b1")) == [first, second, created]
        assert ids_of(any_journal.entries(booking_id="b1", state="rejected")) == [first]
        assert ids_of(any_journal.entries(operation="bookings.create")) == [created]
        both = any_journal.entries(booking_id="b1", operation="bookings.confirm", state="open")
        assert ids_of(both) == [second]
        assert any_journal.entries(booking_id="b2", operation="bookings.create") == ()

    def test_an_id_is_compared_as_it_is(self, any_journal):
        for booking_id in ("b-1", "b-ss", "b%", "b_1", 'b"1', "b-ß", "b\\1", "b" * 200):
            entry_id = any_journal.begin(confirmation(booking_id))
            assert ids_of(any_journal.entries(booking_id=booking_id)) == [entry_id]
        other, *mine = [
            any_journal.begin(confirmation(f"b{number}", correlation_id=one))
            for number, one in enumerate(["order-1", "order-17", "order-17"])
        ]
        assert ids_of(any_journal.entries(correlation_id="order-17")) == mine
        assert ids_of(any_journal.entries(correlation_id="order-17", limit=1)) == mine[:1]
        assert ids_of(any_journal.entries(correlation_id="order-1")) == [other]
        assert any_journal.entries(correlation_id="ORDER-17") == ()

    def test_a_value_that_makes_no_sense_is_named(self):
        table = {
            "since": [NO_ZONE, "2027-03-01", 0, datetime.min.replace(tzinfo=TOKYO)],
            "until": [NO_ZONE, START.date()],
            "state": ["finished", ["done"]],
            "operation": ["bookings.get", "bookings.book", 7],
            "booking_id": ["", 7, "b\0"],
            "ticket_id": [""],
            "correlation_id": ["", "a\nb", 7],
            "limit": [0, -1, True, 1.0, "1"],
        }
        with Journal("sqlite://") as journal:
            for field, values in table.items():
                for value in values:
                    error = caught(InvalidInputError, journal.entries, **{field: value})
                    assert error.field == field, value
            assert caught(InvalidInputError, journal.booking_ids, since="x").field == "since"

    def test_the_database_filters_by_an_index(self, sqlite_url):
        plans = []

        def explain(connection, _cursor, statement, parameters, *_):
            if statement.startswith("SELECT ferry_journal.id"):
                raw = connection.connection.cursor()
                raw.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
                plans.extend(str(row) for row in raw.fetchall())

        with Journal(sqlite_url) as journal:
            begin_at(journal, 0)
            (since,) = journal.entries()
            event.listen(journal._engine, "before_cursor_execute", explain)
            for filters, index in (
                ({"limit": 5}, "ferry_journal_began"),
                ({"since": START, "until": at(9)}, "ferry_journal_began"),
                ({"booking_id": "b1"}, "ferry_journal_booking"),
            ):
                plans.clear()
                journal.entries(**filters)
                journal.entries(**filters | {"since": since})
                assert any(f"USING INDEX {index}" in plan for plan in plans), plans
                assert not any(plan.startswith("SCAN ferry_journal'") for plan in plans)

    def test_the_history_of_a_booking_or_ticket_has_the_writes_on_tickets(self, any_journal):
        def cancellation(ticket_id, **more):
            subject = {"ticket_id": ticket_id, **more}
            name = "tickets.cancel"
            write = intent(repr(subject).encode(), operation=name, effect=name, subject=subject)
            return any_journal.begin(write)

        confirmed = any_journal.begin(confirmation("b1"))
        any_journal.end(confirmed, "done", OutcomeDetails("b1", ("t1", "té")))
        ids = [cancellation(ticket) for ticket in ("t1", "té")]
        for other in ("T1", "t11", "t%", "TÉ"):
            cancellation(other)
        cancellation("t1", booking_id="b2")
        assert ids_of(any_journal.entries(booking_id="b1")) == [confirmed, *ids]
        assert ids_of(any_journal.entries(booking_id="b1", state="unresolved")) == ids
        for more in ({}, {"booking_id": "b1"}):
            assert ids_of(any_journal.entries(ticket_id="té", **more)) == [confirmed, ids[1]]
        assert any_journal.entries(ticket_id="t") == ()


def pages(journal, size, **filters):
    found, page = [], journal.entries(limit=size, **filters)
    while page:
        found.append(ids_of(page))
        page = journal.entries(since=page[-1], limit=size, **filters)
    return found


class TestPages:
    def test_every_entry_is_on_one_page_also_where_many_began_at_one_moment(self, any_journal):
        ids = begin_at(any_journal, 0, 1, 1, 1, 1, 1, 2)
        listed = ids_of(any_journal.entries())
        assert sorted(listed) == sorted(ids)
        for size in (1, 2, 3, 7, 8):
            found = [entry_id for page in pages(any_journal, size) for entry_id in page]
            assert found == listed
        for entry_id in (ids[0], ids[-1]):
            any_journal.end(entry_id, "done")
        assert pages(any_journal, 1, state="done") == [[ids[0]], [ids[-1]]]
        first = any_journal.entry(ids[0])
        any_journal.forget(older_than=0)
        assert ids_of(any_journal.entries(since=first)) == listed[1:-1], "it was forgotten"

    def test_an_entry_that_is_damaged_is_on_one_page_too_and_names_no_booking(self, sqlite_url):
        change = "UPDATE ferry_journal SET {} WHERE booking_id = 'b0'"
        with Journal(sqlite_url) as journal:
            ids = begin_at(journal, 0, 1, 2)
            run_sql(sqlite_url, change.format("created_at = 'yesterday'"))
            assert pages(journal, 1) == [[ids[1]], [ids[2]], [ids[0]]]
            run_sql(sqlite_url, change.format("booking_id = x'ff'"))
            assert sorted(journal.booking_ids()) == ["b1", "b2"]

    def test_each_booking_with_a_possible_effect_comes_once(self, any_journal, monkeypatch):
        monkeypatch.setattr("ferry_sdk.journal.journal._PAGE", 2)
        begin_at(any_journal, *range(5))
        with time_machine.travel(at(0), tick=False):
            for state in ("done", "rejected", "not_sent"):
                any_journal.end(any_journal.begin(confirmation(f"b-{state}")), state)
            any_journal.end(any_journal.begin(intent()), "done", OutcomeDetails("b0"))
        assert sorted([*any_journal.booking_ids()]) == ["b-done", "b0", "b1", "b2", "b3", "b4"]
        assert sorted(any_journal.booking_ids(since=at(3))) == ["b3", "b4"]

    def test_snapshots_are_replaced_found_by_id_and_forgotten(self, any_journal):
        assert any_journal.load_snapshots(["b1"]) == {}
        for content in ("first", "second é"):
            any_journal.save_snapshot("b1", content)
        any_journal.save_snapshot("b2", "other")
        ids = [f"b{number}" for number in range(1_200)]
        assert any_journal.load_snapshots(ids) == {"b1": "second é", "b2": "other"}
        assert any_journal.load_snapshots([]) == {}
        any_journal.forget(older_than=3600)
        assert len(any_journal.load_snapshots(ids)) == 2
        assert (any_journal.forget(older_than=0), any_journal.load_snapshots(ids)) == (0, {})


class TestDetails:
    def test_an_outcome_is_kept_whatever_its_ids_and_corrected_later(self, any_journal):
        for wrong in ("b" * 201, "b\n"):
            error = caught(InvalidInputError, any_journal.begin, confirmation(wrong))
            assert (error.field, error.outcome) == ("booking_id", "not_sent")
        assert any_journal.entries() == ()
        for wrong in ("", "b\0", "b\ud800", "b" * 201, "b\n"):
            entry_id = any_journal.begin(intent())
            any_journal.end(entry_id, "done", OutcomeDetails(wrong, (wrong, "t2"), 200, wrong))
            entry = any_journal.entry(entry_id)
            assert (entry.state, entry.booking_id, entry.code) == ("done", None, None)
            assert entry.ticket_ids == ("t2",)
        with time_machine.travel(START, tick=False):
            entry_id = any_journal.begin(intent())
        assert any_journal.entry(entry_id).began_at == START
        any_journal.end(entry_id, "unknown")
        assert any_journal.entry(entry_id).ended_at is None
        with time_machine.travel(at(3), tick=False):
            any_journal.end(entry_id, "done")
        assert any_journal.entry(entry_id).ended_at == at(3)
        entry_id = any_journal.begin(intent())
        any_journal.end(entry_id, "rejected", OutcomeDetails(status_code=409, code="NO_ROOM"))
        rejected = any_journal.entry(entry_id)
        assert (rejected.status_code, rejected.code) == (409, "NO_ROOM")
        any_journal.end(entry_id, "done", OutcomeDetails("b1", ("t1", "t2")))
        done = any_journal.entry(entry_id)
        assert (done.booking_id, done.ticket_ids) == ("b1", ("t1", "t2"))
        assert (done.status_code, done.code) == (None, None)
        entry_id = any_journal.begin(intent())
        settled = any_journal.settle(entry_id, happened=True)
        any_journal.end(entry_id, "done", OutcomeDetails("b3"))
        late = any_journal.entry(entry_id)
        assert (late.booking_id, late.ended_at) == ("b3", settled.ended_at)

    def test_another_booking_than_that_of_the_write_is_refused(self):
        with Journal("sqlite://") as journal:
            confirmed, created = journal.begin(confirmation("b1")), journal.begin(intent())
            for entry_id, happened, booking_id, said in (
                (confirmed, False, "b1", ""),
                *((confirmed, True, one, "") for one in ("b2", "", 7)),
                (created, True, "b" * 201, "too long"),
            ):
                options = {"happened": happened, "booking_id": booking_id}
                error = caught(InvalidInputError, journal.settle, entry_id, **options)
                assert error.field == "booking_id", booking_id
                assert said in str(error)
                assert journal.entry(entry_id).state == "open"

    def test_two_writes_do_not_make_one_booking_and_a_wrong_one_is_corrected(self, any_journal):
        def refusal(entry_id):
            options = {"happened": True, "booking_id": "b1"}
            return str(caught(InvalidInputError, any_journal.settle, entry_id, **options))

        first = any_journal.begin(intent(b"first"))
        second = any_journal.begin(intent(b"second", operation="mcp.create_booking"))
        any_journal.settle(first, happened=True, booking_id="not-a-booking")
        settled = any_journal.settle(first, happened=True, booking_id="b1")
        assert (settled.booking_id, settled.code) == ("b1", None)
        assert ids_of(any_journal.entries(booking_id="b1")) == [first]
        any_journal.end(any_journal.begin(confirmation("b1")), "done", OutcomeDetails("b1"))
        assert "another write made this booking" in refusal(second)
        assert any_journal.entry(second).is_unresolved
        any_journal.end(first, "done", OutcomeDetails("b2"))  # a late reply
        assert "the reply named another booking" in refusal(first)
        assert any_journal.entry(first).booking_id == "b2"
