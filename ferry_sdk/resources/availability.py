"""Search for sailings."""

from __future__ import annotations

from ferry_sdk._engine.operation import Operation
from ferry_sdk._protocols.rest import Rest
from ferry_sdk.models.availability import Availability
from ferry_sdk.models.records import Records
from ferry_sdk.resources.base import Resource, method, read_list, with_arguments
from ferry_sdk.resources.bodies import SearchArguments


class AvailabilityGroup(Resource):
    """Sailings that can be booked."""

    @method
    @with_arguments(SearchArguments)
    def search(self, request: SearchArguments) -> Operation[Records[Availability]]:  # noqa: D417 -- it has those of a search
        """Search sailings of one company on one route and date.

        Interface: POST /api/availability.

        Args:
            company: Code of the ferry company; `mcp.companies` lists them.
            depart_code: Code of the port of departure; `catalogue.ports` lists them.
            arrive_code: Code of the port of arrival.
            out_journey_id: UUID of the journey out; `catalogue.journeys` lists them.
            out_at: Date out, local to the port; a date or YYYY-MM-DD.
            out_time: Earliest departure on that date, local to the port; a time or HH:MM.
            passengers: The travellers, with their true ages.
            out_is_open: Ask for an open (flexible-date) ticket out.
            ret_journey_id: UUID of the journey back, for a round trip.
            ret_at: Date back, local to the port.
            ret_time: Earliest departure back, local to the port.
            ret_is_open: Ask for an open ticket back.
            vehicle: A `VehicleQuery` or ``{"code": "FIAT__500"}``; `vehicles.find` gives one.

        Returns:
            The sailings, outward and return. Records that cannot be read are in ``.unreadable``.

        Raises:
            InvalidInputError: An argument is invalid; `field` names it.
            NoSailingsError: No sailing fits.
            AvailabilityError: The search failed; `field` names a wrong argument, if known.
            FerryError: The call failed for another reason.

        Example:
            ```python
            from datetime import date, timedelta

            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                (route,) = ferry.routes.find("Tarifa", "MATNG")
                sailings = ferry.availability.search(
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
        call = Rest.post("availability", body=request.body())
        return read_list(
            "availability.search",
            call,
            Availability,
            argument_names={"request.": ""},
            sharing_key=call.content,
        )
