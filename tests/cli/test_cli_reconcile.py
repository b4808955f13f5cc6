"""`ferry reconcile`: payments in a file against the bookings in a journal."""

import pytest

from ferry_sdk import Ferry, OutcomeUnknownError
from ferry_sdk.journal import Journal
from tests.support.tiers import mostly_long
from tests.support.trip import booked

HEAD = "booking_id,amount,currency"


@pytest.fixture
def sold(ferry_sandbox, url):
    """A booking that is confirmed and in the journal."""
    with (
        Journal(url) as journal,
        Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url, journal=journal) as ferry,
    ):
        made = booked(ferry)
        ferry.bookings.confirm(made.booking_id)
    return made


def test_payments_that_agree_exit_with_0_and_others_with_1(cli, tmp_path, url, sold):
    file = tmp_path / "payments.csv"
    line = f"{sold.booking_id},{sold.total_price},{sold.currency}"
    file.write_text(f"shop,booking_id,amount,currency,refunded\nx,{line},\n", "utf-8-sig")
    agreed = cli("reconcile", str(file), "--journal", url)
    assert agreed.out == "1 payment, no discrepancy.\n"
    empty = "booking_id,amount,currency\n"
    ended = cli("reconcile", "-", "--journal", url, given=empty, code=1)
    assert [line.split()[:4] for line in ended.out.splitlines()][1:] == [
        ["issued", "not", "paid", sold.booking_id]
    ]
    found = cli("reconcile", "-", "--journal", url, "--json", given=empty, code=1).document
    assert {kind for kind, rows in found["reconciliation"].items() if rows} == {"issued_not_paid"}
    (row,) = found["reconciliation"]["issued_not_paid"]
    assert (row["expected"], row["found"]) == (f"{sold.total_price:.2f}", "0.00")


def test_names_of_columns_may_have_capitals(cli, url, sold):
    line = f"{sold.booking_id},{sold.total_price},{sold.currency},{sold.total_price}"
    text = f"Booking_ID,AMOUNT,currency,Refunded \n{line}\n"
    found = cli("reconcile", "-", "--journal", url, "--json", given=text, code=1)
    (row,) = found.document["reconciliation"]["issued_not_paid"]
    assert row["stage"] == "ticketed"


def test_sums_have_every_digit(cli, url):
    amounts = ("1e30", "0.01", "0.01")
    lines = "".join(f"b1,{amount},EUR,r{at}\n" for at, amount in enumerate(amounts))
    text = f"booking_id,amount,currency,reference\n{lines}"
    with Journal(url) as journal:
        journal.unresolved()
    found = cli("reconcile", "-", "--journal", url, "--json", given=text, code=1).document
    (row,) = found["reconciliation"]["not_known"]
    assert row["expected"] == "1000000000000000000000000000000.02"
    assert row["references"] == ["r0", "r1", "r2"]


def test_an_unresolved_write_is_a_warning_and_exits_with_1(cli, ferry_sandbox, url, sold):
    with (
        Journal(url) as journal,
        Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url, journal=journal) as ferry,
    ):
        ferry_sandbox.faults.add("lose_reply", "bookings.create")
        with pytest.raises(OutcomeUnknownError):
            booked(ferry)
        (entry,) = journal.unresolved()
    payments = f"booking_id,amount,currency\n{sold.booking_id},{sold.total_price},{sold.currency}\n"
    words = ("reconcile", "-", "--journal", url)
    ended = cli(*words, given=payments, code=1)
    assert "1 unresolved write in the journal; run `ferry journal list" in ended.err
    found = cli(*words, "--json", given=payments, code=1).document["reconciliation"]
    assert [(one["id"], one["operation"]) for one in found.pop("unresolved")] == [
        (entry.id, "bookings.create")
    ]
    assert not any(found.values())


@pytest.mark.parametrize(
    ("head", "rows", "wrong"),
    mostly_long(
        [
            ("booking_id,amount", "b1,5", "line 1: no column currency"),
            (HEAD, "b1,5,EUR\nb2,x,EUR", "line 3, column amount: "),
            (HEAD, ",5,EUR", "line 2, column booking_id: expected a value"),
            (f"{HEAD},refunded", "b1,5,EUR,-1", "line 2, column refunded: "),
            (HEAD, "b1,12,50,EUR", "line 2: more values than columns"),
            (HEAD, '"b1,12', "line "),
            (f"{HEAD},Amount", "b1,5,EUR,7", "line 1: two columns amount"),
            (HEAD, "b1,9e999999,EUR", "line 2, column amount: expected an amount of money"),
        ],
        short=2,
    ),
)
def test_a_row_that_makes_no_sense_is_named_by_line_and_column(cli, url, head, rows, wrong):
    ended = cli("reconcile", "-", "--journal", url, given=f"{head}\n{rows}\n", code=3)
    assert f"-: {wrong}" in ended.err
    assert ended.out == ""
