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
    blocks = re.findall(
        r"^```\{\.python\}\n(import polars.*?)^```$", page, re.DOTALL | re.MULTILINE
    )
    (block,) = blocks
    monkeypatch.chdir(folder.parent)
    space = {}
    exec(block, space)  # noqa: S102 -- the page's own
    rows = [row for row in check_rows(folder, size=SIZE) if row["status"] == "answered"]
    expected = {
        (row["day"], row["party"]): min(
            one["price"] for one in rows if (one["day"], one["party"]) == (row["day"], row["party"])
        )
        for row in rows
    }
    found = {(row["day"], row["party"]): row["price"] for row in space["cheapest"].to_dicts()}
    assert found == expected
