"""Names of places, folded so that spelling variants compare equal, and the search among them.

`fold` removes accents, case and punctuation, and writes "St" as "Saint": "ST. MALO" and
"Saint-Malo" are both "saint malo". A name matches a text if both are equal after folding.

`PlaceIndex` holds the names of all ports in every language that was read, and their cities. The
aliases, which no catalogue has, are in `aliases.json`. A text is compared in this order:

1. with the codes: "ITGOA".
2. with whole names ("Gênes"), cities, aliases ("Genua") and whole words of names ("Goulette").
3. without what follows the last comma, if nothing matched: "Genoa, Italy".

`PlaceIndex.find` also compares the spelling: "Marsilia" gives Marseille. `PlaceIndex.get` never
guesses: its error suggests such ports.
"""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final, Literal

from ferry_sdk._protocols.json_body import members_of
from ferry_sdk._runtime.data import data_beside
from ferry_sdk.errors import AmbiguousPlaceError, UnknownPlaceError
from ferry_sdk.models.catalogue import Country, McpPort, Port
from ferry_sdk.models.records import Match
from ferry_sdk.planning.results import PORT_OPERATIONS, UnreadableAnswer, describe_unreadable

Reason = Literal["code", "name", "city", "alias", "part of a name", "similar name"]

LANGUAGES: Final = ("en", "fr", "it", "es", "de", "el", "ar")
"""The languages whose names are known, besides the client's own."""

_LETTERS: Final = str.maketrans(
    {
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "\N{LATIN SMALL LETTER DOTLESS I}": "i",
        "þ": "th",
        "æ": "ae",
        "œ": "oe",
        "ß": "ss",
    }
)
"""Letters that NFKD does not decompose."""
_WORDS: Final[Mapping[str, str]] = {"st": "saint", "ste": "sainte"}
_SCORES: Final[Mapping[Reason, float]] = {
    "code": 1.0,
    "name": 1.0,
    "city": 0.95,
    "alias": 0.95,
    "part of a name": 0.85,
    "similar name": 0.8,
}
_BEGINNING_SCORE: Final = _SCORES["similar name"]
_LONGEST_BEGINNING_BONUS: Final = 0.04
"""The beginning of a word scores more than every similar name, and less than a whole word."""
_LOCODE: Final = re.compile(r"(?!AA|Q[M-Z]|X|ZZ)([A-Z]{2})[A-Z2-9]{3}", re.ASCII)
"""A UN/LOCODE of a country whose code is not left to users."""
_LEAST_SIMILARITY: Final = 0.72
_LONGEST_NAME: Final = 300
"""Characters of a name that are compared; the time of `unicodedata.normalize` can be quadratic."""


def _load_aliases() -> dict[str, str]:
    """Return a name that the service has, by a name that it has in none of its languages."""
    aliases_by_name: dict[str, list[str]] = data_beside(__file__, "aliases.json")
    name_by_alias: dict[str, str] = {}
    for name, aliases in aliases_by_name.items():
        name_by_alias.update(dict.fromkeys(aliases, name))
    return name_by_alias


_ALIASES: Final = _load_aliases()


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """Return a name without accents, case and punctuation, with single spaces."""
    decomposed = unicodedata.normalize("NFKD", text[:_LONGEST_NAME])
    letters: list[str] = []
    for letter in decomposed.casefold().translate(_LETTERS):
        if letter.isalnum():
            letters.append(letter)
        elif not unicodedata.combining(letter):
            letters.append(" ")
    words = "".join(letters).split()
    return " ".join(_WORDS.get(word, word) for word in words)


def country_codes(countries: Iterable[Country]) -> Callable[[Port], str | None]:
    """Return a function that gives the ISO 3166 code of a port's country; None if unknown.

    Args:
        countries: MCP's countries, with their names. Without them, the code is the beginning of a
            UN/LOCODE.
    """
    codes: dict[str, str | None] = {}
    for country in countries:
        for name in (country.name, *country.names.values()):
            if name:
                codes[fold(str(name))] = country.code

    def code_of(port: Port) -> str | None:
        code = codes.get(fold(port.country))
        if code:
            return code
        locode = _LOCODE.fullmatch(port.code)
        return None if locode is None else locode[1]

    return code_of


@dataclass(frozen=True, slots=True)
class PlaceMatch(Match):
    """A port that a text may mean.

    Attributes:
        port: The port.
        score: How well it matches, from 0 to 1.
        reason: What matches: its "code", its "name" in any known language, its "city", an "alias"
            in no catalogue, "part of a name", or a "similar name" of other spelling.
    """

    port: Port
    score: float
    reason: Reason


@dataclass(slots=True)
class PlaceIndex:
    """The names of all ports.

    Attributes:
        ports: The ports by code.
        names: The codes of the ports that have a name, by the folded name.
        cities: The codes of the ports of a city, by its folded name.
        is_complete: Whether the names of every language were read.
        made_at: When it was made, in seconds since the epoch.
        unreadable: The lists with records that could not be read: names may be missing.
    """

    ports: dict[str, Port] = field(default_factory=dict[str, Port])
    names: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    cities: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    is_complete: bool = False
    made_at: float = field(default_factory=time.time)
    unreadable: tuple[UnreadableAnswer, ...] = ()

    def add_ports(self, ports: Iterable[Port]) -> None:
        """Add the names of one language; the first language gives the ports themselves."""
        is_first = not self.ports
        for port in ports:
            if is_first:
                self.ports[port.code] = port
            if port.code in self.ports:
                self.names.setdefault(fold(port.name), set()).add(port.code)

    def add_cities(self, ports: Iterable[McpPort]) -> None:
        """Add the cities of the ports that are known."""
        for port in ports:
            if port.code in self.ports and port.city is not None:
                self.cities.setdefault(fold(port.city), set()).add(port.code)

    def find(self, text: str, limit: int) -> tuple[PlaceMatch, ...]:
        """Return the ports that a text may mean, best first."""
        matches = [*self._matches(text), *self._similar(text)]
        matches.sort(key=lambda match: (-match.score, match.port.name))
        best: dict[str, PlaceMatch] = {}
        for match in matches:
            best.setdefault(match.port.code, match)
        return tuple(best.values())[:limit]

    def get(self, text: str, field: str) -> Port:
        """Return the port that a text means.

        Raises:
            UnknownPlaceError: No port has such a name, or only a part of a name fits and a port
                that could not be read fits as well.
            AmbiguousPlaceError: Several ports do.
        """
        matches = self._matches(text)
        whole = [match for match in matches if match.reason in {"code", "name"}]
        if whole:
            matches = whole
        elif self._fits_unreadable(text):
            matches = []  # the port that could not be read may be the one that is meant

        ports = list({match.port.code: match.port for match in matches}.values())
        if len(ports) == 1:
            return ports[0]
        if ports:
            raise AmbiguousPlaceError(
                f"{text!r} may be {_join_names(ports)}; pass the code",
                field=field,
                candidates=ports,
            )

        close = [match.port for match in self.find(text, 3)]
        hint = f"; did you mean {_join_names(close)}?" if close else ""
        problem = f"no port is called {text!r}"
        if self._unreadable_ports:
            problem = f"no port that could be read is called {text!r}; "
            problem += describe_unreadable(self._unreadable_ports)
        raise UnknownPlaceError(f"{problem}{hint}", field=field, suggestions=close)

    def _matches(self, text: str) -> list[PlaceMatch]:
        """Return the ports whose code, name, city, alias or part of a name is the text."""
        text = text[:_LONGEST_NAME]
        wanted = fold(text)
        if not wanted:
            return []

        code = text.strip()
        port = self.ports.get(code) or self.ports.get(code.upper())
        if port is not None:
            return [PlaceMatch(port, _SCORES["code"], "code")]

        alias = fold(_ALIASES.get(wanted, ""))
        codes_by_reason: dict[Reason, set[str]] = {
            "name": self.names.get(wanted, set()),
            "city": self.cities.get(wanted, set()),
            "alias": self.names.get(alias, set()) or self._with_part(alias),
            "part of a name": self._with_part(wanted),
        }
        matches: list[PlaceMatch] = []
        for reason, codes in codes_by_reason.items():
            ports = [self.ports[code] for code in sorted(codes)]
            matches += [PlaceMatch(port, _SCORES[reason], reason) for port in ports]

        name, comma, country = text.rpartition(",")
        if comma and not matches:  # such as "Genoa, Italy"
            for match in self._matches(name):
                countries = fold(match.port.country), fold(match.port.country_code or "")
                if fold(country) in countries:
                    matches.append(match)
        return matches

    @property
    def _unreadable_ports(self) -> list[UnreadableAnswer]:
        return [answer for answer in self.unreadable if answer.operation in PORT_OPERATIONS]

    def _fits_unreadable(self, text: str) -> bool:
        """Return whether the code or name of a port that could not be read has these words."""
        part = f" {fold(text)} "
        for answer in self._unreadable_ports:
            for record in answer.records:
                raw = members_of(record.raw)
                for name in (raw.get("code"), raw.get("name")):
                    if isinstance(name, str) and part in f" {fold(name)} ":
                        return True
        return False

    def _with_part(self, wanted: str) -> set[str]:
        """Return the ports that have these words in a name, in this order."""
        if not wanted:
            return set()
        part = f" {wanted} "  # with spaces, so that it begins and ends where a word does
        with_part: set[str] = set()
        for names in (self.names, self.cities):
            for name, codes in names.items():
                if part in f" {name} ":
                    with_part |= codes
        return with_part

    def _similar(self, text: str) -> list[PlaceMatch]:
        """Return the ports with a name that begins with the text, or is spelled nearly like it.

        The beginning of a word outranks every similar name; the shorter the word, the better.
        """
        wanted = fold(text)
        if not wanted:
            return []

        matcher = SequenceMatcher(b=wanted, autojunk=False)
        matches: list[PlaceMatch] = []
        for name, codes in (*self.names.items(), *self.cities.items()):
            # A name such as "Tunis (La Goulette)" is compared as a whole and by its words.
            for part in {name, *name.split()}:
                reason: Reason = "similar name"
                score = _SCORES[reason] * similarity(matcher, part, _LEAST_SIMILARITY)
                if part.startswith(wanted):
                    reason = "part of a name"
                    score = _BEGINNING_SCORE + _LONGEST_BEGINNING_BONUS * len(wanted) / len(part)
                if score:
                    score = round(score, 3)
                    matches += [PlaceMatch(self.ports[code], score, reason) for code in codes]
        return matches


def similarity(matcher: SequenceMatcher[str], name: str, least: float) -> float:
    """Return how similarly a name and the matcher's are spelled, from `least` to 1, else 0."""
    matcher.set_seq1(name)
    # The quick ratios are upper bounds of the ratio, which takes much longer.
    if matcher.real_quick_ratio() < least or matcher.quick_ratio() < least:
        return 0.0
    ratio = matcher.ratio()
    return ratio if ratio >= least else 0.0


def _join_names(ports: Iterable[Port]) -> str:
    return " or ".join(f"{port.name} ({port.code})" for port in ports)
