"""Bind a call that is described once to the sync and the async client.

A method of a group describes a call and performs nothing: it returns an `Operation`, or a `Plan`
for a call that consists of others. A client needs it as a method that performs the call, in one of
four kinds, one for each transport. This is how ``ferry.tickets.get("t1")`` becomes one:

1. `TicketsGroup` defines `get` with the decorator `method`, which keeps the description.
2. The first use of ``ferry.tickets`` calls `bind`. It makes a subclass of `TicketsGroup` for the
   transport of the client, in which `method.over` replaces each description by a plain method.
3. That method makes the `Operation`, and its transport runs it. Over `Transport`, it returns the
   result; over `AsyncTransport`, a coroutine; over the raw transports, a `RawResponse`.

Editors and type checkers read the signatures in the stubs of `client.groups`, which
`scripts/api-map` writes from the descriptions. At run time, `help` and `inspect` read those that
`_with_result` gives the methods.

Plain methods in `client.groups` instead, written by a script, were tried. They work, but they are
4,000 lines in 31 modules, nearly all of them repeated handling of errors, and a call costs ten
bytecodes more. Editors show no docstring for them, unless 4,800 lines of docstrings are copied too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache, update_wrapper
from typing import (
    Any,
    Concatenate,
    Final,
    Generic,
    ParamSpec,
    TypeVar,
    cast,
    get_args,
    get_type_hints,
)

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
    is_raw = transport in {RawTransport, AsyncRawTransport}
    members: dict[str, object] = {
        "__module__": _MODULES.get(transport, module),
        "__doc__": group.__doc__,
    }
    for attribute, member in vars(group).items():
        if isinstance(member, method):
            members[attribute] = _with_result(member.over(transport), is_raw=is_raw)
    return type(name, (group,), members)


class method(Generic[P, DescriptionT]):  # noqa: N801 -- used as a decorator, like property
    """Turn the description of a call into a method of both clients, in a class that `bind` makes.

    In the class where it is written, it is the description itself: ``TicketsGroup.get(None, "t1")``
    returns an `Operation` and makes no call.
    """

    def __init__(self, describe: Callable[Concatenate[Any, P], DescriptionT]) -> None:
        self.describe = describe
        self.__doc__ = describe.__doc__

    def over(self, transport: type[AnyTransport]) -> Callable[..., Any]:
        """Return the method over one kind of transport; its signature is the description's.

        `call` and `acall` differ in `async` and `await` only. Both delete the arguments before the
        request is sent, and drop the library's own frames from errors: a traceback that shows
        variables would show the data of travellers.
        """
        describe = self.describe

        def call(self: Resource, *args: P.args, **kwargs: P.kwargs) -> object:
            try:
                try:
                    operation = describe(None, *args, **kwargs)
                finally:
                    del args, kwargs
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
                    del args, kwargs
                return await self._transport.run(operation)  # pyright: ignore[reportPrivateUsage] -- `self` is the group
            except BaseException as error:
                if isinstance(error, Exception) and not isinstance(error, FerryError):
                    raise  # raised by a function of the caller, such as a token provider
                raise trim(error) from error.__cause__

        is_async = transport in {AsyncTransport, AsyncRawTransport}
        perform: Callable[..., Any] = acall if is_async else call
        return update_wrapper(perform, describe)

    def __get__(
        self, instance: object, owner: type[object] | None = None
    ) -> Callable[Concatenate[Any, P], DescriptionT]:
        return self.describe


def with_arguments(
    kind: Callable[P, ArgumentsT],
) -> Callable[[Callable[[Any, ArgumentsT], T]], Callable[Concatenate[Any, P], T]]:
    """Have a description take the arguments of a class, and get an object of the class.

    Example: `AvailabilityGroup.search` and `McpGroup.search_availability` take the 13 arguments of
    `SearchArguments`, which are written there only.
    """

    def decorate(describe: Callable[[Any, ArgumentsT], T]) -> Callable[Concatenate[Any, P], T]:
        def described(self: object, *args: P.args, **kwargs: P.kwargs) -> T:
            try:
                request = kind(*args, **kwargs)
            except TypeError as error:  # it names the class, which the caller does not know
                text = str(error).replace(f"{kind.__init__.__qualname__}(", f"{describe.__name__}(")
                raise TypeError(text) from None
            return describe(self, request)

        signature = inspect.signature(describe)
        this = next(iter(signature.parameters.values()))
        # The required arguments come first, as in a signature that is written by hand.
        parameters = sorted(
            inspect.signature(kind).parameters.values(),
            key=lambda parameter: (parameter.kind, parameter.default is not parameter.empty),
        )
        hints = get_type_hints(kind.__init__)

        wrapper: Any = update_wrapper(described, describe)
        wrapper.__signature__ = signature.replace(parameters=[this, *parameters])
        wrapper.__annotations__ = {
            parameter.name: hints[parameter.name] for parameter in parameters
        }
        wrapper.__annotations__["return"] = signature.return_annotation
        return cast("Callable[Concatenate[Any, P], T]", wrapper)

    return decorate


def read_list(
    operation: str,
    call: Call,
    model: type[ModelT],
    member: str | None = None,
    argument_names: Mapping[str, str] | None = None,
    sharing_key: bytes | None = None,
) -> Operation[Records[ModelT]]:
    """Return a read of records, which the reply may have as one of its members."""
    return Operation(
        call,
        RecordList(model, member=member),
        SAFETY[operation],
        argument_names=argument_names,
        sharing_key=sharing_key,
    )


def signature_of(describe: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of a description with what its caller gets.

    Example: the description returns ``Operation[Ticket]``, and the caller gets a ``Ticket``.
    """
    signature = inspect.signature(describe)
    result = signature.return_annotation.partition("[")[2].removesuffix("]")
    return signature.replace(return_annotation=result)


def _with_result(call: Callable[..., Any], *, is_raw: bool) -> Callable[..., Any]:
    """Give a method the signature and the types of what its caller gets.

    The types are evaluated. `typing.get_type_hints` would look up the names in a text among the
    globals of this module. With `__wrapped__` it would use those of the description, but Jedi would
    then complete the result of ``get = ferry.tickets.get`` as an `Operation`.
    """
    bound: Any = call
    describe = bound.__wrapped__

    signature = signature_of(describe)
    hints = get_type_hints(describe, include_extras=True)
    (result,) = get_args(hints["return"])
    if is_raw:
        text = f"RawResponse[{signature.return_annotation}]"
        signature = signature.replace(return_annotation=text)
        result = cast("Any", RawResponse)[result]

    bound.__signature__ = signature
    bound.__annotations__ = {**hints, "return": result}
    del bound.__wrapped__
    return call
