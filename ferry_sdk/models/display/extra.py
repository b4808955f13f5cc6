"""What a notebook needs beyond the core, and what is said where it is not installed."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def needed(*packages: str) -> Generator[None, None, None]:
    """Import in this block; where one of the packages is missing, the error names the extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in packages:
            raise
        raise ModuleNotFoundError(
            f'frames and charts need an extra: pip install "ferry-sdk[notebook]" '
            f"(there is no {error.name})",
            name=error.name,
        ) from error
