"""Records in a person's words: money, moments, spans of time."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

_HOUR = timedelta(hours=1)


def money(amount: Decimal, currency: str) -> str:
    """An amount to read."""
    return f"{amount:,.2f} {currency}"


def moment(value: datetime | str | None) -> str:
    """A moment on the clock it was given in; UTC is named, a text stays as it is."""
    if not isinstance(value, datetime):
        return value or ""
    return f"{value:%a %d %b %Y %H:%M}{' UTC' if value.tzname() == 'UTC' else ''}"


def leaves(value: datetime) -> str:
    """A departure, without the year."""
    return f"{value:%a %d %b %H:%M}"


def time_of(value: datetime, on: datetime) -> str:
    """The time of day, and how many days later that is."""
    days = (value.date() - on.date()).days
    return f"{value:%H:%M}" + (f" +{days}" if days else "")


def span(value: timedelta) -> str:
    """Hours and minutes."""
    hours, rest = divmod(value, _HOUR)
    return f"{hours}:{rest // timedelta(minutes=1):02}"


def count(number: int, one: str) -> str:
    """So many of something."""
    return f"{number} {one}" if number == 1 else f"{number} {one}s"
