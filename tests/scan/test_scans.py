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
from ferry_sdk.sandbox import Sandbox
from ferry_sdk.scan import Party
from ferry_sdk.scan.progress import show_progress
from ferry_sdk.scan.report import ScanReport
from tests.backend.gathering import UnderWay, eventually
from tests.scan.season import DAYS, LONE, PAIR, SIZE, check_rows, new_scan, rows_of
from tests.support.exchanges import caught
from tests.support.routes import know_routes
from tests.support.trip import NOW, TRAVELLERS


def route_of(*companies):
    return Route("1", "ITGOA", "TNLGN", "Genoa", "Tunis", companies, timedelta(hours=1))


def searches(sandbox):
    return sandbox.counters.requests["availability.search"]


@pytest.fixture(scope="module")
def client():
    """A client of a service that is only read."""
    with Sandbox(now=NOW) as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        know_routes(sandbox)
        yield ferry


@pytest.fixture(scope="module")
def scanned(client, tmp_path_factory):
    """A scan of two weeks, for two parties, that is complete."""
    scan = new_scan(tmp_path_factory.mktemp("scanned") / "week")
    scan.run(client)
    return scan


@pytest.fixture(scope="module")
def rows(scanned):
    """The rows of that scan."""
    return check_rows(scanned.folder)


class TestRows:
    def test_every_search_is_asked_once(self, scan, make_client, ferry_sandbox, folder):
        report = scan.run(make_client)
        assert searches(ferry_sandbox) == report.size == report.done == SIZE
        check_rows(folder)

    @pytest.mark.parametrize("party", [LONE, PAIR], ids=["lone", "pair"])
    def test_rows_have_what_a_calendar_has(self, client, rows, party):
        days = {"start": DAYS[0], "end": DAYS[-1], "passengers": party.passengers}
        calendar = client.trips.calendar("Genoa", "Tunis", **days)
        fares = [row for row in rows if row["party"] == party.name and row["price"] is not None]
        for day, expected in calendar.items():
            fares_of_day = [row for row in fares if row["day"] == day]
            cheapest = min(fares_of_day, key=lambda row: row["price"], default={})
            assert cheapest.get("price") == expected.price, day
            assert cheapest.get("currency") == expected.currency, day
            assert len({row["sailing_id"] for row in fares_of_day}) == expected.sailings, day

    def test_columns_have_exact_types(self, scanned):
        schema = pq.read_schema(scanned.folder / "part-00000.parquet")
        kinds = {name: str(schema.field(name).type) for name in schema.names}
        assert (kinds["price"], kinds["day"]) == ("decimal128(18, 4)", "date32[day]")
        moments = {name for name, kind in kinds.items() if kind == "timestamp[us, tz=UTC]"}
        assert moments == {"asked_at", "depart_at", "arrive_at", "expires_at"}

    def test_values_have_exact_types(self, rows):
        row = next(row for row in rows if row["status"] == "answered")
        assert isinstance(row["price"], Decimal)
        assert row["depart_at"].utcoffset() == timedelta(0)
        assert row["depart_local"].date() == row["day"]


class TestFrames:
    def test_frame_has_every_row(self, scanned, rows):
        frame = scanned.to_frame()
        assert len(frame) == len(rows)
        assert isinstance(frame["price"].dropna().iloc[0], Decimal)

    def test_frame_of_tariffs_has_prices_alone(self, scanned):
        frame = scanned.to_frame()
        floats = scanned.to_frame(by="tariff", money="float")
        assert floats["price"].tolist() == frame["price"].dropna().astype("float64").tolist()
        assert {*floats["status"]} == {"answered"} < {*frame["status"]}

    def test_floats_lack_the_same_prices(self, scanned):
        floats = scanned.to_frame(money="float")["price"]
        assert floats.isna().equals(scanned.to_frame()["price"].isna())

    @pytest.mark.parametrize("option", [{"money": "Float"}, {"by": "sailing"}], ids=["money", "by"])
    def test_wrong_option_is_refused(self, scanned, option):
        with pytest.raises(errors.InvalidInputError, match=r"expected \w+ or \w+"):
            scanned.to_frame(**option)


class TestSize:
    """The size is known before a search is sent."""

    @pytest.fixture(autouse=True)
    def _nothing_is_sent(self, ferry_sandbox, folder):
        """No test of this class sends a search or makes the folder."""
        yield
        assert searches(ferry_sandbox) == 0
        assert not folder.exists()

    def test_unknown_routes_are_an_error(self, scan):
        with pytest.raises(errors.ConfigurationError, match=r"plan\(client\).* \(missing: token="):
            _ = scan.size

    def test_routes_are_read_with_the_environment(self, scan, ferry_sandbox, monkeypatch):
        monkeypatch.setenv("FERRY_TOKEN", ferry_sandbox.token)
        monkeypatch.setenv("FERRY_BASE_URL", ferry_sandbox.base_url)
        assert scan.size == SIZE

    def test_plan_reads_the_routes(self, scan, make_client):
        assert scan.plan(make_client) == scan.size == scan.report.not_asked == SIZE

    def test_known_routes_need_no_catalogue(self, ferry, folder):
        routes = ferry.routes.find("Genoa", "Tunis")
        assert new_scan(folder, routes=routes).size == SIZE
        assert new_scan(folder, routes=routes, companies=["GNV"]).size == SIZE / 2

    def test_all_routes_are_planned(self, make_client, ferry, folder):
        sailings = sum(len(route.companies) for route in ferry.routes.find())
        everything = new_scan(folder, routes="all", dates=(DAYS[0], DAYS[0]), parties=[LONE])
        assert everything.plan(make_client) == sailings > 400

    def test_all_routes_of_a_company_are_planned(self, make_client, ferry, folder):
        sailed = [route for route in ferry.routes.find() if "CTN" in route.companies]
        one_day = {"dates": (DAYS[0], DAYS[0]), "parties": [LONE]}
        scan = new_scan(folder, routes="all", companies=["CTN"], **one_day)
        assert scan.plan(make_client) == len(sailed)

    def test_company_without_known_routes_is_asked_on_all(self, make_client, ferry, folder):
        one_day = {"dates": (DAYS[0], DAYS[0]), "parties": [LONE]}
        scan = new_scan(folder, routes="all", companies=["NONE"], **one_day)
        assert scan.plan(make_client) == len(ferry.routes.find())


class TestRunsAgain:
    @pytest.mark.slow
    def test_what_is_there_is_not_asked_again(self, scan, make_client, ferry_sandbox, folder):
        first = scan.run(make_client)
        again = new_scan(folder)
        assert again.size == SIZE
        assert again.run(make_client) == first == again.report
        assert searches(ferry_sandbox) == SIZE

    @pytest.mark.slow
    def test_lost_part_is_asked_again(self, scan, make_client, ferry_sandbox, folder):
        first = scan.run(make_client)
        (folder / "part-00001.parquet").unlink()
        again = new_scan(folder)
        assert again.report.not_asked == SIZE / 2
        assert again.run(make_client) == first
        assert searches(ferry_sandbox) == SIZE * 1.5
        check_rows(folder)


@pytest.fixture(scope="module")
def failed_run(tmp_path_factory):
    """A folder, and the report of a run into it of which seven searches failed."""
    folder = tmp_path_factory.mktemp("failed") / "week"
    with (
        Sandbox(now=NOW) as sandbox,
        Ferry(sandbox.token, base_url=sandbox.base_url, max_retries=0) as ferry,
    ):
        know_routes(sandbox)
        sandbox.faults.add("server_error", "availability.search", times=7, after=3)
        report = new_scan(folder).run(ferry)
    return folder, report


class TestFailedSearches:
    @pytest.mark.slow
    def test_failed_searches_are_counted(self, failed_run):
        _, report = failed_run
        assert (report.failed, report.done) == (7, SIZE - 7)
        assert not report.is_complete

    @pytest.mark.slow
    def test_rows_have_the_reason(self, failed_run):
        folder, _ = failed_run
        failed = [row for row in check_rows(folder) if row["status"] == "failed"]
        assert len(failed) == 7
        assert all(row["reason"].startswith("ServerError: ") for row in failed)

    def test_manifest_has_the_run(self, failed_run):
        folder, _ = failed_run
        (run,) = json.loads((folder / "scan.json").read_text("utf-8"))["runs"]
        assert run["failed"] == sum(run["reasons"].values()) == 7

    @pytest.mark.slow
    def test_log_says_how_to_go_on(self, scan, ferry, ferry_sandbox, caplog):
        ferry_sandbox.faults.add("server_error", "availability.search", times=7, after=3)
        scan.run(ferry.with_options(max_retries=0))
        assert f"7 of {SIZE} searches failed; run again to repeat them" in caplog.messages

    @pytest.mark.slow
    def test_next_run_repeats_them(self, scan, make_client, ferry_sandbox, folder):
        ferry_sandbox.faults.add("server_error", "availability.search", times=7, after=3)
        assert scan.run(make_client).failed == 7
        before = searches(ferry_sandbox)
        report = scan.run(make_client)
        assert report.is_complete
        assert searches(ferry_sandbox) == before + 7
        empty = [row for row in check_rows(folder) if row["status"] == "nothing"]
        assert 0 < report.nothing == len(empty) < SIZE
        assert report.answered == len({row["search"] for row in rows_of(folder)}) - len(empty)


class TestOneJourneyOfTwoPairs:
    @pytest.fixture
    def there(self, ferry):
        """The route from Genoa to Tunis."""
        (route,) = ferry.routes.find("Genoa", "Tunis")
        return route

    @pytest.fixture
    def scan(self, there, folder):
        """A scan of a route, and of one with the same journey and its ports exchanged."""
        ends = {"depart_code": there.arrive_code, "arrive_code": there.depart_code}
        return new_scan(folder, routes=[there, replace(there, **ends)], companies=["GNV"])

    @pytest.mark.slow
    def test_both_pairs_are_asked(self, scan, there, make_client, ferry_sandbox, folder):
        report = scan.run(make_client)
        assert report.size == SIZE
        assert 0 < report.failed < SIZE
        before = searches(ferry_sandbox)
        assert scan.run(make_client).failed == report.failed == searches(ferry_sandbox) - before
        rows = check_rows(folder)
        asked_there = {row["search"] for row in rows if row["depart_code"] == there.depart_code}
        assert len(asked_there) == SIZE / 2
        assert scan.to_frame().groupby("search")["depart_code"].nunique().max() == 1

    @pytest.mark.slow
    def test_other_pairs_are_another_scan(self, scan, there, make_client, folder):
        scan.run(make_client)
        with pytest.raises(errors.InvalidInputError, match="with other routes"):
            _ = new_scan(folder, routes=[there, there], companies=["GNV"]).report


class TestErrors:
    @pytest.mark.slow
    def test_rejected_token_ends_the_scan(self, scan, ferry, ferry_sandbox, folder):
        client = partial(AsyncFerry, "other", base_url=ferry_sandbox.base_url)
        caught(errors.AuthenticationError, scan.run, client, concurrency=4)
        assert searches(ferry_sandbox) < SIZE / 2
        assert scan.run(ferry).is_complete
        check_rows(folder)

    def test_unreachable_service_ends_the_scan(self, folder):
        scan = new_scan(folder, routes=[route_of("GNV")])
        client = partial(AsyncFerry, "token", base_url="http://127.0.0.1:9", max_retries=0)
        with pytest.raises(errors.ConnectionFailedError):
            scan.run(client)
        assert scan.report.done == 0

    @pytest.mark.slow
    def test_manifest_hides_errors_of_users(self, ferry_sandbox, folder):
        # The first token reads the routes.
        token = Mock(side_effect=[ferry_sandbox.token, *[ValueError("the secret is 1234")] * SIZE])
        scan = new_scan(folder, routes=[("ITGOA", "TNLGN")])
        with pytest.raises(ValueError, match="1234"):
            scan.run(partial(AsyncFerry, token, base_url=ferry_sandbox.base_url))
        assert '"error": "ValueError"' in (folder / "scan.json").read_text("utf-8")


class TestInterruptions:
    @pytest.mark.own_http_client(reason="a caller's own client is of one event loop")
    @pytest.mark.skipif(os.name != "posix", reason="a process cannot send itself Ctrl-C")
    def test_ctrl_c_keeps_the_answers(self, scan, ferry_sandbox, folder):
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

    @pytest.mark.slow
    @pytest.mark.skipif(os.name != "posix", reason="a process cannot send itself Ctrl-C")
    @pytest.mark.parametrize("are_routes_known", [True, False], ids=["searches", "catalogues"])
    def test_waiting_threads_send_nothing_after_ctrl_c(
        self, ferry, ferry_sandbox, folder, *, are_routes_known
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


@pytest.mark.slow
@pytest.mark.own_http_client(reason="a caller's own client is of one event loop")
def test_scan_runs_beside_an_event_loop(scan, ferry_sandbox, folder):
    async def cell():
        async with AsyncFerry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry:
            assert scan.run(ferry).is_complete
            assert len(await ferry.catalogue.ports()) > 0

    asyncio.run(cell())
    check_rows(folder)


class TestArguments:
    @pytest.mark.parametrize(
        ("field", "value"),
        [
            pytest.param("routes", [], id="no routes"),
            pytest.param("routes", "Genoa", id="a place"),
            pytest.param("routes", ["Genoa", "Tunis"], id="a list of places"),
            pytest.param("dates", (DAYS[1], DAYS[0]), id="the last day first"),
            pytest.param("dates", (DAYS[0],), id="one day"),
            pytest.param("dates", ("soon", "later"), id="no days"),
            pytest.param("dates", (DAYS[0], date.max), id="more days than are sold"),
            pytest.param("parties", [], id="no parties"),
            pytest.param("parties", ["x"], id="a text as a party"),
            pytest.param("parties", [Party], id="a class as a party"),
            pytest.param("parties", [LONE, LONE], id="a party twice"),
            pytest.param("parties", [Party("\ud800", TRAVELLERS[:1])], id="half a pair in a name"),
            pytest.param("companies", [], id="no companies"),
            pytest.param("companies", "GNV", id="a company as a text"),
            pytest.param("companies[0]", ["\ud800"], id="half a pair as a company"),
            pytest.param("part_size", 19, id="parts too small"),
            pytest.param("part_size", 101, id="parts too large"),
            pytest.param("part_size", 50.0, id="a float"),
        ],
    )
    def test_wrong_argument_is_named(self, folder, field, value):
        wrong = {field.partition("[")[0]: value}
        assert caught(errors.InvalidInputError, new_scan, folder, **wrong).field == field
        assert not folder.exists()

    @pytest.mark.parametrize(
        "folder",
        [
            pytest.param("a\0b", id="a null byte"),
            pytest.param("a" * 300, id="too long"),
            pytest.param("", id="empty"),
        ],
    )
    def test_wrong_folder_is_named(self, folder):
        assert caught(errors.InvalidInputError, new_scan, folder).field == "folder"

    def test_file_as_a_folder_is_named(self, folder):
        folder.write_bytes(b"")
        assert caught(errors.InvalidInputError, new_scan, folder).field == "folder"


class TestParties:
    BORN = Traveller(gender="Female", birth_date=date(2000, 7, 1))

    def test_passengers_become_records(self):
        party = Party("pair", TRAVELLERS)
        types = [type(passenger) for passenger in party.passengers]
        assert types == [SearchPassenger] * len(TRAVELLERS)

    def test_travellers_have_their_age_of_each_day(self):
        asked = Party("one", [self.BORN]).asked(date(2050, 6, 30), date(2050, 7, 1))
        assert [passenger["age"] for passenger in asked["passengers"]] == [49]
        assert [passenger["age"] for passenger in asked["passengers_on_last_day"]] == [50]

    def test_passengers_are_copied(self):
        people = [self.BORN]
        party = Party("one", people)
        people.clear()
        assert [*party.passengers] == [self.BORN]

    @pytest.mark.parametrize(
        ("passengers", "field"),
        [
            pytest.param(
                [{**TRAVELLERS[0], "first_name": "Marguerite"}],
                "passengers[0].first_name",
                id="a name",
            ),
            pytest.param(None, "passengers", id="none"),
        ],
    )
    def test_wrong_passenger_is_named(self, passengers, field):
        assert caught(errors.InvalidInputError, Party, "pair", passengers).field == field

    @pytest.fixture
    def soon(self):
        """A party with a traveller who is born after the first day."""
        unborn = Traveller(gender="Female", birth_date=DAYS[0] + timedelta(1))
        return Party("soon", [{"type": "Adult", "gender": "Male", "age": 34}, unborn])

    def test_birth_after_a_day_is_named(self, folder, soon):
        refused = caught(errors.InvalidInputError, new_scan, folder, parties=[soon])
        assert refused.field == "passengers[1].birth_date"
        assert "after the day of travel" in str(refused)

    def test_birth_before_all_days_is_valid(self, folder, soon):
        new_scan(folder, parties=[soon], dates=(DAYS[1], DAYS[1]))


class TestRoutesWithoutCompanies:
    def test_places_without_a_route_are_an_error(self, make_client, folder):
        scan = new_scan(folder, routes=[("ESTRF", "ITGOA")])
        with pytest.raises(errors.InvalidInputError, match="no company sails from ESTRF to ITGOA"):
            scan.run(make_client)

    def test_route_without_a_company_is_an_error(self, folder):
        error = caught(errors.InvalidInputError, new_scan, folder, routes=[route_of()])
        assert error.field == "companies"

    def test_companies_can_be_named(self, folder):
        assert new_scan(folder, routes=[route_of()], companies=["GNV"]).size == SIZE / 2


@pytest.mark.parametrize("is_terminal", [True, False], ids=["terminal", "file"])
def test_progress_is_shown_on_a_terminal_only(monkeypatch, is_terminal):
    stream = StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: is_terminal)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    reports = [ScanReport(60, 30, 10, 5), ScanReport(60)]
    with show_progress(lambda: reports[-1]) as show:
        reports.pop()
        show()
    assert ("45/60" in stream.getvalue()) == is_terminal
    assert ("5 failed" in stream.getvalue()) == is_terminal


CARD = """\
Scan: 40 of 60 searches done, not complete
  with sailings      30
  nothing sails      10
  failed             5
  not asked          15
  could not be read  2
  reason             RateLimitError: Too many requests (4)
  reason             ServerError: Essayez à nouveau <plus tard> (1)"""
"""What a scan prints that has not ended."""


@pytest.fixture
def unfinished():
    """The report of a scan that has not ended, in which searches failed for two reasons."""
    reasons = {
        "ServerError: Essayez à nouveau <plus tard>": 1,
        "RateLimitError: Too many requests": 4,
    }
    return ScanReport(60, 30, 10, 5, 2, reasons)


def test_report_is_printed_in_a_few_lines(unfinished):
    assert str(unfinished) == CARD


def test_report_of_a_finished_scan_is_short():
    shown = "Scan: 2 of 2 searches done, complete\n  with sailings  2\n  nothing sails  0"
    assert str(ScanReport(2, 2)) == shown


def test_card_names_the_most_frequent_reasons_only():
    report = ScanReport(9, failed=9, reasons={f"reason {number}": 1 for number in range(9)})
    assert str(report).splitlines()[-1].split() == ["more", "reasons", "4"]


def test_notebook_shows_the_report_as_a_card(unfinished):
    shown = unfinished._repr_html_()
    assert "Scan: 40 of 60 searches done, not complete" in shown
    assert "&lt;plus tard&gt;" in shown


def test_package_without_pyarrow_names_the_extra(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("ferry_sdk.scan")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "ferry-sdk\[scan\]"'):
        import_module("ferry_sdk.scan")
