"""Charts: the fares of several days, prices over time, and a map of the network."""

from __future__ import annotations

# matplotlib leaves its keyword arguments without types.
# pyright: reportUnknownMemberType=false
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import date
from decimal import Decimal
from io import BytesIO
from itertools import chain
from math import cos, radians
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from ferry_sdk._runtime.extras import needs_extra
from ferry_sdk._runtime.money import money
from ferry_sdk._runtime.values import is_iterable
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.notebook.coasts import Window, coasts_in
from ferry_sdk.notebook.records import cheapest_ticket, models_of, sailings_of

with needs_extra("frames and charts require", "notebook", ("matplotlib", "numpy")):
    from matplotlib.axes import Axes
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
    from matplotlib.figure import Figure
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path
    from matplotlib.patheffects import withStroke
    from matplotlib.transforms import BboxBase

if TYPE_CHECKING:
    from ferry_sdk.models.availability import Availability
    from ferry_sdk.models.catalogue import McpPort
    from ferry_sdk.offers import PriceHistory
    from ferry_sdk.planning.routes import Route

__all__ = ["fares_by_day", "network_map", "prices_over_time"]

T = TypeVar("T")

_DPI: Final = 110
"""The pixels of an inch."""


class _Fare(NamedTuple):
    """The cheapest ticket of a sailing, on its day of departure."""

    day: date
    amount: Decimal


class _Chart(Figure):
    """A figure that notebooks display without pyplot."""

    def _repr_png_(self) -> bytes:
        content = BytesIO()
        self.savefig(content, format="png")
        return content.getvalue()


def _new_chart(title: str, *, width: float = 9) -> tuple[_Chart, Axes]:
    """Return a figure with one pair of axes; the title is never parsed as TeX."""
    figure = _Chart(figsize=(width, 4.8), dpi=_DPI, layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", parse_math=False)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def fares_by_day(sailings: Iterable[Availability]) -> Figure:
    """Plot the cheapest ticket of each sailing and of each day, by local day of departure.

    Each route has its own line; the cheapest ticket of all is labelled. Sailings without a ticket
    that is valid one way are left out. The title counts sailings that could not be read.

    Args:
        sailings: Sailings from any number of searches, in one currency.

    Returns:
        The figure, 9 by 4.8 inches. It is not registered with pyplot and need not be closed.

    Raises:
        InvalidInputError: The fares are in several currencies, or a member is no sailing.
        ModuleNotFoundError: matplotlib is not installed.

    Example:
        ```python
        from datetime import date, timedelta

        from ferry_sdk import Ferry
        from ferry_sdk.notebook import fares_by_day
        from ferry_sdk.sandbox import Sandbox

        with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            trips = ferry.trips.search(
                "Tarifa",
                "MATNG",
                on=date.today() + timedelta(days=30),
                passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
            )
        fares_by_day(trip.outward for trip in trips).savefig("fares.png")
        ```
    """
    routes: dict[str, list[_Fare]] = {}
    all_fares: list[_Fare] = []
    currencies: set[str] = set()
    for index, sailing in enumerate(_elements(sailings, "sailings")):
        if not sailings_of(models_of([sailing])):
            problem = "expected a sailing, such as trip.outward"
            raise InvalidInputError(problem, field=f"sailings[{index}]")
        if ticket := cheapest_ticket(sailing):
            route = f"{sailing.depart_name} → {sailing.arrive_name}"
            fare = _Fare(sailing.depart_at.date(), ticket.amount)
            routes.setdefault(route, []).append(fare)
            all_fares.append(fare)
            currencies.add(ticket.currency)
    if len(currencies) > 1:
        raise InvalidInputError(f"fares in {', '.join(sorted(currencies))}", field="sailings")

    title = next(iter(routes)) if len(routes) == 1 else "Fares by day"
    figure, axes = _new_chart(title + _missing(0, sailings))
    if not routes:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "No sailings with a ticket", ha="center", transform=axes.transAxes)
        return figure

    for number, (route, fares) in enumerate(routes.items()):
        label = "cheapest of the day"
        if len(routes) > 1:
            label += f", {route}"
        _plot_route(axes, fares, label=label, colour=f"C{number % 10}")
    currency = currencies.pop()
    _annotate(axes, all_fares, currency)
    _label_axes(axes, currency)
    return figure


def _label_axes(axes: Axes, currency: str, *, across: str = "Day of departure") -> None:
    """Label the axes of fares by a time, with a legend."""
    locator = AutoDateLocator(minticks=2)  # type: ignore[no-untyped-call]  # matplotlib's own
    axes.xaxis.set_major_locator(locator)
    formatter = ConciseDateFormatter(locator)  # type: ignore[no-untyped-call]  # matplotlib's own
    axes.xaxis.set_major_formatter(formatter)
    axes.set_xlabel(across)
    axes.set_ylabel(f"Ticket ({currency})")
    axes.margins(y=0.18)
    for text in axes.legend(frameon=False, fontsize="small").get_texts():
        text.set_parse_math(False)  # the names of ports come from the service


def _missing(without_position: int, records: Iterable[object]) -> str:
    """Return what a title says of that which a chart does not show; empty if it shows all."""
    unreadable = len(getattr(records, "unreadable", ()))
    parts: list[str] = []
    if without_position:
        parts.append(f"{without_position} without a position")
    if unreadable:
        parts.append(f"{unreadable} could not be read")
    return f" ({', '.join(parts)})" if parts else ""


def _plot_route(axes: Axes, fares: list[_Fare], *, label: str, colour: str) -> None:
    """Plot each fare as a pale point, and the cheapest of each day as a line."""
    # matplotlib's types know neither dates nor Decimal.
    days: Any = [fare.day for fare in fares]
    amounts: Any = [fare.amount for fare in fares]
    axes.plot(days, amounts, "o", color=colour, alpha=0.3, markersize=4)

    cheapest: dict[Any, Any] = {}
    for fare in sorted(fares):
        cheapest.setdefault(fare.day, fare.amount)
    lowest_amounts = [*cheapest.values()]
    axes.plot([*cheapest], lowest_amounts, "o-", color=colour, markersize=5, label=label)


def _annotate(axes: Axes, fares: list[_Fare], currency: str) -> None:
    """Label the cheapest fare, the first of several."""
    cheapest = min(fares, key=lambda fare: (fare.amount, fare.day))
    first = min(fare.day for fare in fares)
    last = max(fare.day for fare in fares)
    # On the side of more days, the label stays in the chart.
    has_more_days_after = cheapest.day - first < last - cheapest.day
    axes.annotate(
        f"{money(cheapest.amount, currency)} on {cheapest.day}",
        (cheapest.day, float(cheapest.amount)),
        xytext=(0, -14),
        textcoords="offset points",
        ha="left" if has_more_days_after else "right",
        va="top",
        fontweight="bold",
    )


def prices_over_time(history: PriceHistory) -> Figure:
    """Plot the prices of a history by the moment at which they were seen.

    Each company has a line for each day of departure, of its cheapest sailing at each moment.

    Args:
        history: What `ferry_sdk.offers.history` returns, of one currency and one party.

    Returns:
        The figure, 9 by 4.8 inches. It is not registered with pyplot and need not be closed.

    Raises:
        InvalidInputError: The prices are in several currencies, or of several parties, or it is no
            history.
        ModuleNotFoundError: matplotlib is not installed.

    Example:
        ```python
        from ferry_sdk import offers
        from ferry_sdk.journal import Journal
        from ferry_sdk.notebook import prices_over_time

        with Journal("sqlite:///ferry.db") as journal:
            history = offers.history(journal, "Genoa", "Tunis")
        prices_over_time(history).savefig("prices.png")
        ```
    """
    if not hasattr(history, "route"):
        raise InvalidInputError("expected what offers.history returns", field="history")
    currencies = {each.currency for each in history}
    if len(currencies) > 1:
        raise InvalidInputError(f"prices in {', '.join(sorted(currencies))}", field="history")
    if len({(each.passengers, each.vehicle, each.reservation_type) for each in history}) > 1:
        raise InvalidInputError("prices of several parties or types of fares", field="history")

    figure, axes = _new_chart(history.route or "Prices over time")
    if not history:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "No observations", ha="center", transform=axes.transAxes)
        return figure

    lines: dict[tuple[date, str], dict[Any, Any]] = {}
    for each in history:
        cheapest = lines.setdefault((each.day, each.company), {})
        cheapest[each.seen_at] = min(each.price, cheapest.get(each.seen_at, each.price))
    for (day, company), cheapest in sorted(lines.items()):
        moments: Any = [*cheapest]
        amounts: Any = [*cheapest.values()]
        axes.plot(moments, amounts, "o-", markersize=4, label=f"{company}, {day}")
    _label_axes(axes, currencies.pop(), across="Seen")
    return figure


_Place = tuple[float, float]
"""A longitude and a latitude."""

_WIDTH: Final = 11
_LEAST, _MOST = 5, 11
"""Width, and minimum and maximum height of the figure in inches."""
_SMALLEST: Final = 1.0
"""The least that a map shows from south to north, in degrees: a strait and both its coasts."""
_LABEL_SIDES: Final = (
    ("left", 5, 3),
    ("left", 5, -9),
    ("right", -5, 3),
    ("right", -5, -9),
)
"""Where a label can be at its port: its alignment, and its distance from it in points."""
_PIXELS: Final = _DPI / 72
"""The pixels of a point."""
_GAP: Final = 4
"""The pixels between labels, and between a label and the middle of a port."""


def network_map(
    ports: Iterable[McpPort], *, routes: Iterable[Route | tuple[str | None, str | None]] = ()
) -> Figure:
    """Plot ports by position with the coasts around them, and routes as straight lines.

    With routes, only their ports are shown, larger with more routes. The ports with the most routes
    are labelled first, the others if there is room. Ports without a position are counted in the
    title, and so are ports that could not be read.

    Args:
        ports: The ports, from `mcp.ports`.
        routes: Routes of `routes.find`, or pairs of port codes. Without any, all ports are shown.

    Returns:
        The figure, 11 inches wide, with a height that fits the network. It is not registered
        with pyplot and need not be closed.

    Raises:
        InvalidInputError: A port is not one of `mcp.ports`, a route is no route and no pair, or
            none of the routes' codes is that of a port.
        ModuleNotFoundError: matplotlib is not installed.

    Example:
        ```python
        from ferry_sdk import Ferry
        from ferry_sdk.notebook import network_map
        from ferry_sdk.sandbox import Sandbox

        with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            ports, departures = ferry.mcp.ports(), ferry.mcp.departures()
        routes = {(departure.depart_code, departure.arrive_code) for departure in departures}
        network_map(ports, routes=routes).savefig("network.png")
        ```
    """
    pairs = _pairs_of(routes)
    served = {*chain.from_iterable(pairs)}

    places: dict[str, _Place] = {}
    names: dict[str, str] = {}
    nameless = 0
    for index, port in enumerate(_elements(ports, "ports")):
        if not hasattr(port, "longitude"):
            raise InvalidInputError("expected a port of mcp.ports", field=f"ports[{index}]")
        if port.code is None:
            nameless += not pairs
        elif not pairs or port.code in served:
            names[port.code] = port.name or port.city or port.code
            if port.longitude is not None and port.latitude is not None:
                places[port.code] = (port.longitude, port.latitude)

    # Some unknown codes are no error: their ports may be among those that could not be read.
    if served and not names:
        raise InvalidInputError(f"expected codes of the ports, not {min(served)}", field="routes")
    lines = [pair for pair in sorted(pairs) if pair[0] in places and pair[1] in places]

    title = _count(len(places), "port")
    if lines:
        title += f", {_count(len(lines), 'route')}"
    without_position = nameless + len((served or names.keys()) - places.keys())
    title += _missing(without_position, ports)
    figure, axes = _new_chart(title, width=_WIDTH)
    axes.set_xlabel("Longitude (degrees east)")
    axes.set_ylabel("Latitude (degrees north)")
    if not places:
        return figure

    scale = _latitude_scale(places.values())
    window = _window(places.values(), scale)
    _draw_land(axes, window)
    for depart, arrive in lines:
        longitudes, latitudes = zip(places[depart], places[arrive], strict=True)
        axes.plot(longitudes, latitudes, color="C0", lw=1.3)

    route_counts = Counter(chain.from_iterable(lines))
    sizes = [14 + 6 * route_counts[code] for code in places]
    longitudes, latitudes = zip(*places.values(), strict=True)
    # An edge in the colour of the sea separates ports that are close together.
    edge = axes.get_facecolor()
    axes.scatter(
        longitudes, latitudes, s=sizes, color="C0", edgecolors=[edge], linewidths=0.6, zorder=3
    )

    axes.set_xlim(window.west, window.east)
    axes.set_ylim(window.south, window.north)
    axes.set_aspect(scale, adjustable="box")
    ratio = (window.north - window.south) * scale / (window.east - window.west)
    figure.set_figheight(min(max(_WIDTH * ratio, _LEAST), _MOST))
    figure.draw_without_rendering()  # only then matplotlib knows the extents of labels
    _label_ports(axes, places, names, route_counts)
    return figure


def _pairs_of(routes: Iterable[object]) -> set[tuple[str, str]]:
    """Return the codes of each route's ports, in order, so that both directions are one line.

    Raises:
        InvalidInputError: A member is no route and no pair of codes.
    """
    pairs: set[tuple[str, str]] = set()
    for index, route in enumerate(_elements(routes, "routes")):
        match route:
            case (str() | None as depart, str() | None as arrive):
                pass
            case object(depart_code=str() | None as depart, arrive_code=str() | None as arrive):
                pass
            case _:
                problem = "expected a route of routes.find, or two port codes"
                raise InvalidInputError(problem, field=f"routes[{index}]")
        if depart and arrive:
            pairs.add((min(depart, arrive), max(depart, arrive)))
    return pairs


def _elements(values: Iterable[T], argument: str) -> Iterable[T]:
    """Return values that can be iterated over, whatever the caller has passed."""
    if not is_iterable(values):
        raise InvalidInputError("expected a list", field=argument)
    return values


def _count(count: int, noun: str) -> str:
    """Return a number of things, with a plural."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _latitude_scale(places: Collection[_Place]) -> float:
    """Return the ratio of a degree of latitude to one of longitude, at the centre of the map."""
    middle = sum(latitude for _, latitude in places) / len(places)
    return 1 / max(cos(radians(middle)), 0.1)


def _window(places: Collection[_Place], scale: float) -> Window:
    """Return the part of the earth around some places, in the format of a figure."""
    longitudes, latitudes = zip(*places, strict=True)
    middle = (min(longitudes) + max(longitudes)) / 2, (min(latitudes) + max(latitudes)) / 2

    # Ports are not at the edge, and there is room for the labels at their right.
    high = max(1.2 * (max(latitudes) - min(latitudes)), _SMALLEST)
    wide = 1.25 * (max(longitudes) - min(longitudes))

    # The figure is at most twice as wide as high, and at least as wide as high.
    wide = max(wide, high * scale)
    high = max(high, wide / scale / 2)
    return Window(
        west=middle[0] - wide / 2,
        east=middle[0] + wide / 2,
        south=middle[1] - high / 2,
        north=middle[1] + high / 2,
    )


def _draw_land(axes: Axes, window: Window) -> None:
    """Fill the land in a shade of the colour of text, so that it suits dark styles too."""
    shade = axes.xaxis.label.get_color()
    points: list[_Place] = []
    codes: list[Any] = []  # matplotlib's own type of numbers
    for longitudes, latitudes in coasts_in(window):
        points += zip(longitudes, latitudes, strict=True)
        codes += [Path.MOVETO, *[Path.LINETO] * (len(longitudes) - 2), Path.CLOSEPOLY]
    if points:
        # One path, so that the line of a lake, which runs the other way, cuts it out.
        path = Path(points, codes)
        axes.add_artist(PathPatch(path, facecolor=shade, alpha=0.13, lw=0, zorder=0.5))


def _label_ports(
    axes: Axes, places: Mapping[str, _Place], names: Mapping[str, str], route_counts: Counter[str]
) -> None:
    """Label the ports, those with the most routes first, without overlaps."""

    def rank(code: str) -> tuple[int, str]:
        return -route_counts[code], code

    halo = [withStroke(linewidth=2.5, foreground=axes.get_facecolor())]
    frame = axes.get_window_extent()
    points = {code: axes.transData.transform(place) for code, place in places.items()}
    taken: list[BboxBase] = []
    for code in sorted(places, key=rank):
        other_points = [point for other, point in points.items() if other != code]
        label = axes.annotate(
            names[code],
            places[code],
            xytext=(0, 0),
            textcoords="offset points",
            fontsize=8,
            parse_math=False,
            path_effects=halo,
            zorder=4,
        )

        # The extent is measured once, as that takes milliseconds, and moved to each side.
        extent = label.get_window_extent()
        for side, right, up in _LABEL_SIDES:
            across = right * _PIXELS
            if side == "right":
                across -= extent.width  # the label ends at the port
            box = extent.translated(across, up * _PIXELS)
            is_inside = frame.x0 <= box.x0 and box.x1 <= frame.x1
            covers_a_port = box.padded(_GAP).count_contains(other_points) > 0
            if is_inside and not covers_a_port and not box.count_overlaps(taken):
                label.set(ha=side, position=(right, up))
                taken.append(box.padded(_GAP))
                break
        else:
            label.remove()
