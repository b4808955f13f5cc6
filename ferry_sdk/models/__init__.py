"""The typed records and inputs of the API.

The public names are those of the stub beside this module; each is loaded on first use.
"""

from __future__ import annotations

from ferry_sdk._runtime.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
