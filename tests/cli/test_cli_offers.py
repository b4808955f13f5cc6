"""`ferry offers`: wishes, their events and the history."""

import pytest

from ferry_sdk import offers
from ferry_sdk.journal import Journal
from tests.support.trip import DAY

DAYS = ("--from", f"{DAY}", "--to", f"{DAY}")
WISH = ("Tarifa", "MATNG", *DAYS, "--adult", "34F", "--company", "FRSIBERIA")
WATCH = ("--max-calls", "500/hour", "--every", "0.01")
"""A search that was cut off is made again after 36 seconds."""


@pytest.fixture
def add(cli, url):
    """Add a wish with these rules, and return what is printed."""

    def add(*rules, key="w", **more):
        return cli("offers", "add", *WISH, *rules, "--key", key, "--journal", url, **more)

    return add


@pytest.fixture
def watched(cli, url, add):
    """Watch a wish of a price below 900 EUR until its event, and return what is printed."""

    def watch(*options):
        add("--below", "900 EUR")
        out = ""
        deadline = 1
        while not out:  # a second may be too short on a busy machine
            words = (*WATCH, "--deadline", str(deadline), *options)
            out = cli("offers", "watch", "--journal", url, *words, code=None).out
            deadline *= 4
        return out

    return watch


def test_wish_is_added(add, url):
    added = add("--below", "90 EUR", "--drop", "10%", "--drop", "5 eur", "--opens", "Cabin")
    assert "below 90.00 EUR, drop of 10 %, drop of 5.00 EUR, opens Cabin" in added.out
    with Journal(url) as journal:
        assert offers.Below("90", "EUR") in offers.wishes(journal)["w"].rules


def test_wish_without_a_rule_is_refused(add):
    assert "rules" in add(code=3).err


def test_rule_without_a_currency_is_refused(add):
    assert "expected an amount and its currency" in add("--below", "90", code=2).err


def test_wishes_are_listed(cli, url, add):
    add("--opens", "any")
    document = cli("offers", "list", "--journal", url, "--json").document
    (listed,) = document["wishes"]
    assert (listed["key"], listed["origin"]) == ("w", "Tarifa")
    assert listed["rules"] == [{"kind": "opens", "place": None}]


def test_wish_is_removed(cli, url, add):
    add("--opens", "any")
    assert cli("offers", "remove", "w", "--journal", url).out == ""
    assert "no wish" in cli("offers", "remove", "w", "--journal", url, code=4).err


def test_event_is_one_line(watched):
    (line,) = watched().splitlines()
    assert line.startswith("w: below, ")
    assert "FRSIBERIA (below 900.00 EUR)" in line


def test_event_is_a_document(cli, url, watched):
    assert '"kind": "below"' in watched("--json")


def test_history_is_a_table(cli, url, watched):
    watched()
    assert "FRSIBERIA" in cli("offers", "history", "Tarifa", "MATNG", "--journal", url).out


@pytest.mark.parametrize(
    ("option", "is_shown"),
    [
        pytest.param("--since=-1", True, id="since yesterday"),
        pytest.param("--since=2999-01-01", False, id="since a later day"),
        pytest.param("--until=-1", False, id="until yesterday"),
        pytest.param("--until=2999-01-01", True, id="until a later day"),
    ],
)
def test_history_is_limited(cli, url, watched, option, *, is_shown):
    watched()
    shown = cli("offers", "history", "Tarifa", "MATNG", option, "--journal", url).out
    assert ("FRSIBERIA" in shown) == is_shown


def test_history_is_a_document(cli, url, watched):
    watched()
    shown = cli("offers", "history", "Tarifa", "MATNG", "--journal", url, "--json").document
    assert {each["company"] for each in shown["observations"]} == {"FRSIBERIA"}
