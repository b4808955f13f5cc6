"""The newest golden files have all that this version writes; `scripts/golden` makes them."""

import json
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import get_args

import pytest

from ferry_sdk import hooks
from ferry_sdk.aftersales.events import EventKind
from ferry_sdk.agents import Toolkit
from ferry_sdk.agents.policy.state import AgentState
from ferry_sdk.agents.toolkit import state_of
from ferry_sdk.agents.tools.tools import TOOLS
from ferry_sdk.journal import schema
from ferry_sdk.models import Stage
from ferry_sdk.offers.events import OfferEventKind
from ferry_sdk.offers.rules import Rule
from ferry_sdk.orders.order import OrderKind, OrderState, Step
from ferry_sdk.types import EntryState
from scripts.breaking_changes import types_of
from tests.golden import commands, files, journal, values
from tests.golden.world import client_of, new_service
from tests.support.tiers import LONG
from tests.test_errors import FAMILY

STATUSES = {"refused", "failed", "approval_needed", "unknown"}


@pytest.fixture
def read(newest):
    """Return a function that reads a golden file of JSON."""
    return lambda name: json.loads((newest / name).read_text("utf-8"))


@pytest.fixture
def query(newest):
    """Return a function that asks a golden database, and returns its rows."""

    def query(name, statement):
        address = f"{(newest / name).as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            return connection.execute(statement).fetchall()

    return query


def test_every_error_is_there(read):
    assert read("errors.json").keys() == {kind.__name__ for kind in FAMILY}


def test_every_record_is_there(read):
    assert read("records.json").keys() == values.record_classes().keys()


def test_every_field_of_a_record_is_there(read):
    missing = {
        f"{name}.{field.serialization_alias or field_name}"
        for name, model in values.record_classes().items()
        for field_name, field in model.model_fields.items()
        if not {field_name, field.alias} & read("records.json")[name]["json"].keys()
    }
    assert missing == set()


def test_every_command_is_there(newest):
    names = {path.stem for path in (newest / "commands").iterdir()}
    expected = {name.replace(" ", "-") for name in commands.with_json()}
    assert expected - names == set()


def test_every_tool_is_there(read):
    assert read("tools.json").keys() == {*TOOLS, *STATUSES}


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        pytest.param("hooks", [kind.__name__ for kind in hooks._EVENTS.values()], id="hooks"),
        pytest.param("bookings", get_args(EventKind), id="bookings"),
        pytest.param("offers", get_args(OfferEventKind), id="offers"),
    ],
)
def test_every_event_is_there(read, name, kinds):
    assert read(f"events/{name}.json").keys() == {*kinds}


@pytest.mark.parametrize("table", sorted(schema.metadata.tables))
def test_every_table_of_a_journal_has_rows(query, table):
    columns = ", ".join(column.name for column in schema.metadata.tables[table].columns)
    assert query("journal.db", f"SELECT {columns} FROM {table} LIMIT 1")  # noqa: S608 -- of the schema


def test_each_write_has_an_entry_in_each_state(query):
    rows = query("journal.db", "SELECT operation, state FROM ferry_journal")
    assert {*product(journal.WRITES, get_args(EntryState))} <= {*rows}


def test_every_step_of_an_order_is_there(query):
    rows = query("journal.db", "SELECT kind, content FROM ferry_journal_orders")
    plans = [json.loads(content) for _, content in rows]
    assert {kind for kind, _ in rows} == {*get_args(OrderKind)}
    assert {plan["step"] for plan in plans} == {None, *get_args(Step)}
    states = {part["state"] for plan in plans for part in plan["parts"]}
    assert states >= {*get_args(OrderState)}


def test_each_stage_of_a_booking_is_there(query):
    rows = query("journal.db", "SELECT content FROM ferry_journal_snapshots")
    assert {json.loads(content)[0]["stage"] for (content,) in rows} == {*Stage}


def test_each_kind_of_rule_is_there():
    assert {type(rule) for rule in journal.RULES} == {*get_args(Rule)}


@pytest.fixture
def kinds(tmp_path, monkeypatch):
    """The kinds of entries that toolkits and the MCP server keep in a state file."""
    questions = pytest.importorskip(
        "ferry_sdk.agents.mcp_server.questions", reason="mcp is not installed"
    )
    kinds = {"key"}
    table = AgentState.table

    def record(state, name, *arguments):
        kinds.add(name)
        return table(state, name, *arguments)

    monkeypatch.setattr(AgentState, "table", record)
    with new_service() as service, client_of(service) as ferry:
        toolkit = Toolkit(ferry, writes=True, state=tmp_path / "state.db")
        questions.Questions(state_of(toolkit))
    return kinds


def test_each_kind_of_a_state_is_there(query, kinds):
    assert {kind for (kind,) in query("agents.db", "SELECT DISTINCT kind FROM entries")} == kinds


def test_each_status_of_a_call_is_audited(newest):
    lines = newest.joinpath("audit.jsonl").read_text("utf-8").splitlines()
    assert {json.loads(line)["status"] for line in lines} == {"done", *STATUSES}


# ---- All files ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "problem"),
    [
        pytest.param("0.9.0", "its golden files never change", id="released"),
        pytest.param("next", "no version", id="no version"),
    ],
)
def test_other_versions_are_not_written(tmp_path, monkeypatch, version, problem):
    monkeypatch.chdir(tmp_path)
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for words in (("init", "-q"), ("commit", "-qm", "a", "--allow-empty"), ("tag", "v0.9.0")):
        command = ["git", *who, *words]
        subprocess.run(command, check=True)
    with pytest.raises(SystemExit, match=problem):
        files.main(version)


def test_no_file_names_a_folder_of_a_machine(newest):
    folders = (Path.home(), Path(tempfile.gettempdir()), Path(__file__).parents[2])
    words = [b"127.0.0.1", b"localhost", *(f"{folder}/".encode() for folder in folders)]
    named = [
        (path.name, word)
        for path in newest.rglob("*")
        if path.is_file()
        for word in words
        if word in path.read_bytes()
    ]
    assert named == []


@pytest.fixture(scope="module")
def made(tmp_path_factory, postgres):
    """Two folders of golden files, as this version writes them now."""
    pytest.importorskip("mcp", reason="mcp is not installed")
    folders = [tmp_path_factory.mktemp("golden") for _ in range(2)]
    for folder in folders:
        folder.chmod(0o700)
        files.write(folder)
    return folders


def text_of(path):
    """Return what a file says: of a database, the statements that make it."""
    if path.suffix == ".db":
        with closing(sqlite3.connect(path)) as connection:
            return "\n".join(connection.iterdump())
    return path.read_bytes()


def names_in(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@LONG
@pytest.mark.timeout(900)
def test_golden_files_are_made_equal_twice(made):
    first, second = made
    assert names_in(first) == names_in(second)
    different = [
        name for name in sorted(names_in(first)) if text_of(first / name) != text_of(second / name)
    ]
    assert different == []


@LONG
@pytest.mark.timeout(900)
def test_newest_files_have_todays_members(made, newest):
    folder, _ = made
    assert names_in(folder) == names_in(newest)
    changed = [
        name
        for name in sorted(names_in(folder))
        if name.endswith(".json") and not name.startswith("routes/")
        if types_of(json.loads((folder / name).read_text("utf-8")))
        != types_of(json.loads((newest / name).read_text("utf-8")))
    ]
    assert changed == []
