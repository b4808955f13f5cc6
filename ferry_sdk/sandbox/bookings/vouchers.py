"""The boarding voucher: a one-page PDF with a QR code."""

from __future__ import annotations

import unicodedata
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from ferry_sdk.sandbox.bookings.bookings import Booking
from ferry_sdk.sandbox.bookings.records import qr_code, vehicle_of
from ferry_sdk.sandbox.bookings.tickets import Ticket

if TYPE_CHECKING:
    from fpdf import FPDF

# fpdf2 is imported with the first voucher. If it is not installed, loading the service must fail,
# as for the other packages of the extra.
if find_spec("fpdf") is None:
    raise ModuleNotFoundError("No module named 'fpdf'", name="fpdf")

# Characters that the standard PDF fonts lack and that have no decomposition.
_TRANSLITERATION = str.maketrans(
    {
        "\N{EN DASH}": "-",
        "\N{EM DASH}": "-",
        "\N{LEFT SINGLE QUOTATION MARK}": "'",
        "\N{RIGHT SINGLE QUOTATION MARK}": "'",
        "\N{LEFT DOUBLE QUOTATION MARK}": '"',
        "\N{RIGHT DOUBLE QUOTATION MARK}": '"',
        "đ": "d",
        "Đ": "D",
        "\N{LATIN SMALL LETTER DOTLESS I}": "i",
        "Ł": "L",
        "ł": "l",
        "Œ": "OE",
        "œ": "oe",
    }
)
_TIME = "%d %b %Y, %H:%M (%Z)"


def voucher(ticket: Ticket, booking: Booking) -> bytes:
    """Return the voucher of an issued ticket."""
    from fpdf import FPDF  # noqa: PLC0415 -- it takes longer to load than the whole service

    page = FPDF(format="A4")
    page.set_title(f"Boarding voucher {ticket.number}")
    if ticket.issued_at is not None:
        page.set_creation_date(ticket.issued_at)
    page.set_auto_page_break(auto=False)
    page.add_page()
    page.image(qr_code(f"{booking.reference}/{ticket.number}"), x=150, y=20, w=46)

    _heading(page, f"Boarding voucher of {ticket.company.name}")
    _line(page, f"Ticket number: {ticket.number}")
    _line(page, f"Booking reference: {booking.reference}")
    _line(page, f"Boarding from: {ticket.boards_at:{_TIME}}")

    page.set_y(70)  # below the QR code
    for leg in ticket.legs:
        sailing = leg.offer.sailing
        _heading(page, f"{leg.offer.direction}, {sailing.ship}, {leg.place.name_in('en')}")
        if leg.offer.valid_until is not None:
            _line(page, f"Open until {leg.offer.valid_until:%d %b %Y}")
        _line(page, f"Departure: {sailing.journey.depart.name}, {sailing.depart_at:{_TIME}}")
        _line(page, f"Arrival: {sailing.journey.arrive.name}, {sailing.arrive_at:{_TIME}}")

    _heading(page, "Travellers")
    for passenger in booking.passengers:
        _line(page, f"{passenger.first_name} {passenger.last_name}, {passenger.type}")
    if booking.vehicle is not None and (vehicle := vehicle_of(booking, ticket)):
        _heading(page, "Vehicle")
        plate = booking.vehicle.identification or ""
        _line(page, f"{vehicle['brand_name']} {vehicle['model']}, {vehicle['type']} {plate}")

    _heading(page, "Issued by a local service for development: not valid for travel.")
    return bytes(page.output())


def _heading(page: FPDF, text: str) -> None:
    page.ln(4)
    _line(page, text, style="B")


def _line(page: FPDF, text: str, style: Literal["", "B"] = "") -> None:
    """Write a line of text, cut at the right margin."""
    page.set_font("Helvetica", style, 11)
    line = to_latin1(text)
    while page.get_string_width(line) > page.epw:
        line = line[:-1]
    page.cell(h=6, text=line, new_x="LMARGIN", new_y="NEXT")


def to_latin1(text: str) -> str:
    """Return the text in Latin-1, as the standard fonts need; unknown letters become `?`."""
    letters = unicodedata.normalize("NFC", text).translate(_TRANSLITERATION)
    return "".join(_letter_to_latin1(letter) for letter in letters)


def _letter_to_latin1(letter: str) -> str:
    if not letter.isprintable():
        return " "
    base = letter if letter <= "\xff" else unicodedata.normalize("NFKD", letter)
    return base.encode("latin-1", "ignore").decode("latin-1") or "?"
