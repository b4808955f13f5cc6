"""Arguments of a wrong type are rejected before sending; the error names the argument."""

from dataclasses import fields
from functools import cache, partial
from inspect import signature
from types import SimpleNamespace

import httpx
import httpx2
import pytest

from ferry_sdk import (
    AsyncFerry,
    Availability,
    ConfigurationError,
    ConnectionFailedError,
    Ferry,
    InvalidInputError,
    Timeout,
    correlation,
)
from ferry_sdk.journal import Journal
from ferry_sdk.resources.availability import AvailabilityGroup
from ferry_sdk.resources.bookings import BookingsGroup
from ferry_sdk.resources.catalogue import CatalogueGroup
from ferry_sdk.resources.mcp import McpGroup
from ferry_sdk.resources.tickets import TicketsGroup
from tests.backend.canaries import FORBIDDEN
from tests.resources.test_inputs import ADULT, SELECTION, TRAVELLER, TRIP
from tests.support.exchanges import URL, Exchanges, caught, client_of
from tests.support.samples import AVAILABILITY

pytestmark = pytest.mark.own_http_client(reason="it is about what a client is made with")

NAN, INFINITE = float("nan"), float("inf")
NO_TEXTS = (7, 1.5, True, b"bytes", ["text"], {"a": "b"}, object())
NO_LABELS = ("", " ", "two words", "a\nb", "Zoë", "n" * 65, b"north", 5, True, ["north"])
NO_FLAGS = (None, 0, 1, "yes", "", [], object())
NO_SECONDS = ("soon", "3", True, NAN, INFINITE, 0, -1, 1e300, [3], object())
NO_COUNTS = (None, "2", 1.5, 2.0, True, NAN, -1, [2], object())
NO_HEADERS = (
    7,
    True,
    "x-a: b",
    [("x-a", "b")],
    {"x-a": None},
    {"x-a": 7},
    {"x-a": b"b"},
    {7: "b"},
    {"": "b"},
    {None: "b"},
    {"x-a": "a\nb"},
    {"x-a": "a\rb"},
    {"x-a": "\u20ac"},
    {"x-a": ""},
    {"x a": "b"},
    *({"x-agency": text} for text in FORBIDDEN),
)
NO_ADDRESSES = (
    "ferry.example",
    "ftp://ferry.example",
    "https://",
    "https:///api",
    "https://[::1",
    "https://ferry.example:port",
    "https://ferry.example:99999",
    "http://ferry.example",
    "https://user:secret@ferry.example",
    "https://ferry.example?key=1",
    f"{URL}#top",
    "https://ferry.example?",
    "https://ferry.example/#/",
    f" {URL}",
    f"{URL}\n",
    "https://ferry .example",
)
SET_BY_OTHERS = (
    "Authorization",
    "Proxy-Authorization",
    "Cookie",
    "Expect",
    "Upgrade",
    "Connection",
    "TE",
    "Transfer-Encoding",
    "Content-Length",
    "Host",
    "Trailer",
    "Keep-Alive",
    "Proxy-Connection",
    "Accept-Encoding",
)
"""Headers that the library or the HTTP client sets."""


async def give_token():
    return "token"


class AsyncTokens:
    async def __call__(self):
        return "token"


def http_clients(*, is_async):
    """Return what is no HTTP client, and clients of the other kind."""
    others = (
        [httpx.Client(), httpx2.Client()]
        if is_async
        else [httpx.AsyncClient(), httpx2.AsyncClient()]
    )
    return ("httpx", 7, True, object(), httpx, httpx.Client, httpx.AsyncClient, [], *others)


@cache  # to make an HTTP client takes as long as hundreds of the calls
def invalid_settings(is_async):
    """Return values that no client is made with, by setting."""
    of_async_clients = () if is_async else (give_token, AsyncTokens(), partial(give_token))
    return {
        "token": (*NO_TEXTS, *FORBIDDEN, " padded ", "\u20ac", *of_async_clients),
        "organisation_token": (*NO_TEXTS, *FORBIDDEN, *of_async_clients),
        "base_url": (*NO_TEXTS, *NO_ADDRESSES),
        "allow_http": NO_FLAGS,
        "language": (*NO_TEXTS, *FORBIDDEN, "\u20ac"),
        "client_version": (1.5, True, b"2", ["2"], object(), "2\n", "", *FORBIDDEN),
        "timeout": (*NO_SECONDS, *(Timeout(read=value) for value in NO_SECONDS)),
        "deadline": NO_SECONDS,
        "max_retries": NO_COUNTS,
        "read_only": NO_FLAGS,
        "default_headers": (*NO_HEADERS, *({name: "x"} for name in SET_BY_OTHERS)),
        "http_client": http_clients(is_async=is_async),
        "journal": ("sqlite://", 7, True, [], object(), Journal),
        "label": NO_LABELS,
        "event_hooks": (7, True, "", [print], {"outcome": 7}, {"outcome": [7]}, {"other": []}),
    }


OF_VIEWS = {
    "token": (None, "", "a\nb", 5),
    "organisation_token": ("", "a\nb", 5),
    "journal": ("sqlite:///a.db", 5),
    "limiter": (5, "50/second"),
    "timeout": (*NO_SECONDS, *(Timeout(pool=value) for value in NO_SECONDS)),
    "deadline": NO_SECONDS,
    "max_retries": NO_COUNTS,
    "language": (*NO_TEXTS, "", *FORBIDDEN, "a\tb"),
    "correlation_id": (*NO_TEXTS, "", *FORBIDDEN, "a\tb"),
    "read_only": NO_FLAGS,
    "label": NO_LABELS,
    "extra_headers": (
        None,
        *NO_HEADERS,
        *({name: "x"} for name in FORBIDDEN),
        *({name: "x"} for name in SET_BY_OTHERS),
        *({name.upper(): "x"} for name in SET_BY_OTHERS),
    ),
}
"""Values that no view is made with, by option."""
OF_SYNC_VIEWS = {
    "token": (give_token,),
    "organisation_token": (give_token,),
    "limiter": (SimpleNamespace(acquire=give_token),),
}
"""Values that only a view of an `AsyncFerry` is made with."""

SEARCH = {**TRIP, "passengers": [ADULT]}
BOOKING = {"availabilities": [SELECTION], "passengers": [TRAVELLER]}
NO_LISTS = (None, 7, "text", {}, object())
NO_MODELS = (7, "text", [], object())
NO_MONEY = (1.5, True, "much", [], object())
NO_CURRENCIES = (7, True, "", "EU", "EURO", "€", b"EUR", ["EUR"], object())
OF_CANCELLATIONS = {"max_penalty": NO_MONEY, "min_refund": NO_MONEY, "currency": NO_CURRENCIES}
OF_SEARCHES = {
    **dict.fromkeys(set(TRIP), (None, *NO_TEXTS)),
    **dict.fromkeys(("ret_journey_id", "ret_at", "ret_time"), NO_TEXTS),
    **dict.fromkeys(("out_is_open", "ret_is_open"), NO_FLAGS[1:]),
    "passengers": NO_LISTS,
    "vehicle": NO_MODELS,
}
OF_BOOKINGS = {
    **dict.fromkeys(("availabilities", "passengers"), NO_LISTS),
    **dict.fromkeys(("vehicle", "contact"), NO_MODELS),
    "reservation_type": NO_TEXTS,
    "idempotency_key": ("", "\u20ac", "a\tb", "k" * 256, *NO_TEXTS),
}
NO_IDS = (None, "", " ", "\t", ".", "..", "\ud800", *NO_TEXTS)
NO_FUNCTIONS = (7, "print", [])
NO_STAGES = (None, 7, True, [], [7], ["ticketed", None], {})
NO_JOURNEYS = (7, "j-1", b"j-1", [7], ["j", ""], object())
ONE_BOOKING, ONE_TICKET = {"booking_id": NO_IDS}, {"ticket_id": NO_IDS}
WAITS = {"deadline": (None, *NO_SECONDS), "on_progress": NO_FUNCTIONS}
PAYMENT = {"external_payment_ref": (None, "", "  ", *NO_TEXTS), "booking_id": NO_IDS[1:]}
OF_CALLS = [
    (BookingsGroup.get, {}, ONE_BOOKING),
    (McpGroup.confirm_booking, {}, ONE_BOOKING),
    (TicketsGroup.get, {}, ONE_TICKET),
    (TicketsGroup.pdf, {}, ONE_TICKET),
    (TicketsGroup.read_pdf, {}, ONE_TICKET),
    (McpGroup.view_ticket, {}, ONE_TICKET),
    (BookingsGroup.cancel_fee, {}, {"id": NO_IDS}),
    (TicketsGroup.cancel_fee, {}, {"id": NO_IDS}),
    (McpGroup.read_resource, {}, {"uri": NO_IDS}),
    (AvailabilityGroup.search, SEARCH, OF_SEARCHES),
    (McpGroup.search_availability, SEARCH, OF_SEARCHES),
    (BookingsGroup.create, BOOKING, OF_BOOKINGS),
    (
        McpGroup.create_booking,
        BOOKING,
        OF_BOOKINGS | {"availabilities": NO_LISTS[1:], "id": NO_IDS[1:]},
    ),
    (
        BookingsGroup.confirm,
        {"booking_id": "b", "expect_total": 1},
        ONE_BOOKING | {"expect_total": NO_MONEY, "currency": NO_CURRENCIES},
    ),
    (
        BookingsGroup.wait,
        {"booking_id": "b", "until": "ticketed", "deadline": 3},
        ONE_BOOKING | {"until": NO_STAGES} | WAITS,
    ),
    (
        BookingsGroup.cancel,
        {"booking_id": "b", "max_penalty": 1},
        OF_CANCELLATIONS | ONE_BOOKING | {"booking_reference": NO_TEXTS},
    ),
    (
        TicketsGroup.cancel,
        {"ticket_id": "t", "max_penalty": 1},
        OF_CANCELLATIONS | ONE_TICKET | {"ticket_number": NO_TEXTS},
    ),
    (TicketsGroup.wait_pdf, {"ticket_id": "t", "deadline": 3}, ONE_TICKET | WAITS),
    (
        TicketsGroup.save_pdf,
        {"ticket_id": "t", "path": "t.pdf"},
        ONE_TICKET | {"path": (None, 7, True, b"bytes", [], object())},
    ),
    (
        TicketsGroup.mark_paid,
        {"ticket_id": "t", "external_payment_ref": "p"},
        ONE_TICKET | PAYMENT | dict.fromkeys(("psp", "paid_at"), NO_TEXTS),
    ),
    (
        CatalogueGroup.departures,
        {"provider_id": "p"},
        {"provider_id": NO_IDS, "journey_ids": NO_JOURNEYS},
    ),
    (McpGroup.cancel_ticket, {"ticket_id": "t"}, ONE_TICKET | {"ticket_number": NO_TEXTS}),
    (
        McpGroup.call_tool,
        {"name": "tool", "arguments": {}},
        {"name": NO_IDS, "arguments": (None, 7, "text", [], {"a": object()}, {"a": NAN})},
    ),
]


@pytest.mark.parametrize("argument", invalid_settings(is_async=False))
@pytest.mark.parametrize("kind", [Ferry, AsyncFerry])
def test_a_client_refuses_a_wrong_setting(kind, argument):
    for value in invalid_settings(is_async=kind is AsyncFerry)[argument]:
        settings = {"token": "t", "base_url": URL} | {argument: value}
        error = caught(ConfigurationError, kind, **settings)
        assert str(error).startswith(argument), value
        assert not any(words in str(error) for words in ("secret", "admin", "\r", "\n", "\xe9"))
        assert error.outcome == "not_sent"


@pytest.mark.parametrize("part", [field.name for field in fields(Timeout)])
def test_a_part_of_a_timeout_is_named(part):
    error = caught(ConfigurationError, Ferry, "t", base_url=URL, timeout=Timeout(**{part: "soon"}))
    assert str(error).startswith(f"timeout.{part}: ")


@pytest.fixture
def ferry(clients):
    """A client that makes no call."""
    return client_of(clients, Exchanges(httpx.Response(200)))


@pytest.mark.parametrize("argument", OF_VIEWS)
def test_a_view_refuses_a_wrong_option(ferry, argument):
    values = OF_VIEWS[argument]
    if isinstance(ferry, Ferry):
        values += OF_SYNC_VIEWS.get(argument, ())
    for value in values:
        error = caught(InvalidInputError, ferry.with_options, **{argument: value})
        assert error.field.startswith(argument), value


@pytest.mark.parametrize("kind", [Ferry, AsyncFerry])
def test_a_view_takes_right_options(kind):
    ferry = kind("t", base_url=URL, timeout=3, deadline=0.5, max_retries=0, client_version=7)
    ferry.with_options(deadline=None, timeout=None, language=None, correlation_id=None)
    ferry.with_options(extra_headers={}, max_retries=10**9, timeout=Timeout(read=None))


CALLS = pytest.mark.parametrize(
    ("describe", "good", "wrong"),
    OF_CALLS,
    ids=[describe.__qualname__ for describe, _, _ in OF_CALLS],
)


@CALLS
def test_every_argument_has_a_row(describe, good, wrong):
    assert {*signature(describe).parameters} == {"self", *wrong}


@CALLS
def test_a_call_refuses_a_wrong_argument(describe, good, wrong):
    for argument, values in wrong.items():
        for value in values:
            error = caught(InvalidInputError, describe, None, **good | {argument: value})
            # Of a tool's two ways to say what is booked, the first is named.
            assert error.field.startswith((argument, "id")), (argument, value)
            assert error.outcome == "not_sent"


@pytest.fixture(scope="module")
def sailing():
    return Availability.model_validate(AVAILABILITY)


@pytest.mark.parametrize("argument", ["tariff", "place"])
@pytest.mark.parametrize("value", [None, 7, True, b"bytes", [], object(), httpx.Client])
def test_a_selection_refuses_another_value(sailing, argument, value):
    good = {"tariff": sailing.tariffs[0], "place": sailing.places[0]}
    assert caught(InvalidInputError, sailing.select, **good | {argument: value}).field == argument


@pytest.mark.parametrize("value", [None, *NO_TEXTS, "", *FORBIDDEN, "a\tb", "\u20ac", " a"])
def test_a_correlation_id_is_printable_ascii(value):
    assert caught(InvalidInputError, correlation(value).__enter__).field == "correlation_id"


@pytest.mark.parametrize(
    "value", [None, 7, "bookings.confirm", {}, ValueError(), ConnectionFailedError("reset")]
)
def test_only_an_unknown_outcome_is_recovered(ferry, value):
    assert caught(InvalidInputError, ferry.recover, value).field == "error"
