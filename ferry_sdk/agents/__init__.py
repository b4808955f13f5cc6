"""Offer the methods of a client to an agent as tools, with limits, approval and an audit."""

from __future__ import annotations

from ferry_sdk._runtime.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
