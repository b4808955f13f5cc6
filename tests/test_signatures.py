"""The stubs and the map of the API are made of the methods, whose docstrings have examples."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typing_extensions import deprecated

from ferry_sdk import SAFETY
from ferry_sdk.models import enums
from ferry_sdk.sandbox import FaultKind
from ferry_sdk.sandbox.faults import kinds
from scripts import api_map, signatures
from tests.support.operations import OPERATIONS, described
from tests.support.reference import PAGES, shown_on
from tests.support.tables import each

if TYPE_CHECKING:
    from ferry_sdk import Port, Records
    from ferry_sdk._engine.operation import Operation


def test_the_stubs_show_methods_deprecation_and_fields(tmp_path, monkeypatch):
    signatures.main("--check")
    monkeypatch.setattr(signatures, "FOLDER", tmp_path)
    signatures.main()
    signatures.main("--check")
    stub = tmp_path / "raw.pyi"
    stub.write_text(stub.read_text("utf-8").replace("booking_id: str", "id: str"), "utf-8")
    with pytest.raises(SystemExit, match=r"raw\.pyi differs .* run scripts/api-map"):
        signatures.main("--check")

    @deprecated("ask for the tariffs")
    def fares(self, *, limit: int = 5) -> Operation[Records[Port]]:
        raise NotImplementedError

    assert signatures.definition("fares", fares, "async def", "{}").splitlines() == [
        '    @deprecated("ask for the tariffs")',
        "    async def fares(self, *, limit: int = 5) -> Records[Port]: ...",
    ]
    shown = subprocess.run(
        [sys.executable, "-c", SIGNATURES], check=True, capture_output=True, text=True
    )
    assert {"Passenger", "Availability", "Booking"} <= {*shown.stdout.split()}


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


def members_without_a_meaning(module, names):
    """Name the members of a module's enumerations that no text follows."""
    for node in ast.parse(Path(inspect.getfile(module)).read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef) and node.name in names:
            for one, after in zip(node.body, [*node.body[1:], None], strict=True):
                if isinstance(one, ast.Assign) and not (
                    isinstance(after, ast.Expr)
                    and isinstance(after.value, ast.Constant)
                    and str(after.value.value).endswith(".")
                ):
                    yield f"{node.name}.{ast.unparse(one.targets[0])}"


def test_every_member_of_an_enumeration_has_a_meaning():
    names = {one.__name__ for one in enums.OpenEnum.__subclasses__()}
    assert len(names) >= 13
    assert [*members_without_a_meaning(enums, names)] == []
    assert [*members_without_a_meaning(kinds, {FaultKind.__name__})] == []


@each("page", PAGES)
def test_every_call_has_an_example(page):
    example = ""
    for name, shown, text in shown_on(page):
        own = text.partition("Example:\n")[2]
        _, dot, method = name.partition(".")
        if not dot:
            example = own
        if callable(shown) and not inspect.isclass(shown):
            assert own or (dot and re.search(rf"\b{method}\(", example)), name


SECTION = re.compile(r"^### `(\S+)`\n\n`(.+?)` · (read|write)$", re.MULTILINE)
NAMED = {name: (endpoint, kind) for name, endpoint, kind in SECTION.findall(api_map.page())}
WIRE = {
    r"GET (/api/.+)": r"GET \1",
    r"POST (/api/.+)": r"POST \1",
    r"tools/call (\w+)": r"POST /mcp tools/call \1",
    r"(resource://.+)": r"POST /mcp resources/read \1",
    r"MCP endpoint, method (\S+)": r"POST /mcp \1",
}
"""An endpoint in the words of the page, and in those of a request."""


def on_the_wire(endpoint):
    (made,) = [re.sub(one, to, endpoint) for one, to in WIRE.items() if re.fullmatch(one, endpoint)]
    return made


def test_the_pages_are_what_the_methods_are_with_every_endpoint_and_link(tmp_path, monkeypatch):
    for path, text in api_map.files().items():
        assert path.read_text("utf-8") == text, "run scripts/api-map"
    monkeypatch.setattr(api_map, "PAGE", tmp_path / "api.md")
    api_map.main()
    api_map.main("--check")
    api_map.PAGE.write_text(api_map.page().replace("booking_id: str", "id: str"), "utf-8")
    with pytest.raises(SystemExit, match="scripts/api-map"):
        api_map.main("--check")
    assert [*NAMED] == [*OPERATIONS]
    for name, (endpoint, kind) in NAMED.items():
        assert kind == SAFETY[name].kind, name
        request = described(name).call.digest()
        wanted = re.escape(on_the_wire(endpoint)).replace(r"\{id\}", "[^/ ]+")
        assert re.match(f"{wanted}(?= |$)", f"{request.method} {request.path}"), name
    assert not re.search(r"Operation\[|\bUntil\b|\bRecovered\b|arguments\.", api_map.page())
    links = re.findall(r"\[`(\w+)`\]\((\S+)\)", api_map.page())
    assert len(links) > 50
    for name, file in links:
        assert f"class {name}" in Path(api_map.ROOT, file).read_text("utf-8")
