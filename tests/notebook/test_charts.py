"""The charts of a notebook, and the notebooks of the examples."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import timedelta
from decimal import Decimal
from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from matplotlib import rc_context
from matplotlib.colors import to_hex

from ferry_sdk import Availability, Ferry, InvalidInputError, McpPort, Port, Route, notebook
from ferry_sdk.sandbox import Sandbox
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
    return [text.get_text() for text in axes.texts]


def has_png(figure: Figure) -> bool:
    return figure._repr_png_().startswith(b"\x89PNG\r\n")


# ---- Fares by day -----------------------------------------------------------------------------


@pytest.fixture
def fares() -> Figure:
    """The chart of four tickets on three days, and of an option."""
    option = sailing(13, 5, tariff={"type": "Option"})
    tickets = [sailing(14, 50), sailing(13, 49.9), option, sailing(14, 40), sailing(15, 60)]
    return notebook.fares_by_day(tickets)


def test_every_ticket_is_a_point(fares):
    (axes,) = fares.axes
    every, _ = axes.lines
    assert [*every.get_ydata()] == [50, Decimal("49.9"), 40, 60]


def test_cheapest_tickets_of_days_are_a_line(fares):
    (axes,) = fares.axes
    _, cheapest = axes.lines
    assert [*cheapest.get_ydata()] == [Decimal("49.9"), 40, 60]
    assert [str(day)[-2:] for day in cheapest.get_xdata()] == ["13", "14", "15"]


def test_cheapest_ticket_has_a_label(fares):
    assert texts(fares) == ["40.00 EUR on 2026-07-14"]


def test_chart_of_one_route_is_named_by_it(fares):
    (axes,) = fares.axes
    assert (axes.get_title("left"), axes.get_ylabel()) == ("Marseille → Tunis", "Ticket (EUR)")
    assert axes.get_xlabel() == "Day of departure"


def test_chart_of_fares_is_a_picture(fares):
    assert tuple(fares.get_size_inches()) == (9, 4.8)
    assert has_png(fares)


@pytest.mark.parametrize("cheapest", [1, 9], ids=["first day", "last day"])
def test_label_stays_in_the_chart(cheapest):
    sailings = [sailing(day, 40 if day == cheapest else 60) for day in range(1, 10)]
    figure = notebook.fares_by_day(sailings)
    figure.draw_without_rendering()
    (label,) = figure.axes[0].texts
    box = label.get_window_extent()
    frame = figure.axes[0].get_window_extent()
    assert frame.x0 <= box.x0 < box.x1 <= frame.x1


def test_each_route_has_its_line():
    figure = notebook.fares_by_day([sailing(13, 5), sailing(14, 6, depart_name="Toulon")])
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels == [
        "cheapest of the day, Marseille → Tunis",
        "cheapest of the day, Toulon → Tunis",
    ]


FORMULA = "$\\frac{$"
"""A name that matplotlib cannot parse as a formula."""


@pytest.mark.parametrize("others", [[], [sailing(13, 5)]], ids=["title", "legend"])
def test_name_of_a_port_is_no_formula(others):
    assert has_png(notebook.fares_by_day([sailing(13, 5, depart_name=FORMULA), *others]))


def test_chart_without_fares_says_so():
    figure = notebook.fares_by_day([])
    assert texts(figure) == ["No sailings with a ticket"]
    assert has_png(figure)


def test_fares_in_two_currencies_are_refused():
    fares = [sailing(13, 5), sailing(13, 5, tariff={"currency": "Gbp"})]
    with pytest.raises(InvalidInputError, match="sailings: fares in EUR, GBP"):
        notebook.fares_by_day(fares)


def test_record_that_is_no_sailing_is_refused():
    with pytest.raises(InvalidInputError) as caught:
        notebook.fares_by_day([sailing(13, 5), sailing(13, 5).tariffs[0]])
    assert caught.value.field == "sailings[1]"


@pytest.mark.parametrize(
    ("draw", "argument"),
    [
        (notebook.fares_by_day, "sailings"),
        (notebook.network_map, "ports"),
        (notebook.prices_over_time, "history"),
    ],
)
@pytest.mark.parametrize("value", [None, 5, object()], ids=["None", "int", "object"])
def test_what_is_no_list_is_refused(draw, argument, value):
    with pytest.raises(InvalidInputError) as caught:
        draw(value)
    assert caught.value.field == argument


# ---- The map of the network -------------------------------------------------------------------


def port(code: str, longitude: float | None, latitude: float | None, **more) -> McpPort:
    return McpPort(code=code, longitude=longitude, latitude=latitude, **more)


PORTS = (
    port("A", 5.3, 43.3, city="Marseille"),
    port("B", 10.2, 36.8, name="La Goulette"),
    port("C", 5.31, 43.3),
    port("D", None, None, city="Nowhere"),
)


@pytest.fixture
def network() -> Figure:
    """The map of one route in both directions, and of two to ports that have no position."""
    return notebook.network_map(PORTS, routes=[("A", "B"), ("B", "A"), ("A", "D"), ("A", "X")])


def positions(figure: Figure) -> list[list[float]]:
    (axes,) = figure.axes
    (points,) = axes.collections
    return points.get_offsets().tolist()


def test_map_without_routes_has_every_port():
    assert positions(notebook.network_map(PORTS)) == [[5.3, 43.3], [10.2, 36.8], [5.31, 43.3]]


def test_map_of_routes_has_only_their_ports(network):
    assert positions(network) == [[5.3, 43.3], [10.2, 36.8]]


def test_both_directions_are_one_line(network):
    assert len(network.axes[0].lines) == 1


def test_line_of_a_route_can_be_seen(network):
    (line,) = network.axes[0].lines
    assert line.get_alpha() is None
    assert line.get_linewidth() > 1


@pytest.mark.parametrize(
    ("routes", "title"),
    [
        pytest.param([], "3 ports (1 without a position)", id="no routes"),
        pytest.param([("A", "B")], "2 ports, 1 route", id="one route"),
        pytest.param([("C", "B"), ("A", "B")], "3 ports, 2 routes", id="two routes"),
        pytest.param(
            [("A", "B"), ("A", "D"), ("A", "X")],
            "2 ports, 1 route (2 without a position)",
            id="routes without a position",
        ),
        pytest.param([("A", "B"), ("A", None)], "2 ports, 1 route", id="route without a port"),
    ],
)
def test_title_counts_ports_and_routes(routes, title):
    (axes,) = notebook.network_map(PORTS, routes=routes).axes
    assert axes.get_title("left") == title


def test_route_that_was_found_is_a_line():
    route = Route(
        journey_id="j-1",
        depart_code="A",
        arrive_code="B",
        depart_name="Marseille",
        arrive_name="La Goulette",
        companies=("CTN",),
        duration=timedelta(hours=21),
    )
    (axes,) = notebook.network_map(PORTS, routes=[route]).axes
    assert axes.get_title("left") == "2 ports, 1 route"


@pytest.mark.parametrize(
    ("ports", "routes", "field"),
    [
        pytest.param([*PORTS, Port(code="E", name="Gênes")], [], "ports[4]", id="another port"),
        pytest.param(PORTS, [("Gênes", "Tunis")], "routes", id="names"),
        pytest.param(PORTS, [("A", "B"), "AB"], "routes[1]", id="text"),
        pytest.param(PORTS, [("A", "B", "C")], "routes[0]", id="three codes"),
        pytest.param(PORTS, [(1, 2)], "routes[0]", id="numbers"),
    ],
)
def test_what_is_not_on_a_map_is_refused(ports, routes, field):
    with pytest.raises(InvalidInputError) as caught:
        notebook.network_map(ports, routes=routes)
    assert caught.value.field == field


def test_axes_of_the_map_are_degrees(network):
    (axes,) = network.axes
    assert axes.get_xlabel() == "Longitude (degrees east)"
    assert axes.get_ylabel() == "Latitude (degrees north)"


@pytest.mark.parametrize(
    ("place", "is_land"),
    [
        pytest.param((6.0, 44.5), True, id="Provence"),
        pytest.param((9.1, 42.2), True, id="Corsica"),
        pytest.param((7.0, 42.0), False, id="sea"),
    ],
)
def test_land_is_filled(network, place, is_land):
    (land,) = network.axes[0].patches
    assert land.get_path().contains_point(place) == is_land


def test_coasts_reach_beyond_the_last_meridian():
    figure = notebook.network_map([port("FJSUV", 178.4, -18.1), port("NZAKL", 174.8, -36.8)])
    (land,) = figure.axes[0].patches
    assert land.get_path().contains_point((177.9, -17.8))  # Viti Levu


def test_no_coast_crosses_the_map():
    """A coast beyond 180 degrees is no line back to the other side of the earth."""
    figure = notebook.network_map([port("NOTOS", 18.9, 69.6), port("ISREY", -21.9, 64.1)])
    (land,) = figure.axes[0].patches
    assert not land.get_path().contains_point((0.0, 67.0))


def test_route_across_a_strait_shows_both_coasts():
    """The ports are 0.3 degrees apart."""
    ports = [port("ESTRF", -5.6, 36.01), port("MATNG", -5.8, 35.79)]
    figure = notebook.network_map(ports, routes=[("ESTRF", "MATNG")])
    low, high = figure.axes[0].get_ylim()
    assert high - low >= 1


def test_map_is_a_picture(network):
    assert has_png(network)


def test_halo_of_labels_has_the_colour_of_the_sea():
    with rc_context({"axes.facecolor": "black"}):
        figure = notebook.network_map(PORTS)
    halos = [effect for text in figure.axes[0].texts for effect in text.get_path_effects()]
    assert {to_hex(halo._gc["foreground"]) for halo in halos} == {"#000000"}


def test_labels_without_room_are_left_out():
    ports = [port(f"P{number}", 5 + number / 1000, 43, city="Marseille") for number in range(9)]
    assert len(texts(notebook.network_map(ports))) < 9


@pytest.mark.parametrize(
    "ports",
    [
        pytest.param((), id="none"),
        pytest.param(PORTS[:1], id="one"),
        pytest.param(PORTS[3:], id="one without a position"),
    ],
)
def test_map_of_few_ports_is_a_picture(ports):
    assert has_png(notebook.network_map(ports))


@pytest.mark.slow
def test_name_on_the_map_is_no_formula():
    assert has_png(notebook.network_map([port("A", 1, 2, city=FORMULA)]))


@pytest.fixture(scope="module")
def whole_network() -> Figure:
    """The map of the local service's network."""
    with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        departures = ferry.mcp.departures()
        routes = {(departure.depart_code, departure.arrive_code) for departure in departures}
        return notebook.network_map(ferry.mcp.ports(), routes=routes)


@pytest.mark.slow
def test_map_of_the_network_can_be_read(whole_network):
    width, height = whole_network.get_size_inches()
    assert width == 11
    assert 5 <= height <= 11
    assert has_png(whole_network)


@pytest.mark.slow
def test_labels_do_not_overlap(whole_network):
    boxes = [text.get_window_extent() for text in whole_network.axes[0].texts]
    assert len(boxes) > 80
    overlapping = [pair for pair in combinations(boxes, 2) if pair[0].overlaps(pair[1])]
    assert overlapping == []


@pytest.mark.slow
def test_labels_are_inside_the_map(whole_network):
    (axes,) = whole_network.axes
    frame = axes.get_window_extent()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert [box for box in boxes if box.x0 < frame.x0 or box.x1 > frame.x1] == []


# ---- What is loaded, and the notebooks of the examples ----------------------------------------


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
    environment |= {
        "IPYTHONDIR": str(tmp_path),
        "JUPYTER_CONFIG_DIR": str(tmp_path),
        "JUPYTER_RUNTIME_DIR": str(tmp_path),
    }
    arguments = ["nbconvert", "--to", "html", "--execute", "--output-dir", str(tmp_path)]
    files = [str(notebook) for notebook in NOTEBOOKS]
    done = subprocess.run(
        [sys.executable, "-m", *arguments, *files],
        env=environment,
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
