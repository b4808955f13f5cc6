"""List ports, journeys, departures and vehicles."""

from __future__ import annotations

from collections.abc import Sequence

from ferry_sdk._engine.operation import Operation
from ferry_sdk._protocols.rest import Rest
from ferry_sdk.models.catalogue import Departure, Journey, Port, VehicleBrand, VehicleType
from ferry_sdk.models.records import Records
from ferry_sdk.resources.arguments import identifier, identifiers
from ferry_sdk.resources.base import Resource, method, read_list


class CatalogueGroup(Resource):
    """List ports, journeys, departures and vehicles. All calls are reads."""

    @method
    def ports(self) -> Operation[Records[Port]]:
        """List all ports, with names in the client's language.

        Interface: GET /api/port.

        Raises:
            FerryError: The call failed.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                ports = ferry.catalogue.ports()
                print(len(ports), ports[0].code, ports[0].name)
                # > 183 FRMRS Marseille
            ```
        """
        return read_list("catalogue.ports", Rest.get("port"), Port, member="ports")

    @method
    def journeys(self) -> Operation[Records[Journey]]:
        """List all journeys.

        Interface: POST /api/journey.

        Raises:
            FerryError: The call failed.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                journeys = ferry.catalogue.journeys()
                print(len(journeys), journeys[0].route)
                # > 344 Marseille → Tunis (La Goulette)
            ```
        """
        return read_list("catalogue.journeys", Rest.post("journey"), Journey, member="journeys")

    @method
    def departures(
        self, provider_id: str, *, journey_ids: Sequence[str] | None = None
    ) -> Operation[Records[Departure]]:
        """List the departure times of a provider's journeys.

        Interface: POST /api/departure.

        Args:
            provider_id: The provider's id, as in `Availability.provider`.
            journey_ids: Only these journeys.

        Returns:
            For each journey, its times of departure in the next days.

        Raises:
            InvalidInputError: An id is empty, ``.`` or ``..``.
            UnprocessableEntityError: There is no such company or journey.
            FerryError: The call failed for another reason.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                departures = ferry.catalogue.departures("BALEARIA")
                print(len(departures), departures[0].departure_times)
                # > 38 ('22:15',)
            ```
        """
        body: dict[str, object] = {"provider_id": identifier(provider_id, "provider_id")}
        if journey_ids is not None:
            body["__journey_id"] = identifiers(journey_ids, "journey_ids")
        call = Rest.post("departure", body=body)
        return read_list(
            "catalogue.departures",
            call,
            Departure,
            member="departures",
            argument_names={"__journey_id": "journey_ids"},
        )

    @method
    def vehicle_brands(self) -> Operation[Records[VehicleBrand]]:
        """List all makes of vehicles.

        Interface: GET /api/vehicle-brand.

        Raises:
            FerryError: The call failed.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                brands = ferry.catalogue.vehicle_brands()
                print(len(brands), brands[0].name)
                # > 48 Abarth
            ```
        """
        call = Rest.get("vehicle-brand")
        return read_list("catalogue.vehicle_brands", call, VehicleBrand, member="brands")

    @method
    def vehicle_types(self) -> Operation[Records[VehicleType]]:
        """List all types of vehicles; lengths and heights in metres.

        Interface: GET /api/vehicle-data.

        Raises:
            FerryError: The call failed.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                types = ferry.catalogue.vehicle_types()
                print(len(types), types[0].name, types[0].max_length, "m")
                # > 23 Car up to 5 m 5.0 m
            ```
        """
        call = Rest.get("vehicle-data")
        return read_list("catalogue.vehicle_types", call, VehicleType, member="vehicle_types")
