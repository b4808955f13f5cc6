"""Numbers that look random and are the same in every process for the same seed and words."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")


class Dice:
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
