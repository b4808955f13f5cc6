"""A token that a function gives: asked once, and once more after a 401."""

from dataclasses import replace
from functools import partial

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
from tests.support.tables import each

NOT_FOUND = reply(404)
REFUSED = reply(401, www_authenticate="Bearer")


class Tokens:
    """A caller's function: gives token after token, or fails."""

    def __init__(self, *given):
        self._left = list(given)
        self.asked = 0

    def __call__(self):
        self.asked += 1
        given = self._left.pop(0) if self._left else f"token-{self.asked}"
        if isinstance(given, BaseException):
            raise given
        return given


def bearer_tokens(driver):
    return [request.headers["Authorization"].removeprefix("Bearer ") for request in driver.requests]


@each("name", OPERATIONS)
def test_one_refresh_and_one_resend_follow_a_401(name):
    setting = "organisation_token" if name == "tickets.mark_paid" else "token"
    tokens = Tokens()
    driver = scripted_driver(REFUSED, NOT_FOUND)
    error = driver.error(NotFoundError, name, max_retries=0, **{setting: Secret(tokens)})
    assert (bearer_tokens(driver), tokens.asked) == (["token-1", "token-2"], 2)
    assert [attempt.status_code for attempt in error.attempts] == [401, 404]
    assert driver.waits == []
    tokens = Tokens()
    driver = scripted_driver(REFUSED, REFUSED)  # a second one is final
    error = driver.error(AuthenticationError, name, **{setting: Secret(tokens)})
    assert (tokens.asked, error.outcome, error.www_authenticate) == (2, "rejected", "Bearer")
    driver = scripted_driver(REFUSED)  # a token that is a text is sent once
    driver.error(AuthenticationError, name)
    assert len(driver.requests) == 1


def test_a_function_is_asked_before_the_first_call_and_after_a_401_only_each_for_its_own_token():
    for status in (400, 402, 403, 404, 407, 422):
        tokens = Tokens()
        driver = scripted_driver(reply(status))
        driver.error(FerryError, "bookings.create", token=Secret(tokens))
        assert tokens.asked == 1, status
    tokens = Tokens()
    secret = Secret(tokens)
    driver = scripted_driver(good([]), REFUSED, then=good([]))
    for name in ("catalogue.ports", "mcp.ports") * 3:
        driver.raw(name, token=secret)
    assert (tokens.asked, bearer_tokens(driver)) == (2, ["token-1"] * 2 + ["token-2"] * 5)
    plain, organisation = Tokens(), Tokens()
    settings = {"token": Secret(plain), "organisation_token": Secret(organisation)}
    driver = scripted_driver(REFUSED, reset, REFUSED, NOT_FOUND)
    driver.error(sdk.OutcomeUnknownError, "tickets.mark_paid", **settings)
    assert (organisation.asked, plain.asked) == (2, 2)
    assert driver.paths == ["/api/ticket/t-1/mark-paid"] * 2 + ["/api/ticket/t-1"] * 2
    driver = Driven(
        in_turn(replied(401), replied(session="s-1", result={"protocolVersion": "2025-11-25"})),
        in_turn(replied(401), replied(result={"structuredContent": MCP_TICKET | {"id": "t-1"}})),
    )
    tokens = Tokens()
    driver.error(AuthenticationError, "mcp.view_ticket", token=Secret(tokens))
    assert (driver.methods[0], tokens.asked) == ("initialize", 2)
    assert driver.raw("mcp.view_ticket", token=Secret(tokens)).parse().id == "t-1"


@each("name", ["catalogue.ports", "bookings.create", "bookings.confirm"])
def test_the_refresh_counts_as_no_retry_and_no_token_is_in_a_message_of_the_service(name):
    driver = scripted_driver(refused, REFUSED, refused, refused)
    error = driver.error(sdk.ConnectionFailedError, name, token=Secret(Tokens()), max_retries=2)
    assert [attempt.sent for attempt in error.attempts] == [False, True, False, False]
    assert len(driver.waits) == 2


@each(
    ("changes", "before", "last"),
    [
        ({}, reset, good(booking("ticketed", "Issued"))),
        ({"expect_total": "148.18"}, good(booking()), good(BOOKING_CONFIRMATION)),
    ],
)
def test_a_token_refused_by_a_guard_or_while_reading_back_is_renewed(changes, before, last):
    driver = scripted_driver(REFUSED, before, REFUSED, last)
    raw = driver.raw(described("bookings.confirm", **changes), token=Secret(Tokens()))
    assert isinstance(raw.parse(), sdk.BookingConfirmation)
    assert raw.parse().read_back == (not changes)
    assert bearer_tokens(driver) == ["token-1", "token-2", "token-2", "token-3"]


@each("given", ["", *FORBIDDEN, 7, None, b"token"])
@each("name", ["bookings.create", "mcp.create_booking", "catalogue.ports", "tickets.mark_paid"])
def test_a_token_that_cannot_stand_in_a_header_is_named_and_nothing_is_sent(name, given):
    driver = scripted_driver()
    which = "organisation_token" if name == "tickets.mark_paid" else "token"
    error = driver.error(ConfigurationError, name, **{which: Secret(Tokens(given), which)})
    assert f"{which}: expected printable ASCII" in str(error)
    assert "admin" not in f"{error} {error!r}"
    assert (error.outcome, driver.requests) == ("not_sent", [])


@each(("renewed", "kind"), [("b\nad", ConfigurationError), (LookupError("closed"), LookupError)])
def test_after_a_failed_refresh_the_next_call_asks_again(renewed, kind):
    secret = Secret(Tokens("old", renewed, "new"))
    driver = scripted_driver(REFUSED, REFUSED, good([]))
    error = driver.error(kind, "catalogue.ports", token=secret)
    if kind is ConfigurationError:
        assert [attempt.status_code for attempt in error.attempts] == [401]
    driver.raw("catalogue.ports", token=secret)
    assert bearer_tokens(driver) == ["old", "old", "new"]


@each("name", ["catalogue.ports", "bookings.create", "bookings.confirm"])
@each("replies", [[], [REFUSED]])
@each("kind", [LookupError, partial(AuthenticationError, status_code=401)])
def test_what_the_function_raises_goes_to_the_caller(name, replies, kind):
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
    assert tokens.asked == 1
    assert len([effect for effect in driver.effects if isinstance(effect, CallUser)]) == 1
    assert bearer_tokens(driver).count("token-0") <= len(names)
    tokens = Tokens(LookupError("closed"), "fresh")
    _, outcomes = together(seed, Secret(tokens), *NAMES)
    kinds = sorted(type(outcome).__name__ for outcome in outcomes)
    assert kinds == ["LookupError", "RawResponse", "RawResponse"], "the next in turn asks"
    assert tokens.asked == 2


@each("name", ["catalogue.ports", "bookings.create", "mcp.create_booking"])
def test_no_token_of_the_client_is_in_a_message_of_the_service(name):
    words = "token-1, token-2 and organisation-token may not"
    told = reply(403, {"message": words, "code": words}, www_authenticate=words)
    error = scripted_driver(REFUSED, told).error(
        sdk.PermissionDeniedError, name, token=Secret(Tokens())
    )
    for text in (str(error), error.message, error.code, error.www_authenticate, repr(error)):
        assert "[hidden], [hidden] and [hidden] may not" in str(text)
