"""Single exchanges without a network, and the errors that come of calls."""

import httpx
import pytest

from .wire import TLS

URL = "https://ferry.example"
TOKEN = "tkn-5d1f"


class Exchanges:
    """A service that gives these replies, the last one for ever, and keeps the requests."""

    def __init__(self, *replies):
        self._replies = list(replies)
        self.requests = []

    def __call__(self, request):
        self.requests.append(request)
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        if isinstance(reply, Exception):
            raise reply
        return httpx.Response(reply.status_code, headers=reply.headers, content=reply.content)


def client_of(clients, service, token=TOKEN, **settings):
    """Return a client whose requests a function answers."""
    http_client = clients.http_client(transport=httpx.MockTransport(service))
    return clients(
        token, **{"base_url": URL, "http_client": http_client, "max_retries": 0} | settings
    )


def refusing_field(field, *, unless):
    """The service that a request names, but searches without this text are refused for a field."""

    def answer(request):
        if "availability" in request.url.path and unless not in request.content:
            error = {"error": True, "code": "AVAILABILITY_ERROR", "field": field}
            return httpx.Response(400, json=error)
        headers = {**request.headers, "accept-encoding": "identity"}
        reply = httpx.request(
            request.method, request.url, headers=headers, content=request.content, verify=TLS
        )
        return httpx.Response(reply.status_code, headers=reply.headers, content=reply.content)

    return answer


def caught(kind, call, *args, **kwargs):
    """Make a call and return its error, which is of exactly this class."""
    with pytest.raises(kind) as info:
        call(*args, **kwargs)
    assert type(info.value) is kind
    return info.value
