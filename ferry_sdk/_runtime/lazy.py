"""Public names of a package that are loaded on first use, as its stub lists them."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

_IMPORT = re.compile(r"^from (\S+) import (\w+)", re.MULTILINE)


def modules_by_name(stub: str) -> dict[str, str]:
    """Return the module of each name that a stub imports, one on a line."""
    return {name: module for module, name in _IMPORT.findall(stub)}


def lazy_names(
    package: str, file: str, load: Callable[[str], ModuleType] = import_module
) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """Return the `__all__`, `__getattr__` and `__dir__` of a package.

    Args:
        package: Its name.
        file: The path of its `__init__`; the stub is beside it.
        load: Loads a module by its full name.
    """
    own: Any = sys.modules[package]
    stub = own.__spec__.loader.get_data(str(Path(file).with_suffix(".pyi")))  # also in a zip file
    module_of = modules_by_name(stub.decode())
    every_name = sorted(module_of)

    def load_name(name: str) -> object:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(load(module_of[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return every_name, load_name, every_name.copy
