"""The token: from the environment or a file, and no longer in the environment afterwards."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from ferry_sdk._engine.token_files import file_of, token_in
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
    kept = file_of(file)
    if kept is not None:
        return token_in(kept)
    if not token:
        raise ConfigurationError("missing: FERRY_TOKEN_FILE, or FERRY_TOKEN")
    return token
