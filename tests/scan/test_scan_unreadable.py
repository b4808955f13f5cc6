"""Records that cannot be read are counted and named by a scan."""

import json

import pytest

from ferry_sdk import InvalidInputError
from ferry_sdk.planning.catalogues import clear_cache
from tests.scan.season import SIZE, new_scan, rows_of


@pytest.fixture
def broken_search(ferry, ferry_sandbox):
    """One search answers a sailing that cannot be read beside those that can."""
    arguments = {"out_at": "2050-06-03", "out_time": "00:00", "passengers": [PASSENGER]}
    route = ferry.routes.find("Genoa", "Tunis")[0]
    ends = {"depart_code": route.depart_code, "arrive_code": route.arrive_code}
    answers = (
        ferry.with_raw_response.availability.search(
            **ends, **arguments, company=company, out_journey_id=route.journey_id
        )
        for company in route.companies
    )
    lists = (json.loads(answer.content) for answer in answers)
    sailings = next(sailings for sailings in lists if sailings)
    value = [sailings[0] | {"depart_at": None}, *sailings]
    ferry_sandbox.faults.add("wrong_shape", "availability.search", value=value)


PASSENGER = {"type": "Adult", "gender": "Female", "age": 34}


@pytest.mark.usefixtures("broken_search")
def test_unreadable_sailing_is_in_the_report(scan, make_client, folder, caplog):
    report = scan.run(make_client)
    assert report.unreadable == 1
    (reason,) = report.reasons
    assert reason.startswith("depart_at: ")
    (row,) = [row for row in rows_of(folder) if row["status"] == "unreadable"]
    assert row["reason"] == reason
    assert "1 records could not be read; report.reasons says why" in caplog.messages
    assert new_scan(folder).report == report


@pytest.mark.slow
@pytest.mark.usefixtures("broken_search")
def test_next_run_keeps_what_is_unreadable(scan, ferry, ferry_sandbox, folder):
    ferry_sandbox.faults.add("server_error", "availability.search", times=None, after=20)
    assert scan.run(ferry.with_options(max_retries=0)).failed > 0
    ferry_sandbox.faults.clear()
    report = new_scan(folder).run(ferry)
    assert (report.done, report.failed, report.unreadable) == (SIZE, 0, 1)


@pytest.mark.slow
@pytest.mark.usefixtures("broken_search")
def test_log_says_what_a_frame_lacks(scan, ferry, caplog):
    scan.run(ferry)
    caplog.clear()
    frame = scan.to_frame(by="tariff")
    assert "unreadable" not in {*frame["status"]}
    assert '1 prices or sailings could not be read; by="record" shows them' in caplog.messages
    assert (scan.to_frame()["status"] == "unreadable").sum() == 1


@pytest.fixture
def break_journeys(ferry, ferry_sandbox):
    """Return a function that puts a broken journey before those that are not of a route."""
    journeys = json.loads(ferry.with_raw_response.catalogue.journeys().content)["journeys"]

    def break_them(without=None):
        kept = [journey for journey in journeys if journey["journey_id"] != without]
        value = {"journeys": [journeys[0] | {"journey_id": None}, *kept]}
        ferry_sandbox.faults.add("wrong_shape", "catalogue.journeys", times=None, value=value)
        clear_cache()

    return break_them


@pytest.mark.slow
def test_unreadable_journey_is_in_the_report(scan, ferry, folder, break_journeys):
    break_journeys()
    assert scan.plan(ferry) == SIZE
    report = scan.run(ferry)
    assert report.unreadable >= 1
    assert "catalogue.journeys: routes may be missing" in report.reasons
    again = new_scan(folder)
    assert again.report == again.run(ferry) == report


@pytest.mark.slow
def test_unreadable_route_is_not_without_companies(scan, ferry, ferry_sandbox, break_journeys):
    (route,) = ferry.routes.find("Genoa", "Tunis")
    timetable = ferry.mcp.read_resource("resource://service/departures")
    others = [departure for departure in timetable if departure["journey_id"] != route.journey_id]
    ferry_sandbox.faults.add("wrong_shape", "mcp.departures", times=None, value=others)
    break_journeys(without=route.journey_id)
    with pytest.raises(InvalidInputError, match="no company is known to sail from Genoa to Tunis"):
        scan.run(ferry)
