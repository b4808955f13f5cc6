"""The stubs of both clients are what the methods are."""

from __future__ import annotations

import ast
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from typing_extensions import deprecated

from scripts import signatures
from tests.support.operations import OPERATIONS
from tests.support.tables import each

if TYPE_CHECKING:
    from ferry_sdk import Port, Records
    from ferry_sdk._engine.operation import Operation


def test_the_stubs_are_what_the_methods_are_and_the_check_fails_where_one_is_old(
    tmp_path, monkeypatch
):
    signatures.main("--check")
    monkeypatch.setattr(signatures, "FOLDER", tmp_path)
    signatures.main()
    signatures.main("--check")
    stub = tmp_path / "raw.pyi"
    stub.write_text(stub.read_text("utf-8").replace("booking_id: str", "id: str"), "utf-8")
    with pytest.raises(SystemExit, match=r"raw\.pyi differs .* run scripts/api-map"):
        signatures.main("--check")


SIGNATURES = """
import inspect, sys
import ferry_sdk
assert "pydantic" not in sys.modules
for name in ferry_sdk.__all__:
    model = getattr(ferry_sdk, name)
    fields = getattr(model, "model_fields", None)
    if fields and not issubclass(model, Exception):
        assert not model.__pydantic_complete__, name
        shown = inspect.signature(model).parameters.values()
        named = [one for one in shown if one.kind is one.KEYWORD_ONLY]
        assert len(named) == len(fields), name
        required = sum(field.is_required() for field in fields.values())
        assert sum(one.default is one.empty for one in named) == required, name
        print(name)
"""


def test_a_model_shows_its_fields_before_its_first_use():
    shown = subprocess.run(
        [sys.executable, "-c", SIGNATURES], check=True, capture_output=True, text=True
    )
    assert {"Passenger", "Availability", "Booking"} <= {*shown.stdout.split()}


@each("file", signatures.STUBS)
def test_every_operation_is_in_every_stub(file):
    classes = {
        one.name: {line.name for line in one.body if hasattr(line, "name")}
        for one in ast.parse(signatures.stub(file)).body
        if isinstance(one, ast.ClassDef)
    }
    for operation in OPERATIONS:
        group, _, name = operation.partition(".")
        assert name in classes[f"{group.capitalize()}Group"]


def test_a_deprecated_method_is_deprecated_in_the_stubs():
    @deprecated("ask for the tariffs")
    def fares(self, *, limit: int = 5) -> Operation[Records[Port]]:
        raise NotImplementedError

    assert signatures.definition("fares", fares, "async def", "{}").splitlines() == [
        '    @deprecated("ask for the tariffs")',
        "    async def fares(self, *, limit: int = 5) -> Records[Port]: ...",
    ]
