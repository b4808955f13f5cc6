"""What was sent and what was not, as the boundary's own tests tell it of httpx."""

from __future__ import annotations

from tests.transport.test_cut_connections import *  # noqa: F403 -- the same tests, of another client
