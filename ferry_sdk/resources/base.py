"""Bind a call that is described once to the sync and the async client.

A resource method returns an `Operation`, which describes a call and performs nothing, or a `Plan`,
which describes a call that consists of others. `method` wraps it, once for each kind of transport:
over `Transport` the method performs the call and returns its result, over `AsyncTransport` it
returns a coroutine, and over the raw transports the result is a `RawResponse`. `bind` makes a class
of the wrappers for one kind of transport. Editors and type checkers read their signatures in the
stubs of `client.groups`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache, update_wrapper
from types import FunctionType
from typing import Any, Concatenate, Final, Generic, ParamSpec, TypeVar, cast, get_type_hints

from pydantic import BaseModel

from ferry_sdk._engine.http import RawResponse
from ferry_sdk._engine.operation import Call, Operation
from ferry_sdk._engine.parsing import RecordList
from ferry_sdk._engine.safety import SAFETY
from ferry_sdk._runtime.threads import load_module
from ferry_sdk._transport.async_ import AsyncRawTransport, AsyncTransport
from ferry_sdk._transport.startup import shutdown_as_error
from ferry_sdk._transport.sync import RawTransport, Transport
from ferry_sdk.errors import FerryError, trim
from ferry_sdk.models.records import Records

P = ParamSpec("P")
T = TypeVar("T")
ArgumentsT = TypeVar("ArgumentsT")
DescriptionT = TypeVar("DescriptionT")
ModelT = TypeVar("ModelT", bound=BaseModel)
AnyTransport = Transport | AsyncTransport | RawTransport | AsyncRawTransport
_MODULES: Final[Mapping[type[AnyTransport], str]] = {
    Transport: "ferry_sdk.client.groups.sync",
    AsyncTransport: "ferry_sdk.client.groups.async_",
    RawTransport: "ferry_sdk.client.groups.raw",
    AsyncRawTransport: "ferry_sdk.client.groups.async_raw",
}


class Resource:
    """Calls over one transport."""

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
    kind: Any = type(transport)  # mypy does not know that a type is hashable
    with shutdown_as_error():
        bound_class = _class_over(kind, module, name)
    return bound_class(transport)


@cache
def _class_over(transport: type[Any], module: str, name: str) -> type[Any]:
    """Return the class of a group with its calls as plain methods over one kind of transport."""
    group: type[Any] = getattr(load_module(module), name)
    calls = {
        call: member.over(transport)
        for call, member in vars(group).items()
        if isinstance(member, method)
    }
    names = {"__module__": _MODULES.get(transport, module), "__doc__": group.__doc__}
    return type(name, (group,), names | calls)


class method(Generic[P, DescriptionT]):  # noqa: N801 -- used as a decorator, like property
    """Turn the description of a call into a method of both clients, in a class that `bind` makes.

    In the class where it is written, it is the description itself: ``TicketsGroup.get(None, "t1")``
    returns an `Operation` and makes no call.
    """

    def __init__(self, describe: Callable[Concatenate[Any, P], DescriptionT]) -> None:
        self.describe = describe
        self.__doc__ = describe.__doc__

    def over(self, transport: type[AnyTransport]) -> Callable[..., Any]:
        """Return the method over one kind of transport."""
        describe = self.describe

        def call(self: Resource, *args: P.args, **kwargs: P.kwargs) -> object:
            try:
                try:
                    operation = describe(None, *args, **kwargs)
                finally:
                    del args, kwargs  # keep travellers' data out of tracebacks that show variables
                return self._transport.run(operation)  # pyright: ignore[reportPrivateUsage] -- `self` is the group
            except BaseException as error:
                if isinstance(error, Exception) and not isinstance(error, FerryError):
                    raise  # raised by a function of the caller, such as a token provider
                raise trim(error) from error.__cause__

        async def acall(self: Resource, *args: P.args, **kwargs: P.kwargs) -> object:
            try:
                try:
                    operation = describe(None, *args, **kwargs)
                finally:
                    del args, kwargs  # keep travellers' data out of tracebacks that show variables
                return await self._transport.run(operation)  # pyright: ignore[reportPrivateUsage] -- `self` is the group
            except BaseException as error:
                if isinstance(error, Exception) and not isinstance(error, FerryError):
                    raise  # raised by a function of the caller, such as a token provider
                raise trim(error) from error.__cause__

        wrapper = acall if transport in {AsyncTransport, AsyncRawTransport} else call
        is_raw = transport in {RawTransport, AsyncRawTransport}
        return _copy_signature(describe, wrapper, "RawResponse[{}]" if is_raw else "{}")

    def __get__(
        self, instance: object, owner: type[object] | None = None
    ) -> Callable[Concatenate[Any, P], DescriptionT]:
        return self.describe


def with_arguments(
    kind: Callable[P, ArgumentsT],
) -> Callable[[Callable[[Any, ArgumentsT], T]], Callable[Concatenate[Any, P], T]]:
    """Have a description take the arguments of a class, and get an object of the class."""

    def decorate(describe: Callable[[Any, ArgumentsT], T]) -> Callable[Concatenate[Any, P], T]:
        def described(self: object, *args: P.args, **kwargs: P.kwargs) -> T:
            try:
                request = kind(*args, **kwargs)
            except TypeError as error:  # it names the class, which the caller does not know
                text = str(error).replace(f"{kind.__init__.__qualname__}(", f"{describe.__name__}(")
                raise TypeError(text) from None
            return describe(self, request)

        wrapper: Any = update_wrapper(described, describe)
        signature, hints = inspect.signature(describe), get_type_hints(kind.__init__)
        (this, _), own = signature.parameters.values(), inspect.signature(kind).parameters.values()
        required_first = sorted(own, key=lambda each: (each.kind, each.default is not each.empty))
        wrapper.__signature__ = signature.replace(parameters=[this, *required_first])
        wrapper.__annotations__ = {each.name: hints[each.name] for each in required_first}
        wrapper.__annotations__["return"] = signature.return_annotation
        return cast("Callable[Concatenate[Any, P], T]", wrapper)

    return decorate


def read_list(
    operation: str,
    call: Call,
    model: type[ModelT],
    member: str | None = None,
    argument_names: Mapping[str, str] | None = None,
) -> Operation[Records[ModelT]]:
    """Return a read of records, which the reply may have as one of its members."""
    answer = RecordList(model, member=member)
    return Operation(call, answer, SAFETY[operation], argument_names=argument_names)


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
    return cast("Callable[..., Any]", wrapper)
