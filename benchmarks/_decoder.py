"""The decoder of a search: from the bytes of a reply to its records, without the call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferry_sdk._protocols.json_body import decode_json
from ferry_sdk.resources.availability import AvailabilityGroup

from ._payload import QUESTION

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def decoder() -> Callable[[bytes], Sequence[Any]]:
    """Return the function that decodes the bytes of a reply, as a search does."""
    answer = AvailabilityGroup.search(None, **QUESTION).answer
    return lambda content: answer.read(decode_json(content))
