"""The rows of an answer."""

from datetime import datetime, timedelta, timezone
from decimal import Context, Decimal, localcontext

import pytest

from ferry_sdk import Ferry, NoSailingsError, Records
from ferry_sdk._engine.batch import BatchAnswer
from ferry_sdk.models.records import Unreadable
from ferry_sdk.sandbox import Sandbox
from ferry_sdk.scan.searches import CompanyRoute, Search
from ferry_sdk.scan.tables import Rows
from tests.scan.season import DAYS, LONE
from tests.support.trip import NOW, found

SEARCH = Search(CompanyRoute("FRMRS", "TNLGN", "1", "CTN"), DAYS[0], LONE)
KEY = f'["FRMRS", "TNLGN", "1", "CTN", "{DAYS[0]}", "lone"]'


@pytest.fixture(scope="module")
def sailing():
    with Sandbox(now=NOW) as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        yield found(ferry)


def rows(found=None, error=None):
    answer = BatchAnswer(None, found, error, NOW.timestamp())
    made = Rows()
    made.add(SEARCH, answer)
    return made.table().to_pylist()


PRICES = {
    "answered": ["82.5", "0", "99999999999999.9999", f"82.{'0' * 60}", "0E+5000"],
    "unreadable": ["82.12345", "164.60000000000002", "100000000000000", "1E+40"],
}


def test_a_row_has_the_price_and_the_moments_of_its_sailing_and_no_price_is_rounded(sailing):
    with localcontext(Context(prec=3)):  # the price does not depend on it
        first, *_ = rows(Records([sailing]))
    assert first["price"] == sailing.tariffs[0].amount
    assert first["depart_at"] == sailing.depart_at
    assert first["arrive_local"] == sailing.arrive_at.replace(tzinfo=None)
    assert first["asked_at"] == NOW
    for status, amounts in PRICES.items():
        for amount in map(Decimal, amounts):
            tariff = sailing.tariffs[0].model_copy(update={"amount": amount})
            (row,) = rows(Records([sailing.model_copy(update={"tariffs": (tariff,)})]))
            expected = (status, amount if status == "answered" else None)
            assert (row["status"], row["price"]) == expected, amount


@pytest.mark.parametrize("expiration_date", [None, "soon"])
@pytest.mark.parametrize(
    ("amounts", "prices"),
    [
        (["82.5"], [Decimal("82.5")]),
        (["82.12345", "5"], [None, Decimal(5)]),
    ],
    ids=["all can be written", "one cannot be written"],
)
def test_fares_may_lack_an_expiration_date(sailing, expiration_date, amounts, prices):
    tariffs = [
        sailing.tariffs[0].model_copy(
            update={"amount": Decimal(amount), "expiration_date": expiration_date}
        )
        for amount in amounts
    ]
    written = rows(Records([sailing.model_copy(update={"tariffs": tuple(tariffs)})]))
    assert [row["price"] for row in written] == prices
    assert {row["expires_at"] for row in written} == {None}


def test_a_sailing_without_fare_has_a_row_and_ids_with_separators_have_different_keys(sailing):
    late = datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))
    tariff = sailing.tariffs[0].model_copy(update={"expiration_date": late})
    for change in ({"arrive_at": late}, {"tariffs": (tariff,)}):
        (row,) = rows(Records([sailing.model_copy(update=change)]))
        reason = "a moment before the year 1 or after 9999 in UTC"
        assert (row["status"], row["reason"]) == ("unreadable", reason)
    lost = Unreadable(1, "tariffs[0].amount", "expected a number", raw={})
    first, *_, last = rows(Records([sailing], [lost]))
    (only,) = rows(Records([], [lost]))
    assert first == only == {**only, "status": "unreadable"}
    assert only["reason"] == "tariffs[0].amount: expected a number"
    assert last["status"] == "answered"
    locked = sailing.tariffs[0].model_copy(update={"roundtrip_locked": True})
    without_fare = sailing.model_copy(update={"tariffs": (locked,)})  # it is not valid one way
    (row,) = rows(Records([without_fare, sailing.model_copy(update={"places": ()})]))
    assert (row["status"], row["price"]) == ("nothing", None)
    for no_sailing in ({"error": NoSailingsError("nothing", status_code=404)}, {}):
        (row,) = rows(**no_sailing)
        assert (row["status"], row["search"]) == ("nothing", KEY)
    for separator in ("/", '", "', "\\"):
        ends = (f"1{separator}2", "CTN"), ("1", f"2{separator}CTN")
        keys = {Search(CompanyRoute("FRMRS", "TNLGN", *one), DAYS[0], LONE).key for one in ends}
        assert len(keys) == 2, separator
