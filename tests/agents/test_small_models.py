"""Calls as small models get them wrong, from `mistakes.json`.

Each ends as it was meant, or in an answer that says enough for the next call to succeed. A row has
the mistake as a change of correct arguments, how the call ends, what the answer has to say, and the
arguments of the next call. A name after ``$`` stands for a value that the conversation has shown.
"""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from ferry_sdk import Ferry
from ferry_sdk.agents import Toolkit
from ferry_sdk.planning.catalogues import clear_cache
from ferry_sdk.sandbox import Sandbox
from tests.agents.agent import PASSENGERS, TRAVELLERS, approve_all, result_of
from tests.support.routes import know_catalogues
from tests.support.tiers import LONG
from tests.support.trip import NOW

ROWS = json.loads(Path(__file__).with_name("mistakes.json").read_text("utf-8"))
LEAST = 60
SEARCH = {"origin": "Tarifa", "destination": "MATNG", "on": "2050-06-02", "passengers": TRAVELLERS}
BASES = {
    "search": SEARCH,
    "book": {"offer": "$offer", "passengers": PASSENGERS},
    "held": {"booking_id": "$held"},
    "paid": {"booking_id": "$paid"},
    "fee": {"id": "$paid"},
    "ticket": {"ticket_id": "$ticket"},
}


class Conversation:
    """What a model has seen before its mistake: the values that results have shown, by name."""

    def __init__(self, toolkit, sandbox):
        self._toolkit = toolkit
        self._sandbox = sandbox
        self.seen = {}

    def call(self, tool, arguments):
        return self._toolkit.call(tool, self.filled(arguments))

    def do(self, tool, arguments):
        return result_of(self.call(tool, arguments))

    def filled(self, value):
        """Return a value with what was seen in place of the names after ``$``."""
        text = json.dumps(value)
        for name in sorted(self.seen, key=len, reverse=True):
            text = text.replace(f"${name}", json.dumps(self.seen[name])[1:-1])
        return json.loads(text)

    def prepare(self, base):
        """Go as far as the correct call of the row needs."""
        # The other company takes seconds to issue a ticket.
        offers = self.do("trips_find", {**SEARCH, "companies": ["BALEARIA"]})["offers"]
        self.seen["offer"] = offers[0]["offer"]
        if base != "book":
            self.book()
        if base in {"paid", "fee", "ticket"}:
            self.pay()
            self.seen["offer"] = offers[1]["offer"]

    def book(self):
        booking = self.do("bookings_create", BASES["book"])
        names = {"held": "booking_id", "reference": "booking_reference", "total": "total_price"}
        self.seen |= {name: booking[field] for name, field in names.items()}

    def pay(self):
        paid = self.do("bookings_confirm", BASES["held"])
        self.seen |= {"paid": self.seen["held"], "ticket": paid["ticket_id"]}
        self._sandbox.clock.advance(timedelta(minutes=1))  # its tickets are issued
        self.seen["fee"] = self.do("bookings_cancel_fee", BASES["fee"])["penalty_amount"]

    def cancel(self):
        self.do("bookings_cancel", BASES["paid"])


def check(row, model):
    """Make the call of a row, and the next one; assert that they end as the row says."""
    match row.get("before"):
        case "book":
            model.book()
        case "confirm":
            model.pay()
        case "cancel":
            model.cancel()
    right = BASES[row["base"]]
    kept = {name: value for name, value in right.items() if name not in row.get("without", ())}
    wrong = {**kept, **row.get("change", {})}
    text = row.get("text", "").replace("$json", json.dumps(wrong))
    answer = model.call(row["tool"], text or wrong)
    what = row["what"], answer
    error = answer.get("error", {})
    assert error.get("code", "done") == row["ends"], what
    assert error.get("field") == row.get("field"), what
    shown = json.dumps(answer, ensure_ascii=False)
    assert [one for one in model.filled(row.get("says", [])) if one not in shown] == [], what
    if "then" not in row:
        result_of(answer)
        return
    then = dict(row["then"])
    tool = then.pop("tool", row["tool"])
    if "tool" in row["then"] and then:
        right = SEARCH if then.pop("$", None) else {}
    repaired = result_of(model.call(tool, {**right, **then}))
    assert repaired.get("offers", repaired) != [], what


def rows(*bases):
    """Return the rows as parameters. In the quick tier, each ending of a tool has one row."""
    endings = set()
    parameters = []
    for row in ROWS:
        if row["base"] not in bases:
            continue
        ending = row["tool"], row["ends"]
        marks = [LONG] if ending in endings else []
        endings.add(ending)
        parameters.append(pytest.param(row, id=row["what"], marks=marks))
    return parameters


def test_there_are_many_different_mistakes():
    assert len({row["what"] for row in ROWS}) == len(ROWS) >= LEAST


@pytest.fixture(scope="module")
def searching_model():
    """A model whose searches change nothing, so all mistakes of searches are its own."""
    with Sandbox(now=NOW) as sandbox:
        know_catalogues(sandbox)
        with Ferry(sandbox.token, base_url=sandbox.base_url, deadline=30.0) as ferry:
            yield Conversation(Toolkit(ferry, writes=True, approve=approve_all), sandbox)
        clear_cache()


@pytest.mark.parametrize("row", rows("search"))
def test_a_wrong_search_is_repaired_by_one_call(row, searching_model):
    check(row, searching_model)


@pytest.fixture
def model(known_routes, ferry, ferry_sandbox, journal):
    """A model with every tool of the journey, whose writes are approved."""
    ferry = ferry.with_options(journal=journal, deadline=30.0)
    return Conversation(Toolkit(ferry, writes=True, approve=approve_all), ferry_sandbox)


@pytest.mark.parametrize("row", rows("book", "held", "paid", "fee", "ticket"))
def test_a_wrong_booking_is_repaired_by_one_call(row, model):
    model.prepare(row["base"])
    check(row, model)
