"""HTML of cards and tables. Whatever is not markup already is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from html import escape
from typing import Final

_LONGEST: Final = 300
_LARGEST_IMAGE: Final = 200_000
_IMAGE: Final = re.compile(r"data:image/(?:png|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}")
_WEB: Final = re.compile(r"https?://[^\s\x00-\x20]+")
_NOT_SHOWN: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_LINE: Final = "1px solid rgba(128,128,128,.35)"
_BOX: Final = f"border:{_LINE};border-radius:8px;padding:12px 16px;margin:4px 0;max-width:60em"
_CELL: Final = "text-align:left;vertical-align:top;padding:3px 14px 3px 0;white-space:nowrap"
_FACT: Final = "text-align:left;vertical-align:top;padding:2px 14px 2px 0"
_BADGE: Final = f"border:{_LINE};border-radius:999px;padding:1px 10px;margin-left:8px"


class Markup(str):
    """Text that is HTML already, made in this module and nowhere else."""

    __slots__ = ()


def shown(value: object) -> Markup:
    """A value as a person reads it, escaped."""
    if isinstance(value, Markup):
        return value
    text = _NOT_SHOWN.sub("\N{REPLACEMENT CHARACTER}", _words(value))
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}…"
    # A lone surrogate is no character, and would stop the whole message to the browser.
    return Markup(escape(text.encode("utf-8", "replace").decode("utf-8")))


def _words(value: object) -> str:
    match value:
        case None | "":
            return "-"
        case bool():
            return "yes" if value else "no"
        case str() | int() | float() | Decimal():
            return str(value)
        case datetime():
            return value.isoformat(" ", "minutes")
        case timedelta() if value >= timedelta(0):
            minutes = int(value.total_seconds()) // 60
            return f"{minutes // 60} h {minutes % 60:02} min"
        case _:
            return repr(value)


def money(amount: Decimal, currency: str) -> str:
    """An amount with all its digits, two of them at least behind a point."""
    whole, point, part = str(amount).partition(".")
    return f"{whole}{point}{part:0<2} {currency}" if point else f"{whole} {currency}"


def link(url: str, words: str) -> Markup:
    """A link, where the address is one of the web; else the address as a text."""
    if not _WEB.fullmatch(url):
        return shown(url)
    return Markup(
        f'<a href="{escape(url)}" target="_blank" rel="noopener noreferrer">{shown(words)}</a>'
    )


def image(uri: str, words: str) -> Markup:
    """An image that is whole in its address, as PNG or SVG; nothing else is ever fetched."""
    if len(uri) > _LARGEST_IMAGE or not _IMAGE.fullmatch(uri):
        return shown(f"{words}: not an image that can be shown")
    return Markup(
        f'<img src="{escape(uri)}" alt="{shown(words)}" width="150" height="150" '
        'style="background:#fff;padding:8px;border-radius:8px;image-rendering:pixelated">'
    )


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Markup:
    """A table, every cell escaped."""
    body = "".join(_row("td", row) for row in rows)
    return Markup(
        '<table style="border-collapse:collapse;margin:6px 0">'
        f"<thead>{_row('th', head)}</thead><tbody>{body}</tbody></table>"
    )


def _row(tag: str, cells: Sequence[object]) -> str:
    inside = "".join(f'<{tag} style="{_CELL}">{shown(cell)}</{tag}>' for cell in cells)
    return f"<tr>{inside}</tr>"


def facts(pairs: Iterable[tuple[str, object]]) -> Markup:
    """Names and values, one pair a line."""
    rows = "".join(
        f'<tr><th style="{_FACT};font-weight:normal;opacity:.7">{shown(name)}</th>'
        f'<td style="{_FACT}">{shown(value)}</td></tr>'
        for name, value in pairs
    )
    return Markup(f'<table style="border-collapse:collapse"><tbody>{rows}</tbody></table>')


def side_by_side(*parts: Markup) -> Markup:
    """Parts in one line, as far as there is room."""
    inside = "".join(f"<div>{part}</div>" for part in parts)
    return Markup(f'<div style="display:flex;flex-wrap:wrap;gap:8px 24px">{inside}</div>')


def note(words: str) -> Markup:
    """A remark under a table."""
    return Markup(f'<div style="opacity:.7">{shown(words)}</div>')


def card(title: str, *parts: Markup, badges: Iterable[str] = ()) -> Markup:
    """A box with a title."""
    pills = "".join(f'<span style="{_BADGE}">{shown(badge)}</span>' for badge in badges)
    return plain(
        Markup(f'<div style="margin-bottom:6px"><b>{shown(title)}</b>{pills}</div>'),
        *parts,
        style=_BOX,
    )


def plain(*parts: Markup, style: str = "overflow-x:auto") -> Markup:
    """The parts, out of reach of the notebook's mathematics: a price in ``$`` is no formula."""
    return Markup(
        f'<div class="tex2jax_ignore mathjax_ignore" style="{style}">{"".join(parts)}</div>'
    )
