"""Callers who ask for the same change at once make one request; others keep apart."""

from functools import partial

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
    """Makes calls while the first is held at the service, so that the others join it."""

    def call(operation, first, *others):
        hold = Hold(ferry_sandbox, operation)
        leader = UnderWay(first)
        eventually(lambda: hold.held)
        followers = at_once(*others)
        eventually(lambda: len(joined) == len(followers))
        hold.release()
        return [leader, *followers]

    return call


def by_rest(ferry, booking_id):
    return ferry.bookings.confirm(booking_id)


def by_mcp(ferry, booking_id):
    return ferry.mcp.confirm_booking(booking_id)


def same_client(ferry, _):
    return ferry


def view(ferry, _):
    return ferry.with_options(language="fr", deadline=20)


def other_client(_, new_client):
    return new_client()


@pytest.mark.parametrize("second", mostly_long([same_client, view, other_client]))
@pytest.mark.parametrize("first_by", [by_rest, by_mcp])
@pytest.mark.parametrize("second_by", [by_rest, by_mcp])
def test_two_callers_make_one_request(
    new_client, ferry_sandbox, booking_id, second, first_by, second_by, together
):
    ferry = new_client()
    other = second(ferry, new_client)
    leader, follower = together(
        "*confirm*", lambda: first_by(ferry, booking_id), lambda: second_by(other, booking_id)
    )
    assert leader.value() == follower.value()
    assert leader.value().booking_id == booking_id
    assert not follower.value().read_back
    counters = ferry_sandbox.counters
    assert counters.requests["bookings.confirm"] + counters.requests["mcp.confirm_booking"] == 1
    assert len(counters.effects) == 1


def test_a_crowd_makes_one_request(new_client, ferry_sandbox, booking_id, together):
    class Tokens:
        """A token function that cannot be hashed, as that of a dataclass cannot."""

        __hash__ = None

        def __call__(self):
            return ferry_sandbox.token

    ferry = new_client(Tokens())
    calls = together("bookings.confirm", *[lambda: by_rest(ferry, booking_id)] * 22)
    assert {call.value() for call in calls} == {calls[0].value()}
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("sync", "asyncio", id="sync and async"),
        pytest.param("asyncio", "trio", id="two loops"),
    ],
)
def test_callers_of_different_kinds_make_one_request(
    ferry_sandbox, booking_id, asyncio_portal, trio_portal, first, second, together
):
    settings = {"token": ferry_sandbox.token, "base_url": ferry_sandbox.base_url}
    aferry = AsyncFerry(**settings)
    on_asyncio = Waiting(aferry, asyncio_portal)
    on_trio = Waiting(aferry, trio_portal)
    with Ferry(**settings) as ferry, on_trio, on_asyncio:
        callers = {"sync": ferry, "asyncio": on_asyncio, "trio": on_trio}
        leader, follower = together(
            "bookings.confirm",
            lambda: by_rest(callers[first], booking_id),
            lambda: by_rest(callers[second], booking_id),
        )
        assert leader.value().booking_id == follower.value().booking_id
        assert ferry_sandbox.counters.requests["bookings.confirm"] == 1


FAULTS = {
    "rate_limited": {"retry_after": 3600},
    "server_error": {},
    "cut_before": {},
}


class TestFailure:
    """A request that two callers share fails."""

    @pytest.fixture(params=FAULTS)
    def fault(self, request):
        return request.param

    @pytest.fixture
    def kind(self, fault):
        """The class of the error that the fault leads to."""
        return RateLimitError if fault == "rate_limited" else OutcomeUnknownError

    @pytest.fixture
    def ferry(self, new_client):
        return new_client(deadline=4)

    @pytest.fixture
    def errors(self, ferry, ferry_sandbox, booking_id, fault, together, look_once):
        """The errors of the caller that sent the request and of the one that joined it."""
        ferry_sandbox.faults.add(fault, "bookings.confirm", **FAULTS[fault])
        sender = ferry.with_options(correlation_id="sent")
        joiner = ferry.with_options(correlation_id="joined")
        calls = together(
            "bookings.confirm",
            lambda: by_rest(sender, booking_id),
            lambda: by_rest(joiner, booking_id),
        )
        return [call.error() for call in calls]

    def test_both_errors_name_the_request_sent(self, errors, ferry_sandbox, kind):
        for error in errors:
            assert type(error) is kind
            assert error.correlation_id == "sent"
            assert error.operation == "bookings.confirm"
        assert errors[0].outcome == errors[1].outcome
        assert errors[0].attempts == errors[1].attempts
        assert ferry_sandbox.counters.requests["bookings.confirm"] == 1
        assert not ferry_sandbox.counters.effects

    def test_each_caller_has_its_own_error(self, errors):
        first, second = errors
        first.attempts = ()
        assert second.attempts

    @pytest.mark.usefixtures("errors")
    def test_a_later_call_is_a_new_request(self, ferry, ferry_sandbox, booking_id):
        ferry_sandbox.faults.clear()
        assert by_rest(ferry, booking_id).booking_id == booking_id
        assert ferry_sandbox.counters.requests["bookings.confirm"] == 2


class TestOthers:
    """A confirmation is under way; who does not ask for the same does not wait for it."""

    @pytest.fixture
    def ferry(self, new_client):
        return new_client()

    @pytest.fixture
    def hold(self, ferry_sandbox):
        return Hold(ferry_sandbox, "bookings.confirm")

    @pytest.fixture
    def other(self, new_booking):
        """The id of another booking; it is made before the requests are counted."""
        return new_booking()

    @pytest.fixture
    def leader(self, ferry, booking_id, hold):
        """The call that is held at the service."""
        call = UnderWay(lambda: by_rest(ferry, booking_id))
        eventually(lambda: hold.held)
        return call

    def test_another_booking_waits_for_nobody(
        self, ferry, ferry_sandbox, booking_id, other, hold, leader
    ):
        assert by_rest(ferry, other).booking_id == other
        assert not leader.is_over
        hold.release()
        assert leader.value().booking_id == booking_id
        assert ferry_sandbox.counters.requests["bookings.confirm"] == 2

    def test_another_token_waits_for_nobody(
        self, new_client, ferry_sandbox, booking_id, hold, leader
    ):
        stranger = new_client(ferry_sandbox.read_only_token)
        assert caught(PermissionDeniedError, by_rest, stranger, booking_id).outcome == "rejected"
        assert not leader.is_over
        hold.release()
        assert leader.value().booking_id == booking_id
        assert ferry_sandbox.counters.requests["bookings.confirm"] == 2

    def test_one_who_joined_has_its_own_deadline(self, ferry, booking_id, hold, leader):
        for deadline in (0.2, 0.8, 3.2):  # a busy machine may take longer to join
            hurried = ferry.with_options(deadline=deadline)
            error = UnderWay(partial(by_rest, hurried, booking_id)).error()
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
