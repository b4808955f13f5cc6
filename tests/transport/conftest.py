"""Fixtures: every kind of HTTP client, every kind of call, certificates to trust or not."""

import ssl
from functools import partial

import pytest
import trustme

from tests.support import http_clients
from tests.support.injected import LIBRARIES
from tests.support.tiers import mostly_long
from tests.transport.calls import CONFIRM, CREATE, READ, Caller


@pytest.fixture(scope="session")
def authority():
    return trustme.CA()


@pytest.fixture(scope="session")
def trusted(authority):
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


def of_a_server(authority, name):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return context


@pytest.fixture(scope="session")
def good(authority):
    return of_a_server(authority, "localhost")


def demanding(authority, version):
    """TLS of a service that takes only clients with a certificate, in one version."""
    context = of_a_server(authority, "localhost")
    context.minimum_version = context.maximum_version = version
    context.verify_mode = ssl.CERT_REQUIRED
    authority.configure_trust(context)
    return context


@pytest.fixture(scope="session")
def demanding_at_once(authority):
    """In TLS 1.2 the service refuses within the handshake, before a request is written."""
    return demanding(authority, ssl.TLSVersion.TLSv1_2)


@pytest.fixture(scope="session")
def demanding_later(authority):
    """In TLS 1.3 the handshake of the client ends first, and its request is written."""
    return demanding(authority, ssl.TLSVersion.TLSv1_3)


@pytest.fixture(scope="session")
def misnamed(authority):
    return of_a_server(authority, "elsewhere.example")


@pytest.fixture(scope="session")
def untrusted():
    """TLS of a service that only an unknown authority vouches for."""
    return of_a_server(trustme.CA(), "localhost")


def caller_of(request, make):
    loop = request.param
    made = make(portal=None if loop == "sync" else request.getfixturevalue(f"{loop}_portal"))
    yield made
    made.close()


@pytest.fixture(params=mostly_long(["sync", "asyncio", "trio"], short=2))
def caller(request, library, trusted):
    yield from caller_of(request, partial(Caller, library, trusted=trusted))


@pytest.fixture(params=mostly_long(LIBRARIES))
def library(request):
    return request.param


@pytest.fixture(params=[READ, CREATE], ids=["read", "create"])
def call(request):
    return request.param


@pytest.fixture(params=[READ, CREATE, CONFIRM], ids=["read", "create", "confirm"])
def any_call(request):
    return request.param


@pytest.fixture(params=http_clients.HTTP_CLIENTS)
def ferry_over(request):
    """Makes clients over one kind of HTTP client: see `tests/support/http_clients.py`."""
    yield from http_clients.ferry_over(request)
