"""Plain models of pydantic, read from the bytes of a reply."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from pydantic import TypeAdapter

from . import httpx
from ._models import search_answer_type

_FOUND: Final[TypeAdapter[Any]] = TypeAdapter(search_answer_type())

search = partial(httpx.search, decode=_FOUND.validate_json)
"""A search whose answer is models."""
