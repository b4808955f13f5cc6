"""Public names of a package that are loaded on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType

TABLES: dict[str, dict[str, list[str]]] = {}
"""The public names of each module of a package, by package."""


def lazy_names(
    package: str, names: Mapping[str, str], load: Callable[[str], ModuleType] = import_module
) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """Return the `__all__`, `__getattr__` and `__dir__` of a package.

    A name that the parent package takes from a module of this one is a name of this one too.

    Args:
        package: Its name.
        names: The public names of each of its modules, separated by spaces.
        load: Loads a module by its full name.
    """
    parent, _, name = package.rpartition(".")
    table = {
        module.removeprefix(f"{name}."): listed.copy()
        for module, listed in TABLES.get(parent, {}).items()
        if module.startswith(f"{name}.")
    }
    for module, line in names.items():
        table.setdefault(module, []).extend(line.split())
    TABLES[package] = table
    module_of = {name: module for module, listed in table.items() for name in listed}
    every_name = sorted(module_of)

    def load_name(name: str) -> object:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(load(f"{package}.{module_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return every_name, load_name, every_name.copy
