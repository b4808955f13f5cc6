"""A program that makes calls as its parent asks, and tells which modules each of them loaded.

Arguments: the kind of client, the service's address, a token, the file of a journal. Each line of
standard input is a call, as JSON; each line of standard output is what it loaded and raised.
"""

import json
import sys
from contextlib import contextmanager
from functools import partial
from operator import attrgetter

kind, url, token, journal_file = sys.argv[1:]
before = set()
"""Which modules were loaded when the call that is being made was prepared."""


def watch(shared):
    """Note the modules when a call is ready; from then on, none pauses between attempts."""
    prepare = shared.prepare

    def prepare_and_look():
        prepare()
        sys.modules["ferry_sdk._engine.retry"]._retry_delay = lambda _: 0.0
        before.update(() if before else sys.modules)

    shared.prepare = prepare_and_look


@contextmanager
def telling():
    error = None
    try:
        yield
    except Exception as failure:  # noqa: BLE001 -- it is told
        error = type(failure).__name__
    added = sorted({*sys.modules} - before) if before else []
    before.clear()
    sys.stdout.write(json.dumps({"loaded": added, "error": error}) + "\n")
    sys.stdout.flush()


def asked(client):
    watch(client._transport.shared)
    for line in sys.stdin:
        name, arguments, options = json.loads(line)
        yield partial(attrgetter(name)(client.with_options(**options)), **arguments)


def options():
    """What a client is made with: all that works along with a call."""
    from ferry_sdk import Rate
    from ferry_sdk.journal import Journal

    names = ("request", "response", "retry", "outcome")
    return {
        "token": lambda: token,
        "organisation_token": "organisation-token",
        "base_url": url,
        "journal": Journal(f"sqlite:///{journal_file}"),
        "limiter": Rate("6000/second"),
        "event_hooks": {name: [lambda event: None] for name in names},
    }


def run_sync(**more):
    from ferry_sdk import Ferry

    with Ferry(**options(), **more) as ferry:
        for call in asked(ferry):
            with telling():
                call()


async def run_async(**more):
    from ferry_sdk import AsyncFerry

    async with AsyncFerry(**options(), **more) as ferry:
        for call in asked(ferry):
            with telling():
                await call()


async def run_async_httpx():
    import httpx

    async with httpx.AsyncClient() as http:
        await run_async(http_client=http)


if kind == "sync":
    run_sync()
elif kind == "sync httpx":
    import httpx

    with httpx.Client() as http:
        run_sync(http_client=http)
elif kind == "trio":
    import trio

    trio.run(run_async)
else:
    import asyncio

    asyncio.run(run_async() if kind == "asyncio" else run_async_httpx())
