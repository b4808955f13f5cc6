"""A typed client for a ferry ticketing gateway: REST and MCP, sync and async.

The public names are those of the import block below; each is loaded on first use.
`scripts/api-map` writes `__all__` from the block.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ferry_sdk._version import __version__

if TYPE_CHECKING:
    from ferry_sdk._engine.correlation import correlation
    from ferry_sdk._engine.http import Timeout
    from ferry_sdk._engine.raw_response import RawResponse
    from ferry_sdk._transport.aiohttp_client import DefaultAioHttpClient
    from ferry_sdk.client import AsyncFerry, Ferry
    from ferry_sdk.errors import (
        APIError,
        AuthenticationError,
        AvailabilityError,
        BadRequestError,
        BookingConfirmError,
        BookingCreateError,
        ConfigurationError,
        ConflictError,
        ConnectionFailedError,
        FerryError,
        InvalidInputError,
        JournalError,
        NotFoundError,
        OutcomeUnknownError,
        PenaltyExceededError,
        PermissionDeniedError,
        PriceChangedError,
        RateLimitError,
        ReadOnlyError,
        RequestTimeoutError,
        ServerError,
        TicketCancelError,
        TicketNotFoundError,
        TicketViewError,
        TransportError,
        UnexpectedResponseError,
        UnprocessableEntityError,
        UnresolvedWriteError,
    )
    from ferry_sdk.hooks import (
        CallInfo,
        EventHooks,
        OutcomeEvent,
        RequestEvent,
        ResponseEvent,
        RetryEvent,
    )
    from ferry_sdk.models import (
        ActionType,
        Availability,
        Booking,
        BookingCancellation,
        BookingConfirmation,
        BookingCreated,
        CancellationFee,
        Company,
        Contact,
        ContactDict,
        Country,
        Departure,
        Direction,
        Gender,
        Journey,
        McpPort,
        NextAction,
        Passenger,
        PassengerDict,
        PassengerType,
        PaymentRecorded,
        PaymentStatus,
        Place,
        PlaceGender,
        PlaceType,
        PlaceUse,
        Port,
        PossibleAction,
        Pricing,
        Records,
        ReservationType,
        ScheduledDeparture,
        SearchPassenger,
        SearchPassengerDict,
        Selection,
        SelectionDict,
        Stage,
        Tariff,
        TariffType,
        Ticket,
        TicketCancellation,
        TicketDirection,
        TicketPassenger,
        TicketStatus,
        TicketVehicle,
        Unreadable,
        Vehicle,
        VehicleBrand,
        VehicleDict,
        VehicleModel,
        VehicleQuery,
        VehicleQueryDict,
        VehicleType,
        Voucher,
    )
    from ferry_sdk.safety import SAFETY, Proof, Safety
    from ferry_sdk.types import Attempt, JournalEntry, RequestDigest

_MODULES = (
    "errors",
    "models",
    "types",
    "hooks",
    "safety",
    "_engine.correlation",
    "_engine.http",
    "_engine.raw_response",
    "client",
    "_transport.aiohttp_client",
)
"""Searched in this order: modules that load little come first."""

__all__ = [
    "SAFETY",
    "APIError",
    "ActionType",
    "AsyncFerry",
    "Attempt",
    "AuthenticationError",
    "Availability",
    "AvailabilityError",
    "BadRequestError",
    "Booking",
    "BookingCancellation",
    "BookingConfirmError",
    "BookingConfirmation",
    "BookingCreateError",
    "BookingCreated",
    "CallInfo",
    "CancellationFee",
    "Company",
    "ConfigurationError",
    "ConflictError",
    "ConnectionFailedError",
    "Contact",
    "ContactDict",
    "Country",
    "DefaultAioHttpClient",
    "Departure",
    "Direction",
    "EventHooks",
    "Ferry",
    "FerryError",
    "Gender",
    "InvalidInputError",
    "JournalEntry",
    "JournalError",
    "Journey",
    "McpPort",
    "NextAction",
    "NotFoundError",
    "OutcomeEvent",
    "OutcomeUnknownError",
    "Passenger",
    "PassengerDict",
    "PassengerType",
    "PaymentRecorded",
    "PaymentStatus",
    "PenaltyExceededError",
    "PermissionDeniedError",
    "Place",
    "PlaceGender",
    "PlaceType",
    "PlaceUse",
    "Port",
    "PossibleAction",
    "PriceChangedError",
    "Pricing",
    "Proof",
    "RateLimitError",
    "RawResponse",
    "ReadOnlyError",
    "Records",
    "RequestDigest",
    "RequestEvent",
    "RequestTimeoutError",
    "ReservationType",
    "ResponseEvent",
    "RetryEvent",
    "Safety",
    "ScheduledDeparture",
    "SearchPassenger",
    "SearchPassengerDict",
    "Selection",
    "SelectionDict",
    "ServerError",
    "Stage",
    "Tariff",
    "TariffType",
    "Ticket",
    "TicketCancelError",
    "TicketCancellation",
    "TicketDirection",
    "TicketNotFoundError",
    "TicketPassenger",
    "TicketStatus",
    "TicketVehicle",
    "TicketViewError",
    "Timeout",
    "TransportError",
    "UnexpectedResponseError",
    "UnprocessableEntityError",
    "Unreadable",
    "UnresolvedWriteError",
    "Vehicle",
    "VehicleBrand",
    "VehicleDict",
    "VehicleModel",
    "VehicleQuery",
    "VehicleQueryDict",
    "VehicleType",
    "Voucher",
    "__version__",
    "correlation",
]


def __getattr__(name: str) -> object:
    if name in __all__:
        for module_name in _MODULES:
            module = import_module(f".{module_name}", __name__)
            if hasattr(module, name):
                value: object = getattr(module, name)
                globals()[name] = value
                return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
