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

if TYPE_CHECKING:
    from ferry_sdk import Port, Records
    from ferry_sdk._engine.operation import Operation


@pytest.fixture
def stubs(tmp_path, monkeypatch):
    """A folder into which the script has written the stubs."""
    monkeypatch.setattr(signatures, "FOLDER", tmp_path)
    signatures.main()
    return tmp_path


def test_stubs_are_what_the_script_writes():
    signatures.main("--check")


@pytest.mark.slow
@pytest.mark.usefixtures("stubs")
def test_check_accepts_new_stubs():
    signatures.main("--check")


@pytest.mark.slow
def test_check_names_a_stub_that_differs(stubs):
    stub = stubs / "raw.pyi"
    stub.write_text(stub.read_text("utf-8").replace("booking_id: str", "id: str"), "utf-8")
    with pytest.raises(SystemExit, match=r"raw\.pyi differs .* run scripts/api-map"):
        signatures.main("--check")


def test_stub_shows_that_a_method_is_deprecated():
    @deprecated("ask for the tariffs")
    def fares(self, *, limit: int = 5) -> Operation[Records[Port]]:
        raise NotImplementedError

    assert signatures.definition("fares", fares, "async def", "{}").splitlines() == [
        '    @deprecated("ask for the tariffs")',
        "    async def fares(self, *, limit: int = 5) -> Records[Port]: ...",
    ]


SIGNATURES = """
import inspect, sys
import ferry_sdk
assert "pydantic" not in sys.modules
for name in ferry_sdk.__all__:
    model = getattr(ferry_sdk, name)
    fields = getattr(model, "model_fields", None)
    if fields and not issubclass(model, Exception):
        assert not model.__pydantic_complete__, name
        parameters = inspect.signature(model).parameters.values()
        keywords = [one for one in parameters if one.kind is one.KEYWORD_ONLY]
        assert len(keywords) == len(fields), name
        required = sum(field.is_required() for field in fields.values())
        assert sum(one.default is one.empty for one in keywords) == required, name
        print(name)
"""


@pytest.mark.slow
def test_signature_of_a_record_shows_its_fields():
    ended = subprocess.run(
        [sys.executable, "-c", SIGNATURES], check=True, capture_output=True, text=True
    )
    assert {"Passenger", "Availability", "Booking"} <= {*ended.stdout.split()}


@pytest.mark.parametrize("file", signatures.STUBS)
def test_stub_has_every_operation(file):
    classes = {}
    for node in ast.parse(signatures.stub(file)).body:
        if isinstance(node, ast.ClassDef):
            classes[node.name] = {line.name for line in node.body if hasattr(line, "name")}
    for operation in OPERATIONS:
        group, _, name = operation.partition(".")
        assert name in classes[f"{group.capitalize()}Group"]


def members_without_a_meaning(module, names):
    """Name the members of a module's enumerations that no text follows."""
    for node in ast.parse(Path(inspect.getfile(module)).read_text("utf-8")).body:
        if not isinstance(node, ast.ClassDef) or node.name not in names:
            continue
        for statement, after in zip(node.body, [*node.body[1:], None], strict=True):
            if isinstance(statement, ast.Assign) and not is_sentence(after):
                yield f"{node.name}.{ast.unparse(statement.targets[0])}"


def is_sentence(node):
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and str(node.value.value).endswith(".")
    )


def test_member_of_an_enumeration_has_a_meaning():
    names = {kind.__name__ for kind in enums.OpenEnum.__subclasses__()}
    assert len(names) >= 13
    assert [*members_without_a_meaning(enums, names)] == []


def test_kind_of_a_fault_has_a_meaning():
    assert [*members_without_a_meaning(kinds, {FaultKind.__name__})] == []


@pytest.mark.parametrize("page", PAGES)
def test_call_has_an_example(page):
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
    (request,) = [
        re.sub(shown, sent, endpoint)
        for shown, sent in WIRE.items()
        if re.fullmatch(shown, endpoint)
    ]
    return request


@pytest.mark.parametrize("path", api_map.files(), ids=lambda path: path.name)
def test_page_is_what_the_script_writes(path):
    assert path.read_text("utf-8") == api_map.files()[path], "run scripts/api-map"


@pytest.fixture
def map_of_the_api(tmp_path, monkeypatch):
    """A page that the script has written."""
    monkeypatch.setattr(api_map, "PAGE", tmp_path / "api.md")
    api_map.main()
    return api_map.PAGE


@pytest.mark.usefixtures("map_of_the_api")
def test_check_accepts_a_new_map():
    api_map.main("--check")


def test_check_rejects_a_map_that_differs(map_of_the_api):
    map_of_the_api.write_text(api_map.page().replace("booking_id: str", "id: str"), "utf-8")
    with pytest.raises(SystemExit, match="scripts/api-map"):
        api_map.main("--check")


def test_map_has_all_operations_in_order():
    assert [*NAMED] == [*OPERATIONS]


@pytest.mark.parametrize("name", OPERATIONS)
def test_map_says_whether_a_call_writes(name):
    assert NAMED[name][1] == SAFETY[name].kind


@pytest.mark.parametrize("name", OPERATIONS)
def test_map_names_the_endpoint_of_a_call(name):
    request = described(name).call.digest()
    endpoint = re.escape(on_the_wire(NAMED[name][0])).replace(r"\{id\}", "[^/ ]+")
    assert re.match(f"{endpoint}(?= |$)", f"{request.method} {request.path}")


def test_map_shows_no_inner_type():
    assert not re.search(r"Operation\[|\bUntil\b|\bRecovered\b|arguments\.", api_map.page())


def test_link_of_the_map_leads_to_its_class():
    links = re.findall(r"\[`(\w+)`\]\((\S+)\)", api_map.page())
    assert len(links) > 50
    for name, file in links:
        assert f"class {name}" in Path(api_map.ROOT, file).read_text("utf-8")
