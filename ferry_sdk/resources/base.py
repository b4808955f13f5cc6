"""A call described once, bound to either client."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from functools import update_wrapper
from types import FunctionType, MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from ferry_sdk._engine.operation import Operation
from ferry_sdk._engine.raw_response import RawResponse
from ferry_sdk._transport.async_ import AsyncRawTransport, AsyncTransport
from ferry_sdk._transport.sync import RawTransport, Transport
from ferry_sdk.errors import FerryError, trim

P = ParamSpec("P")
T = TypeVar("T")
AnyTransport = Transport | AsyncTransport | RawTransport | AsyncRawTransport
TransportT_co = TypeVar("TransportT_co", bound=AnyTransport, covariant=True)


class Resource(Generic[TransportT_co]):
    """A group of calls, made through one transport.

    Attributes:
        transport: What performs them.
    """

    def __init__(self, transport: TransportT_co) -> None:
        self.transport = transport


class method(Generic[P, T]):  # noqa: N801 -- used as a decorator, like property
    """Turns the description of a call into a method of either client.

    On the class it stays the description, so that ``Tickets.get(None, "t1")`` is an
    `Operation` and makes no call.
    """

    def __init__(self, describe: Callable[Concatenate[Any, P], Operation[T]]) -> None:
        def described(*args: P.args, **kwargs: P.kwargs) -> Operation[T]:
            try:
                return describe(None, *args, **kwargs)
            except FerryError as error:
                raise trim(error) from error.__cause__
            finally:
                del args, kwargs  # a traceback that shows variables shows no traveller

        def call(self: Resource[Transport], *args: P.args, **kwargs: P.kwargs) -> T:
            try:
                operation = described(*args, **kwargs)
            finally:
                del args, kwargs
            try:
                return self.transport.run(operation)
            except BaseException as error:
                if isinstance(error, Exception) and not isinstance(error, FerryError):
                    raise  # a caller's own, of a function that was asked
                raise trim(error) from error.__cause__

        async def acall(self: Resource[AsyncTransport], *args: P.args, **kwargs: P.kwargs) -> T:
            try:
                operation = described(*args, **kwargs)
            finally:
                del args, kwargs
            try:
                return await self.transport.run(operation)
            except BaseException as error:
                if isinstance(error, Exception) and not isinstance(error, FerryError):
                    raise  # a caller's own, of a function that was asked
                raise trim(error) from error.__cause__

        self.describe = describe
        self._by_transport: dict[type[AnyTransport], Callable[..., Any]] = {
            Transport: _like(describe, call, "{}"),
            AsyncTransport: _like(describe, acall, "{}"),
            RawTransport: _like(describe, call, "RawResponse[{}]"),
            AsyncRawTransport: _like(describe, acall, "RawResponse[{}]"),
        }
        self.__doc__ = describe.__doc__

    @overload
    def __get__(
        self, instance: None, owner: type[object]
    ) -> Callable[Concatenate[Any, P], Operation[T]]: ...
    @overload
    def __get__(
        self, instance: Resource[Transport], owner: type[object] | None = None
    ) -> Callable[P, T]: ...
    @overload
    def __get__(
        self, instance: Resource[AsyncTransport], owner: type[object] | None = None
    ) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(
        self, instance: Resource[RawTransport], owner: type[object] | None = None
    ) -> Callable[P, RawResponse[T]]: ...
    @overload
    def __get__(
        self, instance: Resource[AsyncRawTransport], owner: type[object] | None = None
    ) -> Callable[P, Coroutine[Any, Any, RawResponse[T]]]: ...
    def __get__(
        self, instance: Resource[Any] | None, owner: type[object] | None = None
    ) -> Callable[..., Any]:
        if instance is None:
            return self.describe
        return MethodType(self._by_transport[type(instance.transport)], instance)


def _like(describe: Callable[..., Any], made: Callable[..., Any], gives: str) -> Callable[..., Any]:
    """The wrapper with the description's name and words, and the type of what it gives.

    Its globals are the description's, in which its annotations have a meaning, over its own.
    """
    code: Any = made
    words: Any = inspect.unwrap(describe)
    names = {**globals(), **words.__globals__}
    wrapper: Any = FunctionType(code.__code__, names, closure=code.__closure__)
    update_wrapper(wrapper, describe)
    signature = inspect.signature(describe)
    answer = gives.format(signature.return_annotation[len("Operation[") : -len("]")])
    wrapper.__annotations__ = {**describe.__annotations__, "return": answer}
    wrapper.__signature__ = signature.replace(return_annotation=answer)
    del wrapper.__wrapped__
    call: Callable[..., Any] = wrapper
    return call
