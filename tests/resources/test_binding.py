"""A call that is described once is a method of both clients."""

from __future__ import annotations

import asyncio
import inspect
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
from tests.support.tables import each

METHODS = [
    (group, name)
    for group, kind in GROUPS.items()
    for name in vars(kind)
    if not name.startswith("_")
]


@pytest.fixture
def sync_client():
    with Ferry("t", base_url="https://service.example") as client:
        yield client


@pytest.fixture
def async_client():
    return AsyncFerry("t", base_url="https://service.example")


def test_the_methods_are_those_of_the_safety_table_and_on_the_class_each_makes_an_operation():
    assert {f"{group}.{name}" for group, name in METHODS} == set(SAFETY)
    assert not {name for _, name in METHODS} & {"list", "type", "dict", "set", "str"}
    operation = TicketsGroup.get(None, "t1")
    assert isinstance(operation, Operation)
    assert operation.name == "tickets.get"
    assert (operation.call.method, operation.call.path) == ("GET", "ticket/t1")
    assert operation.safety is SAFETY["tickets.get"]


@each(("group", "name"), METHODS)
def test_each_method_says_what_its_description_says(sync_client, async_client, group, name):
    described = inspect.getattr_static(GROUPS[group], name).describe
    on_the_class = getattr(GROUPS[group], name)
    assert inspect.isfunction(on_the_class)
    assert next(iter(inspect.signature(on_the_class).parameters)) == "self"
    wanted = inspect.signature(described)
    hints = typing.get_type_hints(described)
    (hints["return"],) = typing.get_args(hints["return"])
    for client in (sync_client, async_client):
        method = getattr(getattr(client, group), name)
        assert inspect.ismethod(method)
        assert inspect.isfunction(method.__func__)
        assert inspect.iscoroutinefunction(method) is (client is async_client)
        assert method.__name__ == name
        assert method.__qualname__ == f"{GROUPS[group].__name__}.{name}"
        assert method.__module__ == GROUPS[group].__module__
        assert method.__doc__ == described.__doc__
        signature = inspect.signature(method)
        assert list(signature.parameters.values()) == list(wanted.parameters.values())[1:]
        assert f"Operation[{signature.return_annotation}]" == wanted.return_annotation
        assert typing.get_type_hints(method) == hints
    shown = pydoc.render_doc(getattr(getattr(sync_client, group), name), renderer=pydoc.plaintext)
    assert shown.splitlines()[2].startswith(f"{name}(")
    assert "Operation[" not in shown
    assert signature.return_annotation in shown
    assert described.__doc__.splitlines()[0] in shown


def test_groups_are_made_once_with_the_types_themselves_and_tell_a_wrong_argument(sync_client):
    raw, tickets = sync_client.with_raw_response, sync_client.tickets
    assert tickets is sync_client.tickets
    assert raw.tickets is sync_client.with_raw_response.tickets
    assert isinstance(sync_client, Resources)
    assert typing.get_type_hints(tickets.get)["return"] is Ticket
    assert typing.get_type_hints(sync_client.catalogue.ports)["return"] == Records[Port]
    assert typing.get_type_hints(raw.tickets.get)["return"] == RawResponse[Ticket]
    assert inspect.signature(raw.tickets.get).return_annotation == "RawResponse[Ticket]"
    with pytest.raises(TypeError, match=r"get\(\) got an unexpected keyword argument 'id'"):
        tickets.get(id="t1")
    with pytest.raises(TypeError, match=r"^search\(\) got an unexpected keyword argument 'form'"):
        sync_client.trips.search(form="FORMENTERA")
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        tickets.get()


def test_calls_are_gathered_and_what_is_not_awaited_is_not_made(async_ferry, ferry_sandbox):
    async def main():
        async with async_ferry as ferry:
            ferry.catalogue.ports().close()
            task = asyncio.create_task(ferry.catalogue.ports())
            several = await asyncio.gather(*[ferry.catalogue.ports() for _ in range(8)])
            return await task, several

    first, others = asyncio.run(main())
    assert all(one == first for one in others)
    assert ferry_sandbox.counters.requests["catalogue.ports"] == 9


class Fares(Resource):
    @method
    @deprecated("ask for the tariffs", stacklevel=2)
    def all(self) -> Operation[Records[Port]]:
        raise InvalidInputError("nothing is sent", field="all")


def test_a_deprecated_method_warns_its_caller_and_keeps_its_types(sync_client, async_client):
    def fares(client):
        return bind(__name__, "Fares", transport_of(client))

    async def ask():
        await fares(async_client).all()

    for group, call in [
        (fares(sync_client), fares(sync_client).all),
        (fares(async_client), lambda: asyncio.run(ask())),
    ]:
        assert typing.get_type_hints(group.all)["return"] == Records[Port]
        with (
            pytest.warns(DeprecationWarning, match="ask for the tariffs") as caught,
            pytest.raises(InvalidInputError),
        ):
            call()
        assert caught[0].filename == __file__
