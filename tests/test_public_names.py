"""The names a user may rely on, where they come from and what they cost."""

import ast
import inspect
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
from ferry_sdk.resources.availability import AvailabilityGroup
from ferry_sdk.resources.bookings import BookingsGroup
from ferry_sdk.resources.catalogue import CatalogueGroup
from ferry_sdk.resources.groups import Resources
from ferry_sdk.resources.mcp import McpGroup
from ferry_sdk.resources.tickets import TicketsGroup
from ferry_sdk.sandbox import Sandbox
from scripts import lazy_stubs, public_names
from scripts.public_names import missing_names, missing_operations
from tests.support.operations import OPERATIONS

LAZY = (ferry_sdk, ferry_sdk.models, ferry_sdk.sandbox)


def test_the_public_names_are_those_of_the_stub_which_is_written_from_the_table():
    assert [package.__name__ for package in LAZY] == [*lazy_stubs.PACKAGES]
    for package in LAZY:
        stub = Path(package.__file__).with_suffix(".pyi").read_text("utf-8")
        assert stub == lazy_stubs.stub(package.__name__)
        assert f"__all__ = {package.__all__}" == ast.unparse(ast.parse(stub).body[-1])
        assert dir(package) == package.__all__
        for module, names in lazy_stubs.modules(package.__name__).items():
            for name in names:
                assert getattr(package, name) is getattr(import_module(module), name), name


def test_the_check_fails_where_a_stub_is_old(monkeypatch):
    lazy_stubs.main("--check")
    monkeypatch.setattr(lazy_stubs, "HEAD", "# another head")
    with pytest.raises(SystemExit, match=r"__init__\.pyi differs from its table"):
        lazy_stubs.main("--check")


def test_every_public_name_and_method_is_listed_where_it_should_be():
    assert [*missing_names(), *missing_operations(OPERATIONS)] == []


def test_a_missing_piece_is_named_with_its_file(monkeypatch):
    monkeypatch.setattr(ferry_sdk.models, "__all__", [*ferry_sdk.models.__all__, "Galleon"])
    assert [*missing_names()] == [
        "ferry_sdk/models/__init__.py: Galleon is in no module that it names"
    ]
    monkeypatch.setattr(ferry_sdk.models, "Galleon", ferry_sdk.Booking, raising=False)
    assert [*missing_names()] == ["docs/reference/bookings.md: add ::: ferry_sdk.models.Galleon"]
    assert "ferry_sdk/_engine/safety.py: add the row of catalogue.galleon" in missing_operations(
        ["catalogue.galleon"]
    )


def test_a_new_name_is_written_to_the_page_of_its_module(monkeypatch, tmp_path):
    pages = shutil.copytree(public_names.REFERENCE, tmp_path / "reference")
    monkeypatch.setattr(public_names, "REFERENCE", pages)
    monkeypatch.setattr(ferry_sdk.models, "__all__", [*ferry_sdk.models.__all__, "Galleon"])
    monkeypatch.setattr(ferry_sdk.models, "Galleon", ferry_sdk.Booking, raising=False)
    with pytest.raises(SystemExit, match=r"bookings\.md: add ::: ferry_sdk\.models\.Galleon"):
        public_names.main("--check")
    with pytest.raises(SystemExit) as ended:
        public_names.main()
    assert ended.value.code is None
    text = pages.joinpath("bookings.md").read_text("utf-8")
    assert text.endswith("\n\n::: ferry_sdk.models.Galleon\n")


def test_no_name_is_hidden_by_a_module_once_everything_is_loaded():
    program = """
import types
import ferry_sdk, ferry_sdk.client, ferry_sdk.sandbox
values = {name: getattr(ferry_sdk, name) for name in ferry_sdk.__all__}
print([name for name, value in values.items() if isinstance(value, types.ModuleType)])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )
    assert done.stdout.strip() == "[]"


def test_a_name_that_is_not_there_is_told():
    with pytest.raises(AttributeError, match="module 'ferry_sdk' has no attribute 'Ship'"):
        _ = ferry_sdk.Ship


def test_a_star_import_gives_every_name():
    space = {}
    exec("from ferry_sdk import *", space)  # noqa: S102 -- nothing else imports *
    assert set(space) - {"__builtins__"} == {*ferry_sdk.__all__}


def loaded_after(statement):
    """The modules a new process has loaded after a statement."""
    program = f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, check=True, text=True
    )
    return set(json.loads(done.stdout))


@pytest.mark.parametrize(
    "statement", ["import ferry_sdk", "import ferry_sdk; ferry_sdk.__version__; dir(ferry_sdk)"]
)
def test_the_import_loads_nothing_heavy(statement):
    loaded = loaded_after(statement)
    heavy = {"httpx", "pydantic", "tenacity", "anyio", "asyncio", "ssl", "starlette", "uvicorn"}
    assert not heavy & loaded
    assert "aiohttp" not in loaded
    own = {name for name in loaded if name.startswith("ferry_sdk")}
    assert own - {"ferry_sdk._runtime.version"} == {
        "ferry_sdk",
        "ferry_sdk._runtime",
        "ferry_sdk._runtime.lazy",
    }


def test_errors_can_be_caught_without_a_client():
    loaded = loaded_after("from ferry_sdk import FerryError")
    assert not {"httpx", "pydantic", "tenacity"} & loaded


def test_a_client_loads_no_local_service():
    loaded = loaded_after("from ferry_sdk import AsyncFerry, Ferry")
    assert not {"starlette", "uvicorn", "fpdf", "segno", "pytest", "sqlalchemy"} & loaded
    assert not [name for name in loaded if name.startswith("ferry_sdk.sandbox")]


def test_an_import_of_the_models_builds_none_and_starts_no_thread():
    loaded_after(
        "import _thread\n"
        "_thread.start_new_thread = None\n"
        "import ferry_sdk.models\n"
        "from ferry_sdk.models.base import DeferredModel, Model\n"
        "[getattr(ferry_sdk.models, name) for name in ferry_sdk.models.__all__]\n"
        "models = [*DeferredModel.__subclasses__(), *Model.__subclasses__()]\n"
        "assert len(models) > 30\n"
        "assert not [model for model in models if model.__pydantic_complete__]"
    )


def test_a_read_loads_only_what_it_needs():
    """httpcore, which loads trio where it is installed, is kept from it."""
    with Sandbox() as sandbox:
        loaded = loaded_after(
            "sys.modules.update(trio=None)\n"
            "from ferry_sdk import Ferry\n"
            f"with Ferry({sandbox.token!r}, base_url={sandbox.base_url!r}) as ferry:\n"
            "    assert len(ferry.catalogue.ports())"
        )
    assert not {"httpx", "aiohttp"} & loaded
    assert not {"ferry_sdk.models.bookings", "ferry_sdk.models.tickets"} & loaded
    assert "ferry_sdk.models.catalogue" in loaded


def public_things():
    spaces = (ferry_sdk, ferry_sdk.models, ferry_sdk.agents)
    found = {
        f"{space.__name__}.{name}": getattr(space, name)
        for space in spaces
        for name in space.__all__
        if not name.startswith("__")
    }
    groups = (Resources, AvailabilityGroup, BookingsGroup, CatalogueGroup, McpGroup, TicketsGroup)
    return found | {f"{group.__module__}.{group.__name__}": group for group in groups}


def test_every_public_thing_says_what_it_is():
    for where, thing in public_things().items():
        if inspect.isclass(thing) or inspect.isroutine(thing):
            assert inspect.cleandoc(thing.__doc__ or ""), where
        if inspect.isclass(thing):
            assert undocumented(thing) == [], where


def undocumented(thing):
    """The public members, of our own classes, that say nothing."""
    return [
        name
        for kind in thing.__mro__
        if kind.__module__.startswith("ferry_sdk")
        for name, member in vars(kind).items()
        if not name.startswith("_")
        and (
            inspect.isroutine(member)
            or isinstance(member, property)
            or hasattr(member, "describe")
            or type(member).__name__ == "cached_property"
        )
        and not inspect.cleandoc(member.__doc__ or "")
    ]
