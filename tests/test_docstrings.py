"""Docstrings say what a value of an enumeration means and what a call raises, with an example."""

from __future__ import annotations

import ast
import inspect
import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ferry_sdk import SAFETY, Ferry, FerryError, aftersales, orders
from ferry_sdk.client.groups import sync
from ferry_sdk.journal import Journal
from ferry_sdk.models import enums
from ferry_sdk.sandbox import FaultKind
from ferry_sdk.sandbox.faults import kinds

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from ferry_sdk.sandbox import Sandbox

WRITES = [name for name, row in SAFETY.items() if not row.is_read]
OF_EVERY_WRITE = {
    "FerryError",
    "InvalidInputError",
    "OutcomeUnknownError",
    "ReadOnlyError",
    "UnresolvedWriteError",
}
PROVOKED: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("bookings.confirm", ("",), {}),
    ("bookings.confirm", ("b-1",), {"expect_total": 1.5}),
    ("bookings.confirm", ("b-1",), {}),
    ("bookings.get", ("b-1",), {}),
    ("bookings.wait", ("b-1",), {"until": "ticketed", "deadline": -1}),
    ("bookings.wait", ("b-1",), {"until": 7, "deadline": 5}),
    ("bookings.wait", ("b-1",), {"until": "ticketed", "deadline": 5}),
    ("bookings.cancel", ("",), {}),
    ("bookings.cancel", ("b-1",), {"max_penalty": 1.5}),
    ("bookings.cancel", ("b-1",), {}),
    ("bookings.cancel_fee", ("",), {}),
    ("bookings.cancel_fee", ("b-1",), {}),
    ("tickets.cancel_fee", ("",), {}),
    ("tickets.cancel_fee", ("t-1",), {}),
    ("tickets.get", ("",), {}),
    ("tickets.get", ("t-1",), {}),
    ("tickets.cancel", ("",), {}),
    ("tickets.cancel", ("t-1",), {}),
    ("tickets.pdf", ("",), {}),
    ("tickets.pdf", ("t-1",), {}),
    ("tickets.wait_pdf", ("",), {"deadline": 5}),
    ("tickets.wait_pdf", ("t-1",), {"deadline": -1}),
    ("tickets.read_pdf", ("",), {}),
    ("tickets.read_pdf", ("t-1",), {}),
    (
        "tickets.mark_paid",
        ("t-1",),
        {"external_payment_ref": "p-1", "paid_at": "2027-01-01T10:00:00"},
    ),
    (
        "tickets.mark_paid",
        ("t-1",),
        {"external_payment_ref": "p-1", "paid_at": datetime(2027, 1, 1)},  # noqa: DTZ001 -- it is refused
    ),
    ("tickets.mark_paid", ("t-1",), {"external_payment_ref": "p-1"}),
    ("catalogue.departures", ("",), {}),
    ("mcp.confirm_booking", ("",), {}),
    ("mcp.confirm_booking", ("b-1",), {}),
    ("mcp.view_ticket", ("",), {}),
    ("mcp.view_ticket", ("t-1",), {}),
    ("mcp.cancel_ticket", ("",), {}),
    ("mcp.cancel_ticket", ("t-1",), {}),
    ("mcp.read_resource", ("resource://service/nothing",), {}),
    ("places.get", (3,), {}),
    ("places.get", ("Zzyzx",), {}),
    ("places.get", ("Porto",), {}),
    ("routes.find", (3,), {}),
    ("routes.find", ("Zzyzx",), {}),
]
"""Calls that fail, by themselves or at a service without bookings."""


def members_without_a_meaning(module: ModuleType, names: set[str]) -> Iterator[str]:
    """Name the members of a module's enumerations that no text follows."""
    tree = ast.parse(Path(inspect.getfile(module)).read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name in names:
            for one, after in zip(node.body, [*node.body[1:], None], strict=True):
                if isinstance(one, ast.Assign) and not (
                    isinstance(after, ast.Expr)
                    and isinstance(after.value, ast.Constant)
                    and str(after.value.value).endswith(".")
                ):
                    yield f"{node.name}.{ast.unparse(one.targets[0])}"


def test_every_member_of_an_enumeration_has_a_meaning() -> None:
    names = {one.__name__ for one in enums.OpenEnum.__subclasses__()}
    assert len(names) >= 13
    assert [*members_without_a_meaning(enums, names)] == []
    assert [*members_without_a_meaning(kinds, {FaultKind.__name__})] == []


def method(ferry: Ferry, call: str) -> Any:
    """Return the method of a client that has the name of an operation."""
    group, _, name = call.partition(".")
    return getattr(getattr(ferry, group), name)


def raised_by(call: str) -> set[str]:
    """Return the errors that the docstring of a call names."""
    with Ferry("t", base_url="https://ferry.example") as ferry:
        doc = inspect.getdoc(method(ferry, call)) or ""
    section = doc.partition("Raises:\n")[2].partition("\n\n")[0]
    return {*re.findall(r"^ {4}(\w+): ", section, re.MULTILINE)}


@pytest.mark.parametrize("call", WRITES)
def test_a_write_names_what_every_write_may_raise(call: str) -> None:
    assert OF_EVERY_WRITE - raised_by(call) == set()


@pytest.mark.parametrize("call", [*SAFETY])
def test_every_call_names_what_it_may_raise(call: str) -> None:
    assert "FerryError" in raised_by(call)


def test_a_call_raises_what_it_names(ferry_sandbox: Sandbox) -> None:
    with Ferry(
        ferry_sandbox.token,
        base_url=ferry_sandbox.base_url,
        organisation_token=ferry_sandbox.organisation_token,
        deadline=60,
    ) as ferry:
        for call, positional, named in PROVOKED:
            with pytest.raises(FerryError) as caught:
                method(ferry, call)(*positional, **named)
            ancestors = {one.__name__ for one in type(caught.value).__mro__} - {"FerryError"}
            assert ancestors & raised_by(call), (call, type(caught.value).__name__)


def test_a_catalogue_of_mcp_raises_what_it_names(ferry: Ferry, ferry_sandbox: Sandbox) -> None:
    for name in ("ports", "companies", "countries", "vehicle_brands", "vehicle_data", "departures"):
        ferry_sandbox.faults.clear()
        ferry_sandbox.faults.add("server_error", f"mcp.{name}", times=None)
        with pytest.raises(FerryError):
            method(ferry, f"mcp.{name}")()
        assert raised_by(f"mcp.{name}") == {"FerryError"}


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods of a class, each with its name."""
    for name, member in inspect.getmembers(cls, callable):
        if name[0] != "_":
            yield f"{cls.__name__}.{name}", member


def public_calls() -> Iterator[tuple[str, Any]]:
    """Yield what a user calls with a client, and the calls of a journal that are no recorder's."""
    with Ferry("t", base_url="https://ferry.example") as ferry:
        for name in dir(ferry):
            cls = type(getattr(ferry, name))
            if name[0] != "_" and cls.__module__ == sync.__name__:
                yield from members(cls)
    yield from members(Ferry)
    for package in (orders, aftersales):
        for name in package.__all__:
            if not inspect.isclass(call := getattr(package, name)):
                yield name, call
    yield from members(aftersales.Reconciliation)
    of_the_engine = re.compile(r"begin|end|after_fork|(load|save)_\w+")
    for name, call in members(Journal):
        if not of_the_engine.fullmatch(name.partition(".")[2]):
            yield name, call


def test_every_call_has_an_example() -> None:
    calls = [*public_calls()]
    assert len(calls) > 60
    assert [name for name, call in calls if "Example:\n" not in (inspect.getdoc(call) or "")] == []
