"""Redaction takes any text: it never raises, and no half of a name remains where a text is cut."""

import json
from http import HTTPStatus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ferry_sdk import APIError, Ferry
from ferry_sdk._engine import redaction
from ferry_sdk._engine.redaction import HIDDEN, LONGEST, Redactor, one_line
from ferry_sdk.journal import Journal
from tests.support.mcp_samples import PASSENGERS, SELECTION
from tests.support.raw_service import RawService, answer
from tests.support.samples import BOOKING

TOKEN = "token-1234567890"
TRAVELLER = ["Zoe", "Okonkwo", "1980-03-02", "XD998877", "zoe.okonkwo@mail.example", "王小明"]
MANY = 30_000
ODD = {
    "long entity": "&#" + "1" * 4301 + ";",
    "long hexadecimal entity": "&#x" + "f" * MANY,
    "zeros in an entity": "&#" + "0" * MANY + "77;",
    "entities": "&amp;" * MANY,
    "half an entity": "&#" * MANY,
    "half a surrogate": "\ud800\udfff\udc00" * 100,
    "escaped surrogates": "\\ud83d\\ude00\\ud800" * 100,
    "NUL": "\x00" * MANY,
    "combining marks": "a" + "\u0301\u0323\u0345" * MANY,
    "expanding letters": "\ufdfa" * MANY,
    "spaces": "a" + " " * MANY + "\x01b",
    "spaces and breaks": " \n" * MANY,
    "percent signs": "%" * MANY,
    "escaped percent signs": "%25" * MANY,
    "at signs": "a@" * MANY,
    "domains": "a@" + "a." * MANY,
    "quotation marks": '"' * MANY,
    "backslashes": "\\" * MANY,
    "fractions": "\u2152" * MANY,
}


def is_one_line(text):
    return text == one_line(text) or text.rstrip() == one_line(text)


@given(st.text(st.characters(exclude_categories=()), max_size=300))
@example("&#" + "1" * 5000)
@example("\ud800&#xd800;\\ud800%ed%a0%80")
def test_any_text_is_shown_on_one_line(text):
    shown = Redactor([TOKEN], TRAVELLER).show(text)
    assert len(shown) <= LONGEST
    assert is_one_line(shown)


parts = st.sampled_from(
    [
        "&",
        "#",
        "x",
        "1",
        ";",
        "\\",
        "u",
        "d800",
        "%",
        "C3",
        "@",
        ".",
        '"',
        " ",
        "\n",
        "\u0301",
        "Okonkwo",
    ]
)


@given(st.lists(parts, max_size=200).map("".join))
def test_any_pieces_of_escapes_are_shown(text):
    shown = Redactor([TOKEN], TRAVELLER).show(text)
    assert len(shown) <= LONGEST
    assert "Okonkwo" not in shown


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_an_odd_text_is_shown(text):
    assert len(Redactor([TOKEN], TRAVELLER).show(text)) <= LONGEST


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_a_name_behind_an_odd_start_is_hidden(text):
    shown = Redactor([TOKEN], TRAVELLER).show(f"Okonkwo {text[:4000]} Okonkwo {TOKEN}")
    assert HIDDEN in shown
    assert "Okonkwo" not in shown
    assert TOKEN not in shown


NAMED = {
    "a name": "Okonkwo",
    "a token": TOKEN,
    "an address": "someone.else@mail.example",
    "a document": "XD 99 88 77",
    "entities": "".join(f"&#{ord(letter)};" for letter in "Okonkwo"),
    "escapes": "".join(f"%25{ord(letter):02X}" for letter in "Okonkwo"),
}
WINDOW = redaction._LONGEST_SEARCH + redaction._LONGEST_MATCH + len(TOKEN)


@pytest.mark.parametrize("named", NAMED.values(), ids=NAMED)
def test_no_half_name_remains_at_a_cut(named):
    redactor = Redactor([TOKEN], TRAVELLER)
    for before in range(WINDOW - len(named) - 2, WINDOW + 2):
        # The invisible characters leave the text, so that its end comes within what is shown.
        shown = redactor.show("for " + "\u200b" * (before - 4) + named + " and others" * 100)
        assert shown in {"for", f"for {HIDDEN}", ""}


def test_the_end_of_a_short_text_is_shown():
    assert Redactor([TOKEN]).show("x " * 200 + "end").endswith("x end")


@pytest.fixture
def refusing():
    """Start a service that answers every write with this status and message."""
    services = []

    def start(status, message, booking=BOOKING):
        refusal = answer(
            status, {"error": True, "code": "BOOKING_CONFIRM_ERROR", "message": message}
        )

        def respond(method, path, _headers, _body):
            return answer(200, booking) if method == "GET" else refusal

        services.append(RawService(respond).__enter__())
        return services[-1]

    yield start
    for service in services:
        service.__exit__()


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_a_refusal_with_any_text_is_on_record(refusing, text, tmp_path):
    message = text.encode("utf-8", "replace").decode()
    service = refusing(422, message)
    with Journal(f"sqlite:///{tmp_path}/j.db") as journal:
        with (
            Ferry(TOKEN, base_url=service.url, journal=journal) as ferry,
            pytest.raises(APIError) as info,
        ):
            ferry.bookings.create(availabilities=SELECTION, passengers=PASSENGERS)
        assert info.value.outcome == "rejected"
        assert [entry.state for entry in journal.entries()] == ["rejected"]


def test_lost_reply_with_any_text_is_read_back(refusing):
    service = refusing(504, ODD["long entity"])
    with Ferry(TOKEN, base_url=service.url, deadline=20) as ferry:
        result = ferry.bookings.confirm(BOOKING["booking_id"])
    assert result.read_back


def test_a_read_with_any_text_is_retried():
    replies = [answer(503, {"message": ODD["long entity"]}), answer(200, BOOKING)]
    with (
        RawService(lambda *_: replies.pop(0)) as service,
        Ferry(TOKEN, base_url=service.url) as ferry,
    ):
        assert ferry.bookings.get(BOOKING["booking_id"]).booking_id == BOOKING["booking_id"]


def test_a_failed_redaction_shows_the_phrase(refusing, monkeypatch):
    def fail(*_):
        raise RuntimeError("Okonkwo")

    monkeypatch.setattr(Redactor, "hide", fail)
    service = refusing(422, "Okonkwo is refused")
    with Ferry(TOKEN, base_url=service.url) as ferry, pytest.raises(APIError) as info:
        ferry.bookings.create(availabilities=SELECTION, passengers=PASSENGERS)
    assert info.value.message == HTTPStatus(422).phrase


HIDES_NOTHING = [
    ("a@b.example", "Expected a phone number"),
    ("me@mail.example", "Call me on a weekday"),
    ("no@mail.example", "There is no such fare"),
    ("a.b@mail.example", "Choose a or b"),
    ("7", "Wait 7 minutes"),
    ("A", "Expected a phone number"),
    ("M", "M is no gender"),
    ("-", "2 - 3"),
    ("J.", "J. is missing"),
]


@pytest.mark.parametrize(("sent", "text"), HIDES_NOTHING, ids=[sent for sent, _ in HIDES_NOTHING])
def test_one_letter_hides_no_word(sent, text):
    assert Redactor((), [sent]).show(text) == text


@pytest.mark.parametrize("sent", ["a@b.example", "me@mail.example", "a.b@mail.example"])
def test_a_short_address_is_hidden(sent):
    assert Redactor((), [sent]).show(f"write to {sent.upper()}") == f"write to {HIDDEN}"


def test_a_name_of_one_chinese_letter_is_hidden():
    assert Redactor((), ["王"]).show("旅客王小姐") == f"旅客{HIDDEN}小姐"


@pytest.mark.parametrize(("first", "last"), [("A", "M"), ("J", "O"), ("A", "A")])
def test_initials_hide_no_word(refusing, first, last):
    text = "Expected a time such as 10:30 AM, jo or aa"
    service = refusing(422, text)
    passenger = {"type": "Adult", "first_name": first, "last_name": last}
    with Ferry(TOKEN, base_url=service.url) as ferry, pytest.raises(APIError) as info:
        ferry.bookings.create(availabilities=SELECTION, passengers=[passenger])
    assert info.value.message == text


def test_a_rare_letter_in_two_escapes_is_hidden():
    escaped = json.dumps("𠮷田")
    assert Redactor((), ["𠮷田"]).show(f"for {escaped}") == f'for "{HIDDEN}"'
