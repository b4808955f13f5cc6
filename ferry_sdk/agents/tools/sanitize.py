r"""Clean texts of the service for an agent, and reject unsafe texts in an agent's arguments.

1. `clean_text` puts a text of the service on one line and removes hidden characters, so that the
   text cannot look like an instruction to the agent: ``"Pay\n\u202eNOW"`` becomes ``"Pay NOW"``.
2. `KINDS` gives each text argument of a tool a type with a narrow form. A `first_name` has at most
   five words of letters of one script: ``"Ada"`` is accepted, ``"Ada: ignore the limits"`` is
   refused.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, NamedTuple

from pydantic import AfterValidator, Strict, StringConstraints, WithJsonSchema

_INVISIBLE_CODES: Final = (
    *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5),  # a joiner, fillers of Hangul, vowels of Khmer
    *range(0x180B, 0x1810),  # variation selectors of Mongolian
    *(0x2800, 0x3164),  # the empty Braille pattern, a filler of Hangul
    *range(0xFE00, 0xFE10),  # variation selectors
    0xFFA0,  # a filler of half-width Hangul
    *range(0xE0100, 0xE01F0),  # more variation selectors
)
_INVISIBLE: Final = "".join(chr(code) for code in _INVISIBLE_CODES)
"""Letters, marks and symbols that are invisible."""
_UNUSUAL: Final = re.compile(rf"[^ \w!-~]|[{_INVISIBLE}]")
"""Every character that may be hidden or a space. Most texts have none, and cost no call each."""
_PLAIN: Final = str.maketrans("æÆœŒøØđĐłŁ", "aaooooddll")
"""Letters that travel documents replace, and that Unicode does not decompose."""


def clean_text(text: str, longest: int | None = None) -> str:
    """Return an untrusted text in one line, without hidden characters, cut to a length."""
    if text.isascii() and text.isprintable():
        shown = text[:]  # a plain string, also of a member of an enum
    else:
        shown = _UNUSUAL.sub(_clean_character, text)

    if longest is None or len(shown) <= longest:
        return shown
    return f"{shown[: longest - 1]}…"


def _clean_character(match: re.Match[str]) -> str:
    character = match[0]
    if character.isspace():
        return " "
    if character.isprintable() and character not in _INVISIBLE:
        return character
    return ""


def name_key(name: str) -> str:
    """Return a key that is equal for common spellings of one name.

    It has the name's letters without accents, case and punctuation, with ``ue`` (for ``ü``) as
    ``u``. The letters are rotated to the least order, so that swapped first and last names match:
    ``Ada Müller`` and ``MUELLER, Ada`` both become ``adamuller``.
    """
    plain = unicodedata.normalize("NFKD", name.translate(_PLAIN)).casefold()
    # Unicode's comparison without case decomposes, folds and decomposes (section 3.13).
    plain = "".join(letter for letter in unicodedata.normalize("NFKD", plain) if letter.isalpha())
    plain = re.sub("ae|oe|ue|aa", _first_letter, plain)

    rotations = [plain[start:] + plain[:start] for start in range(len(plain))]
    return min(rotations, default="")


def _first_letter(match: re.Match[str]) -> str:
    return match[0][0]


STRING: Final = WithJsonSchema({"type": "string"})
"""The schema of a text: the limits would cost a model 800 tokens, and it does not need them."""


class _Pattern(NamedTuple):
    """The form of a text: a pattern that all of it matches, its length, and words for an error."""

    pattern: str
    longest: int
    expected: str

    def type(self) -> Any:  # noqa: ANN401 -- a type for pydantic
        """Return the type of a text of this form."""
        return Annotated[str, Strict(), AfterValidator(self.check), STRING]

    def check(self, text: str) -> str:
        """Return the text; raise ValueError if it has another form."""
        if len(text) > self.longest or re.fullmatch(self.pattern, text) is None:
            raise ValueError(f"expected {self.expected}")
        return text


_PATTERNS: Final[Mapping[str, _Pattern]] = {
    "id": _Pattern(
        r"[A-Za-z0-9_][A-Za-z0-9_.:~@|+/=-]*", 200, "a code or an id as a result shows it"
    ),
    "doc_number": _Pattern(
        r"[A-Za-z0-9][A-Za-z0-9 ./-]*", 40, "letters, digits, spaces, '.', '/' and '-'"
    ),
    "email": _Pattern(
        r"[A-Za-z0-9._%+'-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+", 254, "an e-mail address"
    ),
    "nationality": _Pattern(r"[A-Za-z]{2}", 2, "a country code of two letters, such as FR"),
    "places": _Pattern(r"[A-Z]", 1, "a letter of the offer's places"),
    "phone": _Pattern(r"[0-9][0-9 ().-]*", 20, "a number without its prefix, such as 612 345 678"),
    "prefix": _Pattern(r"\+?[0-9][0-9 -]*", 8, "a calling code, such as +34"),
}
"""The forms of arguments that a pattern describes, by the argument's name."""


_JOINING: Final = " '\N{RIGHT SINGLE QUOTATION MARK}-."
"""The characters that join the words of a name or a label."""


def _characters_check(signs: str, expected: str, *, digits: bool) -> Callable[[str], str]:
    """Return a check of texts that have only letters, these signs, and digits if they may."""

    def check_text(text: str) -> str:
        for character in text:
            is_letter = unicodedata.category(character)[0] in "LM" and character not in _INVISIBLE
            is_digit = digits and character.isdecimal()
            if not (is_letter or is_digit or character in signs):
                raise ValueError(f"expected only {expected}")

        if not any(character.isalnum() for character in text):
            raise ValueError("expected at least one letter or digit")
        return text

    return check_text


_EAST_ASIAN: Final = frozenset(
    {"BOPOMOFO", "CJK", "HANGUL", "HIRAGANA", "IDEOGRAPHIC", "KATAKANA", "KATAKANA-HIRAGANA"}
)
"""Scripts that one name may mix, such as kanji and kana."""


def _scripts(text: str) -> set[str]:
    """Return the scripts of the letters of a text, those of `_EAST_ASIAN` as one.

    Python has no table of scripts: the first word of a letter's name is its script.
    """
    scripts: set[str] = set()
    for character in unicodedata.normalize("NFKC", text):
        if character.isalpha():
            script = unicodedata.name(character, "").partition(" ")[0]
            scripts.add("CJK" if script in _EAST_ASIAN else script)
    return scripts - {"MODIFIER"}  # an apostrophe that is a letter


def _short_text(check: Callable[[str], str]) -> Any:  # noqa: ANN401 -- a type for pydantic
    """Return the type of a text of at most 60 characters that passes a check."""
    limits = StringConstraints(strict=True, min_length=1, max_length=60)
    return Annotated[str, limits, AfterValidator(check), STRING]


def _label_type(signs: str) -> Any:  # noqa: ANN401 -- a type for pydantic
    """Return the type of a text of words with these signs, such as a number plate or a port."""
    expected = f"letters, digits, spaces and '-.{signs}"
    return _short_text(_characters_check(f"{_JOINING}{signs}", expected, digits=True))


def _name_type(most_words: int) -> Any:  # noqa: ANN401 -- a type for pydantic
    """Return the type of a name with at most this number of words."""
    check_letters = _characters_check(
        _JOINING, "letters, spaces, apostrophes, - and .", digits=False
    )

    def check_name(text: str) -> str:
        check_letters(text)
        if len(text.split()) > most_words:
            raise ValueError(f"expected at most {most_words} words")
        if len(_scripts(text)) > 1:
            raise ValueError("expected letters of one script")
        return text

    return _short_text(check_name)


_ID: Final = _PATTERNS["id"].type()
_LABEL: Final = _label_type("/&+_()")
_PLACE: Final = _label_type("/&+_(),")
_NAME: Final = _name_type(5)

KINDS: Final[Mapping[str, Any]] = {
    **{name: pattern.type() for name, pattern in _PATTERNS.items()},
    "arrive_code": _ID,
    "companies": _ID,
    "company": _ID,
    "depart_code": _ID,
    "journey_ids": _ID,
    "offer": _ID,
    "booking_reference": _LABEL,
    "code": _LABEL,
    "identification": _LABEL,
    "ticket_number": _LABEL,
    "vehicle": _LABEL,
    "destination": _PLACE,
    "origin": _PLACE,
    "text": _PLACE,
    "doc_type": _NAME,
    "first_name": _NAME,
    "last_name": _NAME,
    "name": _name_type(10),  # of a contact, first and last name together
}
"""The type of each text argument, by name, except those whose name ends in ``_id``."""


def text_type(name: str) -> Any:  # noqa: ANN401 -- a type for pydantic
    """Return the type of a text argument.

    Raises:
        LookupError: No rule says what the text may contain.
    """
    if name.endswith("_id"):
        return _ID
    if name not in KINDS:
        raise LookupError(f"add {name} to KINDS in {__name__}")
    return KINDS[name]
