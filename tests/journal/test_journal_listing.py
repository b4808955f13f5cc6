"""What `entries` returns: the filters, the order and the pages; and what outcomes name."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
import time_machine
from sqlalchemy import event

from ferry_sdk import InvalidInputError
from ferry_sdk.journal import Journal
from ferry_sdk.types import OutcomeDetails
from tests.journal.intents import confirmation, intent, run_sql
from tests.support.exchanges import caught

START = datetime(2027, 3, 1, 9, tzinfo=UTC)
TOKYO = timezone(timedelta(hours=9))
NO_ZONE = START.replace(tzinfo=None)
WRONG_FILTERS = [
    ("since", NO_ZONE),
    ("since", "2027-03-01"),
    ("since", 0),
    ("since", datetime.min.replace(tzinfo=TOKYO)),
    ("until", NO_ZONE),
    ("until", START.date()),
    ("state", "finished"),
    ("state", ["done"]),
    ("operation", "bookings.get"),
    ("operation", "bookings.book"),
    ("operation", 7),
    ("booking_id", ""),
    ("booking_id", 7),
    ("booking_id", "b\0"),
    ("ticket_id", ""),
    ("correlation_id", ""),
    ("correlation_id", "a\nb"),
    ("correlation_id", 7),
    ("limit", 0),
    ("limit", -1),
    ("limit", True),
    ("limit", 1.0),
    ("limit", "1"),
]
NO_STORABLE_IDS = ["", "b\0", "b\ud800", "b" * 201, "b\n"]


def at(minutes):
    return START + timedelta(minutes=minutes)


def begin_at(journal, *minutes):
    """Begin confirmations of b0, b1, … at these minutes, and return their ids."""
    ids = []
    for number, minute in enumerate(minutes):
        with time_machine.travel(at(minute), tick=False):
            ids.append(journal.begin(confirmation(f"b{number}")))
    return ids


def begin_cancellation(journal, ticket_id, **more):
    subject = {"ticket_id": ticket_id, **more}
    write = intent(
        repr(subject).encode(),
        operation="tickets.cancel",
        effect="tickets.cancel",
        subject=subject,
    )
    return journal.begin(write)


def ids_of(entries):
    return [entry.id for entry in entries]


def pages(journal, size, **filters):
    """Read all entries that pass the filters, and return the ids of each page."""
    listed = []
    page = journal.entries(limit=size, **filters)
    while page:
        listed.append(ids_of(page))
        page = journal.entries(since=page[-1], limit=size, **filters)
    return listed


@pytest.fixture
def memory_journal():
    """A journal of which the kind of database is no matter."""
    with Journal("sqlite://") as journal:
        yield journal


@pytest.fixture
def four(any_journal):
    """The ids of entries that began a minute after each other; they were begun in another order."""
    second, first, fourth, third = begin_at(any_journal, 1, 0, 3, 2)
    any_journal.end(first, "done")
    any_journal.end(third, "rejected")
    return [first, second, third, fourth]


def test_entries_come_oldest_first(any_journal, four):
    assert ids_of(any_journal.entries()) == four


def test_largest_limit_is_none(any_journal, four):
    assert ids_of(any_journal.entries(limit=10**30)) == four


def test_range_ends_before_its_last_moment(any_journal, four):
    assert ids_of(any_journal.entries(since=at(1), until=at(3))) == four[1:3]


def test_range_of_one_moment_is_empty(any_journal, four):
    assert any_journal.entries(since=at(2), until=at(2)) == ()


def test_moment_of_another_zone_is_the_same(any_journal, four):
    assert ids_of(any_journal.entries(since=at(1).astimezone(TOKYO))) == four[1:]


def test_range_that_ends_before_its_start_is_refused(any_journal, four):
    error = caught(InvalidInputError, any_journal.entries, since=at(5), until=at(2))
    assert error.field == "until"


def test_range_that_ends_before_its_entry_is_refused(any_journal, four):
    last = any_journal.entry(four[-1])
    error = caught(InvalidInputError, any_journal.entries, since=last, until=at(2))
    assert error.field == "until"


def test_hour_that_comes_twice_is_no_empty_range(memory_journal):
    twice = datetime(2050, 10, 30, 2, 30, tzinfo=ZoneInfo("Europe/Rome"))  # clocks go back
    since = twice.replace(minute=45)
    until = twice.replace(fold=1)
    assert memory_journal.entries(since=since, until=until) == ()


@pytest.fixture
def mixed(any_journal):
    """The ids of a rejected and an open confirmation of b1, and of its creation."""
    rejected = any_journal.begin(confirmation("b1"))
    any_journal.end(rejected, "rejected")
    opened = any_journal.begin(confirmation("b1"))
    any_journal.begin(confirmation("b2"))
    created = any_journal.begin(intent())
    any_journal.end(created, "done", OutcomeDetails("b1"))
    return rejected, opened, created


def test_filter_by_booking(any_journal, mixed):
    assert ids_of(any_journal.entries(booking_id="b1")) == [*mixed]


def test_filter_by_operation(any_journal, mixed):
    assert ids_of(any_journal.entries(operation="bookings.create")) == [mixed[2]]


def test_filters_by_booking_with_state(any_journal, mixed):
    assert ids_of(any_journal.entries(booking_id="b1", state="rejected")) == [mixed[0]]


def test_entry_passes_all_filters(any_journal, mixed):
    entries = any_journal.entries(booking_id="b1", operation="bookings.confirm", state="open")
    assert ids_of(entries) == [mixed[1]]


def test_entry_that_passes_one_filter_is_left_out(any_journal, mixed):
    assert any_journal.entries(booking_id="b2", operation="bookings.create") == ()


@pytest.mark.parametrize(
    "booking_id", ["b-1", "b-ss", "b%", "b_1", 'b"1', "b-ß", "b\\1", "b" * 200]
)
def test_booking_id_is_compared_as_it_is(any_journal, booking_id):
    for other in ("b-1", "b-ss", "bx1", "b-ß", "b" * 200):
        if other != booking_id:
            any_journal.begin(confirmation(other))
    entry_id = any_journal.begin(confirmation(booking_id))
    assert ids_of(any_journal.entries(booking_id=booking_id)) == [entry_id]


@pytest.fixture
def correlated(any_journal):
    """The ids of one entry of order-1, and of two of order-17."""
    return [
        any_journal.begin(confirmation("b0", correlation_id="order-1")),
        any_journal.begin(confirmation("b1", correlation_id="order-17")),
        any_journal.begin(confirmation("b2", correlation_id="order-17")),
    ]


@pytest.mark.parametrize(
    ("correlation_id", "places"),
    [
        pytest.param("order-1", [0], id="one entry"),
        pytest.param("order-17", [1, 2], id="two entries"),
        pytest.param("ORDER-17", [], id="other case"),
    ],
)
def test_correlation_id_is_compared_as_it_is(any_journal, correlated, correlation_id, places):
    entries = any_journal.entries(correlation_id=correlation_id)
    assert ids_of(entries) == [correlated[place] for place in places]


def test_limit_with_correlation_id(any_journal, correlated):
    assert ids_of(any_journal.entries(correlation_id="order-17", limit=1)) == [correlated[1]]


@pytest.mark.parametrize(("field", "value"), WRONG_FILTERS)
def test_filter_without_meaning_is_named(memory_journal, field, value):
    assert caught(InvalidInputError, memory_journal.entries, **{field: value}).field == field


@pytest.mark.parametrize("field", ["since", "departs_after"])
@pytest.mark.parametrize("moment", ["x", datetime(2050, 5, 3)], ids=["text", "no zone"])  # noqa: DTZ001 -- it is refused
def test_bookings_of_no_moment_are_refused(memory_journal, field, moment):
    assert caught(InvalidInputError, memory_journal.booking_ids, **{field: moment}).field == field


@pytest.mark.parametrize(
    ("filters", "index"),
    [
        ({"limit": 5}, "ferry_journal_began"),
        ({"since": START, "until": at(9)}, "ferry_journal_began"),
        ({"booking_id": "b1"}, "ferry_journal_booking"),
    ],
    ids=["limit", "range", "booking"],
)
@pytest.mark.parametrize("is_next_page", [False, True], ids=["page", "next page"])
def test_database_filters_by_an_index(memory_journal, filters, index, is_next_page):
    plans = []

    def explain(connection, _cursor, statement, parameters, *_):
        if statement.startswith("SELECT ferry_journal.id"):
            raw = connection.connection.cursor()
            raw.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
            plans.extend(str(row) for row in raw.fetchall())

    begin_at(memory_journal, 0)
    if is_next_page:
        filters = filters | {"since": memory_journal.entries()[0]}
    event.listen(memory_journal._engine, "before_cursor_execute", explain)
    memory_journal.entries(**filters)
    assert any(f"USING INDEX {index}" in plan for plan in plans), plans
    assert not any(plan.startswith("SCAN ferry_journal'") for plan in plans)


@pytest.fixture
def history(any_journal):
    """The ids of a confirmation of b1, and of cancellations of its tickets t1 and té."""
    confirmed = any_journal.begin(confirmation("b1"))
    any_journal.end(confirmed, "done", OutcomeDetails("b1", ("t1", "té")))
    ids = [confirmed]
    ids += [begin_cancellation(any_journal, ticket) for ticket in ("t1", "té")]
    for other in ("T1", "t11", "t%", "TÉ"):
        begin_cancellation(any_journal, other)
    begin_cancellation(any_journal, "t1", booking_id="b2")
    return ids


def test_booking_has_the_writes_on_its_tickets(any_journal, history):
    assert ids_of(any_journal.entries(booking_id="b1")) == history


def test_unresolved_writes_on_the_tickets_of_a_booking(any_journal, history):
    entries = any_journal.entries(booking_id="b1", state="unresolved")
    assert ids_of(entries) == history[1:]


@pytest.mark.parametrize("more", [{}, {"booking_id": "b1"}], ids=["ticket", "with its booking"])
def test_ticket_has_its_confirmation_too(any_journal, history, more):
    entries = any_journal.entries(ticket_id="té", **more)
    assert ids_of(entries) == [history[0], history[2]]


def test_beginning_of_a_ticket_id_finds_nothing(any_journal, history):
    assert any_journal.entries(ticket_id="t") == ()


@pytest.fixture
def crowded(any_journal):
    """The ids of entries most of which began at one moment, as they were begun."""
    return begin_at(any_journal, 0, 1, 1, 1, 1, 1, 2)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8])
def test_every_entry_is_on_one_page(any_journal, crowded, size):
    listed = ids_of(any_journal.entries())
    assert sorted(listed) == sorted(crowded)
    paged = [entry_id for page in pages(any_journal, size) for entry_id in page]
    assert paged == listed


def test_pages_of_a_state(any_journal, crowded):
    any_journal.end(crowded[0], "done")
    any_journal.end(crowded[-1], "done")
    assert pages(any_journal, 1, state="done") == [[crowded[0]], [crowded[-1]]]


def test_page_after_an_entry_that_was_forgotten(any_journal, crowded):
    listed = ids_of(any_journal.entries())
    any_journal.end(crowded[0], "done")
    first = any_journal.entry(crowded[0])
    any_journal.forget(older_than=0)
    assert ids_of(any_journal.entries(since=first)) == listed[1:]


def test_damaged_entry_is_on_one_page(sqlite_url):
    with Journal(sqlite_url) as journal:
        ids = begin_at(journal, 0, 1, 2)
        change = "UPDATE ferry_journal SET created_at = 'yesterday' WHERE booking_id = 'b0'"
        run_sql(sqlite_url, change)
        assert pages(journal, 1) == [[ids[1]], [ids[2]], [ids[0]]]


def test_damaged_id_is_no_booking(sqlite_url):
    with Journal(sqlite_url) as journal:
        begin_at(journal, 0, 1, 2)
        run_sql(sqlite_url, "UPDATE ferry_journal SET booking_id = x'ff' WHERE booking_id = 'b0'")
        assert sorted(journal.booking_ids()) == ["b1", "b2"]


@pytest.fixture
def several_bookings(any_journal, monkeypatch):
    """Open entries of b0 to b4, a minute after each other, settled ones of others; small pages."""
    monkeypatch.setattr("ferry_sdk.journal.journal._PAGE", 2)
    begin_at(any_journal, *range(5))
    with time_machine.travel(at(0), tick=False):
        for state in ("done", "rejected", "not_sent"):
            any_journal.end(any_journal.begin(confirmation(f"b-{state}")), state)
        any_journal.end(any_journal.begin(intent()), "done", OutcomeDetails("b0"))


@pytest.mark.usefixtures("several_bookings")
def test_booking_with_a_possible_effect_comes_once(any_journal):
    assert sorted(any_journal.booking_ids()) == ["b-done", "b0", "b1", "b2", "b3", "b4"]


@pytest.mark.usefixtures("several_bookings")
def test_bookings_since_a_moment(any_journal):
    assert sorted(any_journal.booking_ids(since=at(3))) == ["b3", "b4"]


def save_departure(journal, booking_id, ends_at):
    journal.save_departures(booking_id, "{}", ends_at=ends_at, snapshot=None)


@pytest.mark.usefixtures("several_bookings")
class TestDepartures:
    @pytest.fixture(autouse=True)
    def departures(self, any_journal, several_bookings):
        """The departures of all bookings but b3 and b4; that of b2 is not known."""
        for booking_id in ("b-done", "b0"):
            save_departure(any_journal, booking_id, at(5))
        save_departure(any_journal, "b1", at(9))
        save_departure(any_journal, "b2", None)

    def test_earlier_departures_are_left_out(self, any_journal):
        ids = ["b1", "b2", "b3", "b4"]
        assert sorted(any_journal.booking_ids(departs_after=at(5))) == ids

    def test_unknown_departures_stay(self, any_journal):
        assert sorted(any_journal.booking_ids(departs_after=at(9))) == ["b2", "b3", "b4"]

    def test_write_since_a_moment_is_enough(self, any_journal):
        ids = any_journal.booking_ids(since=at(1), departs_after=at(9))
        assert sorted(ids) == ["b1", "b2", "b3", "b4"]

    def test_departure_without_entries_counts(self, any_journal):
        save_departure(any_journal, "forgotten", at(9))
        ids = ["b1", "b2", "b3", "b4", "forgotten"]
        assert sorted(any_journal.booking_ids(departs_after=at(5))) == ids

    def test_booking_that_departs_later_is_not_forgotten(self, any_journal):
        now = datetime.now(UTC)  # `forget` compares with the real clock
        day = timedelta(days=1)
        any_journal.save_departures("b1", "{}", ends_at=now + day, snapshot="kept")
        any_journal.save_departures("b2", "{}", ends_at=now - day, snapshot="old")
        any_journal.forget(older_than=0)
        assert any_journal.load_snapshots(["b1", "b2"]) == {"b1": "kept"}
        departures = any_journal.load_departures(["b1", "b2"])
        assert (departures["b1"].content, departures["b2"].content) == ("{}", None)


def test_departures_count_the_writes_that_are_done(any_journal):
    any_journal.end(any_journal.begin(confirmation("b1")), "done")
    any_journal.end(any_journal.begin(confirmation("b1")), "rejected")
    any_journal.begin(confirmation("b2"))
    save_departure(any_journal, "b3", None)
    assert any_journal.load_departures(["b1", "b2", "b3", "b4"]) == {
        "b1": (None, 1),
        "b2": (None, 0),
        "b3": ("{}", 0),
    }


def test_snapshot_and_departures_are_saved_together(any_journal):
    any_journal.save_departures("b1", "first", ends_at=at(1), snapshot="a")
    any_journal.save_departures("b1", "second", ends_at=None, snapshot="b")
    assert any_journal.load_departures(["b1"]) == {"b1": ("second", 0)}
    assert any_journal.load_snapshots(["b1"]) == {"b1": "b"}


@pytest.fixture
def snapshots_saved(any_journal):
    """Saves a snapshot of b1, which replaces an earlier one, and one of b2."""
    any_journal.save_snapshot("b1", "first")
    any_journal.save_snapshot("b1", "second é")
    any_journal.save_snapshot("b2", "other")


def test_new_journal_has_no_snapshot(any_journal):
    assert any_journal.load_snapshots(["b1"]) == {}


@pytest.mark.usefixtures("snapshots_saved")
def test_snapshots_of_many_bookings(any_journal):
    ids = [f"b{number}" for number in range(1_200)]
    assert any_journal.load_snapshots(ids) == {"b1": "second é", "b2": "other"}


@pytest.mark.usefixtures("snapshots_saved")
def test_snapshots_of_no_booking(any_journal):
    assert any_journal.load_snapshots([]) == {}


@pytest.mark.usefixtures("snapshots_saved")
def test_young_snapshots_are_not_forgotten(any_journal):
    any_journal.forget(older_than=3600)
    assert len(any_journal.load_snapshots(["b1", "b2"])) == 2


@pytest.mark.usefixtures("snapshots_saved")
def test_forgotten_snapshots_do_not_count(any_journal):
    assert any_journal.forget(older_than=0) == 0
    assert any_journal.load_snapshots(["b1", "b2"]) == {}


@pytest.mark.parametrize("wrong", ["b" * 201, "b\n"], ids=["long", "line break"])
def test_id_that_cannot_be_stored_begins_nothing(any_journal, wrong):
    error = caught(InvalidInputError, any_journal.begin, confirmation(wrong))
    assert (error.field, error.outcome) == ("booking_id", "not_sent")
    assert any_journal.entries() == ()


@pytest.mark.parametrize("wrong", NO_STORABLE_IDS, ids=ascii)
def test_outcome_is_kept_without_its_wrong_ids(any_journal, wrong):
    entry_id = any_journal.begin(intent())
    any_journal.end(entry_id, "done", OutcomeDetails(wrong, (wrong, "t2"), 200, wrong))
    entry = any_journal.entry(entry_id)
    assert (entry.state, entry.booking_id, entry.code) == ("done", None, None)
    assert entry.ticket_ids == ("t2",)


def test_entry_ends_when_its_outcome_is_known(any_journal):
    with time_machine.travel(START, tick=False):
        entry_id = any_journal.begin(intent())
    any_journal.end(entry_id, "unknown")
    assert any_journal.entry(entry_id).began_at == START
    assert any_journal.entry(entry_id).ended_at is None
    with time_machine.travel(at(3), tick=False):
        any_journal.end(entry_id, "done")
    assert any_journal.entry(entry_id).ended_at == at(3)


def test_rejection_names_its_status(any_journal):
    entry_id = any_journal.begin(intent())
    any_journal.end(entry_id, "rejected", OutcomeDetails(status_code=409, code="NO_ROOM"))
    entry = any_journal.entry(entry_id)
    assert (entry.status_code, entry.code) == (409, "NO_ROOM")


def test_success_replaces_the_status_of_a_rejection(any_journal):
    entry_id = any_journal.begin(intent())
    any_journal.end(entry_id, "rejected", OutcomeDetails(status_code=409, code="NO_ROOM"))
    any_journal.end(entry_id, "done", OutcomeDetails("b1", ("t1", "t2")))
    entry = any_journal.entry(entry_id)
    assert (entry.booking_id, entry.ticket_ids) == ("b1", ("t1", "t2"))
    assert (entry.status_code, entry.code) == (None, None)


def test_late_reply_names_a_settled_booking(any_journal):
    entry_id = any_journal.begin(intent())
    settled = any_journal.settle(entry_id, happened=True)
    any_journal.end(entry_id, "done", OutcomeDetails("b3"))
    entry = any_journal.entry(entry_id)
    assert (entry.booking_id, entry.ended_at) == ("b3", settled.ended_at)


@pytest.mark.parametrize(
    ("happened", "booking_id"),
    [(False, "b1"), (True, "b2"), (True, ""), (True, 7)],
    ids=["did not happen", "another", "empty", "number"],
)
def test_confirmation_is_not_settled_with_another_booking(memory_journal, happened, booking_id):
    entry_id = memory_journal.begin(confirmation("b1"))
    options = {"happened": happened, "booking_id": booking_id}
    error = caught(InvalidInputError, memory_journal.settle, entry_id, **options)
    assert error.field == "booking_id"
    assert memory_journal.entry(entry_id).state == "open"


def test_create_is_not_settled_with_a_long_id(memory_journal):
    entry_id = memory_journal.begin(intent())
    options = {"happened": True, "booking_id": "b" * 201}
    error = caught(InvalidInputError, memory_journal.settle, entry_id, **options)
    assert error.field == "booking_id"
    assert "too long" in str(error)
    assert memory_journal.entry(entry_id).state == "open"


def refusal_of(journal, entry_id):
    """Settle an entry with booking b1, and return why that is refused."""
    return str(caught(InvalidInputError, journal.settle, entry_id, happened=True, booking_id="b1"))


@pytest.fixture
def settled_create(any_journal):
    """The id of a create that a person settled with booking b1, after a wrong one."""
    entry_id = any_journal.begin(intent(b"first"))
    any_journal.settle(entry_id, happened=True, booking_id="not-a-booking")
    any_journal.settle(entry_id, happened=True, booking_id="b1")
    return entry_id


def test_person_corrects_a_wrong_booking(any_journal, settled_create):
    entry = any_journal.entry(settled_create)
    assert (entry.booking_id, entry.code) == ("b1", None)
    assert ids_of(any_journal.entries(booking_id="b1")) == [settled_create]


def test_two_writes_do_not_make_one_booking(any_journal, settled_create):
    second = any_journal.begin(intent(b"second", operation="mcp.create_booking"))
    any_journal.end(any_journal.begin(confirmation("b1")), "done", OutcomeDetails("b1"))
    assert "another write made this booking" in refusal_of(any_journal, second)
    assert any_journal.entry(second).is_unresolved


def test_person_does_not_correct_a_reply(any_journal, settled_create):
    any_journal.end(settled_create, "done", OutcomeDetails("b2"))
    assert "the reply named another booking" in refusal_of(any_journal, settled_create)
    assert any_journal.entry(settled_create).booking_id == "b2"
