"""The service's MCP endpoint, by the service's own names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from typing import Final

from pydantic import JsonValue

from ferry_sdk._engine.operation import Operation, Write
from ferry_sdk._engine.parsing import Json, Record, RecordList
from ferry_sdk._protocols.json_body import normalize_json
from ferry_sdk._protocols.mcp.call import Mcp
from ferry_sdk._protocols.paths import identifier
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.availability import Availability
from ferry_sdk.models.bookings import BookingConfirmation, BookingCreated
from ferry_sdk.models.catalogue import VehicleBrand
from ferry_sdk.models.inputs import (
    Contact,
    ContactDict,
    Passenger,
    PassengerDict,
    SearchPassenger,
    SearchPassengerDict,
    Selection,
    SelectionDict,
    Vehicle,
    VehicleDict,
    VehicleQuery,
    VehicleQueryDict,
)
from ferry_sdk.models.mcp import (
    Company,
    Country,
    McpPort,
    McpResource,
    McpTool,
    ScheduledDeparture,
    VehicleModel,
)
from ferry_sdk.models.records import Records
from ferry_sdk.models.tickets import Ticket, TicketCancellation
from ferry_sdk.resources import arguments
from ferry_sdk.resources.base import Resource, TransportT_co, method
from ferry_sdk.resources.read_back import read_back
from ferry_sdk.safety import SAFETY, safety_of_tool

_IDS: Final[Mapping[str, tuple[str, str]]] = {
    "confirm_booking": ("id", "booking_id"),
    "view_ticket": ("id", "id"),
    "cancel_ticket": ("ticket_id", "ticket_id"),
}
"""Which argument of a tool is an id, and which member of its answer repeats it."""


class McpGroup(Resource[TransportT_co]):
    """The service over MCP: five tools, six catalogues, and whatever else the server has."""

    @method
    def search_availability(
        self,
        *,
        company: str,
        depart_code: str,
        arrive_code: str,
        out_journey_id: str,
        out_at: date | str,
        out_time: time | datetime | str,
        passengers: Sequence[SearchPassenger | SearchPassengerDict],
        out_is_open: bool | None = None,
        ret_journey_id: str | None = None,
        ret_at: date | str | None = None,
        ret_time: time | datetime | str | None = None,
        ret_is_open: bool | None = None,
        vehicle: VehicleQuery | VehicleQueryDict | None = None,
    ) -> Operation[Records[Availability]]:
        """Search sailings, as `availability.search` does.

        Interface: tools/call search_availability.

        Raises:
            InvalidInputError: An argument cannot be sent; `field` names it.
            AvailabilityError: Nothing sails, or the search failed.
            FerryError: Anything else that went wrong.
        """
        body = arguments.search(
            company=company,
            depart_code=depart_code,
            arrive_code=arrive_code,
            out_journey_id=out_journey_id,
            out_at=out_at,
            out_time=out_time,
            passengers=passengers,
            out_is_open=out_is_open,
            ret_journey_id=ret_journey_id,
            ret_at=ret_at,
            ret_time=ret_time,
            ret_is_open=ret_is_open,
            vehicle=vehicle,
        )
        return Operation(
            Mcp.tool("search_availability", body, gives_list=True),
            RecordList(Availability),
            SAFETY["mcp.search_availability"],
        )

    @method
    def create_booking(
        self,
        *,
        passengers: Sequence[Passenger | PassengerDict],
        id: str | None = None,  # noqa: A002 -- the wire's name
        availabilities: Sequence[Selection | SelectionDict] | None = None,
        reservation_type: arguments.ReservationTypeName | str | None = None,
        vehicle: Vehicle | VehicleDict | None = None,
        contact: Contact | ContactDict | None = None,
    ) -> Operation[BookingCreated]:
        """Book what a search found. It is sent once.

        Interface: tools/call create_booking.

        Args:
            passengers: Who travels, as on the travel documents.
            id: An id from the search, instead of `availabilities`.
            availabilities: One selection a direction.
            reservation_type: TICKET, PRESALE or OPTION, as the tariff is.
            vehicle: The vehicle that was searched with.
            contact: Whom the carrier reaches.

        Raises:
            InvalidInputError: An argument cannot be sent, or a tariff has expired or must not be
                paired with another carrier; `field` names it.
            UnresolvedWriteError: The same booking is on record and may have been made.
            BookingCreateError: The service made no booking.
            OutcomeUnknownError: The booking may have been made.
            FerryError: Anything else that went wrong.
        """
        if (id is None) == (availabilities is None):
            raise InvalidInputError("either id or availabilities is expected", field="id")
        chosen = None if availabilities is None else arguments.selections(availabilities)
        named = {} if id is None else {"id": identifier(id, "id")}
        body, identity = (
            named
            | arguments.booking(
                words,
                availabilities=chosen,
                passengers=passengers,
                reservation_type=reservation_type,
                vehicle=vehicle,
                contact=contact,
            )
            for words in (arguments.MCP_WORDS, arguments.REST_WORDS)
        )
        return Operation(
            Mcp.tool("create_booking", body),
            Record(BookingCreated),
            SAFETY["mcp.create_booking"],
            Write(identity, expiries=arguments.expiries(chosen or ())),
        )

    @method
    def confirm_booking(self, booking_id: str) -> Operation[BookingConfirmation]:
        """Confirm a booking, as `bookings.confirm` does; it is read back over REST.

        Interface: tools/call confirm_booking.

        Raises:
            BookingConfirmError: The service did not confirm it.
            OutcomeUnknownError: It may have been confirmed.
            FerryError: Anything else that went wrong.
        """
        subject = {"booking_id": identifier(booking_id, "booking_id")}
        row = SAFETY["mcp.confirm_booking"]
        return Operation(
            Mcp.tool("confirm_booking", {"id": booking_id}),
            Record(BookingConfirmation, booking_id=booking_id),
            row,
            Write(subject, subject, read_back(row, subject)),
        )

    @method
    def view_ticket(self, ticket_id: str) -> Operation[Ticket]:
        """Read one ticket.

        Interface: tools/call view_ticket.

        Raises:
            TicketNotFoundError: There is no such ticket.
            FerryError: Anything else that went wrong.
        """
        return Operation(
            Mcp.tool("view_ticket", {"id": identifier(ticket_id, "ticket_id")}),
            Record(Ticket, id=ticket_id),
            SAFETY["mcp.view_ticket"],
        )

    @method
    def cancel_ticket(
        self, ticket_id: str, *, ticket_number: str | None = None
    ) -> Operation[TicketCancellation]:
        """Cancel one ticket before its departure, as `tickets.cancel` does; fees may apply.

        Interface: tools/call cancel_ticket.

        Args:
            ticket_id: The ticket.
            ticket_number: The carrier's reference, to be sure of the ticket.

        Raises:
            TicketCancelError: The service did not cancel it.
            OutcomeUnknownError: It may have been cancelled.
            FerryError: Anything else that went wrong.
        """
        subject = {"ticket_id": identifier(ticket_id, "ticket_id")}
        body = arguments.given(
            **subject, ticket_number=arguments.optional(ticket_number, "ticket_number")
        )
        row = SAFETY["mcp.cancel_ticket"]
        return Operation(
            Mcp.tool("cancel_ticket", body),
            Record(TicketCancellation, ticket_id=ticket_id),
            row,
            Write(subject, subject, read_back(row, subject)),
        )

    @method
    def ports(self) -> Operation[Records[McpPort]]:
        """Ports with cities and positions. Interface: resource://service/ports."""
        return Operation(Mcp.resource("ports"), RecordList(McpPort), SAFETY["mcp.ports"])

    @method
    def companies(self) -> Operation[Records[Company]]:
        """Ferry companies with logos. Interface: resource://service/companies."""
        return Operation(Mcp.resource("companies"), RecordList(Company), SAFETY["mcp.companies"])

    @method
    def countries(self) -> Operation[Records[Country]]:
        """Countries with phone prefixes. Interface: resource://service/countries."""
        return Operation(Mcp.resource("countries"), RecordList(Country), SAFETY["mcp.countries"])

    @method
    def vehicle_brands(self) -> Operation[Records[VehicleBrand]]:
        """Makes of vehicles. Interface: resource://service/vehicle-brands."""
        return Operation(
            Mcp.resource("vehicle-brands"), RecordList(VehicleBrand), SAFETY["mcp.vehicle_brands"]
        )

    @method
    def vehicle_data(self) -> Operation[Records[VehicleModel]]:
        """Models of vehicles with their sizes. Interface: resource://service/vehicle-data."""
        return Operation(
            Mcp.resource("vehicle-data"), RecordList(VehicleModel), SAFETY["mcp.vehicle_data"]
        )

    @method
    def departures(self) -> Operation[Records[ScheduledDeparture]]:
        """Scheduled departures. Interface: resource://service/departures."""
        return Operation(
            Mcp.resource("departures"), RecordList(ScheduledDeparture), SAFETY["mcp.departures"]
        )

    @method
    def call_tool(self, name: str, arguments: Mapping[str, object]) -> Operation[JsonValue]:
        """Call any tool of the server's. A tool that is not known counts as a write.

        A write is sent once, and not read back.

        Interface: MCP endpoint, method tools/call.

        Args:
            name: The tool.
            arguments: Its arguments, in the wire's own words.

        Returns:
            The decoded JSON value, out of whatever envelope it came in.

        Raises:
            OutcomeUnknownError: A write that may have happened.
            FerryError: Anything else that went wrong.
        """
        called = {"name": identifier(name, "name"), "arguments": normalize_json(arguments)}
        row = safety_of_tool(name)
        return Operation(
            Mcp("tools/call", called),
            Json(**_asked(name, arguments)),
            row,
            None if row.is_read else Write(called),
        )

    @method
    def read_resource(self, uri: str) -> Operation[JsonValue]:
        """Read any resource of the server's.

        Interface: MCP endpoint, method resources/read.

        Args:
            uri: The resource, as ``resource://service/ports``.

        Returns:
            The decoded JSON value, or the text where it is not JSON.

        Raises:
            NotFoundError: There is no such resource.
            FerryError: Anything else that went wrong.
        """
        return Operation(Mcp.read(identifier(uri, "uri")), Json(), SAFETY["mcp.read_resource"])

    @method
    def list_tools(self) -> Operation[Records[McpTool]]:
        """The server's tools, where it can list them.

        Interface: MCP endpoint, method tools/list.

        Raises:
            NotFoundError: The server cannot list them.
            FerryError: Anything else that went wrong.
        """
        return Operation(
            Mcp.listing("tools/list"), RecordList(McpTool, member="tools"), SAFETY["mcp.list_tools"]
        )

    @method
    def list_resources(self) -> Operation[Records[McpResource]]:
        """The server's resources, where it can list them.

        Interface: MCP endpoint, method resources/list.

        Raises:
            NotFoundError: The server cannot list them.
            FerryError: Anything else that went wrong.
        """
        return Operation(
            Mcp.listing("resources/list"),
            RecordList(McpResource, member="resources"),
            SAFETY["mcp.list_resources"],
        )


def _asked(tool: str, arguments: Mapping[str, object]) -> dict[str, str]:
    """The id that a tool is asked about, by the member of its answer that repeats it."""
    argument, member = _IDS.get(tool, ("", ""))
    asked = arguments.get(argument)
    return {member: asked} if isinstance(asked, str) else {}
