"""What PyInstaller does not find by itself: modules that load on first use, and data files.

The sources are collected, too: without docstrings (``--optimize 2``), the texts of tools and of the
command line are read from them.
"""

from __future__ import annotations

from PyInstaller.utils.hooks import (  # pyright: ignore[reportMissingModuleSource] -- installed by whoever freezes a program
    collect_data_files,
    collect_submodules,
)

hiddenimports = collect_submodules("ferry_sdk", on_error="ignore")
datas = collect_data_files("ferry_sdk")
module_collection_mode = {"ferry_sdk": "pyz+py"}
