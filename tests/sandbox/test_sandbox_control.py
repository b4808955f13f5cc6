"""The controls over HTTP, and the clock and the counters that they move and read."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from itertools import chain

import httpx
import pytest

from ferry_sdk.sandbox import FaultKind, McpOptions, Sandbox
from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.counters import Counters, Effect


def ports(http):
    return http.get("/api/port")


# The clock


def test_clock_shows_the_time_of_the_service(sandbox, http):
    reading = http.get("/_sandbox/clock").json()
    assert not reading["frozen"]
    difference = datetime.fromisoformat(reading["now"]) - sandbox.clock.now()
    assert abs(difference) < timedelta(seconds=5)


def test_clock_is_frozen_then_moved(sandbox, http):
    update = {"frozen": True, "travel_to": "2027-06-01T08:00:00Z", "advance": 90}
    reading = http.post("/_sandbox/clock", json=update).json()
    assert reading == {"now": "2027-06-01T08:01:30+00:00", "frozen": True}
    assert sandbox.clock.now() == datetime(2027, 6, 1, 8, 1, 30, tzinfo=UTC)


def test_frozen_clock_resumes_where_it_stood(http):
    http.post("/_sandbox/clock", json={"frozen": True, "travel_to": "2027-06-01T08:01:30Z"})
    reading = http.post("/_sandbox/clock", json={"frozen": False}).json()
    assert not reading["frozen"]
    assert reading["now"].startswith("2027-06-01T08:01:3")


def test_reset_clock_shows_real_time(sandbox, http):
    http.post("/_sandbox/clock", json={"travel_to": "2027-06-01T08:00:00Z"})
    http.delete("/_sandbox/clock")
    before = datetime.now(UTC)
    assert before <= sandbox.clock.now() <= datetime.now(UTC)


INVALID_UPDATES = [
    ("travel_to", {"travel_to": "2027-06-01T08:00:00"}),
    ("travel_to", {"travel_to": "tomorrow"}),
    ("travel_to", {"travel_to": 5}),
    ("travel_to", {"travel_to": "5"}),
    ("advance", {"advance": -1}),
    ("advance", {"advance": 1e12}),
    ("advance", {"advance": "60"}),
    ("advance", {"advance": True}),
    ("frozen", {"frozen": "perhaps"}),
    ("frozen", {"frozen": "yes"}),
    ("frozen", {"frozen": 1}),
    ("speed", {"speed": 2}),
    ("1970 to 2199", {"travel_to": "9999-12-31T23:59:59Z"}),
    ("1970 to 2199", {"travel_to": "0001-01-01T00:00:00+14:00"}),
    ("1970 to 2199", {"travel_to": "2199-12-30T00:00:00Z", "advance": 86401}),
    ("1970 to 2199", {"frozen": True, "travel_to": "2200-01-01T00:00:00Z"}),
]


@pytest.mark.parametrize(("named", "update"), INVALID_UPDATES, ids=str)
def test_invalid_update_names_what_is_wrong(http, named, update):
    refused = http.post("/_sandbox/clock", json=update)
    error = refused.json()
    assert (refused.status_code, error["code"]) == (422, "VALIDATION_ERROR")
    assert error.get("field") == named or named in error["message"]


@pytest.mark.parametrize(("named", "update"), INVALID_UPDATES, ids=str)
def test_invalid_update_leaves_the_clock_unchanged(sandbox, http, named, update):
    http.post("/_sandbox/clock", json=update)
    assert not sandbox.clock.frozen
    before = datetime.now(UTC)
    assert before <= sandbox.clock.now() <= datetime.now(UTC)


# Faults

RATE_LIMIT = {"kind": "rate_limited", "operation": "catalogue.*", "times": 2, "retry_after": 3}


def test_kinds_of_fault_are_listed_with_their_details(http):
    kinds = http.get("/_sandbox/faults/kinds").json()
    assert set(kinds) == {kind.value for kind in FaultKind}
    assert set(kinds["truncate"]["properties"]) == {"keep", "chunked", "reset"}


def test_requested_fault_occurs(http):
    requested = http.post("/_sandbox/faults", json=RATE_LIMIT)
    assert requested.status_code == 200
    assert requested.json() == {**RATE_LIMIT, "after": 0}
    assert ports(http).headers["retry-after"] == "3"


def test_faults_are_listed_when_pending_or_taken(http):
    fault = http.post("/_sandbox/faults", json=RATE_LIMIT).json()
    ports(http)
    assert http.get("/_sandbox/faults").json() == {"pending": [fault], "taken": [fault]}


def test_cleared_faults_occur_no_more(http):
    http.post("/_sandbox/faults", json=RATE_LIMIT)
    assert http.delete("/_sandbox/faults").json() == {"pending": [], "taken": []}
    assert ports(http).status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        pytest.param(b"{}", "kind", id="no-kind"),
        pytest.param(b'{"kind": "rate_limited", "retries": 3}', "retries", id="unknown-detail"),
        pytest.param(b"{", "body", id="no-json"),
        pytest.param(b"[]", "body", id="list"),
        pytest.param(b"\xff", "body", id="no-utf8"),
        pytest.param(b"[" * 100_000, "body", id="deep"),
    ],
)
def test_invalid_fault_names_its_field(sandbox, http, body, field):
    refused = http.post("/_sandbox/faults", content=body)
    error = refused.json()
    assert (refused.status_code, error["field"]) == (422, field)
    assert (error["error"], error["code"]) == (True, "VALIDATION_ERROR")
    assert sandbox.faults.pending == ()


@pytest.mark.parametrize(
    ("kind", "details"),
    [
        pytest.param("null_field", {"field": "nmae"}, id="unknown field"),
        pytest.param("missing_field", {"field": "ports.0.name"}, id="path below the record"),
        pytest.param("null_field", {"index": 100_000}, id="no such record"),
        pytest.param("unknown_enum", {"field": "stage"}, id="field of another record"),
        pytest.param("unknown_enum", {}, id="record without an enum"),
    ],
)
def test_fault_without_effect_does_not_delay_the_next(sandbox, http, kind, details):
    sandbox.faults.clear()
    good = ports(http).json()
    body = {"kind": kind, "operation": "catalogue.ports", **details}
    requested = http.post("/_sandbox/faults", json=body)
    assert ports(http).json() == good
    assert http.get("/_sandbox/faults").json() == {"pending": [requested.json()], "taken": []}
    right = sandbox.faults.add("null_field", "catalogue.ports", field="name")
    assert ports(http).json()["ports"][0]["name"] is None
    assert sandbox.faults.taken == (right,)
    assert len(sandbox.faults.pending) == 1


# Counters


@pytest.fixture
def many_effects(sandbox):
    """Count more effects than two pages hold, and one request."""
    sandbox.counters.request("catalogue.ports")
    for number in range(2001):
        operation = "tickets.cancel" if number % 3 else "bookings.create"
        sandbox.counters.effect(operation, str(number))
    return sandbox.counters.effects


def test_effects_are_read_page_by_page(http, many_effects):
    pages = []
    after = 0
    while after is not None:
        page = http.get("/_sandbox/counters", params={"after": after}).json()
        pages.append(page["effects"])
        after = page["next"]
    assert [len(page) for page in pages] == [1000, 1000, 1]
    read = [
        (effect["operation"], effect["subject"], datetime.fromisoformat(effect["at"]))
        for effect in chain.from_iterable(pages)
    ]
    assert read == [(effect.operation, effect.subject, effect.at) for effect in many_effects]


@pytest.mark.usefixtures("many_effects")
@pytest.mark.parametrize("after", [0, 1000, 2000])
def test_every_page_has_the_totals(http, after):
    page = http.get("/_sandbox/counters", params={"after": after}).json()
    assert page["totals"] == {"bookings.create": 667, "tickets.cancel": 1334}
    assert page["requests"] == {"catalogue.ports": 1}


def test_request_over_http_is_counted(http):
    ports(http)
    assert http.get("/_sandbox/counters").json()["requests"] == {"catalogue.ports": 1}


@pytest.mark.usefixtures("many_effects")
def test_page_after_the_last_is_empty(http):
    page = http.get("/_sandbox/counters?after=9999").json()
    assert (page["effects"], page["next"]) == ([], None)


@pytest.mark.parametrize(
    ("query", "field"),
    [("after=-1", "after"), ("after=x", "after"), ("after=1.5", "after"), ("before=3", "before")],
)
def test_invalid_page_is_refused(http, query, field):
    refused = http.get(f"/_sandbox/counters?{query}")
    assert (refused.status_code, refused.json()["field"]) == (422, field)


@pytest.mark.usefixtures("many_effects")
def test_reset_counters_are_zero(http):
    zero = {"requests": {}, "effects": [], "totals": {}, "next": None, "connections": 0}
    assert http.delete("/_sandbox/counters").json() == zero


# Options and reset


def test_options_are_read(http):
    assert McpOptions.model_validate(http.get("/_sandbox/options").json()) == McpOptions()


def test_options_are_changed(sandbox, http):
    changed = http.patch("/_sandbox/options", json={"result": "text", "reply": "sse"})
    assert changed.json()["result"] == "text"
    assert sandbox.mcp.current == McpOptions(result="text", reply="sse")


def test_unknown_option_changes_nothing(sandbox, http):
    refused = http.patch("/_sandbox/options", json={"result": "bare", "colour": "blue"})
    assert (refused.status_code, refused.json()["field"]) == (422, "colour")
    assert sandbox.mcp.current == McpOptions()


def test_options_are_reset(sandbox, http):
    http.patch("/_sandbox/options", json={"result": "text"})
    http.delete("/_sandbox/options")
    assert sandbox.mcp.current == McpOptions()


def test_whole_service_is_reset(sandbox, http):
    service = sandbox.service
    sandbox.faults.add("rate_limited", times=None)
    sandbox.clock.freeze()
    assert http.post("/_sandbox/reset").status_code == 200
    assert sandbox.faults.pending == ()
    assert not sandbox.clock.frozen
    assert sandbox.service is not service
    assert ports(http).status_code == 200


# Who may use the controls


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("host", "gateway.example"),
        ("host", "192.0.2.7:80"),
        ("origin", "https://evil.example"),
        ("origin", "null"),
    ],
)
def test_controls_refuse_other_hosts_or_origins(sandbox, http, header, value):
    sandbox.faults.add("rate_limited")
    refused = http.post("/_sandbox/reset", headers={header: value})
    assert (refused.status_code, refused.json()["code"]) == (403, "FORBIDDEN")
    assert len(sandbox.faults.pending) == 1


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "counters", 405),
        ("GET", "reset", 405),
        ("HEAD", "clock", 200),
        ("GET", "nothing", 404),
    ],
)
def test_controls_answer_their_own_methods_only(http, method, path, status):
    assert http.request(method, f"/_sandbox/{path}").status_code == status


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("X-Forwarded-For", "203.0.113.9"),
        ("X-Forwarded-For", "127.0.0.1"),
        ("X-Forwarded-For", ""),
        ("x-forwarded-host", "ferry.example"),
        ("X-Forwarded-Proto", "https"),
        ("Forwarded", "for=203.0.113.9"),
        ("Via", "1.1 nginx"),
        ("X-Real-IP", "203.0.113.9"),
        ("CF-Connecting-IP", "203.0.113.9"),
        ("True-Client-IP", "203.0.113.9"),
        ("X-Envoy-External-Address", "203.0.113.9"),
    ],
)
def test_controls_refuse_proxied_requests(sandbox, http, header, value):
    refused = http.post("/_sandbox/reset", headers={header: value})
    assert (refused.status_code, refused.json()["code"]) == (403, "FORBIDDEN")


def test_page_is_refused_through_a_proxy(http):
    assert http.get("/_sandbox/", headers={"via": "1.1 nginx"}).status_code == 403


def test_control_token_opens_controls_through_a_proxy():
    with Sandbox(control_token="control-token-of-a-team") as shared:
        proxied = {"x-forwarded-for": "203.0.113.9"}
        with httpx.Client(base_url=shared.base_url, headers=proxied) as proxy:
            refused = proxy.post("/_sandbox/reset")
            proxy.headers["authorization"] = "Bearer control-token-of-a-team"
            answered = proxy.post("/_sandbox/reset")
    assert refused.status_code == 401
    assert answered.status_code == 200


# The clock without HTTP


MOMENT = datetime(2027, 3, 28, 0, 30, tzinfo=UTC)
running_or_frozen = pytest.mark.parametrize("frozen", [False, True], ids=["running", "frozen"])


@running_or_frozen
def test_new_clock_shows_real_time_in_utc(frozen):
    before = datetime.now(UTC)
    clock = Clock(frozen=frozen)
    now = clock.now()
    assert before <= now <= datetime.now(UTC)
    assert now.utcoffset() == timedelta()
    assert (clock.now() == now) == frozen


@running_or_frozen
def test_clock_starts_at_a_given_time(frozen):
    clock = Clock(MOMENT, frozen=frozen)
    assert clock.frozen == frozen
    assert MOMENT <= clock.now() < MOMENT + timedelta(minutes=1)
    assert (clock.now() == MOMENT) == frozen


@running_or_frozen
def test_reset_clock_is_as_at_first(frozen):
    clock = Clock(MOMENT, frozen=frozen)
    clock.resume()
    clock.advance(timedelta(days=9))
    clock.reset()
    assert clock.frozen == frozen
    assert MOMENT <= clock.now() < MOMENT + timedelta(minutes=1)
    assert (clock.now() == MOMENT) == frozen


def test_frozen_clock_advances_by_seconds_or_durations():
    clock = Clock(frozen=True)
    start = clock.now()
    assert clock.advance(90) == start + timedelta(seconds=90)
    assert clock.advance(timedelta(days=2)) == start + timedelta(days=2, seconds=90)


def test_advanced_clock_runs_on():
    clock = Clock()
    moved = clock.advance(3600)
    time.sleep(0.01)
    assert clock.now() - moved >= timedelta(seconds=0.01)
    assert clock.now() - datetime.now(UTC) > timedelta(minutes=59)


def test_clock_travels_forward():
    clock = Clock()
    assert clock.travel_to(MOMENT) == MOMENT
    assert MOMENT <= clock.now() < MOMENT + timedelta(minutes=1)


def test_clock_travels_back_from_another_time_zone():
    clock = Clock(MOMENT)
    athens = MOMENT.astimezone(timezone(timedelta(hours=2))) - timedelta(days=400)
    assert clock.travel_to(athens) == athens
    assert clock.now().utcoffset() == timedelta()


def test_frozen_clock_stands_still():
    clock = Clock(MOMENT)
    clock.freeze()
    held = clock.now()
    time.sleep(0.01)
    assert clock.now() == held
    assert clock.frozen


def test_frozen_clock_still_travels():
    clock = Clock()
    clock.freeze()
    assert clock.travel_to(MOMENT) == clock.now() == MOMENT


def test_clock_that_started_frozen_resets_to_now():
    clock = Clock(frozen=True)
    start = clock.now()
    clock.resume()
    clock.travel_to(MOMENT)
    clock.reset()
    assert clock.frozen
    assert clock.now() - start < timedelta(minutes=1)


@pytest.mark.parametrize(
    "moment",
    [
        datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC),
        datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=2))),
        datetime(2199, 12, 31, 0, 0, 1, tzinfo=UTC),
        datetime.min.replace(tzinfo=UTC),
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-14))),
        MOMENT.replace(tzinfo=None),
    ],
    ids=str,
)
def test_invalid_time_is_refused(moment):
    clock = Clock(MOMENT, frozen=True)
    with pytest.raises(ValueError, match=r"time zone|1970 to 2199"):
        clock.travel_to(moment)
    assert clock.now() == MOMENT
    with pytest.raises(ValueError, match=r"time zone|1970 to 2199"):
        Clock(moment)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (timedelta(days=365 * 200), "1970 to 2199"),
        (-0.001, r"."),
        (timedelta(days=-1), r"."),
        (float("nan"), r"."),
        (1e300, r"."),
    ],
    ids=str,
)
def test_invalid_step_is_refused(step, message):
    clock = Clock(MOMENT, frozen=True)
    with pytest.raises(ValueError, match=message):
        clock.advance(step)
    assert clock.now() == MOMENT


# The counters without HTTP


@pytest.fixture
def clock():
    """A clock that stands still."""
    return Clock(MOMENT, frozen=True)


@pytest.fixture
def counters(clock):
    """Counters of a service without requests."""
    return Counters(clock)


def test_requests_are_counted_by_operation(counters):
    for operation in ("bookings.get", "bookings.get", "tickets.get"):
        counters.request(operation)
    assert counters.requests == {"bookings.get": 2, "tickets.get": 1}
    assert counters.requests["bookings.create"] == 0


def test_read_counts_are_a_copy(counters):
    before = counters.requests
    counters.request("tickets.get")
    assert before == {}
    with pytest.raises(TypeError):
        counters.requests["tickets.get"] = 7


def test_effects_have_the_time_of_the_clock(counters, clock):
    counters.effect("bookings.create", "B1")
    clock.advance(60)
    counters.effect("bookings.confirm", "B1")
    created = Effect("bookings.create", "B1", MOMENT)
    confirmed = Effect("bookings.confirm", "B1", MOMENT + timedelta(seconds=60))
    assert counters.effects == (created, confirmed)
    assert counters.effects_of("bookings.confirm") == (confirmed,)
    assert counters.effects_of("tickets.cancel") == ()


def test_connections_are_counted(counters):
    counters.connection()
    assert counters.connections == 1


def test_reset_counters_are_empty(counters):
    counters.request("tickets.get")
    counters.effect("bookings.create", "B1")
    counters.connection()
    counters.reset()
    assert (counters.requests, counters.effects, counters.connections) == ({}, (), 0)


def test_threads_lose_no_count(counters, clock):
    def count(_):
        clock.advance(1)
        counters.request("tickets.get")
        counters.effect("tickets.cancel", "T1")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(count, range(1600)))
    assert clock.now() == MOMENT + timedelta(seconds=1600)
    assert counters.requests["tickets.get"] == len(counters.effects) == 1600
