"""Requests without a connection are never sent: the tests of httpx with this client."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ferry_sdk import RequestTimeoutError
from tests.transport.calls import CREATE, READ, is_never_sent
from tests.transport.scripted import Connection, Service, in_turn, read_request, serve
from tests.transport.test_not_connected import *  # noqa: F403 -- the same tests, of another client

if TYPE_CHECKING:
    from tests.transport.aiohttp_client.conftest import AioCaller


def test_a_pool_that_stays_full(caller: AioCaller) -> None:
    taken, freed = threading.Event(), threading.Event()

    def held(connection: Connection) -> None:
        taken.set()
        freed.wait(20)
        connection.send("200 OK", b'{"ports": []}')

    with Service(in_turn(read_request, held), serve) as service:
        ferry = caller.ferry(service.url, limits={"max_connections": 1}, timeout=0.1)
        holder = threading.Thread(target=READ.make, args=(ferry.with_options(timeout=20),))
        holder.start()
        assert taken.wait(20)
        heard, caller.tries = service.heard, 0
        is_never_sent(caller, CREATE, ferry, RequestTimeoutError)
        assert service.heard == heard
        freed.set()
        holder.join()
