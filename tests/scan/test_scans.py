"""A scan asks every search once, and its folder holds the answers."""

import asyncio
import json
import os
import signal
import sys
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from importlib import import_module
from io import StringIO
from unittest.mock import Mock

import pyarrow.parquet as pq
import pytest

from ferry_sdk import AsyncFerry, Ferry, Rate, Route, SearchPassenger, Traveller, errors
from ferry_sdk.scan import Party
from ferry_sdk.scan.progress import show_progress
from ferry_sdk.scan.report import ScanReport
from tests.backend.gathering import UnderWay, eventually
from tests.scan.season import DAYS, LONE, PAIR, SIZE, check_rows, new_scan, rows_of
from tests.support.exchanges import caught
from tests.support.tables import each
from tests.support.trip import TRAVELLERS


def route_of(*companies):
    return Route("1", "ITGOA", "TNLGN", "Genoa", "Tunis", companies, timedelta(hours=1))


def searches(sandbox):
    return sandbox.counters.requests["availability.search"]


def test_a_scan_finds_what_a_calendar_finds_with_exact_money(
    scan, make_client, ferry, ferry_sandbox, folder
):
    report = scan.run(make_client)
    assert searches(ferry_sandbox) == report.size == report.done == SIZE
    rows = check_rows(folder)
    days = {"start": DAYS[0], "end": DAYS[-1]}
    for party in (LONE, PAIR):
        calendar = ferry.trips.calendar("Genoa", "Tunis", **days, passengers=party.passengers)
        mine = [row for row in rows if row["party"] == party.name and row["price"] is not None]
        for day, one in calendar.items():
            fares = [row for row in mine if row["day"] == day]
            cheapest = min(fares, key=lambda row: row["price"], default=None)
            found = None if cheapest is None else (cheapest["price"], cheapest["currency"])
            assert found == (None if one.price is None else (one.price, one.currency)), day
            assert len({row["sailing_id"] for row in fares}) == one.sailings
    # Money is exact, and moments have a zone.
    schema = pq.read_schema(folder / "part-00000.parquet")
    kinds = {name: str(schema.field(name).type) for name in schema.names}
    assert (kinds["price"], kinds["day"]) == ("decimal128(18, 4)", "date32[day]")
    moments = {name for name, kind in kinds.items() if kind == "timestamp[us, tz=UTC]"}
    assert moments == {"asked_at", "depart_at", "arrive_at", "expires_at"}
    row = next(row for row in rows if row["status"] == "answered")
    assert isinstance(row["price"], Decimal)
    assert row["depart_at"].utcoffset() == timedelta(0)
    assert row["depart_local"].date() == row["day"]
    frame = scan.to_frame()
    assert len(frame) == len(rows)
    assert isinstance(frame["price"].dropna().iloc[0], Decimal)
    floats = scan.to_frame(by="tariff", money="float")
    assert floats["price"].tolist() == frame["price"].dropna().astype("float64").tolist()
    assert {*floats["status"]} == {"answered"} < {*frame["status"]}
    assert scan.to_frame(money="float")["price"].isna().equals(frame["price"].isna())
    for option in ({"money": "Float"}, {"by": "sailing"}):
        with pytest.raises(errors.InvalidInputError, match=r"expected \w+ or \w+"):
            scan.to_frame(**option)


def test_the_size_is_known_before_a_search_is_sent(
    scan, make_client, ferry, ferry_sandbox, folder, monkeypatch
):
    with pytest.raises(errors.ConfigurationError, match=r"plan\(client\).*FERRY_TOKEN"):
        _ = scan.size
    monkeypatch.setenv("FERRY_TOKEN", ferry_sandbox.token)
    monkeypatch.setenv("FERRY_BASE_URL", ferry_sandbox.base_url)
    assert scan.size == SIZE
    assert scan.plan(make_client) == scan.size == scan.report.not_asked == SIZE
    routes = ferry.routes.find("Genoa", "Tunis")
    sailings = sum(len(route.companies) for route in ferry.routes.find())
    assert new_scan(folder, routes=routes).size == SIZE, "it needs no catalogue"
    assert new_scan(folder, routes=routes, companies=["GNV"]).size == SIZE / 2
    everything = new_scan(folder, routes="all", dates=(DAYS[0], DAYS[0]), parties=[LONE])
    assert everything.plan(make_client) == sailings > 400
    assert searches(ferry_sandbox) == 0
    assert not folder.exists()


def test_what_is_there_is_not_asked_again(scan, make_client, ferry_sandbox, folder):
    first = scan.run(make_client)
    again = new_scan(folder)
    assert again.size == SIZE
    assert again.run(make_client) == first == again.report
    assert searches(ferry_sandbox) == SIZE
    (folder / "part-00001.parquet").unlink()
    assert (again.report.not_asked, again.run(make_client)) == (SIZE / 2, first)
    assert searches(ferry_sandbox) == SIZE * 1.5
    check_rows(folder)


def test_a_failed_search_is_noted_and_repeated(scan, make_client, ferry_sandbox, folder, caplog):
    ferry_sandbox.faults.add("server_error", "availability.search", times=7, after=3)
    report = scan.run(make_client)
    assert (report.failed, report.done, report.is_complete) == (7, SIZE - 7, False)
    assert f"7 of {SIZE} searches failed; run again to repeat them" in caplog.messages
    failed = [row for row in check_rows(folder) if row["status"] == "failed"]
    assert len(failed) == 7
    assert all(row["reason"].startswith("ServerError: ") for row in failed)
    (run,) = json.loads((folder / "scan.json").read_text("utf-8"))["runs"]
    assert run["failed"] == sum(run["reasons"].values()) == 7
    before = searches(ferry_sandbox)
    report = scan.run(make_client)
    assert report.is_complete
    assert searches(ferry_sandbox) == before + 7
    empty = [row for row in check_rows(folder) if row["status"] == "nothing"]
    assert 0 < report.nothing == len(empty) < SIZE
    assert report.answered == len({row["search"] for row in rows_of(folder)}) - len(empty)


def test_one_journey_of_two_pairs_of_ports_is_asked_twice(
    make_client, ferry, ferry_sandbox, folder
):
    (there,) = ferry.routes.find("Genoa", "Tunis")
    ends = {"depart_code": there.arrive_code, "arrive_code": there.depart_code}
    scan = new_scan(folder, routes=[there, replace(there, **ends)], companies=["GNV"])
    report = scan.run(make_client)
    assert report.size == SIZE
    assert 0 < report.failed < SIZE
    before = searches(ferry_sandbox)
    assert scan.run(make_client).failed == report.failed == searches(ferry_sandbox) - before
    rows = check_rows(folder)
    kept = {row["search"] for row in rows if row["depart_code"] == there.depart_code}
    assert len(kept) == SIZE / 2
    assert scan.to_frame().groupby("search")["depart_code"].nunique().max() == 1
    with pytest.raises(errors.InvalidInputError, match="with other routes"):
        _ = new_scan(folder, routes=[there, there], companies=["GNV"]).report


def test_an_error_that_all_searches_meet_ends_the_scan(scan, ferry, ferry_sandbox, folder):
    client = partial(AsyncFerry, base_url=ferry_sandbox.base_url)
    caught(errors.AuthenticationError, scan.run, partial(client, "other"), concurrency=4)
    assert searches(ferry_sandbox) < SIZE / 2
    assert scan.run(ferry).is_complete
    check_rows(folder)
    unreachable = new_scan(folder.with_name("other"), routes=[route_of("GNV")])
    with pytest.raises(errors.ConnectionFailedError):
        unreachable.run(partial(AsyncFerry, "token", base_url="http://127.0.0.1:9", max_retries=0))
    assert unreachable.report.done == 0


def test_what_a_token_function_raises_is_not_in_the_manifest(ferry_sandbox, folder):
    # The first token reads the routes.
    token = Mock(side_effect=[ferry_sandbox.token, *[ValueError("the secret is 1234")] * SIZE])
    scan = new_scan(folder, routes=[("ITGOA", "TNLGN")])
    with pytest.raises(ValueError, match="1234"):
        scan.run(partial(AsyncFerry, token, base_url=ferry_sandbox.base_url))
    assert '"error": "ValueError"' in (folder / "scan.json").read_text("utf-8")


@pytest.mark.own_http_client(reason="a caller's own client is of one event loop")
@pytest.mark.skipif(os.name != "posix", reason="a process cannot send itself Ctrl-C")
def test_ctrl_c_keeps_the_answers_and_says_how_to_go_on(scan, ferry_sandbox, folder):
    sent = []

    def interrupt(event):
        sent.append(event)
        if len(sent) == 20:
            os.kill(os.getpid(), signal.SIGINT)

    address = {"base_url": ferry_sandbox.base_url}
    ferry = AsyncFerry(ferry_sandbox.token, **address, event_hooks={"response": [interrupt]})
    ferry_sandbox.faults.add("delay_before", "availability.search", seconds=0.05, times=None)
    with pytest.raises(KeyboardInterrupt, match=rf"of {SIZE} searches are in .*to go on"):
        scan.run(ferry, concurrency=4)
    kept = scan.report.done
    assert 0 < kept < SIZE
    assert {file.suffix for file in folder.iterdir()} == {".json", ".parquet", ""}
    before = searches(ferry_sandbox)
    assert scan.run(ferry).is_complete
    assert searches(ferry_sandbox) == before + SIZE - kept
    check_rows(folder)


@pytest.mark.skipif(os.name != "posix", reason="a process cannot send itself Ctrl-C")
@pytest.mark.parametrize("are_routes_known", [True, False], ids=["searches", "catalogues"])
def test_waiting_threads_send_nothing_after_ctrl_c(
    ferry, ferry_sandbox, folder, *, are_routes_known
):
    ends = ("ITGOA", "TNLGN") if are_routes_known else ("Genoa", "Tunis")
    scan = new_scan(folder, routes=[ends])
    rate = Rate("1/minute")
    before = sum(ferry_sandbox.counters.requests.values())

    def interrupt():
        # The first request has been answered.
        eventually(lambda: len(rate._queue()._others) >= 4)
        os.kill(os.getpid(), signal.SIGINT)

    with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url, limiter=rate) as limited:
        interruption = UnderWay(interrupt)
        caught(KeyboardInterrupt, scan.run, limited, concurrency=4)
        assert not rate._queue()._others
        assert sum(ferry_sandbox.counters.requests.values()) - before <= 1
    interruption.value()
    assert searches(ferry_sandbox) == are_routes_known
    assert scan.run(ferry).is_complete
    assert searches(ferry_sandbox) == SIZE
    check_rows(folder)


@pytest.mark.own_http_client(reason="a caller's own client is of one event loop")
def test_a_scan_runs_where_an_event_loop_runs_already(scan, ferry_sandbox, folder):
    async def cell():
        async with AsyncFerry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry:
            assert scan.run(ferry).is_complete
            assert len(await ferry.catalogue.ports()) > 0

    asyncio.run(cell())
    check_rows(folder)


@each(
    ("field", "values"),
    [
        ("routes", [[], "Genoa", ["Genoa", "Tunis"]]),
        ("dates", [(DAYS[1], DAYS[0]), (DAYS[0],), ("soon", "later")]),
        ("parties", [[], ["x"], [Party], [LONE, LONE], [Party("\ud800", TRAVELLERS[:1])]]),
        ("companies", [[], "GNV"]),
        ("companies[0]", [["\ud800"]]),
        ("part_size", [19, 101, 50.0]),
    ],
)
def test_an_invalid_argument_is_named(folder, field, values):
    for value in values:
        wrong = {field.partition("[")[0]: value}
        assert caught(errors.InvalidInputError, new_scan, folder, **wrong).field == field, value
        assert not folder.exists()
    folder.write_bytes(b"")
    for wrong in ("a\0b", "a" * 300, folder, ""):
        assert caught(errors.InvalidInputError, new_scan, wrong).field == "folder"
    folder.unlink()


def test_a_party_has_records_and_the_ages_of_each_day_of_the_scan(folder):
    party = Party("pair", TRAVELLERS)
    assert [type(one) for one in party.passengers] == [SearchPassenger] * len(TRAVELLERS)
    people = [Traveller(gender="Female", birth_date=date(2000, 7, 1))]
    party = Party("one", people)
    people.clear()
    asked = party.asked(date(2050, 6, 30), date(2050, 7, 1))
    assert [one["age"] for one in asked["passengers"]] == [49]
    assert [one["age"] for one in asked["passengers_on_last_day"]] == [50]
    named = [{**TRAVELLERS[0], "first_name": "Marguerite"}]
    for passengers, field in ((named, "passengers[0].first_name"), (None, "passengers")):
        assert caught(errors.InvalidInputError, Party, "pair", passengers).field == field
    unborn = Traveller(gender="Female", birth_date=DAYS[0] + timedelta(1))
    party = Party("soon", [{"type": "Adult", "gender": "Male", "age": 34}, unborn])
    new_scan(folder, parties=[party], dates=(DAYS[1], DAYS[1]))
    refused = caught(errors.InvalidInputError, new_scan, folder, parties=[party])
    assert refused.field == "passengers[1].birth_date"
    assert "after the day of travel" in str(refused)


def test_a_route_that_nobody_is_known_to_sail_is_an_error(make_client, folder):
    with pytest.raises(errors.InvalidInputError, match="no company sails from ESTRF to ITGOA"):
        new_scan(folder, routes=[("ESTRF", "ITGOA")]).run(make_client)
    unknown = route_of()
    assert caught(errors.InvalidInputError, new_scan, folder, routes=[unknown]).field == "companies"
    assert new_scan(folder, routes=[unknown], companies=["GNV"]).size == SIZE / 2


@each("is_terminal", [False, True])
def test_progress_is_shown_on_a_terminal_only(monkeypatch, is_terminal):
    stream = StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: is_terminal)
    monkeypatch.setattr("sys.stderr", stream)
    reports = [ScanReport(60, 30, 10, 5), ScanReport(60)]
    with show_progress(lambda: reports[-1]) as show:
        reports.pop()
        show()
    assert ("45/60" in stream.getvalue(), "5 failed" in stream.getvalue()) == (is_terminal,) * 2


def test_the_package_without_pyarrow_names_the_extra(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("ferry_sdk.scan")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "ferry-sdk\[scan\]"'):
        import_module("ferry_sdk.scan")
