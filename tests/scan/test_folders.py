"""What a scan finds in its folder: parts that are damaged or of others, a lock, a full disk."""

import dataclasses
import errno
import json
import os
import socket
import subprocess
import sys
from functools import partial
from shutil import copytree
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ferry_sdk import AsyncFerry, InvalidInputError
from ferry_sdk._engine.batch import BatchAnswer
from ferry_sdk.sandbox import Sandbox
from ferry_sdk.scan import storage
from ferry_sdk.scan.parts import Part, _seal, read_report, write_part
from ferry_sdk.scan.tables import Rows
from tests.scan.season import DAYS, LONE, SIZE, check_rows, new_scan
from tests.support.blocks import all_blocks, run_block
from tests.support.cases import case
from tests.support.routes import know_routes
from tests.support.tables import each
from tests.support.tiers import LONG
from tests.support.trip import NOW

FIRST, SECOND = "part-00000.parquet", "part-00001.parquet"


@pytest.fixture(scope="module")
def service():
    with Sandbox(now=NOW) as sandbox:
        know_routes(sandbox)
        yield sandbox


@pytest.fixture(scope="module")
def known(service, tmp_path_factory):
    folder = tmp_path_factory.mktemp("known")
    assert new_scan(folder).run(partial(AsyncFerry, service.token, base_url=service.base_url)).done
    return folder


@pytest.fixture
def make_client(service):
    know_routes(service)
    return partial(AsyncFerry, service.token, base_url=service.base_url)


@pytest.fixture
def complete(scan, folder, known):
    copytree(known, folder)
    return scan


def assert_refused(problem, use):
    with pytest.raises(InvalidInputError, match=problem) as caught:
        use()
    assert caught.value.field == "folder"


def test_a_part_with_damaged_pages_and_failures_is_asked_again(scan, make_client, service, folder):
    service.faults.add("server_error", "availability.search", times=7)
    assert scan.run(partial(make_client, max_retries=0)).failed == 7
    content = (folder / FIRST).read_bytes()
    end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    flipped = bytes(one ^ 0xFF for one in content[4:end])
    (folder / FIRST).write_bytes(content[:4] + flipped + content[end:])
    assert scan.run(make_client).is_complete
    check_rows(folder)


def test_a_worker_after_its_run_replaces_nothing_and_a_flipped_bit_is_noticed(complete, folder):
    scan, searches = complete._searches()
    part = Part(folder / FIRST, scan, searches.part(0), "earlier")
    before = part.path.read_bytes()
    none = BatchAnswer(None, None, None, 0.0)
    rows = Rows()
    for search in part.searches[:5]:
        rows.add(search, none)
    write_part(part, Rows().table(), rows.table())
    assert part.path.read_bytes() == before
    content = (folder / FIRST).read_bytes()
    for position in range(0, len(content), 29):
        damaged = bytearray(content)
        damaged[position] ^= 1 << position % 8
        (folder / FIRST).write_bytes(damaged)
        assert read_report(folder / FIRST, complete._searches()[0]) is None, position
    assert complete.report.not_asked == SIZE / 2
    assert complete.to_frame()["search"].nunique() == SIZE / 2


CHANGES = {"routes": [("Tunis", "Genoa")], "dates": (DAYS[0], DAYS[3]), "parties": [LONE]}
CHANGES |= {"companies": ["GNV"], "part_size": 20}


@each(("name", "value"), CHANGES.items())
def test_the_folder_of_another_scan_is_an_error(known, make_client, name, value):
    other = new_scan(known, **{name: value})
    for use in (lambda: other.run(make_client), lambda: other.report, other.to_frame):
        assert_refused(f"with other {name}; use another folder", use)
    assert new_scan(known).report.is_complete


def test_the_folder_of_another_service_or_format_is_an_error(complete, make_client, monkeypatch):
    run = partial(complete.run, make_client)
    both = r"it holds a scan of http://127.*, not of http://127\.0\.0\.1:9; .* Sandbox\(port="
    assert_refused(both, lambda: complete.run(lambda: make_client(base_url="http://127.0.0.1:9")))
    monkeypatch.setattr("ferry_sdk.scan.parts.FORMAT", 3)
    assert_refused("of another scan or format, written by ferry_sdk", run)
    monkeypatch.setattr("ferry_sdk.scan.storage.FORMAT", 3)
    assert_refused(r"scan\.json was written by ferry_sdk .* another", run)


def test_a_part_of_another_scan_is_an_error(complete, make_client, folder, tmp_path):
    new_scan(tmp_path / "other", companies=["GNV"]).run(make_client)
    before = (tmp_path / "other" / FIRST).read_bytes()
    (folder / FIRST).write_bytes(before)
    assert_refused(f"{FIRST} is of another scan", partial(complete.run, make_client))
    assert (folder / FIRST).read_bytes() == before
    pq.write_table(pa.table({"a": [1]}), folder / FIRST)
    assert_refused("written by another program", lambda: complete.report)


TAMPERED = {
    "format": [None, "2", 1e400],
    "library": [None, 1],
    "scan": [None, 7, ["x"]],
    "created_at": [None],
    "service": [None, {}],
    "asked": [None, [], "routes", {}],
    "size": [None, "60", 61],
    "part_count": [None, {}],
    "company_routes": [None, 7, [], [["ITGOA"]], ["abcd"], [[1, 2, 3, 4]]],
    "runs": [None, {}, [1], "no"],
}
"""Values of the manifest that another program wrote; None: the member is missing."""


def test_a_tampered_manifest_is_an_error_that_says_what_to_do(complete, make_client, folder):
    run = partial(complete.run, make_client)

    def assert_all_refuse(content, problem=r"use another folder"):
        (folder / "scan.json").write_bytes(content)
        for use in (run, complete.to_frame, lambda: complete.size):
            with case(content[:200]):
                assert_refused(problem, use)

    manifest = json.loads((folder / "scan.json").read_bytes())
    for name, values in TAMPERED.items():
        for value in values:
            changed = {key: one for key, one in manifest.items() if key != name}
            if value is not None:
                changed[name] = value
            assert_all_refuse(json.dumps(changed).encode())
    for content in (b"", b"{}", b"[]", b"\xff", b'{"format": 1', b"[" * 100_000 + b"]" * 100_000):
        assert_all_refuse(content, r"scan\.json cannot be read")
    (folder / "scan.json").unlink()
    assert_refused("there are parts, but no", run)


def test_a_truncated_or_tampered_part_is_asked_again(complete, make_client, folder):
    (folder / f"{storage.TEMPORARY}1").write_bytes(b"PAR1")  # of a killed process
    content = (folder / FIRST).read_bytes()
    for left in (0, 1, 300, -1):
        (folder / FIRST).write_bytes(content[:left])
        assert complete.report.not_asked == SIZE / 2, left
    report = b'{"size": %d, ' % (SIZE // 2)
    changes = [
        *((b'"report": ', b'"repart": '), (report, b'{"size": {},'.ljust(len(report)))),
        *((b'"format": 2', b'"format":"2'), (b'"library": "', b'"library":  ')),
        *((b'"scan": "', b'"scan": ['), (b'"reasons": {}', b'"reasons": []'), (b"PAR1", b"PAR2")),
        *((b"depart_code", b"depart_cod\xff"), (b"sailing_id", b"sailing_ie")),
    ]
    for old, new in changes:
        assert old in content
        assert len(old) == len(new)
        (folder / FIRST).write_bytes(_seal(content.replace(old, new)))
        assert complete.report.not_asked == SIZE / 2, old
        assert complete.to_frame()["search"].nunique() == SIZE / 2
    assert complete.run(make_client).is_complete
    check_rows(folder)
    assert sorted(file.name for file in folder.iterdir()) == [".lock", FIRST, SECOND, "scan.json"]


@pytest.mark.skipif(os.name != "posix", reason="Windows has no named pipes")
def test_a_pipe_in_place_of_a_file_does_not_block(complete, make_client, folder):
    for name, problem in (
        ("scan.json", "scan.json cannot be read; use another folder"),
        (".lock", ".lock is not a file; use another folder"),
    ):
        content = (folder / name).read_bytes()
        (folder / name).unlink()
        os.mkfifo(folder / name)
        assert_refused(problem, partial(complete.run, make_client))
        (folder / name).unlink()
        (folder / name).write_bytes(content)
    (folder / FIRST).unlink()
    os.mkfifo(folder / FIRST)
    assert complete.report.not_asked == SIZE / 2
    assert complete.run(make_client).is_complete
    check_rows(folder)


def test_a_full_disk_leaves_whole_parts(scan, make_client, folder, monkeypatch):
    full = OSError(errno.ENOSPC, "No space left on device")
    # The manifest, its folder, the first part and its folder fit.
    monkeypatch.setattr(os, "fsync", Mock(side_effect=[None] * 4 + [full] * SIZE))
    with pytest.raises(OSError, match=r"No space left on device: '.*part-0000\d.parquet'"):
        scan.run(make_client)
    monkeypatch.undo()
    assert len([*folder.glob("*.parquet")]) == 1
    assert not [*folder.glob(f"{storage.TEMPORARY}*")]
    assert json.loads((folder / "scan.json").read_text("utf-8"))["runs"] == []
    assert scan.report.done == SIZE / 2
    assert scan.run(make_client).is_complete
    check_rows(folder)


def test_two_threads_do_not_share_a_folder(scan, make_client, folder):
    with storage.lock(folder):
        assert_refused("another thread scans into this folder", partial(scan.run, make_client))
    assert scan.run(make_client).is_complete


LOCKED = """
import sys
from pathlib import Path
from ferry_sdk.scan.storage import lock
with lock(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


@LONG
def test_two_processes_do_not_share_a_folder(scan, make_client, folder):
    command, pipe = [sys.executable, "-c", LOCKED, str(folder)], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as other:
        assert other.stdout.readline().strip() == b"locked"
        assert_refused("another process scans into this folder", partial(scan.run, make_client))
        other.kill()
    assert scan.run(make_client).is_complete


@LONG
def test_the_first_block_of_the_page_runs_twice(tmp_path):
    block = next(one for one in all_blocks() if one.path.name == "scan.md")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    fixed = "Sandbox(port=8377)"
    assert fixed in block.source
    moved = dataclasses.replace(block, source=block.source.replace(fixed, f"Sandbox(port={port})"))
    for _ in range(2):  # the second run finds all that the first one has written
        assert moved.now(run_block(moved, tmp_path)) == moved.source


def test_a_manifest_can_be_read_by_people_and_a_renamed_file_is_passed_over(tmp_path, monkeypatch):
    storage.write_manifest(tmp_path, {"asked": {"parties": ["Zoë"]}})
    assert "Zoë" in (tmp_path / "scan.json").read_text(encoding="utf-8")
    # A worker of a killed process renames its file.
    monkeypatch.setattr(storage.Path, "glob", lambda self, _: [self / ".tmp-renamed"])
    with storage.lock(tmp_path):
        assert (tmp_path / ".lock").is_file()
