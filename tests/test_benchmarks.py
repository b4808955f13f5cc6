"""The benchmarks: what they measure with, and what they show."""

import json
import sys
from datetime import timedelta
from functools import partial
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import _command
from benchmarks._catalogues import DAYS, ROUTES, SAILED_BY, SAILINGS, START, code_of
from benchmarks._clients import MissingPeerError, work_of
from benchmarks._lines import Bar, compare, table
from benchmarks._measure import Figures, measure_in_turn, timing
from benchmarks._payload import FEE, QUESTION, TOKEN, availability, search_answer
from benchmarks._readers import read_dicts, read_objects
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


@pytest.fixture(scope="module")
def big_answer():
    """The recorded answer of a search that finds 1,000 sailings."""
    return search_answer(1000)


def test_records_have_the_members_of_the_sandbox(ferry, ferry_sandbox):
    stopped(ferry_sandbox)
    raw = ferry.with_raw_response.availability.search(**QUESTION)
    assert paths(json.loads(raw.content)) == paths(json.loads(search_answer(50)))


def test_big_answer_has_its_size(big_answer):
    assert 2_500_000 < len(big_answer) < 2_900_000


def test_answer_is_the_same_every_time(big_answer):
    assert big_answer == search_answer(1000)


def test_each_record_has_an_id_of_its_own(big_answer):
    assert len({record["id"] for record in json.loads(big_answer)}) == 1000


def test_answer_has_characters_of_several_bytes(big_answer):
    assert any(len(char.encode()) > 1 for char in big_answer.decode())


@pytest.fixture(scope="module")
def service():
    """The canned service, whose searches find 25 sailings."""
    with Service(25) as service:
        yield service


@pytest.fixture
def canned(service):
    """A client of the canned service."""
    with Ferry(TOKEN, base_url=service.base_url) as client:
        yield client


def test_canned_service_answers_by_both_protocols(canned):
    found = canned.availability.search(**QUESTION)
    assert [one.id for one in found] == [availability(number)["id"] for number in range(25)]
    assert canned.mcp.search_availability(**QUESTION) == found


def test_canned_service_answers_with_a_fee(canned):
    assert canned.bookings.cancel_fee("x") == CancellationFee.model_validate_json(FEE)


def test_canned_service_has_an_address_of_few(service):
    with Ferry(TOKEN, base_url=service.few_url) as few:
        assert len(few.availability.search(**QUESTION)) == FEW


@pytest.fixture
def catalogue(service):
    """A client of the canned service's catalogue of routes."""
    with Ferry(TOKEN, base_url=service.routes_url) as client:
        yield client


def test_canned_catalogue_has_its_routes(catalogue):
    routes = catalogue.routes.find()
    pairs = {(one.depart_code, one.arrive_code) for one in routes}
    assert len(pairs) == len(routes) == ROUTES
    assert {len(one.companies) for one in routes} == {SAILED_BY}


def test_canned_calendar_has_its_sailings(catalogue):
    last = START + timedelta(DAYS - 1)
    calendar = catalogue.trips.calendar(
        code_of(0), code_of(1), start=START, end=last, passengers=PARTY
    )
    assert {day.sailings for day in calendar.values()} == {SAILINGS}
    assert calendar.report.calls == DAYS * SAILED_BY


def test_canned_service_ends_with_its_block():
    with Service(1) as service:
        process = service._process
        assert process.poll() is None
    assert process.returncode == 0


def test_records_are_read_to_the_end():
    records = json.loads(search_answer(3))
    read_dicts(records)
    read_objects([Availability.model_validate(record) for record in records])


@pytest.mark.parametrize("part", ["tariffs", "places"])
def test_missing_member_of_a_record_is_noticed(part):
    records = json.loads(search_answer(3))
    del records[2][part][0]["id"]
    with pytest.raises(KeyError, match="id"):
        read_dicts(records)


@pytest.mark.parametrize(
    ("bar", "ratio", "holds"),
    [
        pytest.param(Bar(1.3), 1.3, True, id="at most"),
        pytest.param(Bar(1.3), 1.31, False, id="more than at most"),
        pytest.param(Bar(3, is_least=True), 3.0, True, id="at least"),
        pytest.param(Bar(3, is_least=True), 2.99, False, id="less than at least"),
    ],
)
def test_bar_holds_up_to_its_value(bar, ratio, holds):
    assert bar.holds(ratio) is holds


def line(bar):
    """Return a line whose ratio is 2, with this bar."""
    figures = Figures({"ferry": [0.002, 0.004], "httpx": [0.001, 0.002], "floor": [0.0005, 0.0005]})
    return compare(figures, "a call", unit="ms", bar=bar, ours="ferry", to="httpx", floor="floor")


@pytest.fixture
def rows():
    """The row of a bar that holds, then the row of one that does not."""
    return [("good", line(Bar(2))), ("bad", line(Bar(1)))]


def test_table_shows_a_bar_that_holds(rows):
    good = table(rows, is_judged=True).splitlines()[2]
    assert [cell.strip() for cell in good.split("|")[1:-1]] == [
        "good",
        "a call",
        "3 ms",
        "floor 0.5 ms",
        "httpx 1.5 ms",
        "2.00 of httpx",
        "<= 2",
        "yes",
    ]


def test_table_shows_a_bar_that_breaks(rows):
    bad = table(rows, is_judged=True).splitlines()[3]
    assert bad.split("|")[-2].strip() == "NO"


def test_table_has_aligned_columns(rows):
    head, rule, good, _ = table(rows, is_judged=True).splitlines()
    assert len(head) == len(rule) == len(good)


def test_table_without_judgement_fails_nothing(rows):
    assert "NO" not in table(rows, is_judged=False)


@pytest.fixture
def order():
    """The names of the contenders, in the order in which they ran."""
    return []


@pytest.fixture
def figures(order):
    """The figures of three contenders in three rounds, after one to warm up."""

    def contender(name):
        order.append(name)
        return len(order)

    works = {name: partial(contender, name) for name in "abc"}
    return measure_in_turn(works, rounds=3, warm_ups=1)


@pytest.mark.usefixtures("figures")
def test_each_contender_begins_a_round(order):
    rounds = ["".join(order[at : at + 3]) for at in range(0, len(order), 3)]
    assert sorted(rounds[1:]) == ["abc", "bca", "cab"]
    assert len(rounds) == 4


def test_rounds_to_warm_up_are_not_counted(figures):
    assert [len(rounds) for rounds in figures.rounds.values()] == [3, 3, 3]
    assert min(map(min, figures.rounds.values())) > 3


def test_timed_work_runs_as_often_as_asked():
    calls = []
    assert 0 < timing(lambda: calls.append(1), 5)() < 1
    assert len(calls) == 5


@given(PAIRS)
def test_ratio_is_the_median_of_pairs(pairs):
    figures = Figures({"a": [one for one, _ in pairs], "b": [other for _, other in pairs]})
    assert figures.ratio("a", "b") == median([one / other for one, other in pairs])
    assert figures.median("a") == median([one for one, _ in pairs])


@pytest.fixture
def in_this_process(monkeypatch):
    """Have rows run in this process, where a test has replaced them."""
    monkeypatch.setattr(_command, "_measure_in_process", _command._measure_row)


@pytest.mark.parametrize(
    ("bar", "status"),
    [
        pytest.param(Bar(2), 0, id="holds"),
        pytest.param(Bar(1), 1, id="breaks"),
    ],
)
@pytest.mark.usefixtures("in_this_process")
def test_command_fails_where_a_bar_breaks(bar, status, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("benchmarks.small_call.measure", lambda _: [line(bar)])
    file = tmp_path / "figures.json"
    assert _command.main(["small_call", "--json", str(file)]) == status
    assert "2.00 of httpx" in capsys.readouterr().out
    (figures,) = json.loads(file.read_text())
    assert (figures["row"], figures["ratio"], figures["holds"]) == ("small_call", 2.0, not status)


@pytest.mark.usefixtures("in_this_process")
def test_tiny_run_is_held_to_no_bar(monkeypatch):
    monkeypatch.setattr("benchmarks.small_call.measure", lambda _: [line(Bar(1))])
    assert _command.main(["small_call", "--tiny"]) == 0


def raising(error):
    """Return the work of a row that raises this error."""

    def measure(_):
        raise error

    return measure


@pytest.fixture
def printed(monkeypatch, capsys, in_this_process):
    """What the command prints of a row without its peer, one that fails and one that is measured.

    The command itself fails.
    """
    monkeypatch.setattr("benchmarks.big_answer.measure", raising(MissingPeerError("openai")))
    monkeypatch.setattr("benchmarks.small_call.measure", raising(TimeoutError("no reply")))
    monkeypatch.setattr("benchmarks.memory.measure", lambda _: [line(Bar(2))])
    assert _command.main(["big_answer", "small_call", "memory", "--tiny"]) == 1
    return capsys.readouterr()


def test_row_without_its_peer_is_named(printed):
    assert "big_answer is not measured: openai is not installed" in printed.out


def test_row_that_fails_is_named(printed):
    assert "small_call failed: TimeoutError: no reply" in printed.out
    assert "Traceback" in printed.err


def test_other_rows_are_measured_after_a_failure(printed):
    assert "2.00 of httpx" in printed.out


def test_peer_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "msgspec", None)
    monkeypatch.delitem(sys.modules, "benchmarks._clients.msgspec", raising=False)
    with pytest.raises(MissingPeerError, match="msgspec is not installed"):
        work_of("msgspec", "search")


def test_unknown_row_is_an_error(capsys):
    with pytest.raises(SystemExit):
        _command.main(["small_cal"])
    assert "no row 'small_cal'; there are import_time" in capsys.readouterr().err


@pytest.mark.long
def test_row_runs_at_a_tiny_size(capsys):
    """One that needs no peer; `scripts/check` runs all of them."""
    assert _command.main(["mcp_big_answer", "--tiny"]) == 0
    assert "MCP search of 10" in capsys.readouterr().out
