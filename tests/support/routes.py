"""The catalogues of the local service, read once for all tests that do not test the reading."""

from dataclasses import replace
from functools import cache

from ferry_sdk import Ferry
from ferry_sdk.planning import catalogues
from ferry_sdk.sandbox import Sandbox
from tests.support.trip import NOW


def _key(sandbox):
    return sandbox.token, sandbox.base_url, None, None


@cache
def _known_graph():
    with Sandbox(now=NOW) as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        ferry.routes.find()
        return catalogues._graphs[_key(sandbox)]


@cache
def _known_names():
    """Return the names of the ports in every language, and the vehicles."""
    with Sandbox(now=NOW) as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        ferry.places.find("Genua")
        ferry.vehicles.find("Fiat 500")
        return catalogues._indexes[_key(sandbox)], catalogues._vehicles[_key(sandbox)]


def know_routes(sandbox):
    """Have clients of this service find its routes in their cache."""
    catalogues.clear_cache()
    graph = _known_graph()
    catalogues._graphs[_key(sandbox)] = replace(graph, confirmed=set())


def know_catalogues(sandbox):
    """Know the routes, the names of the ports in every language, and the vehicles."""
    names, vehicles = _known_names()
    know_routes(sandbox)
    catalogues._indexes[_key(sandbox)] = names
    catalogues._vehicles[_key(sandbox)] = vehicles
