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

LAZY = (ferry_sdk, ferry_sdk.models, ferry_sdk.notebook, ferry_sdk.sandbox)


def test_the_public_names_are_those_of_the_stub_and_a_star_import_gives_every_one(monkeypatch):
    assert [package.__name__ for package in LAZY] == [*lazy_stubs.PACKAGES]
    for package in LAZY:
        stub = Path(package.__file__).with_suffix(".pyi").read_text("utf-8")
        assert stub == lazy_stubs.stub(package.__name__)
        assert f"__all__ = {package.__all__}" == ast.unparse(ast.parse(stub).body[-1])
        assert dir(package) == package.__all__
        for name, module in modules_by_name(stub).items():
            assert getattr(package, name) is getattr(import_module(module), name), name
    lazy_stubs.main("--check")
    monkeypatch.setattr(lazy_stubs, "HIDDEN", {"Trip"})
    with pytest.raises(SystemExit, match=r"__init__\.pyi is not complete"):
        lazy_stubs.main("--check")
    space = {}
    exec("from ferry_sdk import *", space)  # noqa: S102 -- nothing else imports *
    assert set(space) - {"__builtins__"} == {*ferry_sdk.__all__}
    with pytest.raises(AttributeError, match="module 'ferry_sdk' has no attribute 'Ship'"):
        _ = ferry_sdk.Ship


def test_a_missing_name_is_told_with_its_file_and_written_to_its_page(monkeypatch, tmp_path):
    assert [*missing_names(), *missing_operations(OPERATIONS)] == []
    pages = shutil.copytree(public_names.REFERENCE, tmp_path / "reference")
    monkeypatch.setattr(ferry_sdk.models, "__all__", [*ferry_sdk.models.__all__, "Galleon"])
    missing = "ferry_sdk/models/__init__.py: Galleon is in no module that it names"
    assert [*missing_names()] == [missing]
    monkeypatch.setattr(ferry_sdk.models, "Galleon", ferry_sdk.Booking, raising=False)
    assert [*missing_names()] == ["docs/reference/bookings.md: add ::: ferry_sdk.models.Galleon"]
    row = "ferry_sdk/_engine/safety.py: add the row of catalogue.galleon"
    assert row in missing_operations(["catalogue.galleon"])
    monkeypatch.setattr(public_names, "REFERENCE", pages)
    with pytest.raises(SystemExit, match=r"bookings\.md: add ::: ferry_sdk\.models\.Galleon"):
        public_names.main("--check")
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


def test_an_import_and_a_read_load_only_what_they_need():
    names, errors, clients = loaded_after_each(
        "import ferry_sdk; ferry_sdk.__version__; dir(ferry_sdk)",
        "from ferry_sdk import FerryError",
        "from ferry_sdk import AsyncFerry, Ferry",
    )
    assert not {*HEAVY, "aiohttp"} & names
    assert not {"httpx", "pydantic", "tenacity"} & errors
    assert not {*OF_THE_SERVICE, "ferry_sdk.sandbox"} & clients
    own = {name for name in names if name.startswith("ferry_sdk")}
    of_names = {f"ferry_sdk._runtime.{name}" for name in ("lazy", "version")}
    of_forks = {f"ferry_sdk._runtime.{name}" for name in ("clock", "fork")}
    assert own == {"ferry_sdk", "ferry_sdk._runtime", *of_names, *of_forks}
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
