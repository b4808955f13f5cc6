"""Vouchers: their content, when they can be fetched, and the QR codes of tickets."""

import base64
import io
import zlib
from datetime import datetime, timedelta

import pytest
from offline_service import (
    ADULT,
    BY_EMAIL,
    GUEST,
    ORIGIN,
    PENDING,
    TWO_TICKETS,
    OfflineService,
)

from ferry_sdk.sandbox.bookings.records import qr_code
from ferry_sdk.sandbox.bookings.vouchers import to_latin1


def voucher_url(offline, created):
    """Return the URL of the first ticket's voucher, which is the same everywhere."""
    ticket, *_ = offline.tickets(created)
    read = offline.perform("tickets.get", id=ticket["id"])
    answer = offline.perform("tickets.pdf", id=ticket["id"])
    assert set(answer) == {"url"}
    assert ticket["pdf_url"] == read["pdf_url"] == answer["url"]
    return answer["url"]


def fetch(offline, url):
    """Return the voucher at a URL, or None."""
    _, _, ticket, file = url.removeprefix(ORIGIN).split("/")
    return offline.service.voucher_file(ticket, file.removesuffix(".pdf"))


def page_of(offline, created):
    """Return the only page of the first ticket's voucher."""
    from pypdf import PdfReader

    pdf = fetch(offline, voucher_url(offline, created))
    assert pdf.startswith(b"%PDF-")
    (page,) = PdfReader(io.BytesIO(pdf)).pages
    return page


# The page


@pytest.fixture(scope="module")
def family():
    """Return the voucher's page and the booking of a family with a car."""
    offline = OfflineService()
    guests = [
        {**GUEST, "first_name": "Zoë", "last_name": "Łukasiewicz"},
        {"type": "Child", "first_name": "Nicolás", "last_name": "O\u2019Brien"},
    ]
    party = (ADULT, {"order": 2, "type": "Child", "param": "C", "gender": "Male", "age": 8})
    vehicle = {"code": "CAR", "identification": "AB-123-CD"}
    created = offline.issue(
        passengers=guests, party=party, vehicle="PEUGEOT__208", more={"vehicle": vehicle}
    )
    return page_of(offline, created), offline.booking(created)


@pytest.fixture(scope="module")
def family_text(family):
    page, _ = family
    return page.extract_text()


def test_page_names_the_booking_with_its_ticket(family, family_text):
    _, booking = family
    assert booking["booking_reference"] in family_text
    assert booking["tickets"][0]["ticket_number"] in family_text


def test_page_names_the_crossing(family, family_text):
    _, booking = family
    details = booking["journey_details"]["outward"]
    for name in ("ship_name", "depart_port_name", "arrive_port_name"):
        assert details[name] in family_text, name
    for name in ("depart_at", "arrive_at"):
        assert details[name][11:16] in family_text, name


@pytest.mark.parametrize(
    "text",
    [
        "CTN (Tunisia Ferries)",
        "CEST",
        "(CET)",
        "Zoë Lukasiewicz",
        "Nicolás O'Brien",
        "Peugeot 208",
        "AB-123-CD",
    ],
)
def test_page_has_the_text(family_text, text):
    assert text in family_text


def test_page_has_a_qr_code(family):
    page, _ = family
    assert len(page.images) == 1


def test_round_trip_of_nine_fits_on_the_page(offline):
    numbers = range(1, 10)
    party = [{**ADULT, "order": number} for number in numbers]
    guests = [{**GUEST, "last_name": f"Number{number} {'x' * 150}"} for number in numbers]
    text = page_of(offline, offline.issue(passengers=guests, party=party, back=7)).extract_text()
    assert [number for number in numbers if f"Number{number}" not in text] == []
    assert text.index("Outward") < text.index("Return")


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
def test_name_is_printed_in_latin_1(name, printed):
    assert to_latin1(name) == printed


def test_any_letter_can_be_on_a_voucher(offline):
    letters = "".join(map(chr, (*range(1, 0x250), *range(0x370, 0x700, 7))))
    for start in range(0, len(letters), 180):
        guest = {**GUEST, "last_name": f"x{letters[start : start + 180]}"}
        assert fetch(offline, voucher_url(offline, offline.issue(passengers=[guest])))


# When a voucher can be fetched


def test_ticket_without_issue_has_no_voucher(offline):
    assert voucher_url(offline, offline.create()) is None


@pytest.mark.parametrize(
    ("line", "delay"),
    [
        pytest.param(PENDING, timedelta(seconds=3), id="with-the-issue"),
        pytest.param(TWO_TICKETS, timedelta(minutes=10), id="ten-minutes-later"),
    ],
)
def test_company_delivers_after_some_time(offline, line, delay):
    created = offline.issue(line)
    offline.clock.advance(delay - timedelta(seconds=1))
    assert voucher_url(offline, created) is None
    offline.clock.advance(1)
    assert fetch(offline, voucher_url(offline, created))


def test_company_can_deliver_by_email_only(offline):
    created = offline.issue(BY_EMAIL)
    offline.clock.advance(timedelta(days=31))
    assert offline.booking(created)["stage"] == "ticketed"
    assert voucher_url(offline, created) is None


@pytest.fixture
def issued(offline):
    """Return a booking whose ticket is issued, and the URL of its voucher."""
    created = offline.issue(name="FLEX")
    return created, voucher_url(offline, created)


def test_voucher_of_an_issued_ticket_is_fetched(offline, issued):
    _, url = issued
    assert fetch(offline, url)


def test_voucher_requires_its_key(offline, issued):
    _, url = issued
    assert fetch(offline, f"{url[:-5]}é.pdf") is None


def test_voucher_of_an_unknown_ticket_is_not_found(offline, issued):
    _, url = issued
    assert offline.service.voucher_file("unknown", url[-28:-4]) is None


def test_cancelled_ticket_has_no_voucher(offline, issued):
    created, url = issued
    (ticket,) = offline.tickets(created)
    offline.perform("tickets.cancel", ticket_id=ticket["id"])
    assert voucher_url(offline, created) is None
    assert fetch(offline, url) is None


def test_key_of_a_voucher_is_random(offline):
    keys = {voucher_url(offline, offline.issue()).rpartition("/")[2] for _ in range(10)}
    assert len(keys) == 10
    assert min(map(len, keys)) >= 22


# QR codes of tickets


def png_of(uri):
    """Return the image of a data URI."""
    kind, _, data = uri.partition(",")
    assert kind == "data:image/png;base64"
    return base64.b64decode(data, validate=True)


@pytest.fixture
def codes(offline):
    """Return the QR codes of a ticket before and after its issue."""
    created = offline.create()
    before = offline.tickets(created)[0]["qr_code"]
    offline.confirm(created)
    return before, offline.tickets(created)[0]["qr_code"]


def test_qr_code_changes_with_the_issue(codes):
    before, after = codes
    assert before != after


def test_qr_code_is_an_image(codes):
    for image in map(png_of, codes):
        assert image.startswith(b"\x89PNG\r\n\x1a\n")
        assert zlib.crc32(image[12:29]) == int.from_bytes(image[29:33], "big")
        assert int.from_bytes(image[33:37], "big") > 0


def test_qr_code_follows_its_content():
    assert qr_code("a") == qr_code("a") != qr_code("b")


# Boarding


@pytest.fixture(params=[(None, 45), ("PEUGEOT__208", 90)], ids=["on-foot", "with-a-car"])
def boarding(request, offline):
    """Return the times of departure and of boarding, and the minutes between them."""
    vehicle, minutes = request.param
    more = {"vehicle": {"code": "CAR"}} if vehicle else None
    (ticket,) = offline.tickets(offline.create(vehicle=vehicle, more=more))
    departs = ticket["availability"]["outward"]["journey"]["depart_at"]
    return datetime.fromisoformat(departs), datetime.fromisoformat(ticket["boarding_time"]), minutes


def test_boarding_is_before_departure(boarding):
    departs, boards, minutes = boarding
    assert departs - boards == timedelta(minutes=minutes)


def test_boarding_is_in_port_local_time(boarding):
    departs, boards, _ = boarding
    assert boards.utcoffset() == departs.utcoffset()
