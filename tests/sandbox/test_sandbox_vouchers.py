import base64
import io
import zlib
from datetime import datetime, timedelta

from offline_service import ADULT, BY_EMAIL, GUEST, ORIGIN, PENDING, TWO_TICKETS

from ferry_sdk.sandbox.bookings.records import qr_code
from ferry_sdk.sandbox.bookings.vouchers import to_latin1
from tests.support.tables import each


def voucher_url(offline, created):
    """Return the URL of the first ticket's voucher, which is the same everywhere."""
    ticket, *_ = offline.tickets(created)
    read = offline.perform("tickets.get", id=ticket["id"])
    answer = offline.perform("tickets.pdf", id=ticket["id"])
    assert set(answer) == {"url"}
    assert ticket["pdf_url"] == read["pdf_url"] == answer["url"]
    return answer["url"]


def fetch(offline, url):
    _, _, ticket, file = url.removeprefix(ORIGIN).split("/")
    return offline.service.voucher_file(ticket, file.removesuffix(".pdf"))


def page_of(offline, created):
    from pypdf import PdfReader

    pdf = fetch(offline, voucher_url(offline, created))
    assert pdf.startswith(b"%PDF-")
    (page,) = PdfReader(io.BytesIO(pdf)).pages
    return page


def test_a_voucher_is_one_page_with_every_detail(offline):
    guests = [
        {**GUEST, "first_name": "Zoë", "last_name": "Łukasiewicz"},
        {"type": "Child", "first_name": "Nicolás", "last_name": "O\u2019Brien"},
    ]
    party = (ADULT, {"order": 2, "type": "Child", "param": "C", "gender": "Male", "age": 8})
    vehicle = {"code": "CAR", "identification": "AB-123-CD"}
    created = offline.issue(
        passengers=guests, party=party, vehicle="PEUGEOT__208", more={"vehicle": vehicle}
    )
    page = page_of(offline, created)
    text = page.extract_text()
    booking = offline.booking(created)
    (ticket,) = booking["tickets"]
    journey = ticket["availability"]["outward"]["journey"]
    details = booking["journey_details"]["outward"]
    for expected in (
        *(created["booking_reference"], ticket["ticket_number"], details["ship_name"]),
        *(journey["depart_port_name"], journey["arrive_port_name"], "CTN (Tunisia Ferries)"),
        *(journey["depart_at"][11:16], journey["arrive_at"][11:16], "CEST", "(CET)"),
        *("Zoë Lukasiewicz", "Nicolás O'Brien", "Peugeot 208", "AB-123-CD"),
    ):
        assert expected in text, expected
    assert len(page.images) == 1  # the QR code


def test_a_round_trip_of_nine_travellers_fits_on_the_page(offline):
    party = [{**ADULT, "order": number} for number in range(1, 10)]
    guests = [{**GUEST, "last_name": f"Number{number} {'x' * 150}"} for number in range(1, 10)]
    text = page_of(offline, offline.issue(passengers=guests, party=party, back=7)).extract_text()
    assert all(f"Number{number}" in text for number in range(1, 10))
    assert text.index("Outward") < text.index("Return")


def test_any_name_can_be_on_a_voucher_in_latin_1(offline):
    printed = {"Zoë": "Zoë", "Łódź": "Lódz", "Đặng": "Dang", "Þór": "Þór"}
    printed |= {"a\u0301": "á", "محمد": "????", "tab\there\x00": "tab here ", "😀": "?"}
    assert {name: to_latin1(name) for name in printed} == printed
    guest = {**GUEST, "last_name": "".join(printed)}
    assert fetch(offline, voucher_url(offline, offline.issue(passengers=[guest])))


def test_companies_deliver_at_once_later_or_by_email_only(offline):
    assert voucher_url(offline, offline.create()) is None
    pending, later, by_email = map(offline.issue, (PENDING, TWO_TICKETS, BY_EMAIL))
    assert voucher_url(offline, pending) is voucher_url(offline, later) is None
    offline.clock.advance(3)
    assert fetch(offline, voucher_url(offline, pending))
    offline.clock.advance(timedelta(minutes=10) - timedelta(seconds=4))
    assert voucher_url(offline, later) is None
    offline.clock.advance(1)
    assert fetch(offline, voucher_url(offline, later))
    offline.clock.advance(timedelta(days=30))
    assert offline.booking(by_email)["stage"] == "ticketed"
    assert voucher_url(offline, by_email) is None


def test_a_voucher_requires_its_random_key_and_an_issued_ticket_and_its_code_is_an_image(offline):
    created = offline.issue(name="FLEX")
    url = voucher_url(offline, created)
    assert fetch(offline, url)
    assert fetch(offline, f"{url[:-5]}é.pdf") is None
    ticket = offline.tickets(created)[0]["id"]
    assert offline.service.voucher_file("unknown", url[-28:-4]) is None
    offline.perform("tickets.cancel", ticket_id=ticket)
    assert voucher_url(offline, created) is None
    assert fetch(offline, url) is None
    keys = {voucher_url(offline, offline.issue()).rpartition("/")[2] for _ in range(10)}
    assert len(keys) == 10
    assert min(map(len, keys)) >= 22
    created = offline.create()
    before = offline.tickets(created)[0]["qr_code"]
    offline.confirm(created)
    after = offline.tickets(created)[0]["qr_code"]
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


@each(("vehicle", "minutes"), [(None, 45), ("PEUGEOT__208", 90)])
def test_boarding_is_before_departure(offline, vehicle, minutes):
    more = {"vehicle": {"code": "CAR"}} if vehicle else None
    (ticket,) = offline.tickets(offline.create(vehicle=vehicle, more=more))
    departs = datetime.fromisoformat(ticket["availability"]["outward"]["journey"]["depart_at"])
    boards = datetime.fromisoformat(ticket["boarding_time"])
    assert departs - boards == timedelta(minutes=minutes)
    assert boards.utcoffset() == departs.utcoffset()
