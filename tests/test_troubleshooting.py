"""Each message on the page about troubleshooting is what the library says in that case."""

import asyncio
import pickle
import re
import socket
import sys
from contextlib import ExitStack, closing
from importlib.util import find_spec

import pytest
import trustme

from ferry_sdk import AsyncFerry, Ferry, Rate, Timeout
from ferry_sdk.agents.policy.audit_file import AuditFile
from ferry_sdk.journal import Journal
from ferry_sdk.sandbox import Sandbox
from tests.support.blocks import ROOT, fits, python
from tests.support.tiers import LONG
from tests.support.trip import DAY
from tests.transport.conftest import of_a_server
from tests.transport.scripted import Service, over_tls

QUOTED = re.findall(
    r"^### `(.+)`$", (ROOT / "docs" / "troubleshooting.md").read_text("utf-8"), re.MULTILINE
)
WITHOUT_EXTRAS = """
import sys
from ferry_sdk import ConfigurationError, Records
from ferry_sdk.__main__ import main

for gone in ("mcp", "opentelemetry", "pandas", "pyarrow", "pyrate_limiter", "sqlalchemy",
             "starlette", "typer"):
    sys.modules[gone] = None
sys.argv[1:] = ["ports"]
for use in (
    lambda: exec("from ferry_sdk.agents.mcp_server import *"),
    lambda: exec("from ferry_sdk.journal import *"),
    lambda: exec("from ferry_sdk.otel import *"),
    lambda: exec("from ferry_sdk import Rate; Rate('1/second')"),
    lambda: exec("from ferry_sdk.sandbox import *"),
    lambda: exec("from ferry_sdk.scan import *"),
    Records([]).to_frame,
    main,
):
    try:
        use()
    except (ConfigurationError, ImportError, SystemExit) as error:
        print(error)
"""
NO_DATABASE = "the journal cannot be used: OperationalError, no connection or one that broke"
"""This one needs psycopg."""
SEEKER = {"type": "Adult", "gender": "Female", "age": 34}


def message(use):
    """Return the first line of the error that a call raises."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 -- any error; its words are compared
        use()
    return str(caught.value).partition("\n")[0]


async def token():
    return "a token"


async def loop_in_a_loop():
    with closing(token()) as waiting:
        asyncio.run(waiting)


async def without_await(ferry):
    with closing(ferry.catalogue.ports()) as ports:
        ports[0]


def in_a_with_block(ferry):
    with ferry:
        pass


def find_no_address(*_, **__):
    """Answer as a resolver that does not know the name; the machine's own may not answer at all."""
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


def mistakes(  # noqa: PLR0915 -- a list, one mistake after the other
    ferry, sandbox, folder, monkeypatch, stack
):
    for name in ("FERRY_TOKEN", "FERRY_TOKEN_FILE", "FERRY_BASE_URL", "FERRY_JOURNAL_KEY"):
        monkeypatch.delenv(name, raising=False)
    url = sandbox.base_url

    def client(token=sandbox.token, base_url=url, **settings):
        given = {"max_retries": 0, "deadline": 20, **settings}
        return stack.enter_context(Ferry(token, base_url=base_url, **given))

    def entries(url):
        return stack.enter_context(Journal(url)).unresolved()

    def search(origin="Tarifa", destination="MATNG", **more):
        asked = {"on": DAY, "passengers": [SEEKER], "companies": ["BALEARIA"], **more}
        return ferry.trips.search(origin, destination, **asked)

    def ports(*fault, **settings):
        for kind in fault:
            sandbox.faults.add(kind, "catalogue.ports")
        return client(**settings).catalogue.ports()

    yield from python("-c", WITHOUT_EXTRAS, cwd=folder, new=True).splitlines()

    yield message(Ferry)
    yield message(lambda: Ferry("t"))
    yield message(lambda: client(base_url="ferry.example"))
    yield message(lambda: ports(base_url=f"{url}/api"))
    yield message(lambda: client(base_url="http://ferry.example"))
    yield message(lambda: client("Bearer t"))
    yield message(lambda: client().tickets.mark_paid("t", external_payment_ref="x"))
    yield message(lambda: client(token))
    yield message(lambda: client(event_hooks={"responses": [print]}))
    yield message(lambda: Rate("50 per second"))

    with Sandbox() as stopped:
        pass
    yield message(lambda: ports(base_url=stopped.base_url))
    with monkeypatch.context() as resolver:
        resolver.setattr(socket, "getaddrinfo", find_no_address)
        yield message(lambda: ports(base_url="https://ferry.invalid"))
    with Service(over_tls(of_a_server(trustme.CA(), "localhost"))) as untrusted:
        yield message(lambda: ports(base_url=untrusted.secure_url))
    yield message(lambda: ports(base_url=url.replace("http:", "https:")))
    with monkeypatch.context() as environment:
        environment.setenv("SSL_CERT_FILE", str(folder / "none.pem"))
        yield message(lambda: ports(base_url="https://ferry.invalid"))
    with monkeypatch.context() as environment:
        environment.setenv("HTTPS_PROXY", "nonsense://proxy:port")
        yield message(lambda: ports(base_url="https://ferry.invalid"))
    sandbox.faults.add("delay_before", "catalogue.ports", seconds=30)
    yield message(lambda: ports(timeout=Timeout(connect=30, read=0.1)))
    closed = client()
    closed.close()
    yield message(closed.catalogue.ports)
    yield message(lambda: ports("redirect"))
    yield message(lambda: ports("html_page"))

    yield message(lambda: ports(token="another"))
    yield message(lambda: ports("rate_limited"))
    yield message(lambda: search(on="2020-01-01"))
    for booking_call in (ferry.bookings.get, ferry.bookings.confirm, ferry.bookings.cancel):
        yield message(lambda call=booking_call: call("no-such-booking"))
    for ticket_call in (ferry.tickets.get, ferry.tickets.cancel):
        yield message(lambda call=ticket_call: call("no-such-ticket"))

    yield message(lambda: search("Genoaa", "Tunis"))
    yield message(lambda: search(destination="Tangier"))
    yield message(lambda: search(passengers=[{"type": "Adult", "age": 34}]))
    yield message(lambda: search(back="2020-01-01"))

    order = {
        "availabilities": search()[0].select(),
        "passengers": [{"type": "Adult", "first_name": "Ada", "last_name": "Reyes"}],
    }
    named = [{"type": "Adult", "first_name": "Searched", "last_name": "Reyes"}]
    asked = {**order, "passengers": named, "vehicle": {"code": "CAR"}}
    yield message(lambda: ferry.bookings.create(**asked))
    booking_id = ferry.bookings.create(**order).booking_id
    yield message(lambda: ferry.bookings.confirm(booking_id, expect_total=49.9))
    yield message(lambda: ferry.bookings.confirm(booking_id, expect_total="1.00"))
    yield message(lambda: ferry.bookings.wait(booking_id, until="ticketed", deadline=2))
    ferry.bookings.confirm(booking_id)
    yield message(lambda: ferry.bookings.confirm(booking_id))
    yield message(lambda: ferry.bookings.cancel(booking_id, max_penalty=0))
    yield message(lambda: client(read_only=True).bookings.cancel(booking_id))
    yield message(lambda: client(read_only=True).with_options(read_only=False))
    with Journal("sqlite://") as journal:
        recorded = client(journal=journal)
        sandbox.faults.add("cut_before", "bookings.create")
        yield message(lambda: recorded.bookings.create(**order))
        yield message(lambda: recorded.bookings.create(**order))
        yield message(lambda: pickle.dumps(journal))
    yield message(lambda: pickle.dumps(ferry))

    postgresql = "postgresql://nobody@127.0.0.1:1/none"
    file = folder / "ferry.db"
    file.write_text("a letter" * 1000)
    yield message(lambda: entries(f"sqlite:///{file}"))
    yield message(lambda: entries(f"sqlite:///{folder}/none/ferry.db"))
    shared = folder / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    yield message(lambda: entries(f"sqlite:///{shared}/ferry.db"))
    yield message(lambda: entries(postgresql)) if find_spec("psycopg") else NO_DATABASE
    with monkeypatch.context() as modules:
        modules.setitem(sys.modules, "psycopg", None)
        yield message(lambda: entries(postgresql))
    yield message(lambda: entries("ferry.db"))
    with Journal(f"sqlite:///{folder}/keyed.db", key="k" * 16) as keyed:
        assert keyed.unresolved() == ()
    yield message(lambda: entries(f"sqlite:///{folder}/keyed.db"))

    yield message(lambda: asyncio.run(loop_in_a_loop()))
    abroad = AsyncFerry(sandbox.token, base_url=url)
    yield message(lambda: asyncio.run(without_await(abroad)))
    yield message(lambda: in_a_with_block(abroad))

    yield message(Sandbox(port=int(url.rpartition(":")[2])).start)
    yield message(lambda: sandbox.faults.add("lose_reply", "booking.create"))
    from ferry_sdk.agents.mcp_server.process import take_token

    yield message(lambda: take_token(None))
    audit = folder / "audit"
    audit.touch(0o644)
    yield message(lambda: AuditFile(audit))


@pytest.fixture
def messages(ferry, ferry_sandbox, tmp_path, monkeypatch):
    """The messages of all mistakes."""
    pytest.importorskip("mcp", reason="mcp is not installed")
    with ExitStack() as stack:
        return [*mistakes(ferry, ferry_sandbox, tmp_path, monkeypatch, stack)]


@LONG
@pytest.mark.own_http_client(reason="some messages are about what the library's own clients read")
def test_quoted_messages_are_those_of_mistakes(messages):
    assert [one for one in messages if not any(fits(quote, one) for quote in QUOTED)] == []
    assert [quote for quote in QUOTED if not any(fits(quote, one) for one in messages)] == []
    assert len(QUOTED) > 40
