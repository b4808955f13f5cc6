"""Redaction of tokens and travellers' data in the texts of the service.

Two rules work together. A `Redactor` knows the tokens and the travellers of one request, and hides
them in any text, in most spellings that a system may give a name. But a service may also name
travellers that no request named, for example when it rejects the confirmation of a booking. So
`plain_words` keeps only words that are in a fixed vocabulary and hides everything else.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date
from functools import cache
from html import unescape
from http import HTTPStatus
from itertools import chain, permutations, takewhile
from pathlib import Path
from typing import Final
from urllib.parse import unquote

HIDDEN: Final = "[hidden]"

_LETTERS: Final = str.maketrans(
    {
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "\u0131": "i",
        "ħ": "h",
        "æ": "ae",
        "œ": "oe",
        "þ": "th",
    }
)
"""Letters that NFKD does not decompose."""
_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "ñ": "nn"})
"""How travel documents transliterate letters to more than the base letter."""
_MONTHS: Final = (
    *("jan|gen|ene", "feb|fev", "mar", "apr|avr|abr", "may|mai|mag", "jun|juin|giu"),
    *("jul|juil|lug", "aug|aou|ago", "sep|set", "oct|okt|ott", "nov", "dec|dez|dic"),
)
_LONGEST: Final = 100
"""Letters by which a text is found; after a longer text, everything that follows is hidden."""
_MOST: Final = 300
"""Most texts that are searched for; if a request has more, everything is hidden."""
_ALL: Final = r"[\s\S]+"
_GAP: Final = 3
"""Characters between two hidden texts that are merged into one."""
_SHORT: Final = 4
"""Letters and digits from which a text is also found inside a longer word."""
_NO_SPACES: Final = "\u2e80"
"""The first letter of the scripts without spaces between words."""
_CODE: Final = re.compile(r"-?[A-Za-z0-9]+([_.:-][A-Za-z0-9]+)*", re.ASCII)
_LONGEST_CODE: Final = 64
_EDGES: Final = ".,:;!?\"'()[]{}<>«»“”\u2018\u2019…،؛؟·"
_ENDS: Final = ".:;!?·؟"
_PARTS: Final = re.compile(r"[./_'\u2019\-:,()=]|\[\d{1,3}\]")
_NUMBER: Final = re.compile(r"[0-9]{1,3}")


class Redactor:
    """Hides the tokens and the travellers' data of one request in any text.

    Args:
        tokens: Texts that are hidden as they are.
        personal_data: Travellers' data, hidden in every known spelling.
    """

    def __init__(self, tokens: Iterable[str], personal_data: Iterable[str] = ()) -> None:
        self._tokens = sorted(tokens, key=len, reverse=True)
        texts = {*personal_data}
        patterns = {_ALL}
        if len(texts) <= _MOST:
            patterns = {pattern for text in texts for pattern in _patterns_of(text)}
        longest_first = sorted(patterns, key=len, reverse=True)
        self._personal = re.compile("|".join(longest_first)) if patterns else None

    def hide(self, text: str) -> str:
        """Return the redacted text; entities and URL escapes are resolved if they hide a match."""
        for token in self._tokens:
            text = text.replace(token, HIDDEN)
        if self._personal is None:
            return text
        text = self._redact(text)
        resolved = unquote(unescape(text))
        redacted = text if resolved == text else self._redact(resolved)
        return text if redacted == resolved else redacted

    def _redact(self, text: str) -> str:
        assert self._personal is not None  # noqa: S101 -- checked by the caller
        folded, places = _fold(text)
        parts: list[str] = []
        start = 0
        for found in self._personal.finditer(folded):
            between = text[start : places[found.start()]]
            if not parts or len(between) > _GAP or any(map(str.isalnum, between)):
                parts += [between, HIDDEN]
            start = places[found.end() - 1] + 1
        rest = text[start:]
        while parts and rest and unicodedata.combining(rest[0]):
            rest = rest[1:]  # the accent of a hidden letter
        return "".join([*parts, rest])


def plain_words(text: str) -> str:
    """Return the text with all other words than the vocabulary's hidden; empty if little is left.

    A word must be spelled as in the vocabulary; a capital letter is allowed at the start of a
    sentence. Numbers of up to three digits stay, unless a word next to them is hidden.
    """
    pieces = text.split()
    shown = [*_are_listed(pieces)]
    for place, piece in enumerate(pieces):
        if piece.strip(_EDGES).isdigit() and not all(shown[max(0, place - 1) : place + 2]):
            shown[place] = False
    if 2 * sum(shown) < len(shown):
        return ""
    parts: list[str] = []
    for piece, is_shown in zip(pieces, shown, strict=True):
        core = piece.strip(_EDGES)
        part = piece if is_shown or not core else piece.replace(core, HIDDEN)
        if part.strip(_EDGES) != HIDDEN.strip(_EDGES) or not parts or parts[-1] != HIDDEN:
            parts.append(part)
        else:
            parts[-1] = part
    return " ".join(parts)


def plain_beginning(text: str) -> str:
    """Return the text up to the first word not in the vocabulary: the rest may be a reply's."""
    pieces = text.split()
    known = takewhile(lambda pair: pair[1], zip(pieces, _are_listed(pieces), strict=True))
    return " ".join(piece for piece, _ in known).rstrip(f" {_EDGES}")


def plain_code(code: str | None) -> str | None:
    """Return the code if it looks like one, and not like a name or a sentence."""
    if code is None or len(code) > _LONGEST_CODE or not _CODE.fullmatch(code):
        return None
    return code if not code.isalpha() or code.lower() in vocabulary() or code == "NO" else None


def phrase_of(status_code: int) -> str:
    """Return the standard phrase of a status."""
    try:
        return HTTPStatus(status_code).phrase
    except ValueError:
        return "the service refused"


@cache
def vocabulary() -> frozenset[str]:
    """Return words that name nobody, from error messages in six languages and the interface."""
    path = Path(__file__).with_name("vocabulary.txt")
    return frozenset(path.read_text("utf-8").split())


def _are_listed(pieces: Iterable[str]) -> Iterator[bool]:
    """Yield whether each word is in the vocabulary."""
    words = vocabulary()
    begins = True
    for piece in pieces:
        yield _is_listed(piece.strip(_EDGES), words, begins=begins)
        begins = piece[-1] in _ENDS


def _is_listed(core: str, words: frozenset[str], *, begins: bool) -> bool:
    if not core or core in words or _NUMBER.fullmatch(core) or core == HIDDEN.strip(_EDGES):
        return True
    if begins and core[:1].lower() + core[1:] in words:
        return True
    parts = [part for part in _PARTS.split(core) if part]
    return len(parts) > 1 and all(part in words for part in parts)


def _fold(text: str) -> tuple[str, list[int]]:
    """Return the text in lower case without marks, and the position of each letter in the text."""
    letters: list[str] = []
    places: list[int] = []
    for place, letter in enumerate(text):
        for plain in unicodedata.normalize("NFKD", letter).casefold().translate(_LETTERS):
            for one in unicodedata.normalize("NFKD", plain):
                if not unicodedata.combining(one) and unicodedata.category(one) != "Cf":
                    letters.append(one)
                    places.append(place)
    return "".join(letters), places


def _patterns_of(text: str) -> Iterator[str]:
    """Yield patterns that find a text in folded ones."""
    text = text.strip()
    if len(text) > _LONGEST:
        beginning = _fold(text[:_LONGEST])[0]
        yield f"{_pattern(beginning)}(?:{_ALL})?" if any(map(str.isalnum, beginning)) else _ALL
        return
    text = unicodedata.normalize("NFC", text)
    with suppress(ValueError):
        yield from _patterns_of_day(date.fromisoformat(text))
        return
    local = text.partition("@")[0] if "@" in text else ""
    parts = re.findall(r"[^\W\d_]{2,}", local or text)
    more = (part for part in parts if len(parts) > 1 and part.lower() not in vocabulary())
    for spelling in chain([text], [local] if local else [], more):
        small = spelling.casefold()
        plain = _fold(spelling)[0]
        documents = _fold(small.translate(_UMLAUTS))[0]
        for folded in {plain, documents, re.sub(r"([aou])e", r"\1", plain)}:
            if any(map(str.isalnum, folded)):
                yield _pattern(folded)


def _pattern(folded: str) -> str:
    """Return a pattern that allows other separators between the letters, or none."""
    has_digits = any(map(str.isdigit, folded))
    between = r"[\W_]{0,2}" if has_digits else r"[^\w\s]{0,2}"
    pattern = ""
    for run in re.findall(r"[^\W_]+", folded):
        pattern += r"[\W_]{0,3}" if pattern else ""
        pattern += between.join(map(re.escape, run))
    first = next(filter(str.isalnum, folded))
    if sum(map(str.isalnum, folded)) < _SHORT and first < _NO_SPACES:
        return rf"(?<![^\W_]){pattern}(?![^\W_])"
    return pattern


def _patterns_of_day(day: date) -> Iterator[str]:
    """Yield patterns of a date in any order, with a number or a name for its month.

    Years of four digits have their own patterns: they are longer, so they are tried first.
    """
    month = rf"(?:0?{day.month}|(?:{_MONTHS[day.month - 1]})[^\W\d_]*)"
    number = rf"0?{day.day}(?:st|nd|rd|th|er|º|ª)?"
    between = r"(?:[\W_]{0,3}|\s(?:de|of)\s)"
    years = f"{day.year:04}", f"{day.year % 100:02}"
    for order in chain.from_iterable(permutations((year, month, number)) for year in years):
        yield rf"(?<!\d){between.join(order)}(?!\d)"
