"""Read the catalogues into a route graph and an index of places, and keep both.

`route_graph` looks in these places, in this order:

1. in memory: by the account, the service's address, the language and the folder `route_cache`.
   Accounts may sell different routes, so they share nothing.
2. in a file in the folder `route_cache`, if the user set one.
3. at the service: it reads the catalogues of both protocols at the same time and joins them.
   Callers that need the same graph at the same time share one reading.

A graph in memory that is older than a day is still used, while another one is made in the
background. A file that is older is not used, because a short program ends before the background
does.

The graphs, indexes and vehicles of the hundred accounts that were used last are kept. If a function
of the user returns the token, the account has no name; what is kept for it goes with the client.

Records that cannot be read, and catalogues that could not be read at all, are in ``.unreadable`` of
the graph and of the index that lack them, in memory and in the file.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar
from weakref import finalize

from ferry_sdk._engine.attempts import log_text
from ferry_sdk._engine.batch import (
    Batch,
    BatchAnswer,
    NextAnswer,
    Plan,
    next_answer,
    stop_after_error,
)
from ferry_sdk._engine.effects import Flow, RunBlocking, Save, SingleFlight
from ferry_sdk._engine.settings import Settings
from ferry_sdk._runtime.clock import monotonic
from ferry_sdk._runtime.fork import after_fork_in_child
from ferry_sdk._runtime.version import __version__
from ferry_sdk.errors import (
    APIError,
    AuthenticationError,
    ConfigurationError,
    FerryError,
    RequestTimeoutError,
)
from ferry_sdk.models.catalogue import VehicleModel
from ferry_sdk.models.records import Records
from ferry_sdk.planning.names import LANGUAGES, PlaceIndex, country_codes
from ferry_sdk.planning.results import (
    UnreadableAnswer,
    ports_without_code,
    unreadable_answers,
)
from ferry_sdk.planning.route_files import account_name, content_of, read_graph, remove_old
from ferry_sdk.planning.routes import DEPARTURES_OF, FRESH_FOR, RouteGraph, RouteSources
from ferry_sdk.resources.catalogue import CatalogueGroup
from ferry_sdk.resources.mcp import McpGroup

T = TypeVar("T")
Key = tuple[str | int, str, str | None, Path | None]
"""The account, the service's address, the language and the folder of files.

The account is a number if a function of the user returns the token.
"""

logger: logging.Logger = logging.getLogger("ferry_sdk")

POINTLESS: Final = (AuthenticationError, ConfigurationError)
"""Errors with which every other call would fail as well."""
_REFRESH_TIME: Final = 120.0
"""Seconds for reading a graph again in the background."""

_ROUTE_OPERATIONS: Final[Mapping[str, str]] = {
    "ports": "catalogue.ports",
    "journeys": "catalogue.journeys",
    "companies": "mcp.companies",
    "timetable": "mcp.departures",
    "mcp_ports": "mcp.ports",
}
"""The operation of each catalogue of routes, by its key in the batch."""
_DEPARTURES_OPERATION: Final = "catalogue.departures"
"""The operation of the other keys, which are one for each company."""
_NAME_OPERATIONS: Final[Mapping[str, str]] = {"cities": "mcp.ports", "countries": "mcp.countries"}
"""The operation of each catalogue of names, by its key in the batch."""
_PORTS_OPERATION: Final = "catalogue.ports"
"""The operation of the other keys, which are one for each language."""

_MAX_KEPT: Final = 100
"""Entries of each kind, one for an account in a language. Three of them take 1 MB."""


@dataclass(frozen=True, slots=True)
class _KeptVehicles:
    """MCP's vehicles, and when they were read, in seconds since the epoch."""

    models: Records[VehicleModel]
    read_at: float


_graphs: OrderedDict[Key, RouteGraph] = OrderedDict()
_indexes: OrderedDict[Key, PlaceIndex] = OrderedDict()
_vehicles: OrderedDict[Key, _KeptVehicles] = OrderedDict()
_refreshing: set[Key] = set()
"""The graphs that are being made again in the background."""


def clear_cache() -> None:
    """Forget the catalogues that are kept in memory."""
    _graphs.clear()
    _indexes.clear()
    _vehicles.clear()


# The threads that make graphs again are in the parent only.
after_fork_in_child(_refreshing.clear)


def deadline_of(settings: Settings) -> float | None:
    """Return when a plan that begins now ends, on the monotonic clock; None: no limit."""
    return None if settings.deadline is None else monotonic() + settings.deadline


def route_graph(settings: Settings, until: float | None) -> Flow[RouteGraph]:
    """Return the route graph of the client's account, service and language.

    Raises:
        FerryError: The ports or the journeys could not be read.
    """
    key = _key(settings)
    graph = _get_kept(_graphs, key)

    if graph is None and _may_have_file(settings):
        graph = yield from RunBlocking(lambda: read_graph(_file_of(settings)), until)
        if graph is not None:
            _keep(_graphs, settings, graph)

    if graph is None:
        steps = partial(_build, settings, until)
        return (yield from SingleFlight(("routes", *key), steps, until, may_run_again=True))

    if not graph.is_fresh and key not in _refreshing:
        _refreshing.add(key)
        batch: Batch[str, None] = Batch(1, monotonic() + _REFRESH_TIME)
        batch.add("refresh", Plan(_refresh))
        # This starts the refresh and does not wait for it: the wait ends now.
        yield from NextAnswer(batch, until=monotonic())
    return graph


def refresh(settings: Settings) -> Flow[None]:
    """Read the catalogues again."""
    _indexes.pop(_key(settings), None)
    yield from _build(settings, deadline_of(settings))


def place_index(settings: Settings, until: float | None) -> Flow[PlaceIndex]:
    """Return the names of all ports in every known language, with their cities.

    Raises:
        FerryError: The ports could not be read in the client's language.
    """
    key = _key(settings)
    index = _get_kept(_indexes, key)
    if index is not None and index.is_complete and _is_fresh(index.made_at):
        return index
    steps = partial(_read_names, settings, until)
    return (yield from SingleFlight(("places", *key), steps, until, may_run_again=True))


def vehicle_models(settings: Settings, until: float | None) -> Flow[Records[VehicleModel]]:
    """Return MCP's vehicles.

    Raises:
        FerryError: They could not be read.
    """
    kept = _get_kept(_vehicles, _key(settings))
    if kept is not None and _is_fresh(kept.read_at):
        return kept.models

    batch: Batch[str, Records[VehicleModel]] = Batch(1, until)
    batch.add("vehicles", McpGroup.vehicle_data(None))
    answer = yield from stop_after_error(batch, _next_answer(batch))
    if answer.error is not None:
        raise answer.error

    models = answer.value or Records[VehicleModel]()
    _keep(_vehicles, settings, _KeptVehicles(models, read_at=time.time()))
    return models


def _key(settings: Settings) -> Key:
    return settings.token.account, settings.base_url, settings.language, settings.route_cache


def _is_fresh(made_at: float) -> bool:
    """Return whether a value is less than a day old, and not of a clock that was set back."""
    return 0 <= time.time() - made_at < FRESH_FOR


def _get_kept(cache: OrderedDict[Key, T], key: Key) -> T | None:
    """Return what is kept, and note that it was used."""
    with suppress(KeyError):  # a KeyError also if another thread has just removed it
        cache.move_to_end(key)
    return cache.get(key)


def _keep(cache: OrderedDict[Key, T], settings: Settings, value: T) -> None:
    """Keep a value; that of an account without a name only as long as its client."""
    key = _key(settings)
    if key not in cache and isinstance(settings.token.account, int):
        removal = finalize(settings.token, cache.pop, key, None)
        removal.atexit = False  # at the end of the process, nothing has to be removed
    cache[key] = value

    while len(cache) > _MAX_KEPT:
        with suppress(KeyError):
            cache.popitem(last=False)


def _refresh(settings: Settings) -> Flow[None]:
    """Read the catalogues again in the background, where nobody sees an error."""
    try:
        yield from _build(settings, deadline_of(settings))
    except FerryError as error:
        logger.info("the routes could not be read again: %s", log_text(error))
    finally:
        _refreshing.discard(_key(settings))


def _build(settings: Settings, until: float | None) -> Flow[RouteGraph]:
    """Read the catalogues, join them and keep the graph."""
    former = _graphs.get(_key(settings))
    batch: Batch[str, Any] = Batch(until=until)
    graph = yield from stop_after_error(batch, _read_routes(batch, may_lack=former is None))

    if former is not None:
        for journey_id, company in former.confirmed.copy():  # other threads may add to it
            graph.confirm(journey_id, company)
    _keep(_graphs, settings, graph)

    if _may_have_file(settings) and graph.is_complete:
        try:
            path = yield from RunBlocking(partial(_prepare_file, settings), until)
            yield from Save(path, content_of(graph))
        # An unreadable record may have values that JSON cannot express: a ValueError.
        except (FerryError, OSError, ValueError) as error:
            logger.warning("the routes could not be saved in route_cache: %s", error)
    return graph


def _read_routes(batch: Batch[str, Any], *, may_lack: bool) -> Flow[RouteGraph]:
    """Read the catalogues of both protocols; a failure of one of MCP's leaves the graph partial.

    Args:
        batch: The calls.
        may_lack: Whether MCP's catalogues may stand in for ports and journeys that fail. They
            name fewer routes, and no better graph may be lost for that.
    """
    sources = RouteSources()
    failures: dict[str, FerryError] = {}
    batch.add("ports", CatalogueGroup.ports(None))
    batch.add("journeys", CatalogueGroup.journeys(None))
    batch.add("companies", McpGroup.companies(None))

    while batch:
        answer = yield from _next_answer(batch)
        if answer.error is None:
            operation = _ROUTE_OPERATIONS.get(answer.key, _DEPARTURES_OPERATION)
            sources.add(answer.key, answer.value)
            sources.unreadable += unreadable_answers(operation, answer.value or Records[Any]())
        else:
            failures[answer.key] = answer.error
            if not may_lack or isinstance(answer.error, POINTLESS):
                _raise_essential(failures)

        if answer.key == "companies":
            for name, company_id in sources.companies.items():
                batch.add(DEPARTURES_OF + name, CatalogueGroup.departures(None, company_id))

        # The timetable is long, and shows some days only: it is read if something is missing.
        if not batch and sources.timetable is None and not sources.are_enough():
            sources.timetable = ()  # not read again if it fails
            if not (sources.ports or sources.journeys or sources.companies):
                _raise_essential(failures)
            batch.add("timetable", McpGroup.departures(None))
            if not sources.ports:
                batch.add("mcp_ports", McpGroup.ports(None))

    sources.unreadable += _lost_catalogues(failures)
    is_complete = all(_is_final(error) for error in failures.values())
    graph = sources.graph(is_complete=is_complete)
    if not graph.routes:
        _raise_essential(failures)
    return graph


def _lost_catalogues(failures: Mapping[str, FerryError]) -> list[UnreadableAnswer]:
    """Return the catalogues that could not be read at all, of those that the service has.

    The departures of a company are not among them: if they fail, the company is asked for every
    route.
    """
    return [
        _lost_catalogue(_ROUTE_OPERATIONS[name])
        for name, error in failures.items()
        if name in _ROUTE_OPERATIONS and not _is_final(error)
    ]


def _lost_catalogue(operation: str) -> UnreadableAnswer:
    """Return the entry of a catalogue that could not be read at all."""
    return UnreadableAnswer(search=None, operation=operation, records=())


def _raise_essential(failures: Mapping[str, FerryError]) -> None:
    """Raise the failure of the ports or of the journeys, if one of them failed."""
    for name in ("ports", "journeys"):
        if name in failures:
            raise failures[name]


def _read_names(settings: Settings, until: float | None) -> Flow[PlaceIndex]:
    """Read the names of the ports, and keep the index of them."""
    batch: Batch[str, Any] = Batch(until=until)
    index = yield from stop_after_error(batch, _read_languages(batch, settings))
    _keep(_indexes, settings, index)
    return index


def _read_languages(batch: Batch[str, Any], settings: Settings) -> Flow[PlaceIndex]:
    """Read the ports in every language, their cities and the countries, and index the names.

    Raises:
        FerryError: The ports could not be read in the client's language, or the deadline passed.
    """
    index = PlaceIndex(is_complete=True)
    batch.add("own", CatalogueGroup.ports(None))
    for language in LANGUAGES:
        if language != settings.language:
            batch.add(language, CatalogueGroup.ports(None), language=language)
    batch.add("cities", McpGroup.ports(None))
    batch.add("countries", McpGroup.countries(None))

    lists: dict[str, Any] = {}
    while batch:
        answer = yield from _next_answer(batch)
        operation = _NAME_OPERATIONS.get(answer.key, _PORTS_OPERATION)
        if answer.error is None:
            records: Records[Any] = answer.value or Records[Any]()
            lists[answer.key] = records
            index.unreadable += unreadable_answers(operation, records)
            if answer.key == "cities":
                index.unreadable += ports_without_code(records)
        elif answer.key == "own":
            raise answer.error
        elif not _is_final(answer.error):
            index.is_complete = False
            index.unreadable += (_lost_catalogue(operation),)

    # The client's own language comes first: the index takes the ports themselves from it.
    code_of_country = country_codes(lists.get("countries", ()))
    index.add_ports(
        port.model_copy(update={"country_code": code_of_country(port)}) for port in lists["own"]
    )
    index.add_cities(lists.get("cities", ()))
    for language in LANGUAGES:
        index.add_ports(lists.get(language, ()))
    return index


def _is_final(error: FerryError) -> bool:
    """Return whether the service would refuse a further read too, such as one without MCP."""
    return isinstance(error, APIError) and error.outcome == "rejected" and error.retry_after is None


def _next_answer(batch: Batch[str, Any]) -> Flow[BatchAnswer[str, Any]]:
    """Return the next answer of a batch.

    Raises:
        RequestTimeoutError: The deadline comes first.
    """
    answer = yield from next_answer(batch)
    if answer is None:
        raise RequestTimeoutError("the deadline passed while the catalogues were read")
    return answer


def _may_have_file(settings: Settings) -> bool:
    """Return whether the graph has a file. A function may return another account's token later."""
    return settings.route_cache is not None and isinstance(settings.token.account, str)


def _file_of(settings: Settings) -> Path:
    """Return the file of a graph, named by the account, the service's address and the language."""
    folder = settings.route_cache
    token = settings.token.account
    assert folder is not None and isinstance(token, str)  # noqa: S101, PT018 -- the callers check it
    account = account_name(token, f"{settings.base_url} {settings.language}")
    return folder / f"routes-{__version__}-{account}.json"


def _prepare_file(settings: Settings) -> Path:
    """Make the folder, remove its files that are no longer used, and return the graph's file."""
    path = _file_of(settings)
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_old(path.parent, FRESH_FOR)
    return path
