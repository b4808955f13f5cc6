"""The content of charts; pyplot is not used."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from ferry_sdk import Availability, InvalidInputError, McpPort, notebook
from tests.support import samples
from tests.support.tiers import mostly_long

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PNG = b"\x89PNG\r\n"


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
    return figure._repr_png_().startswith(PNG)


class TestFares:
    def test_the_cheapest_ticket_of_each_day_is_a_line(self):
        figure = notebook.fares_by_day(
            [sailing(14, 50), sailing(13, 49.9), sailing(14, 40), sailing(15, 60)]
        )
        (axes,) = figure.axes
        every, cheapest = axes.lines
        assert [*every.get_ydata()] == [50, 49.9, 40, 60]
        assert [*cheapest.get_ydata()] == [49.9, 40, 60]
        assert [str(day) for day in cheapest.get_xdata()] == [
            "2026-07-13",
            "2026-07-14",
            "2026-07-15",
        ]
        assert texts(figure) == ["40.00 EUR on 2026-07-14"]
        assert axes.get_title("left") == "Marseille → Tunis"
        assert axes.get_ylabel() == "Ticket (EUR)"
        assert axes.get_xlabel() == "Day of departure"
        assert tuple(figure.get_size_inches()) == (9, 4.8)
        assert has_png(figure)

    @pytest.mark.parametrize("cheapest", [1, 9])
    def test_the_label_of_the_first_and_the_last_day_is_in_the_figure(self, cheapest: int):
        fares = [sailing(day, 40 if day == cheapest else 60) for day in range(1, 10)]
        figure = notebook.fares_by_day(fares)
        figure.draw_without_rendering()
        (label,) = figure.axes[0].texts
        box, frame = label.get_window_extent(), figure.axes[0].get_window_extent()
        assert frame.x0 <= box.x0 < box.x1 <= frame.x1

    def test_each_route_has_a_line(self):
        figure = notebook.fares_by_day([sailing(13, 5), sailing(14, 6, depart_name="Toulon")])
        labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
        assert labels == [
            "cheapest of the day, Marseille → Tunis",
            "cheapest of the day, Toulon → Tunis",
        ]

    def test_options_are_left_out(self):
        figure = notebook.fares_by_day(
            [sailing(13, 5, tariff={"type": "Option"}), sailing(13, 9), sailing(14, 8)]
        )
        assert texts(figure) == ["8.00 EUR on 2026-07-14"]

    def test_a_chart_without_fares_says_so(self):
        figure = notebook.fares_by_day([])
        assert texts(figure) == ["No sailings with a ticket"]
        assert has_png(figure)

    def test_several_currencies_raise_an_error(self):
        with pytest.raises(InvalidInputError, match="sailings: fares in EUR, GBP"):
            notebook.fares_by_day([sailing(13, 5), sailing(13, 5, tariff={"currency": "Gbp"})])

    def test_what_is_no_sailing_is_named(self):
        with pytest.raises(InvalidInputError) as caught:
            notebook.fares_by_day([sailing(13, 5), sailing(13, 5).tariffs[0]])
        assert caught.value.field == "sailings[1]"

    def test_texts_are_not_parsed_as_formulas(self):
        assert has_png(notebook.fares_by_day([sailing(13, 5, depart_name="$\\frac{$")]))
        both = [sailing(13, 5, depart_name="$\\frac{$"), sailing(13, 5)]
        assert has_png(notebook.fares_by_day(both))


def port(code: str, longitude: float | None, latitude: float | None, **more) -> McpPort:
    return McpPort(code=code, longitude=longitude, latitude=latitude, **more)


class TestMap:
    ports = (
        port("A", 5.3, 43.3, city="Marseille"),
        port("B", 10.2, 36.8, name="La Goulette"),
        port("C", 5.31, 43.3),
        port("D", None, None, city="Nowhere"),
    )

    def test_ports_are_at_their_positions(self):
        figure = notebook.network_map(
            self.ports, routes=[("A", "B"), ("B", "A"), ("A", "D"), ("A", "X")]
        )
        (axes,) = figure.axes
        (points,) = axes.collections
        assert points.get_offsets().tolist() == [[5.3, 43.3], [10.2, 36.8], [5.31, 43.3]]
        assert len(axes.lines) == 1
        assert axes.get_title("left") == "3 ports, 1 routes (1 without a position)"
        assert axes.get_xlabel() == "Longitude (degrees east)"
        assert has_png(figure)

    def test_labels_do_not_overlap(self):
        assert texts(notebook.network_map(self.ports, routes=[("A", "B")])) == [
            "Marseille",
            "La Goulette",
        ]

    @pytest.mark.parametrize("ports", [(), ports[:1], ports[3:]], ids=["none", "one", "nowhere"])
    def test_maps_of_few_ports_work(self, ports):
        assert has_png(notebook.network_map(ports))

    def test_the_map_of_the_whole_network_has_a_readable_size(self, ferry):
        routes = {(one.depart_code, one.arrive_code) for one in ferry.mcp.departures()}
        figure = notebook.network_map(ferry.mcp.ports(), routes=routes)
        width, height = figure.get_size_inches()
        assert width == 11
        assert 4 <= height <= 11
        assert has_png(figure)
        (axes,) = figure.axes
        boxes = [text.get_window_extent() for text in axes.texts]
        assert len(boxes) > 30
        over = [(a, b) for n, a in enumerate(boxes) for b in boxes[:n] if a.overlaps(b)]
        assert not over

    def test_texts_are_not_parsed_as_formulas(self):
        assert has_png(notebook.network_map([port("A", 1, 2, city="$\\frac{$")]))


@pytest.mark.long
def test_pyplot_is_never_loaded():
    program = """
import sys
from ferry_sdk.notebook import fares_by_day, network_map
fares_by_day([])._repr_png_(), network_map([])._repr_png_()
print("matplotlib.pyplot" in sys.modules, "pandas" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False False\n"


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
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert 'pip install "ferry-sdk[notebook]"' in done.stdout
