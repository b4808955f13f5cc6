"""The block of the documentation that reads a folder with Polars."""

import re

import pytest

from tests.scan.season import SIZE, check_rows
from tests.support.blocks import ROOT
from tests.support.tiers import LONG

pl = pytest.importorskip("polars", reason="it is large, so no group of packages has it")


@LONG
def test_polars_reads_the_folder(scan, make_client, folder, monkeypatch):
    scan.run(make_client)
    page = (ROOT / "docs" / "scan.md").read_text("utf-8")
    (block,) = re.findall(r"(?sm)^```\{\.python\}\n(import polars.*?)^```$", page)
    monkeypatch.chdir(folder.parent)
    space = {}
    exec(block, space)  # noqa: S102 -- the page's own
    rows = [row for row in check_rows(folder, size=SIZE) if row["status"] == "answered"]
    dearest_first = sorted(rows, key=lambda row: -row["price"])
    expected = {(row["day"], row["party"]): row["price"] for row in dearest_first}
    found = {(row["day"], row["party"]): row["price"] for row in space["cheapest"].to_dicts()}
    assert found == expected
