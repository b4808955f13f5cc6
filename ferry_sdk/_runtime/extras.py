"""Packages that only an extra installs."""

from __future__ import annotations

from collections.abc import Collection, Generator
from contextlib import contextmanager


@contextmanager
def needs_extra(who_requires: str, extra: str, packages: Collection[str]) -> Generator[None]:
    """Say which extra installs what an import in the block does not find.

    Args:
        who_requires: What requires the extra, with the verb, such as "the journal requires".
        extra: Its name.
        packages: The packages that it installs.

    Raises:
        ModuleNotFoundError: One of the packages is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in packages:
            raise
        advice = f'{who_requires} an extra: pip install "ferry-sdk[{extra}]"'
        problem = f"{advice} ({error.name} is not installed)"
        raise ModuleNotFoundError(problem, name=error.name) from error
