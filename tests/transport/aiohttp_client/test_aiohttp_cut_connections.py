"""Requests on connections that break: the tests of httpx with this client."""

from __future__ import annotations

from tests.transport.test_cut_connections import *  # noqa: F403 -- the same tests, of another client
