# scripts/api-map writes this file from the table in `__init__.py`.

from ferry_sdk._runtime.version import __version__
from ferry_sdk.errors import AlreadyDoneError
from ferry_sdk.errors import AmbiguousPlaceError
from ferry_sdk.errors import APIError
from ferry_sdk.errors import AuthenticationError
from ferry_sdk.errors import AvailabilityError
from ferry_sdk.errors import BadRequestError
from ferry_sdk.errors import BookingConfirmError
from ferry_sdk.errors import BookingCreateError
from ferry_sdk.errors import ConfigurationError
from ferry_sdk.errors import ConflictError
from ferry_sdk.errors import ConnectionFailedError
from ferry_sdk.errors import FerryError
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.errors import JournalError
from ferry_sdk.errors import NoSailingsError
from ferry_sdk.errors import NotFoundError
from ferry_sdk.errors import OrderError
from ferry_sdk.errors import OutcomeUnknownError
from ferry_sdk.errors import PenaltyExceededError
from ferry_sdk.errors import PermissionDeniedError
from ferry_sdk.errors import PriceChangedError
from ferry_sdk.errors import RateLimitError
from ferry_sdk.errors import ReadOnlyError
from ferry_sdk.errors import RequestTimeoutError
from ferry_sdk.errors import ServerError
from ferry_sdk.errors import TicketCancelError
from ferry_sdk.errors import TicketNotFoundError
from ferry_sdk.errors import TicketViewError
from ferry_sdk.errors import TransportError
from ferry_sdk.errors import UnexpectedResponseError
from ferry_sdk.errors import UnknownPlaceError
from ferry_sdk.errors import UnprocessableEntityError
from ferry_sdk.errors import UnresolvedWriteError
from ferry_sdk.errors import VoucherNotReadyError
from ferry_sdk.models import ActionType
from ferry_sdk.models import AgeBands
from ferry_sdk.models import Availability
from ferry_sdk.models import Booking
from ferry_sdk.models import BookingCancellation
from ferry_sdk.models import BookingConfirmation
from ferry_sdk.models import BookingCreated
from ferry_sdk.models import CancellationFee
from ferry_sdk.models import Company
from ferry_sdk.models import Contact
from ferry_sdk.models import ContactDict
from ferry_sdk.models import Country
from ferry_sdk.models import Departure
from ferry_sdk.models import Direction
from ferry_sdk.models import Gender
from ferry_sdk.models import Journey
from ferry_sdk.models import McpPort
from ferry_sdk.models import NextAction
from ferry_sdk.models import Passenger
from ferry_sdk.models import PassengerDict
from ferry_sdk.models import PassengerType
from ferry_sdk.models import PaymentRecorded
from ferry_sdk.models import PaymentStatus
from ferry_sdk.models import Place
from ferry_sdk.models import PlaceGender
from ferry_sdk.models import PlaceType
from ferry_sdk.models import PlaceUse
from ferry_sdk.models import Port
from ferry_sdk.models import PossibleAction
from ferry_sdk.models import Pricing
from ferry_sdk.models import Records
from ferry_sdk.models import ReservationType
from ferry_sdk.models import ScheduledDeparture
from ferry_sdk.models import SearchPassenger
from ferry_sdk.models import SearchPassengerDict
from ferry_sdk.models import Selection
from ferry_sdk.models import SelectionDict
from ferry_sdk.models import Stage
from ferry_sdk.models import Tariff
from ferry_sdk.models import TariffType
from ferry_sdk.models import Ticket
from ferry_sdk.models import TicketCancellation
from ferry_sdk.models import TicketDirection
from ferry_sdk.models import TicketPassenger
from ferry_sdk.models import TicketStatus
from ferry_sdk.models import TicketVehicle
from ferry_sdk.models import Traveller
from ferry_sdk.models import TravellerDict
from ferry_sdk.models import TravellerProblem
from ferry_sdk.models import Travellers
from ferry_sdk.models import Unreadable
from ferry_sdk.models import Vehicle
from ferry_sdk.models import VehicleBrand
from ferry_sdk.models import VehicleDict
from ferry_sdk.models import VehicleModel
from ferry_sdk.models import VehicleQuery
from ferry_sdk.models import VehicleQueryDict
from ferry_sdk.models import VehicleType
from ferry_sdk.models import Voucher
from ferry_sdk.types import Attempt
from ferry_sdk.types import JournalEntry
from ferry_sdk.types import RateLimiter
from ferry_sdk.types import RequestDigest
from ferry_sdk.hooks import CallInfo
from ferry_sdk.hooks import ConnectionsEvent
from ferry_sdk.hooks import EventHooks
from ferry_sdk.hooks import LimiterEvent
from ferry_sdk.hooks import OutcomeEvent
from ferry_sdk.hooks import RequestEvent
from ferry_sdk.hooks import ResponseEvent
from ferry_sdk.hooks import RetryEvent
from ferry_sdk.safety import Proof
from ferry_sdk.safety import SAFETY
from ferry_sdk.safety import Safety
from ferry_sdk._engine.correlation import correlation
from ferry_sdk._engine.http import RawResponse
from ferry_sdk._engine.http import Timeout
from ferry_sdk.client import AsyncFerry
from ferry_sdk.client import Ferry
from ferry_sdk.planning.calendar import CalendarDay
from ferry_sdk.planning.calendar import PriceCalendar
from ferry_sdk.planning.connections import ConnectionSearch
from ferry_sdk.planning.connections import Itinerary
from ferry_sdk.planning.names import PlaceMatch
from ferry_sdk.planning.routes import Route
from ferry_sdk.planning.streams import AsyncTripStream
from ferry_sdk.planning.streams import TripStream
from ferry_sdk.planning.trips import AskedSearch
from ferry_sdk.planning.trips import FailedSearch
from ferry_sdk.planning.trips import Fare
from ferry_sdk.planning.trips import SearchReport
from ferry_sdk.planning.trips import Trip
from ferry_sdk.planning.trips import TripSearch
from ferry_sdk.planning.vehicles import VehicleMatch
from ferry_sdk.rate.limiter import Rate

__all__ = [
    "APIError",
    "ActionType",
    "AgeBands",
    "AlreadyDoneError",
    "AmbiguousPlaceError",
    "AskedSearch",
    "AsyncFerry",
    "AsyncTripStream",
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
    "CalendarDay",
    "CallInfo",
    "CancellationFee",
    "Company",
    "ConfigurationError",
    "ConflictError",
    "ConnectionFailedError",
    "ConnectionSearch",
    "ConnectionsEvent",
    "Contact",
    "ContactDict",
    "Country",
    "Departure",
    "Direction",
    "EventHooks",
    "FailedSearch",
    "Fare",
    "Ferry",
    "FerryError",
    "Gender",
    "InvalidInputError",
    "Itinerary",
    "JournalEntry",
    "JournalError",
    "Journey",
    "LimiterEvent",
    "McpPort",
    "NextAction",
    "NoSailingsError",
    "NotFoundError",
    "OrderError",
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
    "PlaceMatch",
    "PlaceType",
    "PlaceUse",
    "Port",
    "PossibleAction",
    "PriceCalendar",
    "PriceChangedError",
    "Pricing",
    "Proof",
    "Rate",
    "RateLimitError",
    "RateLimiter",
    "RawResponse",
    "ReadOnlyError",
    "Records",
    "RequestDigest",
    "RequestEvent",
    "RequestTimeoutError",
    "ReservationType",
    "ResponseEvent",
    "RetryEvent",
    "Route",
    "SAFETY",
    "Safety",
    "ScheduledDeparture",
    "SearchPassenger",
    "SearchPassengerDict",
    "SearchReport",
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
    "Traveller",
    "TravellerDict",
    "TravellerProblem",
    "Travellers",
    "Trip",
    "TripSearch",
    "TripStream",
    "UnexpectedResponseError",
    "UnknownPlaceError",
    "UnprocessableEntityError",
    "Unreadable",
    "UnresolvedWriteError",
    "Vehicle",
    "VehicleBrand",
    "VehicleDict",
    "VehicleMatch",
    "VehicleModel",
    "VehicleQuery",
    "VehicleQueryDict",
    "VehicleType",
    "Voucher",
    "VoucherNotReadyError",
    "__version__",
    "correlation",
]
