"""A vehicle by its code, and what a booking says of it."""

from __future__ import annotations

from difflib import get_close_matches

from ferry_sdk.client import Ferry
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.inputs import Vehicle
from ferry_sdk.models.mcp import VehicleModel


def vehicle_of(ferry: Ferry, code: str) -> VehicleModel:
    """The vehicle of the catalogue with this code.

    Raises:
        InvalidInputError: There is none; the message names those that are nearly called so.
    """
    known = {one.code: one for one in ferry.mcp.vehicle_data() if one.code}
    found = known.get(code.upper())
    if found is None:
        near = (
            ", ".join(get_close_matches(code.upper(), known, cutoff=0.4)) or "a code as FIAT__500"
        )
        raise InvalidInputError(f"no vehicle is {code!r}; there is {near}", field="--vehicle")
    return found


def booked(vehicle: VehicleModel, plate: str | None) -> Vehicle:
    """The vehicle as a booking says it: by its class, with the plate."""
    return Vehicle(
        code=vehicle.type or vehicle.code or "",
        vehicule_code=vehicle.code,
        brand=vehicle.brand,
        model=vehicle.model,
        identification=plate,
    )
