"""Real processes, killed before and after each request of each journey of an order."""

import json
import os
import sys
from collections import Counter

import pytest

from ferry_sdk import Ferry, OrderError, orders
from ferry_sdk.journal import Journal
from tests.support.processes import start
from tests.support.tiers import LONG
from tests.support.trip import PASSENGERS, selected

pytestmark = [LONG, pytest.mark.timeout(600), pytest.mark.usefixtures("look_once")]

CHILD = """
import json, os, signal, sys
from ferry_sdk import Ferry, orders
from ferry_sdk.journal import Journal

url, moment, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
subject, arguments = json.loads(sys.argv[4])
seen = 0

def count(event):
    global seen
    if seen == moment:
        os.kill(os.getpid(), signal.SIGKILL)
    seen += 1

hooks = {"request": [count], "response": [count]}
with Journal(url) as journal, Ferry(event_hooks=hooks) as ferry:
    if kind in {"confirm", "cancel"}:
        subject = orders.get(subject, journal=journal)
    getattr(orders, kind)(ferry, subject, journal=journal, **arguments)
"""


def prepared(kind, ferry, journal):
    chosen = [[selected(ferry, place)] for place in (0, 1)]
    selections = [[one.model_dump(mode="json") for one in some] for some in chosen]
    who, limit = {"passengers": PASSENGERS}, {"max_penalty": {"EUR": 1000}}
    if kind == "hold":
        return selections, who
    made = chosen[:1] if kind == "change" else chosen
    order = orders.hold(ferry, made, **who, journal=journal)
    totals = {"expect_totals": {name: str(total) for name, total in order.totals.items()}}
    if kind == "confirm":
        return order.id, totals
    orders.confirm(ferry, order, expect_totals=order.totals, journal=journal)
    if kind == "cancel":
        return order.id, limit
    return order.parts[0].booking_id, {**who, **totals, **limit, "to": selections[0]}


def check(sandbox, kind, old):
    effects = [(one.operation, one.subject) for one in sandbox.counters.effects]
    assert max(Counter(effects).values(), default=1) == 1
    assert len(sandbox.counters.effects_of("bookings.create")) <= 2
    if kind == "change" and ("bookings.cancel", old) in effects:
        before = effects[: effects.index(("bookings.cancel", old))]
        confirmed = [subject for operation, subject in before if operation == "bookings.confirm"]
        assert len({*confirmed} - {old}) == 1


@pytest.mark.parametrize("kind", ["hold", "confirm", "cancel", "change"])
def test_process_killed_at_any_request_is_resumed(kind, ferry_sandbox, tmp_path, record_property):
    settings = {"FERRY_TOKEN": ferry_sandbox.token, "FERRY_BASE_URL": ferry_sandbox.base_url}
    kills, code = 0, None
    while code != 0:
        ferry_sandbox.reset()
        url = f"sqlite:///{tmp_path / f'{kills}.db'}"
        with (
            Journal(url) as journal,
            Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry,
        ):
            arguments = prepared(kind, ferry, journal)
            words = [url, str(kills), kind, json.dumps(arguments)]
            with start([sys.executable, "-c", CHILD, *words], env=os.environ | settings) as process:
                code = process.wait(timeout=60)
            assert code in {0, -9, 137}, (kind, kills, code)
            seen = []
            for _ in range(2):
                ids = [record.id for record in journal.load_orders()]
                seen.append([resumed(ferry, one, journal) for one in ids])
                check(ferry_sandbox, kind, arguments[0])
            assert seen[0][-1:] == seen[1][-1:], kills  # a change cancels a booking of the first
        kills += code != 0
    assert kills > 3
    record_property("processes of orders killed", kills)


def resumed(ferry, order_id, journal):
    try:
        order = orders.resume(ferry, order_id, journal=journal)
    except OrderError as error:
        order = error.order
    return [part.state for part in order.parts]
