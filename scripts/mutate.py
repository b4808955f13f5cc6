"""Change the decision code in many small ways, one at a time, and print what no test noticed.

Each mutation is made in a copy of the package, and the tests that know the module are run on it
until the first that fails. What survives is a missing test, or a change that makes no difference:
those are listed in ``scripts/mutations_equivalent.toml``, each with the reason.

Usage: mutate.py [--count N] [--only MODULE] [--like TEXT] [--seed N] [--jobs N] [--list]
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

from scripts.mutations import Mutation, mutations_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parents[1]
EQUIVALENT = ROOT / "scripts" / "mutations_equivalent.toml"
COPIED = ("ferry_sdk", "tests", "docs", "examples", "pyproject.toml", "README.md")
MEMORY = 4_000_000
"""Kilobytes that the tests of a mutation may take."""
_LONGEST = 300
"""Seconds by the clock that the tests of a mutation may take, where it makes them wait."""

Stages = tuple[tuple[str, ...], ...]
"""Tests that are run one group after the other, the quickest first."""


def _named(folder: str, *names: str) -> tuple[str, ...]:
    return tuple(f"tests/{folder}_{name}.py" for name in names)


FLOW: Stages = (
    _named("engine/test", "attempts", "writes"),
    _named("engine/test", "flow", "flow_every_course"),
    _named("engine/test", "polling", "safety"),
    _named("engine/test", "auth", "tariffs", "correlation"),
    (
        "tests/engine/test_redaction.py",
        *_named("observability/test", "events", "records_of_the_log", "echoed_tokens"),
    ),
)
NAMED_BOOKINGS: tuple[str, ...] = ("tests/resources/test_named_bookings.py",)
TRANSPORT: Stages = (
    _named("transport/test", "every_http_client", "random_replies"),
    _named("transport/test", "costly_replies", "cut_vouchers"),
    ("tests/backend/test_large_replies.py", "tests/protocols/test_mcp_streams.py"),
    _named("transport/test", "not_connected", "cut_connections"),
)
JOURNAL: Stages = (
    _named("journal/test_journal", "entries", "listing", "keys", "secrets"),
    _named("journal/test_journal", "forks", "damage", "files", "interrupts", "model"),
    _named("journal/test_journal", "age", "shape", "place", "plans", "costs"),
    _named("journal/test_journal", "settings", "limits"),
)
AGENTS: Stages = (
    _named(
        "agents/test_toolkit", "codes", "records", "unknown_outcomes", "fresh_facts", "together"
    ),
    _named(
        "agents/test",
        *("approvers", "changes", "guards_of_travel", "handles", "mistakes", "small_models"),
        *("names", "penalties", "useless_questions"),
    ),
    ("tests/agents/test_state_file.py",),
    _named("agents/test_toolkit", "journey", "any_course"),
)
QUESTIONS: tuple[str, ...] = _named("agents/test", "repeated_questions", "approvers")
HOSTS: Stages = (
    _named("stdio/test_stdio", "questions"),
    _named("stdio/test_stdio", "cards", "answers"),
)
PRIVATE_FILES: Stages = (("tests/test_private_files.py",),)
PLANNING: Stages = (
    _named("planning/test", "values", "places"),
    _named("planning/test", "trips", "calendars", "streams"),
    _named("planning/test", "routes", "stopping"),
    ("tests/planning/test_unreadable.py",),
)
RATE: Stages = (
    _named("rate/test", "waiting_queue", "shared_schedule", "sharing", "arguments"),
    ("tests/rate/test_every_request.py",),
)
SCAN: Stages = (
    ("tests/scan/test_folders.py",),
    _named("scan/test", "scans", "scan_tables", "scan_unreadable"),
)
ORDERS: Stages = (
    ("tests/orders/test_any_course.py",),
    _named("orders/test", "orders", "problems"),
)
CONFORMANCE: Stages = (
    _named("conformance/test", "reads", "privacy"),
    _named("conformance/test", "profiles", "bookings"),
)
WATCH: Stages = (
    _named("aftersales/test", "watch_decisions", "watch_departures"),
    _named("aftersales/test", "watch", "watch_recipes"),
)
OFFERS: Stages = (
    _named("offers/test", "rules", "offer_decisions"),
    _named("offers/test", "offer_kills", "offer_watch", "histories"),
)
KEYS: Stages = (
    ("tests/journal/test_idempotency_keys.py",),
    ("tests/journal/test_key_courses.py", "tests/orders/test_order_keys.py"),
)
SHARED_READS: Stages = (("tests/backend/test_shared_searches.py",),)
MCP: Stages = (
    _named("protocols/test", "lost_sessions", "tool_texts"),
    _named("protocols/test", "mcp_sessions", "mcp_envelopes"),
    ("tests/protocols/test_mcp_newest.py",),
)
CLIENTS: Stages = (
    ("tests/transport/test_promises.py",),
    _named("transport/test", "own_clients", "not_connected"),
    _named("backend/test", "connections", "closing"),
)
RECORDS: Stages = (
    ("tests/models/test_tolerance.py",),
    _named("models/test", "models", "records", "columns", "money"),
)
TESTS: dict[str, Stages] = {
    "_transport/default_client": CLIENTS,
    "_transport/proxies": (("tests/transport/test_own_clients.py",),),
    "_transport/cookies": CLIENTS,
    "_transport/http11/pool": CLIENTS,
    "_runtime/access_lists": PRIVATE_FILES,
    "_runtime/private_files": (*PRIVATE_FILES, AGENTS[2]),
    "_runtime/hosts": (("tests/engine/test_settings.py",),),
    "_engine/flow": FLOW,
    "_engine/attempts": FLOW,
    "_engine/parsing": RECORDS,
    "models/base": (*RECORDS, ("tests/protocols/test_exact_numbers.py",)),
    "_engine/writes": (*FLOW, NAMED_BOOKINGS, ("tests/rate/test_every_request.py",)),
    "_engine/booking_ids": (NAMED_BOOKINGS, *FLOW),
    "_engine/polling": (FLOW[2], *FLOW),
    "_engine/read_back": FLOW,
    "_engine/retry": FLOW,
    "_engine/context": FLOW,
    "_engine/requests": (
        *FLOW,
        ("tests/rate/test_every_request.py",),
        ("tests/protocols/test_exact_numbers.py", "tests/backend/test_many_values.py"),
    ),
    "_engine/sending": (
        ("tests/engine/test_sending.py", "tests/engine/test_flow.py"),
        _named("transport/test", "not_connected", "cut_connections"),
        *FLOW,
    ),
    "_engine/safety": (FLOW[2], *FLOW, ("tests/resources/test_requests.py",)),
    "_protocols/mcp/lost_session": MCP,
    "_protocols/mcp/call": MCP,
    "_protocols/mcp/results": MCP,
    "_transport/exchange": (
        *TRANSPORT,
        _named("backend/test", "canaries", "deadlines"),
        ("tests/transport/test_given_up.py",),
        ("tests/observability/test_records_of_the_log.py",),
    ),
    "_transport/http11/replies": (
        ("tests/transport/http11/test_damaged_replies.py",),
        *TRANSPORT,
        ("tests/transport/http11/test_own_replies.py",),
    ),
    "_protocols/voucher": (
        ("tests/protocols/test_vouchers.py",),
        ("tests/transport/test_cut_vouchers.py",),
    ),
    "journal/journal": JOURNAL,
    "journal/statements": JOURNAL,
    "journal/rows": JOURNAL,
    "journal/creation": JOURNAL,
    "journal/compilation": JOURNAL,
    "journal/shape": (JOURNAL[2], *JOURNAL[:2]),
    "journal/database_file": (JOURNAL[2], *JOURNAL[:2]),
    "journal/connections": (JOURNAL[3], *JOURNAL),
    "journal/time_limits": (JOURNAL[3], *JOURNAL[:2]),
    "journal/fork": JOURNAL,
    "_runtime/fork": JOURNAL,
    "agents/decisions": AGENTS,
    "agents/policy/writes": AGENTS,
    "agents/policy/changes": AGENTS,
    "agents/policy/creation": AGENTS,
    "agents/policy/budget": AGENTS,
    "agents/policy/duplicates": AGENTS,
    "agents/policy/approval": (QUESTIONS, *AGENTS),
    "agents/policy/known_ids": AGENTS,
    "agents/policy/trip_answers": (*AGENTS, _named("agents/test_toolkit", "trips", "unreadable")),
    "agents/policy/state": (AGENTS[2], *AGENTS),
    "agents/mcp_server/questions": HOSTS,
    "agents/mcp_server/writes": HOSTS[::-1],
    "agents/mcp_server/card": HOSTS[1:],
    "_engine/batch": (("tests/engine/test_batch.py",), *PLANNING, OFFERS[0]),
    "planning/search": (PLANNING[1], *PLANNING),
    "planning/request": (PLANNING[1], *PLANNING),
    "planning/trips": PLANNING,
    "planning/results": (PLANNING[3], *PLANNING),
    "planning/names": PLANNING,
    "planning/routes": (PLANNING[2], *PLANNING),
    "planning/catalogues": (PLANNING[2], *PLANNING),
    "planning/calendar": (PLANNING[1], PLANNING[3]),
    "planning/connections": (("tests/planning/test_connection_search.py",), *PLANNING),
    "rate/schedule": RATE,
    "rate/waiting_queue": RATE,
    "rate/limiter": RATE,
    "scan/searches": SCAN,
    "scan/storage": SCAN,
    "scan/parts": SCAN,
    "_engine/shared_reads": SHARED_READS,
    "journal/idempotency": KEYS,
    "journal/offers": OFFERS,
    "offers/rules": OFFERS,
    "offers/verdicts": OFFERS,
    "offers/answers": OFFERS,
    "offers/watcher": OFFERS,
    "aftersales/departures": WATCH,
    "aftersales/storage": WATCH,
    "aftersales/watcher": WATCH,
    "aftersales/schedule": WATCH,
    "aftersales/reconciliation": (("tests/aftersales/test_reconcile.py",),),
    "conformance/findings": CONFORMANCE,
    "conformance/checks": CONFORMANCE,
    "conformance/probes": CONFORMANCE,
    "orders/steps": (*ORDERS, *KEYS),
    "orders/progress": (*ORDERS, *KEYS),
}
"""The modules that decide, by their path in the package, and the tests that know them."""


def choose(modules: Iterable[str], count: int, seed: int) -> list[Mutation]:
    """Return the mutations of a run: a share of each module, the same on every machine.

    A mutation is chosen by the hash of its own text, so that other changes of the module do not
    change the choice.
    """
    known = {name: mutations_of(ROOT / "ferry_sdk" / f"{name}.py", name) for name in modules}
    total = sum(map(len, known.values()))
    found: list[Mutation] = []
    for mutations in known.values():
        share = -(-count * len(mutations) // total)
        found += sorted(mutations, key=lambda mutation: _rank(mutation, seed))[:share]
    return found


def _rank(mutation: Mutation, seed: int) -> bytes:
    return hashlib.sha256(f"{seed} {mutation.key}".encode()).digest()


class Workplaces:
    """Copies of the package and its tests, one for each mutation that is tried at a time.

    Args:
        folder: Where they are made.
        jobs: How many.
    """

    def __init__(self, folder: Path, jobs: int) -> None:
        self._free: SimpleQueue[Path] = SimpleQueue()
        self._seconds: dict[tuple[str, ...], float] = {}
        for number in range(jobs):
            place = folder / str(number)
            place.mkdir()
            for name in COPIED:
                copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
                copy(ROOT / name, place / name)
            self._free.put(place)

    def measure(self, stage: tuple[str, ...]) -> None:
        """Measure tests without a mutation. With one, they may take three times as long."""
        place = self._free.get()
        began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        if failure := first_failure(place, stage, _LONGEST):
            sys.exit(f"{stage} fails without any mutation: {failure}")
        took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - began
        self._seconds[stage] = 10 + 3 * took
        self._free.put(place)

    def find_failure(self, mutation: Mutation) -> str:
        """Run the tests with a mutation. Return the first that failed; empty if none did."""
        place = self._free.get()
        changed = place / "ferry_sdk" / f"{mutation.module}.py"
        before = changed.read_text()
        try:
            changed.write_text(mutation.apply(before))
            for stage in TESTS[mutation.module]:
                if failure := first_failure(place, stage, self._seconds[stage]):
                    return failure
            return ""
        finally:
            changed.write_text(before)
            for compiled in changed.parent.glob(f"__pycache__/{changed.stem}.*"):
                compiled.unlink()
            self._free.put(place)


def first_failure(place: Path, tests: tuple[str, ...], seconds: float) -> str:
    """Run tests in a folder, and return the first that fails; empty if none does.

    Tests that run for ever, or take all memory, fail.

    Args:
        place: The folder.
        tests: The files.
        seconds: The most processor time.
    """
    limits = f'ulimit -t {int(seconds)} -v {MEMORY}; exec "$@"'
    command = ["bash", "-c", limits, "bash", sys.executable, "-m", "pytest", "-x", "-q"]
    command += ["-p", "no:cacheprovider", "-o", "timeout=120", "-m", "not long or slow"]
    command += ["--tb=no", "-k", "not postgresql", *tests]  # to start a database takes time
    environment = {**os.environ, "PYTHONPATH": str(place)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    try:
        done = subprocess.run(  # noqa: S603 -- the tests of this project
            command,
            cwd=place,
            env=environment,
            capture_output=True,
            check=False,
            text=True,
            timeout=_LONGEST,
        )
    except subprocess.TimeoutExpired:
        return f"pytest took more than {_LONGEST} s"

    if done.returncode == 0:
        return ""
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0] if failed else f"pytest ended with {done.returncode}"


def equivalents() -> dict[str, str]:
    """Return the mutations that make no difference, each with its reason."""
    listed = tomllib.loads(EQUIVALENT.read_text())["mutation"]
    return {f"{one['module']} {one['function']}: {one['change']}": one["reason"] for one in listed}


def try_all(found: list[Mutation], jobs: int) -> Iterator[tuple[Mutation, str]]:
    """Try each mutation; yield it with the test that noticed it."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        places = Workplaces(Path(folder), jobs)
        stages: dict[tuple[str, ...], None] = {}
        for mutation in found:
            stages.update(dict.fromkeys(TESTS[mutation.module]))
        for stage in stages:
            places.measure(stage)
        yield from zip(found, pool.map(places.find_failure, found), strict=True)


def main() -> None:
    """Run the mutations, print what survived, and fail if the reason of one is not known."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=210, help="how many, at the least")
    parser.add_argument("--only", choices=TESTS, help="of one module only")
    parser.add_argument("--like", default="", help="only those whose line has this text in it")
    parser.add_argument("--seed", type=int, default=0, help="choose others")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--list", action="store_true", help="print them and run nothing")
    options = parser.parse_args()

    modules = [options.only] if options.only else TESTS
    found = choose(modules, options.count, options.seed)
    found = [one for one in found if options.like in one.key]
    if options.list:
        print("\n".join(one.key for one in found))
        return

    known = equivalents()
    counts: Counter[str] = Counter()
    began = time.monotonic()
    for mutation, failure in try_all(found, options.jobs):
        unnoticed = "equivalent" if mutation.key in known else "SURVIVED"
        verdict = "noticed" if failure else unnoticed
        counts[verdict] += 1
        print(f"{verdict:10}  {mutation.key}  {failure}", flush=True)
    said = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    print(f"{len(found)} mutations in {time.monotonic() - began:.0f} s: {said}.")
    if counts["SURVIVED"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
