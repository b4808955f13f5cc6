"""Record the replies of a check without tokens and travellers' data.

Everything is masked before it is written: letters become ``a`` or ``A``, digits ``0``. The rest
depends on what a reply is about. Of catalogues and searches, the values of the known fields stay.
Of bookings, tickets and errors, only amounts and the words of the interface's enumerations stay.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from typing import Final, cast

from pydantic import BaseModel

from ferry_sdk._runtime.data import data_beside
from ferry_sdk.conformance.observations import Observation
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models import availability, bookings, catalogue, enums, tickets
from ferry_sdk.resources.arguments import file_path

Path = str | os.PathLike[str]

_PRIVATE_FILE: Final = 0o600
_NAMES: Final[Mapping[str, list[str]]] = data_beside(__file__)
"""The operations whose replies are about nobody, the members around records, the amounts that stay,
and the words that stay, with their fields, besides those of the interface's enumerations."""
_AMOUNTS: Final = frozenset(_NAMES["amounts"])
_WORD_FIELDS: Final = frozenset(_NAMES["word_fields"])


def _fields(*modules: object) -> frozenset[str]:
    """Return the names on the wire of all fields of the records of some modules."""
    return frozenset(
        field.alias or name
        for module in modules
        for model in vars(module).values()
        # By the metaclass: in Python 3.10, tuple[int, ...] is an instance of type.
        if isinstance(model, type(BaseModel))
        for name, field in model.model_fields.items()
    )


_PUBLIC: Final = _fields(availability, catalogue) - {"passengers"}
_KNOWN: Final = _PUBLIC | _fields(bookings, tickets) | {*_NAMES["envelope"]}
_WORDS: Final = frozenset(
    member.value
    for kind in vars(enums).values()
    if isinstance(kind, type) and issubclass(kind, enums.OpenEnum)
    for member in kind
).union(_NAMES["words"])


class Recording(AbstractContextManager["Recording"]):
    """A file of replies, one JSON object a line; only its owner can read it.

    Args:
        path: The file; an existing file is replaced.
        read_tokens: Returns the tokens to hide.

    Raises:
        InvalidInputError: The file cannot be written.
    """

    def __init__(self, path: Path, read_tokens: Callable[[], Collection[str]]) -> None:
        try:
            # O_NONBLOCK: a pipe without a reader would block for ever.
            flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)
            descriptor = os.open(file_path(path, "record"), flags, _PRIVATE_FILE)
            try:
                _clear(descriptor)
            except OSError:
                os.close(descriptor)
                raise
        except OSError as error:
            raise InvalidInputError(error.strerror or "cannot be written", field="record") from None
        self._read_tokens = read_tokens
        self._file = os.fdopen(descriptor, "w", encoding="ascii", newline="\n")

    def add(self, operation: str, reply: Observation) -> None:
        """Write a masked reply.

        Raises:
            OSError: Writing failed.
        """
        is_public = reply.error is None and operation in _NAMES["public_operations"]
        self._tokens = self._read_tokens()
        try:
            body = self._mask(reply.body, "", is_public=is_public)
        except RecursionError:
            body = None
        line = {
            "operation": operation,
            "status": reply.status,
            "error": type(reply.error).__name__ if reply.error else None,
            "body": body,
        }
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def _mask(self, value: object, name: str, *, is_public: bool) -> object:
        is_public = is_public and name != "passengers"
        if isinstance(value, dict):
            members = cast("dict[str, object]", value)
            return {
                key if key in _KNOWN else _mask_text(key): self._mask(
                    member, "passengers" if name == "passengers" else key, is_public=is_public
                )
                for key, member in members.items()
            }
        if isinstance(value, list):
            items = cast("list[object]", value)
            return [self._mask(item, name, is_public=is_public) for item in items]
        if isinstance(value, str):
            return self._mask_string(value, name, is_public=is_public)
        if value is None or isinstance(value, bool):
            return value
        is_kept = name in (_PUBLIC if is_public else _AMOUNTS)
        return value if is_kept and not self._has_token(str(value)) else 0

    def _mask_string(self, text: str, name: str, *, is_public: bool) -> str:
        if text[:1] in {"{", "["}:  # MCP has JSON in texts
            try:
                return json.dumps(self._mask(json.loads(text), name, is_public=is_public))
            except ValueError:
                return _mask_text(text)
        is_kept = name in _PUBLIC if is_public else name in _WORD_FIELDS and text in _WORDS
        return text if is_kept and not self._has_token(text) else _mask_text(text)

    def _has_token(self, text: str) -> bool:
        return any(token in text for token in self._tokens)

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _clear(descriptor: int) -> None:
    """Make a file private and empty; a pipe or a device is used as it is.

    Raises:
        OSError: It is a file of another user; it has not changed.
    """
    if os.name == "posix":
        os.set_blocking(descriptor, True)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        if os.name == "posix":
            os.fchmod(descriptor, _PRIVATE_FILE)
        os.ftruncate(descriptor, 0)


def _mask_text(text: str) -> str:
    """Replace each letter and digit; what is not ASCII counts as a letter."""
    return "".join(map(_mask_character, text))


def _mask_character(character: str) -> str:
    if character.isdigit():
        return "0"
    if character.isalpha() or not character.isascii():
        return "A" if character.isupper() else "a"
    return character
