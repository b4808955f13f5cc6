"""Whatever comes from outside, a call ends in its result or a FerryError, and writes once."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferry_sdk import SAFETY, FerryError, OutcomeUnknownError, UnexpectedResponseError
from ferry_sdk._engine.context import Session
from ferry_sdk._engine.effects import Send
from ferry_sdk._engine.settings import Secret
from ferry_sdk.models.enums import PaymentStatus, Stage, TicketStatus
from tests.engine.failures import pool_full, refused, reset, timed_out, undecodable
from tests.engine.recorder import Notes
from tests.engine.replies import Script, booking, good, reply, ticket
from tests.engine.writes import ANSWERS
from tests.support.driven import SETTINGS, Driver
from tests.support.operations import OPERATIONS, described
from tests.support.samples import CANCELLATION_FEE, VOUCHER
from tests.support.tiers import examples, mostly_long

NAMES = [name for name in OPERATIONS if name not in {"tickets.save_pdf", "tickets.read_pdf"}]
WRITES = {
    "bookings.create": "/api/booking",
    "bookings.confirm": "/api/booking/confirm",
    "bookings.cancel": "/api/booking/cancel",
    "tickets.cancel": "/api/ticket/cancel",
    "tickets.mark_paid": "/api/ticket/t-1/mark-paid",
}
NOTHING_DONE = {401, 404, 429}
"""After these a write may be sent again; 404 is an MCP session that is gone."""

GUARDS = {
    "bookings.confirm": [{"expect_total": "148.18"}, {"expect_total": 1}],
    "bookings.cancel": [{"max_penalty": 50}, {"max_penalty": 1}],
    "tickets.cancel": [{"max_penalty": 50}],
    "tickets.mark_paid": [{"booking_id": "b-1"}],
    "bookings.wait": [{"until": ["ticketed", "voided"], "deadline": 20}],
}
ticket_statuses = st.sampled_from([*TicketStatus, "Painted"])
bookings = st.builds(
    lambda stage, statuses, **changes: booking(stage, *statuses, **changes),
    st.sampled_from([*Stage, "moored"]),
    st.lists(ticket_statuses, max_size=3),
    payment_status=st.sampled_from([*PaymentStatus]),
    expire_at=st.sampled_from([None, "2027-01-15T08:17:00Z", "9999-12-31T23:59:59Z", "noon"]),
)
answers = st.one_of(
    bookings,
    st.builds(ticket, ticket_statuses),
    st.sampled_from([*ANSWERS.values(), CANCELLATION_FEE, VOUCHER, {"url": None}, {}, [], None]),
    st.just({"error": True, "code": "BOOKING_CONFIRM_ERROR", "message": "No"}),
    st.just({"protocolVersion": "2025-11-25"}),
)
DAY = "Fri, 15 Jan 2027"
retry_afters = ["0", "1", "29", "31", "61", "9" * 400, "soon", f"{DAY} 08:17:00 GMT"]
dates = [f"{DAY} 08:16:40 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "now", ""]
named = {"retry_after": retry_afters, "date": dates, "mcp_session_id": ["s-1", "s-2"]}
headers = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(texts) for name, texts in named.items()}
)
statuses = st.sampled_from([200, 200, 201, 302, 400, 401, 403, 404, 408, 409, 422, 429, 500, 503])
failures = st.sampled_from([refused, pool_full, reset, timed_out, undecodable])
replies = st.one_of(
    answers.map(good),
    st.builds(lambda value, named: good(value, **named), answers, headers),
    st.builds(lambda status, body, named: reply(status, body, **named), statuses, answers, headers),
    failures,
)


class Watching(Driver):
    """Notes what became of each request that is the write, in order."""

    def __init__(self, script, name, stage):
        super().__init__(script, Session(stage=stage))
        self._path = WRITES.get(name)
        self._tool = "paint_ship" if name == "mcp.call_tool" else name.removeprefix("mcp.")
        self.became = []

    def perform(self, effect):
        is_write = isinstance(effect, Send) and self._is_the_write(effect.request)
        try:
            said = super().perform(effect)
        except FerryError as error:
            self.became += [error] * is_write
            raise
        self.became += [said] * is_write
        return said

    def _is_the_write(self, request):
        if not request.url.endswith("/mcp"):
            return self._path is not None and request.url == SETTINGS.base_url + self._path
        message = json.loads(request.content or b"null")
        return message["method"] == "tools/call" and message["params"]["name"] == self._tool


def may_follow(said):
    """Whether the same write may be sent again after this."""
    if isinstance(said, FerryError):
        return said.outcome == "not_sent"
    return said.status_code in NOTHING_DONE


def judge(name, outcome, became, notes):
    """What a call said has to be true of what became of its write."""
    states = {*notes.states.values()}
    if SAFETY[name].is_read:
        assert states == set()
        return
    assert all(may_follow(said) for said in became[:-1])
    if not isinstance(outcome, FerryError):
        assert states == {"done"}
        assert became
    elif outcome.outcome == "unknown":
        assert states == {"unknown"}
        assert not may_follow(became[-1])
        redirected = isinstance(outcome, UnexpectedResponseError) and outcome.is_redirect
        assert redirected or isinstance(outcome, OutcomeUnknownError)
    else:
        assert states <= {outcome.outcome}
        assert outcome.outcome == "rejected" or all(may_follow(said) for said in became)


@pytest.mark.parametrize("name", mostly_long(NAMES, short=6))
@given(data=st.data())
@examples(40)
def test_any_course_of_events_ends_truthfully(name, data):
    said = data.draw(st.lists(replies, max_size=8), label="said")
    last = data.draw(replies, label="then")
    deadline = data.draw(st.none() | st.sampled_from([0.1, 1.0, 7.5, 100.0]), label="deadline")
    max_retries = data.draw(st.integers(0, 3), label="max_retries")
    function = data.draw(st.booleans(), label="token function")
    changes = data.draw(st.sampled_from([{}, *GUARDS.get(name, [])]), label="arguments")
    stage = data.draw(st.sampled_from(["bare", "unknown"]), label="session")
    driver = Watching(Script(*said, then=last), name, stage)
    notes = Notes()
    settings = {"deadline": deadline, "max_retries": max_retries, "journal": notes}
    settings["token"] = Secret((lambda: "token") if function else "token")
    try:
        outcome = driver.raw(described(name, **changes), **settings).parse()
    except FerryError as error:
        outcome = error
    judge(name, outcome, driver.became, notes)
    if isinstance(outcome, FerryError):
        assert outcome.operation == name
        assert outcome.correlation_id
    own = changes.get("deadline", 60) if "wait" in name else deadline
    if own is not None:
        assert driver.now <= 1000 + own + 1e-6
    assert max(driver.waits, default=0.0) <= max(60.0, deadline or 0.0)
    assert len(driver.requests) <= 100
