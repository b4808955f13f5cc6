"""A run with `--http-client` does what it says, and one without leaves the clients alone."""

from unittest.mock import patch

import httpx
import pytest

from tests.support.injected import LIBRARIES, Injection


def kind_of(name, clients):
    """The class of what a run with that library gives such clients."""
    library = LIBRARIES[name]
    return library.AsyncClient if clients.is_async else library.Client


def given(ferry):
    """The HTTP client that it was given; None: it makes its own."""
    return ferry._transport.shared._given


def test_clients_are_given_one_of_the_library_that_the_run_names(clients, both, pytestconfig):
    name = pytestconfig.getoption("--http-client")
    kind = kind_of(name, clients) if name else None
    assert isinstance(given(both), kind or type(None))
    assert httpx.__name__ == ("httpx2" if name == "httpx2" else "httpx")


@pytest.mark.own_http_client(reason="this is the mark's own test")
def test_a_marked_test_has_clients_as_they_are(both):
    assert given(both) is None


@pytest.mark.parametrize("name", LIBRARIES)
def test_calls_go_through_what_is_injected_and_it_is_closed_with_its_client(
    name, clients, ferry_sandbox
):
    kind = kind_of(name, clients)
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
