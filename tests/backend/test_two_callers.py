"""Callers who ask for the same change at once make one request, and hear the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import pytest

from ferry_sdk import (
    AsyncFerry,
    Ferry,
    FerryError,
    OutcomeUnknownError,
    RateLimitError,
)
from tests.backend.gathering import LONG, UnderWay, at_once, eventually
from tests.support.tiers import mostly_long

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyio.from_thread import BlockingPortal

    from ferry_sdk.sandbox import Sandbox

    NewClient = Callable[..., Ferry]

MEANWHILE = 1.5
"""Seconds in which others can join a request that the service holds back."""


def second_after_first(
    sandbox: Sandbox, first: Callable[[], object], second: Callable[[], object]
) -> tuple[UnderWay, UnderWay]:
    """Two calls: the second begins when the request of the first has arrived."""
    before = sum(sandbox.counters.requests.values())
    leader = UnderWay(first)
    eventually(lambda: sum(sandbox.counters.requests.values()) > before or leader.is_over)
    return leader, UnderWay(second)


def requests_of(sandbox: Sandbox, what: str) -> int:
    """How many requests of either protocol."""
    counted = sandbox.counters.requests
    names = {
        "confirm": ("bookings.confirm", "mcp.confirm_booking"),
        "cancel ticket": ("tickets.cancel", "mcp.cancel_ticket"),
    }[what]
    return sum(counted[name] for name in names)


def by_rest(ferry: Ferry, booking_id: str) -> Any:
    return ferry.bookings.confirm(booking_id)


def by_mcp(ferry: Ferry, booking_id: str) -> Any:
    return ferry.mcp.confirm_booking(booking_id)


@pytest.mark.parametrize("second", mostly_long(["same client", "view", "other client"]))
@pytest.mark.parametrize(
    ("first_by", "second_by"),
    [(by_rest, by_rest), (by_mcp, by_mcp), (by_rest, by_mcp), (by_mcp, by_rest)],
    ids=["REST", "MCP", "REST then MCP", "MCP then REST"],
)
def test_two_callers_make_one_request(
    new_client: NewClient,
    ferry_sandbox: Sandbox,
    booking_id: str,
    second: str,
    first_by: Callable[..., Any],
    second_by: Callable[..., Any],
) -> None:
    one = new_client()
    other = {
        "same client": lambda: one,
        "view": lambda: one.with_options(language="fr", deadline=20),
        "other client": new_client,
    }[second]()
    ferry_sandbox.faults.add("delay_before", "*confirm*", seconds=MEANWHILE)
    leader, follower = second_after_first(
        ferry_sandbox, lambda: first_by(one, booking_id), lambda: second_by(other, booking_id)
    )
    assert leader.value() == follower.value()
    assert leader.value().booking_id == booking_id
    assert not follower.value().read_back
    assert requests_of(ferry_sandbox, "confirm") == 1
    assert len(ferry_sandbox.counters.effects) == 1


def test_a_crowd_makes_one_request(
    new_client: NewClient, ferry_sandbox: Sandbox, booking_id: str
) -> None:
    ferry = new_client()
    ferry_sandbox.faults.add("delay_before", "bookings.confirm", seconds=MEANWHILE)
    leader, first = second_after_first(
        ferry_sandbox, lambda: by_rest(ferry, booking_id), lambda: by_rest(ferry, booking_id)
    )
    crowd = at_once(*[lambda: by_rest(ferry, booking_id)] * 20)
    assert {call.value() for call in (leader, first, *crowd)} == {leader.value()}
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 1


def test_a_ticket_is_cancelled_once_for_both_protocols(
    new_client: NewClient, ferry_sandbox: Sandbox, booking_id: str
) -> None:
    ferry = new_client()
    ticket_id = ferry.bookings.confirm(booking_id).ticket_id
    ferry_sandbox.faults.add("delay_before", "tickets.cancel", seconds=MEANWHILE)
    leader, follower = second_after_first(
        ferry_sandbox,
        lambda: ferry.tickets.cancel(ticket_id),
        lambda: ferry.mcp.cancel_ticket(ticket_id),
    )
    assert leader.value() == follower.value()
    assert requests_of(ferry_sandbox, "cancel ticket") == 1


@pytest.mark.parametrize("kind", ["sync and async", "two loops"])
def test_callers_of_different_kinds_make_one_request(
    ferry_sandbox: Sandbox,
    booking_id: str,
    asyncio_portal: BlockingPortal,
    trio_portal: BlockingPortal,
    kind: str,
) -> None:
    settings = {"token": ferry_sandbox.token, "base_url": ferry_sandbox.base_url}
    ferry, aferry = Ferry(**settings), AsyncFerry(**settings)
    ferry_sandbox.faults.add("delay_before", "bookings.confirm", seconds=MEANWHILE)

    def by_portal(portal: BlockingPortal) -> Any:
        return portal.call(aferry.bookings.confirm, booking_id)

    first, second = {
        "sync and async": (
            lambda: ferry.bookings.confirm(booking_id),
            lambda: by_portal(asyncio_portal),
        ),
        "two loops": (lambda: by_portal(asyncio_portal), lambda: by_portal(trio_portal)),
    }[kind]
    leader, follower = second_after_first(ferry_sandbox, first, second)
    try:
        assert leader.value().booking_id == follower.value().booking_id
        assert ferry_sandbox.counters.requests["bookings.confirm"] == 1
    finally:
        ferry.close()
        asyncio_portal.call(aferry.aclose)
        trio_portal.call(aferry.aclose)


@pytest.mark.parametrize(
    ("fault", "details", "kind"),
    [
        ("rate_limited", {"retry_after": 3600}, RateLimitError),
        ("server_error", {}, OutcomeUnknownError),
        ("cut_before", {}, OutcomeUnknownError),
    ],
)
def test_both_get_the_error(
    new_client: NewClient,
    ferry_sandbox: Sandbox,
    booking_id: str,
    fault: str,
    details: Any,
    kind: type[FerryError],
) -> None:
    ferry = new_client(deadline=4)
    ferry_sandbox.faults.add("delay_before", "bookings.confirm", seconds=MEANWHILE)
    ferry_sandbox.faults.add(fault, "bookings.confirm", **details)
    leader, follower = second_after_first(
        ferry_sandbox, lambda: by_rest(ferry, booking_id), lambda: by_rest(ferry, booking_id)
    )
    mine, theirs = leader.error(), follower.error()
    assert type(mine) is type(theirs) is kind
    assert mine is not theirs
    assert mine.outcome == theirs.outcome
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 1
    assert not ferry_sandbox.counters.effects


def test_the_error_of_one_who_joined_names_the_request_that_was_sent(
    new_client: NewClient, ferry_sandbox: Sandbox, booking_id: str
) -> None:
    leading = new_client().with_options(correlation_id="sent", deadline=4)
    joining = new_client().with_options(correlation_id="joined", deadline=4)
    ferry_sandbox.faults.add("delay_before", "bookings.confirm", seconds=MEANWHILE)
    ferry_sandbox.faults.add("cut_before", "bookings.confirm")
    leader, follower = second_after_first(
        ferry_sandbox, lambda: by_rest(leading, booking_id), lambda: by_rest(joining, booking_id)
    )
    mine, theirs = leader.error(), follower.error()
    assert mine.correlation_id == theirs.correlation_id == "sent"
    assert mine.operation == theirs.operation == "bookings.confirm"
    assert mine.attempts == theirs.attempts != ()


def test_what_one_does_to_an_error_does_not_reach_the_other(
    new_client: NewClient, ferry_sandbox: Sandbox, new_booking: Callable[[], str]
) -> None:
    ferry = new_client()
    booking_id = new_booking()
    ferry.bookings.confirm(booking_id)
    ferry_sandbox.faults.add("delay_before", "bookings.confirm", seconds=MEANWHILE)
    leader, follower = second_after_first(
        ferry_sandbox, lambda: by_rest(ferry, booking_id), lambda: by_rest(ferry, booking_id)
    )
    mine, theirs = leader.error(), follower.error()
    mine.attempts = ()
    assert theirs.attempts


def test_different_bookings_do_not_wait_for_each_other(
    new_client: NewClient, ferry_sandbox: Sandbox, new_booking: Callable[[], str]
) -> None:
    slow, quick = new_booking(), new_booking()
    ferry = new_client()
    ferry_sandbox.faults.add("delay_before", "bookings.confirm", seconds=MEANWHILE)
    leader, other = second_after_first(
        ferry_sandbox, lambda: by_rest(ferry, slow), lambda: by_rest(ferry, quick)
    )
    assert other.value().booking_id == quick
    assert not leader.is_over
    assert leader.value().booking_id == slow
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 2


def test_different_tokens_do_not_share(
    new_client: NewClient, ferry_sandbox: Sandbox, booking_id: str
) -> None:
    ferry = new_client()
    stranger = new_client(ferry_sandbox.read_only_token)
    ferry_sandbox.faults.add("delay_before", "bookings.confirm", seconds=MEANWHILE)
    leader, other = second_after_first(
        ferry_sandbox, lambda: by_rest(ferry, booking_id), lambda: by_rest(stranger, booking_id)
    )
    assert other.error().outcome == "rejected"
    assert leader.value().booking_id == booking_id


def test_a_token_of_any_callable_thing_can_write(
    new_client: NewClient, ferry_sandbox: Sandbox, booking_id: str
) -> None:
    class Tokens:
        __hash__ = None  # type: ignore[assignment] -- as a dataclass has it

        def __call__(self) -> str:
            return ferry_sandbox.token

    assert by_rest(new_client(Tokens()), booking_id).booking_id == booking_id


def test_after_it_is_over_a_call_is_a_new_request(
    new_client: NewClient, ferry_sandbox: Sandbox, booking_id: str
) -> None:
    ferry = new_client(deadline=3)
    ferry_sandbox.faults.add("cut_before", "bookings.confirm")
    ferry_sandbox.faults.add("server_error", "bookings.get", times=None)
    with pytest.raises(OutcomeUnknownError):
        by_rest(ferry, booking_id)
    ferry_sandbox.faults.clear()
    assert by_rest(ferry, booking_id).booking_id == booking_id
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 2


def test_one_who_joined_has_a_deadline_of_its_own(
    new_client: NewClient, ferry_sandbox: Sandbox, booking_id: str
) -> None:
    ferry = new_client()
    hurried = ferry.with_options(deadline=0.4)
    ferry_sandbox.faults.add("delay_before", "bookings.confirm", seconds=MEANWHILE * 2)
    leader, follower = second_after_first(
        ferry_sandbox, lambda: by_rest(ferry, booking_id), lambda: by_rest(hurried, booking_id)
    )
    error = follower.error()
    assert type(error) is OutcomeUnknownError
    assert error.subject == {"booking_id": booking_id}
    assert not leader.is_over
    assert leader.value().booking_id == booking_id


@pytest.mark.parametrize("fault", ["delay_after", "delay_before"])
def test_when_the_leader_is_cancelled_the_other_reads_back(
    portal: BlockingPortal, ferry_sandbox: Sandbox, booking_id: str, fault: str
) -> None:
    ferry = AsyncFerry(ferry_sandbox.token, base_url=ferry_sandbox.base_url)
    ferry_sandbox.faults.add(fault, "bookings.confirm", seconds=MEANWHILE)
    leader = portal.start_task_soon(ferry.bookings.confirm, booking_id)
    eventually(lambda: ferry_sandbox.counters.requests["bookings.confirm"])
    follower = portal.start_task_soon(ferry.bookings.confirm, booking_id)
    portal.call(_turn)
    leader.cancel()
    confirmation = follower.result(LONG)
    assert confirmation.booking_id == booking_id
    assert confirmation.read_back
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 1
    assert len(ferry_sandbox.counters.effects) == 1
    portal.call(ferry.aclose)


async def _turn() -> None:
    """Let the tasks that were started come to where they wait."""
    await anyio.sleep(0.2)


def test_when_one_who_joined_is_cancelled_the_leader_goes_on(
    portal: BlockingPortal, ferry_sandbox: Sandbox, booking_id: str
) -> None:
    ferry = AsyncFerry(ferry_sandbox.token, base_url=ferry_sandbox.base_url)
    ferry_sandbox.faults.add("delay_before", "bookings.confirm", seconds=MEANWHILE)
    leader = portal.start_task_soon(ferry.bookings.confirm, booking_id)
    eventually(lambda: ferry_sandbox.counters.requests["bookings.confirm"])
    follower = portal.start_task_soon(ferry.bookings.confirm, booking_id)
    portal.call(_turn)
    follower.cancel()
    assert not leader.result(LONG).read_back
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 1
    portal.call(ferry.aclose)
