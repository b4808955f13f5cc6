"""The Parquet file of a part: a row for each fare, and one for a search without a fare."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pyarrow as untyped_pa  # type: ignore[import-untyped]  # noqa: ICN001 -- it has no types
import pyarrow.parquet as untyped_pq  # type: ignore[import-untyped]  # it has no types

from ferry_sdk._version import __version__
from ferry_sdk.errors import FerryError, InvalidInputError, NoSailingsError
from ferry_sdk.models.availability import Availability, Tariff
from ferry_sdk.models.records import Records
from ferry_sdk.scan.report import ScanReport
from ferry_sdk.scan.searches import Search
from ferry_sdk.scan.storage import FORMAT, write_file

logger: logging.Logger = logging.getLogger("ferry_sdk")
pa: Any = untyped_pa
pq: Any = untyped_pq

_KEY: Final = b"ferry_sdk.scan"
_TEXT: Final = pa.string()
_MOMENT: Final = pa.timestamp("us", "UTC")
_CLOCK: Final = pa.timestamp("us")
_SEARCH: Final = {
    "search": _TEXT,
    "status": _TEXT,
    "reason": _TEXT,
    "asked_at": _MOMENT,
    "party": _TEXT,
    "company": _TEXT,
    "depart_code": _TEXT,
    "arrive_code": _TEXT,
    "journey_id": _TEXT,
    "day": pa.date32(),
}
_SAILING: Final = {
    "sailing_id": _TEXT,
    "ship_name": _TEXT,
    "depart_at": _MOMENT,
    "depart_local": _CLOCK,
    "arrive_at": _MOMENT,
    "arrive_local": _CLOCK,
}
_FARE: Final = {
    "tariff_type": _TEXT,
    "price": pa.decimal128(18, 4),
    "currency": _TEXT,
    "expires_at": _MOMENT,
}
_SCHEMA: Final = pa.schema([*_SEARCH.items(), *_SAILING.items(), *_FARE.items()])
_NO_FARE: Final = (None,) * (1 + len(_FARE))
_DECIMALS: Final = Decimal("0.0001")
_MOST: Final = Decimal(10) ** 14


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


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a search: sailings or an error."""

    search: Search
    asked_at: datetime
    sailings: Records[Availability] = field(default_factory=Records[Availability])
    error: FerryError | None = None


def read_report(path: Path, scan: str) -> ScanReport | None:
    """Return the report of a part from the end of its file; None if it has to be asked again.

    Raises:
        InvalidInputError: It is the part of another scan, or has another format.
    """
    try:
        metadata: dict[bytes, bytes] = pq.read_schema(path).metadata or {}
    except (FileNotFoundError, PermissionError) as error:
        if isinstance(error, PermissionError):
            raise
        return None
    except (pa.ArrowException, OSError) as error:
        logger.warning("%s is damaged, and is asked again: %s", path, type(error).__name__)
        return None
    members: dict[str, Any] = json.loads(metadata.get(_KEY, b"{}"))
    if (members.get("format"), members.get("scan")) != (FORMAT, scan):
        by = f"ferry_sdk {members['library']}" if members else "another program"
        raise InvalidInputError(
            f"{path.name} is of another scan or format, written by {by}; use another folder",
            field="folder",
        )
    report: dict[str, Any] = members["report"]
    return ScanReport(**report)


def read_rows(paths: Iterable[Path], scan: str) -> Any:  # noqa: ANN401 -- a pyarrow.Table
    """Return the rows of the parts that are there."""
    tables = [
        pq.ParquetFile(path).read(use_threads=False).replace_schema_metadata()
        for path in paths
        if read_report(path, scan) is not None
    ]
    return pa.concat_tables([_SCHEMA.empty_table(), *tables])


def read_done(path: Path, scan: str) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the searches of a part that are done, by the search."""
    done: dict[str, list[dict[str, Any]]] = {}
    for row in read_rows([path], scan).to_pylist():
        if row["status"] != "failed":
            done.setdefault(row["search"], []).append(row)
    return done


def write_part(
    part: Part, done: dict[str, list[dict[str, Any]]], answers: Sequence[Answer]
) -> ScanReport:
    """Write a part: the rows of searches that were done before, and those of new answers.

    Returns:
        The counts of the new answers.

    Raises:
        OSError: Writing failed; a file that was there before has not changed.
    """
    rows = Rows()
    for answer in answers:
        rows.add(answer)
    kept = [row for some in done.values() for row in some]
    table = pa.concat_tables([pa.Table.from_pylist(kept, schema=_SCHEMA), rows.table()])
    lost = [row["reason"] for row in kept if row["status"] == "unreadable"] + rows.lost
    nothing = sum(some[0]["status"] == "nothing" for some in done.values())
    failed = len(rows.failures)
    change = ScanReport(0, len(answers) - failed - rows.nothing, rows.nothing, failed)
    report = change + ScanReport(
        len(part.searches),
        len(done) - nothing,
        nothing,
        0,
        len(lost),
        dict(Counter(lost + rows.failures)),
    )
    known = read_report(part.path, part.scan)
    if known is not None and known.done > report.done:
        return change  # a later run has asked more than this worker, whose own run was killed
    members = {
        "format": FORMAT,
        "scan": part.scan,
        "library": __version__,
        "report": asdict(report),
    }
    content = pa.BufferOutputStream()
    described = table.replace_schema_metadata({_KEY: json.dumps(members)})
    pq.write_table(described, content, compression="zstd")
    write_file(part.path, content.getvalue())
    return change


class Rows:
    """The rows of answers.

    What several rows share is converted once: a row names its search and its sailing by number.

    Attributes:
        nothing: The searches for which nothing sails.
        failures: Why searches failed.
        lost: Why sailings and prices could not be read.
    """

    def __init__(self) -> None:
        self.nothing: int = 0
        self.failures: list[str] = []
        self.lost: list[str] = []
        self._searches: list[tuple[object, ...]] = []
        self._sailings: list[tuple[object, ...]] = []
        self._fares: list[tuple[object, ...]] = []

    def add(self, answer: Answer) -> None:
        """Add the rows of an answer. A fare that is not valid one way is left out."""
        if answer.error is not None and not isinstance(answer.error, NoSailingsError):
            self.failures.append(f"{type(answer.error).__name__}: {answer.error}")
            self._add_search(answer, "failed", self.failures[-1])
            return
        before = len(self._fares)
        for one in answer.sailings.unreadable:
            self._add_lost(answer, f"{one.field}: {one.problem}")
        number: int | None = None
        for sailing in answer.sailings:
            tariffs = [one for one in sailing.tariffs if not one.roundtrip_locked]
            if tariffs and sailing.places:
                self._add_sailing(sailing)
                for tariff in tariffs:
                    if not _fits(tariff.amount):
                        self._add_lost(answer, "a price with more than 4 decimals or 14 digits")
                        continue
                    if number is None:
                        number = self._add_search(answer, "answered", has_fare=True)
                    self._add_fare(number, tariff)
        if len(self._fares) == before:
            self.nothing += 1
            self._add_search(answer, "nothing")

    def table(self) -> Any:  # noqa: ANN401 -- a pyarrow.Table
        """Return the rows as a table."""
        columns = [*zip(*self._fares, strict=True)] or [()] * (2 + len(_FARE))
        searches, sailings = (pa.array(one, pa.int64()) for one in columns[:2])
        return pa.table(
            [
                *_table(_SEARCH, self._searches).take(searches).columns,
                *_table(_SAILING, self._sailings).take(sailings).columns,
                *_arrays(_FARE, columns[2:]),
            ],
            schema=_SCHEMA,
        )

    def _add_lost(self, answer: Answer, reason: str) -> None:
        self.lost.append(reason)
        self._add_search(answer, "unreadable", reason)

    def _add_search(
        self, answer: Answer, status: str, reason: str | None = None, *, has_fare: bool = False
    ) -> int:
        """Add a search, with a row unless it has fares; return its number."""
        one, number = answer.search, len(self._searches)
        asked = (one.key, status, reason, answer.asked_at, one.party.name, one.route.company)
        route = (one.route.depart_code, one.route.arrive_code, one.route.journey_id)
        self._searches.append((*asked, *route, one.day))
        if not has_fare:
            self._fares.append((number, *_NO_FARE))
        return number

    def _add_sailing(self, sailing: Availability) -> None:
        depart, arrive = sailing.depart_at, sailing.arrive_at
        moments = (depart, depart.replace(tzinfo=None), arrive, arrive.replace(tzinfo=None))
        self._sailings.append((sailing.sailing_id, sailing.ship_name, *moments))

    def _add_fare(self, search: int, tariff: Tariff) -> None:
        fare = (str(tariff.type), tariff.amount, tariff.currency, tariff.expiration_date)
        self._fares.append((search, len(self._sailings) - 1, *fare))


def _fits(amount: Decimal) -> bool:
    """Return whether a price can be written as it is. No price is rounded."""
    return abs(amount) < _MOST and amount == amount.quantize(_DECIMALS)


def _table(kinds: dict[str, Any], rows: Sequence[tuple[object, ...]]) -> Any:  # noqa: ANN401 -- a pyarrow.Table
    columns = [*zip(*rows, strict=True)] or [()] * len(kinds)
    return pa.table(_arrays(kinds, columns), schema=pa.schema([*kinds.items()]))


def _arrays(kinds: dict[str, Any], columns: Sequence[Sequence[object]]) -> list[Any]:
    return [pa.array(column, kind) for kind, column in zip(kinds.values(), columns, strict=True)]
