"""Numbers that look random and are the same in every process for the same seed and words."""

from __future__ import annotations

import hashlib
import itertools
import secrets
import uuid
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")


class SeededRandom:
    """Dice whose throw depends on the seed and on what is thrown for, and on nothing else."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def below(self, limit: int, *words: object) -> int:
        """A number from 0 up to `limit`, without it."""
        return int.from_bytes(self._bytes(8, words), "big") % limit

    def pick(self, choices: Sequence[T], *words: object) -> T:
        """One of several."""
        return choices[self.below(len(choices), *words)]

    def token(self, *words: object) -> str:
        """Thirty-two hexadecimal digits."""
        return self._bytes(16, words).hex()

    def _bytes(self, size: int, words: tuple[object, ...]) -> bytes:
        text = "|".join(map(str, (self._seed, *words)))
        return hashlib.blake2b(text.encode(), digest_size=size).digest()


class Ids:
    """Ids of bookings and tickets, one after another: drawn from dice, or random without any."""

    def __init__(self, random: SeededRandom | None) -> None:
        self._random = random or SeededRandom(secrets.randbits(128))
        self._count = itertools.count()

    def uuid(self) -> str:
        """A UUID."""
        return str(uuid.UUID(hex=self.key(), version=4))

    def key(self) -> str:
        """Thirty-two hexadecimal digits."""
        return self._random.token("id", next(self._count))

    def reference(self, letters: str, length: int) -> str:
        """A word of these letters."""
        number = next(self._count)
        return "".join(self._random.pick(letters, "id", number, place) for place in range(length))
