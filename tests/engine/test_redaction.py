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
def test_a_name_of_the_request_is_hidden_in_every_spelling(spelling, name, frame):
    spelt = spelling(name)
    text = Redactor((), [name]).hide(frame.format(spelt))
    assert HIDDEN in text
    assert text == frame.format(HIDDEN) or HIDDEN in text.replace(frame.format(""), "")
    if len(spelt) > 3:
        assert spelt not in text


def test_other_spellings_of_the_same():
    for name, *others in (
        ("Müller", "Mueller", "MUELLER", "Muller", "M\u0308uller"),
        ("Mueller", "Müller", "MÜLLER"),
        ("Björn Ågård", "Bjoern Aagaard", "BJORN AGARD", "Ågård"),
        ("Ångström", "Angstrom", "ANGSTROEM", "Aangstroem"),
        ("王小明", "王 小明", "王 小 明", "王・小明"),
        ("Łukasz", "Lukasz", "LUKASZ"),
        ("O'Brien", "O&#39;Brien", "OBrien", "O\u2019Brien", "O Brien", "O%27Brien"),
        ("de la Cruz", "DE LA CRUZ", "de-la-cruz", "Cruz"),
        ("Jean-Luc", "Jean Luc", "JEANLUC", "Luc"),
        ("XD998877", "xd-998877", "XD 99 88 77", "xd998877"),
        ("zoe.okonkwo@mail.example", "ZOE.OKONKWO@MAIL.EXAMPLE", "zoe okonkwo", "Okonkwo"),
        ("612345987", "612 345 987", "612-345-987"),
        ("Γιώργος", "ΓΙΩΡΓΟΣ", "Giorgos", "γιωργος"),
        ("Zoë Çelik", "ZoÃ« Ã\x87elik", "Zo\\u00eb \\xc7elik", "Zo%EB+%C7elik", "Zoe"),
    ):
        redactor = Redactor((), [name])
        hidden = {other: redactor.hide(f"for {other}, no") for other in others}
        assert hidden == dict.fromkeys(others, f"for {HIDDEN}, no")


@given(days, st.sampled_from(DAYS))
@example(date(2000, 3, 20), "%Y-%m-%d")
def test_a_date_is_hidden_in_every_order(day, form):
    text = Redactor((), [day.isoformat()]).hide(f"born on {day.strftime(form)}: too old")
    assert text == f"born on {HIDDEN}: too old"


def test_a_short_name_or_a_particle_hides_no_other_word():
    redactor = Redactor((), ["No", "An"])
    assert redactor.hide("nothing can be done") == "nothing can be done"
    assert redactor.hide("Mr. No and AN") == f"Mr. {HIDDEN} and {HIDDEN}"
    redactor = Redactor((), ["Ana de la Cruz", "Jan van der Berg"])
    text = "No se puede cancelar la reserva de la señora {}: van der {}"
    assert redactor.hide(text.format("Cruz", "Berg")) == text.format(HIDDEN, HIDDEN)
    assert redactor.hide("for ANA DE LA CRUZ") == f"for {HIDDEN}"


def test_an_e_mail_address_is_hidden_whoever_has_it_and_a_shown_text_is_one_line():
    redactor = Redactor(())
    for address in (
        "zoe@mail.example",
        "o'brien+ferry@sub.mail-host.example",
        "ζωή@παράδειγμα.ελ",
        '"Zoe Okonkwo"@mail.example',
        "zoe%40mail.example",
        "zoe&#64;mail.example",
    ):
        assert redactor.hide(f"write to {address}, please.") == f"write to {HIDDEN}, please."
    for text in ("2@35.50 EUR", "at 08:00 @ FRMRS", "user@host", "a@b@c"):
        assert redactor.hide(text) == text
    redactor = Redactor(["token-1234"], ["Okonkwo"])
    assert redactor.show(" one\r\n\ttwo\x00\u202ethree\u200b\x1b[31m ") == "one twothree[31m"
    assert redactor.show("token-\u200b1234 of Oko\u2066nkwo") == f"{HIDDEN} of {HIDDEN}"
    assert redactor.show("%C2%85Ok%6Fnkwo%0Ano") == f"{HIDDEN} no"
    assert redactor.show("1\u202f200,00\u00a0€") == "1\u202f200,00\u00a0€"
    assert redactor.show("x" * 496 + " Okonkwo") == "x" * 496 + " [hi"
    assert redactor.show("Okonkwo " * 10_000) == HIDDEN
    passenger = {"type": "Adult", "first_name": "Zoe", "last_name": "Okonkwo"}
    operation = described("bookings.create", passengers=[passenger])
    shown = {sent: sent for sent in ("0f-1.a:B_c", "x" * 128)} | {"req-ZOE-1": f"req-{HIDDEN}-1"}
    for sent, seen in (shown | dict.fromkeys(("x" * 129, "two words", ""))).items():
        error = scripted_driver(reply(409, x_request_id=sent)).error(APIError, operation)
        assert (error.request_id, error.attempts[0].request_id) == (seen, seen)
    redactor = Redactor((), ["Okonkwo " * 1_000_000])
    assert redactor.hide(f"no: {'okonkwo ' * 60}!") == f"no: {HIDDEN}"
    redactor = Redactor((), [f"Name{number}" for number in range(1000)])
    assert redactor.hide("Name7 is no name") == f"{HIDDEN} is no name"
    assert Redactor((), ["-" * 200]).hide("a-b") == "a-b"
    text = "id: There is no such booking. &amp; %20"  # what is not personal stays as it is
    assert Redactor(["token-1"], ["Okonkwo", "1980-03-02"]).hide(text) == text


def test_a_result_does_not_depend_on_the_hash_seed():
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
