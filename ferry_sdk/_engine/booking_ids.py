"""The booking that a failed reply names, by which what a create made is read back.

A create is sent once, and no read lists bookings. If its reply is unreadable, a 408 or 5xx, or is
cut off, the id of the booking may still be in it:

1. The body is taken as it was decoded, else what arrived of it (`requests.received_text`).
2. A text is decoded as JSON as far as it goes. If it is cut off, the members before the cut are
   whole, and a value that is not complete is left out. Broken JSON is not searched: nothing says
   to which object a ``booking_id`` in it belongs.
3. Of JSON-RPC, only the message with the id of the request counts: a stream may have others.
4. ``booking_id`` is read in the reply itself, and in what services and MCP servers put around an
   answer or an error. An id elsewhere, such as in a message or below ``existing``, may be that of
   another booking.
5. An id counts if it is the only one, can be a segment of a path, fits into a journal, and holds
   no token and nothing of the call's travellers.

``{"error": true, "message": "late", "data": {"booking_id": "b-1"}}`` names ``b-1``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from json import JSONDecoder
from typing import Final, cast

from pydantic_core import from_json

from ferry_sdk._engine.context import Context
from ferry_sdk._engine.requests import message_id, received_text
from ferry_sdk.errors import APIError, FerryError, UnexpectedResponseError

_MEMBER: Final = "booking_id"
_AROUND_AN_ANSWER: Final = (
    "data",
    "result",
    "response",
    "booking",
    "error",
    "errors",
    "detail",
    "details",
    "structuredContent",
    "content",
    "resource",
    "text",
)
"""The members in which an answer or an error is put; the last ones are those of MCP."""
_DEEPEST: Final = 8
_MOST_ITEMS: Final = 10
"""Items of a list that are looked at, such as the blocks of a tool's result."""
_LONGEST_TEXT: Final = 64 * 1024
"""Characters of a text that are decoded."""
_LONGEST_ID: Final = 200
"""Characters of an id that a journal stores."""
_REPLACEMENT: Final = "\ufffd"
"""What stands for a part of a text that could not be decoded."""
_decoder: Final = JSONDecoder()
"""It says where a value ends. It reads NaN too, which makes the id beside it no less certain."""


def named_booking(failure: FerryError, context: Context) -> str | None:
    """Return the id of the booking that a failed reply names; None if it names none for sure."""
    body: object = None
    if isinstance(failure, UnexpectedResponseError | APIError):
        body = failure.body
    own_id = message_id(context)
    if body is None:
        body = received_text(context, _LONGEST_TEXT)
        if own_id is not None:
            # A message that is cut off before its id may be another one's.
            body = [message for message in _decode(str(body)) if _id_of(message) == own_id]

    values = _named_values(body, own_id, _DEEPEST)
    ids = {value for value in values if isinstance(value, str)}
    if len(ids) != 1:
        return None

    (booking_id,) = ids
    return booking_id if _can_be_used(booking_id, context) else None


def _named_values(value: object, own_id: object, depth: int) -> Iterator[object]:
    """Yield each ``booking_id`` of a reply and of what may be around its answer."""
    if depth == 0:
        return

    if isinstance(value, str):
        for decoded in _decode(value):
            yield from _named_values(decoded, own_id, depth - 1)
    elif isinstance(value, list):
        for item in cast("list[object]", value)[:_MOST_ITEMS]:
            yield from _named_values(item, own_id, depth - 1)
    elif isinstance(value, dict):
        members = cast("dict[str, object]", value)
        if "jsonrpc" in members and members.get("id") != own_id:
            return
        yield members.get(_MEMBER)
        for name in _AROUND_AN_ANSWER:
            yield from _named_values(members.get(name), own_id, depth - 1)


def _id_of(message: object) -> object:
    if not isinstance(message, dict):
        return None
    return cast("dict[str, object]", message).get("id")


def _decode(text: str) -> Iterator[object]:
    """Yield each JSON object of a text, the last one as far as it is complete.

    Words may stand before and between them, such as ``Error executing tool create_booking:``, or
    the ``data:`` of an event stream.
    """
    text = text[:_LONGEST_TEXT]
    opening = "[" if text.lstrip().startswith("[") else "{"
    start = text.find(opening)
    while start >= 0:
        try:
            value, end = _decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            yield from _decode_cut(text[start:])
            return
        yield value
        start = text.find("{", end)


def _decode_cut(text: str) -> Iterator[object]:
    """Yield a JSON object that is cut off, without its last value if that is not complete."""
    with suppress(ValueError):
        yield from_json(text.encode(errors="replace"), allow_partial=True)


def _can_be_used(booking_id: str, context: Context) -> bool:
    is_segment = booking_id.strip() == booking_id and booking_id not in {"", ".", ".."}
    is_storable = len(booking_id) <= _LONGEST_ID and booking_id.isprintable()
    is_decoded = _REPLACEMENT not in booking_id
    return (
        is_segment
        and is_storable
        and is_decoded
        and context.redactor().hide(booking_id) == booking_id
    )
