"""Records and inputs. The public names are those of the table; each is loaded on first use.

`scripts/api-map` writes the stub beside this module from the table.
"""

from __future__ import annotations

from ferry_sdk._runtime.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "availability": "Availability Gateway InBoard Place Provider SailingCompany Tariff",
        "base": "Model",
        "bookings": """
            Balance Booking BookingCancellation BookingConfirmation BookingCreated Kept KeptLine
            NextAction PossibleAction Pricing Received Reverse
        """,
        "catalogue": """
            Company Country Departure Journey McpPort McpResource McpTool Port
            ScheduledDeparture VehicleBrand VehicleModel VehicleType
        """,
        "enums": """
            ActionType Direction Gender OpenEnum PassengerType PaymentStatus PlaceGender
            PlaceType PlaceUse ReservationType Stage TariffType TicketDirection TicketStatus
        """,
        "inputs": """
            Contact ContactDict Passenger PassengerDict SearchPassenger SearchPassengerDict
            Selection SelectionDict Traveller TravellerDict Vehicle VehicleDict VehicleQuery
            VehicleQueryDict
        """,
        "records": "Records Unreadable",
        "tickets": """
            CancellationFee PaymentRecorded Ticket TicketCancellation TicketJourney
            TicketJourneys TicketLeg TicketPassenger TicketVehicle Voucher
        """,
        "travellers": "AgeBands TravellerProblem Travellers",
    },
)
