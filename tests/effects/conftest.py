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


@pytest.fixture(autouse=True)
def no_leftovers(request: pytest.FixtureRequest) -> None:
    """Collect what earlier tests left, whose warnings would count as a schedule's own."""
    if "world" in request.fixturenames:  # it takes a second after many other tests
        gc.collect()
