"""Makes what each command prints with `--json`: one document, or a document for each line."""

import json
import re
from contextlib import suppress
from datetime import timedelta

from ferry_sdk import Ferry, OrderError, orders
from ferry_sdk.cli.app import load_command
from ferry_sdk.cli.command_table import COMMANDS
from ferry_sdk.journal import Journal
from tests.cli.conftest import environment, run_here
from tests.golden import journal as journals
from tests.golden.events import steady
from tests.golden.world import ADA, ADDRESS, TOKEN, book, select
from tests.support.trip import DAY

JOURNAL = "sqlite:///ferry.db"
TRIP = ("Tarifa", "MATNG", "--on", f"{DAY}", "--company", "BALEARIA", "--at", "18:00")
DAYS = ("--from", f"{DAY}", "--to", f"{DAY}")
ADULT = ("--adult", "34F")
CHANGE = ("--on", f"{DAY + timedelta(days=1)}", "--company", "BALEARIA", "--yes")
BY_PORT = ("Barcelona", "Tunis", "--on", f"{DAY}", "--changes", "1")
WATCH = ("--max-calls", "500/hour", "--deadline", "1", "--key", "every rule", "--key", "ended")
ID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}")
UNORDERED = {"asked", "answered", "nothing", "failed"}
"""Lists of searches, in the order in which the answers came."""


def with_json():
    """Return the words of each command that has `--json`."""
    words = []
    for name in COMMANDS:
        command = load_command(name)
        for part, leaf in getattr(command, "commands", {"": command}).items():
            if any("--json" in option.opts for option in leaf.params):
                words.append(f"{name} {part}".strip())
    return words


def documents(service, folder):
    """Return the documents of each command, by its words."""
    return Commands(service, folder).run()


class Commands:
    """Runs commands in a folder, and keeps what they print."""

    def __init__(self, service, folder):
        self._service = service
        self._folder = folder
        self._printed = {}

    def run(self):
        """Return the documents that each command prints, by its words and a variant of it."""
        with (
            Journal(f"sqlite:///{self._folder}/ferry.db") as journal,
            Ferry(TOKEN, base_url=self._service.base_url, journal=journal) as ferry,
        ):
            self._look_up()
            self._travel(ferry)
            self._settle(journal)
            self._order(ferry, journal)
            self._watch(ferry, journal)
        return self._printed

    def _keep(self, name, *words, given="", journal=False):
        """Run a command, and keep its documents under a name that begins with its words."""
        place = ("--journal", JOURNAL) if journal else ()
        variables = environment(self._service, XDG_CACHE_HOME=str(self._folder))
        words = (*name.partition(":")[0].split(), *words, *place, "--json")
        ended = run_here(words, folder=self._folder, variables=variables, given=given)
        assert ended.out, ended
        text = numbered(ended.out.replace(self._service.base_url, ADDRESS))
        self._printed[name] = [in_order(steady(each)) for each in _documents(text)]
        return json.loads(ended.out) if len(self._printed[name]) == 1 else None

    def _look_up(self):
        self._keep("ports", "tarifa")
        self._keep("companies", "baleària")
        self._keep("vehicles", "fiat", "500")
        self._keep("search", *TRIP, *ADULT)
        self._keep("search: connections", *BY_PORT, *ADULT)
        self._keep("calendar", *TRIP[:2], *DAYS, *ADULT)
        self._keep("scan", "Genoa", "Tunis", *DAYS, *ADULT, "--into", "fares")
        self._keep("conform")
        self._keep("show: error", "unknown-id")

    def _travel(self, ferry):
        travellers = "first_name,last_name,gender,birth_date\nAda,Reyes,Female,2016-01-02\n"
        self._folder.joinpath("party.csv").write_text(travellers, "utf-8")
        party = ("--travellers", "party.csv", "--yes")

        booked = self._keep("book", *TRIP, *party, journal=True)["booking"]["booking_id"]
        confirmed = self._keep("confirm", booked, "--yes", journal=True)
        ticket = confirmed["confirmation"]["ticket_id"]
        self._keep("book: two bookings", *BY_PORT, *party, journal=True)
        self._keep("show", booked)
        self._keep("show: ticket", ticket)
        self._keep("find", "Reyes", journal=True)
        self._keep("voucher", ticket, "--to", "v.pdf")
        payments = f"booking_id,amount,currency\n{booked},1,EUR\nb-2,5,EUR\n"
        self._keep("reconcile", "-", given=payments, journal=True)
        self._keep("change", booked, *CHANGE, "--travellers", "party.csv", journal=True)
        self._keep("cancel", book(ferry, day=2).booking_id, "--yes", journal=True)
        other = ferry.bookings.confirm(book(ferry, day=3).booking_id)
        self._keep("cancel: ticket", other.ticket_id, "--yes", journal=True)

    def _settle(self, journal):
        entry_id = journals.begin(journal, "bookings.create", "open")
        self._keep("journal list", journal=True)
        self._keep("journal show", entry_id, journal=True)
        self._keep("journal recover", "--all", journal=True)
        settled = ("--happened", "--no-check", "--booking", "b-1", "--yes")
        self._keep("journal settle", entry_id, *settled, journal=True)

    def _order(self, ferry, journal):
        held = orders.hold(ferry, [[select(ferry, day=4)]], passengers=[ADA], journal=journal)
        self._service.faults.add("unauthorized", "bookings.confirm", status=403)
        with suppress(OrderError):
            orders.confirm(ferry, held, expect_totals=held.totals, journal=journal)
        self._keep("orders list", journal=True)
        self._keep("orders show", held.id, journal=True)
        self._keep("orders resume", held.id, journal=True)

    def _watch(self, ferry, journal):
        rules = ("--below", "60 EUR", "--drop", "10%", "--drop", "5 EUR", "--opens", "any")
        wish = (*TRIP[:2], *DAYS, *ADULT, "--company", "BALEARIA")
        self._keep("offers add", *wish, *rules, "--key", "golden", journal=True)
        journals.add_offers(ferry, journal)
        self._keep("offers list", journal=True)
        self._keep("offers watch", *WATCH, journal=True)
        self._keep("offers history", *TRIP[:2], journal=True)
        self._keep("offers remove", "golden", journal=True)


def numbered(text):
    """Return a text with numbers in place of ids: threads share the random numbers of a seed."""
    numbers = {}
    return ID.sub(lambda match: f"id-{numbers.setdefault(match[0], len(numbers) + 1)}", text)


def in_order(document):
    """Return a document whose lists of searches have the same order in each run."""
    if isinstance(document, list):
        return [in_order(value) for value in document]
    if not isinstance(document, dict):
        return document
    ordered = {name: in_order(value) for name, value in document.items()}
    for name in UNORDERED & ordered.keys():
        if isinstance(ordered[name], list):
            ordered[name].sort(key=json.dumps)
    return ordered


def _documents(text):
    """Return the documents in a text, one after the other."""
    decoder = json.JSONDecoder()
    documents = []
    while text := text.lstrip():
        document, end = decoder.raw_decode(text)
        documents.append(document)
        text = text[end:]
    return documents
