"""A program whose event loop is closed while calls are in flight.

Arguments: the service's address, and how far the calls are. What asyncio says of the pending tasks
is left out; the rest of standard error is what the library says.
"""

import asyncio
import gc
import sys

from ferry_sdk import AsyncFerry, Timeout

url, where = sys.argv[1:3]
SELECTION = {"availability_id": "a", "tariff_id": "t", "place_id": "p"}
TRAVELLER = {"type": "Adult", "first_name": "Ada", "last_name": "Reyes"}


async def token():
    await asyncio.Event().wait()


async def reach(calls):
    """Begin calls, and let them come as far as they can."""
    tasks = [asyncio.ensure_future(call) for call in calls]
    for _ in range(30):
        await asyncio.sleep(0.01)
    return tasks


def calls(ferry):
    if where == "a search of several companies":
        adult = {"type": "Adult", "gender": "Female", "age": 34}
        return [ferry.trips.search("Genoa", "Tunis", on="2126-07-14", passengers=[adult])]
    if where == "a handshake":
        return [ferry.mcp.countries(), ferry.mcp.countries()]
    if where == "a write":
        booking = {"availabilities": [SELECTION], "passengers": [TRAVELLER]}
        return [ferry.bookings.create(**booking), ferry.bookings.confirm("b-1")]
    return [ferry.catalogue.ports(), ferry.catalogue.ports()]


def main():
    loop = asyncio.new_event_loop()
    options = {}
    if where == "a deadline":
        options["deadline"] = 30.0
    if where == "a token function":
        options["token"] = token
    ferry = AsyncFerry(**{"token": "t"} | options, base_url=url, timeout=Timeout(read=30.0))
    tasks = loop.run_until_complete(reach(calls(ferry)))
    assert not any(task.done() for task in tasks)
    loop.set_exception_handler(lambda *_: None)  # asyncio says itself that tasks are pending
    loop.close()
    for task in tasks:
        task._log_destroy_pending = False
    del ferry, tasks, loop


main()
gc.collect()
