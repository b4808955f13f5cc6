"""Run the command `ferry` against a local service."""

import json
import logging
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from functools import cache as cache_results
from io import BytesIO, TextIOWrapper
from typing import NamedTuple

import pytest

from ferry_sdk import Ferry, __version__
from ferry_sdk.__main__ import main
from ferry_sdk.cli.app import load_command
from ferry_sdk.planning.catalogues import clear_cache
from ferry_sdk.planning.route_files import account_name
from ferry_sdk.sandbox import Sandbox
from tests.support import processes
from tests.support.trip import DAY, NOW, TRAVELLERS, search_arguments

COMMAND = [sys.executable, "-W", "error", "-m", "ferry_sdk"]
SEARCH = ["Tarifa", "MATNG", "--on", str(DAY), "--adult", "34F", "--child", "9M"]
ADA = {"type": "Adult", "first_name": "Ada", "last_name": "Reyes", "gender": "Female", "age": 34}


class Ended(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def document(self):
        return json.loads(self.out)


def environment(sandbox=None, **more):
    """Return the variables of a command: those of the tests, and the settings of a service."""
    names = os.environ.keys() - processes.UNWANTED
    variables = {name: os.environ[name] for name in names if not name.startswith("FERRY_")}
    variables |= {"PYTHONUTF8": "1", "TERM": "xterm-256color"}
    if sandbox:
        variables |= {"FERRY_BASE_URL": sandbox.base_url, "FERRY_TOKEN": sandbox.token}
    return variables | more


def interrupt(sandbox, folder, *words, when, number=signal.SIGTERM):
    """Run `ferry` in a folder until something is true, send it a signal, and return its errors."""
    options = {
        "cwd": folder,
        "env": environment(sandbox),
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "text": True,
    }
    with processes.start([*COMMAND, *words], **options) as process:
        while not when():
            assert process.poll() is None
        process.send_signal(number)
        _, output = process.communicate(timeout=60)
    assert process.returncode == 130, output
    return output


@pytest.fixture(scope="module", autouse=True)
def _same_qr_codes(same_qr_codes): ...


@pytest.fixture(scope="session")
def routes_file(tmp_path_factory):
    """The routes that a command keeps, which are the same for all services of tests."""
    folder = tmp_path_factory.mktemp("routes")
    with (
        Sandbox(now=NOW) as sandbox,
        Ferry(sandbox.token, base_url=sandbox.base_url, route_cache=folder) as ferry,
    ):
        ferry.routes.find()
    clear_cache()
    (file,) = folder.iterdir()
    return file.read_bytes()


@pytest.fixture(autouse=True)
def cache(request, tmp_path, monkeypatch):
    """The folder in which commands keep routes. Those of the test's service are known already."""
    folder = tmp_path / "cache" / "ferry-sdk"
    folder.mkdir(parents=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder.parent))
    # So that naming a file takes no time; the programs of the fork server hash as often.
    monkeypatch.setattr("ferry_sdk.planning.route_files._ROUNDS", 1)
    if "ferry_sandbox" in request.fixturenames:
        sandbox = request.getfixturevalue("ferry_sandbox")
        account = account_name(sandbox.token, f"{sandbox.base_url} None")
        file = folder / f"routes-{__version__}-{account}.json"
        file.write_bytes(request.getfixturevalue("routes_file"))
    return folder


_loaded = cache_results(load_command)


@contextmanager
def _undone():
    """Undo what a command changes in its process: handlers of signals and logs, known routes."""
    signals = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    logger = logging.getLogger("ferry_sdk")
    handlers = [*logger.handlers]
    clear_cache()  # a new process knows no routes
    try:
        yield
    finally:
        clear_cache()
        logger.handlers[:] = handlers
        for number, handler in signals.items():
            signal.signal(number, handler)


def run_here(words, *, folder, variables, given=""):
    """Run `ferry` in the process of the test, which takes half the time of a process of its own."""
    out, err = (TextIOWrapper(BytesIO(), encoding="utf-8", newline="\n") for _ in range(2))
    with _undone(), pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(os, "environ", variables)
        patch.setattr("ferry_sdk.cli.app.load_command", _loaded)
        patch.setattr(sys, "argv", ["ferry", *words])
        patch.setattr(sys, "stdin", TextIOWrapper(BytesIO(given.encode()), encoding="utf-8"))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        with pytest.raises(SystemExit) as end:
            main()
    out.flush()
    err.flush()
    return Ended(end.value.code, out.buffer.getvalue().decode(), err.buffer.getvalue().decode())


@pytest.fixture
def cli(ferry_sandbox, tmp_path):
    """Run `ferry` without a terminal, and check that it prints no token."""

    def run(*arguments, code=0, given="", **more):
        variables = environment(ferry_sandbox, **more)
        ended = run_here(arguments, folder=tmp_path, variables=variables, given=given)
        assert code in {None, ended.code}, ended
        assert ferry_sandbox.token not in ended.out + ended.err
        assert "Traceback" not in ended.err
        return ended

    return run


@pytest.fixture
def url(tmp_path):
    """The URL of a journal."""
    return f"sqlite:///{tmp_path / 'ferry.db'}"


@pytest.fixture
def order(tmp_path):
    """The file of an order for Ada."""
    # The other company takes seconds to issue a ticket.
    trip = {"origin": "Tarifa", "destination": "MATNG", "on": f"{DAY}", "companies": ["BALEARIA"]}
    file = tmp_path / "order.json"
    file.write_text(json.dumps({"search": trip, "passengers": [ADA]}), "utf-8")
    return file


@pytest.fixture
def booked(ferry):
    """The id of an unconfirmed booking, of the traveller of `order`."""
    where = search_arguments(company="BALEARIA", depart="ESTRF", arrive="MATNG")
    sailing = ferry.availability.search(**{**where, "passengers": TRAVELLERS[:1]})[0]
    tariff = next(tariff for tariff in sailing.tariffs if tariff.type == "Ticket")
    selection = sailing.select(tariff=tariff, place=sailing.places[0])
    return ferry.bookings.create(availabilities=[selection], passengers=[ADA]).booking_id


@pytest.fixture
def ticket(ferry, booked):
    """The id of the ticket of `booked`, which is paid."""
    return ferry.bookings.confirm(booked).ticket_id
