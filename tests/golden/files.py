"""Writes the golden files of this version: whatever the package writes for a later version to read.

Usage: python -m tests.golden.files VERSION

`scripts/golden` runs it. Two runs write the same files, because the world of `world` stands still;
the bytes of a database also depend on the version of SQLite, and those of a part of a scan on that
of pyarrow.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

from ferry_sdk import conformance
from ferry_sdk.planning.catalogues import clear_cache
from ferry_sdk.sandbox import Profile
from ferry_sdk.scan import FareScan, Party
from scripts.breaking_changes import VERSION, versions_in
from tests.golden import agents, commands, events, journal, values
from tests.golden.world import ADDRESS, ADULT, client_of, new_service, repeatable
from tests.support.postgres import Postgres, binaries
from tests.support.trip import DAY

FOLDER = Path(__file__).parent
PROFILE = {"no_sailings": "empty_list", "date_header": "absent"}
SETUP = ("--", "SET ", "\\", "SELECT pg_catalog.set_config", "CREATE SCHEMA", "COMMENT ON SCHEMA")
"""How the lines of a dump begin that concern its schema and its session."""


def versions():
    """Return the versions that have golden files, the newest last."""
    return versions_in(path.name for path in FOLDER.iterdir())


# ---- Databases and folders --------------------------------------------------------------------


def write_journal(folder):
    """Write the journal as a file of SQLite, and the state of the service that has its bookings."""
    with new_service(state=folder / "sandbox.db") as service:
        journal.fill(f"sqlite:///{folder / 'journal.db'}", service)


def write_dump(folder):
    """Write the same journal as the statements that make it in PostgreSQL."""
    with Postgres(binaries()) as server:
        url = server.new_url()
        with new_service() as service:
            journal.fill(url, service)
        folder.joinpath("journal.sql").write_text(dump(server, url), encoding="utf-8")


def dump(server, url):
    """Return the statements that make the tables of a journal again, in any schema."""
    schema = url.rpartition("%3D")[2]
    options = ("--inserts", "--no-owner", "--no-privileges", f"--schema={schema}")
    address = ("--host", str(server.home), "--username", "ferry", "postgres")
    program = str(binaries() / "pg_dump")
    done = subprocess.run([program, *options, *address], capture_output=True, text=True, check=True)
    lines = done.stdout.replace(f"{schema}.", "").splitlines()
    return "".join(f"{line}\n" for line in lines if line and not line.startswith(SETUP))


def write_agents(folder):
    """Write the state and the audit of agents."""
    with tempfile.TemporaryDirectory() as temporary, new_service() as service:
        agents.fill(Path(temporary), service)
        for name in ("agents.db", "audit.jsonl"):
            shutil.copyfile(Path(temporary) / name, folder / name)


def write_routes(folder):
    """Write the file of a route cache."""
    with new_service() as service, client_of(service, route_cache=folder / "routes") as ferry:
        ferry.routes.find()


def write_scan(folder):
    """Write the folder of a scan, in which one part is missing."""
    with new_service() as service, client_of(service) as ferry:
        new_scan(folder / "scan").run(ferry, concurrency=1)
    folder.joinpath("scan", ".lock").unlink()
    folder.joinpath("scan", "part-00001.parquet").unlink()


def new_scan(folder):
    """Return a scan of two parts, of 20 and of 4 searches."""
    return FareScan(
        folder,
        routes=[("Genoa", "Tunis")],
        dates=(DAY, DAY + timedelta(days=11)),
        parties=[Party("adult", [ADULT])],
        part_size=20,
    )


def write_profile(folder):
    """Write the profile that `ferry conform` makes of a service that differs."""
    with new_service(profile=Profile(**PROFILE)) as service, client_of(service) as ferry:
        write_json(folder / "profile.json", conformance.check(ferry).profile())


# ---- Values, events and documents -------------------------------------------------------------


def write_values(folder):
    """Write pickles, and records as JSON."""
    write_json(folder / "errors.json", values.errors())
    write_json(folder / "records.json", values.records())
    write_json(folder / "values.json", values.others())


DOCUMENTS = {
    "events/hooks.json": events.hook_events,
    "events/bookings.json": events.watch_events,
    "events/offers.json": events.offer_events,
    "tools.json": events.tool_answers,
}
"""The files of JSON whose members users read, except those of commands."""


def write_documents(folder):
    """Write the events, the answers of tools, and what commands print."""
    for name, make in DOCUMENTS.items():
        with new_service() as service:
            made = make(service)
        write_json(folder / name, made, address=service.base_url)

    with tempfile.TemporaryDirectory() as temporary, new_service() as service:
        printed = commands.documents(service, Path(temporary))
    for name, documents in printed.items():
        file = re.sub(r"\W+", "-", name)
        write_json(folder / "commands" / f"{file}.json", documents)


def write_json(path, document, *, address=ADDRESS):
    """Write a document, with the same address of the service in each run."""
    path.parent.mkdir(exist_ok=True)
    text = json.dumps(document, indent=1, ensure_ascii=False)
    path.write_text(text.replace(address, ADDRESS) + "\n", encoding="utf-8")


# ---- All of them ------------------------------------------------------------------------------

WRITERS = (
    write_journal,
    write_dump,
    write_agents,
    write_routes,
    write_scan,
    write_profile,
    write_values,
    write_documents,
)


def write(folder):
    """Write all golden files to an empty folder that nobody else can change."""
    for writer in WRITERS:
        clear_cache()
        with repeatable():
            writer(folder)
    clear_cache()


def main(version):
    """Write the golden files of a version, unless it is released."""
    folder = FOLDER / version
    list_tags = ["git", "tag"]
    tags = subprocess.run(list_tags, capture_output=True, text=True, check=False).stdout
    if not VERSION.fullmatch(version):
        sys.exit(f"{version} is no version, such as 0.2.0")
    if f"v{version}" in tags.split():
        sys.exit(f"{version} is released: its golden files never change")

    with tempfile.TemporaryDirectory() as temporary:
        write(Path(temporary))
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(temporary, folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
