"""Real processes, killed before and after each request of each journey of an order."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from typing import Any

import pytest

from ferry_sdk import Ferry, OrderError, orders
from ferry_sdk.journal import Journal
from tests.support.processes import start
from tests.support.tiers import LONG
from tests.support.trip import PASSENGERS, found

pytestmark = [LONG, pytest.mark.timeout(600), pytest.mark.usefixtures("look_once")]

CHILD = """
import json, os, signal, sys
from ferry_sdk import Ferry, orders
from ferry_sdk.journal import Journal
from tests.support.trip import PASSENGERS

url, moment, kind, arguments = sys.argv[1], int(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4])
seen = 0

def count(event):
    global seen
    if seen == moment:
        os.kill(os.getpid(), signal.SIGKILL)
    seen += 1

hooks = {"request": [count], "response": [count]}
with Journal(url) as journal, Ferry(event_hooks=hooks) as ferry:
    if kind == "hold":
        orders.hold(ferry, arguments["selections"], passengers=PASSENGERS, journal=journal)
    elif kind == "change":
        orders.change(
            ferry, arguments["booking_id"], to=arguments["selections"][0], passengers=PASSENGERS,
            expect_totals=arguments["totals"], max_penalty={"EUR": 1000}, journal=journal,
        )
    else:
        order = orders.get(arguments["order_id"], journal=journal)
        if kind == "confirm":
            orders.confirm(ferry, order, expect_totals=arguments["totals"], journal=journal)
        else:
            orders.cancel(ferry, order, max_penalty={"EUR": 1000}, journal=journal)
"""


def prepared(kind: str, ferry: Ferry, journal: Journal) -> dict[str, Any]:
    """Make what the journey needs, and return its arguments."""
    sailing = found(ferry)
    tariff = next(one for one in sailing.tariffs if one.type == "Ticket")
    chosen = [[sailing.select(tariff=tariff, place=sailing.places[one])] for one in (0, 1)]
    arguments: dict[str, Any] = {
        "selections": [[one.model_dump(mode="json") for one in some] for some in chosen]
    }
    if kind == "hold":
        return arguments
    made = chosen[:1] if kind == "change" else chosen
    order = orders.hold(ferry, made, passengers=PASSENGERS, journal=journal)
    arguments["totals"] = {name: str(total) for name, total in order.totals.items()}
    if kind != "confirm":
        order = orders.confirm(ferry, order, expect_totals=order.totals, journal=journal)
    return {**arguments, "order_id": order.id, "booking_id": order.parts[0].booking_id}


def check(sandbox: Any, kind: str, old: object) -> None:
    """Check what the service counted: nothing twice, and the old one not before the new one."""
    effects = [(one.operation, one.subject) for one in sandbox.counters.effects]
    assert max(Counter(effects).values(), default=1) == 1
    assert len(sandbox.counters.effects_of("bookings.create")) <= 2
    if kind == "change" and ("bookings.cancel", old) in effects:
        before = effects[: effects.index(("bookings.cancel", old))]
        confirmed = [subject for operation, subject in before if operation == "bookings.confirm"]
        assert len({*confirmed} - {old}) == 1


@pytest.mark.parametrize("kind", ["hold", "confirm", "cancel", "change"])
def test_a_process_that_is_killed_at_any_request_is_resumed(
    kind, ferry_sandbox, tmp_path, record_property
) -> None:
    settings = {"FERRY_TOKEN": ferry_sandbox.token, "FERRY_BASE_URL": ferry_sandbox.base_url}
    kills, is_killed = 0, True
    while is_killed:
        ferry_sandbox.reset()
        url = f"sqlite:///{tmp_path / f'{kills}.db'}"
        with (
            Journal(url) as journal,
            Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as ferry,
        ):
            arguments = prepared(kind, ferry, journal)
            is_killed = killed(url, kills, kind, arguments, settings)
            seen: list[list[list[str]]] = []
            for _ in range(2):
                ids = [record.id for record in journal.load_orders()]
                seen.append([resumed(ferry, one, journal) for one in ids])
                check(ferry_sandbox, kind, arguments.get("booking_id"))
            assert seen[0][-1:] == seen[1][-1:], kills  # a change cancels a booking of the first
        kills += is_killed
    assert kills > 3
    record_property("processes of orders killed", kills)


def killed(
    url: str, moment: int, kind: str, arguments: dict[str, Any], settings: dict[str, str]
) -> bool:
    command = [sys.executable, "-c", CHILD, url, str(moment), kind, json.dumps(arguments)]
    with start(command, env={**os.environ, **settings}) as process:
        code = process.wait(timeout=60)
    assert code in {0, -9, 137}, (kind, moment, code)
    return code != 0


def resumed(ferry: Ferry, order_id: str, journal: Journal) -> list[str]:
    try:
        order = orders.resume(ferry, order_id, journal=journal)
    except OrderError as error:
        order = error.order
    return [part.state for part in order.parts]
