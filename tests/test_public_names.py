"""The names a user may rely on, where they come from and what they cost."""

import ast
import json
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import ferry_sdk
import ferry_sdk.agents
import ferry_sdk.models
import ferry_sdk.notebook
from ferry_sdk._runtime.lazy import modules_by_name
from ferry_sdk.sandbox import Sandbox
from scripts import lazy_stubs, public_names
from scripts.public_names import missing_names, missing_operations
from tests.support.operations import OPERATIONS

LAZY = [
    ferry_sdk,
    ferry_sdk.agents,
    ferry_sdk.models,
    ferry_sdk.notebook,
    ferry_sdk.sandbox,
]
every_lazy_package = pytest.mark.parametrize("package", LAZY, ids=lambda package: package.__name__)


def stub_of(package):
    return Path(package.__file__).with_suffix(".pyi").read_text("utf-8")


def test_packages_with_stubs_are_known():
    assert [package.__name__ for package in LAZY] == [*lazy_stubs.PACKAGES]


@every_lazy_package
def test_stub_is_what_the_script_writes(package):
    assert stub_of(package) == lazy_stubs.stub(package.__name__)


@every_lazy_package
def test_public_names_are_those_of_the_stub(package):
    assert f"__all__ = {package.__all__}" == ast.unparse(ast.parse(stub_of(package)).body[-1])
    assert dir(package) == package.__all__


@every_lazy_package
def test_name_is_that_of_its_module(package):
    modules = modules_by_name(stub_of(package))
    other = [
        name
        for name, module in modules.items()
        if getattr(package, name) is not getattr(import_module(module), name)
    ]
    assert other == []


def test_check_accepts_the_stubs():
    lazy_stubs.main("--check")


def test_check_names_a_stub_that_is_not_complete(monkeypatch):
    monkeypatch.setattr(lazy_stubs, "HIDDEN", {"Trip"})
    with pytest.raises(SystemExit, match=r"__init__\.pyi is not complete"):
        lazy_stubs.main("--check")


def test_star_import_gives_every_name():
    space = {}
    exec("from ferry_sdk import *", space)  # noqa: S102 -- nothing else imports *
    assert set(space) - {"__builtins__"} == {*ferry_sdk.__all__}


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'ferry_sdk' has no attribute 'Ship'"):
        _ = ferry_sdk.Ship


@pytest.fixture
def galleon(monkeypatch):
    """Adds a public name that is on no page of the reference."""
    monkeypatch.setattr(ferry_sdk.models, "__all__", [*ferry_sdk.models.__all__, "Galleon"])
    monkeypatch.setattr(ferry_sdk.models, "Galleon", ferry_sdk.Booking, raising=False)


@pytest.fixture
def pages(tmp_path, monkeypatch):
    """A copy of the reference, to which the script writes."""
    copied = shutil.copytree(public_names.REFERENCE, tmp_path / "reference")
    monkeypatch.setattr(public_names, "REFERENCE", copied)
    return copied


def test_no_name_or_operation_is_missing():
    assert [*missing_names(), *missing_operations(OPERATIONS)] == []


def test_name_without_a_module_is_missing(monkeypatch):
    monkeypatch.setattr(ferry_sdk.models, "__all__", [*ferry_sdk.models.__all__, "Galleon"])
    missing = "ferry_sdk/models/__init__.py: Galleon is in no module that it names"
    assert [*missing_names()] == [missing]


@pytest.mark.usefixtures("galleon")
def test_name_without_a_page_is_missing():
    assert [*missing_names()] == ["docs/reference/bookings.md: add ::: ferry_sdk.models.Galleon"]


def test_operation_without_a_row_is_missing():
    row = "ferry_sdk/_engine/safety.py: add the row of catalogue.galleon"
    assert row in missing_operations(["catalogue.galleon"])


@pytest.mark.usefixtures("galleon", "pages")
def test_check_names_a_missing_name():
    with pytest.raises(SystemExit, match=r"bookings\.md: add ::: ferry_sdk\.models\.Galleon"):
        public_names.main("--check")


@pytest.mark.usefixtures("galleon")
def test_script_writes_a_missing_name(pages):
    with pytest.raises(SystemExit) as ended:
        public_names.main()
    assert ended.value.code is None
    text = pages.joinpath("bookings.md").read_text("utf-8")
    assert text.endswith("\n\n::: ferry_sdk.models.Galleon\n")


def loaded_after_each(*statements):
    look = "print(json.dumps(sorted(sys.modules)))\n"
    program = "import json, sys\n" + "".join(f"{one}\n{look}" for one in statements)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, check=True, text=True
    )
    return [{*json.loads(line)} for line in done.stdout.splitlines()]


def loaded_after(statement):
    (loaded,) = loaded_after_each(statement)
    return loaded


HEAVY = {"httpx", "pydantic", "tenacity", "anyio", "asyncio", "ssl", "starlette", "uvicorn"}
OF_THE_SERVICE = {"starlette", "uvicorn", "fpdf", "segno", "pytest", "sqlalchemy"}


@pytest.fixture(scope="module")
def loaded():
    """The modules that are loaded after importing the names, an error, and the clients."""
    return loaded_after_each(
        "import ferry_sdk; ferry_sdk.__version__; dir(ferry_sdk)",
        "from ferry_sdk import FerryError",
        "from ferry_sdk import AsyncFerry, Ferry",
    )


def test_import_loads_only_what_it_needs(loaded):
    modules, _, _ = loaded
    assert not {*HEAVY, "aiohttp"} & modules
    assert {name for name in modules if name.startswith("ferry_sdk")} == {
        "ferry_sdk",
        "ferry_sdk._runtime",
        "ferry_sdk._runtime.clock",
        "ferry_sdk._runtime.fork",
        "ferry_sdk._runtime.lazy",
        "ferry_sdk._runtime.version",
    }


def test_errors_load_no_client(loaded):
    _, modules, _ = loaded
    assert not {"httpx", "pydantic", "tenacity"} & modules


def test_clients_load_nothing_of_the_service(loaded):
    _, _, modules = loaded
    assert not {*OF_THE_SERVICE, "ferry_sdk.sandbox"} & modules


RECORDS = """
import _thread
_thread.start_new_thread = None
import ferry_sdk.models
from ferry_sdk.models.base import DeferredModel, Model
[getattr(ferry_sdk.models, name) for name in ferry_sdk.models.__all__]
models = [*DeferredModel.__subclasses__(), *Model.__subclasses__()]
assert len(models) > 30
assert not [model for model in models if model.__pydantic_complete__]
"""


@pytest.mark.slow
def test_import_of_the_records_builds_none():
    loaded_after(RECORDS)


READ = """
sys.modules.update(trio=None)
from ferry_sdk import Ferry
with Ferry({token!r}, base_url={base_url!r}) as ferry:
    assert len(ferry.catalogue.ports())
"""


@pytest.fixture(scope="module")
def loaded_by_a_read():
    with Sandbox() as sandbox:
        return loaded_after(READ.format(token=sandbox.token, base_url=sandbox.base_url))


@pytest.mark.slow
def test_read_loads_no_http_library(loaded_by_a_read):
    assert not {"httpx", "aiohttp"} & loaded_by_a_read


def test_read_loads_only_its_records(loaded_by_a_read):
    assert not {"ferry_sdk.models.bookings", "ferry_sdk.models.tickets"} & loaded_by_a_read
    assert "ferry_sdk.models.catalogue" in loaded_by_a_read
