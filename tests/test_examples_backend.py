"""The example of a backend: what a browser is told, and what is recovered after a crash."""

import importlib
import socket
import sys
import threading
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import anyio
import httpx
import pytest

from ferry_sdk.journal import Journal
from ferry_sdk.planning import catalogues
from tests.support.processes import start
from tests.support.routes import know_routes
from tests.support.trip import DAY

EXAMPLES = Path(__file__).parents[1] / "examples"
SERVE = """
import sys
sys.path.insert(0, sys.argv[1])
import backend, uvicorn
url, token, base_url, folder, door = sys.argv[2:]
app = backend.create_app(url, token=token, base_url=base_url, route_cache=folder)
uvicorn.run(app, fd=int(door), log_level="error")
"""
PATIENCE = 30.0


@pytest.fixture
def url(tmp_path):
    """The address of the backend's database."""
    return f"sqlite:///{tmp_path / 'ferry.db'}"


@pytest.fixture
def visit(monkeypatch, ferry_sandbox, url):
    """Start the backend, run the steps of a browser, and stop the backend."""
    monkeypatch.syspath_prepend(EXAMPLES)
    know_routes(ferry_sandbox)
    backend = importlib.import_module("backend")

    def run(steps, payments=None):
        async def main():
            service = {"token": ferry_sandbox.token, "base_url": ferry_sandbox.base_url}
            options = {"payments": payments, "route_cache": None, "spare": 0}
            app = backend.create_app(url, **options, **service)
            transport = httpx.ASGITransport(app)
            async with (
                app.router.lifespan_context(app),
                httpx.AsyncClient(transport=transport, base_url="http://shop") as browser,
            ):
                await steps(browser)

        anyio.run(main)

    return run


@pytest.fixture
def payments(visit):
    """The payments of the backend, which outlive its restarts."""
    return importlib.import_module("backend").Payments()


CARD = {"currency": "EUR", "card": "c"}
FAMILY = {
    "origin": "Genoa",
    "destination": "Tunis",
    "car": "golf",
    "on": DAY.isoformat(),
    "back": (DAY + timedelta(days=14)).isoformat(),
    "passengers": [
        {"type": "Adult", "gender": "Female", "age": 38},
        {"type": "Adult", "gender": "Male", "age": 41},
        {"type": "Child", "gender": "Male", "age": 7},
    ],
}


async def wait_for(payments, booking_id, state):
    with anyio.fail_after(PATIENCE):
        while payments.states.get(booking_id) != state:  # noqa: ASYNC110 -- it has no event
            await anyio.sleep(0.01)


async def order_of(browser):
    """Return an order of the trip that the family finds."""
    return order((await browser.post("/trips", json=FAMILY)).json())


async def book(browser, wanted):
    """Make a booking; return it, the address of its payment, and the right payment."""
    made = (await browser.post("/bookings", json=wanted)).json()
    path = f"/bookings/{made['booking_id']}/payment"
    return made, path, {"total": made["total_price"], **CARD}


def order(found):
    """Return an order of the first offer."""
    offer = found["offers"][0]
    travellers = [
        {"type": one["type"], "first_name": name, "last_name": "Reyes"}
        for one, name in zip(FAMILY["passengers"], ("Ada", "Noor", "Leo"), strict=True)
    ]
    wanted = {"availabilities": offer["availabilities"], "vehicle": found["vehicle"]}
    return wanted | {"passengers": travellers}


def test_family_finds_a_trip_by_two_towns(visit, ferry_sandbox):
    ferry_sandbox.faults.add("server_error", "availability.search", times=None, company="CTN")

    async def steps(browser):
        found = (await browser.post("/trips", json=FAMILY)).json()
        assert ({*found["missing"]}, found["vehicle"]["code"]) == ({"CTN"}, "CAR")
        offer = found["offers"][0]
        assert offer["companies"] == ["GNV"]
        assert len(offer["availabilities"]) == 2
        made = await browser.post("/bookings", json=order(found))
        assert made.json()["total_price"] == offer["price"]

    visit(steps)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        pytest.param({"origin": "Genoaa"}, "Genoa (ITGOA)", id="town"),
        pytest.param({"car": "qqqq"}, "qqqq", id="car"),
    ],
)
def test_unknown_name_is_a_422(visit, wrong, named):
    async def steps(browser):
        reply = await browser.post("/trips", json={**FAMILY, **wrong})
        assert reply.status_code == 422
        assert named in reply.json()["message"]

    visit(steps)


def test_routes_are_read_before_the_first_customer(visit, ferry_sandbox):
    catalogues.clear_cache()

    async def steps(browser):
        before = ferry_sandbox.counters.requests
        assert before["catalogue.journeys"] == 1
        await browser.post("/trips", json=FAMILY)
        after = ferry_sandbox.counters.requests
        assert after["catalogue.journeys"] == 1
        assert after["catalogue.ports"] == before["catalogue.ports"]

    visit(steps)


def test_booking_is_created(visit):
    async def steps(browser):
        made = await browser.post("/bookings", json=await order_of(browser))
        assert made.status_code == 201

    visit(steps)


def test_other_total_is_refused(visit):
    async def steps(browser):
        _, path, payment = await book(browser, await order_of(browser))
        refused = await browser.post(path, json={**payment, "total": "1.00"})
        assert (refused.status_code, refused.json()["outcome"]) == (409, "not_sent")

    visit(steps)


def test_second_click_confirms_nothing_again(visit, ferry_sandbox):
    async def steps(browser):
        _, path, payment = await book(browser, await order_of(browser))
        await browser.post(path, json={**payment, "total": "1.00"})
        declined = await browser.post(path, json={**payment, "card": "declined"})
        assert declined.status_code == 422

        confirmed = await browser.post(path, json=payment)
        assert confirmed.status_code == 200
        assert confirmed.json()["ticket_number"]
        second_click = await browser.post(path, json=payment)
        assert second_click.json() == confirmed.json() | {"read_back": True}

    visit(steps)
    assert len(ferry_sandbox.counters.effects_of("bookings.confirm")) == 1


def test_voucher_is_served_once_it_is_ready(visit, ferry_sandbox):
    async def steps(browser):
        _, path, payment = await book(browser, await order_of(browser))
        confirmed = (await browser.post(path, json=payment)).json()
        address = f"/tickets/{confirmed['ticket_id']}/voucher"
        # This company makes the voucher later.
        assert (await browser.get(address)).status_code == 404
        ferry_sandbox.clock.advance(timedelta(minutes=15))
        assert (await browser.get(address)).content.startswith(b"%PDF-")

    visit(steps)


@pytest.mark.slow
def test_failed_tickets_release_the_money(visit, ferry_sandbox, payments):
    sent = {}
    ferry_sandbox.clock.freeze()
    ferry_sandbox.faults.add("fails_later", "bookings.confirm", index=0, seconds=60)

    async def steps(browser):
        found = (await browser.post("/trips", json=FAMILY)).json()
        offers = [one for one in found["offers"] if one["companies"] == ["CTN"]]  # of one ticket
        made, path, payment = await book(browser, order(found | {"offers": offers}))
        clicks = [await browser.post(path, json=payment) for _ in range(2)]
        assert [click.status_code for click in clicks] == [200, 200]
        assert clicks[1].json()["ticket_number"] is None  # the tickets are being issued
        assert payments.states == {made["booking_id"]: "authorised"}
        sent.update(path=path, payment=payment)

    async def a_minute_later(browser):
        await wait_for(payments, *payments.states, "released")
        assert (await browser.post(sent["path"], json=sent["payment"])).status_code == 200
        assert [*payments.states.values()] == ["authorised"]

    async def another_minute_later(_):
        await wait_for(payments, *payments.states, "captured")

    visit(steps, payments)
    ferry_sandbox.clock.advance(60)
    visit(a_minute_later, payments)
    visit(another_minute_later, payments)


def test_money_for_some_tickets_awaits_a_person(visit, ferry_sandbox, payments, caplog):
    caplog.set_level("INFO", "shop")
    ferry_sandbox.clock.freeze()
    ferry_sandbox.faults.add("fails_later", "bookings.confirm", index=0, seconds=60)

    async def steps(browser):
        _, path, payment = await book(browser, await order_of(browser))
        await browser.post(path, json=payment)

    async def a_minute_later(_):
        with anyio.fail_after(PATIENCE):
            while "partially_ticketed" not in caplog.text:  # noqa: ASYNC110 -- it has no event
                await anyio.sleep(0.01)

    visit(steps, payments)
    ferry_sandbox.clock.advance(60)
    visit(a_minute_later, payments)
    assert [*payments.states.values()] == ["authorised"]


@pytest.mark.slow
def test_order_of_unknown_outcome_is_not_repeated(visit, ferry_sandbox):
    ferry_sandbox.faults.add("lose_reply", "bookings.create")
    ids = []

    async def steps(browser):
        wanted = await order_of(browser)
        lost = await browser.post("/bookings", json=wanted)
        again = await browser.post("/bookings", json=wanted)
        assert (lost.status_code, again.status_code) == (202, 409)
        assert lost.json()["outcome"] == again.json()["outcome"] == "unknown"
        assert lost.json()["correlation_id"] == again.json()["correlation_id"]
        ids.append(lost.json()["correlation_id"])

    visit(steps)
    assert ferry_sandbox.counters.requests["bookings.create"] == 1

    async def the_next_day(browser):
        assert (await browser.get("/to-ask")).json() == ids

    visit(the_next_day)


def test_lapsed_booking_releases_the_money(visit, ferry_sandbox, payments):

    async def order_and_leave(browser):
        made, path, payment = await book(browser, await order_of(browser))
        refused = await browser.post(path, json={**payment, "total": "1.00"})
        assert refused.status_code == 409
        assert payments.states == {made["booking_id"]: "authorised"}

    async def the_next_day(_):
        await wait_for(payments, *payments.states, "released")

    visit(order_and_leave, payments)
    ferry_sandbox.clock.advance(timedelta(days=1))
    visit(the_next_day, payments)


@pytest.mark.parametrize(
    ("kind", "details", "status"),
    [
        pytest.param("rate_limited", {"retry_after": 3600}, 503, id="rate limited"),
        pytest.param("not_acceptable", {}, 502, id="not acceptable"),
        pytest.param("server_error", {}, 202, id="unknown"),
    ],
)
def test_failure_names_no_traveller(visit, ferry_sandbox, kind, details, status):
    async def steps(browser):
        wanted = await order_of(browser)
        ferry_sandbox.faults.add(kind, "bookings.create", **details)
        reply = await browser.post("/bookings", json=wanted)
        assert reply.status_code == status
        assert "Reyes" not in reply.text

    visit(steps)


def test_full_service_says_when_to_come_again(visit, ferry_sandbox):
    async def steps(browser):
        wanted = await order_of(browser)
        ferry_sandbox.faults.add("rate_limited", "bookings.create", retry_after=3600)
        reply = await browser.post("/bookings", json=wanted)
        assert reply.headers["Retry-After"] == "3600"

    visit(steps)


def test_killed_confirmation_is_recovered(visit, ferry_sandbox, url, payments, tmp_path):
    ferry_sandbox.faults.add("delay_after", "bookings.confirm", seconds=60)
    with socket.create_server(("127.0.0.1", 0)) as door:
        command = [sys.executable, "-c", SERVE, str(EXAMPLES), url, ferry_sandbox.token]
        command += [ferry_sandbox.base_url, str(tmp_path / "routes"), str(door.fileno())]
        process = start(command, pass_fds=[door.fileno()])
        address = f"http://127.0.0.1:{door.getsockname()[1]}"
    try:
        with httpx.Client(base_url=address, timeout=PATIENCE, trust_env=False) as browser:
            found = browser.post("/trips", json=FAMILY).json()
            made = browser.post("/bookings", json=order(found)).json()

            def confirm():
                payment = {"total": made["total_price"], **CARD}
                with suppress(httpx.HTTPError):
                    browser.post(f"/bookings/{made['booking_id']}/payment", json=payment)

            waiting = threading.Thread(target=confirm)
            waiting.start()

            until = time.monotonic() + PATIENCE
            while not ferry_sandbox.counters.effects_of("bookings.confirm"):
                assert time.monotonic() < until
                time.sleep(0.01)

            process.kill()
            waiting.join(PATIENCE)
    finally:
        process.kill()
        process.wait()

    with Journal(url) as journal:
        assert [entry.operation for entry in journal.unresolved()] == ["bookings.confirm"]

    async def after_the_crash(browser):
        await wait_for(payments, made["booking_id"], "captured")
        assert (await browser.get("/to-ask")).json() == []

    visit(after_the_crash, payments)
    with Journal(url) as journal:
        assert journal.unresolved() == ()
    assert len(ferry_sandbox.counters.effects_of("bookings.confirm")) == 1
