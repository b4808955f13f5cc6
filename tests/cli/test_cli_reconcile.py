"""`ferry reconcile`: payments in a file against the bookings in a journal."""

from __future__ import annotations

import pytest

from ferry_sdk import Ferry
from ferry_sdk.journal import Journal
from tests.support.tiers import LONG
from tests.support.trip import booked


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path / 'ferry.db'}"


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
    assert (row["expected"], row["found"]) == (str(sold.total_price), "0")


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("booking_id,amount\nb1,5\n", "line 1: no column currency"),
        ("booking_id,amount,currency\nb1,5,EUR\nb2,x,EUR\n", "line 3, column amount: "),
        pytest.param(
            "booking_id,amount,currency\n,5,EUR\n",
            "line 2, column booking_id: expected a value",
            marks=LONG,
        ),
        pytest.param(
            "booking_id,amount,currency,refunded\nb1,5,EUR,-1\n",
            "line 2, column refunded: ",
            marks=LONG,
        ),
        pytest.param(
            "booking_id,amount,currency\nb1,12,50,EUR\n",
            "line 2: more values than columns",
            marks=LONG,
        ),
        pytest.param('booking_id,amount,currency\n"b1,12\n', "line ", marks=LONG),
    ],
)
def test_a_row_that_makes_no_sense_is_named_by_line_and_column(cli, url, sold, text, wrong):
    ended = cli("reconcile", "-", "--journal", url, given=text, code=3)
    assert f"-: {wrong}" in ended.err
    assert ended.out == ""
