"""The fixed world in which golden files are made and read: its moment, its ids and its service.

Two runs at the same moment with the same random numbers write the same files. So the clock stands
still, and whatever asks the system for random bytes gets those of a seed.
"""

import os
import random
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from unittest.mock import patch

import httpx
import time_machine

from ferry_sdk import Ferry
from ferry_sdk._engine import correlation
from ferry_sdk._engine.service_clock import ServiceClock
from ferry_sdk.agents.policy import duplicates
from ferry_sdk.sandbox import Sandbox
from ferry_sdk.sandbox.bookings import records
from tests.support.samples import TICKET
from tests.support.trip import DAY, NOW, search_arguments

MOMENT = NOW
TOKEN = "golden-token"
ADDRESS = "https://ferry.example"
"""The address of the service. Keys, scans and route files depend on it, and ports are random."""
ADULT = {"type": "Adult", "gender": "Female", "age": 34}
ADA = ADULT | {"first_name": "Ada", "last_name": "Reyes"}


@contextmanager
def standing_still(at=MOMENT):
    """Stop the clock of this process at a moment."""
    with time_machine.travel(at, tick=False):
        yield


@contextmanager
def repeatable(seed=1):
    """Stop the clock, and give each request for random bytes those of a seed."""
    source = random.Random(seed)  # noqa: S311 -- the same numbers in each run
    with (
        standing_still(),
        patch.object(os, "urandom", source.randbytes),
        patch.object(random, "_urandom", source.randbytes),
        patch.object(ServiceClock, "now", lambda _: datetime.now(UTC)),
        patch.object(duplicates, "machine_id", lambda: "golden"),
        patch.object(records, "qr_code", lambda _: TICKET["qr_code"]),  # to draw it takes long
    ):
        correlation._start_ids()
        yield


def new_service(**options):
    """Return a service with fixed ids and tokens, whose clock stands still."""
    tokens = {f"{kind}_token": f"golden-{kind}" for kind in ("read_only", "organisation")}
    return Sandbox(seed=1, token=TOKEN, now=MOMENT, frozen=True, **tokens, **options)


class _Redirection(httpx.HTTPTransport):
    """Sends the requests for `ADDRESS` to a local service."""

    def __init__(self, service):
        super().__init__()
        self._service = httpx.URL(service.base_url)

    def handle_request(self, request):
        place = {"scheme": "http", "host": self._service.host, "port": self._service.port}
        request.url = request.url.copy_with(**place)
        request.headers["host"] = f"{self._service.host}:{self._service.port}"
        return super().handle_request(request)


@contextmanager
def client_of(service, **options):
    """Give a client of a service at `ADDRESS`."""
    with (
        httpx.Client(transport=_Redirection(service)) as http_client,
        Ferry(TOKEN, base_url=ADDRESS, http_client=http_client, **options) as ferry,
    ):
        yield ferry


def select(ferry, day=0, place=0, depart="ESTRF", arrive="MATNG"):
    """Return a ticket of the first sailing of a day."""
    where = search_arguments(company="BALEARIA", depart=depart, arrive=arrive)
    where |= {"out_at": DAY + timedelta(days=day), "passengers": [ADULT]}
    sailing = ferry.availability.search(**where)[0]
    tariff = next(tariff for tariff in sailing.tariffs if tariff.type == "Ticket")
    return sailing.select(tariff=tariff, place=sailing.places[place])


def book(ferry, day=0, **more):
    """Book a ticket for Ada."""
    selected = [select(ferry, day)]
    return ferry.bookings.create(availabilities=selected, passengers=[ADA], **more)
