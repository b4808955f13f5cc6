"""Watch prices, and send an e-mail for each event: by cron, or as a service.

Set FERRY_TOKEN and FERRY_BASE_URL, and run `python price_alerts.py sqlite:///ferry.db` with the
journal that has the wishes, and SMTP_HOST, SMTP_PORT and ALERTS_TO. Without an argument it runs
a demonstration against the local service, and prints the messages.
"""

from __future__ import annotations

import os
import smtplib
import sys
import tempfile
from collections.abc import Callable
from datetime import date, timedelta
from email.message import EmailMessage
from pathlib import Path

from ferry_sdk import Ferry, offers
from ferry_sdk.journal import Journal
from ferry_sdk.sandbox import Sandbox

EVERY = timedelta(hours=6)
MAX_CALLS = "500/hour"


def message_of(event: offers.OfferEvent) -> EmailMessage:
    """Write an event as an e-mail.

    The id of the message is that of the event, so that a mail server can drop a repeated one.
    """
    message = EmailMessage()
    message["Message-ID"] = f"<{event.id}@ferry-alerts.example>"
    message["From"] = "alerts@ferry-alerts.example"
    message["To"] = os.environ.get("ALERTS_TO", "ada@ferry-alerts.example")
    if event.trip is None:
        message["Subject"] = f"{event.key}: the last day has passed"
        return message

    sailing = event.trip.outward
    message["Subject"] = f"{event.key}: {event.kind}, {event.price} {event.currency}"
    message.set_content(
        f"{sailing.depart_name} to {sailing.arrive_name}, {sailing.depart_at:%d %b %Y %H:%M}, "
        f"{sailing.company.name}: {event.price} {event.currency}, before: {event.before}\n"
    )
    return message


def send(message: EmailMessage) -> None:
    """Send an e-mail. If this fails, the next run gives the event again."""
    host = os.environ["SMTP_HOST"]
    with smtplib.SMTP(host, int(os.environ.get("SMTP_PORT", "25")), timeout=30) as server:
        server.send_message(message)


def watch(
    ferry: Ferry,
    journal: Journal,
    deliver: Callable[[EmailMessage], object] = send,
    *,
    deadline: float = 3600,
) -> None:
    """Deliver an e-mail for each event, until the deadline."""
    with offers.watch(
        ferry, journal, deadline=deadline, every=EVERY, max_calls=MAX_CALLS
    ) as events:
        for event in events:
            deliver(message_of(event))
        for failed in events.report.failed:
            print("no answer:", failed.company, failed.day, failed.error, file=sys.stderr)


def show() -> None:
    """Watch a wish of the local service."""
    day = date.today() + timedelta(days=30)
    wish = offers.Wish(
        "Tarifa",
        "MATNG",
        days=(day, day),
        passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
        rules=[offers.Below("10", "EUR")],
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        Sandbox() as sandbox,
        Journal(f"sqlite:///{Path(folder, 'ferry.db')}") as journal,
        Ferry(sandbox.token, base_url=sandbox.base_url) as ferry,
    ):
        offers.add(journal, wish, key="tarifa")
        sandbox.faults.add("fare_change", "availability.search", times=None, factor=0.5)
        watch(ferry, journal, print, deadline=10)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        with Journal(sys.argv[1]) as journal, Ferry() as ferry:
            watch(ferry, journal)
    else:
        show()
