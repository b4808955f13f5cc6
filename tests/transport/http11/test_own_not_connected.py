"""The tests of httpx with the library's own clients."""

from tests.transport.test_not_connected import *  # noqa: F403 -- the same tests, of other clients
