"""Clean texts of the service for an agent, and reject unsafe texts in an agent's arguments."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Strict, StringConstraints, WithJsonSchema

from ferry_sdk._runtime.data import data_beside

_INVISIBLE: Final = "".join(
    map(chr, (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x2800, 0x3164))
) + "".join(map(chr, (*range(0xFE00, 0xFE10), 0xFFA0, *range(0xE0100, 0xE01F0))))
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
    return shown if longest is None or len(shown) <= longest else f"{shown[: longest - 1]}…"


def _clean_character(match: re.Match[str]) -> str:
    character = match[0]
    if character.isspace():
        return " "
    return character if character.isprintable() and character not in _INVISIBLE else ""


def name_key(name: str) -> str:
    """Return a key that is equal for common spellings of one name.

    It has the name's letters without accents, case and punctuation, with ``ue`` (for ``ü``) as
    ``u``. The letters are rotated to the least order, so that swapped first and last names match.
    """
    plain = unicodedata.normalize("NFKD", name.translate(_PLAIN)).casefold()
    plain = "".join(filter(str.isalpha, unicodedata.normalize("NFKD", plain)))
    plain = re.sub("ae|oe|ue|aa", lambda match: match[0][0], plain)
    return min((plain[start:] + plain[:start] for start in range(len(plain))), default="")


def _allow(signs: str, expected: str, *, digits: bool) -> Callable[[str], str]:
    def check_text(text: str) -> str:
        for character in text:
            letter = unicodedata.category(character)[0] in "LM" and character not in _INVISIBLE
            if not (letter or character in signs or (digits and character.isdecimal())):
                raise ValueError(f"expected only {expected}")
        if not any(map(str.isalnum, text)):
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
    letters = filter(str.isalpha, unicodedata.normalize("NFKC", text))
    scripts = {unicodedata.name(letter, "").partition(" ")[0] for letter in letters}
    scripts = {"CJK" if script in _EAST_ASIAN else script for script in scripts}
    return scripts - {"MODIFIER"}  # an apostrophe that is a letter


def _name_of(most: int) -> Callable[[str], str]:
    """Return a check of names with at most this number of words."""
    check_letters = _allow(_JOINING, "letters, spaces, apostrophes, - and .", digits=False)

    def check_name(text: str) -> str:
        check_letters(text)
        if len(text.split()) > most:
            raise ValueError(f"expected at most {most} words")
        if len(_scripts(text)) > 1:
            raise ValueError("expected letters of one script")
        return text

    return check_name


STRING: Final = WithJsonSchema({"type": "string"})
"""The schema of a text: the limits would cost a model 800 tokens, and it does not need them."""


def _pattern(pattern: str, longest: int, expected: str) -> Any:  # noqa: ANN401 -- a type for pydantic
    def check(text: str) -> str:
        if len(text) > longest or re.fullmatch(pattern, text) is None:
            raise ValueError(f"expected {expected}")
        return text

    return Annotated[str, Strict(), AfterValidator(check), STRING]


def _checked_text(check: Callable[[str], str]) -> Any:  # noqa: ANN401 -- a type for pydantic
    limits = StringConstraints(strict=True, min_length=1, max_length=60)
    return Annotated[str, limits, AfterValidator(check), STRING]


_JOINING: Final = " '\N{RIGHT SINGLE QUOTATION MARK}-."
_DATA: Final = data_beside(__file__)
_PATTERNS: Final[Mapping[str, Any]] = {
    name: _pattern(*row) for name, row in _DATA["patterns"].items()
}
"""The types of the texts that match a pattern and have at most so many characters."""


def _words(signs: str) -> Any:  # noqa: ANN401 -- a type for pydantic
    expected = f"letters, digits, spaces and '-.{signs}"
    return _checked_text(_allow(f"{_JOINING}{signs}", expected, digits=True))


_TYPES: Final[Mapping[str, Any]] = {
    "id": _PATTERNS["id"],
    **{kind: _words(signs) for kind, signs in _DATA["signs"].items()},
    **{kind: _checked_text(_name_of(most)) for kind, most in _DATA["words"].items()},
}
KINDS: Final[Mapping[str, Any]] = {
    **_PATTERNS,
    **{name: _TYPES[kind] for kind, names in _DATA["arguments"].items() for name in names},
}
"""The type of each text argument, by name, except those whose name ends in ``_id``."""


def text_type(name: str) -> Any:  # noqa: ANN401 -- a type for pydantic
    """Return the type of a text argument.

    Raises:
        LookupError: No rule says what the text may contain.
    """
    if name.endswith("_id"):
        return _PATTERNS["id"]
    if name not in KINDS:
        raise LookupError(f"add {name} to sanitize.json")
    return KINDS[name]
