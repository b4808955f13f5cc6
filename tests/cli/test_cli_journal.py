"""`ferry journal`, `ferry orders` and `ferry reconcile`: the commands on what is on record."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

pytest.importorskip("sqlalchemy", reason="the extra journal is not installed")

from sqlalchemy import create_engine

from ferry_sdk import APIError, Ferry, OrderError, OutcomeUnknownError, orders
from ferry_sdk.journal import Journal
from ferry_sdk.journal.schema import entries as entries_table
from ferry_sdk.types import Intent, OutcomeDetails
from tests.cli.conftest import interrupt
from tests.support import trip
from tests.support.effects import effects
from tests.support.tiers import LONG, mostly_long

pytestmark = pytest.mark.usefixtures("look_once")


EMPTY_LISTS = {
    "journal list": "No entry.",
    "orders list": "No unfinished order.",
    "offers list": "No wish.",
    "offers history Genoa Tunis": "No observation.",
}


def begin(journal, operation="bookings.create", **subject):
    """Add an entry that is open, and return its id."""
    intent = Intent(
        operation=operation,
        effect=operation,
        method="POST",
        path="/api/booking",
        subject=subject,
        identity=f"{operation} {subject}".encode(),
        correlation_id="c-1",
    )
    return journal.begin(intent)


@pytest.fixture
def journal(url):
    """The journal of the commands, whose file exists."""
    with Journal(url) as journal:
        journal.unresolved()
        yield journal


@pytest.fixture
def run(cli, url):
    """Run a command of `ferry journal`."""
    return lambda *words, **more: cli("journal", *words, "--journal", url, **more)


@pytest.fixture
def recording(ferry_sandbox, journal):
    """A client that records in the journal."""
    with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url, journal=journal) as client:
        yield client


@pytest.fixture
def dying(recording, journal, monkeypatch):
    """A client whose process seems to die before it records an outcome."""
    monkeypatch.setattr(journal, "end", lambda *_: None)
    return recording


# ---- ferry journal list and show --------------------------------------------------------------


@pytest.mark.usefixtures("journal")
def test_list_of_an_empty_journal_is_empty(run):
    assert run("list").out == ""


@pytest.mark.usefixtures("journal")
def test_document_of_an_empty_journal_is_empty(run):
    assert run("list", "--json", "--until", "2030-01-01").document == {"entries": []}


@pytest.fixture
def three_writes(journal):
    """The ids of a create that is done and a confirmation that was rejected, of booking b-1.

    A third write is of another booking.
    """
    created = begin(journal)
    journal.end(created, "done", OutcomeDetails("b-1"))
    confirmed = begin(journal, "bookings.confirm", booking_id="b-1")
    journal.end(confirmed, "rejected", OutcomeDetails(status_code=409, code="NO_ROOM"))
    begin(journal, "bookings.cancel", booking_id="b-2")
    return created, confirmed


def test_list_prints_the_writes_of_a_booking(run, three_writes):
    created, confirmed = three_writes
    head, first, second = run("list", "--booking", "b-1").out.splitlines()
    assert head.split()[:4] == ["began", "operation", "state", "age"]
    assert first.split()[3:] == ["bookings.create", "done", "b-1", created, "c-1"]
    assert second.split()[3:6] == ["bookings.confirm", "rejected", "b-1"]
    assert second.split()[6:] == ["409", "NO_ROOM", confirmed, "c-1"]


def test_document_of_a_list_is_filtered(run, journal, three_writes):
    _, confirmed = three_writes
    began = journal.entry(confirmed).began_at.isoformat()
    filters = ["--since", began, "--state", "rejected", "--operation", "bookings.confirm"]
    (entry,) = run("list", *filters, "--limit", "1", "--json").document["entries"]
    assert (entry["id"], entry["began_at"], entry["code"]) == (confirmed, began, "NO_ROOM")
    assert entry["subject"] == {"booking_id": "b-1"}


def test_problems_are_unresolved_and_rejected(run, three_writes):
    _, rejected = three_writes
    listed = run("list", "--state", "problems", "--json").document["entries"]
    assert [entry["state"] for entry in listed] == ["rejected", "open"]
    assert listed[0]["id"] == rejected


@pytest.mark.usefixtures("three_writes")
def test_limit_counts_all_problems(run):
    listed = run("list", "--state", "problems", "--limit", "1", "--json").document["entries"]
    assert [entry["state"] for entry in listed] == ["rejected"]


def test_since_counts_days_back(run, url, three_writes):
    change = entries_table.update().where(entries_table.c.id.in_(three_writes))
    nine_days_ago = datetime.now(UTC) - timedelta(days=9)
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(change.values(created_at=nine_days_ago))
    engine.dispose()
    listed = {days: run("list", "--since", days, "--json").document for days in ("-7", "-10")}
    assert [len(document["entries"]) for document in listed.values()] == [1, 3]


@pytest.mark.parametrize(("words", "sentence"), EMPTY_LISTS.items(), ids=EMPTY_LISTS)
@pytest.mark.usefixtures("journal")
def test_empty_list_says_so_when_piped(cli, url, words, sentence):
    ended = cli(*words.split(), "--journal", url)
    assert (ended.out, ended.err) == ("", f"{sentence}\n")


@pytest.mark.usefixtures("journal")
def test_empty_document_is_alone(run):
    ended = run("list", "--json")
    assert (ended.document, ended.err) == ({"entries": []}, "")


@pytest.mark.usefixtures("journal")
def test_list_of_a_reference_expects_an_id(run, ferry, booked):
    reference = ferry.bookings.get(booked).booking_reference
    listed = run("list", "--booking", reference)
    assert "expected the booking's id, not its reference, by which `ferry find`" in listed.err


def test_show_of_a_reference_expects_an_id(cli, ferry, booked):
    reference = ferry.bookings.get(booked).booking_reference
    assert "not a reference" in cli("show", reference, code=4).err


@pytest.fixture
def unknown_entry(journal):
    """The id of a ticket's cancellation whose outcome is unknown."""
    entry_id = begin(journal, "tickets.cancel", ticket_id="t-1")
    journal.end(entry_id, "unknown")
    return entry_id


def test_show_prints_an_entry(run, unknown_entry):
    lines = dict(line.split(maxsplit=1) for line in run("show", unknown_entry).out.splitlines())
    assert lines["state"] == "unknown, unresolved"
    assert (lines["tickets"], lines["correlation"]) == ("t-1", "id  c-1")


def test_document_of_an_entry_has_its_tickets(run, unknown_entry):
    entry = run("show", unknown_entry, "--json").document["entry"]
    assert (entry["ticket_ids"], entry["ended_at"]) == (["t-1"], None)


@pytest.mark.usefixtures("journal")
def test_unknown_entry_is_an_error(run):
    assert "no such entry" in run("show", "nothing", code=3).err


def test_list_breaks_no_id_on_a_narrow_terminal(ferry_sandbox, tmp_path, url, journal):
    from tests.cli.terminals import terminal

    booking_id = "0f8fad5b-d9cb-469f-a165-70867728950e"
    entry_id = begin(journal, "bookings.cancel", booking_id=booking_id)
    words = ["journal", "list", "--journal", url]
    with terminal(ferry_sandbox, tmp_path, *words, size=(24, 80)) as person:
        lines = [line.split() for line in person.finish(0).splitlines()]
    assert ["booking", booking_id] in lines
    assert ["entry", entry_id] in lines
    assert ["next", "run", "`ferry", "journal", "recover", f"{entry_id}`"] in lines


# ---- ferry journal settle ---------------------------------------------------------------------


@pytest.fixture
def open_create(journal):
    """The id of a create that is open."""
    return begin(journal)


NO_CHECK = ["--happened", "--booking", "b-1", "--no-check"]


def test_settle_without_a_terminal_wants_yes(run, open_create):
    assert "--yes" in run("settle", open_create, *NO_CHECK, code=2).err


def test_settle_reads_the_booking_that_was_named(run, journal, open_create):
    run("settle", open_create, "--happened", "--yes", "--booking", "mistyped", code=4)
    assert journal.entry(open_create).is_unresolved


def test_settle_records_what_a_person_learned(run, journal, open_create):
    entry = run("settle", open_create, *NO_CHECK, "--yes", "--json").document["entry"]
    assert (entry["state"], entry["booking_id"]) == ("done", "b-1")
    assert journal.entry(open_create).state == "done"


def test_settle_without_a_booking_names_the_option(run, journal, open_create):
    ended = run("settle", open_create, "--happened", "--yes")
    assert "`ferry find` and `ferry reconcile` will not know the booking" in ended.err
    assert "--booking ID" in ended.err


@pytest.mark.parametrize("words", [["--not-happened"], NO_CHECK], ids=["not happened", "named"])
def test_settle_warns_of_no_booking_that_is_known(run, open_create, words):
    assert "will not know the booking" not in run("settle", open_create, *words, "--yes").err


def test_write_that_is_done_stays_done(run, journal, open_create):
    journal.end(open_create, "done", OutcomeDetails("b-1"))
    assert "recorded as done" in run("settle", open_create, "--not-happened", "-y", code=3).err


def test_settle_corrects_the_booking(run, journal, booked, open_create):
    journal.settle(journal.entry(open_create), happened=True, booking_id="b-1")
    run("settle", open_create, "--happened", "--yes", "--booking", booked)
    assert journal.entry(open_create).booking_id == booked


def test_settle_shows_who_is_on_the_named_booking(run, booked, open_create):
    ended = run("settle", open_create, "--happened", "--booking", booked, "--yes")
    assert "Ada Reyes" in ended.err


@pytest.fixture
def confirmed_entry(journal, booked, ticket):
    """The id of an open confirmation, which has happened."""
    return begin(journal, "bookings.confirm", booking_id=booked)


def test_settle_does_not_deny_a_visible_write(run, journal, confirmed_entry):
    ended = run("settle", confirmed_entry, "--not-happened", "--yes", code=3)
    assert f"ferry journal recover {confirmed_entry}" in ended.err
    assert journal.entry(confirmed_entry).is_unresolved


@pytest.mark.parametrize("write", ["confirm", "cancel", "ticket", "missing"])
def test_settle_refuses_that_a_refuted_write_happened(run, journal, ferry, booked, ticket, write):
    match write:
        case "confirm":
            other = trip.booked(ferry).booking_id
            entry_id = begin(journal, "bookings.confirm", booking_id=other)
        case "cancel":
            entry_id = begin(journal, "bookings.cancel", booking_id=booked)
        case "ticket":
            entry_id = begin(journal, "mcp.cancel_ticket", ticket_id=ticket)
        case "missing":
            entry_id = begin(journal, "bookings.confirm", booking_id="no-booking")
    assert "--no-check" in run("settle", entry_id, "--happened", "--yes", code=3).err
    assert journal.entry(entry_id).state == "open"


def test_settle_refuses_what_it_cannot_read(run, journal, ferry_sandbox, confirmed_entry):
    ferry_sandbox.faults.add("server_error", "bookings.get", times=None)
    run("settle", confirmed_entry, "--happened", "--yes", code=3)
    assert journal.entry(confirmed_entry).is_unresolved


def test_settle_records_what_the_service_shows(run, journal, confirmed_entry):
    run("settle", confirmed_entry, "--happened", "--yes")
    assert journal.entry(confirmed_entry).state == "done"


def test_settle_says_what_a_read_shows(run, journal, booked):
    entry_id = begin(journal, "bookings.confirm", booking_id=booked)
    assert "the booking is payment_due" in run("settle", entry_id, "--not-happened", "-y").err
    assert journal.entry(entry_id).state == "rejected"


@pytest.mark.usefixtures("ticket")
def test_settle_without_a_check_records_what_is_refuted(run, journal, booked):
    entry_id = begin(journal, "bookings.cancel", booking_id=booked)
    run("settle", entry_id, "--happened", "--yes", "--no-check")
    assert journal.entry(entry_id).state == "done"


@pytest.mark.parametrize(
    ("answer", "code", "state"),
    [
        pytest.param("", 6, "open", id="declined"),
        pytest.param("y", 0, "rejected", id="agreed"),
    ],
)
def test_settle_asks_a_person(ferry_sandbox, tmp_path, url, journal, answer, code, state):
    from tests.cli.terminals import terminal

    entry_id = begin(journal, "bookings.cancel", booking_id="b-1")
    words = ["journal", "settle", entry_id, "--not-happened", "--journal", url]
    with terminal(ferry_sandbox, tmp_path, *words) as person:
        person.expect("Record that it did not happen?")
        person.answer(answer)
        person.finish(code)
    assert journal.entry(entry_id).state == state


# ---- ferry book after a lost reply ------------------------------------------------------------


@pytest.fixture
def book_again(cli, order, url, ferry_sandbox):
    """Book by a command line whose first run lost the reply of its create."""
    words = ["book", "--from", str(order), "--yes", "--journal", url]
    ferry_sandbox.faults.add("lose_reply", "bookings.create")
    cli(*words, code=5)
    return lambda *more, **options: cli(*words, *more, **options)


def test_repeated_command_line_does_not_book_twice(book_again, ferry_sandbox, journal):
    (entry,) = journal.unresolved()
    ended = book_again(code=5)
    assert f"entry {entry.id}, correlation id {entry.correlation_id}" in ended.err
    assert f"run `ferry journal settle {entry.id}`" in ended.err
    assert effects(ferry_sandbox) == ["bookings.create"]


def test_document_names_the_unresolved_booking(book_again, journal):
    (entry,) = journal.unresolved()
    error = book_again("--json", code=5).document["error"]
    assert error["entry_id"] == entry.id
    assert error["correlation_id"] == entry.correlation_id


def test_settled_booking_allows_the_next_one(book_again, ferry_sandbox, journal):
    (entry,) = journal.unresolved()
    journal.settle(entry, happened=False)
    book_again()
    assert effects(ferry_sandbox) == ["bookings.create"] * 2


def test_unresolved_booking_of_an_order_names_the_order(cli, order, url, hold_unfinished):
    held = hold_unfinished(2)
    ended = cli("book", "--from", str(order), "--yes", "--journal", url, code=5)
    assert f"then `ferry orders resume {held.id}`" in ended.err


def test_named_booking_is_to_be_recovered(cli, named, order, url):
    _, error = named
    ended = cli("book", "--from", str(order), "--yes", "--journal", url, code=5)
    assert f"run `ferry journal recover {error['entry_id']}`" in ended.err


@pytest.mark.parametrize(
    ("answer", "code", "count"),
    [
        pytest.param("", 6, 1, id="declined"),
        pytest.param("y", 0, 2, id="agreed"),
    ],
)
@pytest.mark.usefixtures("book_again")
def test_unresolved_booking_is_asked_about(
    ferry_sandbox, tmp_path, order, url, journal, answer, code, count
):
    from tests.cli.terminals import terminal

    (entry,) = journal.unresolved()
    words = ["book", "--from", str(order), "--journal", url]
    with terminal(ferry_sandbox, tmp_path, *words, size=(60, 160)) as person:
        person.expect(entry.correlation_id)
        person.expect("Book all the same?")
        person.answer(answer)
        if answer:
            person.expect("Book it?")
            person.answer("y")
        person.finish(code)
    assert effects(ferry_sandbox) == ["bookings.create"] * count


def test_change_does_not_book_beside_an_unresolved_booking(change, ferry_sandbox, journal):
    entry_id = begin(journal)
    before = effects(ferry_sandbox)
    assert entry_id in change("--yes", code=5).err
    assert effects(ferry_sandbox) == before


# ---- ferry journal recover --------------------------------------------------------------------


@pytest.fixture
def unresolved(ferry_sandbox, dying, journal, booked):
    """The entries of a confirmation that happened, and of a cancellation that was refused."""
    dying.bookings.confirm(booked)
    ferry_sandbox.faults.add("refused", "bookings.cancel")
    with pytest.raises(APIError):
        dying.bookings.cancel(booked)
    confirmed, cancelled = journal.unresolved()
    return confirmed, cancelled


def test_unresolved_entries_name_the_next_step(run, unresolved):
    listed = run("list", "--state", "unresolved", "--json").document["entries"]
    assert [entry["next"] for entry in listed] == [
        f"run `ferry journal recover {entry.id}`" for entry in unresolved
    ]


def test_unresolved_write_is_not_sent_again(cli, ferry_sandbox, url, booked, unresolved):
    _, cancelled = unresolved
    message = cli("cancel", booked, "--yes", "--journal", url, code=5).err
    assert f"ferry journal recover {cancelled.id}" in message

    ended = cli("cancel", booked, "--yes", "--journal", url, "--json", code=5)
    error = ended.document["error"]
    assert (error["type"], error["exit_code"]) == ("UnresolvedWriteError", 5)
    assert error["entry_id"] == cancelled.id
    assert ferry_sandbox.counters.requests["bookings.cancel"] == 1


def test_recover_records_what_a_read_shows(run, unresolved):
    confirmed, _ = unresolved
    first, second = run("recover", "--all", "--json", code=5).document["entries"]
    assert (first["id"], first["state"], first["next"]) == (confirmed.id, "done", None)
    assert (second["state"], second["seen"]) == ("open", "the booking is ticketed")


def test_recover_of_a_visible_write_exits_with_0(run, dying, journal, booked):
    dying.bookings.confirm(booked)
    (entry,) = journal.unresolved()
    run("recover", entry.id, code=0)


def test_recover_names_the_next_step(run, unresolved):
    _, cancelled = unresolved
    ended = run("recover", cancelled.id, code=5)
    assert f"ferry journal settle {cancelled.id}" in ended.out


def test_recover_of_a_create_names_the_option(run, open_create):
    ended = run("recover", open_create, code=5)
    assert "--happened --booking ID" in " ".join(f"{ended.out} {ended.err}".split())


@pytest.mark.usefixtures("journal")
@pytest.mark.parametrize("words", [[], ["e-1", "--all"]], ids=["neither", "both"])
def test_recover_wants_an_entry_or_all(run, words):
    assert "--all" in run("recover", *words, code=2).err


def test_confirm_settles_what_is_done_already(cli, dying, url, journal, booked):
    dying.bookings.confirm(booked)
    (entry,) = journal.unresolved()
    assert "already confirmed" in cli("confirm", booked, "--journal", url).out
    assert journal.entry(entry.id).state == "done"


# ---- Commands that write ----------------------------------------------------------------------


def test_missing_journal_is_not_made(cli, tmp_path):
    url = f"sqlite:///{tmp_path / 'shop.db'}"
    error = cli("journal", "list", "--journal", url, "--json", code=3).document["error"]
    assert (error["type"], error["field"]) == ("InvalidInputError", "journal")
    assert not (tmp_path / "shop.db").exists()


def test_new_journal_is_a_warning(cli, tmp_path, order):
    url = f"sqlite:///{tmp_path / 'shop.db'}"
    assert "shop.db is new" in cli("book", "--from", str(order), "--yes", FERRY_JOURNAL=url).err


@pytest.mark.usefixtures("journal")
def test_known_journal_is_no_warning(cli, url, booked):
    assert "is new" not in cli("cancel", booked, "--yes", "--journal", url).err


def test_commands_record_their_writes(cli, journal, url, order):
    made = cli("book", "--from", str(order), "--yes", "--json", FERRY_JOURNAL=url).document
    booking_id = made["booking"]["booking_id"]
    cli("confirm", booking_id, "--yes", FERRY_JOURNAL=url)
    cli("cancel", booking_id, "--yes", "--journal", url)
    states = {entry.operation: entry.state for entry in journal.entries(booking_id=booking_id)}
    assert states == {
        "bookings.create": "done",
        "bookings.confirm": "done",
        "bookings.cancel": "done",
    }


@pytest.fixture
def slow_confirmation(ferry_sandbox):
    """The service confirms a booking and answers half a minute later."""
    ferry_sandbox.faults.add("delay_after", "bookings.confirm", seconds=30)
    return lambda: ferry_sandbox.counters.effects_of("bookings.confirm")


def test_interrupted_write_names_its_entry(
    ferry_sandbox, tmp_path, url, journal, booked, slow_confirmation
):
    words = ("confirm", booked, "--yes", "--journal", url)
    output = interrupt(ferry_sandbox, tmp_path, *words, when=slow_confirmation)
    (entry,) = journal.unresolved()
    assert f"bookings.confirm is journal entry {entry.id}" in output
    assert f"run `ferry journal recover {entry.id}`" in output


@LONG
@pytest.mark.usefixtures("journal")
def test_interrupted_write_is_named_without_its_journal(
    ferry_sandbox, tmp_path, url, booked, slow_confirmation
):
    def break_journal():
        is_confirmed = slow_confirmation()
        if is_confirmed:
            with closing(sqlite3.connect(tmp_path / "ferry.db")) as database:
                database.execute(f"DROP TABLE {entries_table.name}")
        return is_confirmed

    words = ("confirm", booked, "--yes", "--journal", url)
    output = interrupt(ferry_sandbox, tmp_path, *words, when=break_journal)
    assert "may have happened (correlation id" in output


@LONG
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("list --journal mysql://clerk:secret@host/shop", 3, "expected sqlite://"),
        ("list --journal sqlite:// --state finished", 3, "state: expected one of"),
        ("list --journal sqlite:// --since soon", 2, "expected a moment"),
        ("list", 2, "--journal"),
        ("settle e-1 --journal sqlite://", 2, "--happened"),
    ],
    ids=["another database", "unknown state", "no moment", "no journal", "no decision"],
)
def test_wrong_command_line_or_journal_is_named(cli, words, code, message):
    ended = cli("journal", *words.split(), code=code)
    assert message in ended.err
    assert "secret" not in ended.err


# ---- ferry orders -----------------------------------------------------------------------------


@pytest.fixture
def selection(ferry):
    """The selection of a sailing, for an order of one booking."""
    sailing = trip.found(ferry)
    return [sailing.select(tariff=sailing.tariffs[0], place=sailing.places[0])]


@pytest.fixture
def held(ferry, journal, selection):
    """An order of one booking, which is finished."""
    return orders.hold(ferry, [selection], passengers=trip.PASSENGERS, journal=journal)


@pytest.fixture
def hold_unfinished(ferry, ferry_sandbox, journal, selection):
    """Hold an order of which the reply to the last booking is lost, and return what stands."""

    def hold(count, **more):
        ferry_sandbox.faults.add("lose_reply", "bookings.create", after=count - 1)
        with pytest.raises(OrderError) as raised:
            orders.hold(
                ferry, [selection] * count, passengers=trip.PASSENGERS, journal=journal, **more
            )
        return raised.value.order

    return hold


@pytest.mark.usefixtures("held")
def test_finished_order_is_not_listed(cli, url):
    assert cli("orders", "list", "--journal", url).out == ""


def test_finished_order_is_shown(cli, url, held):
    shown = cli("orders", "show", held.id, "--journal", url, "--json").document["order"]
    (part,) = shown["parts"]
    assert (shown["state"], part["booking_id"]) == ("held", held.parts[0].booking_id)
    assert part["total"] == str(held.parts[0].total)


def test_unfinished_order_is_listed(cli, url, held, hold_unfinished):
    order = hold_unfinished(2)
    listed = cli("orders", "list", "--journal", url).out
    assert order.id in listed
    assert held.id not in listed


def test_unknown_order_names_the_entry_to_settle(cli, url, journal, hold_unfinished):
    order = hold_unfinished(2)
    resumed = cli("orders", "resume", order.id, "--journal", url, code=5)
    (entry,) = journal.unresolved()
    assert "unknown" in resumed.out
    assert f"run `ferry journal settle {entry.id}`" in resumed.err


def test_settled_order_is_cancelled(cli, ferry, url, journal, hold_unfinished):
    order = hold_unfinished(2)
    (entry,) = journal.unresolved()
    journal.settle(entry, happened=False)
    assert "cancelled" in cli("orders", "resume", order.id, "--journal", url, code=4).out
    assert ferry.bookings.get(order.parts[0].booking_id).stage == "voided"
    assert cli("orders", "list", "--journal", url).out == ""


@pytest.mark.usefixtures("journal")
def test_unknown_order_is_an_error(cli, url):
    cli("orders", "show", "none", "--journal", url, code=3)


def test_orders_of_other_sizes_are_one_table(cli, url, hold_unfinished):
    hold_unfinished(1, contact={"name": "1", "email": "a@b.cz"})
    hold_unfinished(2, contact={"name": "2", "email": "a@b.cz"})
    assert len(cli("orders", "list", "--journal", url).out.splitlines()) == 3


# ---- ferry change -----------------------------------------------------------------------------


@pytest.fixture
def wishes(ferry):
    """What to book for a traveller: the cheapest trip of a company, and the dearest."""
    adult = trip.TRAVELLERS[:1]
    trips = ferry.trips.search(
        "Tarifa", "MATNG", on=trip.DAY, passengers=adult, companies=["BALEARIA"]
    )
    traveller = {"type": "Adult", "first_name": "Zoë", "last_name": "Ngũgĩ", "gender": "Female"}
    wishes = []
    for offer in (trips[0], trips[-1]):
        fare = next(fare for fare in offer.fares if fare.reservation_type == "TICKET")
        selections = [selection.model_dump(mode="json") for selection in offer.select(fare)]
        wishes.append({"availabilities": selections, "passengers": [traveller]})
    return wishes


@pytest.fixture
def change(cli, ferry, url, tmp_path, wishes):
    """Change a paid booking of the first wish into the second one, which may be changed before."""
    old = ferry.bookings.create(**wishes[0]).booking_id
    ferry.bookings.confirm(old)
    file = tmp_path / "wish.json"

    def change(*words, **more):
        file.write_text(json.dumps(wishes[1]), encoding="utf-8")
        return cli("change", old, "--from", str(file), "--journal", url, *words, **more)

    change.booking_id = old
    return change


def test_change_without_a_terminal_wants_yes(change):
    assert "pass --yes" in change(code=2).err


def test_booking_is_changed(change, ferry):
    ended = change("--yes", "--json")
    labels = ["kept of it", "given back", "new booking"]
    assert [label for label in labels if label not in ended.err] == []
    new, old = ended.document["order"]["parts"]
    assert (old["booking_id"], old["state"]) == (change.booking_id, "cancelled")
    assert ferry.bookings.get(new["booking_id"]).stage == "ticketed"
    assert ferry.bookings.get(change.booking_id).stage == "voided"


def test_change_without_an_amount_is_refused(change, wishes):
    del wishes[1]["availabilities"][0]["amount"]
    assert "availabilities" in change("--yes", code=3).err


@pytest.mark.parametrize(
    ("write", "code", "state", "unresolved"),
    mostly_long(
        [
            ("create", 5, "unknown", ["bookings.create"]),
            ("confirm", 0, "confirmed", []),
            ("cancel", 0, "confirmed", []),
        ]
    ),
)
def test_interrupted_change_is_resumed(
    cli, ferry, ferry_sandbox, booked, order, journal, url, tmp_path, write, code, state, unresolved
):
    ferry.bookings.confirm(booked)
    before = len(ferry_sandbox.counters.effects)
    ferry_sandbox.faults.add("delay_after", f"bookings.{write}", seconds=30)
    words = ("change", booked, "--from", str(order), "--yes", "--journal", url)

    def is_written():
        return f"bookings.{write}" in effects(ferry_sandbox)[before:]

    output = interrupt(ferry_sandbox, tmp_path, *words, when=is_written)
    (left,) = orders.unfinished(journal=journal)
    assert f"interrupted; the change is order {left.id}" in output
    assert f"run `ferry orders resume {left.id}`" in output

    assert state in cli("orders", "resume", left.id, "--journal", url, code=code).out
    assert [entry.operation for entry in journal.unresolved()] == unresolved


# ---- ferry reconcile --------------------------------------------------------------------------

HEAD = "booking_id,amount,currency"


@pytest.fixture
def reconcile(cli, url):
    """Reconcile payments that come through a pipe."""
    return lambda text, *words, **more: cli(
        "reconcile", "-", "--journal", url, *words, given=text, **more
    )


@pytest.fixture
def sold(recording):
    """A paid booking on record."""
    booking = trip.booked(recording)
    recording.bookings.confirm(booking.booking_id)
    return booking


def payment_of(booking):
    """Return the row of a payment that agrees."""
    return f"{booking.booking_id},{booking.total_price},{booking.currency}"


def test_payments_that_agree_exit_with_0(cli, tmp_path, url, sold):
    file = tmp_path / "payments.csv"
    file.write_text(f"shop,{HEAD},refunded\nx,{payment_of(sold)},\n", "utf-8-sig")
    ended = cli("reconcile", "--journal", url, str(file))
    assert ended.out == "1 payment, no discrepancy.\n"


def test_missing_payment_exits_with_1(reconcile, sold):
    rows = reconcile(f"{HEAD}\n", code=1).out.splitlines()
    assert [row.split()[:4] for row in rows[1:]] == [["issued", "not", "paid", sold.booking_id]]


def test_document_has_what_was_expected(reconcile, sold):
    report = reconcile(f"{HEAD}\n", "--json", code=1).document["reconciliation"]
    assert {kind for kind, rows in report.items() if rows} == {"issued_not_paid"}
    (row,) = report["issued_not_paid"]
    assert (row["expected"], row["found"]) == (f"{sold.total_price:.2f}", "0.00")


def test_payment_in_another_currency_is_named(reconcile, sold):
    dinars = f"{HEAD}\n{sold.booking_id},300,TND\n"
    assert "another currency" in reconcile(dinars, code=1).out


def test_refund_of_an_issued_booking_is_named(reconcile, sold):
    text = f"Booking_ID,AMOUNT,currency,Refunded \n{payment_of(sold)},{sold.total_price}\n"
    report = reconcile(text, "--json", code=1).document["reconciliation"]
    assert report["issued_not_paid"][0]["stage"] == "ticketed"


@pytest.fixture
def lost_entry(ferry_sandbox, recording, sold):
    """The id of an entry whose outcome is unknown, besides those of a paid booking."""
    ferry_sandbox.faults.add("lose_reply", "bookings.create")
    with pytest.raises(OutcomeUnknownError) as lost:
        trip.booked(recording)
    return lost.value.entry_id


@pytest.mark.usefixtures("lost_entry")
def test_unresolved_write_exits_with_1(reconcile, sold):
    ended = reconcile(f"{HEAD}\n{payment_of(sold)}\n", code=1)
    assert "1 unresolved write in the journal; run `ferry journal list" in ended.err


def test_document_names_unresolved_writes(reconcile, sold, lost_entry):
    ended = reconcile(f"{HEAD}\n{payment_of(sold)}\n", "--json", code=1)
    report = ended.document["reconciliation"]
    (entry,) = report.pop("unresolved")
    assert (entry["id"], entry["operation"]) == (lost_entry, "bookings.create")
    assert not any(report.values())


@pytest.mark.parametrize(
    ("separator", "point"),
    [
        pytest.param(";", ",", id="semicolons and decimal commas"),
        pytest.param(";", ".", id="semicolons and decimal points"),
        pytest.param("\t", ".", id="tabs"),
    ],
)
def test_columns_may_be_separated_otherwise(reconcile, sold, separator, point):
    amount = f"{sold.total_price:.2f}".replace(".", point)
    rows = [["booking_id", "amount", "currency"], [sold.booking_id, amount, sold.currency]]
    text = "".join(f"{separator.join(row)}\r\n" for row in rows)
    assert reconcile(text).out == "1 payment, no discrepancy.\n"


@pytest.mark.usefixtures("journal")
def test_sums_have_every_digit(reconcile):
    rows = "b1,1e30,EUR,r0\nb1,0.01,EUR,r1\nb1,0.01,EUR,r2\n"
    ended = reconcile(f"{HEAD},reference\n{rows}", "--json", code=1)
    (row,) = ended.document["reconciliation"]["not_known"]
    assert row["expected"] == "1000000000000000000000000000000.02"
    assert row["references"] == ["r0", "r1", "r2"]


PAYMENTS = [
    ("booking_id,amount", "b1,5", "line 1: no column currency"),
    (HEAD, "b1,5,EUR\nb2,x,EUR", "line 3, column amount: "),
    (HEAD, ",5,EUR", "line 2, column booking_id: expected a value"),
    (f"{HEAD},refunded", "b1,5,EUR,-1", "line 2, column refunded: "),
    (HEAD, "b1,12,50,EUR", "line 2: more values than columns"),
    (HEAD, '"b1,12', "line "),
    (f"{HEAD},Amount", "b1,5,EUR,7", "line 1: two columns amount"),
    (HEAD, 'b1,"1,234.50",EUR', "line 2, column amount: expected an amount without thousands"),
    (
        HEAD.replace(",", ";"),
        "b1;1.234,50;EUR",
        "line 2, column amount: expected an amount without",
    ),
    (HEAD, "b1,9e999999,EUR", "line 2, column amount: expected an amount of money"),
]


@pytest.mark.parametrize(("head", "rows", "problem"), mostly_long(PAYMENTS, short=2))
def test_wrong_row_is_named_by_its_place(reconcile, head, rows, problem):
    ended = reconcile(f"{head}\n{rows}\n", code=3)
    assert f"-: {problem}" in ended.err
    assert ended.out == ""


# ---- A failed reply that names a booking ------------------------------------------------------


@pytest.fixture
def named(cli, order, url, ferry_sandbox):
    """A booking whose failed reply named it, what the command said of it, and its entry."""
    ferry_sandbox.faults.add("unknown_enum", "bookings.create", field="currency", value="?")
    ferry_sandbox.faults.add("unauthorized", "bookings.get", times=None)
    ended = cli("book", "--from", str(order), "--yes", "--json", FERRY_JOURNAL=url, code=5)
    ferry_sandbox.faults.clear()
    booking_id = ferry_sandbox.counters.effects_of("bookings.create")[-1].subject
    return booking_id, ended.document["error"]


def test_book_names_the_booking_of_a_failed_reply(named):
    booking_id, error = named
    assert error["booking_id"] == booking_id
    assert f"the reply names booking {booking_id}" in error["message"]
    assert f"run `ferry journal recover {error['entry_id']}`" in error["hint"]


def test_book_without_a_journal_names_the_booking(cli, order, ferry_sandbox):
    ferry_sandbox.faults.add("unknown_enum", "bookings.create", field="currency", value="?")
    ferry_sandbox.faults.add("unauthorized", "bookings.get", times=None)
    ended = cli("book", "--from", str(order), "--yes", code=5)
    booking_id = ferry_sandbox.counters.effects_of("bookings.create")[-1].subject
    assert f"run `ferry show {booking_id}`" in ended.err


def test_recover_reads_a_named_booking(run, named, journal):
    booking_id, error = named
    (entry,) = run("recover", error["entry_id"], "--json").document["entries"]
    assert (entry["state"], entry["booking_id"]) == ("done", booking_id)
    assert journal.unresolved() == ()


def test_settle_does_not_deny_a_named_booking(run, named):
    _, error = named
    ended = run("settle", error["entry_id"], "--not-happened", "--yes", code=3)
    assert f"ferry journal recover {error['entry_id']}" in ended.err


def test_settle_keeps_the_named_booking(run, named, journal):
    booking_id, error = named
    run("settle", error["entry_id"], "--happened", "--yes")
    assert journal.entry(error["entry_id"]).booking_id == booking_id
