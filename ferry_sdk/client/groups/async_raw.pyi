# scripts/api-map writes this file from the methods of the groups.

from collections.abc import Awaitable
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from datetime import date
from datetime import datetime
from datetime import time
from decimal import Decimal
from ferry_sdk._engine.http import RawResponse
from ferry_sdk.models.availability import Availability
from ferry_sdk.models.bookings import Booking
from ferry_sdk.models.bookings import BookingCancellation
from ferry_sdk.models.bookings import BookingConfirmation
from ferry_sdk.models.bookings import BookingCreated
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
from ferry_sdk.models.inputs import Contact
from ferry_sdk.models.inputs import ContactDict
from ferry_sdk.models.inputs import Passenger
from ferry_sdk.models.inputs import PassengerDict
from ferry_sdk.models.inputs import SearchPassenger
from ferry_sdk.models.inputs import SearchPassengerDict
from ferry_sdk.models.inputs import Selection
from ferry_sdk.models.inputs import SelectionDict
from ferry_sdk.models.inputs import Traveller
from ferry_sdk.models.inputs import Vehicle
from ferry_sdk.models.inputs import VehicleDict
from ferry_sdk.models.inputs import VehicleQuery
from ferry_sdk.models.inputs import VehicleQueryDict
from ferry_sdk.models.records import Records
from ferry_sdk.models.tickets import CancellationFee
from ferry_sdk.models.tickets import PaymentRecorded
from ferry_sdk.models.tickets import Ticket
from ferry_sdk.models.tickets import TicketCancellation
from ferry_sdk.models.tickets import Voucher
from ferry_sdk.resources import arguments
from ferry_sdk.resources.base import AnyTransport
from ferry_sdk.resources.base import Resource
from ferry_sdk.resources.conditions import Until
from pathlib import Path
from pydantic import JsonValue
import os

class AvailabilityGroup(Resource):
    async def search(
        self,
        *,
        company: str,
        depart_code: str,
        arrive_code: str,
        out_journey_id: str,
        out_at: date | str,
        out_time: time | datetime | str,
        passengers: Sequence[SearchPassenger | SearchPassengerDict | Traveller],
        out_is_open: bool | None = None,
        ret_journey_id: str | None = None,
        ret_at: date | str | None = None,
        ret_time: time | datetime | str | None = None,
        ret_is_open: bool | None = None,
        vehicle: VehicleQuery | VehicleQueryDict | None = None,
    ) -> RawResponse[Records[Availability]]: ...

class BookingsGroup(Resource):
    async def create(
        self,
        *,
        availabilities: Sequence[Selection | SelectionDict],
        passengers: Sequence[Passenger | PassengerDict | Traveller],
        reservation_type: arguments.ReservationTypeName | str | None = None,
        vehicle: Vehicle | VehicleDict | None = None,
        contact: Contact | ContactDict | None = None,
        idempotency_key: str | None = None,
    ) -> RawResponse[BookingCreated]: ...
    async def confirm(
        self,
        booking_id: str,
        *,
        expect_total: Decimal | int | str | None = None,
        currency: str | None = None,
    ) -> RawResponse[BookingConfirmation]: ...
    async def get(self, booking_id: str) -> RawResponse[Booking]: ...
    async def wait(
        self,
        booking_id: str,
        *,
        until: Until,
        deadline: float,
        on_progress: Callable[[Booking], Awaitable[None] | None] | None = None,
    ) -> RawResponse[Booking]: ...
    async def cancel(
        self,
        booking_id: str,
        *,
        booking_reference: str | None = None,
        max_penalty: Decimal | int | str | None = None,
        min_refund: Decimal | int | str | None = None,
        currency: str | None = None,
    ) -> RawResponse[BookingCancellation]: ...
    async def cancel_fee(self, id: str) -> RawResponse[CancellationFee]: ...

class TicketsGroup(Resource):
    async def get(self, ticket_id: str) -> RawResponse[Ticket]: ...
    async def cancel(
        self,
        ticket_id: str,
        *,
        ticket_number: str | None = None,
        max_penalty: Decimal | int | str | None = None,
        min_refund: Decimal | int | str | None = None,
        currency: str | None = None,
    ) -> RawResponse[TicketCancellation]: ...
    async def cancel_fee(self, id: str) -> RawResponse[CancellationFee]: ...
    async def pdf(self, ticket_id: str) -> RawResponse[Voucher]: ...
    async def wait_pdf(
        self,
        ticket_id: str,
        *,
        deadline: float,
        on_progress: Callable[[Voucher], Awaitable[None] | None] | None = None,
    ) -> RawResponse[Voucher]: ...
    async def save_pdf(self, ticket_id: str, path: str | os.PathLike[str]) -> RawResponse[Path]: ...
    async def read_pdf(self, ticket_id: str) -> RawResponse[bytes]: ...
    async def mark_paid(
        self,
        ticket_id: str,
        *,
        external_payment_ref: str,
        psp: str | None = None,
        paid_at: datetime | str | None = None,
        booking_id: str | None = None,
    ) -> RawResponse[PaymentRecorded]: ...

class CatalogueGroup(Resource):
    async def ports(self) -> RawResponse[Records[Port]]: ...
    async def journeys(self) -> RawResponse[Records[Journey]]: ...
    async def departures(
        self,
        provider_id: str,
        *,
        journey_ids: Sequence[str] | None = None,
    ) -> RawResponse[Records[Departure]]: ...
    async def vehicle_brands(self) -> RawResponse[Records[VehicleBrand]]: ...
    async def vehicle_types(self) -> RawResponse[Records[VehicleType]]: ...

class McpGroup(Resource):
    async def search_availability(
        self,
        *,
        company: str,
        depart_code: str,
        arrive_code: str,
        out_journey_id: str,
        out_at: date | str,
        out_time: time | datetime | str,
        passengers: Sequence[SearchPassenger | SearchPassengerDict | Traveller],
        out_is_open: bool | None = None,
        ret_journey_id: str | None = None,
        ret_at: date | str | None = None,
        ret_time: time | datetime | str | None = None,
        ret_is_open: bool | None = None,
        vehicle: VehicleQuery | VehicleQueryDict | None = None,
    ) -> RawResponse[Records[Availability]]: ...
    async def create_booking(
        self,
        *,
        passengers: Sequence[Passenger | PassengerDict | Traveller],
        id: str | None = None,
        availabilities: Sequence[Selection | SelectionDict] | None = None,
        reservation_type: arguments.ReservationTypeName | str | None = None,
        vehicle: Vehicle | VehicleDict | None = None,
        contact: Contact | ContactDict | None = None,
        idempotency_key: str | None = None,
    ) -> RawResponse[BookingCreated]: ...
    async def confirm_booking(self, booking_id: str) -> RawResponse[BookingConfirmation]: ...
    async def view_ticket(self, ticket_id: str) -> RawResponse[Ticket]: ...
    async def cancel_ticket(
        self,
        ticket_id: str,
        *,
        ticket_number: str | None = None,
    ) -> RawResponse[TicketCancellation]: ...
    async def ports(self) -> RawResponse[Records[McpPort]]: ...
    async def companies(self) -> RawResponse[Records[Company]]: ...
    async def countries(self) -> RawResponse[Records[Country]]: ...
    async def vehicle_brands(self) -> RawResponse[Records[VehicleBrand]]: ...
    async def vehicle_data(self) -> RawResponse[Records[VehicleModel]]: ...
    async def departures(self) -> RawResponse[Records[ScheduledDeparture]]: ...
    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, object],
    ) -> RawResponse[JsonValue]: ...
    async def read_resource(self, uri: str) -> RawResponse[JsonValue]: ...
    async def list_tools(self) -> RawResponse[Records[McpTool]]: ...
    async def list_resources(self) -> RawResponse[Records[McpResource]]: ...

class Groups:
    def __init__(self, transport: AnyTransport) -> None: ...
    @property
    def availability(self) -> AvailabilityGroup: ...
    @property
    def bookings(self) -> BookingsGroup: ...
    @property
    def tickets(self) -> TicketsGroup: ...
    @property
    def catalogue(self) -> CatalogueGroup: ...
    @property
    def mcp(self) -> McpGroup: ...
