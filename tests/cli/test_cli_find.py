"""`ferry find`, and `ferry show` by a reference: the bookings of a journal by other names."""

import pytest

pytest.importorskip("sqlalchemy", reason="the extra journal is not installed")

from datetime import UTC, datetime, timedelta

from sqlalchemy import create_engine

from ferry_sdk import Ferry
from ferry_sdk.cli.lookup import matches
from ferry_sdk.cli.terminal.command_journal import CommandJournal
from ferry_sdk.journal import Journal
from ferry_sdk.journal.schema import entries as entries_table
from ferry_sdk.models.bookings import Booking
from ferry_sdk.models.tickets import Ticket, TicketPassenger
from ferry_sdk.types import Intent
from tests.support.trip import TRAVELLERS, selected

FAMILY = [("Zélie", "Núñez Ångström"), ("Léo", "Núñez")]
FRIENDS = [("Anna Maria", "Øster-Łukasiewicz"), ("Leonie", "O'Brien")]


def passengers(names):
    """Return an adult and a child with these names."""
    return [
        traveller | {"first_name": first, "last_name": last}
        for traveller, (first, last) in zip(TRAVELLERS, names, strict=True)
    ]


@pytest.fixture
def bookings(ferry_sandbox, url):
    """Two bookings of a journal, the older one confirmed, and one that no journal has."""
    with (
        Journal(url) as journal,
        Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url, journal=journal) as ferry,
    ):
        chosen = {"availabilities": [selected(ferry)]}
        older = ferry.bookings.create(passengers=passengers(FAMILY), **chosen)
        ferry.bookings.confirm(older.booking_id)
        newer = ferry.bookings.create(passengers=passengers(FRIENDS), **chosen)
        ferry.with_options(journal=None).bookings.create(passengers=passengers(FAMILY), **chosen)
        return ferry.bookings.get(older.booking_id), ferry.bookings.get(newer.booking_id)


@pytest.fixture
def find(cli, url):
    """Find bookings, and return the ids of those that were found."""

    def find(*words):
        document = cli("find", *words, "--journal", url, "--json").document
        return [booking["booking_id"] for booking in document["bookings"]]

    return find


# ---- What matches -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["Zélie Núñez Ångström"], id="whole name"),
        pytest.param(["nunez", "zelie"], id="other order, without accents"),
        pytest.param(["ANGSTROM"], id="one of two family names"),
        pytest.param(["léo nunez"], id="second traveller"),
        pytest.param(["ze nun"], id="beginnings"),
    ],
)
def test_traveller_is_found_by_name(find, bookings, words):
    older, _ = bookings
    assert find(*words) == [older.booking_id]


@pytest.mark.parametrize("words", ["lukasiewicz oster", "annamaria", "obrien leonie", "O'Brien"])
def test_marks_within_names_do_not_matter(find, bookings, words):
    _, newer = bookings
    assert find(words) == [newer.booking_id]


def test_booking_is_found_by_its_reference(find, bookings):
    older, newer = bookings
    assert find(newer.booking_reference.lower()) == [newer.booking_id]
    assert find(older.booking_reference) == [older.booking_id]


def test_booking_is_found_by_a_ticket_number(find, bookings):
    older, _ = bookings
    number = older.tickets[0].ticket_number
    assert find(number) == [older.booking_id]
    assert find(f"{number[:3]}-{number[3:]}") == [older.booking_id]


def test_all_words_must_match(find, bookings):
    assert find("Léo Øster") == []


def test_booking_is_found_by_the_digits_of_a_ticket(find, bookings):
    older, _ = bookings
    digits = "".join(filter(str.isdigit, older.tickets[0].ticket_number))
    assert find(digits) == [older.booking_id]
    assert find(digits[:6]) == [older.booking_id]
    assert find(digits[-6:]) == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param("Jürgen Müller", ["mueller", "juergen"], id="two letters for an umlaut"),
        pytest.param("Ju\u0308rgen Mu\u0308ller", ["mueller"], id="umlaut of two characters"),
        pytest.param("Juergen Mueller", ["müller jürgen"], id="umlaut for two letters"),
        pytest.param("Jürgen Müller", ["muller"], id="no umlaut"),
        pytest.param("Åse Sørensen", ["soerensen aase"], id="Danish"),
    ],
)
def test_umlauts_may_be_two_letters(name, words):
    first, last = name.split()
    passenger = TicketPassenger(first_name=first, last_name=last)
    ticket = Ticket.model_construct(passengers=[passenger], ticket_number=None)
    booking = Booking.model_construct(booking_reference="", tickets=[ticket])
    assert matches(booking, " ".join(words))
    assert not matches(booking, "moller")


# ---- What is read -----------------------------------------------------------------------------


def test_newest_booking_is_first(find, bookings):
    older, newer = bookings
    assert find("leo") == [newer.booking_id, older.booking_id]


def test_booking_in_force_is_before_a_cancelled_one(find, bookings, ferry):
    older, newer = bookings
    ferry.bookings.cancel(newer.booking_id)
    assert find("leo") == [older.booking_id, newer.booking_id]


def test_find_says_how_many_it_read(cli, bookings, url):
    ended = cli("find", "nunez", "--journal", url)
    assert ended.err == "Read 2 bookings on record, found 1.\n"


def test_limit_says_that_there_are_more(cli, bookings, url):
    ended = cli("find", "nunez", "--limit", "1", "--journal", url)
    assert ended.out == ""
    expected = "Read the newest 1 booking on record, found none; --limit 4 reads more."
    assert ended.err.startswith(expected)


def test_find_without_a_hit_says_what_matches(cli, bookings, url):
    assert "The beginning of a word matches" in cli("find", "unez", "--journal", url).err


def test_since_leaves_out_what_is_older(cli, find, bookings, url):
    older, _ = bookings
    change = entries_table.update().where(entries_table.c.booking_id == older.booking_id)
    nine_days_ago = datetime.now(UTC) - timedelta(days=9)
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(change.values(created_at=nine_days_ago))
    engine.dispose()
    assert find("nunez", "--since", "-7") == []
    assert find("nunez", "--since", "-10") == [older.booking_id]


def test_row_of_a_list_has_the_id(cli, bookings, url):
    older, _ = bookings
    head, row = cli("find", "nunez", "--journal", url).out.splitlines()
    assert head.split()[:2] == ["reference", "stage"]
    shown = ["Zélie Núñez Ångström, Léo Núñez", older.tickets[0].ticket_number, "ticketed"]
    assert [text for text in shown if text not in row] == []
    assert row.endswith(older.booking_id)


def test_booking_that_is_not_read_is_named(cli, bookings, url, ferry_sandbox):
    ferry_sandbox.faults.add("refused", "bookings.get", status=404)
    document = cli("find", "nunez", "--journal", url, "--json").document
    (unread,) = document["unread"]
    assert unread["booking_id"] in {booking.booking_id for booking in bookings}
    assert (unread["error"]["type"], document["read"]) == ("NotFoundError", 1)


def test_find_that_reads_nothing_is_an_error(cli, bookings, url, ferry_sandbox):
    ferry_sandbox.faults.add("refused", "bookings.get", status=404, times=None)
    message = cli("find", "nunez", "--journal", url, code=4).err
    assert "none of the 2 bookings on record could be read" in message
    assert "found none" not in message


def test_document_of_a_find_that_reads_nothing_is_an_error(cli, bookings, url, ferry_sandbox):
    ferry_sandbox.faults.add("refused", "bookings.get", status=404, times=None)
    error = cli("find", "nunez", "--journal", url, "--json", code=4).document["error"]
    assert (error["type"], error["exit_code"]) == ("NotFoundError", 4)


def test_find_counts_what_it_could_not_read(cli, bookings, url, ferry_sandbox):
    ferry_sandbox.faults.add("refused", "bookings.get", status=404)
    assert "1 booking could not be read" in cli("find", "nunez", "--journal", url).err


def test_refused_token_is_an_error(cli, bookings, url, ferry_sandbox):
    ferry_sandbox.faults.add("unauthorized", "bookings.get", times=None)
    assert "token" in cli("find", "nunez", "--journal", url, code=4).err


@pytest.mark.slow
def test_service_that_is_away_is_asked_once(cli, bookings, url, ferry_sandbox):
    ferry_sandbox.stop()
    error = cli("find", "nunez", "--journal", url, "--json", code=3).document["error"]
    assert error["type"] == "ConnectionFailedError"


def test_text_without_letters_is_refused(cli, bookings, url):
    assert "expected letters or digits" in cli("find", "--journal", url, "--", "--", code=2).err


def test_find_without_a_journal_is_refused(cli):
    assert "--journal" in cli("find", "nunez", code=2).err


# ---- ferry show -------------------------------------------------------------------------------


def test_show_takes_a_reference_of_the_journal(cli, bookings, url):
    older, _ = bookings
    for name in (older.booking_reference.lower(), older.tickets[0].ticket_number):
        shown = cli("show", name, "--json", FERRY_JOURNAL=url).document["booking"]
        assert shown["booking_id"] == older.booking_id


def test_show_takes_no_beginning_of_a_reference(cli, bookings, url):
    older, _ = bookings
    ended = cli("show", older.booking_reference[:-1], "--journal", url, code=4)
    assert "none of the newest 2 bookings on record has this reference" in ended.err
    assert "expected an id" not in ended.err


def test_show_of_a_reference_names_find(cli, bookings):
    older, _ = bookings
    assert "`ferry find` finds it" in cli("show", older.booking_reference, code=4).err


# ---- Questions --------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["confirm", "cancel"])
def test_question_shows_travellers_and_sailing(cli, bookings, command):
    _, newer = bookings
    asked = cli(command, newer.booking_id, "--yes").err
    assert all(f"{first} {last}" in asked for first, last in FRIENDS)
    journey = newer.tickets[0].availability.outward.journey
    assert f"{journey.depart_port_name} → {journey.arrive_port_name}, " in asked
    assert f"{journey.depart_at:%a %d %b %Y %H:%M}" in asked


def test_cancellation_of_a_ticket_shows_its_travellers(cli, bookings):
    older, _ = bookings
    asked = cli("cancel", older.tickets[0].id, "--yes").err
    assert "Zélie Núñez Ångström" in asked


# ---- The journal ------------------------------------------------------------------------------


def test_many_writes_of_a_booking_hide_no_other(tmp_path):
    with CommandJournal(f"sqlite:///{tmp_path}/ferry.db") as journal:
        for booking_id in ["b-1", "b-2", *["b-3"] * 40]:
            entry_id = journal.begin(confirmation_of(booking_id))
            journal.end(entry_id, "done")
        assert journal.newest_bookings(since=None, limit=2) == ["b-3", "b-2"]
        assert journal.newest_bookings(since=None, limit=9) == ["b-3", "b-2", "b-1"]


def confirmation_of(booking_id):
    return Intent(
        operation="bookings.confirm",
        effect="bookings.confirm",
        method="POST",
        path="/api/booking/confirm",
        subject={"booking_id": booking_id},
        identity=booking_id.encode(),
        correlation_id="c-1",
    )
