"""Every record that the library logs is documented, and those of a call carry its id."""

import ast
import logging
import os
import re
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

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
    return [
        (path, node)
        for path in HOME.rglob("*.py")
        if re.search(r"\blog(s|g[a-z]+)?\.|\b_?logg?er|getLogger", text := path.read_text("utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
    ]


def logger_calls():
    for path, node in calls():
        if isinstance(node.func, ast.Attribute):
            name = node.func.attr.upper()
            is_logger = "log" in ast.unparse(node.func.value).lower()
            if is_logger and name in {*LEVELS, "LOG", "WARN", "EXCEPTION", "FATAL"}:
                yield path, node


def levels_in(node):
    return {level for level in LEVELS if f"logging.{level}" in ast.unparse(node)}


def records_of_calls():
    """The level and the template of every record that the engine's `log` makes."""
    for path in HOME.glob("_engine/*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "log":
                (level,) = levels_in(call.args[1])
                template = call.args[2]
                assert isinstance(template, ast.Constant), f"{path}: a template that is not plain"
                yield level, template.value


def test_the_documented_records_are_those_that_are_logged_to_one_logger_and_no_root():
    logged = {*records_of_calls()}
    for path, call in logger_calls():
        if path == HOME / "_engine" / "log.py":
            continue  # the one of `records_of_calls`
        name = ast.unparse(call.func).rpartition(".")[2].upper()
        template = call.args[1 if name == "LOG" else 0]
        assert isinstance(template, ast.Constant), f"{path}: a template that is not plain"
        levels = levels_in(call.args[0]) if name == "LOG" else {name}
        logged |= {(level, template.value) for level in levels}
    assert logged == DOCUMENTED
    assert len(logged) == 30
    names = {
        ast.unparse(node.args[0]) if node.args else ""
        for _, node in calls()
        if ast.unparse(node.func).endswith("getLogger")
    }
    # The other two are asked about an HTTP library's own records, in `_http`.
    assert names == {"'ferry_sdk'", "'ferry_sdk.sandbox'", "record.name", "_name"}
    for name in ("ferry_sdk", "ferry_sdk.sandbox"):
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


def test_the_environment_prints_the_records_once():
    line = "DEBUG ferry_sdk: catalogue.ports: HTTP 200, request id "
    configured = "logging.basicConfig(level='DEBUG', "
    for level, before, lines in [
        ("debug", "pass", 2),
        ("DEBUG", f"{configured}format='%(levelname)s %(name)s: %(message)s')", 2),
        ("debug", f"{configured}filename=os.devnull)", 2),
        ("info", "pass", 0),
        ("loud", "pass", 0),
    ]:
        environment = {**os.environ, "FERRY_LOG": level}
        ended = processes.run([sys.executable, "-c", PROGRAM, before], env=environment)
        assert ended.stderr.count(line) == lines, (level, before, ended.stderr)
        assert ended.stderr.count("order-4711") == lines
        refused = "FERRY_LOG: expected debug or info\n" if level == "loud" else ""
        assert ended.stdout == refused


def test_a_trip_with_faults_logs_what_is_documented(make_client, ferry_sandbox, ferry, caplog):
    booking_id = booked(ferry).booking_id
    caplog.set_level(logging.DEBUG, "ferry_sdk")
    caplog.clear()
    tokens = iter(["canary-stale-token", ferry_sandbox.token])
    client = make_client(lambda: next(tokens), event_hooks={"retry": [lambda _: 1 / 0]})
    with correlation("order-4711"):
        ferry_sandbox.faults.add("server_error", "catalogue.ports", times=2)
        client.catalogue.ports()
        ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
        client.bookings.confirm(booking_id)
        selection = {"availability_id": "a", "tariff_id": "t", "place_id": "p"}
        with suppress(FerryError):
            client.bookings.create(availabilities=[selection], passengers=PASSENGERS)
    records = [record for record in caplog.records if record.name == "ferry_sdk"]
    seen = {(record.levelname, str(record.msg)) for record in records}
    assert seen <= DOCUMENTED
    assert len(seen) == 5
    for record in records:
        fields = re.findall(r"%(?:s|d|\.2f)", str(record.msg))
        assert len(record.args or ()) == len(fields)
        assert record.getMessage().endswith("(correlation id order-4711)")
        assert vars(record)["correlation_id"] == "order-4711"
    of_calls = [vars(record) for record in records if "hook" not in str(record.msg)]
    names = ("levelname", "operation", "attempt", "status_code", "outcome")
    assert {tuple(of_call[name] for name in names) for of_call in of_calls} >= {
        ("INFO", "catalogue.ports", 3, 401, "rejected"),
        ("DEBUG", "catalogue.ports", 2, 503, "unknown"),
        ("DEBUG", "catalogue.ports", 4, 200, "done"),
        ("INFO", "bookings.confirm", 1, None, "unknown"),
        ("DEBUG", "bookings.get", 1, 200, "done"),
        ("DEBUG", "bookings.create", 1, 422, "rejected"),
    }
    assert {of_call["request_id"] for of_call in of_calls if of_call["status_code"] == 200}
    for of_call in of_calls:
        if of_call["request_id"] and of_call["levelname"] == "DEBUG":
            assert f"request id {of_call['request_id']}" in of_call["message"]
    assert "Attempt(" not in caplog.text
    for canary in ("canary-stale-token", ferry_sandbox.token, booking_id, "Okonkwo"):
        assert canary not in caplog.text
