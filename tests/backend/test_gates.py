"""Nothing that a caller or the service says puts a header or an address of its own on the wire."""

import httpx

from ferry_sdk import UnexpectedResponseError
from tests.backend.canaries import ORGANISATION, TOKEN, leaks, shown
from tests.support import operations
from tests.support.cases import case
from tests.support.exchanges import URL, caught
from tests.support.tables import each


@each("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed_by_any_operation(clients, tmp_path, status):
    asked = []

    def service(request):
        asked.append(request.url)
        return httpx.Response(status, headers={"location": "https://evil.example/"})

    options = {"transport": httpx.MockTransport(service), "follow_redirects": True}
    http_client = clients.http_client(**options)
    ferry = clients(TOKEN, base_url=URL, http_client=http_client, organisation_token=ORGANISATION)
    for name in operations.OPERATIONS:
        with case(name):
            asked.clear()
            error = caught(UnexpectedResponseError, operations.make, ferry, name, tmp_path)
            assert error.status_code == status
            assert {url.host for url in asked} == {httpx.URL(URL).host}
            assert not leaks(shown(error))
