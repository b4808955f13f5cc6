"""The groups `places`, `routes` and `trips` of a client."""

from __future__ import annotations

from ferry_sdk._engine.batch import Plan
from ferry_sdk._engine.effects import Flow
from ferry_sdk._engine.settings import Settings
from ferry_sdk._transport.async_ import AsyncTransport
from ferry_sdk.models.catalogue import Port
from ferry_sdk.planning import catalogues
from ferry_sdk.planning.calendar import PriceCalendar, calendar_of
from ferry_sdk.planning.connections import ConnectionPlan, ConnectionSearch
from ferry_sdk.planning.names import PlaceMatch
from ferry_sdk.planning.request import CalendarRequest, ConnectionRequest, DayRequest, whole_number
from ferry_sdk.planning.results import Matches
from ferry_sdk.planning.routes import Route
from ferry_sdk.planning.search import TripPlan, ports_of
from ferry_sdk.planning.streams import AsyncTripStream, TripStream
from ferry_sdk.planning.trips import TripSearch
from ferry_sdk.resources import arguments
from ferry_sdk.resources.base import Resource, method, with_arguments


class PlacesGroup(Resource):
    """Find ports by the names that people write."""

    @method
    def find(self, text: str, *, limit: int = 5) -> Plan[Matches[PlaceMatch]]:
        """Return the ports that a text may mean, best first.

        Names are known in the client's language and in en, fr, it, es, de, el and ar, without
        accents. Small mistakes are forgiven.

        Args:
            text: A code, a name, a city, or a part of a name.
            limit: The most ports to return.

        Returns:
            The ports; ``.unreadable`` has the lists with records that could not be read.

        Raises:
            InvalidInputError: An argument is invalid; `field` names it.
            FerryError: The ports could not be read.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                for match in ferry.places.find("Genua", limit=2):
                    print(match.port.code, match.port.name, match.reason)
                    # > ITGOA Genoa alias
            ```
        """
        wanted = arguments.text(text, "text")
        most = whole_number(limit, "limit", least=1)

        def steps(settings: Settings) -> Flow[Matches[PlaceMatch]]:
            index = yield from catalogues.place_index(settings, catalogues.deadline_of(settings))
            return Matches(index.find(wanted, most), index.unreadable)

        return Plan(steps)

    @method
    def get(self, text: str) -> Plan[Port]:
        """Return the port that a text means: by code, name, city or alias, never by a guess.

        Whole words of a name are enough if no other port has them: "Goulette" is Tunis (La
        Goulette), "Goul" is not.

        Args:
            text: A code, a name, a city, or whole words of a name.

        Returns:
            The port.

        Raises:
            InvalidInputError: The text is empty, or no text.
            UnknownPlaceError: No port has such a name; `suggestions` are spelled similarly.
            AmbiguousPlaceError: Several ports have it, in `candidates`.
            FerryError: The ports could not be read.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                port = ferry.places.get("Genua")
                print(port.code, port.name)
                # > ITGOA Genoa
            ```
        """
        wanted = arguments.text(text, "text")

        def steps(settings: Settings) -> Flow[Port]:
            index = yield from catalogues.place_index(settings, catalogues.deadline_of(settings))
            return index.get(wanted, "text")

        return Plan(steps)


class RoutesGroup(Resource):
    """Find out who sails where."""

    @method
    def find(
        self, origin: Port | str | None = None, destination: Port | str | None = None
    ) -> Plan[Matches[Route]]:
        """Return the routes between two ports, from one, to one, or all of them.

        They are made of the catalogues of both protocols, once a day for an account, an address
        and a language: the ports in each language, and the departures of each company, which are
        up to 73 requests with the 59 companies of the local service.

        Args:
            origin: A port, its code or its name; None: any port.
            destination: The same for the other end.

        Returns:
            The routes; ``.unreadable`` has the catalogues with records that could not be read, so
            that routes may be missing.

        Raises:
            InvalidInputError: A place is neither a port nor a text.
            UnknownPlaceError: No port has such a name.
            AmbiguousPlaceError: Several ports have it.
            FerryError: The ports or the journeys could not be read.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                for route in ferry.routes.find("Tarifa", "Tangier (city)"):
                    print(route.companies, route.duration)
                    # > ('BALEARIA', 'FRSIBERIA') 1:00:00
            ```
        """

        def steps(settings: Settings) -> Flow[Matches[Route]]:
            until = catalogues.deadline_of(settings)
            graph = yield from catalogues.route_graph(settings, until)
            places = arguments.drop_none({"origin": origin, "destination": destination})
            ports = yield from ports_of(settings, graph, places, until=until)
            depart_code = ports["origin"].code if "origin" in ports else None
            arrive_code = ports["destination"].code if "destination" in ports else None
            return Matches(graph.between(depart_code, arrive_code), graph.unreadable)

        return Plan(steps)

    @method
    def refresh(self) -> Plan[None]:
        """Read the catalogues of routes again, whatever their age.

        Raises:
            FerryError: The ports or the journeys could not be read; the routes known before stay.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                ferry.routes.refresh()
                print(len(ferry.routes.find("Tarifa")))
                # > 1
            ```
        """
        return Plan(catalogues.refresh)


class TripsGroup(Resource):
    """Search trips from two places and a date, with every company that sails."""

    @method
    @with_arguments(DayRequest)
    def search(self, request: DayRequest) -> Plan[TripSearch]:  # noqa: D417 -- it has those of `DayRequest`
        """Ask every company that sails between two places, at the same time.

        One search asks one company for one journey, with its way back, on one day.

        Args:
            origin: A port, its code, or its name in any known language.
            destination: The same for the other end.
            on: The day out, local to the port; a date or YYYY-MM-DD.
            passengers: The travellers, with their true ages.
            back: The day back; None: one way.
            flexible: Ask so many days before and after as well, if no company has anything on the
                day itself.
            vehicle: A `VehicleQuery`, the code of one (``FIAT__500``), or a name, such as "golf".
            companies: Only these, by code or id; None: all that sail.
            max_calls: The most searches to make.
            concurrency: The most searches at the same time.
            reservation_type: The type of fares to look for: TICKET, PRESALE or OPTION; None: all.
                Prices concern these fares only. Trips without any are left out, and counted in
                ``.left_out``.
            patience: Seconds for the answer to one search, with retries and waits of a limiter. A
                company that is slower is in ``.report.failed``, with a `RequestTimeoutError`; None:
                no limit but the client's deadline.

        Returns:
            The trips by price, then departure; empty where nothing sails. A company that fails is
            in ``.report.failed``, a company that was not asked in ``.report.not_asked``, and
            records that could not be read in ``.report.unreadable``.

        Raises:
            InvalidInputError: An argument is invalid, or no company is known; `field` names it.
            UnknownPlaceError: No port has such a name.
            AmbiguousPlaceError: Several ports have it.
            FerryError: Every search failed, or no catalogue could be read.

        Example:
            ```python
            from datetime import date, timedelta

            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                trips = ferry.trips.search(
                    "Tarifa",
                    "Tangier (city)",
                    on=date.today() + timedelta(days=30),
                    passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
                )
                print(trips[0].outward.depart_name, "to", trips[0].outward.arrive_name)
                # > Tarifa to Tangier (city)
            ```
        """
        plan = TripPlan(request)
        return plan.collect(lambda: TripSearch(plan.trips, plan.report))

    @with_arguments(DayRequest)
    def stream(self, request: DayRequest) -> TripStream | AsyncTripStream:
        """Search as `search` does, and give the trips as the companies answer.

        The call itself is not awaited. Iterate with ``for`` on `Ferry` and with ``async for`` on
        `AsyncFerry`; ``.report`` and ``.left_out`` are there at any time.

        Raises:
            InvalidInputError: An argument is invalid; `field` names it. Other errors are raised
                by the iteration.

        Example:
            ```python
            from datetime import date, timedelta

            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with (
                Sandbox() as sandbox,
                Ferry(sandbox.token, base_url=sandbox.base_url) as ferry,
                ferry.trips.stream(
                    "Tarifa",
                    "MATNG",
                    on=date.today() + timedelta(days=30),
                    passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
                ) as stream,
            ):
                print(next(stream).outward.depart_name)
                # > Tarifa
            ```
        """
        plan = TripPlan(request)
        if isinstance(self._transport, AsyncTransport):
            return AsyncTripStream(self._transport, plan)
        return TripStream(self._transport, plan)

    @method
    @with_arguments(CalendarRequest)
    def calendar(self, request: CalendarRequest) -> Plan[PriceCalendar]:  # noqa: D417 -- it has those of `CalendarRequest`
        """Return the cheapest fare of every day, one way.

        Args:
            origin: A port, its code, or its name in any known language.
            destination: The same for the other end.
            start: The first day, local to the port; a date or YYYY-MM-DD.
            end: The last day.
            passengers: The travellers, with their true ages.
            vehicle: A `VehicleQuery`, the code of one (``FIAT__500``), or a name, such as "golf".
            companies: Only these, by code or id; None: all that sail.
            max_calls: The most searches to make: one for each company and day.
            concurrency: The most searches at the same time.
            reservation_type: The type of fares to look for: TICKET, PRESALE or OPTION; None: all.
                Prices concern these fares only. Trips without any are left out, and counted in
                ``.left_out``.
            patience: Seconds for the answer to one search, with retries and waits of a limiter. A
                company that is slower is in ``.report.failed``, with a `RequestTimeoutError`; None:
                no limit but the client's deadline.

        Raises:
            InvalidInputError: An argument is invalid, or no company is known; `field` names it.
            UnknownPlaceError: No port has such a name.
            AmbiguousPlaceError: Several ports have it.
            FerryError: Every search failed, or no catalogue could be read.

        Example:
            ```python
            from datetime import date, timedelta

            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                day = date.today() + timedelta(days=30)
                calendar = ferry.trips.calendar(
                    "Tarifa",
                    "MATNG",
                    start=day,
                    end=day + timedelta(days=2),
                    passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
                )
                for price in calendar.values():
                    print(price.day, price.price)
                    # > 2026-06-03 12.32
                    # > 2026-06-04 12.39
                    # > 2026-06-05 13.56
            ```
        """
        plan = TripPlan(request)
        days = request.whole_calendar()
        return plan.collect(lambda: calendar_of(days, plan.trips, plan.report, route=plan.route))

    @method
    @with_arguments(ConnectionRequest)
    def connections(self, request: ConnectionRequest) -> Plan[ConnectionSearch]:  # noqa: D417 -- it has those of `ConnectionRequest`
        """Search two one-way sailings that meet in a port, of one company or of two.

        They are separate tickets: no company is bound to wait for the other. A search asks one
        company for one journey on one day; the second legs are asked for the days on which the
        first legs that were found can be continued.

        Args:
            origin: A port, its code, or its name in any known language.
            destination: The same for the other end.
            on: The day of the first departure, local to the port; a date or YYYY-MM-DD.
            passengers: The travellers, with their true ages.
            vehicle: A `VehicleQuery`, the code of one (``FIAT__500``), or a name, such as "golf".
            wait: The shortest and the longest time between the two sailings.
            via: The ports to change in; None: every port that two routes share, those with the
                shortest sailings first, until `max_calls` is used.
            companies: Only these, by code or id; None: all that sail.
            max_calls: The most searches to make.
            concurrency: The most searches at the same time.
            reservation_type: The type of fares to look for: TICKET, PRESALE or OPTION; None: all.
                Prices concern these fares only. Trips without any are left out, and counted in
                ``.left_out``.
            patience: Seconds for the answer to one search, with retries and waits of a limiter. A
                company that is slower is in ``.report.failed``, with a `RequestTimeoutError`; None:
                no limit but the client's deadline.

        Returns:
            The itineraries by price, then arrival. A company that fails is in
            ``.report.failed``, a search that was not made in ``.report.not_asked``, and records
            that could not be read in ``.report.unreadable``.

        Raises:
            InvalidInputError: An argument is invalid, or no company is known; `field` names it.
            UnknownPlaceError: No port has such a name.
            AmbiguousPlaceError: Several ports have it.
            FerryError: Every search failed, or no catalogue could be read.

        Example:
            ```python
            from datetime import date, timedelta

            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                found = ferry.trips.connections(
                    "Tunis (La Goulette)",
                    "Algiers",
                    on=date.today() + timedelta(days=30),
                    passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
                )
                for itinerary in found[:1]:
                    print(itinerary.companies, "in port:", itinerary.wait)
                    # > ('CORSICALINEA', 'ALGERIE') in port: 22:15:00
            ```
        """
        plan = ConnectionPlan(request)
        return plan.collect(lambda: ConnectionSearch(plan.itineraries(), plan.report))
