"""A status below 200 answers no request: over every HTTP client such a reply counts as lost."""

import pytest

from ferry_sdk import OutcomeUnknownError
from tests.transport.scripted import Service, serve

SELECTION = {"availability_id": "a", "tariff_id": "t", "place_id": "p"}
PASSENGER = {"type": "Adult", "first_name": "Ada", "last_name": "Reyes"}


def switching(connection):
    """The request is read, so that it may have been done, and then something else begins."""
    connection.request()
    connection.socket.sendall(
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"
    )


def test_a_write_is_unknown(any_clients):
    with Service(switching) as service:
        ferry = any_clients("t", base_url=service.url, max_retries=0, deadline=10)
        with pytest.raises(OutcomeUnknownError):
            ferry.bookings.create(availabilities=[SELECTION], passengers=[PASSENGER])
        assert service.asked == ["POST /api/booking"]


def test_a_write_is_read_back(any_clients):
    with Service(switching, serve) as service:
        ferry = any_clients("t", base_url=service.url, max_retries=0, deadline=10)
        assert ferry.bookings.confirm("b-1").read_back
