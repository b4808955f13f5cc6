"""Functions that take a client of either kind."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

from ferry_sdk._engine.batch import Plan
from ferry_sdk._transport.async_ import AsyncTransport
from ferry_sdk._transport.sync import Transport
from ferry_sdk.client import AsyncFerry, Ferry
from ferry_sdk.resources.base import method, signature_of

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class ClientFunction(Protocol[P, T_co]):
    """A function of a client. With an `AsyncFerry`, the result is awaited."""

    @overload
    def __call__(self, ferry: Ferry, *args: P.args, **kwargs: P.kwargs) -> T_co: ...
    @overload
    def __call__(
        self, ferry: AsyncFerry, *args: P.args, **kwargs: P.kwargs
    ) -> Coroutine[Any, Any, T_co]: ...


def plan_function(describe: Callable[Concatenate[Any, P], Plan[T]]) -> ClientFunction[P, T]:
    """Make a function of a client that performs the plan that it describes."""
    call_sync = method(describe).over(Transport)
    call_async = method(describe).over(AsyncTransport)

    @wraps(describe)
    def call(ferry: Ferry | AsyncFerry, *args: P.args, **kwargs: P.kwargs) -> object:
        perform = call_async if isinstance(ferry, AsyncFerry) else call_sync
        try:
            return perform(ferry, *args, **kwargs)
        finally:
            del args, kwargs  # keep travellers' data out of tracebacks that show variables

    vars(call)["__signature__"] = signature_of(describe)
    return cast("ClientFunction[P, T]", call)


def client_function(
    function: Callable[Concatenate[Any, P], T | Coroutine[Any, Any, T]],
) -> ClientFunction[P, T]:
    """Tell type checkers what a function returns for each kind of client."""
    return cast("ClientFunction[P, T]", function)
