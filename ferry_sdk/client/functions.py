"""The type of functions that take a client of either kind."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

from ferry_sdk.client import AsyncFerry, Ferry

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


def client_function(
    function: Callable[Concatenate[Any, P], T | Coroutine[Any, Any, T]],
) -> ClientFunction[P, T]:
    """Tell type checkers what a function returns for each kind of client."""
    return cast("ClientFunction[P, T]", function)
