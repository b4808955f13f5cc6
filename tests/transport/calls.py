"""Calls of every kind made through every kind of HTTP client, and what they have to tell."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from ferry_sdk import OutcomeUnknownError
from tests.backend.gathering import eventually
from tests.support.both import Clients
from tests.support.exchanges import caught
from tests.support.injected import LIBRARIES
from tests.support.trip import PASSENGERS

_SOON = 0.05
"""Seconds after which a client gives up what is to hang."""
_LATE = 20.0
"""Seconds after which it gives up anything else."""
ABANDONED_BODY = "ignore:Async generator 'httpx._content.ByteStream:ResourceWarning"
"""What trio says where httpx, not httpx2, leaves a body that it could not send to the collector."""


@dataclass(frozen=True)
class Call:
    """A call that the scripted service answers, by the method and path of its request.

    A write may be sent only once; a lost reply may be made good by a read.
    """

    line: str
    make: Callable
    is_write: bool = False
    is_read_back: bool = False


READ = Call("GET /api/port", lambda ferry: ferry.with_raw_response.catalogue.ports())


def creation(availability_id="a-1"):
    selection = {"availability_id": availability_id, "tariff_id": "t-1", "place_id": "p-1"}
    booking = {"availabilities": [selection], "passengers": PASSENGERS[:1]}

    def make(ferry):
        return ferry.with_raw_response.bookings.create(**booking)

    return Call("POST /api/booking", make, is_write=True)


CREATE = creation()
CONFIRM = Call(
    "POST /api/booking/confirm",
    lambda ferry: ferry.with_raw_response.bookings.confirm("b-1"),
    is_write=True,
    is_read_back=True,
)


def error_once_sent(end):
    """Return the error of a call whose deadline passes after its request was sent.

    A busy machine may send nothing in a short time: then `end`, which takes the deadline, gets
    twice as long.
    """
    deadline = 0.3
    while True:
        error = end(deadline)
        if any(attempt.sent for attempt in error.attempts):
            return error
        deadline *= 2


class Caller:
    """Makes clients of one kind on top of HTTP clients of the caller.

    Attributes:
        library: The module of the HTTP clients.
        tries: How many requests have been made.
    """

    def __init__(self, library, portal, trusted):
        self.library = LIBRARIES[library]
        self.is_async = portal is not None
        self._clients = Clients(portal)
        self._trusted = trusted
        self._https = []
        self.tries = 0

    def ferry(self, url, *, second=None, hangs=(), timeout=_LATE, **options):
        """Return a client of the service there, on an HTTP client with these options.

        `second` is called before the second attempt leaves, which gives up no part soon. The first
        one gives up the parts that hang.
        """

        def note(request):
            self.tries += 1
            if self.tries == 1:
                self.hurry(request, dict.fromkeys(hangs, _SOON))
            if self.tries == 2 and second is not None:
                second()

        async def note_async(request):
            note(request)

        kind = self.library.AsyncClient if self.is_async else self.library.Client
        hooks = {"request": [note_async if self.is_async else note]}
        http_client = kind(**{"verify": self._trusted, "event_hooks": hooks} | options)
        self._https.append(http_client)
        settings = {"base_url": url, "allow_http": True, "timeout": timeout, "max_retries": 2}
        return self._clients("token", http_client=http_client, **settings)

    def hurry(self, request, limits):
        request.extensions["timeout"].update(limits)

    def transport(self, **options):
        kind = self.library.AsyncHTTPTransport if self.is_async else self.library.HTTPTransport
        return kind(**{"verify": self._trusted} | options)

    def close(self):
        self._clients.close()
        for http_client in self._https:
            if self.is_async:
                self._clients.portal.call(http_client.aclose)
            else:
                http_client.close()


def sent(attempts):
    return [attempt.sent for attempt in attempts]


def is_tried_again(caller, call, ferry, service):
    """Check that what cannot have arrived is said not to have, and that any call goes on."""
    raw = call.make(ferry)
    *unsent, last = sent(raw.attempts)
    assert unsent, "the first attempt was to fail"
    assert not any(unsent)
    assert last
    assert caller.tries == len(raw.attempts)
    assert service.asked == [call.line]


def is_never_sent(caller, call, ferry, *kinds):
    """Check that what cannot arrive is tried as often as a read would be, and said so."""
    with pytest.raises(kinds) as failed:
        call.make(ferry)
    error = failed.value
    assert error.outcome == "not_sent"
    assert re.search(r"\((\S+:\d+)\)", str(error)), "names host and port"
    assert (sent(error.attempts), caller.tries) == ([False] * 3, 3)


def is_sent_once(caller, call, ferry, service, *, seen=0):
    """Check that what may have arrived is said to have: a read goes on, a write does not.

    The service has read as many whole requests as `seen` when it fails.
    """
    if not call.is_write:
        raw = call.make(ferry)
        assert len(raw.attempts) > 1, "the first attempt was to fail"
        assert all(sent(raw.attempts))
        assert service.asked == [call.line] * (seen + 1)
    elif call.is_read_back:
        raw = call.make(ferry)
        assert raw.parse().read_back
        assert service.asked == [call.line] * seen + ["GET /api/booking/b-1"]
        assert (sent(raw.attempts), caller.tries) == ([True, True], 2)
    else:
        error = caught(OutcomeUnknownError, call.make, ferry)
        assert (error.outcome, sent(error.attempts)) == ("unknown", [True])
        eventually(lambda: len(service.asked) >= seen)
        assert (service.asked, caller.tries) == ([call.line] * seen, 1)
