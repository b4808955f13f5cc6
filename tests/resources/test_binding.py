"""A call that is described once is a method of both clients."""

from __future__ import annotations

import asyncio
import inspect
import operator
import pydoc
import typing

import pytest
from typing_extensions import deprecated

from ferry_sdk import AsyncFerry, Ferry, InvalidInputError, Port, RawResponse, Records, Ticket
from ferry_sdk._engine.operation import Operation
from ferry_sdk._engine.safety import SAFETY
from ferry_sdk.client import transport_of
from ferry_sdk.resources.base import Resource, bind, method
from ferry_sdk.resources.groups import Resources
from ferry_sdk.resources.tickets import TicketsGroup
from tests.support.operations import GROUPS

METHODS = []
for group, kind in GROUPS.items():
    METHODS += [(group, name) for name in vars(kind) if not name.startswith("_")]
EVERY_METHOD = pytest.mark.parametrize(
    ("group", "name"), METHODS, ids=[f"{group}.{name}" for group, name in METHODS]
)


@pytest.fixture(scope="module")
def sync_client():
    with Ferry("t", base_url="https://service.example") as client:
        yield client


@pytest.fixture(scope="module")
def async_client():
    return AsyncFerry("t", base_url="https://service.example")


@pytest.fixture
def described(group, name):
    """The function that describes a method."""
    return inspect.getattr_static(GROUPS[group], name).describe


@pytest.fixture
def methods(sync_client, async_client, group, name):
    """A method of both clients."""
    return [getattr(getattr(client, group), name) for client in (sync_client, async_client)]


@pytest.fixture
def raw_methods(sync_client, async_client, group, name):
    """A method of both clients that returns raw responses."""
    clients = (sync_client.with_raw_response, async_client.with_raw_response)
    return [getattr(getattr(client, group), name) for client in clients]


def test_the_methods_are_those_of_the_safety_table():
    assert {f"{group}.{name}" for group, name in METHODS} == set(SAFETY)


def test_no_method_hides_a_builtin_type():
    assert not {name for _, name in METHODS} & {"list", "type", "dict", "set", "str"}


def test_on_the_class_a_method_makes_an_operation():
    operation = TicketsGroup.get(None, "t1")
    assert isinstance(operation, Operation)
    assert operation.name == "tickets.get"
    assert (operation.call.method, operation.call.path) == ("GET", "ticket/t1")
    assert operation.safety is SAFETY["tickets.get"]


@EVERY_METHOD
def test_on_the_class_a_method_is_its_description(described, group, name):
    on_the_class = getattr(GROUPS[group], name)
    assert on_the_class is described
    assert inspect.isfunction(on_the_class)
    assert next(iter(inspect.signature(on_the_class).parameters)) == "self"


@EVERY_METHOD
def test_a_method_is_sync_or_async(methods, group, name):
    assert [inspect.iscoroutinefunction(method) for method in methods] == [False, True]


@EVERY_METHOD
def test_a_method_has_the_names_of_its_description(methods, described, group, name):
    for bound in methods:
        assert inspect.ismethod(bound)
        assert inspect.isfunction(bound.__func__)
        assert bound.__name__ == name
        assert bound.__qualname__ == f"{GROUPS[group].__name__}.{name}"
        assert bound.__module__ == GROUPS[group].__module__
        assert bound.__doc__ == described.__doc__


@EVERY_METHOD
def test_a_method_has_the_signature_of_its_description(methods, described, group, name):
    expected = inspect.signature(described)
    for bound in methods:
        signature = inspect.signature(bound)
        assert [*signature.parameters.values()] == [*expected.parameters.values()][1:]
        assert f"Operation[{signature.return_annotation}]" == expected.return_annotation


@EVERY_METHOD
def test_a_method_has_the_types_of_its_description(methods, described, group, name):
    hints = typing.get_type_hints(described)
    (hints["return"],) = typing.get_args(hints["return"])
    for bound in methods:
        assert typing.get_type_hints(bound) == hints


@pytest.mark.parametrize("name", ["places", "routes", "trips", "vehicles"])
@pytest.mark.parametrize("client", ["sync_client", "async_client"])
def test_types_of_a_planned_group_resolve(request, client, name):
    group = getattr(request.getfixturevalue(client), name)
    methods = [member for member in vars(type(group)).values() if inspect.isfunction(member)]
    assert methods
    for planned in methods:
        assert "return" in typing.get_type_hints(planned)


@EVERY_METHOD
def test_a_raw_method_returns_a_raw_response(raw_methods, described, group, name):
    hints = typing.get_type_hints(described)
    (result,) = typing.get_args(hints["return"])
    hints["return"] = RawResponse[result]
    for bound in raw_methods:
        assert typing.get_type_hints(bound) == hints


@EVERY_METHOD
def test_help_shows_what_a_call_returns(methods, described, group, name):
    shown = pydoc.render_doc(methods[0], renderer=pydoc.plaintext)
    assert shown.splitlines()[2].startswith(f"{name}(")
    assert "Operation[" not in shown
    assert inspect.signature(methods[0]).return_annotation in shown
    assert described.__doc__.splitlines()[0] in shown


def test_a_group_is_made_once(sync_client):
    assert sync_client.tickets is sync_client.tickets
    assert sync_client.with_raw_response.tickets is sync_client.with_raw_response.tickets


def test_a_client_has_all_groups(sync_client):
    assert isinstance(sync_client, Resources)


def test_a_return_type_is_evaluated(sync_client):
    assert typing.get_type_hints(sync_client.tickets.get)["return"] is Ticket
    assert typing.get_type_hints(sync_client.catalogue.ports)["return"] == Records[Port]


def test_a_raw_call_returns_a_raw_response(sync_client):
    get = sync_client.with_raw_response.tickets.get
    assert typing.get_type_hints(get)["return"] == RawResponse[Ticket]
    assert inspect.signature(get).return_annotation == "RawResponse[Ticket]"


def test_a_method_leads_to_no_description(sync_client):
    """Jedi follows `__wrapped__`, and would complete what the call returns as an `Operation`."""
    assert not hasattr(sync_client.tickets.get, "__wrapped__")


@pytest.mark.parametrize(
    ("method", "arguments", "words"),
    [
        ("tickets.get", {"id": "t1"}, r"get\(\) got an unexpected keyword argument 'id'"),
        ("trips.search", {"form": "A"}, r"^search\(\) got an unexpected keyword argument 'form'"),
        ("tickets.get", {}, "missing 1 required positional argument"),
    ],
)
def test_a_wrong_argument_is_named(sync_client, method, arguments, words):
    with pytest.raises(TypeError, match=words):
        operator.attrgetter(method)(sync_client)(**arguments)


def test_a_call_without_await_is_not_made(async_ferry, ferry_sandbox):
    async def main():
        async with async_ferry as ferry:
            ferry.catalogue.ports().close()

    asyncio.run(main())
    assert not ferry_sandbox.counters.requests["catalogue.ports"]


def test_calls_are_gathered(async_ferry, ferry_sandbox):
    async def main():
        async with async_ferry as ferry:
            task = asyncio.create_task(ferry.catalogue.ports())
            others = await asyncio.gather(*[ferry.catalogue.ports() for _ in range(8)])
            return await task, others

    first, others = asyncio.run(main())
    assert others == [first] * 8
    assert ferry_sandbox.counters.requests["catalogue.ports"] == 9


class Fares(Resource):
    @method
    @deprecated("ask for the tariffs", stacklevel=2)
    def all(self) -> Operation[Records[Port]]:
        raise InvalidInputError("nothing is sent", field="all")


def fares_of(client):
    return bind(__name__, "Fares", transport_of(client))


def test_a_deprecated_method_keeps_its_types(sync_client, async_client):
    for client in (sync_client, async_client):
        assert typing.get_type_hints(fares_of(client).all)["return"] == Records[Port]


def call_sync(client):
    fares_of(client).all()


def call_async(client):
    async def main():
        await fares_of(client).all()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("fixture", "call"), [("sync_client", call_sync), ("async_client", call_async)]
)
def test_a_deprecated_method_warns_its_caller(request, fixture, call):
    client = request.getfixturevalue(fixture)
    with (
        pytest.warns(DeprecationWarning, match="ask for the tariffs") as caught,
        pytest.raises(InvalidInputError),
    ):
        call(client)
    assert caught[0].filename == __file__
