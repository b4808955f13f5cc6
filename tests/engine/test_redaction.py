"""No traveller is named by what an error shows, in whatever spelling the service names them."""

import os
import subprocess
import sys
import unicodedata
from datetime import date
from html import escape
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ferry_sdk import APIError
from ferry_sdk._engine.redaction import HIDDEN, Redactor
from tests.engine.replies import reply, scripted_driver
from tests.support.operations import described

LETTERS = "abcdefghijklmnopqrstuvwxyzàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿœßłđšžćčőű"
LETTERS += "".join(map(chr, range(0x3B1, 0x3CF)))  # Greek
names = st.text(LETTERS, min_size=2, max_size=14).map(str.title)
days = st.dates(date(1900, 1, 1), date(2099, 12, 31))
SPELLINGS = {
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
def test_name_is_hidden_in_every_spelling(spelling, name, frame):
    spelt = spelling(name)
    text = Redactor((), [name]).hide(frame.format(spelt))
    assert HIDDEN in text
    assert text == frame.format(HIDDEN) or HIDDEN in text.replace(frame.format(""), "")
    if len(spelt) > 3:
        assert spelt not in text


OTHER_SPELLINGS = {
    "Müller": ["Mueller", "MUELLER", "Muller", "M\u0308uller"],
    "Mueller": ["Müller", "MÜLLER"],
    "Björn Ågård": ["Bjoern Aagaard", "BJORN AGARD", "Ågård"],
    "Ångström": ["Angstrom", "ANGSTROEM", "Aangstroem"],
    "王小明": ["王 小明", "王 小 明", "王・小明"],
    "Łukasz": ["Lukasz", "LUKASZ"],
    "O'Brien": ["O&#39;Brien", "OBrien", "O\u2019Brien", "O Brien", "O%27Brien"],
    "de la Cruz": ["DE LA CRUZ", "de-la-cruz", "Cruz"],
    "Jean-Luc": ["Jean Luc", "JEANLUC", "Luc"],
    "XD998877": ["xd-998877", "XD 99 88 77", "xd998877"],
    "zoe.okonkwo@mail.example": ["ZOE.OKONKWO@MAIL.EXAMPLE", "zoe okonkwo", "Okonkwo"],
    "612345987": ["612 345 987", "612-345-987"],
    "Γιώργος": ["ΓΙΩΡΓΟΣ", "Giorgos", "γιωργος"],
    "Zoë Çelik": ["ZoÃ« Ã\x87elik", "Zo\\u00eb \\xc7elik", "Zo%EB+%C7elik", "Zoe"],
}


@pytest.mark.parametrize(
    ("name", "spelling"),
    [(name, spelling) for name, spellings in OTHER_SPELLINGS.items() for spelling in spellings],
)
def test_other_spelling_is_hidden(name, spelling):
    assert Redactor((), [name]).hide(f"for {spelling}, no") == f"for {HIDDEN}, no"


@given(days, st.sampled_from(DAYS))
@example(date(2000, 3, 20), "%Y-%m-%d")
def test_date_is_hidden_in_every_order(day, form):
    text = Redactor((), [day.isoformat()]).hide(f"born on {day.strftime(form)}: too old")
    assert text == f"born on {HIDDEN}: too old"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("nothing can be done", "nothing can be done"),
        ("Mr. No and AN", f"Mr. {HIDDEN} and {HIDDEN}"),
    ],
)
def test_short_name_hides_no_other_word(text, shown):
    assert Redactor((), ["No", "An"]).hide(text) == shown


def test_particle_hides_no_other_word():
    redactor = Redactor((), ["Ana de la Cruz", "Jan van der Berg"])
    text = "No se puede cancelar la reserva de la señora {}: van der {}"
    assert redactor.hide(text.format("Cruz", "Berg")) == text.format(HIDDEN, HIDDEN)
    assert redactor.hide("for ANA DE LA CRUZ") == f"for {HIDDEN}"


@pytest.mark.slow
def test_long_datum_hides_what_follows():
    redactor = Redactor((), ["Okonkwo " * 1_000_000])
    assert redactor.hide(f"no: {'okonkwo ' * 60}!") == f"no: {HIDDEN}"


def test_one_of_many_names_is_hidden():
    redactor = Redactor((), [f"Name{number}" for number in range(1000)])
    assert redactor.hide("Name7 is no name") == f"{HIDDEN} is no name"


def test_datum_without_letters_hides_nothing():
    assert Redactor((), ["-" * 200]).hide("a-b") == "a-b"


def test_what_is_not_personal_stays_as_it_is():
    text = "id: There is no such booking. &amp; %20"
    assert Redactor(["token-1"], ["Okonkwo", "1980-03-02"]).hide(text) == text


@pytest.mark.parametrize(
    "address",
    [
        "zoe@mail.example",
        "o'brien+ferry@sub.mail-host.example",
        "ζωή@παράδειγμα.ελ",
        '"Zoe Okonkwo"@mail.example',
        "zoe%40mail.example",
        "zoe&#64;mail.example",
    ],
)
def test_any_email_address_is_hidden(address):
    assert Redactor(()).hide(f"write to {address}, please.") == f"write to {HIDDEN}, please."


@pytest.mark.parametrize("text", ["2@35.50 EUR", "at 08:00 @ FRMRS", "user@host", "a@b@c"])
def test_other_text_with_an_at_sign_is_shown(text):
    assert Redactor(()).hide(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param(
            " one\r\n\ttwo\x00\u202ethree\u200b\x1b[31m ", "one twothree[31m", id="one line"
        ),
        pytest.param(
            "token-\u200b1234 of Oko\u2066nkwo", f"{HIDDEN} of {HIDDEN}", id="invisible letters"
        ),
        pytest.param("%C2%85Ok%6Fnkwo%0Ano", f"{HIDDEN} no", id="escaped line feed"),
        pytest.param("1\u202f200,00\u00a0€", "1\u202f200,00\u00a0€", id="spaces of a number"),
        pytest.param("x" * 496 + " Okonkwo", "x" * 496 + " [hi", id="cut"),
        pytest.param("Okonkwo " * 10_000, HIDDEN, id="long"),
    ],
)
def test_text_is_shown_on_one_line(text, shown):
    assert Redactor(["token-1234"], ["Okonkwo"]).show(text) == shown


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        pytest.param("0f-1.a:B_c", "0f-1.a:B_c", id="signs"),
        pytest.param("x" * 128, "x" * 128, id="128 characters"),
        pytest.param("req-ZOE-1", f"req-{HIDDEN}-1", id="name"),
        pytest.param("x" * 129, None, id="129 characters"),
        pytest.param("two words", None, id="space"),
        pytest.param("", None, id="empty"),
    ],
)
def test_request_id_of_an_error_is_redacted(sent, shown):
    passenger = {"type": "Adult", "first_name": "Zoe", "last_name": "Okonkwo"}
    operation = described("bookings.create", passengers=[passenger])
    error = scripted_driver(reply(409, x_request_id=sent)).error(APIError, operation)
    assert (error.request_id, error.attempts[0].request_id) == (shown, shown)


@pytest.mark.slow
def test_result_does_not_depend_on_the_hash_seed():
    program = (
        "from ferry_sdk._engine.redaction import Redactor\n"
        "data = ['Anna Maria', 'Maria Anna', 'annamari', 'Ria Ann', 'Mariaann', '1990-09-09']\n"
        "print(Redactor((), data).hide('AnnaMariaAnnaMarianna 09.09.90 mari-aanna'))"
    )
    texts = {
        subprocess.check_output(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": str(seed)}
        )
        for seed in range(5)
    }
    assert len(texts) == 1
