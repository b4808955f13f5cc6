"""Structs of msgspec, decoded from the bytes of a reply."""

from __future__ import annotations

from functools import partial
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Final

import msgspec

from benchmarks._records import availability

from . import httpx

if TYPE_CHECKING:
    from collections.abc import Mapping


def _struct(name: str, members: Mapping[str, Any]) -> type[msgspec.Struct]:
    return msgspec.defstruct(name, [*members.items()])


_FOUND: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(
    GenericAlias(list, (availability(_struct),)), strict=False
)

search = partial(httpx.search, decode=_FOUND.decode)
"""A search whose answer is structs."""
