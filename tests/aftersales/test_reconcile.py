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
from tests.support.exchanges import TOKEN, URL, Exchanges, caught
from tests.support.samples import BOOKING, CANCELLATION_FEE, TICKET
from tests.support.summer import booked, stopped


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """Every fate of a booking once, on a service that is only read from then on."""
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


@pytest.fixture
def pauses(monkeypatch):
    """The seconds of each pause; no time passes."""
    pauses = []

    async def sleep_async(_, seconds, *__):
        pauses.append(seconds)

    monkeypatch.setattr(Shared, "sleep", lambda _, seconds, *__: pauses.append(seconds))
    monkeypatch.setattr(AsyncShared, "sleep", sleep_async)
    return pauses


@pytest.fixture
def client(sandbox):
    """A client of the history's service that repeats no call."""
    with Ferry(sandbox.token, base_url=sandbox.base_url, max_retries=0) as client:
        yield client


@pytest.fixture
def journal():
    """A journal without entries."""
    with Journal("sqlite://") as journal:
        yield journal


def kinds(report):
    return {kind for kind, _ in report.rows()}


@pytest.mark.slow
@pytest.mark.usefixtures("pauses")
def test_every_planted_discrepancy_alone_is_reported(any_clients, sandbox, history):
    client = any_clients(sandbox.token, base_url=sandbox.base_url, max_retries=0)
    for kind in ("rate_limited", "server_error", "cut_before", "not_json"):
        for operation in ("bookings.get", "bookings.cancel_fee"):
            sandbox.faults.add(kind, operation)
    report = any_clients.run(reconcile, client, history.journal, history.payments())
    assert rows_of(report) == history.discrepancies()


@pytest.mark.parametrize(
    ("amounts_of", "expected"),
    [
        pytest.param(lambda total, refund: (total, refund), set(), id="the refund"),
        pytest.param(
            lambda total, refund: (2 * total, total + refund),
            set(),
            id="a surplus besides the refund",
        ),
        pytest.param(
            lambda total, _: (2 * total, total),
            {"total_differs"},
            id="a surplus without the refund",
        ),
        pytest.param(
            lambda total, refund: (total - refund, 0),
            {"refunded_short", "total_differs"},
            id="nothing of a part",
        ),
        pytest.param(
            lambda total, refund: (total + 5, refund),
            {"total_differs"},
            id="the refund without the surplus",
        ),
    ],
)
def test_money_given_back_is_compared(history, journal, amounts_of, expected):
    """The function returns what was paid for a cancelled booking, and what was given back."""
    sale = next(sale for sale in history.sales if sale.fate.later == "cancel one")
    assert 0 < sale.refund < sale.total
    amount, refunded = amounts_of(sale.total, sale.refund)
    payment = {"booking_id": sale.booking_id, "currency": "EUR"}
    payment |= {"amount": amount, "refunded": refunded}
    assert kinds(reconcile(history.ferry, journal, [payment])) == expected


@pytest.mark.usefixtures("pauses")
def test_booking_that_always_fails_is_not_known(sandbox, history, client):
    payment = {"booking_id": history.sales[0].booking_id, "amount": 5, "currency": "eur"}
    empty_journal = type("Journal", (), {"entries": lambda *_, **__: ()})
    other = {"booking_id": booked(history.ferry).booking_id, "amount": 0, "currency": "EUR"}
    sandbox.faults.add("server_error", "bookings.get", after=1, times=None)
    report = reconcile(client, empty_journal(), [other, payment])
    (row,) = report.not_known  # one of the two, which are read at once
    assert (row.found, row.currency) == (None, "EUR")


class TestNothingRead:
    def test_report_of_nothing_is_an_error(self, sandbox, history, client, pauses):
        sandbox.faults.add("server_error", "bookings.get", times=None)
        caught(sdk.ServerError, reconcile, client, history.journal, [])
        assert pauses == [1.0, 2.0, 4.0]

    def test_rejected_token_is_an_error_at_once(self, sandbox, history, client, pauses):
        sandbox.faults.add("unauthorized", "bookings.get", times=None)
        error = caught(AuthenticationError, reconcile, client, history.journal, [])
        assert pauses == []
        assert "drive" not in frames_of(error), "that frame shows the bookings"


@pytest.mark.parametrize(
    ("price", "expected"),
    [
        pytest.param("0.00", set(), id="free"),
        pytest.param("0.01", {"issued_not_paid"}, id="a cent"),
    ],
)
def test_what_costs_a_cent_must_be_paid(journal, price, expected):
    payment = {"booking_id": "b-1", "amount": 0, "currency": "EUR"}
    booking = BOOKING | {"stage": "ticketed", "total_price": price}
    transport = httpx.MockTransport(Exchanges(httpx.Response(200, json=booking)))
    with (
        httpx.Client(transport=transport) as http_client,
        Ferry(TOKEN, base_url=URL, http_client=http_client) as client,
    ):
        assert kinds(reconcile(client, journal, [payment])) == expected


@pytest.mark.parametrize(
    ("currency", "expected"),
    [
        pytest.param("EUR", {"refunded_short"}, id="of the booking"),
        pytest.param("TND", {"not_known"}, id="another one"),
    ],
)
def test_refund_is_compared_in_its_currency(journal, currency, expected):
    cancelled = BOOKING | {
        "stage": "partially_voided",
        "tickets": [TICKET | {"status": "Canceled"}],
    }
    payment = {"booking_id": "b-1", "amount": "148.18", "currency": "EUR"}
    transport = httpx.MockTransport(
        Exchanges(
            httpx.Response(200, json=cancelled),
            httpx.Response(200, json=CANCELLATION_FEE | {"currency": currency}),
        )
    )
    with (
        httpx.Client(transport=transport) as http_client,
        Ferry(TOKEN, base_url=URL, http_client=http_client) as client,
    ):
        assert kinds(reconcile(client, journal, [payment])) == expected


class TestFrames:
    REPORT = Reconciliation(not_known=(Discrepancy("b1", Decimal("9.90"), None, "EUR"),))

    def test_frame_has_a_row_for_each_discrepancy(self):
        assert self.REPORT.to_frame().to_dict("records") == [
            {
                "kind": "not_known",
                "booking_id": "b1",
                "expected": Decimal("9.90"),
                "found": None,
                "currency": "EUR",
                "stage": None,
                "references": (),
            }
        ]

    def test_frame_of_a_clean_report_is_empty(self):
        assert len(Reconciliation().to_frame()) == 0

    def test_amounts_can_be_floats(self):
        frame = self.REPORT.to_frame(money="float")
        assert frame["expected"].tolist() == [9.9]
        assert frame["found"].isna().all()
        assert {str(frame[name].dtype) for name in ("expected", "found")} == {"float64"}

    def test_other_amounts_are_refused(self):
        error = caught(InvalidInputError, Reconciliation().to_frame, money="cents")
        assert error.field == "money"


GOOD = {"booking_id": "b1", "amount": 1, "currency": "EUR"}


@pytest.mark.parametrize(
    ("payments", "field"),
    [
        pytest.param([GOOD | {"amount": 1.5}], "payments[0].amount", id="a float"),
        pytest.param([GOOD | {"amount": "-1"}], "payments[0].amount", id="below zero"),
        pytest.param([GOOD | {"amount": "NaN"}], "payments[0].amount", id="no number"),
        pytest.param([GOOD | {"booking_id": ""}], "payments[0].booking_id", id="an empty id"),
        pytest.param([GOOD, {}], "payments[1].booking_id", id="no id"),
        pytest.param([GOOD | {"currency": "€"}], "payments[0].currency", id="no code"),
        pytest.param([5], "payments[0]", id="no payment"),
        pytest.param("payments.csv", "payments", id="a text"),
        pytest.param(None, "payments", id="None"),
    ],
)
def test_wrong_payment_is_named(journal, payments, field):
    with Ferry(TOKEN, base_url=URL) as ferry:
        assert caught(InvalidInputError, reconcile, ferry, journal, payments).field == field


def test_payment_needs_no_reference():
    payment = Payment(booking_id="b1", amount=Decimal("9.90"), currency="eur", refunded=None)
    assert (payment.currency, payment.reference) == ("EUR", None)


class TestUnresolved:
    def test_empty_journal_is_clean(self, client, journal):
        assert reconcile(client, journal, []).is_clean

    def test_unresolved_write_is_not_clean(self, sandbox, journal):
        with Ferry(sandbox.token, base_url=sandbox.base_url, journal=journal) as ferry:
            sandbox.faults.add("server_error", "bookings.confirm")
            confirm = ferry.with_options(deadline=20).bookings.confirm
            caught(OutcomeUnknownError, confirm, "b-1")
            report = reconcile(ferry, journal, [])
        assert report.unresolved == journal.unresolved()
        assert len(report.unresolved) == 1
        assert not report.is_clean


class TestUnreadable:
    @pytest.fixture
    def payment(self, sandbox, history):
        """The payment of a booking whose total price is missing."""
        booking_id = history.sales[0].booking_id
        body = json.loads(history.ferry.with_raw_response.bookings.get(booking_id).content)
        value = body | {"total_price": None}
        sandbox.faults.add("wrong_shape", "bookings.get", times=None, value=value)
        return {"booking_id": booking_id, "amount": 5, "currency": "EUR"}

    def test_unreadable_booking_is_not_known_at_once(self, sandbox, client, journal, payment):
        reads_before = sandbox.counters.requests["bookings.get"]
        report = reconcile(client, journal, [payment])
        assert [row.booking_id for row in report.not_known] == [payment["booking_id"]]
        assert sandbox.counters.requests["bookings.get"] == reads_before + 1

    def test_log_names_the_field(self, client, journal, payment, caplog):
        reconcile(client, journal, [payment])
        (message,) = [text for text in caplog.messages if "is not known" in text]
        assert payment["booking_id"] in message
        assert "field total_price" in message
