"""The token: from the environment or a file, and no longer in the environment afterwards."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from ferry_sdk.errors import ConfigurationError


def taken(file: Path | None) -> str | Callable[[], str]:
    """The token, which children of this process do not inherit.

    Args:
        file: Where it is; else it is in the file that ``FERRY_TOKEN_FILE`` names, else in
            ``FERRY_TOKEN``.

    Returns:
        It, or, of a file, a function that reads it anew.

    Raises:
        ConfigurationError: There is none.
    """
    token = os.environ.pop("FERRY_TOKEN", "").strip()
    os.environ.pop("FERRY_ORGANISATION_TOKEN", None)  # no tool has a use for it
    named = os.environ.get("FERRY_TOKEN_FILE")
    if file is None and named:
        file = Path(named)
    if file is not None:
        _read(file)
        return lambda: _read(file)
    if not token:
        raise ConfigurationError("missing: FERRY_TOKEN_FILE, or FERRY_TOKEN")
    return token


def _read(file: Path) -> str:
    try:
        token = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"the token's file cannot be read: {file} ({type(error).__name__})"
        ) from None
    if not token:
        raise ConfigurationError(f"the token's file is empty: {file}")
    return token
