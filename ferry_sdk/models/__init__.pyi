# scripts/api-map writes this file from the table in `__init__.py`.

from ferry_sdk.models.availability import Availability
from ferry_sdk.models.availability import Gateway
from ferry_sdk.models.availability import InBoard
from ferry_sdk.models.availability import Place
from ferry_sdk.models.availability import Provider
from ferry_sdk.models.availability import SailingCompany
from ferry_sdk.models.availability import Tariff
from ferry_sdk.models.base import Model
from ferry_sdk.models.bookings import Balance
from ferry_sdk.models.bookings import Booking
from ferry_sdk.models.bookings import BookingCancellation
from ferry_sdk.models.bookings import BookingConfirmation
from ferry_sdk.models.bookings import BookingCreated
from ferry_sdk.models.bookings import Kept
from ferry_sdk.models.bookings import KeptLine
from ferry_sdk.models.bookings import NextAction
from ferry_sdk.models.bookings import PossibleAction
from ferry_sdk.models.bookings import Pricing
from ferry_sdk.models.bookings import Received
from ferry_sdk.models.bookings import Reverse
from ferry_sdk.models.catalogue import Company
from ferry_sdk.models.catalogue import Country
from ferry_sdk.models.catalogue import Departure
from ferry_sdk.models.catalogue import Journey
from ferry_sdk.models.catalogue import McpPort
from ferry_sdk.models.catalogue import McpResource
from ferry_sdk.models.catalogue import McpTool
from ferry_sdk.models.catalogue import Port
from ferry_sdk.models.catalogue import ScheduledDeparture
from ferry_sdk.models.catalogue import VehicleBrand
from ferry_sdk.models.catalogue import VehicleModel
from ferry_sdk.models.catalogue import VehicleType
from ferry_sdk.models.enums import ActionType
from ferry_sdk.models.enums import Direction
from ferry_sdk.models.enums import Gender
from ferry_sdk.models.enums import OpenEnum
from ferry_sdk.models.enums import PassengerType
from ferry_sdk.models.enums import PaymentStatus
from ferry_sdk.models.enums import PlaceGender
from ferry_sdk.models.enums import PlaceType
from ferry_sdk.models.enums import PlaceUse
from ferry_sdk.models.enums import ReservationType
from ferry_sdk.models.enums import Stage
from ferry_sdk.models.enums import TariffType
from ferry_sdk.models.enums import TicketDirection
from ferry_sdk.models.enums import TicketStatus
from ferry_sdk.models.inputs import Contact
from ferry_sdk.models.inputs import ContactDict
from ferry_sdk.models.inputs import Passenger
from ferry_sdk.models.inputs import PassengerDict
from ferry_sdk.models.inputs import SearchPassenger
from ferry_sdk.models.inputs import SearchPassengerDict
from ferry_sdk.models.inputs import Selection
from ferry_sdk.models.inputs import SelectionDict
from ferry_sdk.models.inputs import Traveller
from ferry_sdk.models.inputs import TravellerDict
from ferry_sdk.models.inputs import Vehicle
from ferry_sdk.models.inputs import VehicleDict
from ferry_sdk.models.inputs import VehicleQuery
from ferry_sdk.models.inputs import VehicleQueryDict
from ferry_sdk.models.records import Records
from ferry_sdk.models.records import Unreadable
from ferry_sdk.models.tickets import CancellationFee
from ferry_sdk.models.tickets import PaymentRecorded
from ferry_sdk.models.tickets import Ticket
from ferry_sdk.models.tickets import TicketCancellation
from ferry_sdk.models.tickets import TicketJourney
from ferry_sdk.models.tickets import TicketJourneys
from ferry_sdk.models.tickets import TicketLeg
from ferry_sdk.models.tickets import TicketPassenger
from ferry_sdk.models.tickets import TicketVehicle
from ferry_sdk.models.tickets import Voucher
from ferry_sdk.models.travellers import AgeBands
from ferry_sdk.models.travellers import TravellerProblem
from ferry_sdk.models.travellers import Travellers

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
