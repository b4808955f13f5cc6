"""What `entries` returns: the filters, the order and the pages."""

from datetime import datetime, timedelta, timezone

import pytest
import time_machine
from sqlalchemy import event

from ferry_sdk import InvalidInputError
from ferry_sdk.journal import Journal
from ferry_sdk.types import OutcomeDetails
from tests.journal.databases import run_sql
from tests.journal.intents import confirmation, intent
from tests.support.exchanges import caught
from tests.support.tables import each

START = datetime(2027, 3, 1, 9, tzinfo=timezone.utc)
TOKYO = timezone(timedelta(hours=9))
NO_ZONE = START.replace(tzinfo=None)


def begin_at(journal, *minutes):
    """Begin a write at each of these minutes after the start."""
    ids = []
    for number, minute in enumerate(minutes):
        with time_machine.travel(START + timedelta(minutes=minute), tick=False):
            ids.append(journal.begin(confirmation(f"b{number}")))
    return ids


def at(minutes):
    return START + timedelta(minutes=minutes)


def ids_of(found):
    return [entry.id for entry in found]


class TestFilters:
    def test_entries_come_oldest_first_whatever_became_of_them(self, any_journal):
        second, first, third = begin_at(any_journal, 5, 1, 9)
        any_journal.end(first, "done")
        any_journal.end(third, "rejected")
        assert ids_of(any_journal.entries()) == [first, second, third]
        assert ids_of(any_journal.entries(limit=10**30)) == [first, second, third]

    def test_since_is_included_and_until_is_not(self, any_journal):
        ids = begin_at(any_journal, 0, 1, 2, 3)
        assert ids_of(any_journal.entries(since=at(1), until=at(3))) == ids[1:3]
        assert any_journal.entries(since=at(2), until=at(2)) == ()
        assert ids_of(any_journal.entries(since=at(1).astimezone(TOKYO))) == ids[1:]
        for since in (at(5), any_journal.entry(ids[3])):
            error = caught(InvalidInputError, any_journal.entries, since=since, until=at(2))
            assert error.field == "until", "it is before the start"

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
        any_journal.begin(confirmation("b-1"))
        any_journal.begin(confirmation("b-ss"))
        for booking_id in ("b%", "b_1", 'b"1', "b-ß", "b\\1", "b" * 200):
            entry_id = any_journal.begin(confirmation(booking_id))
            assert ids_of(any_journal.entries(booking_id=booking_id)) == [entry_id]

    def test_the_writes_of_a_correlation_id(self, any_journal):
        other, *mine = [
            any_journal.begin(confirmation(f"b{number}", correlation_id=one))
            for number, one in enumerate(["order-1", "order-17", "order-17"])
        ]
        assert ids_of(any_journal.entries(correlation_id="order-17")) == mine
        assert ids_of(any_journal.entries(correlation_id="order-17", limit=1)) == mine[:1]
        assert ids_of(any_journal.entries(correlation_id="order-1")) == [other]
        assert any_journal.entries(correlation_id="ORDER-17") == ()

    @each(
        ("field", "values"),
        [
            ("since", [NO_ZONE, "2027-03-01", 0, datetime.min.replace(tzinfo=TOKYO)]),
            ("until", [NO_ZONE, START.date()]),
            ("state", ["finished", ["done"]]),
            ("operation", ["bookings.get", "bookings.book", 7]),
            ("booking_id", ["", 7, "b\0"]),
            ("ticket_id", [""]),
            ("correlation_id", ["", "a\nb", 7]),
            ("limit", [0, -1, True, 1.0, "1"]),
        ],
    )
    def test_a_value_that_makes_no_sense_is_named(self, field, values):
        with Journal("sqlite://") as journal:
            for value in values:
                error = caught(InvalidInputError, journal.entries, **{field: value})
                assert error.field == field, value


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
        with Journal(sqlite_url) as journal:
            ids = begin_at(journal, 0, 1, 2)
            run_sql(
                sqlite_url,
                f"UPDATE ferry_journal SET created_at = 'yesterday' WHERE id = '{ids[0]}'",  # noqa: S608 -- our own id
            )
            assert pages(journal, 1) == [[ids[1]], [ids[2]], [ids[0]]]
            run_sql(
                sqlite_url, "UPDATE ferry_journal SET booking_id = x'ff' WHERE booking_id = 'b0'"
            )
            assert sorted(journal.booking_ids()) == ["b1", "b2"]


@pytest.mark.parametrize(
    ("filters", "index"),
    [
        ({"limit": 5}, "ferry_journal_began"),
        ({"since": START, "until": at(9)}, "ferry_journal_began"),
        ({"booking_id": "b1"}, "ferry_journal_booking"),
    ],
)
def test_the_database_filters_by_an_index(sqlite_url, filters, index):
    with Journal(sqlite_url) as journal:
        begin_at(journal, 0)
        plans = []

        def explain(connection, _cursor, statement, parameters, *_):
            if statement.startswith("SELECT ferry_journal.id"):
                raw = connection.connection.cursor()
                raw.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
                plans.extend(str(row) for row in raw.fetchall())

        event.listen(journal._engine, "before_cursor_execute", explain)
        journal.entries(**filters)
        since = journal.entries()[0]
        journal.entries(**{**filters, "since": since})
    assert any(f"USING INDEX {index}" in plan for plan in plans), plans
    assert not any(plan.startswith("SCAN ferry_journal'") for plan in plans)


class TestDetails:
    def test_what_is_known_before_the_write_is_there_from_the_start(self, any_journal):
        entry = any_journal.entry(any_journal.begin(confirmation("b7")))
        assert (entry.booking_id, entry.ticket_ids) == ("b7", None)
        ticket = any_journal.entry(any_journal.begin(intent(subject={"ticket_id": "t1"})))
        assert (ticket.booking_id, ticket.ticket_ids) == (None, ("t1",))
        assert (ticket.status_code, ticket.code) == (None, None)

    def test_an_entry_ends_when_its_outcome_is_known(self, any_journal):
        with time_machine.travel(START, tick=False):
            entry_id = any_journal.begin(intent())
        assert any_journal.entry(entry_id).began_at == START
        any_journal.end(entry_id, "unknown")
        assert any_journal.entry(entry_id).ended_at is None
        with time_machine.travel(at(3), tick=False):
            any_journal.end(entry_id, "done")
        assert any_journal.entry(entry_id).ended_at == at(3)

    def test_a_late_reply_corrects_what_was_recorded_before(self, any_journal):
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

    def test_an_id_that_a_database_could_refuse_does_not_cost_the_outcome(self, any_journal):
        for wrong in ("", "b\0", "b\ud800", "b" * 201, "b\n"):
            entry_id = any_journal.begin(intent())
            details = OutcomeDetails(wrong, (wrong, "t2"), 200, wrong)
            any_journal.end(entry_id, "done", details)
            entry = any_journal.entry(entry_id)
            assert (entry.state, entry.booking_id, entry.code) == ("done", None, None)
            assert entry.ticket_ids == ("t2",)


class TestSettling:
    @each(("happened", "booking_id"), [(False, "b1"), (True, "b2"), (True, ""), (True, 7)])
    def test_another_booking_than_that_of_the_write_is_refused(self, happened, booking_id):
        with Journal("sqlite://") as journal:
            entry_id = journal.begin(confirmation("b1"))
            with pytest.raises(InvalidInputError) as caught:
                journal.settle(entry_id, happened=happened, booking_id=booking_id)
            assert caught.value.field == "booking_id"
            assert journal.entry(entry_id).state == "open"
            entry_id = journal.begin(intent())
            with pytest.raises(InvalidInputError, match="too long"):
                journal.settle(entry_id, happened=True, booking_id="b" * 201)
            assert journal.entry(entry_id).is_unresolved

    def test_a_wrong_booking_is_corrected_by_settling_again(self, any_journal):
        entry_id = any_journal.begin(intent())
        any_journal.settle(entry_id, happened=True, booking_id="not-a-booking")
        settled = any_journal.settle(entry_id, happened=True, booking_id="b1")
        assert (settled.booking_id, settled.code) == ("b1", None)
        assert ids_of(any_journal.entries(booking_id="b1")) == [entry_id]
        any_journal.end(entry_id, "done", OutcomeDetails("b2"))  # a late reply
        with pytest.raises(InvalidInputError, match="the reply named another booking"):
            any_journal.settle(entry_id, happened=True, booking_id="b1")
        assert any_journal.entry(entry_id).booking_id == "b2"

    def test_two_writes_do_not_make_one_booking(self, any_journal):
        first = any_journal.begin(intent(b"first"))
        second = any_journal.begin(intent(b"second", operation="mcp.create_booking"))
        confirmed = any_journal.begin(confirmation("b1"))
        any_journal.end(confirmed, "done", OutcomeDetails("b1"))
        any_journal.settle(first, happened=True, booking_id="b1")
        with pytest.raises(InvalidInputError, match="another write made this booking"):
            any_journal.settle(second, happened=True, booking_id="b1")
        assert any_journal.entry(second).is_unresolved


def cancellation(ticket_id, **more):
    subject = {"ticket_id": ticket_id, **more}
    name = "tickets.cancel"
    return intent(repr(subject).encode(), operation=name, effect=name, subject=subject)


class TestTickets:
    def test_the_history_of_a_booking_or_ticket_has_the_writes_on_tickets(self, any_journal):
        confirmed = any_journal.begin(confirmation("b1"))
        any_journal.end(confirmed, "done", OutcomeDetails("b1", ("t1", "té")))
        ids = [any_journal.begin(cancellation(ticket)) for ticket in ("t1", "té")]
        for other in ("T1", "t11", "t%", "TÉ"):
            any_journal.begin(cancellation(other))
        any_journal.begin(cancellation("t1", booking_id="b2"))
        assert ids_of(any_journal.entries(booking_id="b1")) == [confirmed, *ids]
        assert ids_of(any_journal.entries(booking_id="b1", state="unresolved")) == ids
        assert ids_of(any_journal.entries(ticket_id="té")) == [confirmed, ids[1]]
        both = any_journal.entries(ticket_id="té", booking_id="b1")
        assert ids_of(both) == [confirmed, ids[1]]
        assert any_journal.entries(ticket_id="t") == ()


class TestBookings:
    def test_each_booking_with_a_possible_effect_comes_once(self, any_journal, monkeypatch):
        monkeypatch.setattr("ferry_sdk.journal.journal._PAGE", 2)
        begin_at(any_journal, *range(5))
        for state in ("done", "rejected", "not_sent"):
            any_journal.end(any_journal.begin(confirmation(f"b-{state}")), state)
        any_journal.end(any_journal.begin(intent()), "done", OutcomeDetails("b0"))
        found = [*any_journal.booking_ids()]
        assert sorted(found) == ["b-done", "b0", "b1", "b2", "b3", "b4"]
        assert sorted(any_journal.booking_ids(since=at(3))) == ["b3", "b4"]
        error = caught(InvalidInputError, any_journal.booking_ids, since="yesterday")
        assert error.field == "since"

    def test_a_write_whose_booking_cannot_be_listed_is_refused(self, any_journal):
        for booking_id in ("b" * 201, "b\n"):
            error = caught(InvalidInputError, any_journal.begin, confirmation(booking_id))
            assert (error.field, error.outcome) == ("booking_id", "not_sent")
        assert any_journal.entries() == ()


# What watches save in a journal


def test_snapshots_are_replaced_found_by_id_and_forgotten(any_journal):
    assert any_journal.load_snapshots(["b1"]) == {}
    for content in ("first", "second é"):
        any_journal.save_snapshot("b1", content)
    any_journal.save_snapshot("b2", "other")
    ids = [f"b{number}" for number in range(1_200)]
    assert any_journal.load_snapshots(ids) == {"b1": "second é", "b2": "other"}
    assert any_journal.load_snapshots([]) == {}
    any_journal.forget(older_than=3600)
    assert len(any_journal.load_snapshots(ids)) == 2
    assert any_journal.forget(older_than=0) == 0
    assert any_journal.load_snapshots(ids) == {}
