"""HTML of cards and tables. Everything except `Markup` is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from html import escape
from typing import Final
from unicodedata import category

_LONGEST: Final = 300
_LARGEST_IMAGE: Final = 200_000
_IMAGE: Final = re.compile(r"data:image/(?:png|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}")
_WEB: Final = re.compile(r"https?://[^\s\x00-\x20]+")
_HIDDEN: Final = frozenset({"Cc", "Cf"})
"""The categories of control and format characters."""
_NEEDED: Final = frozenset("\t\n\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}")
"""Characters of these categories that a text may need: scripts and emoji join letters."""

_LINE: Final = "1px solid rgba(128,128,128,.35)"
_BOX: Final = (
    f"border:{_LINE};border-radius:8px;padding:12px 16px;margin:4px 0;max-width:60em;"
    "overflow-x:auto"
)
_CELL: Final = "text-align:left;vertical-align:top;padding:3px 14px 3px 0;white-space:nowrap"
_PAIR_CELL: Final = "text-align:left;vertical-align:top;padding:2px 14px 2px 0"
_BADGE: Final = f"border:{_LINE};border-radius:999px;padding:1px 10px;margin-left:8px"


class Markup(str):
    """Text that is HTML; only this module creates it."""

    __slots__ = ()


EMPTY: Final = Markup("")
"""A cell without a value, where a dash would say that one is missing."""


def escape_value(value: object) -> Markup:
    """Format a value for people, and escape it."""
    if isinstance(value, Markup):
        return value
    text = _to_text(value)
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}…"
    text = _replace_hidden(text)
    # A lone surrogate cannot be encoded, and would break the whole message to the browser.
    return Markup(escape(text.encode("utf-8", "replace").decode("utf-8")))


def _replace_hidden(text: str) -> str:
    """Replace control and format characters, which could reverse or hide the text beside them."""
    if text.isprintable():
        return text
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if _is_hidden(character) else character for character in text
    )


def _is_hidden(character: str) -> bool:
    return category(character) in _HIDDEN and character not in _NEEDED


def _to_text(value: object) -> str:
    match value:
        case None | "":
            return "-"
        case bool():
            return "yes" if value else "no"
        case datetime():
            return value.isoformat(" ", "minutes")
        case timedelta() if value >= timedelta(0):
            minutes = int(value.total_seconds()) // 60
            return f"{minutes // 60} h {minutes % 60:02} min"
        case _:
            return str(value)


def link(url: str, text: str) -> Markup:
    """Return a link for a web address; any other address as text."""
    if not _WEB.fullmatch(url) or url != _replace_hidden(url):
        return escape_value(url)
    label = escape_value(text)
    return Markup(f'<a href="{escape(url)}" target="_blank" rel="noopener noreferrer">{label}</a>')


def image(uri: str, text: str) -> Markup:
    """Return an image for a data URI with PNG or SVG; nothing is ever fetched."""
    if len(uri) > _LARGEST_IMAGE or not _IMAGE.fullmatch(uri):
        return escape_value(f"{text}: not an image that can be shown")
    return Markup(
        f'<img src="{escape(uri)}" alt="{escape_value(text)}" width="150" height="150" '
        'style="background:#fff;padding:8px;border-radius:8px;image-rendering:pixelated">'
    )


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Markup:
    """Return a table with escaped cells."""
    body = "".join(_row("td", row) for row in rows)
    return Markup(
        '<table style="border-collapse:collapse;margin:6px 0">'
        f"<thead>{_row('th', head)}</thead><tbody>{body}</tbody></table>"
    )


def bar(share: float) -> Markup:
    """Return a bar of a chart in a cell, whose length is a share from 0 to 1."""
    width = 12 * min(1.0, max(0.0, share))
    return Markup(f'<div style="background:#4c8bb5;height:.8em;width:{width:.1f}em"></div>')


def _row(tag: str, cells: Sequence[object]) -> str:
    inside = "".join(f'<{tag} style="{_CELL}">{escape_value(cell)}</{tag}>' for cell in cells)
    return f"<tr>{inside}</tr>"


def facts(pairs: Iterable[tuple[str, object]]) -> Markup:
    """Return names and values, one pair a line."""
    rows = "".join(
        f'<tr><th style="{_PAIR_CELL};font-weight:normal;opacity:.7">{escape_value(name)}</th>'
        f'<td style="{_PAIR_CELL}">{escape_value(value)}</td></tr>'
        for name, value in pairs
    )
    return Markup(f'<table style="border-collapse:collapse"><tbody>{rows}</tbody></table>')


def side_by_side(*parts: Markup) -> Markup:
    """Return the parts side by side, wrapped if necessary."""
    inside = "".join(f"<div>{part}</div>" for part in parts)
    return Markup(f'<div style="display:flex;flex-wrap:wrap;gap:8px 24px">{inside}</div>')


def note(text: str) -> Markup:
    """Return a remark under a table."""
    return Markup(f'<div style="opacity:.7">{escape_value(text)}</div>')


def card(title: str, *parts: Markup, badges: Iterable[str] = ()) -> Markup:
    """Return a box with a title."""
    pills = "".join(f'<span style="{_BADGE}">{escape_value(badge)}</span>' for badge in badges)
    return plain(
        Markup(f'<div style="margin-bottom:6px"><b>{escape_value(title)}</b>{pills}</div>'),
        *parts,
        style=_BOX,
    )


def plain(*parts: Markup, style: str = "overflow-x:auto") -> Markup:
    """Return the parts in a box without a frame.

    The classes exclude it from the notebook's formulas, which ``$`` in a price would start. With
    `tabindex`, the keyboard can scroll it where it is wider than the screen.
    """
    inside = "".join(parts)
    return Markup(
        f'<div class="tex2jax_ignore mathjax_ignore" tabindex="0" style="{style}">{inside}</div>'
    )
