"""A short season: what is scanned, and what is in its folder."""

from collections import Counter
from datetime import timedelta

import pyarrow.parquet as pq

from ferry_sdk.scan import FareScan, Party
from tests.support.trip import DAY, TRAVELLERS

LONE = Party("lone", TRAVELLERS[:1])
PAIR = Party("pair", TRAVELLERS)
DAYS = [DAY + timedelta(days) for days in range(15)]
SIZE = 60


def new_scan(folder, **more):
    arguments = {"routes": [("Genoa", "Tunis")], "dates": (DAYS[0], DAYS[-1]), "part_size": 30}
    return FareScan(folder, **arguments | {"parties": [LONE, PAIR]} | more)


def rows_of(folder):
    parts = sorted(folder.glob("*.parquet"))
    return [row for part in parts for row in pq.ParquetFile(part).read().to_pylist()]


def check_rows(folder, *, size=SIZE):
    """Return the rows, if every search is there and none is there twice."""
    rows = rows_of(folder)
    assert len({row["search"] for row in rows}) == size

    names = ("search", "status", "sailing_id", "tariff_type", "price", "expires_at")
    counts = Counter(tuple(row[name] for name in names) for row in rows)
    assert {*counts.values()} == {1}

    statuses = {}
    for row in rows:
        statuses.setdefault(row["search"], set()).add(row["status"])
    assert all(len(of_search) == 1 for of_search in statuses.values())
    return rows
