"""Fixtures: what a booking is made of."""

import pytest

from ferry_sdk import Ferry
from tests.support.mcp_socket import McpSocket
from tests.support.trip import PASSENGERS, selected


@pytest.fixture
def creation(both):
    return {"availabilities": [selected(both)], "passengers": PASSENGERS}


@pytest.fixture
def serve():
    """Start an MCP endpoint that gives these replies, and return it with a client of it."""
    sockets, clients = [], []

    def start(*replies, **settings):
        socket = McpSocket(*replies).__enter__()
        sockets.append(socket)
        ferry = Ferry("test-token-1234", base_url=socket.url, max_retries=0, **settings)
        clients.append(ferry)
        return socket, ferry

    yield start
    for ferry in clients:
        ferry.close()
    for socket in sockets:
        socket.__exit__()
