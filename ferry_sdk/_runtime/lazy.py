"""Names of a package and attributes of an object that are made on first use.

A package whose names load on first use has a stub beside it, ``__init__.pyi``. A line of the stub,
such as ``from ferry_sdk.client import Ferry as Ferry``, says which module has a name. On the first
use of ``ferry_sdk.Ferry``, Python calls the `__getattr__` of the package, which imports that module
and keeps the name in the package.

A fork of the process waits while a name is loaded. An attribute has no lock, because a fork could
copy it while another thread holds it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from ferry_sdk._runtime.fork import FORK_LOCK

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
        with FORK_LOCK.use(writes=True):
            module = load(module_of[name])
        value: object = getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return every_name, load_name, every_name.copy


class lazy_attribute(cached_property[Any]):  # noqa: N801 -- used as a decorator, like property
    """An attribute that is made on first use and kept in the object, without a lock.

    On Python 3.11, `cached_property` holds a lock meanwhile, one for all objects of the class.
    Without it, two threads may make the value at the same time; both get the one that is kept
    first.
    """

    def __get__(self, instance: object, owner: type[Any] | None = None) -> Any:  # noqa: ANN401 -- any value
        if instance is None:
            return self
        return vars(instance).setdefault(str(self.attrname), self.func(instance))
