"""What a reconciliation finds of a history on the local service."""

import json
from decimal import Decimal

import httpx
import pytest

import ferry_sdk as sdk
from ferry_sdk import AuthenticationError, Ferry, InvalidInputError, OutcomeUnknownError
from ferry_sdk._transport.pools import AsyncShared, Shared
from ferry_sdk.aftersales import Discrepancy, Payment, Reconciliation, reconcile
from ferry_sdk.journal import Journal
from ferry_sdk.sandbox import Sandbox
from tests.aftersales.history import FATES, History, rows_of
from tests.backend.canaries import frames_of
from tests.support.exchanges import TOKEN, URL, Exchanges
from tests.support.samples import BOOKING
from tests.support.summer import booked, stopped
from tests.support.tables import each


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """Every fate once, on a service that is only read from then on."""
    url = f"sqlite:///{tmp_path_factory.mktemp('history') / 'ferry.db'}"
    with (
        Sandbox() as sandbox,
        Journal(url) as journal,
        Ferry(stopped(sandbox).token, base_url=sandbox.base_url, journal=journal) as ferry,
    ):
        made = History(ferry, journal, sandbox, seed=17)
        made.create(len(FATES))
        assert len([*made.act()]) == len(FATES)
        made.act_later()
        sandbox.clock.advance(2 * 3600)
        yield made


@pytest.fixture
def sandbox(history):
    yield history.sandbox
    history.sandbox.faults.clear()


def test_every_planted_discrepancy_alone_is_reported(any_clients, sandbox, history, monkeypatch):
    async def sleep(*_):
        pass

    monkeypatch.setattr(Shared, "sleep", lambda *_: None)
    monkeypatch.setattr(AsyncShared, "sleep", sleep)
    client = any_clients(sandbox.token, base_url=sandbox.base_url, max_retries=0)
    for kind in ("rate_limited", "server_error", "cut_before", "not_json"):
        for operation in ("bookings.get", "bookings.cancel_fee"):
            sandbox.faults.add(kind, operation)
    report = any_clients.run(reconcile, client, history.journal, history.payments())
    assert rows_of(report) == history.discrepancies()


def test_only_a_surplus_that_was_given_back_besides_the_refund_agrees(history):
    sale = next(one for one in history.sales if one.fate.later == "cancel one")
    total, refund = sale.total, sale.refund
    assert 0 < refund < total
    for amount, refunded, kinds in (
        (total, refund, set()),
        (total * 2, total + refund, set()),
        (total * 2, total, {"total_differs"}),
        (total - refund, 0, {"refunded_short", "total_differs"}),
        (total + 5, refund, {"total_differs"}),
    ):
        payment = {"booking_id": sale.booking_id, "amount": amount, "currency": "EUR"}
        with Journal("sqlite://") as journal:
            report = reconcile(history.ferry, journal, [payment | {"refunded": refunded}])
        assert {kind for kind, _ in report.rows()} == kinds, (amount, refunded)


def test_a_booking_that_can_never_be_read_is_not_known(sandbox, history, monkeypatch):
    monkeypatch.setattr(Shared, "sleep", lambda *_: None)
    payment = {"booking_id": history.sales[0].booking_id, "amount": 5, "currency": "eur"}
    history_of_one = type("Journal", (), {"entries": lambda *_, **__: ()})
    other = {"booking_id": booked(history.ferry).booking_id, "amount": 0, "currency": "EUR"}
    sandbox.faults.add("server_error", "bookings.get", after=1, times=None)
    with Ferry(sandbox.token, base_url=sandbox.base_url, max_retries=0) as client:
        report = reconcile(client, history_of_one(), [other, payment])
    (row,) = report.not_known  # one of the two, which are read at once
    assert (row.found, row.currency) == (None, "EUR")


def test_a_report_that_could_read_nothing_is_an_error_after_pauses(sandbox, history, monkeypatch):
    pauses = []
    monkeypatch.setattr(Shared, "sleep", lambda _, seconds, *__: pauses.append(seconds))
    sandbox.faults.add("server_error", "bookings.get", times=None)
    with Ferry(sandbox.token, base_url=sandbox.base_url, max_retries=0) as client:
        with pytest.raises(sdk.ServerError):
            reconcile(client, history.journal, [])
        sandbox.faults.clear()
        sandbox.faults.add("unauthorized", "bookings.get", times=None)
        with pytest.raises(AuthenticationError) as error:
            reconcile(client, history.journal, [])
        assert "drive" not in frames_of(error.value), "that frame shows the bookings"
    assert pauses == [1.0, 2.0, 4.0]


def test_what_costs_a_cent_must_be_paid_and_a_report_is_a_frame():
    payment = {"booking_id": "b-1", "amount": 0, "currency": "EUR"}
    for price, kinds in (("0.00", []), ("0.01", ["issued_not_paid"])):
        booking = BOOKING | {"stage": "ticketed", "total_price": price}
        transport = httpx.MockTransport(Exchanges(httpx.Response(200, json=booking)))
        with (
            httpx.Client(transport=transport) as http_client,
            Ferry(TOKEN, base_url=URL, http_client=http_client) as client,
            Journal("sqlite://") as journal,
        ):
            report = reconcile(client, journal, [payment])
        assert [kind for kind, _ in report.rows()] == kinds
    row = Discrepancy("b1", Decimal("9.90"), None, "EUR")
    frame = Reconciliation(not_known=(row,)).to_frame()
    assert frame.to_dict("records") == [
        {"kind": "not_known", "booking_id": "b1", "expected": Decimal("9.90"), "found": None}
        | {"currency": "EUR", "stage": None, "references": ()}
    ]
    assert len(Reconciliation().to_frame()) == 0
    floats = Reconciliation(not_known=(row,)).to_frame(money="float")
    assert floats["expected"].tolist() == [9.9]
    assert floats["found"].isna().all()
    assert {str(floats[name].dtype) for name in ("expected", "found")} == {"float64"}
    with pytest.raises(InvalidInputError) as caught:
        Reconciliation().to_frame(money="cents")
    assert caught.value.field == "money"


GOOD = {"booking_id": "b1", "amount": 1, "currency": "EUR"}
SENSELESS = [
    *[([GOOD | {"amount": one}], "payments[0].amount") for one in (1.5, "-1", "NaN")],
    ([GOOD | {"booking_id": ""}], "payments[0].booking_id"),
    ([GOOD, {}], "payments[1].booking_id"),
    ([GOOD | {"currency": "€"}], "payments[0].currency"),
    *[([5], "payments[0]"), ("payments.csv", "payments"), (None, "payments")],
]


@each(("payments", "field"), SENSELESS)
def test_a_payment_that_makes_no_sense_is_refused_by_name(payments, field):
    with (
        Ferry(TOKEN, base_url=URL) as ferry,
        Journal("sqlite://") as journal,
        pytest.raises(InvalidInputError) as caught,
    ):
        reconcile(ferry, journal, payments)
    assert caught.value.field == field
    payment = Payment(booking_id="b1", amount=Decimal("9.90"), currency="eur", refunded=None)
    assert (payment.currency, payment.reference) == ("EUR", None)


def test_an_unresolved_write_is_not_clean(sandbox):
    with (
        Journal("sqlite://") as journal,
        Ferry(sandbox.token, base_url=sandbox.base_url, journal=journal) as ferry,
    ):
        assert reconcile(ferry, journal, []).is_clean
        sandbox.faults.add("server_error", "bookings.confirm")
        with pytest.raises(OutcomeUnknownError):
            ferry.with_options(deadline=20).bookings.confirm("b-1")
        report = reconcile(ferry, journal, [])
        assert report.unresolved == journal.unresolved()
        assert (len(report.unresolved), report.is_clean) == (1, False)


def test_an_unreadable_booking_is_not_known_at_once(sandbox, history, caplog):
    ferry = history.ferry
    booking_id = history.sales[0].booking_id
    body = json.loads(ferry.with_raw_response.bookings.get(booking_id).content)
    value = body | {"total_price": None}
    sandbox.faults.add("wrong_shape", "bookings.get", times=None, value=value)
    payment = {"booking_id": booking_id, "amount": 5, "currency": "EUR"}
    before = sandbox.counters.requests["bookings.get"]
    with Journal("sqlite://") as journal:
        report = reconcile(ferry.with_options(max_retries=0), journal, [payment])
    assert [one.booking_id for one in report.not_known] == [booking_id]
    assert sandbox.counters.requests["bookings.get"] == before + 1
    (message,) = [one for one in caplog.messages if "is not known" in one]
    assert booking_id in message
    assert "field total_price" in message
