"""The stubs of both clients are what the methods are."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest
from typing_extensions import deprecated

from scripts import signatures
from tests.support.operations import OPERATIONS

if TYPE_CHECKING:
    from ferry_sdk import Port, Records
    from ferry_sdk._engine.operation import Operation


def test_the_stubs_are_what_the_methods_are():
    signatures.main("--check")


def test_the_check_fails_where_a_stub_is_old(tmp_path, monkeypatch):
    monkeypatch.setattr(signatures, "FOLDER", tmp_path)
    signatures.main()
    signatures.main("--check")
    stub = tmp_path / "raw.pyi"
    stub.write_text(stub.read_text("utf-8").replace("booking_id: str", "id: str"), "utf-8")
    with pytest.raises(SystemExit, match=r"raw\.pyi differs .* run scripts/api-map"):
        signatures.main("--check")


@pytest.mark.parametrize("file", signatures.STUBS)
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
