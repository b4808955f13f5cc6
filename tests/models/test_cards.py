"""HTML of records: escaped, and no more than the repr shows."""

import base64
import re
import sys
from datetime import timedelta
from decimal import Decimal
from html.parser import HTMLParser
from unicodedata import category

from hypothesis import given
from hypothesis import strategies as st

import ferry_sdk as sdk
from ferry_sdk import AsyncFerry, Availability, Booking, BookingCancellation, Port, Records, Ticket
from ferry_sdk.models import CancellationFee, Tariff
from tests.models.test_models import RECORDS
from tests.support import samples
from tests.support.tables import each
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
    plain = isinstance(value, str) and value[:2] not in {"20", "19"} and value.upper() != "EUR"
    return text if plain else value


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


@each("text", HOSTILE)
@each("model", WIRES)
def test_a_hostile_text_stays_a_text(model, text):
    record = model.model_validate(replace_texts(WIRES[model], text))
    for html in (record._repr_html_(), Records([record, record])._repr_html_()):
        classes, focus = parse_html(html).attributes[:2]
        assert classes == ("class", "tex2jax_ignore mathjax_ignore")
        assert focus == ("tabindex", "0")  # the keyboard can scroll it


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


def test_a_text_can_be_read_and_a_booking_and_a_cancellation_tell_what_to_do_and_what_it_costs():
    port = Port(code="A", name='L\'Île <Rousse> & "Calvi"', country="FR")
    assert 'L\'Île <Rousse> & "Calvi"' in parse_html(port._repr_html_()).texts
    half_a_character = Port.model_construct(code="A", name="\ud800", country="X")
    assert {"A", "?", "X"} <= {*parse_html(half_a_character._repr_html_()).texts}
    hidden = "".join(one for one in map(chr, range(sys.maxunicode)) if category(one) == "Cf")
    joiners = "\u200c\u200d"
    assert {*"\u202e\u2066\u200e\u061c\xad\ufeff"} < {*hidden}
    for one in hidden:
        port = Port(code=f"1{one}2", name=f"Gen{one}oa", country="Italy")
        ticket = Ticket.model_validate({**samples.TICKET, "pdf_url": f"https://a.example/{one}"})
        html = port._repr_html_() + Records([port])._repr_html_() + ticket._repr_html_()
        assert html.count(one) == (5 if one in joiners else 0), ascii(one)
    booking = Booking.model_validate(samples.BOOKING)
    texts = parse_html(booking._repr_html_()).texts
    assert str(booking.stage) in texts
    names = [action.name for action in booking.next_actions()]
    assert names
    assert [text for text in texts if text in names] == names
    fee = CancellationFee.model_validate({**samples.CANCELLATION_FEE, "penalty_amount": "48.1"})
    done = BookingCancellation(
        booking_id="b-1", status="cancelled", refund_amount=Decimal(100), previewed=fee
    )
    texts = parse_html(done._repr_html_()).texts
    for name, amount in [
        ("refund_amount", "100.00 EUR"),
        ("previewed penalty_amount", "48.10 EUR"),
        ("previewed refund_amount", "100.05 EUR"),
    ]:
        assert texts[texts.index(name) + 1] == amount
    assert not [text for text in texts if "Decimal" in text]


def card(sample=samples.TICKET, model=Ticket, **changes):
    return parse_html(model.model_validate({**sample, **changes})._repr_html_())


def test_a_ticket_shows_its_crossing_code_and_link_and_a_sailing_its_tariffs_and_places():
    assert {"Marseille", "Tunis", "2026-07-13 20:20+02:00", "21 h 00 min"} <= {*card().texts}
    for uri in (PNG, PNG.replace("png", "svg+xml")):
        assert ("src", uri) in card(qr_code=uri).attributes
    no_images = (
        "",
        "https://evil.example/pixel.png",
        PNG.replace("png", "gif"),
        PNG + "A" * 300000,
    )
    for code in no_images:
        assert "img" not in card(qr_code=code).tags, code[:40]
    for url, linked in (("https://a.example/v.pdf", True), ("ftp://a", False)):
        assert (("href", url) in card(pdf_url=url).attributes) is linked
    texts = card(samples.AVAILABILITY, Availability).texts
    assert {"Marseille → Tunis", "148.18 EUR", "only as a round trip", "Inside cabin"} <= {*texts}
    dear = {**samples.TARIFF, "roundtrip_locked": False, "amount": 99.5}
    wire = {**samples.AVAILABILITY, "tariffs": [dear, {**samples.TARIFF, "amount": 10}]}
    texts = parse_html(Records([Availability.model_validate(wire)])._repr_html_()).texts
    assert "99.50 EUR" in texts
    assert "10.00 EUR" not in texts


def test_no_card_says_more_than_the_repr():
    shown = [
        model.model_validate({**wire, "seen_never_before": PERSONAL})._repr_html_()
        for model, wire in WIRES.items()
    ]
    personal = dict.fromkeys(samples.TICKET_PASSENGER, PERSONAL)
    shown += card(passengers=[personal]).texts
    received = {"amount": 5, "currency": "Eur", "from_label": PERSONAL}
    shown += card(samples.BOOKING, Booking, pricing=samples.PRICING | {"received": received}).texts
    assert not [one for one in shown if PERSONAL in one]


def test_a_long_list_is_cut_in_its_table_and_its_repr_and_what_is_lost_is_said():
    ports = [Port(code=f"P{n}", name=f"Port {n}", country="X") for n in range(40)]
    texts = parse_html(Records(ports)._repr_html_()).texts
    assert {"Port 29", "10 more of 40."} <= {*texts}
    assert "Port 30" not in texts
    html = Records(
        ports[:2], [sdk.Unreadable(1, "code", "missing", {"name": PERSONAL})]
    )._repr_html_()
    assert "1 could not be read; see .unreadable." in parse_html(html).texts
    assert PERSONAL not in html
    assert "No records." in parse_html(Records()._repr_html_()).texts
    assert Records(["x"])._repr_html_() is None
    assert repr(Records(range(5))) == "Records([0, 1, 2, 3, 4])"
    assert repr(Records(range(6))) == "Records([0, ... 4 more ..., 5])"
    assert repr(Records([timedelta(0)])) == "Records([datetime.timedelta(0)])"
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
    assert str(min(one.amount for one in sailing.tariffs if one.type == "Ticket")) in repr(sailing)
    assert "0 tariffs, " in repr(sailing.model_copy(update={"tariffs": ()}))


@each("kind", [sdk.Ferry, AsyncFerry])
def test_a_group_shows_its_address_and_no_internals(kind):
    url = "http://127.0.0.1:1"
    client = kind("a-secret-token", base_url=url)
    groups = (client.availability, client.bookings, client.tickets, client.catalogue, client.mcp)
    for group in (*groups, client.places, client.routes, client.trips, client.vehicles):
        assert repr(group) == f"{type(group).__name__}(base_url={url!r})"
        assert "transport" not in dir(group)
