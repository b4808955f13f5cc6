"""The benchmarks: what they measure with, and what they show."""

import json
import sys
from datetime import timedelta
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import _running
from benchmarks._catalogues import DAYS, ROUTES, SAILED_BY, SAILINGS, START, code_of
from benchmarks._clients import MissingPeerError, work_of
from benchmarks._lines import Bar, compared, table
from benchmarks._measure import Figures, in_turn, timed
from benchmarks._payload import FEE, QUESTION, TOKEN, availability, search_answer
from benchmarks._reading import read_dicts, read_objects
from benchmarks._service import FEW, Service
from ferry_sdk import Availability, CancellationFee, Ferry
from tests.support.summer import PARTY, stopped

SECONDS = st.floats(min_value=1e-6, max_value=1e3)
PAIRS = st.lists(st.tuples(SECONDS, SECONDS), min_size=1, max_size=30)


def paths(value, at=""):
    """Every member of a JSON value, with the kind of what is in it."""
    if isinstance(value, dict):
        return {path for name, item in value.items() for path in paths(item, f"{at}.{name}")}
    if isinstance(value, list):
        return {path for item in value for path in paths(item, f"{at}[]")}
    return {f"{at}: {type(value).__name__}"}


def test_the_records_are_those_of_the_local_service_and_the_same_every_time(ferry, ferry_sandbox):
    stopped(ferry_sandbox)
    raw = ferry.with_raw_response.availability.search(**QUESTION)
    assert paths(json.loads(raw.content)) == paths(json.loads(search_answer(50)))
    content = search_answer(1000)
    assert 2_500_000 < len(content) < 2_900_000
    assert content == search_answer(1000)
    assert len({record["id"] for record in json.loads(content)}) == 1000
    assert any(len(char.encode()) > 1 for char in content.decode())


def test_the_canned_service_answers_by_both_protocols_has_routes_and_ends_with_its_block():
    with Service(25) as service:
        with Ferry(TOKEN, base_url=service.base_url) as canned:
            found = canned.availability.search(**QUESTION)
            assert [one.id for one in found] == [availability(number)["id"] for number in range(25)]
            assert canned.mcp.search_availability(**QUESTION) == found
            assert canned.bookings.cancel_fee("x") == CancellationFee.model_validate_json(FEE)
        with Ferry(TOKEN, base_url=service.few_url) as few:
            assert len(few.availability.search(**QUESTION)) == FEW
        with Ferry(TOKEN, base_url=service.routes_url) as client:
            routes = client.routes.find()
            pairs = {(one.depart_code, one.arrive_code) for one in routes}
            assert len(pairs) == len(routes) == ROUTES
            assert {len(one.companies) for one in routes} == {SAILED_BY}
            days = {"start": START, "end": START + timedelta(DAYS - 1), "passengers": PARTY}
            calendar = client.trips.calendar(code_of(0), code_of(1), **days)
            assert {day.sailings for day in calendar.values()} == {SAILINGS}
            assert calendar.report.calls == DAYS * SAILED_BY
        process = service._process
        assert process.poll() is None
    assert process.returncode == 0


def test_both_ways_of_reading_miss_nothing_and_the_table_shows_on_which_side_of_its_bar():
    content = search_answer(3)
    records = json.loads(content)
    read_dicts(records)
    read_objects([Availability.model_validate(record) for record in records])
    for part in ("tariffs", "places"):
        broken = json.loads(content)
        del broken[2][part][0]["id"]
        with pytest.raises(KeyError, match="id"):
            read_dicts(broken)
    assert Bar(1.3).holds(1.3)
    assert not Bar(1.3).holds(1.31)
    assert Bar(3, is_least=True).holds(3.0)
    assert not Bar(3, is_least=True).holds(2.99)
    rows = [("good", line(Bar(2))), ("bad", line(Bar(1)))]
    head, rule, good, bad = table(rows, is_judged=True).splitlines()
    assert [cell.strip() for cell in good.split("|")[1:-1]] == [
        *("good", "a call", "3 ms", "floor 0.5 ms", "httpx 1.5 ms", "2.00 of httpx", "<= 2", "yes")
    ]
    assert bad.split("|")[-2].strip() == "NO"
    assert len(head) == len(rule) == len(good)
    assert "NO" not in table(rows, is_judged=False)
    order = []

    def contender(name):
        order.append(name)
        return len(order)

    names = ("a", "b", "c")
    works = {name: lambda name=name: contender(name) for name in names}
    figures = in_turn(works, rounds=3, warm_ups=1)
    rounds = ["".join(order[at : at + 3]) for at in range(0, len(order), 3)]
    assert sorted(rounds[1:]) == ["abc", "bca", "cab"]
    assert len(rounds) == 4
    assert all(len(figures.rounds[name]) == 3 for name in names)
    assert min(min(each) for each in figures.rounds.values()) > 3
    calls = []
    assert 0 < timed(lambda: calls.append(1), 5)() < 1
    assert len(calls) == 5


@given(PAIRS)
def test_a_ratio_is_the_middle_of_the_ratios_of_pairs(pairs):
    figures = Figures({"a": [one for one, _ in pairs], "b": [other for _, other in pairs]})
    assert figures.ratio("a", "b") == median([one / other for one, other in pairs])
    assert figures.median("a") == median([one for one, _ in pairs])


@pytest.fixture
def in_this_process(monkeypatch):
    """What is put in place of a row is put in place in this process only."""
    monkeypatch.setattr(_running, "_on_its_own", _running._measured)


def line(bar):
    figures = Figures({"ferry": [0.002, 0.004], "httpx": [0.001, 0.002], "floor": [0.0005, 0.0005]})
    return compared(figures, "a call", "ms", bar, ours="ferry", to="httpx", floor="floor")


@pytest.mark.parametrize(("bar", "status"), [(Bar(2), 0), (Bar(1), 1)])
@pytest.mark.usefixtures("in_this_process")
def test_the_command_fails_where_a_bar_does_not_hold(bar, status, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("benchmarks.small_call.measure", lambda _: [line(bar)])
    written = tmp_path / "figures.json"
    assert _running.main(["small_call", "--json", str(written)]) == status
    assert "2.00 of httpx" in capsys.readouterr().out
    (figures,) = json.loads(written.read_text())
    assert (figures["row"], figures["ratio"], figures["holds"]) == ("small_call", 2.0, not status)
    assert _running.main(["small_call", "--tiny"]) == 0


@pytest.mark.usefixtures("in_this_process")
def test_a_row_that_fails_or_lacks_its_peer_is_named_and_the_others_go_on(monkeypatch, capsys):
    def raising(error):
        def measure(_):
            raise error

        return measure

    monkeypatch.setattr("benchmarks.big_answer.measure", raising(MissingPeerError("openai")))
    monkeypatch.setattr("benchmarks.small_call.measure", raising(TimeoutError("no reply")))
    monkeypatch.setattr("benchmarks.memory.measure", lambda _: [line(Bar(2))])
    assert _running.main(["big_answer", "small_call", "memory", "--tiny"]) == 1
    printed = capsys.readouterr()
    assert "big_answer is not measured: openai is not installed" in printed.out
    assert "small_call failed: TimeoutError: no reply" in printed.out
    assert "2.00 of httpx" in printed.out
    assert "Traceback" in printed.err


def test_a_missing_library_and_a_row_that_is_not_there_are_said(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "msgspec", None)
    monkeypatch.delitem(sys.modules, "benchmarks._clients.msgspec", raising=False)
    with pytest.raises(MissingPeerError, match="msgspec is not installed"):
        work_of("msgspec", "search")
    with pytest.raises(SystemExit):
        _running.main(["small_cal"])
    assert "no row 'small_cal'; there are import_time" in capsys.readouterr().err


@pytest.mark.long
def test_a_row_runs_at_a_tiny_size(capsys):
    """One that needs no peer; `scripts/check` runs all of them."""
    assert _running.main(["mcp_big_answer", "--tiny"]) == 0
    assert "MCP search of 10" in capsys.readouterr().out
