"""Bind a call that is described once to the sync and the async client.

A resource method returns an `Operation`, which describes a call and performs nothing. `method`
turns it into a descriptor with two wrappers, one sync and one async. Attribute access selects
the wrapper by the type of the resource's transport: `Transport` performs the call and returns
its result, `AsyncTransport` returns a coroutine, and the raw transports return a `RawResponse`.
Editors and type checkers read the signatures of these wrappers in the stubs of `client.groups`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache, update_wrapper
from importlib import import_module
from types import FunctionType, MethodType
from typing import Any, Concatenate, Final, Generic, ParamSpec, TypeVar, overload

from ferry_sdk._engine.batch import Plan
from ferry_sdk._engine.http import RawResponse
from ferry_sdk._engine.operation import Operation
from ferry_sdk._runtime.threads import uninterrupted
from ferry_sdk._transport.async_ import AsyncRawTransport, AsyncTransport
from ferry_sdk._transport.sync import RawTransport, Transport
from ferry_sdk.errors import FerryError, trim

P = ParamSpec("P")
T = TypeVar("T")
AnyTransport = Transport | AsyncTransport | RawTransport | AsyncRawTransport
_MODULES: Final[Mapping[type[AnyTransport], str]] = {
    Transport: "ferry_sdk.client.groups.sync",
    AsyncTransport: "ferry_sdk.client.groups.async_",
    RawTransport: "ferry_sdk.client.groups.raw",
    AsyncRawTransport: "ferry_sdk.client.groups.async_raw",
}


class Resource:
    """A group of calls over one transport."""

    def __init__(self, transport: AnyTransport) -> None:
        self._transport: Any = transport

    def __repr__(self) -> str:
        return f"{type(self).__name__}(base_url={self._transport.settings.base_url!r})"


def bind(module: str, name: str, transport: AnyTransport) -> Any:  # noqa: ANN401 -- the group
    """Return a group of a client, in a class of the module whose stub has its signatures.

    In an interactive session, Jedi looks there for what an object's methods return.

    Args:
        module: The module of the group, loaded when the first client needs it.
        name: The class of the group.
        transport: Performs its calls.
    """
    return _class_in(_MODULES.get(type(transport), module), module, name)(transport)


@cache
def _class_in(stub: str, module: str, name: str) -> type[Any]:
    group: type[Any] = getattr(uninterrupted(import_module)(module), name)
    return type(name, (group,), {"__module__": stub, "__doc__": group.__doc__})


class method(Generic[P, T]):  # noqa: N801 -- used as a decorator, like property
    """Turn the description of a call into a method of both clients.

    Accessed on the class, it is the description itself: ``Tickets.get(None, "t1")``
    returns an `Operation` and makes no call.
    """

    def __init__(self, describe: Callable[Concatenate[Any, P], Operation[T]]) -> None:
        def call(self: Resource, *args: P.args, **kwargs: P.kwargs) -> object:
            try:
                operation = describe(None, *args, **kwargs)
            except FerryError as error:
                raise trim(error) from error.__cause__
            finally:
                del args, kwargs  # keep travellers' data out of tracebacks that show variables
            try:
                # `self` is the group, although pyright does not see a method here.
                return self._transport.run(operation)  # pyright: ignore[reportPrivateUsage]
            except BaseException as error:
                if isinstance(error, Exception) and not isinstance(error, FerryError):
                    raise  # raised by a function of the caller, such as a token provider
                raise trim(error) from error.__cause__

        async def acall(self: Resource, *args: P.args, **kwargs: P.kwargs) -> object:
            try:
                operation = describe(None, *args, **kwargs)
            except FerryError as error:
                raise trim(error) from error.__cause__
            finally:
                del args, kwargs  # keep travellers' data out of tracebacks that show variables
            try:
                # `self` is the group, although pyright does not see a method here.
                return await self._transport.run(operation)  # pyright: ignore[reportPrivateUsage]
            except BaseException as error:
                if isinstance(error, Exception) and not isinstance(error, FerryError):
                    raise  # raised by a function of the caller, such as a token provider
                raise trim(error) from error.__cause__

        self.describe = describe
        self._by_transport: dict[type[AnyTransport], Callable[..., Any]] = {
            Transport: _copy_signature(describe, call, "{}"),
            AsyncTransport: _copy_signature(describe, acall, "{}"),
            RawTransport: _copy_signature(describe, call, "RawResponse[{}]"),
            AsyncRawTransport: _copy_signature(describe, acall, "RawResponse[{}]"),
        }
        self.__doc__ = describe.__doc__

    @overload
    def __get__(
        self, instance: None, owner: type[object]
    ) -> Callable[Concatenate[Any, P], Operation[T]]: ...
    @overload
    def __get__(
        self, instance: Resource, owner: type[object] | None = None
    ) -> Callable[P, Any]: ...
    def __get__(
        self, instance: Resource | None, owner: type[object] | None = None
    ) -> Callable[..., Any]:
        if instance is None:
            return self.describe
        # The attribute is private, so that editors do not offer it.
        transport = instance._transport  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        return MethodType(self._by_transport[type(transport)], instance)


def planned(describe: Callable[Concatenate[Any, P], Plan[T]]) -> method[P, T]:
    """Turn the description of a call that consists of other calls into a method."""
    described: Callable[Concatenate[Any, P], Any] = describe
    return method(described)


def _copy_signature(
    describe: Callable[..., Any], wrapper_function: Callable[..., Any], result_type: str
) -> Callable[..., Any]:
    """Return a copy of a wrapper with the description's name, docstring and signature.

    `inspect` and `typing.get_type_hints` resolve annotations in a function's globals. The copy
    therefore has the globals of the description's module, over those of this one.
    """
    code: Any = wrapper_function
    original: Any = inspect.unwrap(describe)
    names = {**globals(), "RawResponse": RawResponse, **original.__globals__}
    wrapper: Any = FunctionType(code.__code__, names, closure=code.__closure__)
    update_wrapper(wrapper, describe)
    signature = inspect.signature(describe)
    answer = result_type.format(signature.return_annotation.partition("[")[2][: -len("]")])
    wrapper.__annotations__ = {**describe.__annotations__, "return": answer}
    wrapper.__signature__ = signature.replace(return_annotation=answer)
    del wrapper.__wrapped__
    call: Callable[..., Any] = wrapper
    return call
