"""pytest-httpx sees the requests of the clients, which are clients of httpx."""

import anyio
import httpx
import pytest

from ferry_sdk import AsyncFerry, ConnectionFailedError, Ferry, OutcomeUnknownError
from tests.support.mcp_samples import PASSENGERS, SELECTION

pytestmark = [
    pytest.mark.own_http_client(reason="it stands in for transports of httpx alone"),
    pytest.mark.skipif(httpx.__name__ != "httpx", reason="pytest-httpx does not know httpx2"),
]

URL = "https://ferry.example"
PORTS = {"ports": [{"code": "FRMRS", "name": "Marseille", "country": "FR"}]}


@pytest.fixture
def ports(httpx_mock):
    """The mock, which answers with the ports."""
    httpx_mock.add_response(url=f"{URL}/api/port", json=PORTS)
    return httpx_mock


def test_sync_request_is_seen(ports):
    with Ferry("tkn", base_url=URL) as ferry:
        assert ferry.catalogue.ports()[0].code == "FRMRS"
    assert ports.get_request().headers["authorization"] == "Bearer tkn"


@pytest.mark.usefixtures("ports")
def test_async_reply_is_read():
    async def ask():
        async with AsyncFerry("tkn", base_url=URL) as ferry:
            return (await ferry.catalogue.ports())[0].code

    assert anyio.run(ask) == "FRMRS"


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        pytest.param(httpx.ConnectError("refused"), ConnectionFailedError, id="refused"),
        pytest.param(httpx.ReadError("reset"), OutcomeUnknownError, id="reset"),
    ],
)
def test_failure_has_its_named_error(httpx_mock, failure, kind):
    httpx_mock.add_exception(failure)
    with Ferry("tkn", base_url=URL, max_retries=0) as ferry, pytest.raises(kind):
        ferry.bookings.create(availabilities=SELECTION, passengers=PASSENGERS)
