"""The Parquet file of a part, with a digest that detects damage."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

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
_DIGEST: Final = b'{"digest": "'
"""The text before the digest of a file: the start of its description, the last text in it."""
_FOREIGN: Final = "{} is of another scan or format, written by {}"
_DIGITS: Final = 2 * sha256().digest_size
_MAGIC: Final = b"PAR1"
"""The first and the last bytes of a Parquet file."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part to be asked.

    Attributes:
        path: Its file.
        scan: The id of the scan.
        searches: Its searches.
        run: The id of the run: Dask takes two tasks with equal arguments for one.
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


def read_report(path: Path, scan: str) -> ScanReport | None:
    """Return the report of a part; None if it has to be asked again: no file, or a damaged one.

    Raises:
        InvalidInputError: It is the part of another scan, or has another format.
        PermissionError: The file must not be read.
    """
    opened = _open(path, scan)
    return None if opened is None else opened[0]


def read_rows(paths: Iterable[Path], scan: str) -> Any:  # noqa: ANN401 -- a pyarrow.Table
    """Return the rows of the parts that are there and whole."""
    tables = [SCHEMA.empty_table()]
    for path in paths:
        opened = _open(path, scan)
        if opened is not None:
            tables.append(opened[1].read(use_threads=False).replace_schema_metadata())
    return pa.concat_tables(tables)


def read_done(path: Path, scan: str) -> Any:  # noqa: ANN401 -- a pyarrow.Table
    """Return the rows of the searches of a part that are done."""
    rows = read_rows([path], scan)
    return rows.filter(pc.not_equal(rows["status"], "failed"))


def write_part(part: Part, done: Any, rows: Any) -> ScanReport:  # noqa: ANN401 -- tables of pyarrow
    """Write a part, unless a later run has asked more than this worker, whose own run was killed.

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
    change, report = _report_of(rows, 0), _report_of(table, len(part.searches))
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
    stream = pa.BufferOutputStream()
    with pq.ParquetWriter(stream, SCHEMA, compression="zstd") as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({_KEY: json.dumps(members)})
    write_file(part.path, _seal(stream.getvalue().to_pybytes()))
    return change


def _report_of(rows: Any, size: int) -> ScanReport:  # noqa: ANN401 -- a pyarrow.Table
    """Return the report of a number of searches that have these rows."""
    statuses, reasons = _counts_of(rows["status"]), _counts_of(rows["reason"].drop_null())
    nothing, failed = statuses["nothing"], statuses["failed"]
    answered = len(rows["search"].unique()) - nothing - failed
    return ScanReport(size, answered, nothing, failed, statuses["unreadable"], dict(reasons))


def _counts_of(column: Any) -> Counter[str]:  # noqa: ANN401 -- a pyarrow.ChunkedArray
    counts: list[dict[str, Any]] = column.value_counts().to_pylist()
    return Counter({each["values"]: each["counts"] for each in counts})


def _open(path: Path, scan: str) -> tuple[ScanReport, Any] | None:
    """Return the report and the pyarrow.ParquetFile of a part; None if it has to be asked again."""
    try:
        content = read_file(path)
        if content == _seal(content):
            file = pq.ParquetFile(pa.BufferReader(content))
            metadata: dict[bytes, bytes] = file.metadata.metadata or {}
            members = _DESCRIPTION.validate_json(metadata[_KEY], strict=True)
            if (members["format"], members["scan"]) != (FORMAT, scan):
                raise unusable(_FOREIGN.format(path.name, f"ferry_sdk {members['library']}"))
            if file.schema_arrow.equals(SCHEMA):
                return members["report"], file
        elif _is_foreign(content):
            raise unusable(_FOREIGN.format(path.name, "another program"))
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
    """Return the content of a file with the digest of all its other bytes in its place."""
    head, key, rest = content.rpartition(_DIGEST)
    before, after = head + key, rest[_DIGITS:]
    return before + sha256(before + after).hexdigest().encode() + after


def _is_foreign(content: bytes) -> bool:
    """Return whether it is a whole Parquet file that the library has not written.

    A flipped bit in a file of the library's leaves one of the two texts that name it.
    """
    is_own = _KEY in content or _DIGEST in content
    return not is_own and content[:4] == content[-4:] == _MAGIC
