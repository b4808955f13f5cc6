"""A token that a function gives: asked once, and once more after a 401."""

from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ferry_sdk as sdk
from ferry_sdk import AuthenticationError, ConfigurationError, FerryError, NotFoundError
from ferry_sdk._engine.effects import CallUser
from ferry_sdk._engine.settings import Secret
from tests.backend.canaries import FORBIDDEN
from tests.engine.failures import refused, reset
from tests.engine.interleaved import Interleaved
from tests.engine.replies import booking, good, reply, scripted_driver
from tests.support.driven import SETTINGS, Driven, in_turn, replied
from tests.support.mcp_samples import TICKET as MCP_TICKET
from tests.support.operations import OPERATIONS, described
from tests.support.samples import BOOKING_CONFIRMATION

NOT_FOUND = reply(404)
REFUSED = reply(401, www_authenticate="Bearer")


class Tokens:
    """A caller's function: returns token after token, or raises an error."""

    def __init__(self, *tokens):
        self._left = list(tokens)
        self.calls = 0

    def __call__(self):
        self.calls += 1
        token = self._left.pop(0) if self._left else f"token-{self.calls}"
        if isinstance(token, BaseException):
            raise token
        return token


@pytest.fixture
def tokens():
    """Give a function that returns ``token-1``, ``token-2`` and so on."""
    return Tokens()


def bearer_tokens(driver):
    return [request.headers["Authorization"].removeprefix("Bearer ") for request in driver.requests]


def setting_of(name):
    """Return the setting with the token of an operation."""
    return "organisation_token" if name == "tickets.mark_paid" else "token"


every_operation = pytest.mark.parametrize("name", OPERATIONS)


@every_operation
def test_401_is_followed_by_a_refresh(name, tokens):
    driver = scripted_driver(REFUSED, NOT_FOUND)
    token = {setting_of(name): Secret(tokens)}
    error = driver.error(NotFoundError, name, max_retries=0, **token)
    assert (bearer_tokens(driver), tokens.calls) == (["token-1", "token-2"], 2)
    assert [attempt.status_code for attempt in error.attempts] == [401, 404]
    assert driver.waits == []


@every_operation
def test_second_401_is_final(name, tokens):
    driver = scripted_driver(REFUSED, REFUSED)
    error = driver.error(AuthenticationError, name, **{setting_of(name): Secret(tokens)})
    assert (tokens.calls, error.outcome, error.www_authenticate) == (2, "rejected", "Bearer")


@every_operation
def test_token_that_is_a_text_is_sent_once(name):
    driver = scripted_driver(REFUSED)
    driver.error(AuthenticationError, name)
    assert len(driver.requests) == 1


@pytest.mark.parametrize("status", [400, 402, 403, 404, 407, 422])
def test_no_other_status_refreshes(status, tokens):
    driver = scripted_driver(reply(status))
    driver.error(FerryError, "bookings.create", token=Secret(tokens))
    assert tokens.calls == 1


def test_token_is_used_until_a_401(tokens):
    secret = Secret(tokens)
    driver = scripted_driver(good([]), REFUSED, then=good([]))
    for name in ("catalogue.ports", "mcp.ports") * 3:
        driver.raw(name, token=secret)
    assert (tokens.calls, bearer_tokens(driver)) == (2, ["token-1"] * 2 + ["token-2"] * 5)


def test_each_request_refreshes_its_own_token(tokens):
    organisation = Tokens()
    settings = {"token": Secret(tokens), "organisation_token": Secret(organisation)}
    driver = scripted_driver(REFUSED, reset, REFUSED, NOT_FOUND)
    driver.error(sdk.OutcomeUnknownError, "tickets.mark_paid", **settings)
    assert (organisation.calls, tokens.calls) == (2, 2)
    assert driver.paths == ["/api/ticket/t-1/mark-paid"] * 2 + ["/api/ticket/t-1"] * 2


def test_handshake_refreshes_the_token(tokens):
    driver = Driven(
        in_turn(replied(401), replied(session="s-1", result={"protocolVersion": "2025-11-25"})),
        in_turn(replied(401), replied(result={"structuredContent": MCP_TICKET | {"id": "t-1"}})),
    )
    driver.error(AuthenticationError, "mcp.view_ticket", token=Secret(tokens))
    assert (driver.methods[0], tokens.calls) == ("initialize", 2)
    assert driver.raw("mcp.view_ticket", token=Secret(tokens)).parse().id == "t-1"


@pytest.mark.parametrize("name", ["catalogue.ports", "bookings.create", "bookings.confirm"])
def test_refresh_counts_as_no_retry(name, tokens):
    driver = scripted_driver(refused, REFUSED, refused, refused)
    error = driver.error(sdk.ConnectionFailedError, name, token=Secret(tokens), max_retries=2)
    assert [attempt.sent for attempt in error.attempts] == [False, True, False, False]
    assert len(driver.waits) == 2


@pytest.mark.parametrize(
    ("changes", "before", "last"),
    [
        pytest.param({}, reset, good(booking("ticketed", "Issued")), id="read back"),
        pytest.param(
            {"expect_total": "148.18"}, good(booking()), good(BOOKING_CONFIRMATION), id="guard"
        ),
    ],
)
def test_reads_for_a_write_refresh_the_token(changes, before, last, tokens):
    driver = scripted_driver(REFUSED, before, REFUSED, last)
    raw = driver.raw(described("bookings.confirm", **changes), token=Secret(tokens))
    assert isinstance(raw.parse(), sdk.BookingConfirmation)
    assert raw.parse().read_back == (not changes)
    assert bearer_tokens(driver) == ["token-1", "token-2", "token-2", "token-3"]


@pytest.mark.parametrize(
    "name", ["bookings.create", "mcp.create_booking", "catalogue.ports", "tickets.mark_paid"]
)
@pytest.mark.parametrize("token", ["", *FORBIDDEN, 7, None, b"token"], ids=repr)
def test_token_that_is_no_header_is_not_sent(name, token):
    driver = scripted_driver()
    setting = setting_of(name)
    secret = Secret(Tokens(token), setting)
    error = driver.error(ConfigurationError, name, **{setting: secret})
    assert f"{setting}: expected printable ASCII" in str(error)
    assert "admin" not in f"{error} {error!r}"
    assert (error.outcome, driver.requests) == ("not_sent", [])


@pytest.mark.parametrize(
    ("renewed", "kind"),
    [
        pytest.param("b\nad", ConfigurationError, id="invalid token"),
        pytest.param(LookupError("closed"), LookupError, id="error"),
    ],
)
def test_next_call_asks_after_a_failed_refresh(renewed, kind):
    secret = Secret(Tokens("old", renewed, "new"))
    driver = scripted_driver(REFUSED, REFUSED, good([]))
    error = driver.error(kind, "catalogue.ports", token=secret)
    if kind is ConfigurationError:
        assert [attempt.status_code for attempt in error.attempts] == [401]
    driver.raw("catalogue.ports", token=secret)
    assert bearer_tokens(driver) == ["old", "old", "new"]


@pytest.mark.parametrize("name", ["catalogue.ports", "bookings.create", "bookings.confirm"])
@pytest.mark.parametrize("replies", [[], [REFUSED]], ids=["first token", "after a 401"])
@pytest.mark.parametrize(
    "kind",
    [LookupError, partial(AuthenticationError, status_code=401)],
    ids=["LookupError", "AuthenticationError"],
)
def test_error_of_the_function_goes_to_the_caller(name, replies, kind):
    trouble = kind("the vault is closed")
    tokens = Tokens(*["token-1"] * len(replies), trouble)
    driver = scripted_driver(*replies)
    assert driver.error(type(trouble), name, token=Secret(tokens)) is trouble
    assert len(driver.requests) == len(replies)


def together(seed, secret, *names):
    def answer(request):
        is_fresh = request.headers["Authorization"] == "Bearer fresh"
        return good([])(request) if is_fresh else REFUSED

    driver = scripted_driver(then=answer)
    steps = [driver.steps(described(name), replace(SETTINGS, token=secret)) for name in names]
    courses = Interleaved(driver, seed)
    return driver, courses.outcomes(*map(courses.course, steps))


NAMES = ("catalogue.ports", "mcp.ports", "catalogue.journeys")


@given(
    seed=st.integers(0, 10**6),
    names=st.lists(st.sampled_from(NAMES), min_size=2, max_size=5),
    is_first=st.booleans(),
)
def test_calls_at_the_same_time_ask_once(seed, names, is_first):
    tokens = Tokens("fresh")
    secret = Secret(tokens)
    if not is_first:
        secret.current = "token-0"
    driver, outcomes = together(seed, secret, *names)
    assert [raw.status_code for raw in outcomes] == [200] * len(names)
    assert tokens.calls == 1
    assert len([effect for effect in driver.effects if isinstance(effect, CallUser)]) == 1
    assert bearer_tokens(driver).count("token-0") <= len(names)


@given(seed=st.integers(0, 10**6))
def test_next_in_turn_asks_after_a_failure(seed):
    tokens = Tokens(LookupError("closed"), "fresh")
    _, outcomes = together(seed, Secret(tokens), *NAMES)
    kinds = sorted(type(outcome).__name__ for outcome in outcomes)
    assert kinds == ["LookupError", "RawResponse", "RawResponse"]
    assert tokens.calls == 2


@pytest.mark.parametrize("name", ["catalogue.ports", "bookings.create", "mcp.create_booking"])
def test_error_shows_no_token_of_the_client(name, tokens):
    words = "token-1, token-2 and organisation-token may not"
    refusal = reply(403, {"message": words, "code": words}, www_authenticate=words)
    driver = scripted_driver(REFUSED, refusal)
    error = driver.error(sdk.PermissionDeniedError, name, token=Secret(tokens))
    for text in (str(error), error.message, error.code, error.www_authenticate, repr(error)):
        assert "[hidden], [hidden] and [hidden] may not" in str(text)
