"""Frames and charts of records."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_type

from matplotlib.figure import Figure
from pandas import DataFrame

from ferry_sdk.notebook import fares_by_day, network_map

if TYPE_CHECKING:
    from ferry_sdk import Availability, Matches, McpPort, Records, Route, ScheduledDeparture


def shown(
    sailings: Records[Availability],
    ports: Records[McpPort],
    timetable: Records[ScheduledDeparture],
    found: Matches[Route],
) -> None:
    assert_type(sailings.to_frame(), DataFrame)
    assert_type(sailings.to_frame(by="tariff", money="float"), DataFrame)
    assert_type(fares_by_day(sailings), Figure)
    assert_type(network_map(ports, routes=[("ESALG", "MAPTM")]), Figure)
    routes = {(one.depart_code, one.arrive_code) for one in timetable}
    assert_type(network_map(ports, routes=routes), Figure)
    assert_type(network_map(ports, routes=found), Figure)
