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
    "records": Records([Unreadable(0, "name", "missing", {})]),
}
OF_CLIENTS = {"recover", "request", "with_options", "with_raw_response"}
OWN = {"ferry": OF_CLIENTS | {"close"}, "aferry": OF_CLIENTS | {"aclose"}}
"""What a client has besides its groups."""


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
    """Return the public names that Jedi proposes."""
    proposed = {completion.name for completion in script.complete()}
    return {name for name in proposed if not name.startswith("_")}


def attributes(kind):
    """Return the public attributes of a type."""
    kind = typing.get_origin(kind) or kind
    public = {name for name in dir(kind) if not name.startswith("_")}
    return public | {*getattr(kind, "model_fields", ())}


LISTS = {"Matches", "Records", "tuple"}


def calls(client):
    """Return the calls of a client that give something of this package.

    By its path, such as `ferry.tickets.get`, each has the code that gives it, or the first of a
    list, and its attributes.
    """
    found = {}
    for group, kind in groups(STUBS[CLIENTS[client]][0]).items():
        for name in methods(kind):
            path = f"{client}.{group}.{name}"
            result = typing.get_type_hints(eval(path, SESSION)).get("return")  # noqa: S307 -- own
            is_awaited = client.startswith("a") and name != "stream"
            code = f"(await {path}())" if is_awaited else f"{path}()"
            if getattr(typing.get_origin(result), "__name__", "") in LISTS:
                code = f"{code}[0]"
                result = typing.get_args(result)[0]
            if getattr(result, "__module__", "").startswith("ferry_sdk"):
                found[path] = code, attributes(result)
    return found


READERS = [
    pytest.param("ferry", read_file, id="ferry"),
    pytest.param("aferry", read_session, id="aferry"),
    pytest.param("ferry.with_raw_response", read_session, id="raw"),
    pytest.param("aferry.with_raw_response", read_file, id="async raw"),
]


@LONG
@pytest.mark.parametrize(("client", "read"), READERS)
def test_clients_show_their_groups(client, read):
    callable_groups = groups(STUBS[CLIENTS[client]][0])
    assert names(read(f"{client}.")) == callable_groups.keys() | OWN.get(client, set())


@LONG
@pytest.mark.parametrize(("client", "read"), READERS)
def test_groups_show_their_calls(client, read):
    tickets = groups(STUBS[CLIENTS[client]][0])["tickets"]
    assert names(read(f"{client}.tickets.")) == methods(tickets).keys()


@LONG
@pytest.mark.parametrize(("client", "read"), READERS)
def test_results_show_their_attributes(client, read):
    results = calls(client)
    assert len(results) > 30
    for path, (code, wanted) in results.items():
        assert wanted - names(read(f"{code}.")) == set(), path


@LONG
@pytest.mark.parametrize("client", ["ferry", "aferry"])
def test_help_on_a_call_has_its_arguments(client):
    for path in calls(client):
        method = eval(path, SESSION)  # noqa: S307 -- own
        (signature,) = read_file(f"{path}(").get_signatures()
        shown = [parameter.name for parameter in signature.params]
        assert shown == [*inspect.signature(method).parameters], path


@LONG
@pytest.mark.parametrize("client", ["ferry", "aferry"])
def test_help_on_a_call_has_its_words(client):
    for path in calls(client):
        method = eval(path, SESSION)  # noqa: S307 -- own
        (completion,) = (
            proposed for proposed in read_file(path).complete() if proposed.name == method.__name__
        )
        assert completion.docstring(raw=True) == inspect.getdoc(method), path


@LONG
@pytest.mark.parametrize(
    ("code", "wanted"),
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
def test_jedi_follows_chains(code, wanted):
    assert wanted in names(read_file(code))


@pytest.mark.slow
def test_list_of_a_session_knows_its_records():
    assert names(read_session("records[0].")) == {"field", "index", "problem", "raw"}
