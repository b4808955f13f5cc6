"""The tests of httpx with the library's own clients."""

from tests.transport.test_cut_connections import *  # noqa: F403 -- the same tests, of other clients
