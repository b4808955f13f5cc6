"""The rows of an answer."""

from datetime import datetime, timedelta, timezone
from decimal import Context, Decimal, localcontext

import pytest

from ferry_sdk import Ferry, NoSailingsError, Records
from ferry_sdk._engine.batch import BatchAnswer
from ferry_sdk.models.availability import Tariff
from ferry_sdk.models.records import Unreadable
from ferry_sdk.sandbox import Sandbox
from ferry_sdk.scan.searches import CompanyRoute, Search
from ferry_sdk.scan.tables import Rows
from tests.scan.season import DAYS, LONE
from tests.support.trip import NOW, found

SEARCH = Search(CompanyRoute("FRMRS", "TNLGN", "1", "CTN"), DAYS[0], LONE)
KEY = f'["FRMRS", "TNLGN", "1", "CTN", "{DAYS[0]}", "lone"]'
LATE = datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))
"""In UTC, it is after the year 9999."""
GAP = Unreadable(1, "tariffs[0].amount", "expected a number", raw={})


@pytest.fixture(scope="module")
def sailing():
    with Sandbox(now=NOW) as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        yield found(ferry)


def rows_of(sailings=None, error=None):
    rows = Rows()
    rows.add(SEARCH, BatchAnswer(None, sailings, error, NOW.timestamp()))
    return rows.table().to_pylist()


def with_tariffs(sailing, *changes):
    """Return the sailing with a copy of its first tariff for each of the changes."""
    tariffs = tuple(sailing.tariffs[0].model_copy(update=change) for change in changes)
    return sailing.model_copy(update={"tariffs": tariffs})


class TestFares:
    @pytest.fixture
    def row(self, sailing):
        first, *_ = rows_of(Records([sailing]))
        return first

    def test_row_has_its_price(self, row, sailing):
        assert row["price"] == sailing.tariffs[0].amount

    def test_row_has_its_moments(self, row, sailing):
        assert row["depart_at"] == sailing.depart_at
        assert row["arrive_local"] == sailing.arrive_at.replace(tzinfo=None)
        assert row["asked_at"] == NOW

    def test_context_of_decimals_changes_no_price(self, sailing):
        with localcontext(Context(prec=3)):
            first, *_ = rows_of(Records([sailing]))
        assert first["price"] == sailing.tariffs[0].amount

    @pytest.mark.parametrize(
        "amount",
        [
            pytest.param("82.5", id="one decimal"),
            pytest.param("0", id="zero"),
            pytest.param("99999999999999.9999", id="18 digits"),
            pytest.param(f"82.{'0' * 60}", id="60 zeros"),
            pytest.param("0E+5000", id="zero with an exponent"),
        ],
    )
    def test_price_is_exact(self, sailing, amount):
        (row,) = rows_of(Records([with_tariffs(sailing, {"amount": Decimal(amount)})]))
        assert (row["status"], row["price"]) == ("answered", Decimal(amount))

    @pytest.mark.parametrize(
        "amount",
        [
            pytest.param("82.12345", id="five decimals"),
            pytest.param("164.60000000000002", id="a float"),
            pytest.param("100000000000000", id="15 digits"),
            pytest.param("1E+40", id="an exponent"),
        ],
    )
    def test_price_is_not_rounded(self, sailing, amount):
        (row,) = rows_of(Records([with_tariffs(sailing, {"amount": Decimal(amount)})]))
        assert (row["status"], row["price"]) == ("unreadable", None)
        assert row["reason"] == "a price with more than 4 decimals or 14 digits"

    @pytest.mark.parametrize("expiration_date", [None, "soon"])
    @pytest.mark.parametrize(
        ("amounts", "prices"),
        [
            pytest.param(["82.5"], [Decimal("82.5")], id="all can be written"),
            pytest.param(["82.12345", "5"], [None, Decimal(5)], id="one cannot be written"),
        ],
    )
    def test_fare_may_lack_an_expiration_date(self, sailing, expiration_date, amounts, prices):
        changes = [
            {"amount": Decimal(amount), "expiration_date": expiration_date} for amount in amounts
        ]
        rows = rows_of(Records([with_tariffs(sailing, *changes)]))
        assert [row["price"] for row in rows] == prices
        assert {row["expires_at"] for row in rows} == {None}

    @pytest.mark.parametrize(
        ("expiration_date", "reason"),
        [
            pytest.param(None, None, id="no date"),
            pytest.param("soon", "expiration_date: expected a moment", id="a text"),
            pytest.param(
                LATE,
                "expiration_date: a moment before the year 1 or after 9999 in UTC",
                id="after the year 9999",
            ),
        ],
    )
    def test_row_says_why_expiration_is_missing(self, sailing, expiration_date, reason):
        (row,) = rows_of(Records([with_tariffs(sailing, {"expiration_date": expiration_date})]))
        assert (row["status"], row["reason"]) == ("answered", reason)

    def test_number_too_large_for_a_moment_is_the_reason(self, sailing):
        tariff = sailing.tariffs[0].model_dump() | {"expiration_date": 1e30}
        changes = {"tariffs": (Tariff.model_validate(tariff),)}
        (row,) = rows_of(Records([sailing.model_copy(update=changes)]))
        assert (row["status"], row["reason"]) == ("answered", "expiration_date: expected a moment")

    def test_late_expiration_keeps_its_price(self, sailing):
        (row,) = rows_of(Records([with_tariffs(sailing, {"expiration_date": LATE})]))
        assert (row["price"], row["expires_at"]) == (sailing.tariffs[0].amount, None)

    def test_other_fare_has_no_reason(self, sailing):
        broken = {"expiration_date": "soon"}
        broken_row, row = rows_of(Records([with_tariffs(sailing, broken, {})]))
        assert (broken_row["expires_at"], row["reason"]) == (None, None)
        assert row["expires_at"] == sailing.tariffs[0].expiration_date

    def test_unwritable_price_without_expiration_is_unreadable(self, sailing):
        changes = {"amount": Decimal("82.12345"), "expiration_date": "soon"}
        (row,) = rows_of(Records([with_tariffs(sailing, changes)]))
        assert row["status"] == "unreadable"
        assert row["reason"] == "a price with more than 4 decimals or 14 digits"


class TestUnreadable:
    REASON = "a moment before the year 1 or after 9999 in UTC"

    def test_late_arrival_is_unreadable(self, sailing):
        (row,) = rows_of(Records([sailing.model_copy(update={"arrive_at": LATE})]))
        assert (row["status"], row["reason"]) == ("unreadable", self.REASON)

    def test_record_has_its_reason(self):
        (row,) = rows_of(Records([], [GAP]))
        assert row["status"] == "unreadable"
        assert row["reason"] == "tariffs[0].amount: expected a number"

    def test_record_comes_before_the_sailings(self, sailing):
        (alone,) = rows_of(Records([], [GAP]))
        first, *_, last = rows_of(Records([sailing], [GAP]))
        assert first == alone
        assert last["status"] == "answered"


class TestNothing:
    @pytest.fixture(
        params=[
            pytest.param({"roundtrip_locked": True}, id="no fare one way"),
            pytest.param({"places": ()}, id="no place"),
        ]
    )
    def without_fare(self, request, sailing):
        if "places" in request.param:
            return sailing.model_copy(update=request.param)
        return with_tariffs(sailing, request.param)

    def test_sailing_without_a_fare_is_nothing(self, without_fare):
        (row,) = rows_of(Records([without_fare, without_fare]))
        assert (row["status"], row["price"]) == ("nothing", None)

    @pytest.mark.parametrize(
        "error", [None, NoSailingsError("nothing", status_code=404)], ids=["empty", "an error"]
    )
    def test_search_without_sailings_has_a_row(self, error):
        (row,) = rows_of(error=error)
        assert (row["status"], row["search"]) == ("nothing", KEY)


@pytest.mark.parametrize("separator", ["/", '", "', "\\"])
def test_ids_with_separators_have_different_keys(separator):
    one = CompanyRoute("FRMRS", "TNLGN", journey_id=f"1{separator}2", company="CTN")
    other = CompanyRoute("FRMRS", "TNLGN", journey_id="1", company=f"2{separator}CTN")
    assert Search(one, DAYS[0], LONE).key != Search(other, DAYS[0], LONE).key
