"""Clients that are made in an injection make their calls through its HTTP library."""

from unittest.mock import patch

import pytest

from tests.support.injected import LIBRARIES, Injection


@pytest.mark.parametrize("name", LIBRARIES)
def test_calls_go_through_what_is_injected_and_it_is_closed_with_its_client(
    name, clients, ferry_sandbox
):
    library = LIBRARIES[name]
    kind = library.AsyncClient if clients.is_async else library.Client
    close = "aclose" if clients.is_async else "close"
    with (
        Injection(name).everywhere(),
        patch.object(kind, "send", autospec=True, side_effect=kind.send) as sent,
        patch.object(kind, close, autospec=True, side_effect=getattr(kind, close)) as closed,
    ):
        with clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry:
            ferry.with_options(language="fr").catalogue.ports()
        assert sent.call_count == 1
        assert closed.call_count == 1
