"""The cheap steps of redaction pass on every text that the costly ones would find something in."""

import unicodedata
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ferry_sdk._engine import redaction
from ferry_sdk._engine.redaction import _FOLDED, HIDDEN, Redactor, _patterns_of, _words_of
from tests.engine.test_redaction import SPELLINGS, names

ODD_DATA = (
    "Ana\nMaria",
    "Müller-Weiß\nÅgård",
    "1.2@mail.example",
    "A\n1@mail.example",
    "1980-03-02",
    "1980-13-45",
    "1980-03-02\n",
    "J. O.",
    "王",
    "é" * 130,
    "a-b " * 60,
    "Γιώργος",
    "-",
)
data = (
    st.sampled_from(ODD_DATA) | names | st.text(st.characters(exclude_categories=()), max_size=20)
)


def letters_of(text):
    return "".join(filter(str.isalnum, text.translate(_FOLDED)))


@given(st.lists(data, min_size=1, max_size=4), st.lists(data, max_size=4), st.sampled_from("\n. "))
@example(["z1.o2@mail.example"], ["z1o2"], " ")
@example(["Boehm"], ["Bohm"], " ")
def test_a_word_is_in_every_text_with_patterns(sent, others, between):
    letters = letters_of(between.join([*sent, *others]))
    if _patterns_of(sent, letters):
        assert any(word in letters for word in _words_of(sent))


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
@given(name=names)
def test_a_spelled_name_is_never_passed_over(spelling, name):
    redactor = Redactor((), [name])
    text = redaction.one_line(redaction._resolve_escapes(spelling(name)))
    assert redactor.may_name(text)


@given(st.lists(names, max_size=3), st.from_regex(r"[A-Za-z0-9._:-]{1,60}", fullmatch=True))
@example(["Zoé"], "req-zoe-1")
@example(["Zoé"], "req-1")
def test_id_that_names_nobody_is_shown(sent, request_id):
    redactor = Redactor((), sent)
    assert redactor.may_name(request_id) or redactor.show(request_id) == request_id


def test_a_text_that_names_nobody_needs_no_patterns():
    with patch.object(redaction, "_patterns_of") as made:
        text = Redactor((), ["Zoé", "Müller-Weiß", "1980-03-02"]).show("No cabins are left")
    assert (text, made.call_count) == ("No cabins are left", 0)


def test_patterns_are_made_of_what_is_there():
    letters = letters_of("Zoe is refused")
    assert len(_patterns_of(["Zoé", "Müller-Weiß", "1980-03-02", "XD998877"], letters)) == 1


def test_day_needs_both_its_numbers():
    assert _patterns_of(["1980-03-17"], "cabin80") == set()


@pytest.mark.parametrize("sent", ["Ana\nMaria", "Ana\tMaria", "\nAna Maria\n"])
def test_a_break_in_a_name_is_a_space(sent):
    assert Redactor((), [sent]).show("for ANA MARIA, no") == f"for {HIDDEN}, no"


@pytest.mark.parametrize(
    ("letter", "folded"),
    [("Ü", "u"), ("ﬁ", "fi"), ("ß", "ss"), ("\u0301", ""), ("\u200b", ""), ("٣", "3"), ("Ł", "l")],
)
def test_a_letter_is_folded_to_its_base(letter, folded):
    assert letter.translate(_FOLDED) == folded


@given(st.text(max_size=50))
def test_a_folded_text_has_no_marks(text):
    assert not any(map(unicodedata.combining, text.translate(_FOLDED)))


def test_the_table_of_folded_letters_has_a_limit():
    table = redaction._Folded()
    every_letter = "".join(map(chr, range(0x3400, 0x3400 + 2 * redaction._MOST_FOLDED)))
    assert every_letter.translate(table) == every_letter.translate(_FOLDED)
    assert len(table) == redaction._MOST_FOLDED
