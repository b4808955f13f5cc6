"""The boarding voucher: a one-page PDF with a QR code."""

from __future__ import annotations

import unicodedata
from datetime import datetime
from importlib.util import find_spec
from typing import NamedTuple

import segno

from ferry_sdk.sandbox.bookings.bookings import Booking
from ferry_sdk.sandbox.bookings.tickets import Leg, Ticket

# fpdf2 is imported with the first voucher. If it is not installed, loading the service must fail,
# as for the other packages of the extra.
if find_spec("fpdf") is None:
    raise ModuleNotFoundError("No module named 'fpdf'", name="fpdf")

_LEFT, _NAMES, _MIDDLE, _RIGHT = 18, 52, 105, 192
_QR_SIZE = 46
_INK, _PALE, _LINE, _WHITE = (28, 37, 51), (95, 105, 120), (214, 220, 228), (255, 255, 255)
_COLOURS = ((12, 74, 110), (15, 90, 80), (110, 40, 60), (60, 50, 120), (140, 75, 20), (30, 60, 140))
# Characters that the standard PDF fonts lack and that have no decomposition.
_LETTERS = "\u2013\u2014\u2018\u2019\u201c\u201d\u0111\u0110\u0131\u0141\u0142\u0152\u0153"
_SUBSTITUTES = ["-", "-", "'", "'", '"', '"', "d", "D", "i", "L", "l", "OE", "oe"]
_TRANSLITERATION = str.maketrans(dict(zip(_LETTERS, _SUBSTITUTES, strict=True)))


class _Style(NamedTuple):
    size: float
    colour: tuple[int, int, int] = _INK
    bold: bool = False


_PLAIN, _QUIET, _SMALL = _Style(11), _Style(10, _PALE), _Style(8, _PALE)
_STRONG = _Style(13, bold=True)


def voucher(ticket: Ticket, booking: Booking) -> bytes:
    """Return the voucher of an issued ticket."""
    page = _Page(f"Boarding voucher {ticket.number}", ticket.issued_at)
    page.band(_COLOURS[sum(ticket.company.code.encode()) % len(_COLOURS)], 34)
    page.write(_LEFT, 16, "BOARDING VOUCHER", _Style(9, _WHITE))
    page.write(_LEFT, 26, ticket.company.name, _Style(20, _WHITE, bold=True))

    reference = f"{booking.reference}/{ticket.number}"
    page.qr(reference, _RIGHT - _QR_SIZE, 42)
    page.pair(_LEFT, 50, "Ticket number", str(ticket.number))
    page.pair(80, 50, "Booking reference", booking.reference)
    page.pair(_LEFT, 68, "Boarding from", f"{ticket.boards_at:%d %b %Y, %H:%M (%Z)}")
    page.pair(80, 68, "Travellers", str(len(booking.passengers)))

    y = 98.0
    for leg in ticket.legs:
        y = _crossing(page, y, leg)
    y = _travellers(page, y, booking)
    _vehicle(page, y, ticket, booking)
    page.write(
        _LEFT, 287, "Issued by a local service for development: not valid for travel.", _SMALL
    )
    return page.output()


def _crossing(page: _Page, y: float, leg: Leg) -> float:
    sailing = leg.offer.sailing
    title = f"{leg.offer.direction}   |   {sailing.ship.name}   |   {leg.place.name_in('en')}"
    if leg.offer.valid_until is not None:
        title += f"   |   open until {leg.offer.valid_until:%d %b %Y}"
    page.heading(y, title)
    page.pair(_LEFT, y + 10, "Departure", sailing.journey.depart.name)
    page.pair(_MIDDLE, y + 10, "Arrival", sailing.journey.arrive.name)
    _time(page, _LEFT, y, sailing.depart_at)
    _time(page, _MIDDLE, y, sailing.arrive_at)
    return y + 38


def _time(page: _Page, x: float, y: float, moment: datetime) -> None:
    page.write(x, y + 25, f"{moment:%H:%M}", _Style(18, bold=True))
    page.write(x + 24, y + 25, f"{moment:%d %b %Y (%Z)}", _QUIET)


def _travellers(page: _Page, y: float, booking: Booking) -> float:
    page.heading(y, "Travellers")
    y += 8
    for number, passenger in enumerate(booking.passengers, start=1):
        page.write(_LEFT, y, f"{number}   {passenger.type}", _QUIET)
        page.write(_NAMES, y, f"{passenger.first_name} {passenger.last_name}", _PLAIN)
        y += 6
    return y + 6


def _vehicle(page: _Page, y: float, ticket: Ticket, booking: Booking) -> None:
    searched, booked = ticket.legs[0].offer.vehicle, booking.vehicle
    if searched is None or booked is None:
        return
    page.heading(y, "Vehicle")
    name = f"{booked.brand or searched.brand} {booked.model or searched.model}"
    page.write(_LEFT, y + 8, searched.type.code, _QUIET)
    page.write(_NAMES, y + 8, f"{name}   {booked.identification or ''}", _PLAIN)


class _Page:
    """An A4 page; coordinates are millimetres from the upper left corner."""

    def __init__(self, title: str, created_at: datetime | None) -> None:
        from fpdf import FPDF  # noqa: PLC0415 -- it takes longer to load than the whole service

        self._pdf = FPDF(format="A4")
        self._pdf.set_auto_page_break(auto=False)
        self._pdf.set_title(to_latin1(title))
        if created_at is not None:
            self._pdf.set_creation_date(created_at)
        self._pdf.add_page()

    def band(self, colour: tuple[int, int, int], height: float) -> None:
        """Draw a coloured band across the top."""
        self._pdf.set_fill_color(*colour)
        self._pdf.rect(0, 0, 210, height, style="F")

    def write(self, x: float, y: float, text: str, style: _Style) -> None:
        """Write a line of text with the baseline `y`, cut at the right margin."""
        self._pdf.set_font("Helvetica", "B" if style.bold else "", style.size)
        self._pdf.set_text_color(*style.colour)
        line = to_latin1(text)
        while self._pdf.get_string_width(line) > _RIGHT - x:
            line = line[:-1]
        self._pdf.text(x, y, line)

    def pair(self, x: float, y: float, label: str, value: str) -> None:
        """Write a value below its label."""
        self.write(x, y, label, _SMALL)
        self.write(x, y + 6, value, _STRONG)

    def heading(self, y: float, text: str) -> None:
        """Write a heading above a line across the page."""
        self.write(_LEFT, y, text, _Style(9, _PALE, bold=True))
        self._pdf.set_draw_color(*_LINE)
        self._pdf.line(_LEFT, y + 2, _RIGHT, y + 2)

    def qr(self, content: str, x: float, y: float) -> None:
        """Draw a QR code."""
        rows = list(segno.make(content, error="m", micro=False).matrix_iter(border=0))
        side = _QR_SIZE / len(rows)
        self._pdf.set_fill_color(0)
        for down, row in enumerate(rows):
            for across, dark in enumerate(row):
                if dark:
                    self._pdf.rect(x + across * side, y + down * side, side, side, style="F")

    def output(self) -> bytes:
        """Return the page as a PDF file."""
        return bytes(self._pdf.output())


def to_latin1(text: str) -> str:
    """Return the text in Latin-1, as the standard fonts need; unknown letters become `?`."""
    letters = unicodedata.normalize("NFC", text).translate(_TRANSLITERATION)
    return "".join(_to_latin1(letter) if letter.isprintable() else " " for letter in letters)


def _to_latin1(letter: str) -> str:
    base = letter if letter <= "\xff" else unicodedata.normalize("NFKD", letter)
    return base.encode("latin-1", "ignore").decode("latin-1") or "?"
