"""Fixtures of the effect test."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest

from tests.effects.world import World

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def world() -> Iterator[World]:
    with World() as made:
        yield made


@pytest.fixture(scope="module")
def no_leftovers() -> None:
    """Collect what earlier tests left, whose warnings would count as a schedule's own.

    What remains of them is frozen, so that it is not looked through after every schedule.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture
def retry_at_once() -> None:
    """A call waits between attempts as long as it does for users: the service comes back later."""
