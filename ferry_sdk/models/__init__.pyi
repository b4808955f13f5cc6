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
from ferry_sdk.models.availability import Gateway as Gateway
from ferry_sdk.models.availability import InBoard as InBoard
from ferry_sdk.models.availability import Provider as Provider
from ferry_sdk.models.availability import SailingCompany as SailingCompany
from ferry_sdk.models.bookings import Balance as Balance
from ferry_sdk.models.bookings import Kept as Kept
from ferry_sdk.models.bookings import KeptLine as KeptLine
from ferry_sdk.models.bookings import Received as Received
from ferry_sdk.models.bookings import Reverse as Reverse
from ferry_sdk.models.catalogue import McpResource as McpResource
from ferry_sdk.models.catalogue import McpTool as McpTool
from ferry_sdk.models.enums import OpenEnum as OpenEnum
from ferry_sdk.models.tickets import TicketJourney as TicketJourney
from ferry_sdk.models.tickets import TicketJourneys as TicketJourneys
from ferry_sdk.models.tickets import TicketLeg as TicketLeg
from ferry_sdk.models.base import Model as Model

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
