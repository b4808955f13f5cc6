"""What a check with reads finds of the local service."""

import json
from datetime import date

import anyio
import pytest

from ferry_sdk import APIError, AsyncFerry, AuthenticationError, Ferry, TransportError
from ferry_sdk.conformance import check
from ferry_sdk.conformance.assumptions import BOOKING_ID, READS, TICKET_ID, ids_shown_by
from ferry_sdk.conformance.findings import Findings
from ferry_sdk.conformance.probes import Probes
from ferry_sdk.sandbox import Sandbox
from tests.conformance.conftest import holding, make, seen, start_anew
from tests.support.effects import effects
from tests.support.summer import search
from tests.support.tiers import LONG, mostly_long
from tests.support.trip import booked

SEARCH = search(out_at=date(2050, 7, 15))
BY_READS = {*ids_shown_by(READS)}
BY_BOOKINGS = {*ids_shown_by(BOOKING_ID)}
BY_TICKETS = {*ids_shown_by(TICKET_ID)}


@pytest.fixture(params=mostly_long(["sync", "asyncio", "trio"]))
def report_of(request, sandbox):
    """Make reports of a client that may only read."""
    settings = {"token": sandbox.read_only_token, "read_only": True, "max_retries": 0}
    settings["base_url"] = sandbox.base_url

    def report(**ids):
        if request.param == "sync":
            with Ferry(**settings) as ferry:
                return check(ferry, **ids)

        async def main():
            async with AsyncFerry(**settings) as ferry:
                return await check(ferry, **ids)

        return anyio.run(main, backend=request.param)

    return report


@pytest.fixture(scope="module")
def report(service):
    """The report of a check of the local service, which no test has changed."""
    start_anew(service)
    with Ferry(service.token, base_url=service.base_url) as ferry:
        return check(ferry)


def test_local_service_is_as_assumed(report):
    assert {row.verdict for row in report.rows} == {"holds", "not seen"}
    assert not report.differs


def test_local_service_has_an_empty_profile(report):
    assert report.profile() == {}


def test_local_service_sends_nothing_unreadable(report):
    assert report.unreadable == ()


@pytest.mark.slow
def test_reads_show_their_assumptions(report_of, sandbox):
    assert holding(report_of()) == BY_READS
    assert sandbox.counters.effects == ()


def test_report_counts_its_requests(ferry, sandbox):
    report = check(ferry)
    handshake = sandbox.counters.requests["mcp.initialize"]
    assert report.requests == sum(sandbox.counters.requests.values()) - handshake <= 40


@pytest.mark.slow
def test_booking_shows_its_fields(report_of, ferry, sandbox):
    booking = booked(ferry)
    report = report_of(booking_id=booking.booking_id)
    assert holding(report) == BY_READS | (BY_BOOKINGS | BY_TICKETS) - {"preview"}
    assert effects(sandbox) == ["bookings.create"]


@pytest.mark.slow
def test_ticket_shows_its_fields(ferry):
    booking = booked(ferry)
    ticket = ferry.bookings.get(booking.booking_id).tickets[0]
    assert {*BY_TICKETS, "times"} <= holding(check(ferry, ticket_id=ticket.id))


@pytest.mark.slow
def test_confirmed_booking_shows_its_costs(report_of, ferry):
    booking = booked(ferry)
    ferry.bookings.confirm(booking.booking_id)
    assert "preview" in holding(report_of(booking_id=booking.booking_id))


@pytest.mark.slow
def test_failed_read_leaves_its_rows_not_seen(report_of, sandbox):
    sandbox.faults.add("server_error", "catalogue.journeys", times=None)
    sandbox.faults.add("cut_before", "mcp.ports", times=None)
    report = report_of()
    missing = BY_READS - holding(report)
    assert missing == {"journey_route", "port_position", "mcp_resource"}
    assert {row.verdict for row in report.rows if row.id in missing} == {"not seen"}
    assert seen(report)["journey_route"].startswith("ServerError, HTTP 50")


@pytest.mark.slow
@pytest.mark.parametrize("days", mostly_long([0, 1]))
def test_short_timetable_shows_as_much(ferry, sandbox, days):
    timetable = ferry.mcp.read_resource("resource://service/departures")
    first = min(one["depart_at"] for one in timetable)[:10]
    listed = [one for one in timetable if days and one["depart_at"].startswith(first)]
    sandbox.faults.add("wrong_shape", "mcp.departures", times=None, value=listed)
    assert holding(check(ferry)) == BY_READS


@pytest.mark.slow
def test_timetable_with_unknown_times_shows_the_lines(ferry, sandbox):
    timetable = ferry.mcp.read_resource("resource://service/departures")
    listed = [one | {"depart_at": "soon"} for one in timetable]
    sandbox.faults.add("wrong_shape", "mcp.departures", times=None, value=listed)
    probes = Probes(Findings(ferry))
    make(ferry, probes.steps())
    assert "mcp_result" in probes.seen
    assert "routes.find" not in probes.findings.replies


@pytest.mark.slow
def test_refusal_for_another_cause_is_no_difference(ferry, sandbox):
    for operation in ("bookings.get", "mcp.view_ticket", "availability.search"):
        sandbox.faults.add("rate_limited", operation, times=None, retry_after=0)
    report = check(ferry)
    shown = seen(report)
    assert not report.differs
    assert shown["unknown_id"] == shown["mcp_error"] == "RateLimitError, HTTP 429"
    assert shown["amount"] == "no sailing was found"


@pytest.mark.slow
def test_day_with_one_sailing_shows_no_earliest_time(ferry, sandbox):
    sailings = json.loads(ferry.with_raw_response.availability.search(**SEARCH).content)
    sandbox.faults.add("wrong_shape", "availability.search", times=None, value=sailings[:1])
    assert seen(check(ferry))["out_time"] == "no day with several sailings was found"


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (200, "error_with_200"),
        (400, "bad_request"),
        (404, "not_found"),
        (422, "unprocessable"),
        (418, "HTTP 418"),
    ],
    ids=["success", "bad request", "not found", "unprocessable", "another status"],
)
def test_refusal_is_named_by_its_status(status, name):
    probes = Probes(Findings(None))
    probes._see_status("invalid_request", APIError("no", status_code=status))
    assert probes.seen["invalid_request"] == name


@pytest.mark.slow
def test_return_that_does_not_sail_shows_nothing(ferry):
    probes = Probes(Findings(ferry))
    make(ferry, probes.steps())
    probes.seen.pop("return_search")
    ends = {(line.depart_code, line.arrive_code) for line in probes.lines}
    line = next(line for line in probes.lines if (line.arrive_code, line.depart_code) in ends)
    steps = probes._return(line)
    next(steps)
    steps.send([])
    with pytest.raises(APIError):
        steps.throw(APIError("nothing sails", status_code=404))
    assert "return_search" not in probes.seen


def test_service_without_mcp_is_checked_over_rest(ferry, sandbox):
    sandbox.mcp.set(is_absent=True)
    report = check(ferry)
    assert holding(report) == {"port_country", "date_header", "journey_route", "unknown_id"}
    assert not report.differs


@LONG
def test_unknown_booking_leaves_its_rows_not_seen(report_of):
    shown = seen(report_of(booking_id="b0000000-0000-0000-0000-000000000000"))
    assert {shown[name] for name in BY_BOOKINGS | BY_TICKETS} == {"NotFoundError, HTTP 404"}


def test_wrong_token_ends_the_check(sandbox):
    with Ferry("wrong", base_url=sandbox.base_url) as ferry, pytest.raises(AuthenticationError):
        check(ferry)
    assert sandbox.counters.requests["catalogue.ports"] == 1


def test_unreachable_service_ends_the_check():
    with Sandbox() as stopped_service:
        address = stopped_service.base_url
    with Ferry("token", base_url=address, max_retries=0) as ferry, pytest.raises(TransportError):
        check(ferry)


@pytest.mark.slow
def test_event_streams_are_read_like_json(ferry, sandbox):
    sandbox.mcp.set(reply="sse", line_end="cr", comments=True, several_lines=True)
    assert holding(check(ferry)) >= BY_READS


@pytest.fixture
def sailings(ferry):
    """Return the sailings of a search as the service sends them."""
    return json.loads(ferry.with_raw_response.availability.search(**SEARCH).content)


@pytest.mark.slow
def test_unreadable_sailing_hides_no_other_row(ferry, sandbox, sailings):
    broken = sailings[0] | {"depart_at": None, "tariffs": None}
    value = [broken, *sailings]
    sandbox.faults.add("wrong_shape", "availability.search", times=None, value=value)
    report = check(ferry)
    assert {"currency", "balance", "search_list", "no_journeys"} <= holding(report)
    answers = [each for each in report.unreadable if each.operation == "availability.search"]
    answer = answers[0]
    assert answer.records[0].index == 0
    assert answer.records[0].raw is None


@pytest.mark.slow
def test_unreadable_sailings_are_not_called_none(ferry, sandbox, sailings):
    for sailing in sailings:
        sailing["depart_at"] = None
    sandbox.faults.add("wrong_shape", "availability.search", times=None, value=sailings)
    report = check(ferry)
    problem = "what the service sent could not be read (UnexpectedResponseError, HTTP 200)"
    assert seen(report)["amount"] == seen(report)["currency"] == problem
    assert "availability.search" in {answer.operation for answer in report.unreadable}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operation", "listed", "row"),
    [
        ("catalogue.ports", {"ports": [{"code": None}]}, "port_country"),
        ("catalogue.journeys", {"journeys": [{"journey_id": None}]}, "journey_route"),
        ("catalogue.departures", {"departures": [{"journey_id": None}]}, "no_journeys"),
    ],
    ids=["ports", "journeys", "departures"],
)
def test_unreadable_catalogue_is_reported(ferry, sandbox, operation, listed, row):
    sandbox.faults.add("wrong_shape", operation, times=None, value=listed)
    report = check(ferry)
    assert "could not be read" in seen(report)[row]
    assert operation in {answer.operation for answer in report.unreadable}


def test_unreadable_port_is_reported(ferry, sandbox):
    ports = json.loads(ferry.with_raw_response.catalogue.ports().content)["ports"]
    ports[3]["code"] = None
    sandbox.faults.add("wrong_shape", "catalogue.ports", times=None, value={"ports": ports})
    report = check(ferry)
    assert "port_country" in holding(report)
    (answer,) = [each for each in report.unreadable if each.operation == "catalogue.ports"]
    assert [record.index for record in answer.records] == [3]


@pytest.mark.slow
def test_line_without_a_way_back_is_reported(ferry):
    probes = Probes(Findings(ferry))
    make(ferry, probes.steps())
    alone = probes.lines[0]._replace(depart_code="XXNOW")
    probes.findings.reasons.clear()
    make(ferry, probes.findings.try_steps(["return_search"], probes._return(alone)))
    assert probes.findings.reasons == {"return_search": "no line sails back"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operation", "value", "row", "reason"),
    [
        ("catalogue.ports", {"ports": []}, "port_country", "the service has no ports"),
        ("catalogue.journeys", {"journeys": []}, "journey_route", "the service has no journeys"),
    ],
    ids=["ports", "journeys"],
)
def test_empty_catalogue_is_called_so(ferry, sandbox, operation, value, row, reason):
    sandbox.faults.add("wrong_shape", operation, times=None, value=value)
    assert seen(check(ferry))[row] == reason


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("currency", "no tariff was found"),
        ("amount", "no sailing with a price for one adult and for two was found"),
    ],
    ids=["currency", "amount"],
)
def test_sailings_without_prices_are_called_so(ferry, sandbox, sailings, row, reason):
    value = [sailing | {"tariffs": []} for sailing in sailings]
    sandbox.faults.add("wrong_shape", "availability.search", times=None, value=value)
    assert seen(check(ferry))[row] == reason
