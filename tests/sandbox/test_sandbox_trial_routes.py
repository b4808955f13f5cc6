"""The trial routes: each misbehaves in one way, and no catalogue knows them."""

from datetime import datetime, timedelta

import httpx
import pytest
from offline_service import ADULT, GUEST, NOW, ServiceOverHttp, selection

from ferry_sdk.sandbox import Sandbox
from tests.support.tables import each
from tests.support.tiers import LONG
from tests.support.wire import TLS

DAY = (NOW + timedelta(days=30)).date().isoformat()


@pytest.fixture(scope="module")
def running():
    """Return a service at a fixed time, and an HTTP client of it."""
    with Sandbox(now=NOW, frozen=True) as sandbox:
        headers = {"accept": "application/json", "authorization": f"Bearer {sandbox.token}"}
        url = sandbox.base_url
        with httpx.Client(verify=TLS, base_url=url, headers=headers, timeout=60) as http:
            yield sandbox, http


@pytest.fixture
def trial(running):
    """Return the caller of a service after a reset."""
    sandbox, http = running
    sandbox.reset()
    return Trial(sandbox, http)


class Trial(ServiceOverHttp):
    """A caller who takes everything from the list of the trial routes."""

    def route(self, code):
        listed = self._http.get("/_sandbox/trial-routes").json()["routes"]
        return next(each for each in listed if each["arrive_code"] == code)

    def search_body(self, code):
        route = self.route(code)
        request = {name: route[name] for name in ("company", "depart_code", "arrive_code")}
        request |= {"out_journey_id": route["journey_id"], "out_at": DAY, "out_time": "00:00"}
        return {"request": request, "passengers": [ADULT]}

    def found(self, code, protocol="availability.search"):
        return self.perform(protocol, self.search_body(code))

    def body(self, code):
        return {"availabilities": [selection(self.found(code)[0])], "passengers": [GUEST]}

    def book(self, code):
        return self.perform("bookings.create", self.body(code))

    def error(self, code, operation="bookings.create"):
        return self.error_of(operation, self.body(code))


def test_all_goes_well_on_one_of_them(trial):
    created = trial.book("XXALL")
    trial.confirm(created)
    assert trial.booking(created)["stage"] == "ticketed"
    trial.perform("bookings.cancel", booking_id=created["booking_id"])


@each("code", ["XXNIL", "XXFUL"])
@each("protocol", ["availability.search", "mcp.search_availability"])
def test_nothing_sails_or_everything_is_sold(trial, code, protocol):
    error = trial.error_of(protocol, trial.search_body(code))
    assert error.code == "AVAILABILITY_ERROR"


def test_a_search_fails(trial):
    error = trial.error_of("availability.search", trial.search_body("XXERR"))
    assert (error.status, error.code) == (503, "SERVER_ERROR")


@LONG
def test_a_search_is_slow(trial, running):
    with pytest.raises(httpx.TimeoutException):
        running[1].post("/api/availability", json=trial.search_body("XXSLO"), timeout=1)
    assert trial.found("XXSLO")


def test_a_price_changes_when_the_booking_is_created(trial):
    found = trial.found("XXPRC")[0]
    chosen = selection(found)
    shown = next(each for each in found["tariffs"] if each["id"] == chosen["tariff_id"])
    created = trial.perform("bookings.create", availabilities=[chosen], passengers=[GUEST])
    assert created["total_price"] == pytest.approx(shown["amount"] * 1.1, abs=0.01)


def test_a_place_is_always_taken(trial):
    for _ in range(2):
        error = trial.error("XXTKN")
        assert (error.status, error.code) == (409, "BOOKING_CREATE_ERROR")
    assert trial.sandbox.counters.effects == ()


def test_a_reply_is_lost_although_the_booking_exists(trial):
    body = trial.body("XXLST")
    with pytest.raises(httpx.RemoteProtocolError):
        trial.perform("bookings.create", body)
    (effect,) = trial.sandbox.counters.effects
    assert trial.booking({"booking_id": effect.subject})["stage"] == "payment_due"


def test_a_ticket_fails_at_once_or_later(trial):
    at_once = trial.book("XXFAI")
    assert trial.error_of("bookings.confirm", id=at_once["booking_id"]).status == 409
    assert trial.booking(at_once)["stage"] == "rejected"
    later = trial.book("XXLAT")
    trial.confirm(later)
    assert trial.booking(later)["stage"] == "in_progress"
    trial.clock.advance(10)
    assert trial.booking(later)["stage"] == "rejected"


def test_a_sailing_is_cancelled_after_the_confirmation(trial):
    created = trial.book("XXCAN")
    assert trial.booking(created)["stage"] == "payment_due"
    trial.confirm(created)
    assert trial.booking(created)["stage"] == "voided"
    fee = trial.perform("bookings.cancel_fee", id=created["booking_id"])
    assert fee["refund_amount"] == created["total_price"]


def test_a_departure_moves_once_after_the_confirmation(trial):
    found = trial.found("XXMOV")[0]
    body = {"availabilities": [selection(found)], "passengers": [GUEST]}
    created = trial.perform("bookings.create", body)
    trial.confirm(created)
    for _ in range(2):
        journey = trial.booking(created)["journey_details"]["outward"]
        late = datetime.fromisoformat(journey["depart_at"])
        assert late - datetime.fromisoformat(found["depart_at"]) == timedelta(hours=1)


def test_no_catalogue_knows_the_trial_routes(trial, running):
    _, http = running
    for path in ("/api/port", "/api/journey"):
        method = "POST" if path == "/api/journey" else "GET"
        assert "XXSBX" not in http.request(method, path).text
    for name in ("ports", "companies", "countries", "departures"):
        params = {"uri": f"resource://service/{name}"}
        message = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": params}
        read = http.post("/mcp", json=message).text
        assert "SANDBOX" not in read
        assert "XX" not in read
    assert "SANDBOX" not in trial.sandbox.network.companies


def test_the_faults_of_a_trial_route_are_not_listed_and_hit_no_other(trial):
    trial.error("XXTKN")
    assert (trial.faults.pending, trial.faults.taken) == ((), ())
    assert trial.create()["stage"] == "payment_due"


def test_each_trial_route_has_a_way_back(trial, running):
    listed = running[1].get("/_sandbox/trial-routes").json()["routes"]
    assert len(listed) == len({each["journey_id"] for each in listed}) == 24
    assert {each["company"] for each in listed} == {"SANDBOX"}
