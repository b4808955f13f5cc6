"""Numbers that look random but depend only on a seed and on words.

Each number is a hash of the seed and of the words that name the choice, not the next number of a
sequence. So it does not depend on the order of requests, on the process or on the Python version.
"""

from __future__ import annotations

import hashlib
import secrets
import uuid


class SeededRandom:
    """Random choices that depend only on the seed and on the words of each call."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def below(self, limit: int, *words: object) -> int:
        """Return a number from 0 to `limit` - 1."""
        return int.from_bytes(self._bytes(8, words), "big") % limit

    def token(self, *words: object) -> str:
        """Return 32 hexadecimal digits."""
        return self._bytes(16, words).hex()

    def _bytes(self, size: int, words: tuple[object, ...]) -> bytes:
        text = "|".join(str(word) for word in (self._seed, *words))
        return hashlib.blake2b(text.encode(), digest_size=size).digest()


class Ids:
    """The ids of bookings and tickets, in a fixed order with a seed, else random.

    Attributes:
        used: How many ids are in use.
    """

    def __init__(self, random: SeededRandom | None, used: int = 0) -> None:
        self._random = random or SeededRandom(secrets.randbits(128))
        self.used: int = used

    def uuid(self) -> str:
        """Return a UUID."""
        return str(uuid.UUID(hex=self.key(), version=4))

    def key(self) -> str:
        """Return 32 hexadecimal digits."""
        return self._random.token("id", self._next())

    def reference(self, letters: str, length: int) -> str:
        """Return a word made of these letters."""
        number = self._next()
        chosen = [
            letters[self._random.below(len(letters), "id", number, place)]
            for place in range(length)
        ]
        return "".join(chosen)

    def _next(self) -> int:
        self.used += 1
        return self.used - 1
