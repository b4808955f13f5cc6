"""Fixtures: what a booking is made of."""

import pytest

from tests.support.trip import PASSENGERS, found


@pytest.fixture
def creation(both):
    """Arguments of a booking on the first sailing that the local service has."""
    sailing = found(both)
    selection = sailing.select(tariff=sailing.tariffs[0], place=sailing.places[0])
    return {"availabilities": [selection], "passengers": PASSENGERS}
