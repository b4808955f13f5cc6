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
from tests.support.routes import know_routes
from tests.support.tiers import LONG
from tests.support.trip import NOW

FIRST, SECOND = "part-00000.parquet", "part-00001.parquet"
SIZE_OF_PART = b'{"size": %d, ' % (SIZE // 2)


@pytest.fixture(scope="module")
def service():
    with Sandbox(now=NOW) as sandbox:
        know_routes(sandbox)
        yield sandbox


@pytest.fixture(scope="module")
def scanned(service, tmp_path_factory):
    """The folder of a complete scan."""
    folder = tmp_path_factory.mktemp("scanned")
    client = partial(AsyncFerry, service.token, base_url=service.base_url)
    assert new_scan(folder).run(client).done
    return folder


@pytest.fixture
def make_client(service):
    know_routes(service)
    return partial(AsyncFerry, service.token, base_url=service.base_url)


@pytest.fixture
def complete(scan, folder, scanned):
    """A scan that is complete, in a folder of the test's own."""
    copytree(scanned, folder)
    return scan


@pytest.fixture
def run(complete, make_client):
    """Run that scan again."""
    return partial(complete.run, make_client)


def assert_refused(problem, use):
    with pytest.raises(InvalidInputError, match=problem) as caught:
        use()
    assert caught.value.field == "folder"


class TestDamagedParts:
    @pytest.mark.slow
    def test_damaged_pages_are_asked_again(self, scan, make_client, service, folder):
        service.faults.add("server_error", "availability.search", times=7)
        assert scan.run(partial(make_client, max_retries=0)).failed == 7
        content = (folder / FIRST).read_bytes()
        end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
        flipped = bytes(byte ^ 0xFF for byte in content[4:end])
        (folder / FIRST).write_bytes(content[:4] + flipped + content[end:])
        assert scan.run(make_client).is_complete
        check_rows(folder)

    def test_any_flipped_bit_is_noticed(self, complete, folder):
        scan_id, _ = complete._searches()
        content = (folder / FIRST).read_bytes()
        for position in range(0, len(content), 29):
            damaged = bytearray(content)
            damaged[position] ^= 1 << position % 8
            (folder / FIRST).write_bytes(damaged)
            assert read_report(folder / FIRST, scan_id) is None, position

    def test_damaged_part_has_no_rows(self, complete, folder):
        content = bytearray((folder / FIRST).read_bytes())
        content[len(content) // 2] ^= 1
        (folder / FIRST).write_bytes(content)
        assert complete.report.not_asked == SIZE / 2
        assert complete.to_frame()["search"].nunique() == SIZE / 2

    @pytest.mark.parametrize("left", [0, 1, 300, -1], ids=["none", "one", "300", "all but one"])
    def test_truncated_part_is_not_done(self, complete, folder, left):
        content = (folder / FIRST).read_bytes()
        (folder / FIRST).write_bytes(content[:left])
        assert complete.report.not_asked == SIZE / 2

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            pytest.param(b'"report": ', b'"repart": ', id="no report"),
            pytest.param(SIZE_OF_PART, b'{"size": {},'.ljust(len(SIZE_OF_PART)), id="size"),
            pytest.param(b'"format": 2', b'"format":"2', id="a quote"),
            pytest.param(b'"library": "', b'"library":  ', id="no JSON"),
            pytest.param(b'"scan": "', b'"scan": [', id="a bracket"),
            pytest.param(b'"reasons": {}', b'"reasons": []', id="reasons"),
            pytest.param(b"PAR1", b"PAR2", id="another kind of file"),
            pytest.param(b"depart_code", b"depart_cod\xff", id="no text"),
            pytest.param(b"sailing_id", b"sailing_ie", id="another column"),
        ],
    )
    def test_tampered_part_is_not_done(self, complete, folder, old, new):
        """The digest is right, but the content is not of a scan."""
        content = (folder / FIRST).read_bytes()
        assert old in content
        assert len(old) == len(new)
        (folder / FIRST).write_bytes(_seal(content.replace(old, new)))
        assert complete.report.not_asked == SIZE / 2
        assert complete.to_frame()["search"].nunique() == SIZE / 2

    def test_run_replaces_the_part(self, run, folder):
        (folder / f"{storage.TEMPORARY}1").write_bytes(b"PAR1")  # of a killed process
        (folder / FIRST).write_bytes((folder / FIRST).read_bytes()[:-1])
        assert run().is_complete
        check_rows(folder)
        names = sorted(file.name for file in folder.iterdir())
        assert names == [".lock", FIRST, SECOND, "scan.json"]


def test_worker_of_an_earlier_run_replaces_nothing(complete, folder):
    scan_id, searches = complete._searches()
    part = Part(folder / FIRST, scan_id, searches=searches.part(0), run="earlier")
    content = part.path.read_bytes()
    rows = Rows()
    for search in part.searches[:5]:
        rows.add(search, BatchAnswer(None, None, None, 0.0))
    write_part(part, Rows().table(), rows.table())
    assert part.path.read_bytes() == content


class TestOtherScans:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("routes", [("Tunis", "Genoa")]),
            ("dates", (DAYS[0], DAYS[3])),
            ("parties", [LONE]),
            ("companies", ["GNV"]),
            ("part_size", 20),
        ],
        ids=["routes", "dates", "parties", "companies", "part_size"],
    )
    def test_folder_of_another_scan_is_refused(self, scanned, make_client, name, value):
        other = new_scan(scanned, **{name: value})
        for use in (lambda: other.run(make_client), lambda: other.report, other.to_frame):
            assert_refused(f"with other {name}; use another folder", use)
        assert new_scan(scanned).report.is_complete

    def test_folder_of_another_service_is_refused(self, complete, make_client):
        other = partial(make_client, base_url="http://127.0.0.1:9")
        both = r"it holds a scan of http://127.*, not of http://127\.0\.0\.1:9; .* Sandbox\(port="
        assert_refused(both, lambda: complete.run(other))

    def test_part_of_another_format_is_refused(self, run, monkeypatch):
        monkeypatch.setattr("ferry_sdk.scan.parts.FORMAT", 3)
        assert_refused("of another scan or format, written by ferry_sdk", run)

    def test_manifest_of_another_format_is_refused(self, run, monkeypatch):
        monkeypatch.setattr("ferry_sdk.scan.storage.FORMAT", 3)
        assert_refused(r"scan\.json was written by ferry_sdk .* another", run)

    def test_part_of_another_scan_stays(self, run, make_client, folder, tmp_path):
        new_scan(tmp_path / "other", companies=["GNV"]).run(make_client)
        content = (tmp_path / "other" / FIRST).read_bytes()
        (folder / FIRST).write_bytes(content)
        assert_refused(f"{FIRST} is of another scan", run)
        assert (folder / FIRST).read_bytes() == content

    def test_file_of_another_program_is_refused(self, complete, folder):
        pq.write_table(pa.table({"a": [1]}), folder / FIRST)
        assert_refused("written by another program", lambda: complete.report)


MEMBERS = {
    "format": ["2", 1e400],
    "library": [1],
    "scan": [7, ["x"]],
    "created_at": [],
    "service": [{}],
    "asked": [[], "routes", {}],
    "size": ["60", 61],
    "part_count": [{}],
    "company_routes": [7, [], [["ITGOA"]], ["abcd"], [[1, 2, 3, 4]]],
    "runs": [{}, [1], "no"],
}
"""Values of the manifest's members that another program wrote."""
TAMPERED = [
    pytest.param(name, value, id=f"{name}: {value}")
    for name, values in MEMBERS.items()
    for value in values
]


class TestTamperedManifests:
    def assert_all_refuse(self, complete, run, content, problem="use another folder"):
        (complete.folder / "scan.json").write_bytes(content)
        for use in (run, complete.to_frame, lambda: complete.size):
            assert_refused(problem, use)

    @pytest.mark.parametrize(("name", "value"), TAMPERED)
    def test_wrong_member_is_refused(self, complete, run, name, value):
        manifest = json.loads((complete.folder / "scan.json").read_bytes())
        content = json.dumps(manifest | {name: value}).encode()
        self.assert_all_refuse(complete, run, content)

    @pytest.mark.parametrize("name", MEMBERS)
    def test_missing_member_is_refused(self, complete, run, name):
        manifest = json.loads((complete.folder / "scan.json").read_bytes())
        del manifest[name]
        self.assert_all_refuse(complete, run, json.dumps(manifest).encode())

    @pytest.mark.parametrize(
        "content",
        [
            pytest.param(b"", id="empty"),
            pytest.param(b"{}", id="no members"),
            pytest.param(b"[]", id="a list"),
            pytest.param(b"\xff", id="no text"),
            pytest.param(b'{"format": 1', id="cut"),
            pytest.param(b"[" * 100_000 + b"]" * 100_000, id="deep"),
        ],
    )
    def test_other_content_is_refused(self, complete, run, content):
        self.assert_all_refuse(complete, run, content, r"scan\.json cannot be read")

    def test_parts_without_a_manifest_are_refused(self, run, folder):
        (folder / "scan.json").unlink()
        assert_refused("there are parts, but no", run)


@pytest.mark.skipif(os.name != "posix", reason="Windows has no named pipes")
class TestPipes:
    """A pipe in place of a file does not block."""

    @pytest.mark.parametrize(
        ("name", "problem"),
        [
            ("scan.json", "scan.json cannot be read; use another folder"),
            (".lock", ".lock is not a file; use another folder"),
        ],
        ids=["manifest", "lock"],
    )
    def test_pipe_is_refused(self, run, folder, name, problem):
        (folder / name).unlink()
        os.mkfifo(folder / name)
        assert_refused(problem, run)

    def test_pipe_as_a_part_is_replaced(self, complete, run, folder):
        (folder / FIRST).unlink()
        os.mkfifo(folder / FIRST)
        assert complete.report.not_asked == SIZE / 2
        assert run().is_complete
        check_rows(folder)


@pytest.mark.slow
def test_full_disk_leaves_whole_parts(scan, make_client, folder, monkeypatch):
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


@pytest.mark.slow
def test_threads_do_not_share_a_folder(scan, make_client, folder):
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
def test_processes_do_not_share_a_folder(scan, make_client, folder):
    command, pipe = [sys.executable, "-c", LOCKED, str(folder)], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as other:
        assert other.stdout.readline().strip() == b"locked"
        assert_refused("another process scans into this folder", partial(scan.run, make_client))
        other.kill()
    assert scan.run(make_client).is_complete


@LONG
def test_first_block_of_the_page_runs_twice(tmp_path):
    block = next(one for one in all_blocks() if one.path.name == "scan.md")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    fixed = "Sandbox(port=8377)"
    assert fixed in block.source
    moved = dataclasses.replace(block, source=block.source.replace(fixed, f"Sandbox(port={port})"))
    for _ in range(2):  # the second run finds all that the first one has written
        assert moved.now(run_block(moved, tmp_path)) == moved.source


def test_manifest_can_be_read_by_people(tmp_path):
    storage.write_manifest(tmp_path, {"asked": {"parties": ["Zoë"]}})
    assert "Zoë" in (tmp_path / "scan.json").read_text(encoding="utf-8")


def test_temporary_file_may_be_renamed(tmp_path, monkeypatch):
    """A worker of a killed process renames its file while another scan removes such files."""
    monkeypatch.setattr(storage.Path, "glob", lambda self, _: [self / ".tmp-renamed"])
    with storage.lock(tmp_path):
        assert (tmp_path / ".lock").is_file()
