"""pytest-httpx sees the requests of the clients, which are clients of httpx."""

import anyio
import httpx
import pytest

from ferry_sdk import AsyncFerry, ConnectionFailedError, Ferry, OutcomeUnknownError

pytestmark = [
    pytest.mark.own_http_client(reason="it stands in for transports of httpx alone"),
    pytest.mark.skipif(httpx.__name__ != "httpx", reason="pytest-httpx does not know httpx2"),
]

URL = "https://ferry.example"
PORTS = {"ports": [{"code": "FRMRS", "name": "Marseille", "country": "FR"}]}


def test_a_reply_is_read_and_the_request_is_seen(httpx_mock):
    httpx_mock.add_response(url=f"{URL}/api/port", json=PORTS)
    with Ferry("tkn", base_url=URL) as ferry:
        assert ferry.catalogue.ports()[0].code == "FRMRS"
    request = httpx_mock.get_request()
    assert request is not None
    assert request.headers["authorization"] == "Bearer tkn"


def test_a_reply_is_awaited(httpx_mock):
    httpx_mock.add_response(url=f"{URL}/api/port", json=PORTS)

    async def ask():
        async with AsyncFerry("tkn", base_url=URL) as ferry:
            return (await ferry.catalogue.ports())[0].code

    assert anyio.run(ask) == "FRMRS"


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (httpx.ConnectError("refused"), ConnectionFailedError),
        (httpx.ReadError("reset"), OutcomeUnknownError),
    ],
)
def test_a_failure_has_its_named_error(httpx_mock, failure, kind):
    httpx_mock.add_exception(failure)
    with Ferry("tkn", base_url=URL, max_retries=0) as ferry, pytest.raises(kind):
        ferry.bookings.create(
            availabilities=[{"availability_id": "a-1", "tariff_id": "t-1", "place_id": "p-1"}],
            passengers=[{"type": "Adult", "first_name": "Ada", "last_name": "Reyes"}],
        )
