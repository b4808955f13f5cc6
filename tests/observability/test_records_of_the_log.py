"""Every record that the library logs is documented, and those of a call carry its id."""

import ast
import logging
import os
import re
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

import ferry_sdk
from ferry_sdk import FerryError, correlation
from tests.support import processes
from tests.support.trip import PASSENGERS, booked

HOME = Path(ferry_sdk.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "observability.md"
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
DOCUMENTED = {
    (level, template)
    for levels, template in re.findall(
        r"^\| ([A-Z, ]+) \| `(.+?)` \|", PAGE.read_text("utf-8"), re.MULTILINE
    )
    for level in levels.split(", ")
}


@cache
def calls():
    """Return the path and the node of every call in a module that may use a logger."""
    found = []
    for path in HOME.rglob("*.py"):
        text = path.read_text("utf-8")
        if re.search(r"\blog(s|g[a-z]+)?\.|\b_?logg?er|getLogger", text):
            nodes = ast.walk(ast.parse(text))
            found += [(path, node) for node in nodes if isinstance(node, ast.Call)]
    return found


def logger_calls():
    """Yield the path and the node of every call of a method of a logger."""
    for path, node in calls():
        if isinstance(node.func, ast.Attribute):
            name = node.func.attr.upper()
            is_logger = "log" in ast.unparse(node.func.value).lower()
            if is_logger and name in {*LEVELS, "LOG", "WARN", "EXCEPTION", "FATAL"}:
                yield path, node


def levels_in(node):
    return {level for level in LEVELS if f"logging.{level}" in ast.unparse(node)}


def records_of_calls():
    """Yield the level and the template of every record that the engine's `log` makes."""
    for path in HOME.glob("_engine/*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "log":
                (level,) = levels_in(call.args[1])
                template = call.args[2]
                assert isinstance(template, ast.Constant), f"{path}: a template that is not plain"
                yield level, template.value


def records_of_loggers():
    """Yield the level and the template of every record that is logged directly."""
    for path, call in logger_calls():
        if path == HOME / "_engine" / "log.py":
            continue  # the one of `records_of_calls`
        name = ast.unparse(call.func).rpartition(".")[2].upper()
        template = call.args[1 if name == "LOG" else 0]
        assert isinstance(template, ast.Constant), f"{path}: a template that is not plain"
        levels = levels_in(call.args[0]) if name == "LOG" else {name}
        yield from ((level, template.value) for level in levels)


def test_every_record_is_documented():
    logged = {*records_of_calls(), *records_of_loggers()}
    assert logged == DOCUMENTED
    assert len(logged) == 39


def test_two_loggers_are_used():
    names = {
        ast.unparse(node.args[0]) if node.args else ""
        for _, node in calls()
        if ast.unparse(node.func).endswith("getLogger")
    }
    # The exchange asks for two more, those of an HTTP library's records.
    assert names == {"'ferry_sdk'", "'ferry_sdk.sandbox'", "record.name", "_name"}


@pytest.mark.parametrize("name", ["ferry_sdk", "ferry_sdk.sandbox"])
def test_a_logger_has_no_handler(name):
    assert not logging.getLogger(name).handlers


PROGRAM = """
import logging, os, sys
from ferry_sdk import ConfigurationError, Ferry
from ferry_sdk.sandbox import Sandbox
exec(sys.argv[1])
with Sandbox() as sandbox:
    try:
        for _ in range(2):
            with Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                ferry.with_options(correlation_id="order-4711").catalogue.ports()
    except ConfigurationError as error:
        print(error)
    assert sandbox.token not in sys.argv
"""


def run_with_log(level, before):
    """Run a program that makes the same call twice, with a level of the log."""
    environment = {**os.environ, "FERRY_LOG": level}
    return processes.run([sys.executable, "-c", PROGRAM, before], env=environment)


CONFIGURED = "logging.basicConfig(level='DEBUG', format='%(levelname)s %(name)s: %(message)s')"
TO_NOWHERE = "logging.basicConfig(level='DEBUG', filename=os.devnull)"


@pytest.mark.parametrize(
    ("level", "before", "lines"),
    [
        pytest.param("debug", "pass", 2, id="at DEBUG"),
        pytest.param("DEBUG", CONFIGURED, 2, id="with a handler that prints"),
        pytest.param("debug", TO_NOWHERE, 2, id="with a handler that does not print"),
        pytest.param("info", "pass", 0, id="at INFO"),
        pytest.param("loud", "pass", 0, id="at no level"),
    ],
)
def test_the_environment_prints_attempts_once(level, before, lines):
    ended = run_with_log(level, before)
    line = "DEBUG ferry_sdk: catalogue.ports: HTTP 200, request id "
    assert ended.stderr.count(line) == lines, ended.stderr
    refusal = "FERRY_LOG: expected debug or info\n" if level == "loud" else ""
    assert ended.stdout == refusal


@pytest.mark.parametrize("level", ["info", "debug"])
def test_the_environment_prints_each_call_once(level):
    ended = run_with_log(level, "pass")
    lines = [line for line in ended.stderr.splitlines() if " INFO ferry_sdk: " in line]
    assert len(lines) == 2, ended.stderr
    record = r"catalogue\.ports: done, HTTP 200, \d+ ms, attempts: 1 \(correlation id order-4711\)"
    assert all(re.search(record, line) for line in lines)


@pytest.fixture
def booking_id(ferry):
    return booked(ferry).booking_id


@pytest.fixture
def records(make_client, ferry_sandbox, booking_id, caplog):
    """The records of a read with faults, a confirmation whose reply is lost, and a bad create."""
    caplog.set_level(logging.DEBUG, "ferry_sdk")
    caplog.clear()
    tokens = iter(["canary-stale-token", ferry_sandbox.token])
    client = make_client(lambda: next(tokens), event_hooks={"retry": [lambda _: 1 / 0]})
    selection = {"availability_id": "a", "tariff_id": "t", "place_id": "p"}
    with correlation("order-4711"):
        ferry_sandbox.faults.add("server_error", "catalogue.ports", times=2)
        client.catalogue.ports()
        ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
        client.bookings.confirm(booking_id)
        with suppress(FerryError):
            client.bookings.create(availabilities=[selection], passengers=PASSENGERS)
    return [record for record in caplog.records if record.name == "ferry_sdk"]


@pytest.fixture
def records_of_attempts(records):
    """The attributes of the records that are not of a hook."""
    return [vars(record) for record in records if "hook" not in str(record.msg)]


def test_a_trip_logs_what_is_documented(records):
    seen = {(record.levelname, str(record.msg)) for record in records}
    assert seen <= DOCUMENTED
    assert len(seen) == 6


def test_a_record_has_an_argument_a_field(records):
    for record in records:
        fields = re.findall(r"%(?:s|d|\.2f)", str(record.msg))
        assert len(record.args or ()) == len(fields), record.msg


def test_a_record_ends_with_the_correlation_id(records):
    for record in records:
        assert record.getMessage().endswith("(correlation id order-4711)")
        assert vars(record)["correlation_id"] == "order-4711"


def test_a_record_has_the_fields_of_its_attempt(records_of_attempts):
    names = ("levelname", "operation", "attempt", "status_code", "outcome")
    assert {tuple(record[name] for name in names) for record in records_of_attempts} >= {
        ("INFO", "catalogue.ports", 3, 401, "rejected"),
        ("DEBUG", "catalogue.ports", 2, 503, "unknown"),
        ("DEBUG", "catalogue.ports", 4, 200, "done"),
        ("INFO", "bookings.confirm", 1, None, "unknown"),
        ("DEBUG", "bookings.get", 1, 200, "done"),
        ("DEBUG", "bookings.create", 1, 422, "rejected"),
    }


def test_each_call_has_one_record_at_its_end(records):
    ends = [vars(record) for record in records if "milliseconds" in vars(record)]
    names = ("levelname", "operation", "outcome", "status_code", "attempts")
    assert [tuple(record[name] for name in names) for record in ends] == [
        ("INFO", "catalogue.ports", "done", 200, 4),
        ("INFO", "bookings.confirm", "done", 200, 2),
        ("INFO", "bookings.create", "rejected", 422, 1),
    ]
    assert all(isinstance(record["milliseconds"], int) for record in ends)


def test_a_record_names_the_request_id(records_of_attempts):
    replies = [record for record in records_of_attempts if record["status_code"] == 200]
    assert {record["request_id"] for record in replies}
    for record in records_of_attempts:
        if record["request_id"] and record["levelname"] == "DEBUG":
            assert f"request id {record['request_id']}" in record["message"]


@pytest.mark.usefixtures("records")
def test_no_record_shows_ids_or_travellers(caplog, ferry_sandbox, booking_id):
    canaries = ("canary-stale-token", ferry_sandbox.token, booking_id, "Okonkwo", "Attempt(")
    assert [canary for canary in canaries if canary in caplog.text] == []
