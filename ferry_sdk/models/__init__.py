"""Records and inputs. The public names are those of the import block; each is loaded on first use.

`scripts/api-map` writes `__all__` from the block.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferry_sdk.models.availability import (
        Availability,
        Gateway,
        InBoard,
        Place,
        Provider,
        SailingCompany,
        Tariff,
    )
    from ferry_sdk.models.base import Model
    from ferry_sdk.models.bookings import (
        Balance,
        Booking,
        BookingCancellation,
        BookingConfirmation,
        BookingCreated,
        Kept,
        KeptLine,
        NextAction,
        PossibleAction,
        Pricing,
        Received,
        Reverse,
    )
    from ferry_sdk.models.catalogue import (
        Company,
        Country,
        Departure,
        Journey,
        McpPort,
        McpResource,
        McpTool,
        Port,
        ScheduledDeparture,
        VehicleBrand,
        VehicleModel,
        VehicleType,
    )
    from ferry_sdk.models.enums import (
        ActionType,
        Direction,
        Gender,
        OpenEnum,
        PassengerType,
        PaymentStatus,
        PlaceGender,
        PlaceType,
        PlaceUse,
        ReservationType,
        Stage,
        TariffType,
        TicketDirection,
        TicketStatus,
    )
    from ferry_sdk.models.inputs import (
        Contact,
        ContactDict,
        Passenger,
        PassengerDict,
        SearchPassenger,
        SearchPassengerDict,
        Selection,
        SelectionDict,
        Traveller,
        TravellerDict,
        Vehicle,
        VehicleDict,
        VehicleQuery,
        VehicleQueryDict,
    )
    from ferry_sdk.models.records import Records, Unreadable
    from ferry_sdk.models.tickets import (
        CancellationFee,
        PaymentRecorded,
        Ticket,
        TicketCancellation,
        TicketJourney,
        TicketJourneys,
        TicketLeg,
        TicketPassenger,
        TicketVehicle,
        Voucher,
    )
    from ferry_sdk.models.travellers import AgeBands, TravellerProblem, Travellers

_MODULES = (
    "availability",
    "base",
    "bookings",
    "catalogue",
    "enums",
    "inputs",
    "records",
    "tickets",
    "travellers",
)

__all__ = [
    "ActionType",
    "AgeBands",
    "Availability",
    "Balance",
    "Booking",
    "BookingCancellation",
    "BookingConfirmation",
    "BookingCreated",
    "CancellationFee",
    "Company",
    "Contact",
    "ContactDict",
    "Country",
    "Departure",
    "Direction",
    "Gateway",
    "Gender",
    "InBoard",
    "Journey",
    "Kept",
    "KeptLine",
    "McpPort",
    "McpResource",
    "McpTool",
    "Model",
    "NextAction",
    "OpenEnum",
    "Passenger",
    "PassengerDict",
    "PassengerType",
    "PaymentRecorded",
    "PaymentStatus",
    "Place",
    "PlaceGender",
    "PlaceType",
    "PlaceUse",
    "Port",
    "PossibleAction",
    "Pricing",
    "Provider",
    "Received",
    "Records",
    "ReservationType",
    "Reverse",
    "SailingCompany",
    "ScheduledDeparture",
    "SearchPassenger",
    "SearchPassengerDict",
    "Selection",
    "SelectionDict",
    "Stage",
    "Tariff",
    "TariffType",
    "Ticket",
    "TicketCancellation",
    "TicketDirection",
    "TicketJourney",
    "TicketJourneys",
    "TicketLeg",
    "TicketPassenger",
    "TicketStatus",
    "TicketVehicle",
    "Traveller",
    "TravellerDict",
    "TravellerProblem",
    "Travellers",
    "Unreadable",
    "Vehicle",
    "VehicleBrand",
    "VehicleDict",
    "VehicleModel",
    "VehicleQuery",
    "VehicleQueryDict",
    "VehicleType",
    "Voucher",
]


def __getattr__(name: str) -> object:
    if name in __all__:
        for module_name in _MODULES:
            module = import_module(f".{module_name}", __name__)
            if name in vars(module):
                return vars(module)[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
