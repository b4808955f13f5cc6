"""Read the catalogues into a route graph and an index of places, and keep both.

Both are kept in memory for this process, by the account, the service's address and the language; a
graph also in the folder `route_cache`. Accounts may sell different routes, so they share nothing.
What is kept for a token that a function returns goes with the client. Of the others, the hundred
that were used last are kept.

A graph that grows older than a day in memory is still used, while another one is made in the
background. A file that is older is not used, because a short program ends before the background
does. Callers that need the same at the same time share one reading.

Records that cannot be read, and catalogues that could not be read at all, are named by the graph
and the index that lack them (``.unreadable``), in memory and in the file.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
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
from ferry_sdk._engine.limits import FRESH_FOR
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
from ferry_sdk.planning.routes import DEPARTURES_OF, RouteGraph, RouteSources
from ferry_sdk.resources.catalogue import CatalogueGroup
from ferry_sdk.resources.mcp import McpGroup

T = TypeVar("T")
Key = tuple[str | int, str, str | None, Path | None]

logger: logging.Logger = logging.getLogger("ferry_sdk")

POINTLESS: Final = (AuthenticationError, ConfigurationError)
"""Errors that every other read would meet as well."""
_REFRESH_TIME: Final = 120.0
"""Seconds for reading a graph again in the background."""

_OPERATIONS: Final[Mapping[str, str]] = {
    "ports": "catalogue.ports",
    "journeys": "catalogue.journeys",
    "companies": "mcp.companies",
    "timetable": "mcp.departures",
    "mcp_ports": "mcp.ports",
}
"""The operations of the catalogues of routes by their keys."""
_OF_A_COMPANY: Final = "catalogue.departures"
"""The operation of the other catalogues of routes, one for each company."""
_NAME_OPERATIONS: Final[Mapping[str, str]] = {"cities": "mcp.ports", "countries": "mcp.countries"}
"""The operations of the catalogues of names by their keys; other keys are `catalogue.ports` in a
language."""

_MAX_KEPT: Final = 100
"""Entries of each kind, one for an account in a language. Three of them take 1 MB."""

_graphs: OrderedDict[Key, RouteGraph] = OrderedDict()
_indexes: OrderedDict[Key, PlaceIndex] = OrderedDict()
_vehicles: OrderedDict[Key, tuple[float, Records[VehicleModel]]] = OrderedDict()
_refreshing: set[Key] = set()
"""The graphs that are being made again in the background."""


def clear_cache() -> None:
    """Forget the catalogues that are kept in memory."""
    _graphs.clear()
    _indexes.clear()
    _vehicles.clear()


# The threads that make graphs again are in the parent.
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
    graph = _kept(_graphs, key)
    if graph is None and _may_have_file(settings):
        graph = yield from RunBlocking(lambda: read_graph(_file_of(settings)), until)
        if graph is not None:
            _keep(_graphs, settings, graph)
    if graph is None:
        return (yield from _share(("routes", *key), partial(_build, settings, until), until))
    if not graph.is_fresh and key not in _refreshing:
        _refreshing.add(key)
        batch: Batch[str, None] = Batch(1, monotonic() + _REFRESH_TIME)
        batch.add("refresh", Plan(_refresh))
        yield from NextAnswer(batch, monotonic())
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
    index = _kept(_indexes, key)
    if index is not None and index.is_complete and 0 <= time.time() - index.made_at < FRESH_FOR:
        return index
    return (yield from _share(("places", *key), partial(_read_names, settings, until), until))


def vehicle_models(settings: Settings, until: float | None) -> Flow[Records[VehicleModel]]:
    """Return MCP's vehicles.

    Raises:
        FerryError: They could not be read.
    """
    key = _key(settings)
    kept = _kept(_vehicles, key)
    if kept is not None and 0 <= time.time() - kept[0] < FRESH_FOR:
        return kept[1]
    batch: Batch[str, Records[VehicleModel]] = Batch(1, until)
    batch.add("vehicles", McpGroup.vehicle_data(None))
    answer = yield from stop_after_error(batch, _answer_of(batch))
    if answer.error is not None:
        raise answer.error
    models = answer.value or Records[VehicleModel]()
    _keep(_vehicles, settings, (time.time(), models))
    return models


def _key(settings: Settings) -> Key:
    return settings.token.account, settings.base_url, settings.language, settings.route_cache


def _kept(cache: OrderedDict[Key, T], key: Key) -> T | None:
    """Return what is kept, and note that it was used."""
    with suppress(KeyError):  # a KeyError also if another thread has just removed it
        cache.move_to_end(key)
    return cache.get(key)


def _keep(cache: OrderedDict[Key, T], settings: Settings, value: T) -> None:
    """Keep a value; that of an account without a name of its own only as long as its client."""
    key = _key(settings)
    if key not in cache and isinstance(settings.token.account, int):
        finalize(settings.token, cache.pop, key, None).atexit = False
    cache[key] = value
    while len(cache) > _MAX_KEPT:
        with suppress(KeyError):
            cache.popitem(last=False)


def _share(key: tuple[Any, ...], steps: Callable[[], Flow[T]], until: float | None) -> Flow[T]:
    """Run steps once for all callers of this process that need the same.

    If another caller ran them and failed, perhaps at a deadline of its own, they run again.
    """
    is_own = False

    def start() -> Flow[T]:
        nonlocal is_own
        is_own = True
        return steps()

    while True:
        try:
            return (yield from SingleFlight(key, start, until))
        except FerryError:
            if is_own or (until is not None and monotonic() >= until):
                raise


def _refresh(settings: Settings) -> Flow[None]:
    try:
        yield from _build(settings, deadline_of(settings))
    except FerryError as error:
        logger.info("the routes could not be read again: %s", log_text(error))
    finally:
        _refreshing.discard(_key(settings))


def _build(settings: Settings, until: float | None) -> Flow[RouteGraph]:
    """Read the catalogues, join them and keep the graph."""
    batch: Batch[str, Any] = Batch(until=until)
    former = _graphs.get(_key(settings))
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
        answer = yield from _answer_of(batch)
        if answer.error is None:
            sources.add(answer.key, answer.value)
            sources.unreadable += _unreadable(answer)
        else:
            failures[answer.key] = answer.error
            if not may_lack or isinstance(answer.error, POINTLESS):
                _raise_first(failures)
        if answer.key == "companies":
            for name, id_ in sources.companies.items():
                batch.add(DEPARTURES_OF + name, CatalogueGroup.departures(None, id_))
        # The timetable is long, and shows some days only: it is read if something is missing.
        if not batch and sources.timetable is None and not sources.are_enough():
            sources.timetable = ()
            if not (sources.ports or sources.journeys or sources.companies):
                _raise_first(failures)
            batch.add("timetable", McpGroup.departures(None))
            if not sources.ports:
                batch.add("mcp_ports", McpGroup.ports(None))
    sources.unreadable += _lost_catalogues(failures)
    graph = sources.graph(is_complete=all(map(_is_final, failures.values())))
    if not graph.routes:
        _raise_first(failures)
    return graph


def _unreadable(answer: BatchAnswer[str, Any]) -> tuple[UnreadableAnswer, ...]:
    """Return what could not be read of a catalogue that was read."""
    records: Records[Any] = answer.value or Records[Any]()
    return unreadable_answers(_OPERATIONS.get(answer.key, _OF_A_COMPANY), records)


def _lost_catalogues(failures: Mapping[str, FerryError]) -> list[UnreadableAnswer]:
    """Return the catalogues that could not be read at all, of those that the service has.

    A company whose departures failed is none of them: it is asked for every route.
    """
    return [
        UnreadableAnswer(search=None, operation=_OPERATIONS[name], records=())
        for name, error in failures.items()
        if name in _OPERATIONS and not _is_final(error)
    ]


def _raise_first(failures: Mapping[str, FerryError]) -> None:
    """Raise the failure of the ports or of the journeys, if one of them failed."""
    for name in ("ports", "journeys"):
        if name in failures:
            raise failures[name]


def _read_names(settings: Settings, until: float | None) -> Flow[PlaceIndex]:
    batch: Batch[str, Any] = Batch(until=until)
    index = yield from stop_after_error(batch, _read_languages(batch, settings))
    _keep(_indexes, settings, index)
    return index


def _read_languages(batch: Batch[str, Any], settings: Settings) -> Flow[PlaceIndex]:
    index = PlaceIndex(is_complete=True)
    batch.add("own", CatalogueGroup.ports(None))
    for language in LANGUAGES:
        if language != settings.language:
            batch.add(language, CatalogueGroup.ports(None), language=language)
    batch.add("cities", McpGroup.ports(None))
    batch.add("countries", McpGroup.countries(None))
    lists: dict[str, Any] = {}
    while batch:
        answer = yield from _answer_of(batch)
        operation = _NAME_OPERATIONS.get(answer.key, "catalogue.ports")
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
            whole_list = UnreadableAnswer(search=None, operation=operation, records=())
            index.unreadable += (whole_list,)
    codes = country_codes(lists.get("countries", ()))
    index.add_ports(
        port.model_copy(update={"country_code": codes(port)}) for port in lists.pop("own")
    )
    index.add_cities(lists.pop("cities", ()))
    for language in LANGUAGES:
        index.add_ports(lists.get(language, ()))
    return index


def _is_final(error: FerryError) -> bool:
    """Return whether asking again would be refused as well, as by a service without MCP."""
    return isinstance(error, APIError) and error.outcome == "rejected" and error.retry_after is None


def _answer_of(batch: Batch[str, Any]) -> Flow[BatchAnswer[str, Any]]:
    """Return the next answer of a batch.

    Raises:
        RequestTimeoutError: The deadline came first.
    """
    answer = yield from next_answer(batch)
    if answer is None:
        raise RequestTimeoutError("the deadline passed while the catalogues were read")
    return answer


def _may_have_file(settings: Settings) -> bool:
    """Return whether the account has a file: a function may return another account's token."""
    return settings.route_cache is not None and isinstance(settings.token.account, str)


def _file_of(settings: Settings) -> Path:
    """Return the file of a graph, named by the account, the service's address and the language."""
    folder, token = settings.route_cache, settings.token.account
    assert folder is not None and isinstance(token, str)  # noqa: S101, PT018 -- the callers check it
    account = account_name(token, f"{settings.base_url} {settings.language}")
    return folder / f"routes-{__version__}-{account}.json"


def _prepare_file(settings: Settings) -> Path:
    """Return the file of a graph in its folder, without the files that are no longer used."""
    path = _file_of(settings)
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_old(path.parent, FRESH_FOR)
    return path
