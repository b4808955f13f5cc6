"""`ferry change --on`: another day between the same ports, for the same travellers."""

from datetime import timedelta

import pytest

pytest.importorskip("sqlalchemy", reason="the extra journal is not installed")

from ferry_sdk import Travellers
from ferry_sdk.models.tickets import TicketPassenger
from tests.cli.terminals import terminal
from tests.support.effects import effects
from tests.support.tiers import LONG
from tests.support.trip import DAY

NEXT_DAY = f"{DAY + timedelta(days=1)}"
PARTY = [
    {
        "first_name": "Zélie",
        "last_name": "Núñez Ångström",
        "gender": "Female",
        "birth_date": "2015-04-02",
        "nationality": "FR",
    },
    {
        "first_name": "Léo",
        "last_name": "Núñez",
        "gender": "Male",
        "birth_date": "2041-08-09",
        "nationality": "FR",
    },
]
PAID = ["bookings.create", "bookings.confirm"]


@pytest.fixture
def party(tmp_path):
    """A file of the travellers, as a spreadsheet writes it."""
    lines = [";".join(PARTY[0]), *(";".join(each.values()) for each in PARTY)]
    (tmp_path / "party.csv").write_text("\r\n".join(lines), "utf-8-sig")
    return "party.csv"


def book(ferry, **more):
    """Book and confirm a crossing for the party, and return the booking."""
    travellers = Travellers(PARTY)
    asked = {"on": DAY, "companies": ["BALEARIA"], "passengers": travellers, **more}
    trip = ferry.trips.search("Tarifa", "MATNG", **asked)[0]
    vehicle = more.get("vehicle")
    created = ferry.bookings.create(
        availabilities=trip.select(),
        passengers=travellers,
        vehicle=vehicle and ferry.vehicles.find(vehicle)[0].booking(identification="1234 BCD"),
    )
    ferry.bookings.confirm(created.booking_id)
    return ferry.bookings.get(created.booking_id)


@pytest.fixture
def old(ferry):
    """A paid booking of two travellers."""
    return book(ferry)


@pytest.fixture
def change(cli, url, party):
    """Change a booking to another day without a question."""

    def change(booking, *words, **more):
        given = ["--on", NEXT_DAY, "--company", "BALEARIA", "--travellers", party]
        return cli("change", booking.booking_id, *given, *words, "--journal", url, "--yes", **more)

    return change


def journey_of(booking):
    """Return the one crossing of a booking."""
    (ticket,) = booking.tickets
    return ticket.availability.outward.journey


# ---- The new booking --------------------------------------------------------------------------


def test_booking_moves_to_another_day(change, ferry, old):
    document = change(old, "--json").document
    new = ferry.bookings.get(document["booking"]["booking_id"])
    assert str(journey_of(new).depart_at.date()) == NEXT_DAY
    assert journey_of(new).depart_port_name == journey_of(old).depart_port_name
    assert journey_of(new).arrive_port_name == journey_of(old).arrive_port_name
    names = [traveller.last_name for traveller in new.tickets[0].passengers]
    assert names == ["Núñez Ångström", "Núñez"]
    assert (new.stage, ferry.bookings.get(old.booking_id).stage) == ("ticketed", "voided")


def test_document_has_the_booking_and_the_refund(change, ferry, old):
    fee = ferry.bookings.cancel_fee(old.booking_id)
    document = change(old, "--json").document
    new, cancelled = document["order"]["parts"]
    assert document["booking"]["booking_id"] == new["booking_id"]
    assert cancelled["booking_id"] == old.booking_id
    assert document["cancellation"]["refund_amount"] == f"{fee.refund_amount:.2f}"


def test_result_names_reference_tickets_and_refund(change, ferry, old):
    fee = ferry.bookings.cancel_fee(old.booking_id)
    lines = dict(line.split(maxsplit=1) for line in change(old).out.splitlines())
    new = ferry.bookings.get(lines["booking"])
    assert lines["changed"] == f"{old.booking_reference} → {new.booking_reference}, ticketed"
    assert lines["tickets"] == new.tickets[0].ticket_number
    assert lines["paid"] == f"{new.total_price:.2f} EUR"
    assert lines["kept"] == f"{fee.penalty_amount:.2f} EUR"
    assert lines["refund"] == f"{fee.refund_amount:.2f} EUR"


def test_find_names_the_new_booking(change, cli, url, ferry, old):
    new = ferry.bookings.get(change(old, "--json").document["booking"]["booking_id"])
    heads, *rows = cli("find", "nunez", "--journal", url).out.splitlines()
    (row,) = [row for row in rows if row.startswith(old.booking_reference)]
    assert row[heads.index("replaced by") :].startswith(new.booking_reference)


def test_document_of_find_names_the_new_booking(change, cli, url, old):
    new = change(old, "--json").document["booking"]["booking_id"]
    found = cli("find", "nunez", "--journal", url, "--json").document["bookings"]
    replaced = {booking["booking_id"]: booking["replaced_by"] for booking in found}
    assert replaced == {new: None, old.booking_id: new}


def test_time_of_departure_chooses_the_sailing(change, ferry, old):
    sailings = ferry.trips.search(
        "Tarifa", "MATNG", on=NEXT_DAY, companies=["BALEARIA"], passengers=Travellers(PARTY)
    )
    last = max(f"{sailing.depart_at:%H:%M}" for sailing in sailings)
    new = change(old, "--leaves", last, "--json").document["booking"]
    assert f"T{last}" in new["tickets"][0]["availability"]["outward"]["journey"]["depart_at"]


def test_time_without_a_sailing_names_the_others(change, ferry_sandbox, old):
    message = change(old, "--leaves", "03:33", code=3).err
    assert "--leaves: '03:33' is not available; there are " in message
    assert effects(ferry_sandbox) == PAID


def test_vehicle_is_taken_along(change, ferry):
    old = book(ferry, vehicle="FIAT__500")
    ended = change(old, "--json")
    assert ended.document["booking"]["tickets"][0]["vehicle"]["vehicule_code"] == "FIAT__500"
    assert "the number plate is not known" in ended.err


def test_old_sailing_is_shown(change, old):
    journey = journey_of(old)
    asked = change(old).err
    assert f"{journey.depart_port_name} → {journey.arrive_port_name}, " in asked
    assert f"{journey.depart_at:%a %d %b %Y %H:%M}" in asked
    assert "the new sailing is the one of the old booking" not in asked


def test_same_sailing_is_named(change, old):
    leaves = f"{journey_of(old).depart_at:%H:%M}"
    asked = change(old, "--on", str(DAY), "--leaves", leaves).err
    assert "the new sailing is the one of the old booking" in asked


def test_same_travellers_are_not_mentioned(change, old):
    assert "not those of the old booking" not in change(old).err


def test_other_travellers_are_named(change, old, tmp_path, party):
    file = tmp_path / party
    file.write_text(file.read_text("utf-8-sig").replace("Léo", "Noé"), "utf-8-sig")
    asked = change(old).err
    assert "the travellers are not those of the old booking" in asked
    assert "Zélie Núñez Ångström, Léo Núñez" in asked
    assert "Zélie Núñez Ångström, Noé Núñez" in asked


# ---- Nothing is sent --------------------------------------------------------------------------


def test_higher_fee_than_allowed_changes_nothing(change, ferry, ferry_sandbox, old):
    fee = ferry.bookings.cancel_fee(old.booking_id)
    assert fee.penalty_amount > 1
    message = change(old, "--max-penalty", "1", code=6).err
    assert f"{fee.penalty_amount:.2f} EUR, the limit is 1.00 EUR" in message
    assert effects(ferry_sandbox) == PAID


def test_booking_without_genders_names_the_option(cli, ferry_sandbox, url, old):
    words = ("change", old.booking_id, "--on", NEXT_DAY, "--journal", url, "--yes")
    message = cli(*words, code=3).err
    assert "--travellers: the booking does not say passengers[0].gender" in message
    assert effects(ferry_sandbox) == PAID


class FullPassenger(TicketPassenger):
    """A traveller on a ticket of a service that shows more than the interface has."""

    gender: str = ""


def test_travellers_may_be_those_of_the_booking(cli, url, old, monkeypatch):
    monkeypatch.setattr("ferry_sdk.sandbox.bookings.records.TicketPassenger", FullPassenger)
    words = ("change", old.booking_id, "--on", NEXT_DAY, "--journal", url, "--yes", "--json")
    new = cli(*words).document["booking"]
    assert [each["first_name"] for each in new["tickets"][0]["passengers"]] == ["Zélie", "Léo"]


def test_booking_with_a_way_back_needs_a_file(change, ferry, ferry_sandbox):
    old = book(ferry, back=DAY + timedelta(days=3))
    message = change(old, code=3).err
    assert "the booking has 2 crossings, not one" in message
    assert "--from" in message
    assert effects(ferry_sandbox) == PAID


def test_cancelled_booking_is_not_changed(change, ferry, old):
    ferry.bookings.cancel(old.booking_id)
    assert "it is voided and cannot be changed" in change(old, code=3).err


def test_booking_that_is_being_issued_is_not_changed(change, ferry, ferry_sandbox):
    ferry_sandbox.clock.freeze()
    old = book(ferry, companies=["FRSIBERIA"])
    assert old.stage == "in_progress"
    assert "its tickets are being issued" in change(old, "--company", "FRSIBERIA", code=3).err
    assert effects(ferry_sandbox) == PAID


@pytest.fixture
def half_changed(change, ferry_sandbox, old):
    """The error of a change that could not cancel the old booking."""
    ferry_sandbox.faults.add("refused", "bookings.cancel")
    return change(old, "--json", code=5).document["error"]


def test_change_that_leaves_both_bookings_has_its_exit_code(half_changed):
    assert half_changed["exit_code"] == 5


def test_change_that_leaves_both_bookings_names_the_next_command(half_changed, old):
    assert f"run `ferry cancel {old.booking_id}`" in half_changed["hint"]


@pytest.mark.parametrize(
    "words",
    [
        pytest.param([], id="neither"),
        pytest.param(["--on", NEXT_DAY, "--from", "order.json"], id="both"),
        pytest.param(["--from", "order.json", "--leaves", "14:45"], id="a time and a file"),
        pytest.param(["--from", "order.json", "--travellers", "p.csv"], id="two files"),
    ],
)
def test_day_and_file_exclude_each_other(cli, url, words):
    ended = cli("change", "b-1", *words, "--journal", url, "--yes", code=2)
    assert "--from" in ended.err


# ---- The question -----------------------------------------------------------------------------


@LONG
def test_change_of_a_day_asks_once(ferry, ferry_sandbox, tmp_path, party, old):
    fee = ferry.bookings.cancel_fee(old.booking_id)
    words = ("change", old.booking_id, "--on", NEXT_DAY, "--company", "BALEARIA")
    more = ("--travellers", party, "--journal", "sqlite:///desk.db")
    with terminal(ferry_sandbox, tmp_path, *words, *more) as person:
        person.expect("Zélie Núñez Ångström")
        person.expect(f"{fee.penalty_amount:.2f} EUR")
        person.expect(f"{fee.refund_amount:.2f} EUR")
        person.expect("and cancel the old booking?")
        person.answer("y")
        assert f"{old.booking_reference} → " in person.finish(0)
    assert effects(ferry_sandbox) == [*PAID, *PAID, "bookings.cancel"]
