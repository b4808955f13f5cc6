"""Public names of a package that are loaded on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType


def lazy_names(
    package: str, names: Mapping[str, str], load: Callable[[str], ModuleType] = import_module
) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """Return the `__all__`, `__getattr__` and `__dir__` of a package.

    Args:
        package: Its name.
        names: The public names of each of its modules, separated by spaces.
        load: Loads a module by its full name.
    """
    module_of = {name: module for module, line in names.items() for name in line.split()}
    every_name = sorted(module_of)

    def load_name(name: str) -> object:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(load(f"{package}.{module_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return every_name, load_name, every_name.copy
