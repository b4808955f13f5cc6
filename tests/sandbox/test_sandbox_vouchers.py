from __future__ import annotations

import base64
import io
import zlib
from datetime import datetime, timedelta

import pytest
from offline_service import BY_EMAIL, GUEST, ONE_TICKET, PENDING, TWO_TICKETS, OfflineService

from ferry_sdk.sandbox.bookings.records import qr_code
from ferry_sdk.sandbox.bookings.vouchers import to_latin1

ORIGIN = "http://ferry.test"


@pytest.fixture
def desk():
    return OfflineService()


def issued(desk, line=ONE_TICKET, **how):
    created = desk.created(line, **how)
    desk.confirm(created)
    return created


def addresses(desk, created):
    """Every address of the first ticket's voucher that the service tells."""
    ticket = desk.booking(created)["tickets"][0]
    read = desk.ask("tickets.get", id=ticket["id"])
    answer = desk.ask("tickets.pdf", id=ticket["id"])
    assert set(answer) == {"url"}
    assert ticket["pdf_url"] == read["pdf_url"] == answer["url"]
    return answer["url"]


def fetched(desk, url):
    _, _, ticket, file = url.removeprefix(ORIGIN).split("/")
    return desk.service.voucher_file(ticket, file.removesuffix(".pdf"))


def page_of(pdf):
    from pypdf import PdfReader

    (page,) = PdfReader(io.BytesIO(pdf)).pages
    return page


def words(pdf):
    return page_of(pdf).extract_text()


def test_a_voucher_is_one_page_that_says_everything(desk):
    guests = [
        {**GUEST, "first_name": "Zoë", "last_name": "Łukasiewicz"},
        {"type": "Child", "first_name": "Nicolás", "last_name": "O\u2019Brien"},
    ]
    party = (
        {"order": 1, "type": "Adult", "param": "A", "gender": "Female", "age": 35},
        {"order": 2, "type": "Child", "param": "C", "gender": "Male", "age": 8},
    )
    vehicle = {"code": "CAR", "identification": "AB-123-CD"}
    created = issued(
        desk, passengers=guests, party=party, vehicle="PEUGEOT__208", more={"vehicle": vehicle}
    )
    url = addresses(desk, created)
    assert url.startswith(f"{ORIGIN}/voucher/")
    pdf = fetched(desk, url)
    assert pdf.startswith(b"%PDF-")
    said = words(pdf)
    booking = desk.booking(created)
    (ticket,) = booking["tickets"]
    journey = ticket["availability"]["outward"]["journey"]
    details = booking["journey_details"]["outward"]
    for expected in (
        created["booking_reference"],
        ticket["ticket_number"],
        "CTN (Tunisia Ferries)",
        details["ship_name"],
        journey["depart_port_name"],
        journey["arrive_port_name"],
        journey["depart_at"][11:16],
        journey["arrive_at"][11:16],
        "CEST",
        "(CET)",
        "Zoë Lukasiewicz",
        "Nicolás O'Brien",
        "Peugeot 208",
        "AB-123-CD",
    ):
        assert expected in said, expected


def test_a_voucher_of_a_round_trip_shows_both_ways(desk):
    said = words(fetched(desk, addresses(desk, issued(desk, back=7))))
    assert said.index("Outward") < said.index("Return")


def test_the_qr_code_is_on_the_page(desk):
    created = issued(desk)
    pdf = fetched(desk, addresses(desk, created))
    content = page_of(pdf).get_contents()
    assert content is not None
    assert content.get_data().count(b" re f") > 100


def test_nine_travellers_fit_on_the_page(desk):
    party = [
        {"order": number, "type": "Adult", "param": "A", "gender": "Male", "age": 30 + number}
        for number in range(1, 10)
    ]
    guests = [{**GUEST, "last_name": f"Number{number} {'x' * 150}"} for number in range(1, 10)]
    created = issued(desk, passengers=guests, party=party, back=7)
    said = words(fetched(desk, addresses(desk, created)))
    assert all(f"Number{number}" in said for number in range(1, 10))


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("Zoë", "Zoë"),
        ("Łódź", "Lódz"),
        ("Đặng", "Dang"),
        ("O\u2019Neil", "O'Neil"),
        ("Þór", "Þór"),
        ("a\u0301", "á"),
        ("محمد", "????"),
        ("tab\there\x00", "tab here "),
        ("😀", "?"),
    ],
)
def test_names_are_printable_whatever_their_script(name, printed):
    assert to_latin1(name) == printed


def test_any_name_makes_a_voucher(desk):
    names = "".join(map(chr, (*range(1, 0x250), *range(0x370, 0x700, 7))))
    for start in range(0, len(names), 180):
        guest = {**GUEST, "last_name": f"x{names[start : start + 180]}"}
        assert fetched(desk, addresses(desk, issued(desk, passengers=[guest])))


def test_no_voucher_before_the_ticket_is_issued(desk):
    assert addresses(desk, desk.created()) is None
    created = issued(desk, PENDING)
    assert addresses(desk, created) is None
    desk.clock.advance(3)
    assert fetched(desk, addresses(desk, created))


def test_some_companies_deliver_later(desk):
    created = issued(desk, TWO_TICKETS)
    assert addresses(desk, created) is None
    desk.clock.advance(timedelta(minutes=10) - timedelta(seconds=1))
    assert addresses(desk, created) is None
    desk.clock.advance(1)
    assert fetched(desk, addresses(desk, created))


def test_some_companies_mail_it_and_never_show_it(desk):
    created = issued(desk, BY_EMAIL)
    desk.clock.advance(timedelta(days=30))
    assert desk.booking(created)["stage"] == "ticketed"
    assert addresses(desk, created) is None


def test_a_voucher_needs_its_key_and_ends_with_its_ticket(desk):
    created = issued(desk, name="FLEX")
    url = addresses(desk, created)
    assert fetched(desk, url)
    assert fetched(desk, f"{url[:-5]}é.pdf") is None
    ticket = desk.booking(created)["tickets"][0]["id"]
    assert desk.service.voucher_file("unknown", url[-28:-4]) is None
    desk.ask("tickets.cancel", ticket_id=ticket)
    assert addresses(desk, created) is None
    assert fetched(desk, url) is None


def test_keys_cannot_be_guessed_from_one_another(desk):
    keys = {addresses(desk, issued(desk)).rpartition("/")[2] for _ in range(20)}
    assert len(keys) == 20
    assert min(map(len, keys)) >= 22


def test_the_qr_code_is_an_image(desk):
    created = desk.created()
    before = desk.booking(created)["tickets"][0]["qr_code"]
    desk.confirm(created)
    after = desk.booking(created)["tickets"][0]["qr_code"]
    assert before != after
    for uri in (before, after):
        kind, _, data = uri.partition(",")
        image = base64.b64decode(data, validate=True)
        assert kind == "data:image/png;base64"
        assert image.startswith(b"\x89PNG\r\n\x1a\n")
        length = int.from_bytes(image[33:37], "big")
        assert zlib.crc32(image[12:29]) == int.from_bytes(image[29:33], "big")
        assert length > 0
    assert qr_code("a") == qr_code("a") != qr_code("b")


@pytest.mark.parametrize(("vehicle", "minutes"), [(None, 45), ("PEUGEOT__208", 90)])
def test_boarding_is_before_departure(desk, vehicle, minutes):
    more = {"vehicle": {"code": "CAR"}} if vehicle else None
    (ticket,) = desk.booking(desk.created(vehicle=vehicle, more=more))["tickets"]
    departs = datetime.fromisoformat(ticket["availability"]["outward"]["journey"]["depart_at"])
    boards = datetime.fromisoformat(ticket["boarding_time"])
    assert departs - boards == timedelta(minutes=minutes)
    assert boards.utcoffset() == departs.utcoffset()
