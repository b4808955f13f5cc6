"""The charts of a notebook, and the notebooks of the examples."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from ferry_sdk import Availability, InvalidInputError, McpPort, notebook
from tests.support import samples
from tests.support.blocks import NOTEBOOKS
from tests.support.processes import run
from tests.support.tiers import LONG, mostly_long

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def sailing(day: int, amount: float, **changes) -> Availability:
    tariff = {**samples.TARIFF, "roundtrip_locked": False, "amount": amount}
    wire = {
        **samples.AVAILABILITY,
        "depart_at": f"2026-07-{day:02}T00:30:00+02:00",
        "arrive_at": f"2026-07-{day:02}T21:30:00+01:00",
        "tariffs": [tariff | changes.pop("tariff", {})],
        **changes,
    }
    return Availability.model_validate(wire)


def texts(figure: Figure) -> list[str]:
    (axes,) = figure.axes
    return [one.get_text() for one in axes.texts]


def has_png(figure: Figure) -> bool:
    return figure._repr_png_().startswith(b"\x89PNG\r\n")


def test_each_route_has_a_line_of_its_cheapest_tickets_and_what_no_chart_shows_is_named():
    option = sailing(13, 5, tariff={"type": "Option"})  # no ticket, left out
    fares = [sailing(14, 50), sailing(13, 49.9), option, sailing(14, 40), sailing(15, 60)]
    figure = notebook.fares_by_day(fares)
    (axes,) = figure.axes
    every, cheapest = axes.lines
    assert [*every.get_ydata()] == [50, Decimal("49.9"), 40, 60]
    assert [*cheapest.get_ydata()] == [Decimal("49.9"), 40, 60]
    assert [str(day)[-2:] for day in cheapest.get_xdata()] == ["13", "14", "15"]
    assert texts(figure) == ["40.00 EUR on 2026-07-14"]
    assert (axes.get_title("left"), axes.get_ylabel()) == ("Marseille → Tunis", "Ticket (EUR)")
    assert axes.get_xlabel() == "Day of departure"
    assert tuple(figure.get_size_inches()) == (9, 4.8)
    assert has_png(figure)
    for cheapest in (1, 9):
        fares = [sailing(day, 40 if day == cheapest else 60) for day in range(1, 10)]
        figure = notebook.fares_by_day(fares)
        figure.draw_without_rendering()
        (label,) = figure.axes[0].texts
        box, frame = label.get_window_extent(), figure.axes[0].get_window_extent()
        assert frame.x0 <= box.x0 < box.x1 <= frame.x1, cheapest
    figure = notebook.fares_by_day([sailing(13, 5), sailing(14, 6, depart_name="Toulon")])
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels == [f"cheapest of the day, {one} → Tunis" for one in ("Marseille", "Toulon")]
    bad = "$\\frac{$"
    one = sailing(13, 5, depart_name=bad)
    for fares in ([one], [one, sailing(13, 5)]):
        assert has_png(notebook.fares_by_day(fares))
    assert has_png(notebook.network_map([port("A", 1, 2, city=bad)]))
    figure = notebook.fares_by_day([])
    assert texts(figure) == ["No sailings with a ticket"]
    assert has_png(figure)
    with pytest.raises(InvalidInputError, match="sailings: fares in EUR, GBP"):
        notebook.fares_by_day([sailing(13, 5), sailing(13, 5, tariff={"currency": "Gbp"})])
    with pytest.raises(InvalidInputError) as caught:
        notebook.fares_by_day([sailing(13, 5), sailing(13, 5).tariffs[0]])
    assert caught.value.field == "sailings[1]"


def port(code: str, longitude: float | None, latitude: float | None, **more) -> McpPort:
    return McpPort(code=code, longitude=longitude, latitude=latitude, **more)


def test_ports_are_at_their_positions_with_labels_that_do_not_overlap():
    ports = (
        port("A", 5.3, 43.3, city="Marseille"),
        port("B", 10.2, 36.8, name="La Goulette"),
        port("C", 5.31, 43.3),
        port("D", None, None, city="Nowhere"),
    )
    routes = [("A", "B"), ("B", "A"), ("A", "D"), ("A", "X")]
    figure = notebook.network_map(ports, routes=routes)
    (axes,) = figure.axes
    (points,) = axes.collections
    assert points.get_offsets().tolist() == [[5.3, 43.3], [10.2, 36.8], [5.31, 43.3]]
    assert len(axes.lines) == 1
    assert axes.get_title("left") == "3 ports, 1 routes (1 without a position)"
    assert axes.get_xlabel() == "Longitude (degrees east)"
    assert has_png(figure)
    assert texts(notebook.network_map(ports, routes=[("A", "B")])) == ["Marseille", "La Goulette"]
    for few in ((), ports[:1], ports[3:]):
        assert has_png(notebook.network_map(few)), few


def test_the_map_of_the_whole_network_has_a_readable_size(ferry):
    routes = {(one.depart_code, one.arrive_code) for one in ferry.mcp.departures()}
    figure = notebook.network_map(ferry.mcp.ports(), routes=routes)
    width, height = figure.get_size_inches()
    assert width == 11
    assert 4 <= height <= 11
    assert has_png(figure)
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert len(boxes) > 30
    assert not [(a, b) for n, a in enumerate(boxes) for b in boxes[:n] if a.overlaps(b)]


@pytest.mark.long
def test_pyplot_is_never_loaded():
    program = """
import sys
from ferry_sdk.notebook import fares_by_day, network_map
fares_by_day([])._repr_png_(), network_map([])._repr_png_()
print("matplotlib.pyplot" in sys.modules, "pandas" in sys.modules)
"""
    assert run([sys.executable, "-c", program], new=True).stdout == "False False\n"


@pytest.mark.parametrize("name", mostly_long(["fares_by_day", "network_map"]))
def test_without_matplotlib_the_error_names_the_extra(name):
    program = f"""
import sys
sys.modules["matplotlib"] = None
try:
    from ferry_sdk.notebook import {name}
except ModuleNotFoundError as error:
    print(error)
"""
    done = run([sys.executable, "-c", program], new=True)
    assert 'pip install "ferry-sdk[notebook]"' in done.stdout


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
    homes = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR")
    arguments = ["nbconvert", "--to", "html", "--execute", "--output-dir", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", *arguments, *map(str, NOTEBOOKS)],
        env={**environment, **dict.fromkeys(homes, str(tmp_path))},
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
    assert notebook.stem in SHOWN, "no test runs it"
