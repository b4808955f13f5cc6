"""The arguments of a client, and what it does before its first call."""

from __future__ import annotations

import asyncio
import copy
import pickle
import ssl
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import trio
import trustme

from ferry_sdk import AsyncFerry, ConfigurationError, DefaultAioHttpClient, InvalidInputError
from tests.transport.calls import READ, failure
from tests.transport.scripted import Service, over_tls

if TYPE_CHECKING:
    from pathlib import Path

    from tests.transport.aiohttp_client.conftest import AioCaller

URL = "https://ferry.example"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"max_connections": 0}, "max_connections"),
        ({"max_connections": -1}, "max_connections"),
        ({"max_connections": 1.5}, "max_connections"),
        ({"max_connections": True}, "max_connections"),
        ({"keepalive_expiry": 0}, "keepalive_expiry"),
        ({"keepalive_expiry": -1.0}, "keepalive_expiry"),
        ({"verify": "/etc/ssl/ca.pem"}, "verify"),
        ({"verify": None}, "verify"),
    ],
)
def test_an_invalid_argument_is_named(options: Any, field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        DefaultAioHttpClient(**options)
    assert caught.value.field == field


def test_clients_share_a_tls_context() -> None:
    one, other = DefaultAioHttpClient(), DefaultAioHttpClient(max_connections=1)
    assert one._options.tls is other._options.tls
    assert one._options.tls.verify_mode is ssl.CERT_REQUIRED
    assert DefaultAioHttpClient(verify=False)._options.tls.verify_mode is ssl.CERT_NONE


def test_a_client_is_neither_pickled_nor_copied() -> None:
    http = DefaultAioHttpClient()
    for attempt in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError, match="connections cannot be pickled"):
            attempt(http)


def test_a_call_on_trio_is_refused() -> None:
    async def call() -> None:
        http = DefaultAioHttpClient()
        with pytest.raises(ConfigurationError, match="asyncio"):
            await AsyncFerry("t", base_url=URL, http_client=http).catalogue.ports()
        with pytest.raises(ConfigurationError, match="asyncio"):
            await http.__aenter__()
        await http.aclose()
        assert http.is_closed

    trio.run(call)


@pytest.mark.parametrize("header", ["a\r\nb: c", "a\nb: c", "a\rb", "naïve"])
def test_a_header_with_a_line_break_is_refused(header: str) -> None:
    with pytest.raises(ConfigurationError, match="header"):
        DefaultAioHttpClient().build_request("GET", URL, headers={"x-own": header})


@pytest.mark.parametrize("url", ["ftp://ferry.example", "ferry.example", "http://h:99999", ""])
def test_an_invalid_url_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError):
        DefaultAioHttpClient().build_request("GET", url)


def test_a_closed_client_is_refused() -> None:
    async def call() -> None:
        async with DefaultAioHttpClient() as http:
            pass
        request = http.build_request("GET", URL)
        with pytest.raises(ConfigurationError, match="closed"):
            await http.send(request)
        with pytest.raises(ConfigurationError, match="closed"):
            await AsyncFerry("t", base_url=URL, http_client=http).catalogue.ports()
        await http.aclose()

    asyncio.run(call())


def output_of(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, check=True, text=True
    )
    return done.stdout.strip()


def test_without_aiohttp_the_error_says_how_to_install_it() -> None:
    program = """
import sys
from importlib.machinery import PathFinder


class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        hidden = name.partition(".")[0] in {"aiohttp", "yarl", "multidict", "aiohappyeyeballs"}
        return None if hidden else super().find_spec(name, path, target)


sys.meta_path[:] = [one for one in sys.meta_path if one is not PathFinder] + [Without]
import ferry_sdk
try:
    ferry_sdk.DefaultAioHttpClient()
except ferry_sdk.ConfigurationError as error:
    print(error)
"""
    assert "pip install 'ferry-sdk[aiohttp]'" in output_of(program)


def test_aiohttp_is_imported_with_the_first_client() -> None:
    program = """
import sys
from ferry_sdk import AsyncFerry, DefaultAioHttpClient
print("aiohttp" in sys.modules)
DefaultAioHttpClient()
print("aiohttp" in sys.modules)
"""
    assert output_of(program).split() == ["False", "True"]


@pytest.fixture
def certificate_file(
    authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment names the authority's certificate."""
    file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(file))
    monkeypatch.setenv("SSL_CERT_FILE", str(file))


@pytest.mark.usefixtures("certificate_file")
def test_the_environments_certificates_are_trusted(caller: AioCaller, good: ssl.SSLContext) -> None:
    with Service(over_tls(good)) as service:
        READ.make(caller.ferry(service.secure_url, verify=True))
        assert service.asked == [READ.line]


@pytest.mark.usefixtures("certificate_file")
def test_renewed_certificates_are_used_by_the_next_client(
    caller: AioCaller, authority: trustme.CA, good: ssl.SSLContext, tmp_path: Path
) -> None:
    trustme.CA().cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    with Service(over_tls(good)) as service:
        error = failure(READ, caller.ferry(service.secure_url, verify=True))
        assert "CERTIFICATE_VERIFY_FAILED" in str(error)
        authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
        READ.make(caller.ferry(service.secure_url, verify=True))


@pytest.mark.usefixtures("certificate_file")
def test_the_environments_certificates_are_not_trusted_without_trust_env(
    caller: AioCaller, good: ssl.SSLContext
) -> None:
    with Service(over_tls(good)) as service:
        error = failure(READ, caller.ferry(service.secure_url, verify=True, trust_env=False))
        assert "CERTIFICATE_VERIFY_FAILED" in str(error)
        assert error.outcome == "not_sent"
