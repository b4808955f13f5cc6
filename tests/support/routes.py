"""The routes of the local service, read once for all tests that do not test the reading."""

from dataclasses import replace
from functools import cache

from ferry_sdk import Ferry
from ferry_sdk.planning import catalogues
from ferry_sdk.sandbox import Sandbox
from tests.support.trip import NOW


@cache
def _known_graph():
    with Sandbox(now=NOW) as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        ferry.routes.find()
        return catalogues._graphs[sandbox.token, sandbox.base_url, None, None]


def know_routes(sandbox):
    """Have clients of this service find its routes in their cache."""
    catalogues.clear_cache()
    key = (sandbox.token, sandbox.base_url, None, None)
    catalogues._graphs[key] = replace(_known_graph(), confirmed=set())
