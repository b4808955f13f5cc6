"""Texts that show what they are: nothing hidden, nothing that turns, breaks or erases a line."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_HIDDEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_UNSEEN: Final = frozenset(
    map(chr, (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x2800, 0x3164))
) | frozenset(map(chr, (*range(0xFE00, 0xFE10), 0xFFA0, *range(0xE0100, 0xE01F0))))
"""Letters, marks and symbols by their category, that leave nothing to see."""
_PLAIN: Final = str.maketrans(
    {
        "æ": "a",
        "Æ": "a",
        "œ": "o",
        "Œ": "o",
        "ø": "o",
        "Ø": "o",
        "đ": "d",
        "Đ": "d",
        "ł": "l",
        "Ł": "l",
    }
)
"""Letters with which travel documents do without, and which are no letter with an accent."""


def is_hidden(character: str) -> bool:
    """Whether a character controls, formats or is not to be seen."""
    return unicodedata.category(character) in _HIDDEN or character in _UNSEEN


def cleaned(text: str, longest: int | None = None) -> str:
    """A text of somebody else's, safe to show: in one line, and no longer than so."""
    shown = "".join(" " if one.isspace() else "" if is_hidden(one) else one for one in text)
    return shown if longest is None or len(shown) <= longest else f"{shown[: longest - 1]}…"


def letters(name: str) -> str:
    """What a name comes to, however it is spelt.

    Its letters without accents, case or signs, an ``ue`` for ``ü`` as ``u``, in a ring: swapped
    first and last names are the same.
    """
    plain = unicodedata.normalize("NFKD", name.translate(_PLAIN)).casefold()
    plain = "".join(one for one in unicodedata.normalize("NFKD", plain) if one.isalpha())
    plain = re.sub("ae|oe|ue|aa", lambda found: found[0][0], plain)
    return min((plain[start:] + plain[:start] for start in range(len(plain))), default="")
