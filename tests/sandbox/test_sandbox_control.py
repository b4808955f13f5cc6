"""The controls over HTTP, and the clock and the counters that they move and read."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

import httpx
import pytest

from ferry_sdk.sandbox import FaultKind, McpOptions, Sandbox
from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.counters import Counters, Effect
from tests.support.tables import each


def ports(http):
    return http.get("/api/port")


def test_the_clock_can_be_read_moved_frozen_and_reset(sandbox, http):
    now = http.get("/_sandbox/clock").json()
    assert not now["frozen"]
    assert abs(datetime.fromisoformat(now["now"]) - sandbox.clock.now()) < timedelta(seconds=5)
    body = {"frozen": True, "travel_to": "2027-06-01T08:00:00Z", "advance": 90}
    moved = http.post("/_sandbox/clock", json=body).json()
    assert moved == {"now": "2027-06-01T08:01:30+00:00", "frozen": True}
    assert sandbox.clock.now() == datetime(2027, 6, 1, 8, 1, 30, tzinfo=timezone.utc)
    running = http.post("/_sandbox/clock", json={"frozen": False}).json()
    assert not running["frozen"]
    assert running["now"].startswith("2027-06-01T08:01:3")
    http.delete("/_sandbox/clock")
    before = datetime.now(timezone.utc)
    assert before <= sandbox.clock.now() <= datetime.now(timezone.utc)


@each(
    ("named", "bodies"),
    [
        ("travel_to", [{"travel_to": at} for at in ("2027-06-01T08:00:00", "tomorrow", 5, "5")]),
        ("advance", [{"advance": step} for step in (-1, 1e12, "60", True)]),
        ("frozen", [{"frozen": value} for value in ("perhaps", "yes", 1)]),
        ("speed", [{"speed": 2}]),
        ("1970 to 2199", [{"travel_to": "9999-12-31T23:59:59Z"}]),
        ("1970 to 2199", [{"travel_to": "0001-01-01T00:00:00+14:00"}]),
        ("1970 to 2199", [{"travel_to": "2199-12-30T00:00:00Z", "advance": 86401}]),
        ("1970 to 2199", [{"frozen": True, "travel_to": "2200-01-01T00:00:00Z"}]),
    ],
)
def test_an_invalid_update_leaves_the_clock_unchanged(sandbox, http, named, bodies):
    for body in bodies:
        refused = http.post("/_sandbox/clock", json=body)
        error = refused.json()
        assert (refused.status_code, error["code"]) == (422, "VALIDATION_ERROR"), body
        assert error.get("field") == named or named in error["message"], body
        assert not sandbox.clock.frozen, body
        before = datetime.now(timezone.utc)
        assert before <= sandbox.clock.now() <= datetime.now(timezone.utc), body


def test_faults_can_be_requested_listed_and_cleared_and_an_invalid_one_names_its_field(
    sandbox, http
):
    kinds = http.get("/_sandbox/faults/kinds").json()
    assert set(kinds) == {kind.value for kind in FaultKind}
    assert set(kinds["truncate"]["properties"]) == {"keep", "chunked", "reset"}
    body = {"kind": "rate_limited", "operation": "catalogue.*", "times": 2, "retry_after": 3}
    requested = http.post("/_sandbox/faults", json=body)
    assert requested.status_code == 200
    assert requested.json() == {**body, "after": 0}
    assert ports(http).headers["retry-after"] == "3"
    seen = http.get("/_sandbox/faults").json()
    assert seen == {"pending": [requested.json()], "taken": [requested.json()]}
    assert http.delete("/_sandbox/faults").json() == {"pending": [], "taken": []}
    assert ports(http).status_code == 200
    malformed = dict.fromkeys((b"{", b"[]", b"\xff", b"[" * 100_000), "body")
    more = b'{"kind": "rate_limited", "retries": 3}'
    for wrong, field in ({b"{}": "kind", more: "retries"} | malformed).items():
        refused = http.post("/_sandbox/faults", content=wrong)
        error = refused.json()
        assert (refused.status_code, error["field"]) == (422, field), wrong[:40]
        assert (error["error"], error["code"]) == (True, "VALIDATION_ERROR")
        assert sandbox.faults.pending == ()


@each(
    ("kind", "details"),
    [
        ("null_field", {"field": "nmae"}),
        ("missing_field", {"field": "ports.0.name"}),
        ("null_field", {"index": 100_000}),
        ("unknown_enum", {"field": "stage"}),
        ("unknown_enum", {}),
    ],
)
def test_a_fault_that_changes_nothing_does_not_delay_the_next(sandbox, http, kind, details):
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


def test_counters_are_read_page_by_page_and_reset_and_an_invalid_page_is_refused(sandbox, http):
    ports(http)
    for number in range(2001):
        sandbox.counters.effect("tickets.cancel" if number % 3 else "bookings.create", str(number))
    seen, after, sizes = [], 0, []
    while after is not None:
        page = http.get("/_sandbox/counters", params={"after": after}).json()
        assert page["totals"] == {"bookings.create": 667, "tickets.cancel": 1334}
        assert page["requests"] == {"catalogue.ports": 1}
        sizes.append(len(page["effects"]))
        seen += [(each["operation"], each["subject"], each["at"]) for each in page["effects"]]
        after = page["next"]
    made = [(each.operation, each.subject, each.at) for each in sandbox.counters.effects]
    assert [(*what, datetime.fromisoformat(at)) for *what, at in seen] == made
    assert sizes == [1000, 1000, 1]
    beyond = http.get("/_sandbox/counters?after=9999").json()
    assert (beyond["effects"], beyond["next"]) == ([], None)
    for query in ("after=-1", "after=x", "after=1.5", "before=3"):
        refused = http.get(f"/_sandbox/counters?{query}")
        assert (refused.status_code, refused.json()["field"]) == (422, query.partition("=")[0])
    empty = {"requests": {}, "effects": [], "totals": {}, "next": None, "connections": 0}
    assert http.delete("/_sandbox/counters").json() == empty


def test_options_can_be_read_changed_and_reset_and_the_whole_service_too(sandbox, http):
    assert McpOptions.model_validate(http.get("/_sandbox/options").json()) == McpOptions()
    changed = http.patch("/_sandbox/options", json={"result": "text", "reply": "sse"})
    assert changed.json()["result"] == "text"
    assert sandbox.mcp.current == McpOptions(result="text", reply="sse")
    refused = http.patch("/_sandbox/options", json={"result": "bare", "colour": "blue"})
    assert (refused.status_code, refused.json()["field"]) == (422, "colour")
    assert sandbox.mcp.current.result == "text"
    http.delete("/_sandbox/options")
    assert sandbox.mcp.current == McpOptions()
    service = sandbox.service
    sandbox.faults.add("rate_limited", times=None)
    sandbox.clock.freeze()
    assert http.post("/_sandbox/reset").status_code == 200
    assert sandbox.faults.pending == ()
    assert not sandbox.clock.frozen
    assert sandbox.service is not service
    assert ports(http).status_code == 200


def test_controls_refuse_other_hosts_origins_and_methods(sandbox, http):
    sandbox.faults.add("rate_limited")
    hosts = [("host", "gateway.example"), ("host", "192.0.2.7:80")]
    for header, value in (*hosts, ("origin", "https://evil.example"), ("origin", "null")):
        refused = http.post("/_sandbox/reset", headers={header: value})
        assert (refused.status_code, refused.json()["code"]) == (403, "FORBIDDEN"), value
        assert len(sandbox.faults.pending) == 1, value
    assert http.post("/_sandbox/counters").status_code == 405
    assert http.get("/_sandbox/reset").status_code == 405
    assert http.head("/_sandbox/clock").status_code == 200
    assert http.get("/_sandbox/nothing").status_code == 404


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
def test_controls_refuse_what_a_proxy_passes_on(sandbox, http, header, value):
    refused = http.post("/_sandbox/reset", headers={header: value})
    assert (refused.status_code, refused.json()["code"]) == (403, "FORBIDDEN")


def test_the_page_of_the_controls_is_refused_through_a_proxy(http):
    assert http.get("/_sandbox/", headers={"via": "1.1 nginx"}).status_code == 403


def test_a_proxied_request_with_the_control_token_is_answered():
    with Sandbox(control_token="control-token-of-a-team") as shared:
        proxied = {"x-forwarded-for": "203.0.113.9"}
        with httpx.Client(base_url=shared.base_url, headers=proxied) as proxy:
            refused = proxy.post("/_sandbox/reset")
            proxy.headers["authorization"] = "Bearer control-token-of-a-team"
            answered = proxy.post("/_sandbox/reset")
    assert refused.status_code == 401
    assert answered.status_code == 200


# The clock and the counters without HTTP


MOMENT = datetime(2027, 3, 28, 0, 30, tzinfo=timezone.utc)


@each("frozen", [False, True])
def test_the_clock_shows_real_time_in_utc_or_the_time_it_is_given_and_can_start_frozen(frozen):
    before = datetime.now(timezone.utc)
    clock = Clock(frozen=frozen)
    now = clock.now()
    assert before <= now <= datetime.now(timezone.utc)
    assert now.utcoffset() == timedelta()
    assert (clock.now() == now) == frozen
    clock = Clock(MOMENT, frozen=frozen)
    for _ in range(2):
        assert clock.frozen == frozen
        assert MOMENT <= clock.now() < MOMENT + timedelta(minutes=1)
        assert (clock.now() == MOMENT) == frozen
        clock.resume()
        clock.advance(timedelta(days=9))
        clock.reset()


def test_the_clock_advances_travels_both_ways_and_is_held_where_it_stopped():
    clock = Clock(frozen=True)
    start = clock.now()
    assert clock.advance(90) == start + timedelta(seconds=90)
    assert clock.advance(timedelta(days=2)) == start + timedelta(days=2, seconds=90)
    clock.reset()
    clock.resume()
    moved = clock.advance(3600)
    time.sleep(0.01)
    assert clock.now() - moved >= timedelta(seconds=0.01)
    assert clock.now() - datetime.now(timezone.utc) > timedelta(minutes=59)
    assert clock.travel_to(MOMENT) == MOMENT
    assert MOMENT <= clock.now() < MOMENT + timedelta(minutes=1)
    athens = MOMENT.astimezone(timezone(timedelta(hours=2))) - timedelta(days=400)
    assert clock.travel_to(athens) == athens
    assert clock.now().utcoffset() == timedelta()
    clock.freeze()
    held = clock.now()
    time.sleep(0.01)
    assert clock.now() == held
    assert clock.frozen
    assert clock.travel_to(MOMENT) == clock.now() == MOMENT
    clock.reset()
    assert clock.frozen
    assert clock.now() - start < timedelta(minutes=1)


def test_an_invalid_time_or_step_leaves_the_clock_unchanged():
    clock = Clock(MOMENT, frozen=True)
    for moment in (
        datetime(1969, 12, 31, 23, 59, 59, tzinfo=timezone.utc),
        datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=2))),
        datetime(2199, 12, 31, 0, 0, 1, tzinfo=timezone.utc),
        datetime.min.replace(tzinfo=timezone.utc),
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-14))),
        MOMENT.replace(tzinfo=None),
    ):
        for use in (clock.travel_to, Clock):
            with pytest.raises(ValueError, match=r"time zone|1970 to 2199"):
                use(moment)
    for step in (timedelta(days=365 * 200), -0.001, timedelta(days=-1), float("nan"), 1e300):
        beyond = isinstance(step, timedelta) and step > timedelta()
        with pytest.raises(ValueError, match="1970 to 2199" if beyond else r"."):
            clock.advance(step)
    assert clock.now() == MOMENT


def test_requests_and_effects_are_counted_also_by_several_threads():
    clock = Clock(MOMENT, frozen=True)
    counters = Counters(clock)
    before = counters.requests
    for operation in ("bookings.get", "bookings.get", "tickets.get"):
        counters.request(operation)
    assert before == {}
    assert counters.requests == {"bookings.get": 2, "tickets.get": 1}
    assert counters.requests["bookings.create"] == 0
    with pytest.raises(TypeError):
        counters.requests["tickets.get"] = 7
    counters.effect("bookings.create", "B1")
    clock.advance(60)
    counters.effect("bookings.confirm", "B1")
    created = Effect("bookings.create", "B1", MOMENT)
    confirmed = Effect("bookings.confirm", "B1", MOMENT + timedelta(seconds=60))
    assert counters.effects == (created, confirmed)
    assert counters.effects_of("bookings.confirm") == (confirmed,)
    assert counters.effects_of("tickets.cancel") == ()
    counters.connection()
    assert counters.connections == 1
    counters.reset()
    assert (counters.requests, counters.effects, counters.connections) == ({}, (), 0)
    clock.reset()

    def count(_):
        clock.advance(1)
        counters.request("tickets.get")
        counters.effect("tickets.cancel", "T1")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(count, range(1600)))
    assert clock.now() == MOMENT + timedelta(seconds=1600)
    assert counters.requests["tickets.get"] == len(counters.effects) == 1600
