"""Several bookings as one: connections, orders, and the change of a booking."""

from __future__ import annotations

from ferry_sdk.orders.calls import cancel, change, confirm, get, hold, resume, unfinished
from ferry_sdk.orders.order import Order, OrderPart

__all__ = [
    "Order",
    "OrderPart",
    "cancel",
    "change",
    "confirm",
    "get",
    "hold",
    "resume",
    "unfinished",
]
