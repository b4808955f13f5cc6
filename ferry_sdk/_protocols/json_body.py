r"""JSON bodies: encoding, decoding, digests, and the travellers' data in them.

pydantic's decoder is fast, but it keeps only the digits of a float, and it lets no other thread run
before its end. `decode_json` uses it wherever neither matters:

1. Skip a byte order mark. Refuse a body with too many values, which would fill the memory.
2. Put a replacement character for half of a surrogate pair: ``"\ud83d"`` is ``"\ufffd"``.
3. Decode a long body in parts, if this is a worker thread (`_decode_in_parts`).
4. If a number has more digits than a float keeps, such as ``137.50000000000003``, decode with the
   standard library, which gives a `LongNumber` (`_decode_exactly`). It takes several times as long,
   so the numbers are searched first (`_has_digits_to_lose`).
5. Otherwise decode with pydantic.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Mapping
from itertools import chain, pairwise
from typing import Final, NoReturn, TypeGuard, cast

from pydantic_core import from_json, to_json

from ferry_sdk._engine.redaction import PERSONAL_MEMBERS
from ferry_sdk._engine.reply_limits import MOST_JSON_VALUES
from ferry_sdk._engine.requests import is_in_worker_thread
from ferry_sdk.errors import InvalidInputError, UnexpectedResponseError
from ferry_sdk.models.base import LongNumber
from ferry_sdk.types import RequestDigest

_STRETCH: Final = 1024 * 1024
"""Bytes in which no other thread runs, at most."""
_DEEPEST: Final = 200
"""Lists and objects around a value, at most, as in pydantic's decoder."""
_DIGITS: Final = 16
"""Characters of the shortest number with more digits than every float keeps."""
_IN_NUMBERS: Final = b"+-.0123456789Ee"
_NOT_IN_NUMBERS: Final = bytes(byte for byte in range(256) if byte not in _IN_NUMBERS)
_NUMBERS: Final = bytes.maketrans(
    _IN_NUMBERS + _NOT_IN_NUMBERS, b"0" * len(_IN_NUMBERS) + b" " * len(_NOT_IN_NUMBERS)
)
"""Translates the characters of numbers to ``0``, and all others to spaces.

``{"b":137.5}`` becomes ``     00000 ``. This and `bytes.find` take 1.2 ms for a reply of 2.7 MB. A
regular expression of 16 such characters takes 3.1 ms, and one that looks at the character before
them 33 ms.
"""
_LONG_NUMBER: Final = b"0" * _DIGITS
"""The start of a long number, after translation by `_NUMBERS`; it may be part of a string."""
_BEFORE_NUMBER: Final = b"\t\n\r ,:["
"""The bytes that may be before a number in JSON."""
_PART: Final = 64 * 1024
"""Bytes after which a list is cut at the next end of a record, in a worker thread."""
_BETWEEN_OBJECTS: Final = re.compile(rb'\}\s*,\s*\{(?=\s*")')
"""A gap between two objects of a list: ``},{`` in ``[{"b":1},{"b":2}]``.

Few strings have one, because their quotes are escaped.
"""
_FEWEST_CUTS: Final = 2
"""Cuts of the shortest list that is decoded in parts: one part is between two cuts."""
_MARK: Final = os.urandom(16).hex()
"""A text that is in no body."""
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")
r"""The beginning of half of a surrogate pair: ``\ud83d`` and ``\ude00`` are one emoji."""
_ESCAPE: Final = re.compile(
    rb"(\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\(?!u[dD][89a-fA-F]).)"
    rb"|\\u[dD][89a-fA-F][\da-fA-F]{2}",
    re.DOTALL,
)
r"""An escape of a JSON text: in its group a whole character, outside of it half of one.

``\ud83d\ude00``, ``\n`` and ``\\`` are in the group; ``\ud83d`` alone is not. ``\\`` must be
matched, because the text ``\\ud83d`` is a backslash and five letters.
"""
BOM: Final = b"\xef\xbb\xbf"
"""A byte order mark, which some servers put before a body."""
_DIGEST_KEY = os.urandom(16)
"""Digests are those of this process: nobody can guess a request by comparing its digest."""


def encode_json(body: object) -> bytes:
    """Encode a body of JSON types.

    Raises:
        InvalidInputError: A text cannot be encoded.
    """
    try:
        return to_json(body)
    except ValueError:
        raise InvalidInputError("cannot be encoded as JSON", field="arguments") from None


def normalize_json(body: Mapping[str, object]) -> dict[str, object]:
    """Return any body as the service receives it, with JSON types only.

    Raises:
        InvalidInputError: The body is not a mapping, or a value cannot be encoded.
    """
    if not isinstance(cast("object", body), Mapping):
        raise InvalidInputError("expected a mapping", field="arguments")
    return cast("dict[str, object]", normalize_value(body, "arguments"))


def normalize_value(value: object, argument: str) -> object:
    """Return any value as the service receives it, with JSON types only.

    Raises:
        InvalidInputError: It cannot be encoded.
    """
    try:
        return decode_json(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
    except (TypeError, ValueError, RecursionError):
        raise InvalidInputError("cannot be encoded as JSON", field=argument) from None


def decode_json(content: bytes) -> object:
    """Decode a JSON body; a number with more digits than a float keeps becomes a `LongNumber`.

    Raises:
        ValueError: The body is not JSON, or not UTF-8.
        UnexpectedResponseError: The body has too many values.
    """
    content = content.removeprefix(BOM)
    # A value has at least one byte.
    if len(content) > MOST_JSON_VALUES and _count_values(content) > MOST_JSON_VALUES:
        raise UnexpectedResponseError(f"the reply has more than {MOST_JSON_VALUES} JSON values")
    if b"\\" in content and _SURROGATE.search(content):
        content = _ESCAPE.sub(_replace_half, content)

    if len(content) > _STRETCH and is_in_worker_thread.get():
        return _decode_in_parts(content)
    if _has_digits_to_lose(content):
        return _decode_exactly(content)
    return from_json(content, allow_inf_nan=False)


def _has_digits_to_lose(content: bytes) -> bool:
    """Return whether a number has digits that a float does not keep.

    Integers keep all of theirs. A text within a string that looks like such a number counts too.
    """
    marks = content.translate(_NUMBERS)
    end = 0
    while (start := marks.find(_LONG_NUMBER, end)) >= 0:
        end = marks.find(b" ", start)
        if end < 0:
            end = len(content)
        # At the start of the body nothing is before it, and empty bytes are in any bytes.
        if content[start - 1 : start] in _BEFORE_NUMBER and _loses_digits(content[start:end]):
            return True
    return False


def _loses_digits(number: bytes) -> bool:
    if number.removeprefix(b"-").isdigit():
        return False
    try:
        return repr(float(number)).encode() != number
    except ValueError:  # it is no number, but part of a string
        return False


def _decode_in_parts(content: bytes) -> object:
    """Decode a body with a long list of objects in parts, between which other threads run.

    pydantic's decoder lets no other thread run before its end. So most objects are taken out of the
    list, and a mark is put in their place: ``{"a":[{"b":1},{"b":2},{"b":3}]}`` is decoded as
    ``{"a":[{"b":1},MARK,{"b":3}]}`` and ``[{"b":2}]``. If the mark is an element of a list, and
    each part is valid between brackets, so is the whole, wherever it was cut: in a string, the
    quote of the mark ends the string. If something is not valid, `_decode_exactly` decides.
    """
    cuts = _cuts_of(content)
    if len(cuts) < _FEWEST_CUTS:
        return _decode_exactly(content)

    before = content[: cuts[0].start()]
    after = content[cuts[-1].end() :]
    around = b'%s},"%s",{%s' % (before, _MARK.encode(), after)
    elements: list[object] = []
    try:
        body = _decode_part(around)
        depth, marked = _marked_list(body)
        for start, end in pairwise(cuts):
            elements += _decode_elements(content[start.end() - 1 : end.start() + 1], depth)
    except ValueError:
        return _decode_exactly(content)

    place = marked.index(_MARK)
    marked[place : place + 1] = elements
    return body


def _cuts_of(content: bytes) -> list[re.Match[bytes]]:
    """Return gaps between two objects of a list: the first one, and one after each part.

    Brackets in strings count too, so a gap may be in a wrong place; see `_decode_in_parts`.
    """
    first = _outermost_gap(content)
    if first is None:
        return []

    cuts = [first]
    counted = first.end() - 1
    place = counted + _PART
    depth = 0
    while depth >= 0:  # below 0, the list has ended
        gap = _BETWEEN_OBJECTS.search(content, place)
        if gap is None:
            break
        place = gap.end() - 1
        depth += content.count(b"{", counted, place) - content.count(b"}", counted, place)
        counted = place
        if depth == 0:
            cuts.append(gap)
            place += _PART
    return cuts


def _outermost_gap(content: bytes) -> re.Match[bytes] | None:
    """Return a gap of the outermost list near the first gap of a body; None without a gap.

    The objects may have lists of their own: the first gap of ``[{"a":[{},{}]},{"a":[]}]`` is one of
    the inner list.
    """
    gaps = _BETWEEN_OBJECTS.finditer(content)
    outermost = next(gaps, None)
    if outermost is None:
        return None

    counted = outermost.end() - 1
    last = counted + _PART
    depth = 0
    for gap in gaps:
        start = gap.end() - 1
        depth += content.count(b"{", counted, start) - content.count(b"}", counted, start)
        counted = start
        if depth < 0:
            outermost = gap
            depth = 0
        if start > last:
            break
    return outermost


def _marked_list(body: object) -> tuple[int, list[object]]:
    """Return the list with the mark, and in how many lists and objects it is.

    Raises:
        ValueError: There is none.
    """
    level = [body]
    for depth in range(_DEEPEST):
        for value in level:
            if is_list(value) and _MARK in value:
                return depth, value
        level = _inside(level)
    raise ValueError("no list has the mark")


def _decode_elements(part: bytes, depth: int) -> list[object]:
    """Decode elements of a list that is in so many lists and objects.

    The decoder refuses what is nested too deeply. So that it counts the depth as in the whole body,
    each of the outer lists and objects is replaced by a pair of brackets. With a depth of 2,
    ``{"b":1},{"b":2}`` is decoded as ``[[[{"b":1},{"b":2}]]]``.
    """
    brackets = depth + 1
    nested = _decode_part(b"[" * brackets + part + b"]" * brackets)

    for _ in range(depth):
        (nested,) = items_of(nested)
    return items_of(nested)


def _decode_part(content: bytes) -> object:
    if len(content) > _STRETCH or _has_digits_to_lose(content):
        return _decode_exactly(content)
    value: object = from_json(content, allow_inf_nan=False)
    return value


def _replace_half(escape: re.Match[bytes]) -> bytes:
    return escape[1] or rb"\ufffd"


def _count_values(content: bytes) -> int:
    """Count the bytes that open and separate values, also in strings; let other threads run."""
    total = 0
    for start in range(0, len(content), _STRETCH):
        for mark in (b",", b"[", b"{"):
            total += content.count(mark, start, start + _STRETCH)
    return total


def decode_or_text(content: bytes) -> object:
    """Decode a JSON body; return any other one as text."""
    try:
        return decode_json(content)
    except ValueError:
        return text_of(content)


def _decode_exactly(content: bytes) -> object:
    """Decode with every digit of every number, and let other threads run at every object.

    pydantic's decoder does neither, but it defines what is accepted: the same depth and texts.
    """
    try:
        value: object = json.loads(
            content.decode(),
            object_hook=_pass_through,
            parse_float=_parse_number,
            parse_constant=_refuse_constant,
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None
    _refuse_deep(value)
    return value


def _pass_through(members: dict[str, object]) -> dict[str, object]:
    """Return the members of an object. Calling this lets other threads run."""
    return members


def _parse_number(text: str) -> float:
    number = float(text)
    # One that is too large or too small for a float has an exponent that a Decimal may not hold.
    if len(text) < _DIGITS or repr(number) == text or math.isinf(number) or number == 0:
        return number
    return LongNumber(text)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _refuse_deep(value: object) -> None:
    """Raise for what pydantic's decoder refuses: the depth is that of its own limit."""
    level = [value]
    for _ in range(_DEEPEST + 1):
        level = _inside(level)
    if level:
        raise ValueError("nested too deeply")


def _inside(level: list[object]) -> list[object]:
    """Return what is directly in the objects and the lists among some values."""
    # Without `is_object` and `is_list`, because there may be millions of values.
    objects = cast("list[dict[str, object]]", [part for part in level if isinstance(part, dict)])
    lists = cast("list[list[object]]", [part for part in level if isinstance(part, list)])
    inner = [*chain.from_iterable(members.values() for members in objects)]
    inner += chain.from_iterable(lists)
    return inner


def digest(method: str, path: str, body: object) -> RequestDigest:
    """Return what identifies a request, without its content."""
    content = json.dumps(body, sort_keys=True, default=str).encode()
    fingerprint = hashlib.blake2b(content, key=_DIGEST_KEY, digest_size=16).hexdigest()
    return RequestDigest(method=method, path=path, digest=fingerprint)


def personal_data(body: str) -> frozenset[str]:
    """Return the texts of a JSON body that are travellers' data, also the joined parts of names.

    A call with hooks pays for this. So the decoder finds the objects, not a walk over all values:
    it adds every object at any depth to a list. What is no text, such as a phone number or a list
    of names, is searched as it is printed.
    """
    objects: list[dict[str, object]] = []
    json.JSONDecoder(object_hook=objects.append, parse_int=str).raw_decode(body)

    texts: list[object] = []
    for members in objects:
        if PERSONAL_MEMBERS.isdisjoint(members):
            continue
        texts += filter(None, map(members.get, PERSONAL_MEMBERS))

        first = members.get("first_name")
        last = members.get("last_name")
        if isinstance(first, str) and isinstance(last, str):
            # Two initials are a word of many messages, so they are not joined.
            if len(last) > 1:
                texts += (first + last, last + first, first[:1] + last, last + first[:1])
            elif len(first) > 1:
                texts += (first + last, last + first)
    return frozenset(map(str, texts))


def members_of(value: object) -> dict[str, object]:
    """Return the members of a JSON object; of any other value none."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def is_object(value: object) -> TypeGuard[dict[str, object]]:
    """Return whether a JSON value is an object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[object]]:
    """Return whether a JSON value is a list."""
    return isinstance(value, list)


def items_of(value: object) -> list[object]:
    """Return the items of a JSON list; any other value is the only one."""
    return cast("list[object]", value) if isinstance(value, list) else [value]


def text_of(content: bytes) -> str:
    """Return a body that is not JSON as text."""
    return content.decode("utf-8", errors="replace")
