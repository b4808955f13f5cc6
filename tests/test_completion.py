"""Jedi completes after every call, in a file and in a session, where the clients are objects.

IPython and several editors complete by Jedi. It makes no calls.
"""

import inspect
import sys
import typing
from functools import cache
from pathlib import Path

import jedi
import pytest

from ferry_sdk import AsyncFerry, Ferry, Records, Unreadable
from scripts.signatures import STUBS, groups, methods
from tests.support.tables import each
from tests.support.tiers import LONG

pytestmark = pytest.mark.timeout(300)

PROJECT = jedi.Project(Path(__file__).parents[1])
START = "from ferry_sdk import AsyncFerry, Ferry\nferry, aferry = Ferry(), AsyncFerry()\n"
CLIENTS = {
    "ferry": "sync",
    "aferry": "async_",
    "ferry.with_raw_response": "raw",
    "aferry.with_raw_response": "async_raw",
}
SESSION = {
    "ferry": Ferry("t", base_url="https://service.example"),
    "aferry": AsyncFerry("t", base_url="https://service.example"),
    "found": Records([Unreadable(0, "name", "missing", {})]),
}
OF_CLIENTS = {"recover", "request", "with_options", "with_raw_response"}


@pytest.fixture(scope="module", autouse=True)
def _no_files_at_home(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jedi.settings, "cache_directory", tmp_path_factory.mktemp("jedi"))
        yield


@cache
def python():
    return jedi.create_environment(sys.executable, safe=False)


def read_file(code):
    lines = "".join(f"    {line}\n" for line in code.splitlines())
    source = f"{START}async def main():\n{lines}"[:-1]
    return jedi.Script(source, project=PROJECT, environment=python())


def read_session(code):
    return jedi.Interpreter(code, [SESSION], project=PROJECT)


def names(script):
    return {one.name for one in script.complete() if not one.name.startswith("_")}


def fields(kind):
    kind = typing.get_origin(kind) or kind
    return {*getattr(kind, "model_fields", ()), *(name for name in dir(kind) if name[0] != "_")}


def calls(client):
    found = {}
    for group, kind in groups(STUBS[CLIENTS[client]][0]).items():
        for name in methods(kind):
            path = f"{client}.{group}.{name}"
            result = typing.get_type_hints(eval(path, SESSION)).get("return")  # noqa: S307 -- own
            is_awaited = client.startswith("a") and name != "stream"
            code = f"(await {path}())" if is_awaited else f"{path}()"
            if getattr(typing.get_origin(result), "__name__", "") in {
                "Matches",
                "Records",
                "tuple",
            }:
                code, result = f"{code}[0]", typing.get_args(result)[0]
            if getattr(result, "__module__", "").startswith("ferry_sdk"):
                found[path] = code, fields(result)
    return found


@pytest.mark.parametrize(
    ("client", "read"),
    [*zip(CLIENTS, [read_file, *[read_session] * 2, read_file], strict=True)],
)
@LONG
def test_clients_groups_and_results_show_all_that_they_have(client, read):
    callable_names = groups(STUBS[CLIENTS[client]][0])
    own = {"ferry": OF_CLIENTS | {"close"}, "aferry": OF_CLIENTS | {"aclose"}}
    assert names(read(f"{client}.")) == callable_names.keys() | own.get(client, set())
    assert names(read(f"{client}.tickets.")) == methods(callable_names["tickets"]).keys()
    known = calls(client)
    assert len(known) > 30
    missing = {path: wanted - names(read(f"{code}.")) for path, (code, wanted) in known.items()}
    assert {path: sorted(some) for path, some in missing.items() if some} == {}


@pytest.mark.parametrize("client", ["ferry", "aferry"])
@LONG
def test_the_help_on_a_call_has_its_arguments_and_its_words(client):
    for path in calls(client):
        method = eval(path, SESSION)  # noqa: S307 -- own
        (signature,) = read_file(f"{path}(").get_signatures()
        assert [one.name for one in signature.params] == [*inspect.signature(method).parameters]
        (completion,) = (one for one in read_file(path).complete() if one.name == method.__name__)
        assert completion.docstring(raw=True) == inspect.getdoc(method)


@LONG
@each(
    "code, wanted",
    [
        ("import httpx\nhttpx.get('x').", "status_code"),
        ("ferry.with_options(timeout=1).bookings.get('b').", "next_actions"),
        ("with Ferry() as one:\n    one.catalogue.ports()[0].", "country_code"),
        ("async with AsyncFerry() as one:\n    (await one.tickets.get('t')).", "vehicle"),
        ("for one in ferry.availability.search():\n    one.", "depart_at"),
        ("for one in ferry.trips.stream('a', 'b'):\n    one.", "fares"),
        ("async for one in aferry.trips.stream('a', 'b'):\n    one.", "fares"),
        ("ferry.availability.search().", "to_frame"),
        ("ferry.availability.search()[0].select().", "tariff_id"),
        ("ferry.with_raw_response.bookings.get('b').parse().", "next_actions"),
        ("ferry.recover(1).", "read_back"),
        ("(await aferry.recover(1)).", "read_back"),
        ("ferry.bookings.get('b').next_actions()[0].", "is_mandatory"),
        ("ferry.tickets.save_pdf('t', 'f').", "exists"),
    ],
)
def test_it_follows_views_blocks_loops_and_chains(code, wanted):
    assert wanted in names(read_file(code))


def test_in_a_session_a_list_knows_its_records():
    assert names(read_session("found[0].")) == {"field", "index", "problem", "raw"}
