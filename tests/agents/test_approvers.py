"""What `approve` may return, and what happens if it raises."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from ferry_sdk import ConflictError
from tests.agents.agent import approve_all, book, error, order, result_of, sailings
from tests.support.tiers import mostly_long

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferry_sdk.agents import AuditRecord
    from ferry_sdk.sandbox import Sandbox


@pytest.mark.parametrize("returned", mostly_long([False, None, 1, "yes", ["yes"]]))
def test_only_true_approves_a_write(
    toolkit_of: Callable[..., Any], sending_nothing: Any, returned: object
) -> None:
    toolkit = toolkit_of(writes=True, approve=lambda _: returned)
    with sending_nothing():
        refused = error(toolkit.call("bookings_create", order(sailings(toolkit)[0])), "declined")
    assert "Do not ask again" in refused["next_step"]


class SuspendedError(Exception):
    """An exception that suspends a program, such as LangGraph's GraphInterrupt."""


@pytest.mark.parametrize(
    "raised", [SuspendedError(), ZeroDivisionError(), ConflictError("late", status_code=409)]
)
def test_an_exception_of_approve_reaches_the_caller_and_nothing_is_sent(
    toolkit_of: Callable[..., Any], sending_nothing: Any, raised: Exception
) -> None:
    def approve(_: object) -> bool:
        raise raised

    records: list[AuditRecord] = []
    price = sailings(toolkit_of())[0]["tariffs"][0]["amount"]
    toolkit = toolkit_of(
        writes=True, approve=approve, spend_limit={"EUR": price}, audit=records.append
    )
    wanted = order(sailings(toolkit)[0])
    with sending_nothing():
        for _ in range(2):
            with pytest.raises(type(raised)) as caught:
                toolkit.call("bookings_create", wanted)
            assert caught.value is raised
            record = records[-1]
            assert (record.code, record.outcome) == ("interrupted", "not_sent")
        with pytest.raises(type(raised)):
            toolkit.perform("bookings_create", wanted, approve=approve)
    assert toolkit.unresolved == ()
    result_of(toolkit.perform("bookings_create", wanted, approve=approve_all))
    assert not toolkit.is_sending


def test_stop_iteration_from_approve_approves_nothing(
    toolkit_of: Callable[..., Any], sending_nothing: Any
) -> None:
    """Generators and coroutines turn a StopIteration into a RuntimeError."""
    toolkit = toolkit_of(writes=True)
    wanted = order(sailings(toolkit)[0])
    with sending_nothing(), suppress(RuntimeError):
        answer = toolkit.perform("bookings_create", wanted, approve=lambda _: next(iter(())))
        assert error(answer, "internal_error", status="failed")["outcome"] == "not_sent"
    result_of(toolkit.perform("bookings_create", wanted, approve=approve_all))


def test_a_digest_approves_only_the_request_that_a_person_saw(
    toolkit_of: Callable[..., Any], ferry_sandbox: Sandbox, sending_nothing: Any
) -> None:
    toolkit = toolkit_of(writes=True, approve=approve_all)
    booking_id = book(toolkit)["booking_id"]
    result_of(toolkit.call("bookings_confirm", {"booking_id": booking_id}))
    named = {"booking_id": booking_id}
    seen = toolkit.preview("bookings_cancel", named)
    ferry_sandbox.clock.advance(timedelta(days=29, hours=12))
    with sending_nothing():
        for digest in (seen.digest, ""):
            refused = toolkit.perform("bookings_cancel", named, approve=digest)
            error(refused, "price_changed")
    dearer = toolkit.preview("bookings_cancel", named)
    assert dearer.amount > seen.amount
    result_of(toolkit.perform("bookings_cancel", named, approve=dearer.digest))
