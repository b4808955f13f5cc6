"""How many Python functions a call enters, which depends on no machine and no load.

A call may enter at most 10 % more than `function_calls.json` records for this Python, or for the
newest recorded one before it. `COMMAND` records anew, and prints without ``--record``; record with
the lowest versions of the dependencies: most of them enter more functions than the newest ones.
"""

import asyncio
import gc
import json
import re
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks._memory_client import AsyncMemoryClient, MemoryClient, MemoryReply, always, by_word
from benchmarks._payload import CREATED, FEE, REFUSED, TOKEN, booking, mcp_created
from ferry_sdk import AsyncFerry, Ferry, FerryError, Travellers
from ferry_sdk._runtime import threads
from ferry_sdk.journal import Journal
from tests.support.tables import each

RECORD = Path(__file__).with_name("function_calls.json")
COMMAND = "python -m tests.transport.test_function_calls --record"
SPARE = 1.1
WARM_UPS = 3
"""Calls before the counted ones: they load modules and open the journal and the MCP session."""
ROUNDS = 5
PARTIES = [
    Travellers([{**one, "type": None} for one in booking(number)["passengers"]])
    for number in range(WARM_UPS + ROUNDS)
]
"""Made once, as a shop does: the same list is searched and booked."""
HARNESS = ("benchmarks", __name__.partition(".")[0])
WITH_A_UUID = always(MemoryReply(CREATED, request_id="4ee86a9c-1e54-4bd2-9b31-2f3c3b8d7e6f"))


def confirmed(_url, content):
    reply = {"status": "confirmed", "ticket_id": "t-1", "ticket_number": "CTN-0001"}
    return MemoryReply(json.dumps({"booking_id": json.loads(content)["id"], **reply}).encode())


def create(ferry, number):
    return ferry.bookings.create(**booking(number))


def create_with_travellers(ferry, number):
    arguments = booking(number)
    (selection,) = arguments["availabilities"]
    arguments["availabilities"] = [{**selection, "depart_at": "2026-07-14T00:20:00+03:00"}]
    return ferry.bookings.create(**arguments | {"passengers": PARTIES[number]})


CASES = {
    "create": (always(MemoryReply(CREATED)), create, "BookingCreated"),
    "create, id is a UUID": (WITH_A_UUID, create, "BookingCreated"),
    "read": (
        always(MemoryReply(FEE)),
        lambda ferry, number: ferry.bookings.cancel_fee(f"b-{number}"),
        "CancellationFee",
    ),
    "refused create": (always(MemoryReply(REFUSED, 422)), create, "BookingCreateError"),
    "MCP create": (
        by_word(mcp_created()),
        lambda ferry, number: ferry.mcp.create_booking(**booking(number)),
        "BookingCreated",
    ),
    "confirmation with a journal": (
        confirmed,
        lambda ferry, number: ferry.bookings.confirm(f"b-{number}"),
        "BookingConfirmation",
    ),
}
"""The reply to a URL and a body, the call of a number, and the type that it gives or raises."""
WITH_TRAVELLERS = (always(MemoryReply(CREATED)), create_with_travellers, "BookingCreated")
ROWS = [f"{kind} {name}" for name in CASES for kind in ("sync", "async")]


class Counter:
    def __init__(self):
        self.counts = {"ferry_sdk": 0, "all": 0}

    def __call__(self, frame, event, _argument):
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if event == "call" and package not in HARNESS:
            self.counts["all"] += 1
            self.counts["ferry_sdk"] += package == "ferry_sdk"


def no_thread(*_, **__):
    raise threads.NoThreadError


async def outcome_of(call, ferry, number):
    try:
        result = call(ferry, number)
        return await result if isinstance(ferry, AsyncFerry) else result
    except FerryError as error:
        return error


async def counts_of(row, cases=CASES):
    kind, _, name = row.partition(" ")
    answer, call, expected = cases[name]
    settings: Any = {"base_url": "https://ferry.example", "max_retries": 0}
    journal = Journal("sqlite://")
    if "journal" in name:
        settings["journal"] = journal
    ferry = (
        Ferry(TOKEN, http_client=MemoryClient(answer), **settings)
        if kind == "sync"
        else AsyncFerry(TOKEN, http_client=AsyncMemoryClient(answer), **settings)
    )
    for number in range(WARM_UPS):
        await outcome_of(call, ferry, number)
    counters = [Counter() for _ in range(ROUNDS)]
    re.purge()  # an earlier row may have compiled the patterns of the same travellers
    gc.disable()  # the collector calls functions of other libraries
    previous = sys.getprofile()
    try:
        with patch.object(threads.ThreadCall, "start", no_thread):
            for number, counter in enumerate(counters, WARM_UPS):
                sys.setprofile(counter)
                outcome = await outcome_of(call, ferry, number)
                sys.setprofile(previous)
                assert type(outcome).__name__ == expected, outcome
    finally:
        sys.setprofile(previous)
        gc.enable()
        journal.close()
    return {name: max(one.counts[name] for one in counters) for name in ("ferry_sdk", "all")}


def load():
    return json.loads(RECORD.read_text(encoding="utf-8"))


def test_a_call_enters_no_more_functions_than_recorded():
    record = {tuple(map(int, name.split("."))): rows for name, rows in load().items()}
    recorded = record[max(version for version in record if version <= sys.version_info)]
    too_many = []
    for row in ROWS:
        counts, limits = asyncio.run(counts_of(row)), recorded[row]
        if any(count > SPARE * limits[name] for name, count in counts.items()):
            too_many.append(f"{row}: {counts}, recorded {limits}")
    assert not too_many, f"to record anew: {COMMAND}"


@each("kind", ["sync", "async"])
def test_a_create_with_travellers_enters_few_more_functions_than_one_with_dicts(kind):
    dicts, travellers = (
        asyncio.run(counts_of(f"{kind} create", cases))
        for cases in (CASES, {"create": WITH_TRAVELLERS})
    )
    print(f"dicts {dicts}, travellers {travellers}")  # noqa: T201 -- pytest shows it
    assert {name for name, count in travellers.items() if count > 1.15 * dicts[name]} == set()


def main(arguments):
    counts = {row: asyncio.run(counts_of(row)) for row in ROWS}
    for row, numbers in counts.items():
        print(f"{row}: {numbers}")  # noqa: T201 -- a command
    if "--record" in arguments:
        record = load() | {f"{sys.version_info[0]}.{sys.version_info[1]}": counts}
        RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
