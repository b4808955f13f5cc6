"""What the pictures of the documentation show: outputs of the package on 4 May 2026.

`scripts.pictures` draws them. A test makes them too, and compares their hashes with those that were
kept when the pictures were drawn; it needs no browser.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import sys
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import httpx
import pexpect
import time_machine
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from ferry_sdk import AsyncFerry, Ferry, Traveller, Travellers, TripSearch, offers
from ferry_sdk.agents import AsyncToolkit, http_app
from ferry_sdk.journal import Journal
from ferry_sdk.notebook import fares_by_day, network_map, prices_over_time
from ferry_sdk.sandbox import Sandbox

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from matplotlib.figure import Figure

ROOT = Path(__file__).parents[1]
MOMENT = datetime(2026, 5, 4, 9, tzinfo=UTC)
"""The moment at which the outputs of the documents are recorded."""
DAY = date(2026, 6, 3)
SEED = 1
"""With a seed, the ids of bookings and tickets are the same in each run."""
WIDTH = 86
"""The columns of the terminal."""
ADA = Traveller(first_name="Ada", last_name="Reyes", gender="Female", birth_date=date(1991, 4, 2))
LEO = Traveller(first_name="Léo", last_name="Reyes", gender="Male", birth_date=date(2019, 8, 9))
PARTY = Travellers([ADA, LEO])
FERRY = f"""
import datetime, sys, time_machine
sys.argv[0] = "ferry"
time_machine.travel(datetime.datetime.fromisoformat("{MOMENT.isoformat()}"), tick=False).start()
from ferry_sdk.__main__ import main
main()
"""
"""The program of the command, at the moment of the documents."""
ESCAPE = re.compile(r"\x1b\[\??[0-9;]*[A-Za-z]|\n|[^\x1b\n]+")
CARD = "ferry-sdk/card"
CARD_PAGE = ROOT / "ferry_sdk" / "agents" / "mcp_server" / "approval_card.html"
MCP = "2026-07-28"
"""The version of MCP that has no handshake."""


# ---- A notebook -------------------------------------------------------------------------------


def trip_table(sandbox: Sandbox) -> str:
    """Return the table of a search."""
    with Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        return html_of(trips_of(ferry))


def sailing_card(sandbox: Sandbox) -> str:
    """Return the card of the cheapest sailing of a search."""
    with Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        return html_of(trips_of(ferry)[0].outward)


def price_calendar(sandbox: Sandbox) -> str:
    """Return the table of a price calendar of ten days."""
    end = DAY + timedelta(days=9)
    with Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        calendar = ferry.trips.calendar("Genoa", "Tunis", start=DAY, end=end, passengers=PARTY)
    return html_of(calendar)


def trips_of(ferry: Ferry, *, on: date = DAY) -> TripSearch:
    """Return a search for the trips of a week."""
    return ferry.trips.search("Genoa", "Tunis", on=on, flexible=3, passengers=PARTY)


def html_of(shown: Any) -> str:  # noqa: ANN401 -- whatever a notebook displays
    """Return what a notebook displays."""
    html: str = shown._repr_html_()
    return html


# ---- Charts -----------------------------------------------------------------------------------


def fare_chart(sandbox: Sandbox) -> Figure:
    """Return the chart of the fares of four weeks."""
    middles = [DAY + timedelta(days=7 * week) for week in range(4)]
    with Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        searches = [trips_of(ferry, on=middle) for middle in middles]
    return fares_by_day(trip.outward for trips in searches for trip in trips)


def price_chart(sandbox: Sandbox) -> Figure:
    """Return the chart of the prices that were seen in six weeks before a day."""
    with (
        TemporaryDirectory() as folder,
        Journal(f"sqlite:///{folder}/ferry.db") as journal,
        Ferry(sandbox.token, base_url=sandbox.base_url) as ferry,
    ):
        for week in range(7):
            moment = MOMENT + timedelta(days=7 * week)
            with time_machine.travel(moment, tick=False):
                for company in ("BALEARIA", "FRSIBERIA"):
                    see_price(ferry, journal, company, key=f"{company} {week}")
        return prices_over_time(offers.history(journal, "Tarifa", "MATNG"))


def see_price(ferry: Ferry, journal: Journal, company: str, *, key: str) -> None:
    """Make the search of a new wish: its rule is true at once, and the event ends the watch."""
    day = MOMENT.date() + timedelta(days=47)
    wish = offers.Wish(
        "Tarifa",
        "MATNG",
        days=(day, day),
        passengers=PARTY,
        companies=[company],
        rules=[offers.Below("1000", "EUR")],
    )
    offers.add(journal, wish, key=key)
    every = timedelta(hours=6)
    with offers.watch(
        ferry, journal, deadline=120, every=every, max_calls="500/hour", keys=[key]
    ) as events:
        next(events)


def network_chart(sandbox: Sandbox) -> Figure:
    """Return the map of a company's network."""
    with Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        ports, departures = ferry.mcp.ports(), ferry.mcp.departures()
    routes = {(one.depart_code, one.arrive_code) for one in departures if is_of_gnv(one.company)}
    return network_map(ports, routes=routes)


def is_of_gnv(company: Any) -> bool:  # noqa: ANN401 -- as the service sends it
    """Return True for the company GNV."""
    return isinstance(company, dict) and company["code"] == "GNV"


def parts_of(figure: Figure) -> str:
    """Return what a chart shows in words and numbers, which do not depend on fonts."""
    (axes,) = figure.axes
    parts = {
        "title": axes.get_title("left"),
        "labels": [axes.get_xlabel(), axes.get_ylabel()],
        "texts": sorted(text.get_text() for text in axes.texts),
        "widths": [line.get_linewidth() for line in axes.lines],
        "lines": [rounded(line.get_xydata()) for line in axes.lines],
        "points": [rounded(group.get_offsets()) for group in axes.collections],
        "land": [len(patch.get_path().vertices) for patch in axes.patches],
    }
    return json.dumps(parts)


def rounded(points: Any) -> list[list[float]]:  # noqa: ANN401 -- an array of numpy
    """Return points with few decimals."""
    return [[round(float(value), 4) for value in point] for point in points]


# ---- The terminal -----------------------------------------------------------------------------


def search_command(sandbox: Sandbox) -> str:
    """Return what `ferry search` prints."""
    line = f"search Genova Tunis --on {DAY} --flexible 3 --adult 35F --child 6M"
    return run_command(sandbox, line)


def cancel_command(sandbox: Sandbox) -> str:
    """Return what `ferry cancel` prints until its question."""
    with Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        trip = trips_of(ferry)[0]
        booking = ferry.bookings.create(availabilities=trip.select(), passengers=PARTY)
        ferry.bookings.confirm(booking.booking_id)
    return run_command(sandbox, f"cancel {booking.booking_id}", until="[y/N]")


def run_command(sandbox: Sandbox, line: str, *, until: str = "") -> str:
    """Return what a terminal shows after a command, or at its question."""
    with TemporaryDirectory() as folder:
        unset = ("FERRY_", "NO_COLOR", "COLUMNS")
        variables = {name: os.environ[name] for name in os.environ if not name.startswith(unset)}
        variables |= {
            "FERRY_BASE_URL": sandbox.base_url,
            "FERRY_TOKEN": sandbox.token,
            "PYTHONPATH": str(ROOT),
            "PYTHONUTF8": "1",
            "TERM": "xterm-256color",
            "XDG_CACHE_HOME": folder,
        }
        child = pexpect.spawn(
            sys.executable,
            ["-c", FERRY, *line.split()],
            cwd=folder,
            env=variables,
            timeout=60,
            dimensions=(40, WIDTH),
            encoding="utf-8",
        )
        try:
            child.expect(re.escape(until) + "[^:]*: " if until else pexpect.EOF)
            printed = f"{child.before}{child.after if until else ''}"
        finally:
            child.close(force=True)
    return f"\x1b[1m$ ferry {line}\x1b[0m\n{screen(printed)}"


def screen(printed: str) -> str:
    """Return what a terminal shows at last: lines of progress are erased from it."""
    lines = [""]
    row = 0
    for part in ESCAPE.findall(printed.replace("\r", "")):
        if part == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif part.endswith("A") and part.startswith("\x1b["):
            row -= int(part[2:-1] or 1)
        elif part == "\x1b[2K":
            lines[row] = ""
        elif not part.startswith("\x1b[") or part.endswith("m"):
            lines[row] += part
    return "\n".join(lines).rstrip("\n")


# ---- A chat, and the page of the service ------------------------------------------------------


def approval_card(sandbox: Sandbox) -> str:
    """Return what the card of a booking shows, and how it looks."""
    secret = secrets.token_urlsafe(32)
    ferry = AsyncFerry(sandbox.token, base_url=sandbox.base_url)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with ferry:
            yield

    toolkit = AsyncToolkit(ferry, writes=True, spend_limit={"EUR": 500})
    tools = Mount("/agents", http_app(toolkit, secret=secret))
    app = Starlette(routes=[tools], lifespan=lifespan)
    headers = {
        "accept": "application/json, text/event-stream",
        "authorization": f"Bearer {secret}",
        "mcp-method": "tools/call",
        "mcp-protocol-version": MCP,
    }
    search = {"origin": "Genoa", "destination": "Tunis", "on": f"{DAY}", "flexible": 3}
    people = [
        {"type": "Adult", "gender": "Female", "age": 35},
        {"type": "Child", "gender": "Male", "age": 6},
    ]
    with TestClient(app, base_url="http://127.0.0.1", headers=headers) as host:
        found = call_tool(host, "trips_find", **search, passengers=people)
        offers = json.loads(found["content"][0]["text"])["result"]["offers"]
        travellers = [
            {"type": "Adult", "first_name": "Ada", "last_name": "Reyes"},
            {"type": "Child", "first_name": "Léo", "last_name": "Reyes"},
        ]
        asked = call_tool(host, "bookings_create", offer=offers[0]["offer"], passengers=travellers)

    # The secrets of the card are other ones in each run, and are not shown.
    card = asked["_meta"][CARD]
    shown = {name: card[name] for name in ("question", "rows", "expires_at")}
    look, _, _ = CARD_PAGE.read_text("utf-8").partition("<script>")
    return json.dumps({"card": shown, "look": look})


def call_tool(host: TestClient, name: str, **arguments: object) -> dict[str, Any]:
    """Call a tool as a host that shows cards."""
    pages = {"mimeTypes": ["text/html;profile=mcp-app"]}
    meta = {
        "io.modelcontextprotocol/protocolVersion": MCP,
        "io.modelcontextprotocol/clientInfo": {"name": "host", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {
            "extensions": {"io.modelcontextprotocol/ui": pages}
        },
    }
    params = {"name": name, "arguments": arguments, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    reply = host.post("/agents/mcp", json=message, headers={"mcp-name": name}).text
    data = re.search(r"^data: (.+)$", reply, re.MULTILINE)
    result: dict[str, Any] = json.loads(data[1] if data else reply)["result"]
    return result


def service_page(sandbox: Sandbox) -> str:
    """Return the page of the local service, and what it shows of the document."""
    parts = [httpx.get(f"{sandbox.base_url}/{name}").text for name in ("docs", "docs/page.css")]
    document = httpx.get(f"{sandbox.base_url}/openapi.json").json()
    # The version is left out, so that a release needs no new pictures.
    parts += [document["info"]["title"], document["info"]["description"]]
    # The controls, whose paths are not below /api, are further down than the picture reaches.
    parts += [path for path in document["paths"] if path.startswith("/api/")]
    return "\n".join(parts)


# ---- All of them ------------------------------------------------------------------------------

OUTPUTS: dict[str, Callable[[Sandbox], str | Figure]] = {
    "trips": trip_table,
    "sailing": sailing_card,
    "calendar": price_calendar,
    "fares": fare_chart,
    "prices": price_chart,
    "network": network_chart,
    "search": search_command,
    "cancel": cancel_command,
    "approval": approval_card,
    "service": service_page,
}
"""The outputs, by the names of their pictures."""


def output_of(name: str) -> str | Figure:
    """Return an output at the moment of the documents, of a new local service."""
    with time_machine.travel(MOMENT, tick=False), Sandbox(seed=SEED) as sandbox:
        return OUTPUTS[name](sandbox)


def fingerprint(output: str | Figure) -> str:
    """Return the hash of an output, which changes when its picture should."""
    text = output if isinstance(output, str) else parts_of(output)
    return sha256(text.encode()).hexdigest()
