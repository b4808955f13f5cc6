"""No traveller is named by what an error shows, in whatever spelling the service names them."""

from __future__ import annotations

import json
import logging
import pickle
import traceback
import unicodedata
from dataclasses import replace
from datetime import date
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ferry_sdk import APIError, FerryError
from ferry_sdk._engine.redaction import (
    HIDDEN,
    Redactor,
    plain_beginning,
    plain_code,
    plain_words,
    vocabulary,
)
from tests.engine.replies import reply, scripted_driver
from tests.support.driven import SETTINGS
from tests.support.exchanges import client_of
from tests.support.operations import OPERATIONS, described

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.both import Clients

LETTERS = "abcdefghijklmnopqrstuvwxyzàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿœßłđšžćčőű"
LETTERS += "".join(map(chr, range(0x3B1, 0x3CF)))  # Greek
names = st.text(LETTERS, min_size=2, max_size=14).map(str.title)
days = st.dates(date(1900, 1, 1), date(2099, 12, 31))
documents = st.from_regex(r"[A-Z]{1,3}[0-9]{5,8}", fullmatch=True)
SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "upper case": str.upper,
    "lower case": str.lower,
    "composed": lambda text: unicodedata.normalize("NFC", text),
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "wide": lambda text: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text),
    "without accents": lambda text: "".join(
        c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c)
    ),
    "entities": escape,
    "numeric entities": lambda text: "".join(f"&#{ord(c)};" for c in text),
    "hexadecimal entities": lambda text: "".join(f"&#x{ord(c):x};" for c in text),
    "in an address": lambda text: quote(text, safe=""),
    "invisible letters": "\u200b".join,
}
DAYS = ("%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%y", "%Y%m%d", "%d%m%Y", "%d %B %Y", "%B %d, %Y")
FRAMES = (
    "the passenger {} is already booked",
    "{}",
    "duplicate: {}.",
    "({})",
    "a {}/b",
    "passengers[0].last_name: '{}' is not allowed",
)


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
@given(name=names, frame=st.sampled_from(FRAMES))
@example("Ng", FRAMES[0])
@example("Müller", FRAMES[0])
@example("Straße", FRAMES[0])
def test_a_name_of_the_request_is_hidden_in_every_spelling(
    spelling: Callable[[str], str], name: str, frame: str
) -> None:
    spelt = spelling(name)
    text = Redactor((), [name]).hide(frame.format(spelt))
    assert HIDDEN in text
    assert text == frame.format(HIDDEN) or HIDDEN in text.replace(frame.format(""), "")
    if len(spelt) > 3:
        assert spelt not in text


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("Müller", ["Mueller", "MUELLER", "Muller", "M\u0308uller"]),
        ("Mueller", ["Müller", "MÜLLER"]),
        ("Björn Ågård", ["Bjoern Aagaard", "BJORN AGARD", "Ågård"]),
        ("Łukasz", ["Lukasz", "LUKASZ"]),
        ("O'Brien", ["O&#39;Brien", "OBrien", "O\u2019Brien", "O Brien", "O%27Brien"]),
        ("de la Cruz", ["DE LA CRUZ", "de-la-cruz", "Cruz"]),
        ("Jean-Luc", ["Jean Luc", "JEANLUC", "Luc"]),
        ("XD998877", ["xd-998877", "XD 99 88 77", "xd998877"]),
        ("zoe.okonkwo@mail.example", ["ZOE.OKONKWO@MAIL.EXAMPLE", "zoe okonkwo", "Okonkwo"]),
        ("612345987", ["612 345 987", "612-345-987"]),
    ],
)
def test_other_spellings_of_the_same(name: str, others: list[str]) -> None:
    redactor = Redactor((), [name])
    for other in others:
        assert redactor.hide(f"for {other}, no") == f"for {HIDDEN}, no"


@given(days, st.sampled_from(DAYS))
@example(date(2000, 3, 20), "%Y-%m-%d")
def test_a_date_is_hidden_in_every_order(day: date, form: str) -> None:
    text = Redactor((), [day.isoformat()]).hide(f"born on {day.strftime(form)}: too old")
    assert text == f"born on {HIDDEN}: too old"


def test_a_short_name_hides_no_other_word() -> None:
    redactor = Redactor((), ["No", "An"])
    assert redactor.hide("nothing can be done") == "nothing can be done"
    assert redactor.hide("Mr. No and AN") == f"Mr. {HIDDEN} and {HIDDEN}"


def test_a_text_of_any_length_is_hidden_at_once() -> None:
    redactor = Redactor((), ["Okonkwo " * 1_000_000])
    assert redactor.hide(f"no: {'okonkwo ' * 60}!") == f"no: {HIDDEN}"


def test_a_request_of_very_many_travellers_hides_all_that_is_said() -> None:
    redactor = Redactor((), [f"Name{number}" for number in range(1000)])
    assert redactor.hide("Name7 is no name") == HIDDEN
    assert Redactor((), ["-" * 200]).hide("a-b") == HIDDEN


def test_what_is_not_personal_stays_as_it_is() -> None:
    text = "id: There is no such booking. &amp; %20"
    assert Redactor(["token-1"], ["Okonkwo", "1980-03-02"]).hide(text) == text


@given(names, st.sampled_from(FRAMES))
def test_a_name_that_nobody_knew_is_in_no_plain_words(name: str, frame: str) -> None:
    assume(name not in vocabulary())
    assume(name.lower() not in vocabulary())
    for spelt in (name, name.upper(), name.lower()):
        if spelt not in vocabulary():
            assert spelt not in plain_words(frame.format(spelt)).split()
            assert spelt not in plain_beginning(frame.format(spelt)).split()
            assert plain_code(spelt.replace(" ", "")) is None or not spelt.isascii()


@given(days, st.sampled_from(DAYS), documents)
def test_neither_is_a_date_or_a_document(day: date, form: str, document: str) -> None:
    born = day.strftime(form)
    text = plain_words(f"the passenger with passport {document}, born {born}, is not allowed")
    assert document not in text
    assert born not in text
    assert not [digit for digit in text if digit.isdigit()]


MESSAGES = [
    (language.name, key, text)
    for language in (files("ferry_sdk.sandbox.requests") / "messages").iterdir()
    for key, text in json.loads(language.read_text("utf-8")).items()
    if "{" not in text
]


def test_what_the_local_service_says_of_nobody_is_said_in_six_languages() -> None:
    assert len({language for language, _, _ in MESSAGES}) == 6
    for _, _, text in MESSAGES:
        assert plain_words(text) == " ".join(text.split())


@pytest.mark.parametrize(
    "text",
    [
        "id: There is no such booking.",
        "Not Found",
        "Internal Server Error",
        "passengers[0].doc_number: This field is required.",
        "there is no voucher to fetch: it is not ready, or the company sends it by e-mail",
        "Server disconnected without sending a response.",
    ],
)
def test_useful_words_stay(text: str) -> None:
    assert plain_words(text) == text


MESSAGE = "the passport XD998877 of Marguerite Okonkwo, born 1980-03-02, has expired"
WORDS = ("XD998877", "Marguerite", "Okonkwo", "1980", "1980-03-02")
OF_TRAVELLERS = [name for name in OPERATIONS if name.startswith(("bookings.", "tickets."))] + [
    "mcp.create_booking",
    "mcp.confirm_booking",
    "mcp.view_ticket",
    "mcp.cancel_ticket",
]


@pytest.mark.parametrize("name", [*OF_TRAVELLERS, "mcp.call_tool", "mcp.read_resource"])
def test_a_refusal_that_names_an_unknown_traveller_shows_nobody(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    body = {"error": True, "code": "DOC_EXPIRED", "message": MESSAGE}
    settings = replace(SETTINGS, correlation_id="call")  # a random one may have 1980 in it
    for code in ("DOC_EXPIRED", MESSAGE, "Okonkwo"):
        driver = scripted_driver(then=reply(409, {**body, "code": code}, x_request_id="of Okonkwo"))
        with pytest.raises(FerryError) as info:
            driver.raw(described(name), settings)
        error = info.value
        pickled = pickle.dumps(error, 0).decode("latin-1")
        shown = f"{error} {error!r} {''.join(traceback.format_exception(error))} {pickled}"
        shown += f"{caplog.text} {error.attempts}"
        assert not [word for word in WORDS if word in shown]
        assert isinstance(error, APIError)
        if "create" not in name:  # whose request names the same traveller
            assert error.message == MESSAGE, "readable in memory"
        again = pickle.loads(pickle.dumps(error))
        assert again.message in str(error)
        assert "has expired" in str(error)


def test_a_refusal_of_a_search_says_all_of_its_words() -> None:
    driver = scripted_driver(then=reply(404, {"message": "Nothing sails from Genoa to Palermo."}))
    with pytest.raises(APIError, match=r"Nothing sails from Genoa to Palermo\."):
        driver.raw(described("availability.search"), SETTINGS)


@pytest.mark.parametrize(
    ("sent", "seen"),
    [
        ("0f-1.a:B_c", "0f-1.a:B_c"),
        ("x" * 128, "x" * 128),
        ("x" * 129, None),
        ("two words", None),
        ("", None),
        ("req-ZOE-1", f"req-{HIDDEN}-1"),
    ],
)
def test_a_request_id_is_shown_if_it_looks_like_one(
    clients: Clients, sent: str, seen: str | None
) -> None:
    passenger: Any = {"type": "Adult", "first_name": "Zoe", "last_name": "Okonkwo"}
    selection: Any = {"availability_id": "a", "tariff_id": "t", "place_id": "p"}
    service = lambda _: httpx.Response(409, headers={"x-request-id": sent})  # noqa: E731 -- one reply
    with pytest.raises(APIError) as info:
        client_of(clients, service).bookings.create(
            availabilities=[selection], passengers=[passenger]
        )
    assert info.value.request_id == seen
    assert info.value.attempts[0].request_id == seen
