"""What an approver may say, and what comes of it when it raises."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from ferry_sdk import ConflictError
from tests.agents.agent import done, error, order, sailings
from tests.support.tiers import mostly_long

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferry_sdk.agents import AuditRecord


def yes(_: object) -> bool:
    return True


@pytest.mark.parametrize("said", mostly_long([False, None, 1, "yes", ["yes"]]))
def test_anything_but_a_yes(
    toolkit_of: Callable[..., Any], sending_nothing: Any, said: object
) -> None:
    toolkit = toolkit_of(writes=True, approve=lambda _: said)
    with sending_nothing():
        refused = error(toolkit.call("bookings_create", order(sailings(toolkit)[0])), "declined")
    assert "Do not ask again" in refused["next_step"]


class SuspendedError(Exception):
    """What a framework raises to stop here and come back, such as LangGraph's GraphInterrupt."""


@pytest.mark.parametrize(
    "raised", [SuspendedError(), ZeroDivisionError(), ConflictError("late", status_code=409)]
)
def test_what_an_approver_raises_reaches_the_caller_and_nothing_is_sent(
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
    done(toolkit.perform("bookings_create", wanted, approve=yes))
    assert not toolkit.is_sending


def test_an_approver_that_has_run_out_agrees_to_nothing(
    toolkit_of: Callable[..., Any], sending_nothing: Any
) -> None:
    """A StopIteration passes through no generator and no coroutine."""
    toolkit = toolkit_of(writes=True)
    wanted = order(sailings(toolkit)[0])
    with sending_nothing(), suppress(RuntimeError):
        answer = toolkit.perform("bookings_create", wanted, approve=lambda _: next(iter(())))
        assert error(answer, "internal_error", status="failed")["outcome"] == "not_sent"
    done(toolkit.perform("bookings_create", wanted, approve=yes))
