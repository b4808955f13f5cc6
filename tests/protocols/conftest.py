"""Fixtures: what a booking is made of."""

import pytest

from tests.support.trip import PASSENGERS, selected


@pytest.fixture
def creation(both):
    return {"availabilities": [selected(both)], "passengers": PASSENGERS}
