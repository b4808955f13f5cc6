"""What can be driven aboard: brands, models and the types a deck is sold by."""

from __future__ import annotations

from dataclasses import dataclass

GENERIC = "GENERIC__"


@dataclass(frozen=True, slots=True)
class VehicleBrand:
    """A maker of vehicles."""

    code: str
    name: str


@dataclass(frozen=True, slots=True)
class VehicleType:
    """A class of vehicle with its largest size, in metres."""

    code: str
    name: str
    max_length: float
    max_height: float
    freight: bool = False


@dataclass(frozen=True, slots=True)
class VehicleModel:
    """A vehicle that a search can name, with its size in metres."""

    code: str
    brand: str
    model: str
    type: VehicleType
    length: float
    height: float


def generic(kind: VehicleType) -> VehicleModel:
    """A vehicle known by its type alone (a bicycle, a caravan), as large as the type allows."""
    return VehicleModel(
        code=GENERIC + kind.code,
        brand="Generic",
        model=kind.name,
        type=kind,
        length=kind.max_length,
        height=kind.max_height,
    )
