"""The block of the documentation that reads a folder with Polars."""

import re

import pytest

from tests.scan.season import new_scan, rows_of
from tests.support.blocks import ROOT
from tests.support.tiers import LONG

pl = pytest.importorskip("polars", reason="it is large, so no group of packages has it")


@LONG
def test_polars_reads_the_folder(make_client, folder, monkeypatch):
    new_scan(folder, routes=[("Tarifa", "Tangier (city)")]).run(make_client)
    page = (ROOT / "docs" / "scan.md").read_text("utf-8")
    (block,) = re.findall(r"(?sm)^```\{\.python\}\n(import polars.*?)^```$", page)
    monkeypatch.chdir(folder.parent)
    space = {}
    exec(block, space)  # noqa: S102 -- the page's own
    fares = [row for row in rows_of(folder) if row["price"] is not None]
    dearest_first = sorted(fares, key=lambda row: -row["price"])
    cheapest = {(row["day"], row["party"]): row for row in dearest_first}
    assert "Presale" in {row["tariff_type"] for row in cheapest.values()}
    tickets = [row for row in dearest_first if row["tariff_type"] == "Ticket"]
    expected = {(row["day"], row["party"]): row["price"] for row in tickets}
    found = {(row["day"], row["party"]): row["price"] for row in space["cheapest"].to_dicts()}
    assert found == expected
