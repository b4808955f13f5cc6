"""The records of the catalogues that have more fields than the client's."""

from __future__ import annotations

from ferry_sdk.models.catalogue import Journey


class RouteJourney(Journey):
    """A route in one direction, with the ports and companies that a search takes.

    Attributes:
        depart_code: Code of the departure port.
        arrive_code: Code of the arrival port.
        companies: Codes of the companies that sail it.
    """

    depart_code: str
    arrive_code: str
    companies: tuple[str, ...]
