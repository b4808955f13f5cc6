"""HTML of records: escaped, and no more than the repr shows."""

import base64
import re
import sys
from datetime import timedelta
from decimal import Decimal
from html.parser import HTMLParser
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ferry_sdk as sdk
from ferry_sdk import AsyncFerry, Availability, Booking, BookingCancellation, Port, Records, Ticket
from ferry_sdk.models import CancellationFee, Tariff
from tests.models.test_models import RECORDS
from tests.support import samples
from tests.support.trip import found

PERSONAL = "Zq7-canary"
PNG = "data:image/png;base64," + base64.b64encode(b"\x89PNG a picture").decode()
MADE_BY_US = {"a", "b", "div", "img", "span", "table", "tbody", "td", "th", "thead", "tr"}
NAMES = ("alt", "class", "height", "href", "rel", "src", "style", "tabindex", "target", "width")


class Elements(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.tags = []
        self.attributes = []
        self.texts = []
        self.open = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def handle_comment(self, data):
        raise AssertionError(data)


def parse_html(html):
    """Parse the HTML; assert that it has only the library's own elements."""
    found = Elements(html)
    assert found.open == []
    assert set(found.tags) <= MADE_BY_US
    assert {name for name, _ in found.attributes} <= {*NAMES}
    for name, value in found.attributes:
        if name == "href":
            assert re.match(r"https?://", value)
        if name == "src":
            assert re.fullmatch(r"data:image/(png|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}", value)
        if name == "style":
            assert "url(" not in value
    html.encode("utf-8")
    return found


def replace_texts(value, text):
    if isinstance(value, dict):
        return {key: replace_texts(one, text) for key, one in value.items()}
    if isinstance(value, list):
        return [replace_texts(one, text) for one in value]
    is_date = isinstance(value, str) and value[:2] in {"20", "19"}
    is_replaced = isinstance(value, str) and not is_date and value.upper() != "EUR"
    return text if is_replaced else value


WIRES = {
    kind: RECORDS[kind.__name__]
    for kind in (Availability, Tariff, Booking, sdk.BookingCreated, Ticket, Port, CancellationFee)
}
HOSTILE = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "javascript:alert(1)",
    'https://a.example/" onclick="alert(1)',
    "data:text/html;base64,PHNjcmlwdD4=",
    "data:image/svg+xml,<svg onload=alert(1)>",
    'data:image/png;base64,AAAA" onerror="alert(1)',
    "<!-- ",
    "&lt;script&gt;",
    "$$\\href{javascript:alert(1)}{x}$$",
    "\x00\x1b[2J",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_stays_a_text(text):
    for model, wire in WIRES.items():
        record = model.model_validate(replace_texts(wire, text))
        for html in (record._repr_html_(), Records([record, record])._repr_html_()):
            classes, focus = parse_html(html).attributes[:2]
            assert classes == ("class", "tex2jax_ignore mathjax_ignore"), model
            assert focus == ("tabindex", "0"), model  # the keyboard can scroll it


# Half a character is no text of a record: pydantic refuses it, as JSON does.
@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40))
def test_any_text_stays_a_text(text):
    for model, wire in WIRES.items():
        record = model.model_validate(replace_texts(wire, text))
        parse_html(record._repr_html_())
        parse_html(Records([record])._repr_html_())


@given(text=st.text(min_size=1, max_size=60).map(lambda text: f"data:image/png;base64,{text}"))
def test_only_a_whole_image_becomes_one(text):
    card(qr_code=text)


def test_a_text_can_be_read():
    port = Port(code="A", name='L\'Île <Rousse> & "Calvi"', country="FR")
    assert 'L\'Île <Rousse> & "Calvi"' in parse_html(port._repr_html_()).texts


def test_half_a_character_is_a_question_mark():
    port = Port.model_construct(code="A", name="\ud800", country="X")
    assert {"A", "?", "X"} <= {*parse_html(port._repr_html_()).texts}


@pytest.mark.slow
def test_a_hidden_character_is_left_out():
    hidden = [letter for letter in map(chr, range(sys.maxunicode)) if category(letter) == "Cf"]
    joiners = "\u200c\u200d"
    assert {*"\u202e\u2066\u200e\u061c\xad\ufeff"} < {*hidden}
    for letter in hidden:
        port = Port(code=f"1{letter}2", name=f"Gen{letter}oa", country="Italy")
        ticket = Ticket.model_validate({**samples.TICKET, "pdf_url": f"https://a.example/{letter}"})
        html = port._repr_html_() + Records([port])._repr_html_() + ticket._repr_html_()
        assert html.count(letter) == (5 if letter in joiners else 0), ascii(letter)


def test_a_booking_says_what_to_do():
    booking = Booking.model_validate(samples.BOOKING)
    texts = parse_html(booking._repr_html_()).texts
    assert str(booking.stage) in texts
    names = [action.name for action in booking.next_actions()]
    assert names
    assert [text for text in texts if text in names] == names


def test_a_cancellation_says_what_it_costs():
    fee = CancellationFee.model_validate({**samples.CANCELLATION_FEE, "penalty_amount": "48.1"})
    done = BookingCancellation(
        booking_id="b-1", status="cancelled", refund_amount=Decimal(100), previewed=fee
    )
    texts = parse_html(done._repr_html_()).texts
    assert texts[texts.index("refund_amount") + 1] == "100.00 EUR"
    assert texts[texts.index("previewed penalty_amount") + 1] == "48.10 EUR"
    assert texts[texts.index("previewed refund_amount") + 1] == "100.05 EUR"
    assert not [text for text in texts if "Decimal" in text]


def card(sample=samples.TICKET, model=Ticket, **changes):
    return parse_html(model.model_validate({**sample, **changes})._repr_html_())


def test_a_ticket_shows_its_crossing():
    assert {"Marseille", "Tunis", "2026-07-13 20:20+02:00", "21 h 00 min"} <= {*card().texts}


@pytest.mark.parametrize("uri", [PNG, PNG.replace("png", "svg+xml")], ids=["png", "svg"])
def test_a_ticket_shows_its_code(uri):
    assert ("src", uri) in card(qr_code=uri).attributes


NO_IMAGES = {
    "empty": "",
    "elsewhere": "https://evil.example/pixel.png",
    "a gif": PNG.replace("png", "gif"),
    "too large": PNG + "A" * 300000,
}


@pytest.mark.parametrize("code", NO_IMAGES.values(), ids=NO_IMAGES)
def test_another_code_is_no_image(code):
    assert "img" not in card(qr_code=code).tags


@pytest.mark.parametrize(
    ("url", "is_linked"), [("https://a.example/v.pdf", True), ("ftp://a", False)]
)
def test_a_ticket_links_its_voucher_over_https(url, is_linked):
    assert (("href", url) in card(pdf_url=url).attributes) is is_linked


def test_a_sailing_shows_its_parts():
    texts = card(samples.AVAILABILITY, Availability).texts
    assert {"Marseille → Tunis", "148.18 EUR", "only as a round trip", "Inside cabin"} <= {*texts}


def test_a_table_shows_the_cheapest_single_ticket():
    single = {**samples.TARIFF, "roundtrip_locked": False, "amount": 99.5}
    locked = {**samples.TARIFF, "roundtrip_locked": True, "amount": 10}
    sailing = Availability.model_validate({**samples.AVAILABILITY, "tariffs": [single, locked]})
    texts = parse_html(Records([sailing])._repr_html_()).texts
    assert "99.50 EUR" in texts
    assert "10.00 EUR" not in texts


@pytest.mark.parametrize("model", WIRES)
def test_a_card_hides_an_unknown_field(model):
    record = model.model_validate({**WIRES[model], "seen_never_before": PERSONAL})
    assert PERSONAL not in record._repr_html_()


def test_a_card_hides_a_traveller():
    personal = dict.fromkeys(samples.TICKET_PASSENGER, PERSONAL)
    assert not [text for text in card(passengers=[personal]).texts if PERSONAL in text]


def test_a_card_hides_a_payer():
    received = {"amount": 5, "currency": "Eur", "from_label": PERSONAL}
    pricing = samples.PRICING | {"received": received}
    texts = card(samples.BOOKING, Booking, pricing=pricing).texts
    assert not [text for text in texts if PERSONAL in text]


def test_a_long_table_is_cut():
    ports = [Port(code=f"P{number}", name=f"Port {number}", country="X") for number in range(40)]
    texts = parse_html(Records(ports)._repr_html_()).texts
    assert {"Port 29", "10 more of 40."} <= {*texts}
    assert "Port 30" not in texts


def test_a_table_says_what_is_lost():
    lost = [sdk.Unreadable(1, "code", "missing", {"name": PERSONAL})]
    html = Records([Port(code="P", name="Port", country="X")], lost)._repr_html_()
    assert "1 could not be read; see .unreadable." in parse_html(html).texts
    assert PERSONAL not in html


def test_a_table_may_be_empty():
    assert "No records." in parse_html(Records()._repr_html_()).texts


def test_other_values_have_no_table():
    assert Records(["x"])._repr_html_() is None


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (range(5), "Records([0, 1, 2, 3, 4])"),
        (range(6), "Records([0, ... 4 more ..., 5])"),
        ([timedelta(0)], "Records([datetime.timedelta(0)])"),
    ],
)
def test_a_long_repr_is_cut(values, text):
    assert repr(Records(values)) == text


def test_a_record_lists_no_deprecated_method():
    names = {*dir(Availability.model_validate(samples.AVAILABILITY))}
    assert {*Availability.model_fields, "select", "travel_time", "model_dump"} <= names
    assert not {"construct", "copy", "dict", "json", "parse_raw", "update_forward_refs"} & names


def test_a_sailing_is_shown_in_two_lines(ferry):
    sailing = found(ferry)
    for text in (repr(sailing), str(sailing)):
        assert text.count("\n") == 1
        assert all(len(line) <= 120 for line in text.splitlines())
        for part in (sailing.depart_code, sailing.company.name, sailing.id):
            assert part in text
    prices = [tariff.amount for tariff in sailing.tariffs if tariff.type == "Ticket"]
    assert str(min(prices)) in repr(sailing)


def test_a_sailing_without_tariffs_is_shown():
    sailing = Availability.model_validate({**samples.AVAILABILITY, "tariffs": []})
    assert "0 tariffs, " in repr(sailing)


@pytest.mark.parametrize("kind", [sdk.Ferry, AsyncFerry])
def test_a_group_shows_its_address_only(kind):
    url = "http://127.0.0.1:1"
    client = kind("a-secret-token", base_url=url)
    groups = (client.availability, client.bookings, client.tickets, client.catalogue, client.mcp)
    for group in (*groups, client.places, client.routes, client.trips, client.vehicles):
        assert repr(group) == f"{type(group).__name__}(base_url={url!r})"
        assert "transport" not in dir(group)
