"""Search for sailings."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time

from ferry_sdk._engine.operation import Operation
from ferry_sdk._protocols.rest import Rest
from ferry_sdk.models.availability import Availability
from ferry_sdk.models.inputs import (
    SearchPassenger,
    SearchPassengerDict,
    Traveller,
    VehicleQuery,
    VehicleQueryDict,
)
from ferry_sdk.models.records import Records
from ferry_sdk.resources import arguments
from ferry_sdk.resources.base import Resource, method, read_list


class AvailabilityGroup(Resource):
    """Sailings that can be booked."""

    @method
    def search(
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
    ) -> Operation[Records[Availability]]:
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
        call = Rest.post("availability", body=body)
        names = {"request.": ""}
        return read_list("availability.search", call, Availability, argument_names=names)
