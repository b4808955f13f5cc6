"""After the sale: watch bookings, and compare payments with what the service says."""

from __future__ import annotations

from ferry_sdk.aftersales.events import BookingEvent, BookingSnapshot
from ferry_sdk.aftersales.payments import Discrepancy, Payment, PaymentDict, Reconciliation
from ferry_sdk.aftersales.reconciliation import reconcile
from ferry_sdk.aftersales.watcher import watch

__all__ = [
    "BookingEvent",
    "BookingSnapshot",
    "Discrepancy",
    "Payment",
    "PaymentDict",
    "Reconciliation",
    "reconcile",
    "watch",
]
