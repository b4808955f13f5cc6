"""Imports of the extra ``notebook``, with an error that names it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def require_packages(*packages: str) -> Generator[None, None, None]:
    """Import in this block; if one of the packages is missing, raise an error with the extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in packages:
            raise
        raise ModuleNotFoundError(
            f'frames and charts require an extra: pip install "ferry-sdk[notebook]" '
            f"({error.name} is not installed)",
            name=error.name,
        ) from error
