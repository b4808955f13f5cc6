r"""Redaction of the texts of the service: tokens, the call's travellers and e-mail addresses.

A person acts on the message of an error, so it stays in the words of the service. Only these are
searched for travellers, because a traveller may be called like a word of the library. A `Redactor`
hides what the call itself sent of a traveller; it cannot know travellers that the call did not
name.

For example, a call creates a booking for Zoé Müller, and the service replies
``Zoe MUELLER (zoe@mail.example), M%C3%BCller: 2 berths, not 3``. `Redactor.show` takes these steps:

1. Cut the text. A service may send any text, so all work is bounded by what can be shown, and each
   step is linear. The last characters of a cut text are not shown: they may be half a name.
2. Put it on one line, without control and format characters (`one_line`).
3. Hide tokens, e-mail addresses (`_EMAIL`), and the travellers' texts:
   ``[hidden] ([hidden]), M%C3%BCller: 2 berths, not 3``.
4. Resolve escapes (`_resolve_escapes`), and hide what they hid: ``&#77;üller``, ``M%C3%BCller``,
   ``M\u00fcller``. The text stays escaped if they hid nothing:
   ``[hidden] ([hidden]), [hidden]: 2 berths, not 3``.
5. Cut it to the characters that are shown.

A traveller's text is found in these spellings:

| Sent | Found | By |
|---|---|---|
| Müller | MULLER, Mueller, MÃ¼ller | `_spellings`: folded, transliterated, misread |
| O'Brien | OBrien, O Brien, o-brien | `_pattern`: signs between letters |
| Ana de la Cruz | Ana-de-la-Cruz, Cruz | `_parts_of`: words of a name, without particles |
| zoe.reyes@mail.example | zoe reyes, Reyes | `_parts_of`: the part before the ``@`` |
| XD998877 | xd 99-88-77 | `_pattern`: spaces between digits |
| Ng | Ng, not "nothing" | `_pattern`: a short text is a word of its own |
| 1980-03-02 | 02/03/80, March 2, 1980 | `_pattern_of_day` |

One letter or digit names nobody: it would hide a word of every message, such as "a". Nor do parts
of an e-mail address with fewer than three letters: ``me@mail.example`` is hidden, "me" is not.

A search with patterns costs more than the rest of a call, and most texts name nobody. So nothing is
prepared before somebody sees a text, and the text is searched in three steps. Each is taken only if
the one before found something:

1. `Redactor.may_name` compares letters: it folds "Hr. MÜLLER, 2 berths" to ``hrmuller2berths`` and
   looks for ``zoe`` and ``muller`` in it (`_words_of`). These words are made of all travellers'
   texts at once, as the lines of one text, so that each step is one call of a function in C for all
   of them.
2. `_patterns_of` makes the patterns of what is found. A pattern allows only other characters
   between its letters, so it can match only if its letters are in the text, one after another.
3. The patterns are searched, as one, in the folded text. `_places_of_folded` finds their place in
   the text itself, because a character may fold to several, as ``ß`` does to ``ss``.

To redact something else: a new kind of text is hidden in `Redactor._redact`, a new spelling of a
name is a line of `_spellings`, and the members of a request that have travellers' data are
`PERSONAL_MEMBERS`. The rule for ids of requests is `show_request_id`.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from datetime import date
from html import unescape
from itertools import permutations
from operator import methodcaller
from typing import Final
from urllib.parse import unquote

from ferry_sdk._runtime.data import data_beside

HIDDEN: Final = "[hidden]"
LONGEST: Final = 500
"""Characters of a text that is shown."""

PERSONAL_MEMBERS: Final = frozenset(
    {
        "first_name",
        "last_name",
        "birth_date",
        "doc_number",
        "doc_expiration",
        "email",
        "phone",
        "identification",
        "name",
    }
)
"""The members of a request that are travellers' data, at any depth."""
SHORTEST_TOKEN: Final = 4
"""Characters of the shortest token that is hidden: a shorter one would hide parts of words."""

_DATA: Final = data_beside(__file__, "letters_and_months.json")
_LETTERS: Final[dict[int, str]] = str.maketrans(_DATA["letters"])
"""Letters that NFKD does not decompose: ``ø`` is ``o``."""
_WITH_E: Final[dict[int, str]] = str.maketrans(_DATA["transliterated_by_systems"])
"""How systems write letters as more than the base letter: ``ö`` as ``oe``."""
_WITH_DOUBLES: Final[dict[int, str]] = str.maketrans(_DATA["transliterated_in_documents"])
"""How travel documents do: they also double letters, such as ``å``, which is ``aa``."""
_GREEK: Final[dict[int, str]] = str.maketrans(_DATA["greek"])
"""How travel documents transliterate Greek: ``Χρήστος`` is ``Christos``."""
_CP1252: Final = codecs.lookup("cp1252")
"""As which UTF-8 is often misread. It is looked up here, because that loads a module."""
_PARTICLES: Final[frozenset[str]] = frozenset(_DATA["particles"])
"""Parts of names that name nobody: ``de`` and ``la`` in ``Ana de la Cruz``."""
_MONTHS: Final[Sequence[str]] = _DATA["months"]
"""Patterns of the beginnings of each month's names in several languages: ``dec|dez|dic``."""
_LONGEST_DATUM: Final = 100
"""Letters by which a text is found; after a longer text, everything that follows is hidden."""
_LONGEST_SEARCH: Final = 5000
"""Characters of a text that are searched, and that may be shown."""
_LONGEST_MATCH: Final = 2000
"""Characters that a traveller's text may take with its separators and escapes."""
_GAP: Final = 3
"""Characters between two hidden texts that are merged into one."""
_SHORT: Final = 4
"""Letters and digits from which a text is also found inside a longer word."""
_SHORTEST: Final = 2
"""Letters and digits from which a text is searched."""
_SHORTEST_PART: Final = 3
"""Letters and digits from which a part of an e-mail address is searched."""
_NO_SPACES: Final = "\u2e80"
"""The first letter of the scripts without spaces between words."""
_MOST_FOLDED: Final = 10_000
"""Characters whose folded form is kept, so that no text of a service makes the table too large."""
_ESCAPES: Final = 3
"""How often escapes are resolved: an entity may be part of a URL in a JSON text."""
_BREAKS: Final = str.maketrans("\t\x1f", "\n\n")
"""Characters that end a line besides those of `str.splitlines`: tabs and unit separators."""
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs"})
"""Unicode's categories of control and format characters, and of halves of characters."""
_SEPARATORS: Final = re.compile(r"[\W_]+")
"""What is between letters and digits: the signs of ``O'Brien-Reyes``."""
_SEPARATORS_IN_LINE: Final = re.compile(r"(?:[^\w\n]|_)+")
"""The same without the ends of lines, for several texts at once: ``O'Brien\\nNg``."""
_RUN: Final = re.compile(r"[^\W_]+")
"""Letters and digits without a separator: ``XD`` and ``998877`` in ``XD-998877``."""
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
"""A word of a name: ``Ana`` and ``Cruz`` in ``Ana M. Cruz``."""
_LONG_VOWEL: Final = re.compile(r"([aou])(?:e|(?<=a)a)(?=[^\W_])")
"""A vowel that documents write with two letters: ``ue`` in ``Mueller``, but not ``oe`` in ``Zoe``.

Its group is the first letter.
"""
_first_letter: Final = methodcaller("group", 1)
"""Returns the first letter of a long vowel that was matched."""
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
"""A day, such as ``1980-03-02``."""
_YEAR_OF_DAY: Final = re.compile(r"^\d\d(\d\d)-\d\d-\d\d$", re.ASCII | re.MULTILINE)
"""A line that is a day, and the digits of its year that no spelling lacks: ``80``."""
_ENTITY: Final = re.compile(
    r"&(?:#0*[0-9]{1,7}(?![0-9])|#[xX]0*[0-9A-Fa-f]{1,6}(?![0-9A-Fa-f])|[A-Za-z][A-Za-z0-9]{1,31});?"
)
"""An entity that may be a character: ``&uuml;``, ``&#252;``, ``&#xfc;``.

The standard library fails with longer numbers.
"""
_ESCAPED: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2}))")
"""A character in a JSON text or in a string of Python: ``\\u00fc``, ``\\xfc``."""
_LOCAL: Final = r"\w.!#$%&'*+/=?^`{|}~-"
"""The characters of an e-mail address before its ``@``: ``zoe.reyes+ferry``."""
_EMAIL: Final = re.compile(rf'(?:"[^"]*"|(?<![{_LOCAL}])[{_LOCAL}]+)@(?:[\w-]+\.)+[^\W\d_][\w-]+')
"""An e-mail address: ``zoe.reyes@mail.example``, ``"Zoe Reyes"@mail.example``."""
_RANDOM_ID: Final = re.compile(
    r"(?:req(?:uest)?[._:-]?)?(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,64})",
    re.IGNORECASE,
)
"""A request id in which nobody is named: a UUID, or a number such as ``req-9f86d081884c7d65``."""
_SHORTEST_HALF: Final = 8
"""Characters from which a request id is hidden because it is a part of a token."""


class _Folded(dict[int, str]):
    """The folded form of each character, for `str.translate`; beyond ASCII made when it is needed.

    It is in lower case without marks: ``Ü`` is ``u``, ``ﬁ`` is ``fi``, an accent of its own is
    nothing.
    """

    def __missing__(self, code: int) -> str:
        folded = ""
        for plain in unicodedata.normalize("NFKD", chr(code)).casefold().translate(_LETTERS):
            for base in unicodedata.normalize("NFKD", plain):
                if not unicodedata.combining(base) and unicodedata.category(base) != "Cf":
                    folded += str(unicodedata.decimal(base, base))  # any script's digit as 0 to 9
        if len(self) < _MOST_FOLDED:
            self[code] = folded
        return folded


_FOLDED: Final = _Folded({code: chr(code).lower() for code in range(128)})


class Redactor:
    """Hides the tokens and the travellers' data of one request, and e-mail addresses, in any text.

    Args:
        tokens: Texts that are hidden as they are.
        personal_data: Travellers' data, hidden in every known spelling.
    """

    def __init__(self, tokens: Iterable[str], personal_data: Iterable[str] = ()) -> None:
        self.tokens: Sequence[str] = sorted(tokens, key=len, reverse=True)
        self._personal_data = frozenset(personal_data)
        self._words: Collection[str] | None = None

    def without_travellers(self) -> Redactor:
        """Return a redactor of the same tokens that hides no travellers' data."""
        return Redactor(self.tokens)

    def may_name(self, text: str) -> bool:
        """Return whether a text may name a traveller. If not, no traveller is hidden in it.

        It resolves no escapes.
        """
        return self._may_name(_letters_of(text.translate(_FOLDED)))

    def _may_name(self, letters: str) -> bool:
        if self._words is None:
            self._words = _words_of(self._personal_data)
        # In C, because there are dozens of words: a generator costs bytecodes for each of them.
        return any(map(letters.__contains__, self._words))

    def show(self, text: str) -> str:
        """Return the redacted text on one line, as far as it is shown.

        It never raises, because the caller reports another error. If the text cannot be searched,
        it returns an empty text.
        """
        margin = _LONGEST_MATCH + max(map(len, self.tokens), default=0)
        try:
            searched = text[: _LONGEST_SEARCH + margin]
            shown = self.hide(one_line(searched))
            if len(searched) < len(text):
                # What was cut off may have begun in the last characters, where nothing matched.
                before, mark, after = shown.rpartition(HIDDEN)
                shown = before + mark + after[:-margin]
        except Exception:  # noqa: BLE001 -- no failure of the redaction replaces the call's own
            return ""
        return shown[:LONGEST]

    def hide(self, text: str) -> str:
        """Return the redacted text; escapes are resolved if they hide a match."""
        redacted = self._redact(text)
        resolved = redacted
        for _ in range(_ESCAPES):
            plain = one_line(_resolve_escapes(resolved))
            if plain == resolved:
                break

            resolved = self._redact(plain)
            if resolved != plain:  # the escapes hid something
                redacted = resolved
        return redacted

    def _redact(self, text: str) -> str:
        for token in self.tokens:
            text = text.replace(token, HIDDEN)
        if "@" in text:
            text = _EMAIL.sub(HIDDEN, text)
        if self._personal_data:
            text = self._redact_travellers(text)
        return text

    def _redact_travellers(self, text: str) -> str:
        """Hide the travellers' texts: ``Hr. MÜLLER, 2 berths`` is ``Hr. [hidden], 2 berths``."""
        folded = text.translate(_FOLDED)
        letters = _letters_of(folded)
        if not self._may_name(letters):
            return text
        patterns = _patterns_of(self._personal_data, letters)
        if not patterns:
            return text

        places = _places_of_folded(text)
        # Sorted by letters too: of two patterns with the same length, the same one wins each time.
        longest_first = sorted(patterns, key=lambda pattern: (-len(pattern), pattern))

        parts: list[str] = []
        start = 0
        for match in re.finditer("|".join(longest_first), folded):
            between = text[start : places[match.start()]]
            # Two matches with a few signs between them become one: "Ana. Cruz" is "[hidden]".
            is_separate = len(between) > _GAP or any(map(str.isalnum, between))
            if not parts or is_separate:
                parts += [between, HIDDEN]
            start = places[match.end() - 1] + 1

        rest = text[start:]
        while parts and rest and unicodedata.combining(rest[0]):
            rest = rest[1:]  # the accent of a hidden letter
        return "".join([*parts, rest])


def show_request_id(
    request_id: str,
    tokens: Collection[str],
    personal_data: Callable[[], Iterable[str]],
    redactor: Redactor | None = None,
) -> str | None:
    """Return a request id without tokens and travellers' data; None if nothing is left of it.

    Hooks, logs and raw responses show the id of each reply, so most ids are not searched. An id
    that is nothing but random digits is only compared with the tokens. An id that names nobody is
    shown as it is: it has no characters of an e-mail address or of an escape (`Reply.request_id`).

    Args:
        request_id: The id.
        tokens: Texts that are hidden as they are.
        personal_data: Returns the travellers' data of the request; called only if it is needed.
        redactor: A redactor of both, if there is one already.
    """
    if len(request_id) >= _SHORTEST_HALF and request_id in "\n".join(tokens):
        return HIDDEN

    has_token = any(map(request_id.__contains__, tokens))
    if not has_token and _RANDOM_ID.fullmatch(request_id):
        return request_id

    redactor = redactor or Redactor(tokens, personal_data())
    if has_token or redactor.may_name(request_id):
        return redactor.show(request_id) or None
    return request_id


def one_line(text: str) -> str:
    """Return a text on one line, without control and format characters."""
    if text.isprintable():
        return text.strip()

    lines = [line.strip() for line in text.translate(_BREAKS).splitlines()]
    joined = " ".join(line for line in lines if line)
    visible = [letter for letter in joined if unicodedata.category(letter) not in _INVISIBLE]
    return "".join(visible).strip()


def _resolve_escapes(text: str) -> str:
    r"""Return a text with the characters for entities, URL escapes and JSON escapes.

    ``&#77;%C3%BCller`` and ``M\u00fcller`` are ``Müller``.
    """
    text = _ENTITY.sub(lambda entity: unescape(entity[0]), text)
    text = _ESCAPED.sub(lambda code: chr(int(code[1] or code[2], 16)), text)
    if not text.isprintable():  # two escapes may be the halves of one character
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        return unquote(text, encoding="latin-1")


def _letters_of(folded: str) -> str:
    """Return the letters and digits of a folded text."""
    return _SEPARATORS.sub("", folded)


def _places_of_folded(text: str) -> Sequence[int]:
    """Return the position in a text of each letter of its folded form.

    ``Großmann`` folds to ``grossmann``, whose letters are at 0, 1, 2, 3, 3, 4, 5, 6 and 7.
    """
    if text.isascii():
        return range(len(text))
    places: list[int] = []
    for place, letter in enumerate(text):
        places += [place] * len(_FOLDED[ord(letter)])
    return places


def _words_of(personal_data: Collection[str]) -> Collection[str]:
    """Return folded words: a text without any of them has nothing that `_patterns_of` searches.

    They are more than what is searched: all texts, all their words and the years of days. Of
    ``Zoé de la Cruz`` they are ``zoedelacruz``, ``zoe``, ``de``, ``la`` and ``cruz``.
    """
    if max(map(len, personal_data), default=0) > _LONGEST_DATUM:
        personal_data = [_beginning_of(text) for text in personal_data]
    texts = unicodedata.normalize("NFC", "\n".join(personal_data)).replace("@", "\n")
    lines = "\n".join([texts, *_WORD.findall(texts), *_YEAR_OF_DAY.findall(texts)])
    words = set(_SEPARATORS_IN_LINE.sub("", _spellings(lines)).split("\n"))
    words.discard("")  # it would be in every text
    return words


def _patterns_of(personal_data: Iterable[str], letters: str) -> set[str]:
    """Return patterns of the travellers' texts whose letters are among those of a text."""
    patterns: set[str] = set()
    texts: list[str] = []
    for datum in personal_data:
        text = datum.replace("\n", " ")  # below, each line is a text of its own
        day = _day_of(text)

        if len(text) > _LONGEST_DATUM:
            patterns |= _patterns(_beginning_of(text), letters, then=r"[\s\S]*")
        elif day is not None:
            if text[2:4] in letters and str(day.day) in letters:
                patterns.add(_pattern_of_day(day))
        else:
            texts += [text, *_parts_of(text)]

    return patterns | _patterns("\n".join(texts), letters)


def _day_of(text: str) -> date | None:
    """Return the day that a text is; None if it is none."""
    if _DAY.fullmatch(text):
        with suppress(ValueError):
            return date.fromisoformat(text)
    return None


def _beginning_of(text: str) -> str:
    """Return the beginning of a long text, by which it is found; a short one as it is."""
    if len(text) <= _LONGEST_DATUM:
        return text
    return _SEPARATORS.sub(" ", text).strip()[:_LONGEST_DATUM]


def _parts_of(text: str) -> set[str]:
    """Return the parts of a name or of an e-mail address that are searched too.

    Of ``Ana de la Cruz`` they are ``Ana`` and ``Cruz``, of ``zoe.reyes@mail.example`` they are
    ``zoe.reyes``, ``zoe`` and ``reyes``. A text with a digit, such as a number of a document, has
    none.
    """
    local, is_address, _ = text.partition("@")
    if not is_address and any(map(str.isdigit, text)):
        return set()

    words = _WORD.findall(unicodedata.normalize("NFC", local))
    parts: set[str] = set()
    if len(words) > 1:
        parts = {word for word in words if word.lower() not in _PARTICLES}
    if is_address:
        parts = {part for part in (local, *parts) if len(part) >= _SHORTEST_PART}
    return parts


def _patterns(texts: str, letters: str, then: str = "") -> set[str]:
    """Return patterns of the texts, one a line, whose letters are there, each with `then` added.

    They are made for each spelling that has enough letters to name somebody.
    """
    patterns: set[str] = set()
    for spelling in set(_spellings(texts).split("\n")):
        plain = _letters_of(spelling)
        if plain in letters and (plain >= _NO_SPACES or len(plain) >= _SHORTEST):
            patterns.add(_pattern(spelling, plain, then))
    return patterns


def _spellings(texts: str) -> str:
    """Return the spellings of texts, folded. Each line is a text, and each returned line is one.

    They are the base letters, short vowels for long ones, Greek in Latin letters, two
    transliterations, and UTF-8 that a system has misread as latin-1 or cp1252. Those of ``Müller``
    are ``muller``, ``mueller`` and what ``MÃ¼ller`` folds to; of ``Mueller``, ``mueller`` and
    ``muller``. Some are the same.
    """
    if texts.isascii():
        plain = texts.lower()
        return f"{plain}\n{_LONG_VOWEL.sub(_first_letter, plain)}"

    texts = unicodedata.normalize("NFC", texts)
    plain = texts.translate(_FOLDED)
    small = texts.casefold()
    encoded = texts.encode(errors="replace")
    not_folded = [
        small.translate(_WITH_E),
        small.translate(_WITH_DOUBLES),
        encoded.decode("latin-1"),
        _CP1252.decode(encoded, "replace")[0],
    ]
    folded = [
        plain,
        _LONG_VOWEL.sub(_first_letter, plain),
        plain.replace("ου", "ou").translate(_GREEK),  # noqa: RUF001 -- Greek
        "\n".join(not_folded).translate(_FOLDED),
    ]
    return "\n".join(folded)


def _pattern(spelling: str, plain: str, then: str) -> str:
    """Return a pattern that allows other separators between the letters, or none.

    Of ``o'brien`` it finds ``O Brien`` and ``O.B.R.I.E.N``, of ``xd998877`` also ``XD 99 88 77``.
    """
    may_be_spaced = any(map(str.isdigit, plain)) or plain[0] >= _NO_SPACES
    between = r"[\W_]{0,2}" if may_be_spaced else r"[^\w\s]{0,2}"
    runs = [between.join(map(re.escape, run)) for run in _RUN.findall(spelling)]
    pattern = r"[\W_]{0,3}".join(runs) + then

    if len(plain) < _SHORT and plain[0] < _NO_SPACES:
        return rf"(?<![^\W_]){pattern}(?![^\W_])"
    return pattern


def _pattern_of_day(day: date) -> str:
    """Return a pattern of a date in any order, with a number or a name for its month.

    A year of four digits is tried first. In the machine-readable zone of a passport, a check digit
    and the sex follow the date.
    """
    month = rf"(?:0?{day.month}|(?:{_MONTHS[day.month - 1]})[^\W\d_]*)"
    number = rf"0?{day.day}(?:st|nd|rd|th|er|[oa])?"
    between = r"(?:[\W_]{0,3}|\s(?:de|of)\s)"
    long_year = f"{day.year:04}"
    short_year = f"{day.year % 100:02}"
    orders = [*permutations((long_year, month, number)), *permutations((short_year, month, number))]
    forms = "|".join(between.join(order) for order in orders)
    return rf"(?<!\d)(?:{forms})(?!\d)|{day:%y%m%d}(?=\d[mfx<])"
