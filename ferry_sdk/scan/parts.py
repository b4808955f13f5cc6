"""The Parquet file of a part, with a digest that detects damage.

The file's metadata has a description as JSON, which is the last text in the file:

    {"digest": "5f70…", "format": 2, "scan": "…", "library": "0.1.0", "report": {…}}

The digest is of all other bytes of the file. `write_part` first writes zeros in its place, and
`_seal` replaces them. To check a file, `_seal` is applied to its content: a file that is whole does
not change.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as untyped_pa  # type: ignore[import-untyped]  # noqa: ICN001 -- it has no types
import pyarrow.compute as untyped_pc  # type: ignore[import-untyped]  # it has no types
import pyarrow.parquet as untyped_pq  # type: ignore[import-untyped]  # it has no types
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from ferry_sdk._runtime.files import read_file, write_file
from ferry_sdk._runtime.version import __version__
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.scan.report import ScanReport
from ferry_sdk.scan.searches import Search
from ferry_sdk.scan.storage import FORMAT, unusable
from ferry_sdk.scan.tables import SCHEMA

logger: logging.Logger = logging.getLogger("ferry_sdk")
pa: Any = untyped_pa
pc: Any = untyped_pc
pq: Any = untyped_pq

_KEY: Final = b"ferry_sdk.scan"
"""The key of the description in the metadata."""
_BEFORE_DIGEST: Final = b'{"digest": "'
"""The text before the digest of a file."""
_DIGITS: Final = 2 * sha256().digest_size
"""The hexadecimal digits of a digest."""
_MAGIC: Final = b"PAR1"
"""The first and the last bytes of a Parquet file."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part to be asked.

    Attributes:
        path: Its file.
        scan: The id of the scan.
        searches: Its searches.
        run: The id of the run. Dask runs two tasks with equal arguments only once, and the parts of
            two runs would be equal without it.
    """

    path: Path
    scan: str
    searches: Sequence[Search] = field(repr=False)
    run: str


class _Description(TypedDict):
    """The description of a part, at the end of its file."""

    format: int
    scan: str
    library: str
    report: ScanReport


_DESCRIPTION: Final = TypeAdapter(_Description)


class _OpenPart(NamedTuple):
    """A part whose file is whole.

    Attributes:
        report: Its report.
        file: Its rows, a pyarrow.ParquetFile.
    """

    report: ScanReport
    file: Any


def read_report(path: Path, scan: str) -> ScanReport | None:
    """Return the report of a part; None if it has to be asked again: no file, or a damaged one.

    Raises:
        InvalidInputError: It is the part of another scan, or has another format.
        PermissionError: The file must not be read.
    """
    part = _open(path, scan)
    return None if part is None else part.report


def read_rows(paths: Iterable[Path], scan: str) -> Any:  # noqa: ANN401 -- a pyarrow.Table
    """Return the rows of the parts that are there and whole."""
    tables = [SCHEMA.empty_table()]
    for path in paths:
        part = _open(path, scan)
        if part is not None:
            tables.append(part.file.read(use_threads=False).replace_schema_metadata())
    return pa.concat_tables(tables)


def read_done(path: Path, scan: str) -> Any:  # noqa: ANN401 -- a pyarrow.Table
    """Return the rows of the searches of a part that are done."""
    rows = read_rows([path], scan)
    return rows.filter(pc.not_equal(rows["status"], "failed"))


def write_part(part: Part, done: Any, rows: Any) -> ScanReport:  # noqa: ANN401 -- tables of pyarrow
    """Write a part, unless its file has more answers.

    The file has more if the run of this worker was killed and a later run has asked the part.

    Args:
        part: The part.
        done: The rows of searches that were done before, a pyarrow.Table.
        rows: The rows of new answers, another one.

    Returns:
        The counts of the new answers.

    Raises:
        OSError: Writing failed; a file that was there before has not changed.
    """
    table = pa.concat_tables([done, rows])
    change = _report_of(rows, size=0)
    report = _report_of(table, size=len(part.searches))
    former = read_report(part.path, part.scan)
    if former is not None and former.done > report.done:
        return change

    members = {
        "digest": "0" * _DIGITS,
        "format": FORMAT,
        "scan": part.scan,
        "library": __version__,
        "report": asdict(report),
    }
    # The digest needs all other bytes, so the file is made in memory.
    stream = pa.BufferOutputStream()
    with pq.ParquetWriter(stream, SCHEMA, compression="zstd") as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({_KEY: json.dumps(members)})
    write_file(part.path, _seal(stream.getvalue().to_pybytes()))
    return change


def _report_of(rows: Any, size: int) -> ScanReport:  # noqa: ANN401 -- a pyarrow.Table
    """Return the report of a number of searches that have these rows."""
    statuses = _counts_of(rows["status"])
    # An answered search has a row for each fare; a search with nothing, or that failed, has one.
    searches = len(rows["search"].unique())
    return ScanReport(
        size=size,
        answered=searches - statuses["nothing"] - statuses["failed"],
        nothing=statuses["nothing"],
        failed=statuses["failed"],
        unreadable=statuses["unreadable"],
        reasons=dict(_counts_of(rows["reason"].drop_null())),
    )


def _counts_of(column: Any) -> Counter[str]:  # noqa: ANN401 -- a pyarrow.ChunkedArray
    """Return how often each value is in a column."""
    counts: list[dict[str, Any]] = column.value_counts().to_pylist()
    return Counter({row["values"]: row["counts"] for row in counts})


def _open(path: Path, scan: str) -> _OpenPart | None:
    """Return a part whose file is whole; None if it has to be asked again.

    Raises:
        InvalidInputError: It is the part of another scan, or has another format.
        PermissionError: The file must not be read.
    """
    try:
        content = read_file(path)
        if content == _seal(content):  # the digest is that of the content
            file = pq.ParquetFile(pa.BufferReader(content))
            metadata: dict[bytes, bytes] = file.metadata.metadata or {}

            members = _DESCRIPTION.validate_json(metadata[_KEY], strict=True)
            if (members["format"], members["scan"]) != (FORMAT, scan):
                raise _foreign(path, f"ferry_sdk {members['library']}")
            if file.schema_arrow.equals(SCHEMA):
                return _OpenPart(members["report"], file)

        elif _is_foreign(content):
            raise _foreign(path, "another program")
        problem = "wrong content"

    except FileNotFoundError:
        return None
    except (PermissionError, InvalidInputError):
        raise
    except (pa.ArrowException, OSError, LookupError, ValueError) as error:
        problem = type(error).__name__

    logger.warning("%s is damaged, and is asked again: %s", path, problem)
    return None


def _seal(content: bytes) -> bytes:
    """Return the content of a file with the right digest in place of the one that it has."""
    head, key, rest = content.rpartition(_BEFORE_DIGEST)
    before = head + key
    after = rest[_DIGITS:]
    digest = sha256(before + after).hexdigest().encode()
    return before + digest + after


def _foreign(path: Path, writer: str) -> InvalidInputError:
    """Return the error of a file that is not of this scan."""
    return unusable(f"{path.name} is of another scan or format, written by {writer}")


def _is_foreign(content: bytes) -> bool:
    """Return whether it is a whole Parquet file that the library has not written.

    A file of the library has both texts, and still one of them if a bit of it was flipped.
    """
    is_own = _KEY in content or _BEFORE_DIGEST in content
    return not is_own and content.startswith(_MAGIC) and content.endswith(_MAGIC)
