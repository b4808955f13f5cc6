"""A run with `--http-client` does what it says, and one without leaves the clients alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import httpx
import pytest

from ferry_sdk import Ferry
from tests.support.injected import LIBRARIES

if TYPE_CHECKING:
    from ferry_sdk.sandbox import Sandbox
    from tests.support.both import Clients


def requests_sent_by(library: Any, ferry: Ferry, clients: Clients) -> int:
    """How often a client of the library sends something when the ports are asked for."""
    kind = library.AsyncClient if clients.is_async else library.Client
    with patch.object(kind, "send", autospec=True, side_effect=kind.send) as send:
        ferry.catalogue.ports()
    return send.call_count


def test_calls_go_through_the_library_that_the_run_names(
    clients: Clients, both: Ferry, pytestconfig: pytest.Config
) -> None:
    name = pytestconfig.getoption("--http-client") or "httpx"
    sent = {one: requests_sent_by(LIBRARIES[one], both, clients) for one in LIBRARIES}
    assert sent == {"httpx": 0, "httpx2": 0} | {name: 1}
    assert httpx.__name__ == name


@pytest.mark.own_http_client(reason="this is the mark's own test")
def test_a_marked_test_has_clients_as_they_are(clients: Clients, both: Ferry) -> None:
    assert requests_sent_by(LIBRARIES["httpx"], both, clients) == 1


def test_what_is_injected_is_closed_with_the_client_it_was_made_for(
    ferry_sandbox: Sandbox, pytestconfig: pytest.Config
) -> None:
    name = pytestconfig.getoption("--http-client") or "httpx"
    kind = LIBRARIES[name].Client
    with patch.object(kind, "close", autospec=True, side_effect=kind.close) as close:
        with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry:
            ferry.with_options(language="fr").catalogue.ports()
        assert close.call_count == 1
