"""Call the service over MCP. Tools have the names that the service gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import JsonValue

from ferry_sdk._engine.operation import Operation, Write
from ferry_sdk._engine.parsing import Passthrough, Record
from ferry_sdk._engine.safety import SAFETY, safety_of_tool
from ferry_sdk._protocols.json_body import encode_json, normalize_json
from ferry_sdk._protocols.mcp.call import Mcp
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.availability import Availability
from ferry_sdk.models.bookings import BookingConfirmation, BookingCreated
from ferry_sdk.models.catalogue import (
    Company,
    Country,
    McpPort,
    McpResource,
    McpTool,
    ScheduledDeparture,
    VehicleBrand,
    VehicleModel,
)
from ferry_sdk.models.inputs import (
    Contact,
    ContactDict,
    Passenger,
    PassengerDict,
    Selection,
    SelectionDict,
    Traveller,
    Vehicle,
    VehicleDict,
)
from ferry_sdk.models.records import Records
from ferry_sdk.models.tickets import Ticket, TicketCancellation
from ferry_sdk.resources import arguments, bodies
from ferry_sdk.resources.arguments import identifier
from ferry_sdk.resources.base import Resource, method, read_list, with_arguments
from ferry_sdk.resources.bodies import SearchArguments
from ferry_sdk.resources.read_back import change, read_back_created, read_ticket
from ferry_sdk.types import IdempotencyKey

_IDS: Final[Mapping[str, tuple[str, str]]] = {
    "confirm_booking": ("id", "booking_id"),
    "view_ticket": ("id", "id"),
    "cancel_ticket": ("ticket_id", "ticket_id"),
}
"""The id argument of each tool, and the member of its answer that repeats the id."""


class McpGroup(Resource):
    """Call the service over MCP: five tools, six catalogues, and any other tool or resource."""

    @method
    @with_arguments(SearchArguments)
    def search_availability(self, request: SearchArguments) -> Operation[Records[Availability]]:
        """Search sailings, as `availability.search` does.

        Interface: tools/call search_availability.

        Raises:
            InvalidInputError: An argument is invalid; `field` names it.
            AvailabilityError: No sailing fits, or the search failed; `field` names a wrong
                argument, if known.
            FerryError: The call failed for another reason.

        Example:
            ```python
            from datetime import date, timedelta

            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                (route,) = ferry.routes.find("Tarifa", "MATNG")
                sailings = ferry.mcp.search_availability(
                    company="BALEARIA",
                    depart_code=route.depart_code,
                    arrive_code=route.arrive_code,
                    out_journey_id=route.journey_id,
                    out_at=date.today() + timedelta(days=30),
                    out_time="08:00",
                    passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
                )
                print(sailings[0].ship_name, sailings[0].travel_time)
                # > Eleanor Roosevelt 1:00:00
            ```
        """
        body = request.body()
        return read_list(
            "mcp.search_availability",
            Mcp.tool("search_availability", body, gives_list=True),
            Availability,
            argument_names={"request.": ""},
            sharing_key=encode_json(body),
        )

    @method
    def create_booking(
        self,
        *,
        passengers: Sequence[Passenger | PassengerDict | Traveller],
        id: str | None = None,  # noqa: A002 -- the wire's name
        availabilities: Sequence[Selection | SelectionDict] | None = None,
        reservation_type: arguments.ReservationTypeName | str | None = None,
        vehicle: Vehicle | VehicleDict | None = None,
        contact: Contact | ContactDict | None = None,
        idempotency_key: str | None = None,
    ) -> Operation[BookingCreated]:
        """Create a booking, as `bookings.create` does. A failed reply is read back over REST.

        Interface: tools/call create_booking.

        Args:
            passengers: The travellers, named as on their travel documents.
            id: An id from the search, instead of `availabilities`.
            availabilities: One selection for each direction.
            reservation_type: TICKET, PRESALE or OPTION; None: that of the tariff, if selected.
            vehicle: The vehicle of the search.
            contact: The person whom the ferry company can reach.
            idempotency_key: Your id of the booking, in both protocols, as for `bookings.create`.

        Raises:
            InvalidInputError: An argument is invalid, or a tariff has expired or cannot be
                combined with another company; `field` names it.
            ReadOnlyError: The client can only read.
            IdempotencyError: The key was used for another booking.
            UnresolvedWriteError: The journal has the same booking with an unknown outcome, or the
                booking of the key, which cannot be read.
            ConfigurationError: There is a key, and no journal.
            BookingCreateError: The service did not create the booking.
            OutcomeUnknownError: The booking may have been created; `booking_id` is its id if the
                reply named it.
            FerryError: The call failed for another reason.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox, crossing

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                booking = ferry.mcp.create_booking(**crossing(ferry))
                print(booking.stage, booking.total_price, booking.currency)
                # > payment_due 16.05 EUR
            ```
        """
        if (id is None) == (availabilities is None):
            raise InvalidInputError("expected either id or availabilities", field="id")
        chosen = [] if availabilities is None else bodies.selections(availabilities)
        by_id = {} if id is None else {"id": identifier(id, "id")}
        key: IdempotencyKey | None = None
        if idempotency_key is not None:
            passengers = bodies.to_sequence(passengers)
            key = bodies.key_for(
                idempotency_key,
                chosen or [by_id],
                passengers,
                vehicle=vehicle,
                contact=contact,
            )

        booking = bodies.booking(
            chosen,
            passengers,
            reservation_type=reservation_type,
            vehicle=vehicle,
            contact=contact,
        )

        # The identity has the types as REST spells them: it is that of `bookings.create`.
        identity = by_id | booking
        body = identity | {"passengers": bodies.mcp_passengers(booking["passengers"])}
        call = Mcp.tool("create_booking", body)
        write: Write[BookingCreated] = Write(
            identity,
            {},
            expiries=bodies.expiries(chosen),
            read_back_named=read_back_created,
            idempotency_key=key,
        )
        return Operation(call, Record(BookingCreated), SAFETY["mcp.create_booking"], write=write)

    @method
    def confirm_booking(self, booking_id: str) -> Operation[BookingConfirmation]:
        """Confirm a booking, as `bookings.confirm` does. A lost reply is read back over REST.

        Interface: tools/call confirm_booking.

        Raises:
            InvalidInputError: The id is empty, ``.`` or ``..``.
            ReadOnlyError: The client can only read.
            UnresolvedWriteError: The journal has the same write with an unknown outcome.
            AlreadyDoneError: The booking was confirmed before.
            BookingConfirmError: It was not confirmed.
            OutcomeUnknownError: The booking may have been confirmed.
            FerryError: The call failed for another reason.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox, crossing

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                booking = ferry.bookings.create(**crossing(ferry))
                print(ferry.mcp.confirm_booking(booking.booking_id).status)
                # > confirmed
            ```
        """
        subject = {"booking_id": identifier(booking_id, "booking_id")}
        call = Mcp.tool("confirm_booking", {"id": booking_id})
        return change("mcp.confirm_booking", call, BookingConfirmation, subject=subject)

    @method
    def view_ticket(self, ticket_id: str) -> Operation[Ticket]:
        """Read one ticket.

        Interface: tools/call view_ticket.

        Raises:
            InvalidInputError: The id is empty, ``.`` or ``..``.
            TicketNotFoundError: There is no such ticket.
            FerryError: The call failed for another reason.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox, crossing

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                booking = ferry.bookings.create(**crossing(ferry))
                ticket_id = ferry.mcp.confirm_booking(booking.booking_id).ticket_id
                ticket = ferry.mcp.view_ticket(ticket_id)
                print(ticket.status, len(ticket.passengers))
                # > Issued 1
            ```
        """
        return read_ticket(identifier(ticket_id, "ticket_id"), SAFETY["mcp.view_ticket"])

    @method
    def cancel_ticket(
        self, ticket_id: str, *, ticket_number: str | None = None
    ) -> Operation[TicketCancellation]:
        """Cancel one ticket before its departure, as `tickets.cancel` does; fees may apply.

        Interface: tools/call cancel_ticket.

        Args:
            ticket_id: The ticket.
            ticket_number: The company's reference, as an additional check.

        Raises:
            InvalidInputError: The id is empty, ``.`` or ``..``.
            ReadOnlyError: The client can only read.
            UnresolvedWriteError: The journal has the same write with an unknown outcome.
            AlreadyDoneError: The ticket was cancelled before.
            TicketCancelError: There is no such ticket, or the service did not cancel it.
            OutcomeUnknownError: The ticket may have been cancelled.
            FerryError: The call failed for another reason.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox, crossing

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                booking = ferry.bookings.create(**crossing(ferry))
                ticket_id = ferry.mcp.confirm_booking(booking.booking_id).ticket_id
                ferry.mcp.cancel_ticket(ticket_id)
                print(ferry.mcp.view_ticket(ticket_id).status)
                # > Canceled
            ```
        """
        subject = {"ticket_id": identifier(ticket_id, "ticket_id")}
        number = arguments.optional(ticket_number, "ticket_number")
        call = Mcp.tool("cancel_ticket", arguments.drop_none({**subject, "ticket_number": number}))
        return change("mcp.cancel_ticket", call, TicketCancellation, subject=subject)

    @method
    def ports(self) -> Operation[Records[McpPort]]:
        """List ports with cities and positions.

        Interface: resource://service/ports.

        Raises:
            FerryError: The resource could not be read; `ServerError` if the service failed.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                ports = ferry.mcp.ports()
                print(len(ports), ports[0].name, ports[0].city)
                # > 183 Marseille Marseille
            ```
        """
        return read_list("mcp.ports", Mcp.resource("ports"), McpPort)

    @method
    def companies(self) -> Operation[Records[Company]]:
        """List ferry companies with logos.

        Interface: resource://service/companies.

        Raises:
            FerryError: The resource could not be read; `ServerError` if the service failed.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                companies = ferry.mcp.companies()
                print(len(companies), companies[0].name)
                # > 59 GNV (Grandi Navi Veloci)
            ```
        """
        return read_list("mcp.companies", Mcp.resource("companies"), Company)

    @method
    def countries(self) -> Operation[Records[Country]]:
        """List countries with phone prefixes.

        Interface: resource://service/countries.

        Raises:
            FerryError: The resource could not be read; `ServerError` if the service failed.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                countries = ferry.mcp.countries()
                print(countries[0].name, countries[0].phone_prefix)
                # > Albania +355
            ```
        """
        return read_list("mcp.countries", Mcp.resource("countries"), Country)

    @method
    def vehicle_brands(self) -> Operation[Records[VehicleBrand]]:
        """List makes of vehicles.

        Interface: resource://service/vehicle-brands.

        Raises:
            FerryError: The resource could not be read; `ServerError` if the service failed.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                brands = ferry.mcp.vehicle_brands()
                print(len(brands), brands[0].name)
                # > 48 Abarth
            ```
        """
        return read_list("mcp.vehicle_brands", Mcp.resource("vehicle-brands"), VehicleBrand)

    @method
    def vehicle_data(self) -> Operation[Records[VehicleModel]]:
        """List models of vehicles with sizes.

        Interface: resource://service/vehicle-data.

        Raises:
            FerryError: The resource could not be read; `ServerError` if the service failed.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                model = ferry.mcp.vehicle_data()[0]
                print(model.brand, model.model, model.length)
                # > Abarth 595 3.66
            ```
        """
        return read_list("mcp.vehicle_data", Mcp.resource("vehicle-data"), VehicleModel)

    @method
    def departures(self) -> Operation[Records[ScheduledDeparture]]:
        """List scheduled departures.

        Interface: resource://service/departures.

        Raises:
            FerryError: The resource could not be read; `ServerError` if the service failed.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                departure = ferry.mcp.departures()[0]
                print(departure.depart_code, "to", departure.arrive_code)
                # > ITGOA to TNLGN
            ```
        """
        return read_list("mcp.departures", Mcp.resource("departures"), ScheduledDeparture)

    @method
    def call_tool(self, name: str, arguments: Mapping[str, object]) -> Operation[JsonValue]:
        """Call any tool of the server. An unknown tool is treated as a write.

        A write is sent again only if nothing was done, as after a 429. It is not read back.

        Interface: MCP endpoint, method tools/call.

        Args:
            name: The name of the tool.
            arguments: The arguments, named as on the wire.

        Returns:
            The decoded JSON value, without its envelope.

        Raises:
            InvalidInputError: The name is empty, or an argument is no JSON.
            ReadOnlyError: The client can only read.
            UnresolvedWriteError: The journal has the same write with an unknown outcome.
            APIError: The server refused it, or has no such tool; its class is that of the code or
                the status.
            OutcomeUnknownError: The write may have happened.
            FerryError: The call failed for another reason.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox, crossing

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                booking = ferry.bookings.create(**crossing(ferry))
                ticket_id = ferry.mcp.confirm_booking(booking.booking_id).ticket_id
                ticket = ferry.mcp.call_tool("view_ticket", {"id": ticket_id})
                print(type(ticket).__name__)
                # > dict
            ```
        """
        params = {"name": identifier(name, "name"), "arguments": normalize_json(arguments)}
        row = safety_of_tool(name)
        answer = Passthrough[JsonValue](**_expected_id(name, arguments))
        write: Write[JsonValue] | None = None if row.is_read else Write(params, {})
        return Operation(Mcp("tools/call", params), answer, row, write=write)

    @method
    def read_resource(self, uri: str) -> Operation[JsonValue]:
        """Read any resource of the server.

        Interface: MCP endpoint, method resources/read.

        Args:
            uri: The resource, such as ``resource://service/ports``.

        Returns:
            The decoded JSON value, or the text if it is not JSON.

        Raises:
            NotFoundError: There is no such resource.
            FerryError: The call failed for another reason.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                countries = ferry.mcp.read_resource("resource://service/countries")
                print(type(countries).__name__)
                # > list
            ```
        """
        answer = Passthrough[JsonValue]()
        return Operation(Mcp.read(identifier(uri, "uri")), answer, SAFETY["mcp.read_resource"])

    @method
    def list_tools(self) -> Operation[Records[McpTool]]:
        """List the server's tools.

        Interface: MCP endpoint, method tools/list.

        Raises:
            NotFoundError: The server does not support listing.
            FerryError: The call failed for another reason.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                for tool in ferry.mcp.list_tools()[:1]:
                    print(tool.name)
                    # > search_availability
            ```
        """
        return read_list("mcp.list_tools", Mcp("tools/list", {}), McpTool, member="tools")

    @method
    def list_resources(self) -> Operation[Records[McpResource]]:
        """List the server's resources.

        Interface: MCP endpoint, method resources/list.

        Raises:
            NotFoundError: The server does not support listing.
            FerryError: The call failed for another reason.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                print(ferry.mcp.list_resources()[0].uri)
                # > resource://service/ports
            ```
        """
        call = Mcp("resources/list", {})
        return read_list("mcp.list_resources", call, McpResource, member="resources")


def _expected_id(tool: str, arguments: Mapping[str, object]) -> dict[str, str]:
    """Return the id in a tool's arguments, by the member of the answer that must repeat it."""
    argument, member = _IDS.get(tool, ("", ""))
    requested_id = arguments.get(argument)
    return {member: requested_id} if isinstance(requested_id, str) else {}
