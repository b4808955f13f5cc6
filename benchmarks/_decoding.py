"""The decoding call alone: the bytes of a reply to the records that a search gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferry_sdk._protocols.json_body import decode_json
from ferry_sdk.resources.availability import AvailabilityGroup

from ._payload import QUESTION

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def decoding() -> Callable[[bytes], Sequence[Any]]:
    """What the library makes of a reply's bytes, without the call around it."""
    answer = AvailabilityGroup.search(None, **QUESTION).answer
    return lambda content: answer.read(decode_json(content))
