"""Equal reads of one account that are under way at the same time are one request.

Only searches are shared: `Operation.sharing_key` says which. For example, three tasks search the
same sailings at once:

1. Each has the same key: the account, the address and all that the request says. The first task
   sends the request, and the other two wait for it (`SingleFlight`).
2. The reply arrives and is parsed once. All three return the same records, which are immutable.
3. If the service refuses the search, each of the three raises an error of its own.
4. If the first task is cancelled instead, its request is stopped, and the second one sends its
   own. The third one waits for that. If all three are cancelled, nothing more is sent.

The first task also leaves the others alone if its deadline, which is not part of the key, leaves no
time for an answer or a retry, or if its client is closed. They send their own request then, too.

A request that goes on after its caller has left was considered. It saves the second request in
these cases, but a sync search without a deadline would need a thread.
"""

from __future__ import annotations

from collections.abc import Hashable
from copy import copy
from typing import Final

from ferry_sdk._engine.attempts import send_with_retries
from ferry_sdk._engine.context import Context, Result
from ferry_sdk._engine.effects import CheckOpen, Flow, SingleFlight, T
from ferry_sdk._engine.operation import Operation
from ferry_sdk._engine.retry import failure_kind
from ferry_sdk.errors import FerryError

_LITTLE_TIME: Final = 0.5
"""Seconds before a deadline in which it may be the cause of a failure, such as of a full pool."""


def share_read(operation: Operation[T], sharing_key: bytes, context: Context) -> Flow[Result[T]]:
    """Send the request, or wait for an equal one that is under way.

    Raises:
        FerryError: The failure of the request.
        RequestTimeoutError: The deadline passed before the request of another caller ended.
    """

    def send() -> Flow[Result[T] | FerryError]:
        try:
            return (yield from send_with_retries(operation, context))
        except FerryError as error:
            if _is_cut_short(error, operation, context):
                raise
            failure = error.with_traceback(None)

        try:
            yield from CheckOpen()
        except FerryError:  # the caller has left, so that its failure says nothing to the others
            raise failure from failure.__cause__
        context.describe(failure, operation.name)
        return failure

    key = _key(operation, sharing_key, context)
    outcome = yield from SingleFlight(key, send, context.deadline, may_run_again=True)
    if isinstance(outcome, FerryError):
        raise copy(outcome) from outcome.__cause__
    return outcome


def _key(operation: Operation[T], sharing_key: bytes, context: Context) -> Hashable:
    """Return what equal requests have in common, apart from their correlation ids.

    It has the settings by which the same request may end otherwise. Raw responses are shared among
    themselves, because only theirs keep the body.
    """
    settings = context.settings
    return (
        operation.name,
        settings.base_url,
        settings.token.account,
        settings.language,
        settings.client_version,
        frozenset(settings.headers.items()),
        id(settings.http_client),
        settings.timeout,
        settings.max_retries,
        context.keeps_body,
        sharing_key,
    )


def _is_cut_short(failure: FerryError, operation: Operation[T], context: Context) -> bool:
    """Return whether the deadline may have ended the attempts, and not the service."""
    remaining = context.remaining()
    if remaining is None or failure_kind(failure) not in operation.safety.retry_on:
        return False
    has_retries_left = len(context.state.attempts) <= context.settings.max_retries
    return has_retries_left or remaining < _LITTLE_TIME
