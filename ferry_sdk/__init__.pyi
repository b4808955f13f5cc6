from ferry_sdk._runtime.version import __version__ as __version__
from ferry_sdk.errors import AlreadyDoneError as AlreadyDoneError
from ferry_sdk.errors import AmbiguousPlaceError as AmbiguousPlaceError
from ferry_sdk.errors import APIError as APIError
from ferry_sdk.errors import AuthenticationError as AuthenticationError
from ferry_sdk.errors import AvailabilityError as AvailabilityError
from ferry_sdk.errors import BadRequestError as BadRequestError
from ferry_sdk.errors import BookingConfirmError as BookingConfirmError
from ferry_sdk.errors import BookingCreateError as BookingCreateError
from ferry_sdk.errors import ConfigurationError as ConfigurationError
from ferry_sdk.errors import ConflictError as ConflictError
from ferry_sdk.errors import ConnectionFailedError as ConnectionFailedError
from ferry_sdk.errors import FerryError as FerryError
from ferry_sdk.errors import IdempotencyError as IdempotencyError
from ferry_sdk.errors import InvalidInputError as InvalidInputError
from ferry_sdk.errors import JournalError as JournalError
from ferry_sdk.errors import NoSailingsError as NoSailingsError
from ferry_sdk.errors import NotFoundError as NotFoundError
from ferry_sdk.errors import OrderError as OrderError
from ferry_sdk.errors import OutcomeUnknownError as OutcomeUnknownError
from ferry_sdk.errors import PenaltyExceededError as PenaltyExceededError
from ferry_sdk.errors import PermissionDeniedError as PermissionDeniedError
from ferry_sdk.errors import PriceChangedError as PriceChangedError
from ferry_sdk.errors import RateLimitError as RateLimitError
from ferry_sdk.errors import ReadOnlyError as ReadOnlyError
from ferry_sdk.errors import RequestTimeoutError as RequestTimeoutError
from ferry_sdk.errors import ServerError as ServerError
from ferry_sdk.errors import TicketCancelError as TicketCancelError
from ferry_sdk.errors import TicketNotFoundError as TicketNotFoundError
from ferry_sdk.errors import TicketViewError as TicketViewError
from ferry_sdk.errors import TransportError as TransportError
from ferry_sdk.errors import UnexpectedResponseError as UnexpectedResponseError
from ferry_sdk.errors import UnknownPlaceError as UnknownPlaceError
from ferry_sdk.errors import UnprocessableEntityError as UnprocessableEntityError
from ferry_sdk.errors import UnresolvedWriteError as UnresolvedWriteError
from ferry_sdk.errors import VoucherNotReadyError as VoucherNotReadyError
from ferry_sdk.models.availability import Availability as Availability
from ferry_sdk.models.availability import Place as Place
from ferry_sdk.models.availability import Tariff as Tariff
from ferry_sdk.models.bookings import Booking as Booking
from ferry_sdk.models.bookings import BookingCancellation as BookingCancellation
from ferry_sdk.models.bookings import BookingConfirmation as BookingConfirmation
from ferry_sdk.models.bookings import BookingCreated as BookingCreated
from ferry_sdk.models.bookings import NextAction as NextAction
from ferry_sdk.models.bookings import PossibleAction as PossibleAction
from ferry_sdk.models.bookings import Pricing as Pricing
from ferry_sdk.models.catalogue import Company as Company
from ferry_sdk.models.catalogue import Country as Country
from ferry_sdk.models.catalogue import Departure as Departure
from ferry_sdk.models.catalogue import Journey as Journey
from ferry_sdk.models.catalogue import McpPort as McpPort
from ferry_sdk.models.catalogue import Port as Port
from ferry_sdk.models.catalogue import ScheduledDeparture as ScheduledDeparture
from ferry_sdk.models.catalogue import VehicleBrand as VehicleBrand
from ferry_sdk.models.catalogue import VehicleModel as VehicleModel
from ferry_sdk.models.catalogue import VehicleType as VehicleType
from ferry_sdk.models.enums import ActionType as ActionType
from ferry_sdk.models.enums import Direction as Direction
from ferry_sdk.models.enums import Gender as Gender
from ferry_sdk.models.enums import PassengerType as PassengerType
from ferry_sdk.models.enums import PaymentStatus as PaymentStatus
from ferry_sdk.models.enums import PlaceGender as PlaceGender
from ferry_sdk.models.enums import PlaceType as PlaceType
from ferry_sdk.models.enums import PlaceUse as PlaceUse
from ferry_sdk.models.enums import ReservationType as ReservationType
from ferry_sdk.models.enums import Stage as Stage
from ferry_sdk.models.enums import TariffType as TariffType
from ferry_sdk.models.enums import TicketDirection as TicketDirection
from ferry_sdk.models.enums import TicketStatus as TicketStatus
from ferry_sdk.models.inputs import Contact as Contact
from ferry_sdk.models.inputs import ContactDict as ContactDict
from ferry_sdk.models.inputs import Passenger as Passenger
from ferry_sdk.models.inputs import PassengerDict as PassengerDict
from ferry_sdk.models.inputs import SearchPassenger as SearchPassenger
from ferry_sdk.models.inputs import SearchPassengerDict as SearchPassengerDict
from ferry_sdk.models.inputs import Selection as Selection
from ferry_sdk.models.inputs import SelectionDict as SelectionDict
from ferry_sdk.models.inputs import Traveller as Traveller
from ferry_sdk.models.inputs import TravellerDict as TravellerDict
from ferry_sdk.models.inputs import Vehicle as Vehicle
from ferry_sdk.models.inputs import VehicleDict as VehicleDict
from ferry_sdk.models.inputs import VehicleQuery as VehicleQuery
from ferry_sdk.models.inputs import VehicleQueryDict as VehicleQueryDict
from ferry_sdk.models.records import Records
from ferry_sdk.models.records import Unreadable as Unreadable
from ferry_sdk.models.tickets import CancellationFee as CancellationFee
from ferry_sdk.models.tickets import PaymentRecorded as PaymentRecorded
from ferry_sdk.models.tickets import Ticket as Ticket
from ferry_sdk.models.tickets import TicketCancellation as TicketCancellation
from ferry_sdk.models.tickets import TicketPassenger as TicketPassenger
from ferry_sdk.models.tickets import TicketVehicle as TicketVehicle
from ferry_sdk.models.tickets import Voucher as Voucher
from ferry_sdk.models.travellers import AgeBands as AgeBands
from ferry_sdk.models.travellers import TravellerProblem as TravellerProblem
from ferry_sdk.models.travellers import Travellers as Travellers
from ferry_sdk.types import Attempt as Attempt
from ferry_sdk.types import JournalEntry as JournalEntry
from ferry_sdk.types import RateLimiter as RateLimiter
from ferry_sdk.types import RequestDigest as RequestDigest
from ferry_sdk.hooks import CallInfo as CallInfo
from ferry_sdk.hooks import ConnectionsEvent as ConnectionsEvent
from ferry_sdk.hooks import EventHooks as EventHooks
from ferry_sdk.hooks import LimiterEvent as LimiterEvent
from ferry_sdk.hooks import OutcomeEvent as OutcomeEvent
from ferry_sdk.hooks import RequestEvent as RequestEvent
from ferry_sdk.hooks import ResponseEvent as ResponseEvent
from ferry_sdk.hooks import RetryEvent as RetryEvent
from ferry_sdk._engine.safety import Proof as Proof
from ferry_sdk._engine.safety import SAFETY as SAFETY
from ferry_sdk._engine.safety import Safety as Safety
from ferry_sdk._engine.correlation import correlation as correlation
from ferry_sdk._engine.http import RawResponse as RawResponse
from ferry_sdk._engine.http import Timeout as Timeout
from ferry_sdk.client import AsyncFerry as AsyncFerry
from ferry_sdk.client import Ferry as Ferry
from ferry_sdk.planning.calendar import CalendarDay as CalendarDay
from ferry_sdk.planning.calendar import PriceCalendar as PriceCalendar
from ferry_sdk.planning.connections import ConnectionSearch as ConnectionSearch
from ferry_sdk.planning.connections import Itinerary as Itinerary
from ferry_sdk.planning.names import PlaceMatch as PlaceMatch
from ferry_sdk.planning.results import AskedSearch as AskedSearch
from ferry_sdk.planning.results import FailedSearch as FailedSearch
from ferry_sdk.planning.results import Matches as Matches
from ferry_sdk.planning.results import SearchReport as SearchReport
from ferry_sdk.planning.results import UnreadableAnswer as UnreadableAnswer
from ferry_sdk.planning.routes import Route as Route
from ferry_sdk.planning.streams import AsyncTripStream as AsyncTripStream
from ferry_sdk.planning.streams import TripStream as TripStream
from ferry_sdk.planning.trips import Fare as Fare
from ferry_sdk.planning.trips import Trip as Trip
from ferry_sdk.planning.trips import TripSearch as TripSearch
from ferry_sdk.planning.vehicles import VehicleMatch as VehicleMatch
from ferry_sdk.rate.limiter import Rate as Rate

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
    "IdempotencyError",
    "InvalidInputError",
    "Itinerary",
    "JournalEntry",
    "JournalError",
    "Journey",
    "LimiterEvent",
    "Matches",
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
    "UnreadableAnswer",
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
