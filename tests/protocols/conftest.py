"""Fixtures: what a booking is made of."""

import pytest

from tests.support.trip import PASSENGERS, found


@pytest.fixture
def creation(both):
    sailing = found(both)
    selection = sailing.select(tariff=sailing.tariffs[0], place=sailing.places[0])
    return {"availabilities": [selection], "passengers": PASSENGERS}
