"""Offers: watch prices and places over time, and keep their history."""

from __future__ import annotations

from ferry_sdk.offers.events import OfferEvent
from ferry_sdk.offers.price_history import Observation, PriceHistory, history
from ferry_sdk.offers.rules import Below, Drop, Opens
from ferry_sdk.offers.streams import AsyncOfferWatch, OfferWatch, watch
from ferry_sdk.offers.wish import Wish, add, remove, wishes

__all__ = [
    "AsyncOfferWatch",
    "Below",
    "Drop",
    "Observation",
    "OfferEvent",
    "OfferWatch",
    "Opens",
    "PriceHistory",
    "Wish",
    "add",
    "history",
    "remove",
    "watch",
    "wishes",
]
