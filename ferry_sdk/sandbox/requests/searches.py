"""The arguments of a search, and of the catalogue of departures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from ferry_sdk.sandbox.requests.body import Body
from ferry_sdk.sandbox.requests.errors import Problem
from ferry_sdk.sandbox.requests.fields import Age, Day, Hour, OrEmpty, Text, VehicleCode
from ferry_sdk.sandbox.requests.party import (
    MOST_PASSENGERS,
    Order,
    PassengerType,
    age_problems,
    party_problems,
)


class SearchRequest(Body):
    """The journeys of a search: one outward, and optionally a return.

    Attributes:
        company: The company: its code, such as CTN, or its id.
        depart_code: The code of the port of departure, such as FRMRS.
        arrive_code: The code of the port of arrival.
        out_journey_id: The id of the journey from the first port to the second.
        out_at: The day of departure, YYYY-MM-DD.
        out_time: The earliest time of departure, HH:MM, in the port's time zone.
        out_is_open: Whether to search open tickets (with a flexible date) for the way out.
        ret_journey_id: The id of the journey back. For one way, leave out journey, day and time.
        ret_at: The day of the return, YYYY-MM-DD, not before out_at.
        ret_time: The earliest time of the return, HH:MM.
        ret_is_open: Whether to search open tickets for the way back.
    """

    company: Text
    depart_code: Text
    arrive_code: Text
    out_journey_id: Text
    out_at: Day
    out_time: Hour
    out_is_open: bool | None = None
    ret_journey_id: OrEmpty[Text] = None
    ret_at: OrEmpty[Day] = None
    ret_time: OrEmpty[Hour] = None
    ret_is_open: bool | None = None


class SearchedPassenger(Body):
    """A passenger of a search.

    Attributes:
        order: 1 to the number of passengers, each once.
        type: Adult (12 to 120 years), Child (1 to 17) or Infant (0 to 4, with an adult).
        param: The code of the type: A, C or I.
        gender: Male or Female.
        age: The age in years; it must fit the type.
    """

    order: Order
    type: PassengerType
    param: Literal["A", "C", "I"]
    gender: Literal["Male", "Female"]
    age: Age


class SearchedVehicle(Body):
    """The vehicle of a search.

    Attributes:
        code: The vehicle as BRAND__MODEL, from the vehicle catalogue.
    """

    code: VehicleCode


class Search(Body):
    """The arguments of a search.

    Attributes:
        request: The journey out, and optionally one back.
        passengers: The passengers: 1 to 9.
        vehicle: The vehicle, if any.
    """

    request: SearchRequest
    passengers: list[SearchedPassenger] = Field(min_length=1, max_length=MOST_PASSENGERS)
    vehicle: SearchedVehicle | None = None

    def problems(self) -> Iterator[Problem]:
        """Yield problems of the return, of codes and ages, and of the party."""
        yield from self._return_problems()
        for index, passenger in enumerate(self.passengers):
            if passenger.param != passenger.type[0]:
                values = {"type": passenger.type, "expected": passenger.type[0]}
                yield Problem("param", f"passengers[{index}].param", values)
            yield from age_problems(index, passenger.type, passenger.age)
        yield from party_problems([(each.order, each.type) for each in self.passengers])

    def _return_problems(self) -> Iterator[Problem]:
        request = self.request
        fields = {
            "ret_journey_id": request.ret_journey_id,
            "ret_at": request.ret_at,
            "ret_time": request.ret_time,
        }
        missing = [name for name, value in fields.items() if value is None]
        if len(missing) == len(fields):
            return

        for name in missing:
            yield Problem("return_incomplete", f"request.{name}")
        if request.ret_at is not None and request.ret_at < request.out_at:
            yield Problem("return_before_outward", "request.ret_at")


class DepartureQuery(Body):
    """The arguments of the catalogue of departures.

    Attributes:
        provider_id: The company: its code or its id.
        journey_ids: Only these journeys; all by default, or if empty.
    """

    provider_id: Text
    journey_ids: list[Text] | None = Field(None, alias="__journey_id")
