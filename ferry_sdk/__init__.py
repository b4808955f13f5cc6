"""A typed client for a ferry ticketing gateway: REST and MCP, sync and async.

The public names are those of the table below; each is loaded on first use. `scripts/api-map` writes
the stub beside this module from the table.
"""

from __future__ import annotations

from ferry_sdk._runtime.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_runtime.version": "__version__",
        "errors": """
            AlreadyDoneError AmbiguousPlaceError APIError AuthenticationError AvailabilityError
            BadRequestError BookingConfirmError BookingCreateError ConfigurationError
            ConflictError ConnectionFailedError FerryError InvalidInputError JournalError
            NoSailingsError NotFoundError OrderError OutcomeUnknownError PenaltyExceededError
            PermissionDeniedError PriceChangedError RateLimitError ReadOnlyError
            RequestTimeoutError ServerError TicketCancelError TicketNotFoundError
            TicketViewError TransportError UnexpectedResponseError UnknownPlaceError
            UnprocessableEntityError UnresolvedWriteError VoucherNotReadyError
        """,
        "models.availability": "Availability Place Tariff",
        "models.bookings": """
            Booking BookingCancellation BookingConfirmation BookingCreated NextAction
            PossibleAction Pricing
        """,
        "models.catalogue": """
            Company Country Departure Journey McpPort Port ScheduledDeparture VehicleBrand
            VehicleModel VehicleType
        """,
        "models.enums": """
            ActionType Direction Gender PassengerType PaymentStatus PlaceGender PlaceType PlaceUse
            ReservationType Stage TariffType TicketDirection TicketStatus
        """,
        "models.inputs": """
            Contact ContactDict Passenger PassengerDict SearchPassenger SearchPassengerDict
            Selection SelectionDict Traveller TravellerDict Vehicle VehicleDict VehicleQuery
            VehicleQueryDict
        """,
        "models.records": "Records Unreadable",
        "models.tickets": """
            CancellationFee PaymentRecorded Ticket TicketCancellation TicketPassenger TicketVehicle
            Voucher
        """,
        "models.travellers": "AgeBands TravellerProblem Travellers",
        "types": "Attempt JournalEntry RateLimiter RequestDigest",
        "hooks": """
            CallInfo ConnectionsEvent EventHooks LimiterEvent OutcomeEvent RequestEvent
            ResponseEvent RetryEvent
        """,
        "_engine.safety": "Proof SAFETY Safety",
        "_engine.correlation": "correlation",
        "_engine.http": "RawResponse Timeout",
        "client": "AsyncFerry Ferry",
        "planning.calendar": "CalendarDay PriceCalendar",
        "planning.connections": "ConnectionSearch Itinerary",
        "planning.names": "PlaceMatch",
        "planning.routes": "Route",
        "planning.streams": "AsyncTripStream TripStream",
        "planning.trips": "AskedSearch FailedSearch Fare SearchReport Trip TripSearch",
        "planning.vehicles": "VehicleMatch",
        "_transport.rate.limiter": "Rate",
    },
)
