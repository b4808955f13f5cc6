"""State files: what toolkits know, have done and have spent, for later ones and for others."""

import json
import os
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import partial
from pathlib import Path

import pytest

from ferry_sdk import ConfigurationError
from ferry_sdk.agents import Toolkit
from ferry_sdk.agents.policy import duplicates
from ferry_sdk.agents.policy.answers import RefusedError
from ferry_sdk.agents.policy.budget import Budget
from ferry_sdk.agents.policy.state import AgentState
from tests.agents.agent import PASSENGERS, TRAVELLERS, ShortWay, approve_all, order, result_of
from tests.agents.conftest import Checked
from tests.support.hold import Hold
from tests.support.processes import start

pytestmark = pytest.mark.usefixtures("known_routes")
WRITER = """
import json, os, sys
from ferry_sdk import Ferry
from ferry_sdk.agents import Toolkit
from ferry_sdk.agents.policy.duplicates import Duplicates
if "--killed" in sys.argv:
    sys.argv.remove("--killed")
    Duplicates.update = lambda *_: os._exit(9)
base_url, token, state, limit, orders = sys.argv[1:]
with Ferry(token, base_url=base_url) as ferry:
    toolkit = Toolkit(
        ferry, tools="all", writes=True, approve=lambda _: True,
        spend_limit={"EUR": limit}, state=state,
    )
    print("ready", flush=True)
    sys.stdin.readline()
    for order in json.loads(orders):
        answer = toolkit.call("bookings_create", order)
        print(answer.get("error", {}).get("code", answer["status"]), flush=True)
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "agent state.db"


@pytest.fixture
def again(toolkit_of, path):
    """Return a function that makes another toolkit with the same state file."""
    usual = {"writes": True, "approve": approve_all, "state": path}
    return lambda **settings: toolkit_of(**{**usual, **settings})


@pytest.fixture
def sync(ferry, path):
    """The same, of sync toolkits that share a client."""
    usual = {"tools": "all", "writes": True, "approve": approve_all, "state": path}
    return lambda **settings: Checked(Toolkit(ferry, **{**usual, **settings}))


@pytest.fixture
def toolkit(sync):
    return sync()


def test_another_toolkit_does_not_repeat_a_question(again):
    first, second = again(approve=lambda _: False), again()
    wanted = order(first.sailings()[0])
    first.fail("bookings_create", "declined", **wanted)
    first.fail("bookings_create", "declined", **wanted)
    second.fail("bookings_create", "declined", **wanted)
    second.forget_refusals()
    second.do("bookings_create", **wanted)


def test_toolkits_know_what_others_have_shown(again):
    made = again().do("bookings_create", **order(again().sailings()[0]))
    confirmed = again().pay(made["booking_id"])
    again().do("tickets_cancel", ticket_id=confirmed["ticket_id"])


def test_offers_of_other_toolkits_have_other_ids(again):
    trip = {"origin": "Tarifa", "destination": "Tangier (city)", "on": "2050-07-12"}
    ids = []
    for _ in range(3):
        found = again().do("trips_find", **trip, passengers=TRAVELLERS)
        ids += [offer["offer"] for offer in found["offers"]]
    assert len(ids) == len(set(ids)) > 3


def test_a_second_toolkit_knows_what_was_done(again, ferry_sandbox):
    made = again().book()
    refused = again().fail("bookings_create", "already_done", **order(again().sailings()[0]))
    assert refused["result"]["booking_id"] == made["booking_id"]
    assert len(ferry_sandbox.counters.effects) == 1


def test_a_second_toolkit_knows_what_was_spent(again, ferry_sandbox):
    made = again().book()
    limited = again(spend_limit={"EUR": made["total_price"]})
    refused = limited.fail("bookings_create", "spend_limit", **order(again().sailings()[1]))
    assert refused["spent"] == made["total_price"]
    assert len(ferry_sandbox.counters.effects) == 1


def test_the_file_adds_up_penalties_of_a_booking(path):
    Budget(None, {"EUR": 20}, AgentState(path)).hold_penalty("b-1", "t-1", Decimal(12), "EUR")
    with pytest.raises(RefusedError, match="more than allowed"):
        Budget(None, {"EUR": 20}, AgentState(path)).hold_penalty("b-1", "t-2", Decimal(12), "EUR")


@pytest.fixture
def queries(monkeypatch):
    """The statements that states run."""
    statements = []
    execute = AgentState.execute

    def record(file, statement, *values):
        statements.append(statement)
        return execute(file, statement, *values)

    monkeypatch.setattr(AgentState, "execute", record)
    return statements


def test_a_limit_costs_equally_many_queries_always(path, queries):
    budget = Budget({"EUR": 1_000}, None, AgentState(path))
    counts = set()
    for number in range(20):
        queries.clear()
        budget.hold(f"b-{number}", Decimal(12), "EUR")
        counts.add(len(queries))
    assert len(counts) == 1


def test_another_toolkit_settles_an_unknown_outcome(again, ferry_sandbox):
    first = again()
    asked = order(first.sailings()[0])
    ferry_sandbox.faults.add("lose_reply", "bookings.create")
    assert first.call("bookings_create", asked)["status"] == "unknown"
    again().fail("bookings_create", "outcome_unknown", **asked)
    (write,) = again().unresolved
    again().settle(write.correlation_id, happened=False)
    assert first.unresolved == ()
    first.do("bookings_create", **asked)


@pytest.mark.usefixtures("look_once")
def test_another_toolkit_reads_a_confirmation_back(again, ferry_sandbox):
    made = {"booking_id": again().book()["booking_id"]}
    first = again()
    ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
    ferry_sandbox.faults.add("server_error", "bookings.get", times=None, after=2)
    assert first.call("bookings_confirm", made)["status"] == "unknown"
    ferry_sandbox.faults.clear()
    assert again().do("bookings_confirm", **made)["booking_id"] == made["booking_id"]
    assert ferry_sandbox.counters.requests["bookings.confirm"] == 1


@pytest.mark.parametrize("machine", ["elsewhere", None])
def test_a_pid_of_another_machine_says_nothing(machine, path, monkeypatch):
    with start([sys.executable, "-c", ""]) as ended:
        ended.wait()
    other, own = (duplicates.Duplicates(AgentState(path), print) for _ in range(2))
    with monkeypatch.context() as patched:
        patched.setattr(os, "getpid", lambda: ended.pid)
        other.begin("here", "b-1")
        patched.setattr(duplicates, "machine_id", lambda: machine)
        other.begin("there", "b-2")
    own.begin("here", "b-1")
    with pytest.raises(RefusedError, match="in progress"):
        own.begin("there", "b-2")


def test_a_late_approval_leaves_another_toolkits_booking_alone(sync, monkeypatch):
    is_asked, may_go_on = threading.Event(), threading.Event()

    def in_another(_):
        is_asked.set()
        return may_go_on.wait(30)

    def too_late(_):
        monkeypatch.undo()
        later.append(threads.submit(sync(approve=in_another).call, "bookings_create", first))
        return is_asked.wait(30)

    later = []
    found = sync().sailings()
    first, second = map(order, found[:2])
    monkeypatch.setattr(duplicates, "_PREPARED_FOR", 0)
    with ThreadPoolExecutor(1) as threads:
        try:
            sync(approve=too_late).fail("bookings_create", "approval_expired", **first)
            sync().fail("bookings_create", "under_way", **first)
            poor = sync(spend_limit={"EUR": found[0]["tariffs"][0]["amount"]})
            poor.fail("bookings_create", "spend_limit", **second)
        finally:
            may_go_on.set()
        result_of(later[0].result())


@pytest.fixture
def short_way(again):
    """An agent that has booked and paid, with a new toolkit for each of its calls."""

    class OneCallEach:
        def call(self, *call):
            return again(approve=None).call(*call)

    agent = ShortWay(OneCallEach())
    agent.pay(agent.book())
    return agent


def test_each_step_may_be_a_new_toolkit(short_way):
    assert len(short_way.calls) == 5


@pytest.mark.usefixtures("short_way")
def test_the_file_is_private(path, ferry_sandbox):
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in path.parent.glob(f"{path.name}*")] == [path.name]
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT key, value FROM entries").fetchall()
    connection.close()
    text = "".join(key + value for key, value in rows)
    content = path.read_bytes()
    names = [PASSENGERS[0]["first_name"], PASSENGERS[0]["last_name"], "Noel", "GE 123 AB"]
    private = [*names, '"age"', ferry_sandbox.token]
    assert [one for one in private if one in text or one.encode() in content] == []


def sql(path, *statements):
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    path.chmod(0o600)


def of_another_version(path):
    AgentState(path)
    sql(path, "PRAGMA user_version = 2")


def make_text(path):
    path.write_text("This is not a database. " * 100, "utf-8")
    path.chmod(0o600)


def make_database(path):
    sql(path, "CREATE TABLE mine (one)")


def make_fifo(path):
    os.mkfifo(path, 0o600)


def make_broken_link(path):
    path.symlink_to(path.parent / "no" / "file")


def let_group_read(path):
    sql(path)
    path.chmod(0o640)


def let_others_write(path):
    sql(path)
    path.chmod(0o602)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        pytest.param(make_text, "is not a state file", id="a text"),
        pytest.param(make_database, "is not a state file", id="another database"),
        pytest.param(Path.mkdir, "is not a file", id="a folder"),
        pytest.param(make_fifo, "is not a file", id="a pipe"),
        pytest.param(make_broken_link, "cannot be created", id="a broken link"),
        pytest.param(let_group_read, "chmod 600", id="the group reads it"),
        pytest.param(let_others_write, "chmod 600", id="others write it"),
        pytest.param(of_another_version, "has version 2, expected 1; use a new file", id="newer"),
    ],
)
def test_another_file_is_refused(make, problem, again, path):
    make(path)
    with pytest.raises(ConfigurationError, match=rf"^state: .*{problem}"):
        again()


def test_an_empty_private_file_is_used(again, path):
    path.touch(0o600)
    again().book()
    assert path.stat().st_size > 0


def test_a_file_of_an_earlier_release_is_used(again, path):
    again().book()
    sql(path, "PRAGMA application_id = 0x46657272")
    again()


def empty(path):
    path.write_bytes(b"")


@pytest.mark.parametrize(
    "lose",
    [
        pytest.param(Path.unlink, id="removed"),
        pytest.param(empty, id="emptied", marks=pytest.mark.slow),
    ],
)
def test_a_lost_file_does_not_begin_anew(again, path, lose):
    again().book()
    lose(path)
    with pytest.raises(ConfigurationError, match="is gone or empty: put it back"):
        again(spend_limit={"EUR": 20})
    with pytest.raises(ConfigurationError, match="is gone or empty"):
        again(state=path.parent / "." / path.name)
    again(state=path.with_name("another.db")).book()


def test_a_lost_file_may_be_put_back(again, path):
    again(spend_limit={"EUR": 20}).book()
    aside = path.rename(path.with_name("aside.db"))
    with pytest.raises(ConfigurationError):
        again()
    aside.rename(path)
    toolkit = again(spend_limit={"EUR": 20})
    toolkit.fail("bookings_create", "spend_limit", **order(toolkit.sailings()[1]))


def test_a_new_file_is_logged(again, path, caplog):
    caplog.set_level("INFO", "ferry_sdk")
    for _ in range(2):
        again()
    new = [one for one in caplog.messages if "a new state file" in one]
    assert len(new) == 1
    assert str(path) in new[0]


def test_a_lost_file_allows_no_write(again, ferry_sandbox, path):
    toolkit = again()
    asked = order(toolkit.sailings()[0])
    path.rename(path.with_name("kept"))
    toolkit.fail("bookings_create", "configuration_error", "failed", **asked)
    assert not path.exists()
    assert not ferry_sandbox.counters.effects


def answer_without_a_record(call, hold, path):
    """Return the answer of a call whose state file cannot be used while its reply is held."""
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(call)
        while not hold.held:
            time.sleep(0.01)
        path.chmod(0o644)  # the file is not used while others can read it
        hold.release()
        answered = answer.result()
    path.chmod(0o600)
    return answered


def test_a_file_closed_meanwhile_leaves_a_write_unknown(again, ferry_sandbox, path):
    toolkit = again()
    asked = order(toolkit.sailings()[0])
    hold = Hold(ferry_sandbox, "bookings.create", replies=True)
    call = partial(toolkit.call, "bookings_create", asked)
    assert answer_without_a_record(call, hold, path)["status"] == "unknown"
    assert toolkit.fail("bookings_create", "under_way", **asked)


def test_recovered_write_that_is_not_recorded_is_unknown(again, ferry_sandbox, path):
    toolkit = again()
    named = {"booking_id": toolkit.book()["booking_id"]}
    ferry_sandbox.faults.add("lose_reply", "bookings.confirm")
    ferry_sandbox.faults.add("server_error", "bookings.get", times=None, after=2)
    toolkit.fail("bookings_confirm", "outcome_unknown", "unknown", **named)
    ferry_sandbox.faults.clear()
    hold = Hold(ferry_sandbox, "bookings.get", replies=True)
    call = partial(toolkit.call, "bookings_confirm", named)
    assert answer_without_a_record(call, hold, path)["status"] == "unknown"
    toolkit.do("bookings_confirm", **named)


def start_writer(sandbox, path, limit, orders, *more):
    options = [sandbox.base_url, sandbox.token, str(path), limit, orders, *more]
    pipe = subprocess.PIPE
    return start([sys.executable, "-c", WRITER, *options], stdin=pipe, stdout=pipe, text=True)


def test_processes_share_one_limit(toolkit, ferry_sandbox, path):
    found = toolkit.sailings()
    price = min(float(one["tariffs"][0]["amount"]) for one in found)
    ferry_sandbox.faults.add("delay_before", "bookings.create", seconds=0.2, times=None)
    limit = f"{price * 1.9:.2f}"
    writers = [
        start_writer(ferry_sandbox, path, limit, json.dumps([order(one)])) for one in found[:4]
    ]
    assert {writer.stdout.readline() for writer in writers} == {"ready\n"}
    for writer in writers:
        writer.stdin.write("\n")
        writer.stdin.flush()
    codes = Counter()
    for writer in writers:
        written, _ = writer.communicate(timeout=30)
        codes.update(written.split())
    assert codes == {"done": 1, "spend_limit": 3}
    assert len(ferry_sandbox.counters.effects) == 1


def test_a_killed_process_leaves_its_write_on_record(toolkit, sync, ferry_sandbox, path):
    found = toolkit.sailings()
    first, second = map(order, found[:2])
    ferry_sandbox.faults.add("delay_after", "bookings.create", seconds=60)
    with start_writer(ferry_sandbox, path, "1000", json.dumps([first])) as writer:
        writer.stdin.write("\n")
        writer.stdin.flush()
        while not ferry_sandbox.counters.effects:
            assert writer.poll() is None
            time.sleep(0.01)
        writer.kill()
        writer.wait()
    ferry_sandbox.faults.clear()
    toolkit.fail("bookings_create", "outcome_unknown", **first)
    (write,) = toolkit.unresolved
    assert write.tool == "bookings_create"
    spent = str(write.amount)
    limited = sync(spend_limit={"EUR": spent})
    assert limited.fail("bookings_create", "spend_limit", **second)["spent"] == spent
    limited.settle(write.correlation_id, happened=False)
    assert toolkit.unresolved == ()


def test_a_process_killed_before_sending_spends_nothing(toolkit, ferry_sandbox, path):
    asked = json.dumps([order(toolkit.sailings()[0])])
    writer = start_writer(ferry_sandbox, path, "1000", asked, "--killed")
    writer.communicate("\n", timeout=60)
    assert writer.returncode == 9
    Budget({"EUR": "1000"}, None, AgentState(path)).hold("another", Decimal(1000), "EUR")
    assert not ferry_sandbox.counters.effects


@pytest.fixture
def lost_state(path):
    """A state whose file is replaced by another one with its own key."""
    state = AgentState(path)
    other = path.with_name("other.db")
    AgentState(other)
    other.replace(path)
    return state


def test_replaced_state_file_is_not_used(lost_state):
    with pytest.raises(ConfigurationError, match="was removed, replaced or moved"):
        lost_state.table("spent", str)["b-1"] = "12"


def test_file_lost_in_a_transaction_is_not_committed(path):
    state = AgentState(path)
    with (
        pytest.raises(ConfigurationError, match="was removed, replaced or moved"),
        state.transaction(),
    ):
        path.unlink()


def test_link_that_leads_to_another_state_is_noticed(path):
    real, other = path.with_name("real"), path.with_name("other")
    path.symlink_to(real)
    state = AgentState(path)
    AgentState(other)
    path.unlink()
    path.symlink_to(other)
    with pytest.raises(ConfigurationError, match="was removed, replaced or moved"):
        state.table("spent", str)["b-1"] = "12"


def test_write_of_a_clock_ahead_is_concluded(path, monkeypatch):
    ahead = duplicates.Duplicates(AgentState(path), lambda _: None)
    with monkeypatch.context() as patch:
        patch.setattr(duplicates.time, "time", lambda: time.monotonic() + 10**10)
        ahead.begin("key", "b-1")
    other = duplicates.Duplicates(AgentState(path), lambda _: None)
    assert other.begin("key", "b-1") is None


def test_write_that_is_under_way_is_not_concluded(path):
    duplicates.Duplicates(AgentState(path), lambda _: None).begin("key", "b-1")
    other = duplicates.Duplicates(AgentState(path), lambda _: None)
    with pytest.raises(RefusedError):
        other.begin("key", "b-1")
