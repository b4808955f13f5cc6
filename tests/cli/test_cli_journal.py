"""`ferry journal`, `ferry orders` and `ferry reconcile`: the commands on what is on record."""

import json
import sqlite3
from contextlib import closing

import pytest

pytest.importorskip("sqlalchemy", reason="the extra journal is not installed")

from ferry_sdk import APIError, Ferry, OrderError, OutcomeUnknownError, orders
from ferry_sdk.journal import Journal
from ferry_sdk.journal.schema import entries as entries_table
from ferry_sdk.types import Intent, OutcomeDetails
from tests.cli.conftest import SEARCH, interrupt
from tests.support import trip
from tests.support.effects import effects
from tests.support.tiers import LONG, mostly_long

pytestmark = pytest.mark.usefixtures("look_once")


def begin(journal, operation="bookings.create", **subject):
    identity = f"{operation} {subject}".encode()
    return journal.begin(
        Intent(operation, operation, "POST", "/api/booking", subject, identity, "c-1")
    )


@pytest.fixture
def journal(url):
    with Journal(url) as made:
        made.unresolved()
        yield made


@pytest.fixture
def run(cli, url):
    return lambda *words, **more: cli("journal", *words, "--journal", url, **more)


@pytest.fixture
def recording(ferry_sandbox, journal):
    with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url, journal=journal) as client:
        yield client


@pytest.fixture
def dying(recording, journal, monkeypatch):
    """A client whose process seems to die before it records an outcome."""
    monkeypatch.setattr(journal, "end", lambda *_: None)
    return recording


# ---- ferry journal ----------------------------------------------------------------------------


def test_list_prints_what_passes_the_filters_and_show_one_entry(cli, run, ferry, journal, booked):
    assert run("list").out == ""
    assert run("list", "--json", "--until", "2030-01-01").document == {"entries": []}
    created = begin(journal)
    journal.end(created, "done", OutcomeDetails("b-1"))
    confirmed = begin(journal, "bookings.confirm", booking_id="b-1")
    journal.end(confirmed, "rejected", OutcomeDetails(status_code=409, code="NO_ROOM"))
    begin(journal, "bookings.cancel", booking_id="b-2")

    head, first, second = run("list", "--booking", "b-1").out.splitlines()
    assert head.split()[:4] == ["began", "operation", "state", "age"]
    assert first.split()[3:] == ["bookings.create", "done", "b-1", created, "c-1"]
    assert second.split()[3:] == [
        *("bookings.confirm", "rejected", "b-1", "409", "NO_ROOM", confirmed, "c-1")
    ]
    moment = journal.entry(confirmed).began_at.isoformat()
    words = ["list", "--since", moment, "--state", "rejected", "--operation", "bookings.confirm"]
    (entry,) = run(*words, "--limit", "1", "--json").document["entries"]
    assert (entry["id"], entry["began_at"], entry["code"]) == (confirmed, moment, "NO_ROOM")
    assert entry["subject"] == {"booking_id": "b-1"}

    reference = ferry.bookings.get(booked).booking_reference
    assert "expected the booking's id, not its reference" in run("list", "--booking", reference).err
    assert "not a booking's reference" in cli("show", reference, code=4).err

    entry_id = begin(journal, "tickets.cancel", ticket_id="t-1")
    journal.end(entry_id, "unknown")
    lines = dict(line.split(maxsplit=1) for line in run("show", entry_id).out.splitlines())
    assert lines["state"] == "unknown, unresolved"
    assert (lines["tickets"], lines["correlation"]) == ("t-1", "id  c-1")
    document = run("show", entry_id, "--json").document["entry"]
    assert (document["ticket_ids"], document["ended_at"]) == (["t-1"], None)
    assert "no such entry" in run("show", "nothing", code=3).err


def test_settle_records_what_a_person_learned_and_reads_the_booking(run, journal, booked):
    entry_id = begin(journal)
    words = ["settle", entry_id, "--happened", "--booking", "b-1", "--no-check"]
    assert "--yes" in run(*words, code=2).err
    run("settle", entry_id, "--happened", "--yes", "--booking", "mistyped", code=4)
    assert journal.entry(entry_id).is_unresolved
    document = run(*words, "--yes", "--json").document["entry"]
    assert (document["state"], document["booking_id"]) == ("done", "b-1")
    assert journal.entry(entry_id).state == "done"
    assert "recorded as done" in run("settle", entry_id, "--not-happened", "-y", code=3).err
    run("settle", entry_id, "--happened", "--yes", "--booking", booked)
    assert journal.entry(entry_id).booking_id == booked


def test_settle_refuses_what_the_service_contradicts(run, journal, ferry, ferry_sandbox, booked):
    other = trip.booked(ferry).booking_id
    ticket = ferry.bookings.confirm(booked).ticket_id
    happened = begin(journal, "bookings.confirm", booking_id=booked)
    not_happened = [
        begin(journal, "bookings.confirm", booking_id=other),
        begin(journal, "bookings.cancel", booking_id=booked),
        begin(journal, "mcp.cancel_ticket", ticket_id=ticket),
        begin(journal, "bookings.confirm", booking_id="no-booking"),
    ]
    ended = run("settle", happened, "--not-happened", "--yes", code=3)
    assert f"ferry journal recover {happened}" in ended.err
    for entry_id in not_happened:
        assert "--no-check" in run("settle", entry_id, "--happened", "--yes", code=3).err
    assert len(journal.unresolved()) == 5
    ferry_sandbox.faults.add("server_error", "bookings.get", times=None)
    run("settle", happened, "--happened", "--yes", code=3)
    ferry_sandbox.faults.clear()
    run("settle", happened, "--happened", "--yes")
    ended = run("settle", not_happened[0], "--not-happened", "-y")
    assert "the booking is payment_due" in ended.err
    run("settle", not_happened[1], "--happened", "--yes", "--no-check")
    states = [journal.entry(one).state for one in (happened, *not_happened)]
    assert states == ["done", "rejected", "done", "open", "open"]


def test_settle_asks_a_person_and_no_id_is_broken_on_a_narrow_terminal(
    ferry_sandbox, tmp_path, url, journal
):
    from tests.cli.terminals import terminal

    booking_id = "0f8fad5b-d9cb-469f-a165-70867728950e"
    entry_id = begin(journal, "bookings.cancel", booking_id=booking_id)
    words = ["journal", "list", "--journal", url]
    with terminal(ferry_sandbox, tmp_path, *words, size=(24, 80)) as person:
        lines = [line.split() for line in person.finish(0).splitlines()]
    assert ["booking", booking_id] in lines
    assert ["entry", entry_id] in lines
    assert ["next", "run", "`ferry", "journal", "recover", f"{entry_id}`"] in lines
    words = ["journal", "settle", entry_id, "--not-happened", "--journal", url]
    for answer, code, state in (("", 6, "open"), ("y", 0, "rejected")):
        with terminal(ferry_sandbox, tmp_path, *words) as person:
            person.expect("Record that it did not happen?")
            person.answer(answer)
            person.finish(code)
        assert journal.entry(entry_id).state == state


def test_commands_that_write_record_it_and_a_new_journal_is_a_warning(cli, tmp_path, order):
    url = f"sqlite:///{tmp_path / 'shop.db'}"
    error = cli("journal", "list", "--journal", url, "--json", code=3).document["error"]
    assert (error["type"], error["field"]) == ("InvalidInputError", "journal")
    assert not (tmp_path / "shop.db").exists()
    made = cli("book", "--from", str(order), "--yes", "--json", FERRY_JOURNAL=url)
    assert "shop.db is new" in made.err
    booking_id = made.document["booking"]["booking_id"]
    cli("confirm", booking_id, "--yes", FERRY_JOURNAL=url)
    assert "is new" not in cli("cancel", booking_id, "--yes", "--journal", url).err
    with Journal(url) as journal:
        seen = {one.operation: one.state for one in journal.entries(booking_id=booking_id)}
    assert seen == dict.fromkeys(["bookings.create", "bookings.confirm", "bookings.cancel"], "done")


def test_recover_records_what_a_read_shows_and_a_repeat_of_an_unresolved_write_is_not_sent(
    cli, ferry_sandbox, dying, run, journal, url, booked
):
    dying.bookings.confirm(booked)
    ferry_sandbox.faults.add("refused", "bookings.cancel")
    with pytest.raises(APIError):
        dying.bookings.cancel(booked)
    confirmed, cancelled = journal.unresolved()
    listed = run("list", "--state", "unresolved", "--json").document["entries"]
    assert [one["next"] for one in listed] == [
        f"run `ferry journal recover {one.id}`" for one in (confirmed, cancelled)
    ]
    words = ("cancel", booked, "--yes", "--journal", url)
    error = cli(*words, "--json", code=5).document["error"]
    assert (error["type"], error["exit_code"]) == ("UnresolvedWriteError", 5)
    assert error["entry_id"] == cancelled.id
    assert f"ferry journal recover {cancelled.id}" in cli(*words, code=5).err
    assert ferry_sandbox.counters.requests["bookings.cancel"] == 1
    one, other = run("recover", "--all", "--json", code=5).document["entries"]
    assert (one["id"], one["state"], one["next"]) == (confirmed.id, "done", None)
    assert (other["state"], other["seen"]) == ("open", "the booking is ticketed")
    assert f"ferry journal settle {cancelled.id}" in run("recover", cancelled.id, code=5).out
    assert run("recover", confirmed.id).code == 0
    for words in ([], [confirmed.id, "--all"]):
        assert "--all" in run("recover", *words, code=2).err


def test_what_is_done_already_is_settled(cli, dying, url, journal, booked):
    dying.bookings.confirm(booked)
    (entry,) = journal.unresolved()
    assert "already confirmed" in cli("confirm", booked, "--journal", url).out
    assert journal.entry(entry.id).state == "done"


@pytest.mark.parametrize("breaks", mostly_long([False, True]))
def test_an_interrupted_write_names_its_entry_even_if_the_journal_fails(
    ferry_sandbox, tmp_path, url, journal, booked, breaks
):
    def confirmed():
        made = ferry_sandbox.counters.effects_of("bookings.confirm")
        if made and breaks:
            with closing(sqlite3.connect(tmp_path / "ferry.db")) as database:
                database.execute(f"DROP TABLE {entries_table.name}")
        return made

    ferry_sandbox.faults.add("delay_after", "bookings.confirm", seconds=30)
    words = ("confirm", booked, "--yes", "--journal", url)
    output = interrupt(ferry_sandbox, tmp_path, *words, when=confirmed)
    if breaks:
        assert "may have happened (correlation id" in output
        return
    (entry,) = journal.unresolved()
    assert f"bookings.confirm is journal entry {entry.id}" in output
    assert f"run `ferry journal recover {entry.id}`" in output


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
)
def test_a_wrong_command_line_or_journal_is_named(cli, words, code, message):
    ended = cli("journal", *words.split(), code=code)
    assert message in ended.err
    assert "secret" not in ended.err


# ---- ferry orders and ferry change ------------------------------------------------------------


def test_orders_are_listed_shown_and_resumed(cli, ferry, ferry_sandbox, journal, url):
    sailing = trip.found(ferry)
    selection = [sailing.select(tariff=sailing.tariffs[0], place=sailing.places[0])]
    held = orders.hold(ferry, [selection], passengers=trip.PASSENGERS, journal=journal)
    assert cli("orders", "list", "--journal", url).out == ""
    shown = cli("orders", "show", held.id, "--journal", url, "--json").document["order"]
    (part,) = shown["parts"]
    assert (shown["state"], part["booking_id"]) == ("held", held.parts[0].booking_id)
    assert part["total"] == str(held.parts[0].total)

    ferry_sandbox.faults.add("lose_reply", "bookings.create", after=1)
    with pytest.raises(OrderError) as raised:
        orders.hold(ferry, [selection] * 2, passengers=trip.PASSENGERS, journal=journal)
    order = raised.value.order
    listed = cli("orders", "list", "--journal", url).out
    assert order.id in listed
    assert held.id not in listed
    resumed = cli("orders", "resume", order.id, "--journal", url, code=5)
    assert "unknown" in resumed.out
    (entry,) = journal.unresolved()
    assert f"run `ferry journal settle {entry.id}`" in resumed.err

    journal.settle(entry, happened=False)
    assert "cancelled" in cli("orders", "resume", order.id, "--journal", url, code=4).out
    assert ferry.bookings.get(order.parts[0].booking_id).stage == "voided"
    assert cli("orders", "list", "--journal", url).out == ""
    cli("orders", "show", "none", "--journal", url, code=3)
    for count in (1, 2):
        ferry_sandbox.faults.add("lose_reply", "bookings.create", after=count - 1)
        named = {"passengers": trip.PASSENGERS, "contact": {"name": f"{count}", "email": "a@b.cz"}}
        with pytest.raises(OrderError):
            orders.hold(ferry, [selection] * count, **named, journal=journal)
    assert len(cli("orders", "list", "--journal", url).out.splitlines()) == 3


def test_a_booking_is_changed_after_one_question(cli, ferry, url, tmp_path):
    trips = cli("search", *SEARCH[:6], "--company", "BALEARIA", "--json").document["trips"]
    traveller = {"type": "Adult", "first_name": "Zoë", "last_name": "Ngũgĩ", "gender": "Female"}

    def wish(of):
        fare = next(one for one in of["fares"] if one["reservation_type"] == "TICKET")
        return {"availabilities": fare["availabilities"], "passengers": [traveller]}

    old = ferry.bookings.create(**wish(trips[0])).booking_id
    ferry.bookings.confirm(old)
    file, wanted = tmp_path / "wish.json", wish(trips[-1])
    file.write_text(json.dumps(wanted), encoding="utf-8")
    command = ["change", old, "--from", str(file), "--journal", url, "--yes"]
    assert "pass --yes" in cli(*command[:-1], code=2).err
    ended = cli(*command, "--json")
    for said in ("kept of it", "given back", "new booking"):
        assert said in ended.err
    new, part = ended.document["order"]["parts"]
    assert (part["booking_id"], part["state"]) == (old, "cancelled")
    assert ferry.bookings.get(new["booking_id"]).stage == "ticketed"
    assert ferry.bookings.get(old).stage == "voided"
    del wanted["availabilities"][0]["amount"]
    file.write_text(json.dumps(wanted), encoding="utf-8")
    assert "availabilities" in cli(*command, code=3).err


@pytest.mark.parametrize("write", mostly_long(["create", "confirm", "cancel"]))
def test_an_interrupted_change_names_its_order(
    cli, ferry, ferry_sandbox, booked, order, journal, url, tmp_path, write
):
    ferry.bookings.confirm(booked)
    before = len(ferry_sandbox.counters.effects)
    ferry_sandbox.faults.add("delay_after", f"bookings.{write}", seconds=30)
    words = ("change", booked, "--from", str(order), "--yes", "--journal", url)

    def written():
        return f"bookings.{write}" in effects(ferry_sandbox)[before:]

    output = interrupt(ferry_sandbox, tmp_path, *words, when=written)
    (left,) = orders.unfinished(journal=journal)
    assert f"interrupted; the change is order {left.id}" in output
    assert f"run `ferry orders resume {left.id}`" in output

    seen = write != "create"
    resumed = cli("orders", "resume", left.id, "--journal", url, code=0 if seen else 5)
    assert ("confirmed" if seen else "unknown") in resumed.out
    assert [one.operation for one in journal.unresolved()] == ([] if seen else ["bookings.create"])


# ---- ferry reconcile --------------------------------------------------------------------------

HEAD = "booking_id,amount,currency"


@pytest.fixture
def report(cli, url):
    """Reconcile payments that come through a pipe."""
    return lambda text, **more: cli(
        *("reconcile", "-", "--journal", url, "--json"), given=text, **more
    ).document["reconciliation"]


def test_payments_that_agree_exit_with_0_and_others_with_1(
    cli, ferry_sandbox, tmp_path, url, recording, report
):
    sold = trip.booked(recording)
    recording.bookings.confirm(sold.booking_id)
    line = f"{sold.booking_id},{sold.total_price},{sold.currency}"
    file = tmp_path / "payments.csv"
    file.write_text(f"shop,{HEAD},refunded\nx,{line},\n", "utf-8-sig")
    words = ("reconcile", "--journal", url)
    assert cli(*words, str(file)).out == "1 payment, no discrepancy.\n"
    rows = cli(*words, "-", given=f"{HEAD}\n", code=1).out.splitlines()
    assert [row.split()[:4] for row in rows[1:]] == [["issued", "not", "paid", sold.booking_id]]
    dinars = f"{HEAD}\n{sold.booking_id},300,TND\n"
    assert "another currency" in cli(*words, "-", given=dinars, code=1).out
    found = report(f"{HEAD}\n", code=1)
    assert {kind for kind, rows in found.items() if rows} == {"issued_not_paid"}
    (row,) = found["issued_not_paid"]
    assert (row["expected"], row["found"]) == (f"{sold.total_price:.2f}", "0.00")
    text = f"Booking_ID,AMOUNT,currency,Refunded \n{line},{sold.total_price}\n"
    assert report(text, code=1)["issued_not_paid"][0]["stage"] == "ticketed"

    ferry_sandbox.faults.add("lose_reply", "bookings.create")
    with pytest.raises(OutcomeUnknownError) as lost:
        trip.booked(recording)
    ended = cli(*words, "-", given=f"{HEAD}\n{line}\n", code=1)
    assert "1 unresolved write in the journal; run `ferry journal list" in ended.err
    found = report(f"{HEAD}\n{line}\n", code=1)
    (one,) = found.pop("unresolved")
    assert (one["id"], one["operation"]) == (lost.value.entry_id, "bookings.create")
    assert not any(found.values())
    # Sums have every digit.
    lines = "b1,1e30,EUR,r0\nb1,0.01,EUR,r1\nb1,0.01,EUR,r2\n"
    (row,) = report(f"{HEAD},reference\n{lines}", code=1)["not_known"]
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
    (HEAD, "b1,9e999999,EUR", "line 2, column amount: expected an amount of money"),
]


@pytest.mark.parametrize(("head", "rows", "wrong"), mostly_long(PAYMENTS, short=2))
def test_a_row_that_makes_no_sense_is_named_by_line_and_column(cli, url, head, rows, wrong):
    ended = cli("reconcile", "-", "--journal", url, given=f"{head}\n{rows}\n", code=3)
    assert f"-: {wrong}" in ended.err
    assert ended.out == ""


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


def test_settle_refuses_that_a_named_booking_was_not_made(run, named):
    _, error = named
    ended = run("settle", error["entry_id"], "--not-happened", "--yes", code=3)
    assert f"ferry journal recover {error['entry_id']}" in ended.err


def test_settle_keeps_the_named_booking(run, named, journal):
    booking_id, error = named
    run("settle", error["entry_id"], "--happened", "--yes")
    assert journal.entry(error["entry_id"]).booking_id == booking_id
