"""The standard library's HTTP client on one connection: the floor of all others."""

from __future__ import annotations

import json
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from typing import TYPE_CHECKING

from benchmarks._payload import BOOKING_ID, HEADERS

from ._models import Fee

if TYPE_CHECKING:
    from collections.abc import Generator

    from benchmarks._clients import Call


@contextmanager
def fee(base_url: str) -> Generator[Call]:
    """Give a small call whose answer is validated."""
    headers = {**HEADERS, "Content-Type": "application/json"}
    with closing(HTTPConnection(base_url.removeprefix("http://"))) as connection:

        def call() -> Fee:
            body = json.dumps({"id": BOOKING_ID}).encode()
            connection.request("POST", "/api/booking/cancel-fee", body, headers)
            return Fee.model_validate_json(connection.getresponse().read())

        yield call
