"""Callers who ask for the same change at once make one request; others keep apart."""

from functools import partial
from itertools import product

import pytest

import ferry_sdk as sdk
from ferry_sdk import AsyncFerry, Ferry, OutcomeUnknownError, PermissionDeniedError, RateLimitError
from tests.backend.gathering import UnderWay, at_once, eventually
from tests.support.both import Waiting
from tests.support.exchanges import caught
from tests.support.hold import Hold
from tests.support.tiers import mostly_long


@pytest.fixture
def together(ferry_sandbox, joined):
    def made(operation, first, *others):
        hold = Hold(ferry_sandbox, operation)
        leader = UnderWay(first)
        eventually(lambda: hold.held)
        followers = at_once(*others)
        eventually(lambda: len(joined) == len(followers))
        hold.release()
        return [leader, *followers]

    return made


def by_rest(ferry, booking_id):
    return ferry.bookings.confirm(booking_id)


def by_mcp(ferry, booking_id):
    return ferry.mcp.confirm_booking(booking_id)


BOTH = (by_rest, by_mcp)


@pytest.mark.parametrize("second", mostly_long(["same client", "view", "other client"]))
@pytest.mark.parametrize(("first_by", "second_by"), [*product(BOTH, BOTH)])
def test_two_callers_make_one_request(
    new_client, ferry_sandbox, booking_id, second, first_by, second_by, together
):
    one = new_client()
    other = {
        "same client": lambda: one,
        "view": lambda: one.with_options(language="fr", deadline=20),
        "other client": new_client,
    }[second]()
    leader, follower = together(
        "*confirm*", lambda: first_by(one, booking_id), lambda: second_by(other, booking_id)
    )
    assert leader.value() == follower.value()
    assert leader.value().booking_id == booking_id
    assert not follower.value().read_back
    counted = ferry_sandbox.counters
    assert counted.requests["bookings.confirm"] + counted.requests["mcp.confirm_booking"] == 1
    assert len(counted.effects) == 1


def test_a_crowd_makes_one_request(new_client, ferry_sandbox, booking_id, together):
    class Tokens:  # any callable thing
        __hash__ = None  # as a dataclass has it

        def __call__(self):
            return ferry_sandbox.token

    ferry = new_client(Tokens())
    calls = together("bookings.confirm", *[lambda: by_rest(ferry, booking_id)] * 22)
    assert {call.value() for call in calls} == {calls[0].value()}
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 1


@pytest.mark.parametrize("kind", ["sync and async", "two loops"])
def test_callers_of_different_kinds_make_one_request(
    ferry_sandbox, booking_id, asyncio_portal, trio_portal, kind, together
):
    settings = {"token": ferry_sandbox.token, "base_url": ferry_sandbox.base_url}
    aferry = AsyncFerry(**settings)
    on_asyncio, on_trio = Waiting(aferry, asyncio_portal), Waiting(aferry, trio_portal)
    with Ferry(**settings) as ferry, on_trio, on_asyncio:
        first, second = (ferry, on_asyncio) if kind == "sync and async" else (on_asyncio, on_trio)
        calls = (lambda: by_rest(first, booking_id), lambda: by_rest(second, booking_id))
        leader, follower = together("bookings.confirm", *calls)
        assert leader.value().booking_id == follower.value().booking_id
        assert ferry_sandbox.counters.requests["bookings.confirm"] == 1


@pytest.mark.usefixtures("look_once")
@pytest.mark.parametrize(
    ("fault", "details", "kind"),
    [
        ("rate_limited", {"retry_after": 3600}, RateLimitError),
        ("server_error", {}, OutcomeUnknownError),
        ("cut_before", {}, OutcomeUnknownError),
    ],
)
def test_both_get_the_error_and_a_later_call_is_a_new_request(
    new_client, ferry_sandbox, booking_id, fault, details, kind, together
):
    """Each an error of its own, which names the request that was sent."""
    ferry = new_client(deadline=4)
    ferry_sandbox.faults.add(fault, "bookings.confirm", **details)
    one, other = (ferry.with_options(correlation_id=name) for name in ("sent", "joined"))
    calls = (lambda: by_rest(one, booking_id), lambda: by_rest(other, booking_id))
    leader, follower = together("bookings.confirm", *calls)
    mine, theirs = leader.error(), follower.error()
    assert type(mine) is type(theirs) is kind
    assert mine.outcome == theirs.outcome
    assert mine.correlation_id == theirs.correlation_id == "sent"
    assert mine.operation == theirs.operation == "bookings.confirm"
    assert mine.attempts == theirs.attempts
    mine.attempts = ()
    assert theirs.attempts
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 1
    assert not ferry_sandbox.counters.effects
    ferry_sandbox.faults.clear()
    assert by_rest(ferry, booking_id).booking_id == booking_id
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 2


def test_other_bookings_and_tokens_wait_for_nobody(new_client, ferry_sandbox, new_booking):
    slow, quick = new_booking(), new_booking()
    ferry, stranger = new_client(), new_client(ferry_sandbox.read_only_token)
    hold = Hold(ferry_sandbox, "bookings.confirm")
    leader = UnderWay(lambda: by_rest(ferry, slow))
    eventually(lambda: hold.held)
    assert by_rest(ferry, quick).booking_id == quick
    assert caught(PermissionDeniedError, by_rest, stranger, slow).outcome == "rejected"
    assert not leader.is_over
    hold.release()
    assert leader.value().booking_id == slow
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 3


def test_one_who_joined_has_a_deadline_of_its_own(new_client, ferry_sandbox, booking_id):
    ferry = new_client()
    hold = Hold(ferry_sandbox, "bookings.confirm")
    leader = UnderWay(lambda: by_rest(ferry, booking_id))
    eventually(lambda: hold.held)
    for deadline in (0.2, 0.8, 3.2):  # a busy machine may take longer to join
        hurried = ferry.with_options(deadline=deadline)
        error = UnderWay(lambda hurried=hurried: by_rest(hurried, booking_id)).error()
        if error.outcome == "unknown":
            break
    assert type(error) is OutcomeUnknownError
    assert error.subject == {"booking_id": booking_id}
    assert not leader.is_over
    hold.release()
    assert leader.value().booking_id == booking_id


@pytest.mark.usefixtures("quick_switches")
def test_calls_of_threads_keep_apart(new_client, ferry_sandbox, new_booking):
    ferry = new_client()
    bookings = [new_booking() for _ in range(8)]

    def journey(index, booking_id):
        assert ferry.catalogue.vehicle_types()
        confirm = ferry.bookings.confirm if index % 2 else ferry.mcp.confirm_booking
        assert confirm(booking_id).booking_id == booking_id
        booking = ferry.bookings.get(booking_id)
        assert booking.booking_id == booking_id
        ticket_id = booking.tickets[0].id
        assert ferry.mcp.view_ticket(ticket_id).id == ticket_id
        cancel = ferry.mcp.cancel_ticket if index % 2 else ferry.tickets.cancel
        assert cancel(ticket_id).ticket_id == ticket_id
        caught(sdk.TicketNotFoundError, ferry.tickets.get, f"none-{index}")

    for call in at_once(*[partial(journey, *one) for one in enumerate(bookings)]):
        call.value()
    assert len(ferry_sandbox.counters.effects_of("bookings.confirm")) == 8
    assert len(ferry_sandbox.counters.effects_of("tickets.cancel")) == 8
    assert ferry_sandbox.counters.requests["mcp.initialize"] == 1
