"""The example notebooks run completely and are stored without outputs."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.support.blocks import NOTEBOOKS
from tests.support.tiers import LONG

SHOWN = {
    "start": ["Price from", "payment_due", "ticketed", 'alt="QR code"', "CancellationFee"],
    "fares": [
        "Cheapest fare of every day",
        "Ticket from",
        "depart_local",
        "tariff_type",
        "data:image/png;base64",
    ],
    "season": ["part-00000.parquet", "Mon", "difference", "data:image/png;base64"],
}


@LONG
@pytest.mark.timeout(180)
def test_the_notebooks_run(tmp_path, record_property):
    environment = {key: value for key, value in os.environ.items() if key[:6] != "FERRY_"}
    homes = dict.fromkeys(
        ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR"), str(tmp_path)
    )
    arguments = ["nbconvert", "--to", "html", "--execute", "--output-dir", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", *arguments, *map(str, NOTEBOOKS)],
        env={**environment, **homes},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for name, results in SHOWN.items():
        shown = (tmp_path / f"{name}.html").read_text("utf-8")
        assert [words for words in results if words not in shown] == [], name
        assert 'data-mime-type="application/vnd.jupyter.stderr"' not in shown, name
    record_property("notebooks executed", len(NOTEBOOKS))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_have_no_outputs(notebook):
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code
    assert all((cell["outputs"], cell["execution_count"]) == ([], None) for cell in code)


def test_every_notebook_is_tested():
    assert {notebook.stem for notebook in NOTEBOOKS} == {*SHOWN}
