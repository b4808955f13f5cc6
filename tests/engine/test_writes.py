"""What a write reads before it leaves, and what the journal keeps of it."""

import json
import logging
from decimal import Decimal
from itertools import product

import pytest

import ferry_sdk as sdk
from ferry_sdk import SAFETY, FerryError, OutcomeUnknownError, PenaltyExceededError
from ferry_sdk._engine.effects import RunBlocking, Send
from ferry_sdk.types import OutcomeDetails
from tests.engine.failures import refused, reset, timed_out, undecodable
from tests.engine.recorder import Notes, entry, kinds
from tests.engine.replies import booking, good, reply, scripted_driver, ticket
from tests.engine.writes import ANSWERS, SHOWN, every_shown, every_write
from tests.support.cases import case
from tests.support.operations import OPERATIONS, described
from tests.support.samples import CANCELLATION_FEE
from tests.support.tables import each
from tests.support.trip import PASSENGERS

CANCELLED_FEE = CANCELLATION_FEE | {"ticket_status": "Canceled", "penalty_amount": 999}
GUARDED = {
    "bookings.confirm": ("expect_total", "/api/booking/b-1", booking()),
    "bookings.cancel": ("max_penalty", "/api/booking/cancel-fee", CANCELLATION_FEE),
    "tickets.cancel": ("max_penalty", "/api/booking/cancel-fee", CANCELLATION_FEE),
}
"""Of each guarded write: the guard's argument, the path that is read first, and what it shows."""
CANCELLATIONS = ("bookings.cancel", "tickets.cancel")


def describe_guarded(name, amount=50, **changes):
    return described(name, **{GUARDED[name][0]: amount}, **changes)


def test_only_the_expected_total_in_its_currency_lets_the_confirmation_leave():
    same = product([Decimal("148.18"), "148.18", "148.180", "1.4818e2"], [148.18])
    for expected, total in (*same, (148, 148)):
        with case(expected, total):
            confirmed = good(ANSWERS["bookings.confirm"])
            driver = scripted_driver(good(booking(total_price=total)), confirmed)
            assert not driver.raw(describe_guarded("bookings.confirm", expected)).parse().read_back
            assert driver.paths == ["/api/booking/b-1", "/api/booking/confirm"]
    others = product(["148.17", "148.19", Decimal(148), 0, "-148.18"], [148.18])
    for expected, total in (*others, ("1000000000000000.01", 1e15)):
        with case(expected, total):
            driver = scripted_driver(good(booking(total_price=total, currency="Tnd")))
            operation = describe_guarded("bookings.confirm", expected)
            error = driver.error(sdk.PriceChangedError, operation)
            assert (error.expected, error.found) == (Decimal(expected), Decimal(str(total)))
            assert (error.currency, error.outcome) == ("TND", "not_sent")
            assert (error.operation, driver.paths) == ("bookings.confirm", ["/api/booking/b-1"])
    for currency, name in product(("EUR", "eur", "Eur"), GUARDED):
        driver = scripted_driver(good(GUARDED[name][2] | {"currency": "Eur"}), good(ANSWERS[name]))
        amount = "148.18" if name == "bookings.confirm" else 50
        assert driver.raw(describe_guarded(name, amount, currency=currency)).parse()
    for name in GUARDED:
        with case(name), pytest.raises(sdk.InvalidInputError) as info:
            described(name, currency="EUR")
        assert info.value.field == "currency"
    driver = scripted_driver(good(booking(currency="Kwd")))
    operation = described("bookings.confirm", expect_total="148.18", currency="eur")
    price = driver.error(sdk.PriceChangedError, operation)
    assert (price.currency, price.expected_currency) == ("KWD", "EUR")
    hint = "which is in another currency: pass an amount in KWD"
    assert str(price) == f"the booking costs 148.180 KWD, expected 148.18 EUR, {hint}"
    for name, amounts in product(CANCELLATIONS, ({"max_penalty": 50}, {"min_refund": 100})):
        driver = scripted_driver(good(CANCELLATION_FEE | {"currency": "Kwd"}))
        error = driver.error(PenaltyExceededError, described(name, **amounts, currency="EUR"))
        assert (error.currency, error.expected_currency) == ("KWD", "EUR")
        assert (error.penalty, error.refund) == (Decimal("48.13"), Decimal("100.05"))
        assert str(error).endswith(f" EUR, {hint}")
        assert " KWD, " in str(error)
        assert (error.outcome, len(driver.requests)) == ("not_sent", 1)


def test_less_paid_back_holds_it_back_and_a_guard_is_not_checked_again_against_what_is_read_back():
    for name in CANCELLATIONS:
        driver = scripted_driver(good(CANCELLATION_FEE))
        operation = described(name, max_penalty=50, min_refund="100.06")
        error = driver.error(PenaltyExceededError, operation)
        assert (error.limit, error.min_refund) == (Decimal(50), Decimal("100.06"))
        assert (error.refund, error.currency) == (Decimal("100.05"), "EUR")
        assert error.expected_currency == "EUR"
        assert str(error) == "the cancellation pays back 100.05 EUR, expected at least 100.06 EUR"
        driver = scripted_driver(good(CANCELLATION_FEE), good(ANSWERS[name]))
        assert driver.raw(described(name, min_refund="100.05")).parse().previewed is not None
    for total, currency in ((999, "EUR"), (148.18, "KWD")):
        sold = booking("ticketed", "Issued", total_price=total, currency=currency)
        driver = scripted_driver(good(booking()), reset(), good(sold))
        operation = describe_guarded("bookings.confirm", "148.18", currency="EUR")
        assert driver.raw(operation).parse().read_back


@each("name", CANCELLATIONS)
def test_only_a_penalty_within_the_limit_lets_a_cancellation_leave(name, caplog):
    for limit in (Decimal("48.13"), "48.14", 49, "1e9"):
        driver = scripted_driver(good(CANCELLATION_FEE), good(ANSWERS[name]))
        result = driver.raw(describe_guarded(name, limit)).parse()
        assert result.previewed.penalty_amount == Decimal("48.13")
        assert not result.read_back
        assert len(driver.requests) == 2
    for limit in (Decimal("48.12"), 48, 0, "-1"):
        driver = scripted_driver(good(CANCELLATION_FEE))
        error = driver.error(PenaltyExceededError, describe_guarded(name, limit))
        assert (error.limit, error.penalty) == (Decimal(limit), Decimal("48.13"))
        assert (error.currency, error.outcome, error.operation) == ("EUR", "not_sent", name)
        assert len(driver.requests) == 1
    twin = sdk.UnresolvedWriteError(entry(name))
    for lost, journal in (([reset()], None), ([], Notes(refusal=twin))):
        driver = scripted_driver(good(CANCELLATION_FEE), *lost, good(SHOWN[name]))
        with caplog.at_level(logging.WARNING, "ferry_sdk"):
            result = driver.raw(describe_guarded(name), journal=journal).parse()
        assert result.read_back
        assert result.previewed.refund_amount == Decimal("100.05")
        assert getattr(result, "refund_shortfall", None) is None
        assert caplog.records == []


def test_nothing_is_sent_for_what_the_guard_shows_to_be_done_and_an_earlier_attempt_is_settled():
    """A total, a fee and a currency that another guard would refuse do not matter."""
    for name in GUARDED:
        first = [] if name == "bookings.confirm" else [good(CANCELLED_FEE)]
        driver, notes = scripted_driver(*first, good(SHOWN[name])), Notes()
        operation = describe_guarded(name, 1, currency="USD")
        error = driver.error(sdk.AlreadyDoneError, operation, journal=notes)
        assert (error.outcome, error.operation, error.__cause__) == ("not_sent", name, None)
        assert error.result.read_back
        assert isinstance(error.last_seen, sdk.Booking | sdk.Ticket)
        assert notes.states == {"entry-1": "not_sent"}
        assert len(driver.requests) == len(first) + 1
    notes = Notes(refusal=sdk.UnresolvedWriteError(entry("bookings.confirm")))
    driver = scripted_driver(*[good(SHOWN["bookings.confirm"])] * 2)
    assert driver.raw(describe_guarded("bookings.confirm", 1), journal=notes).parse().read_back
    assert notes.states == {"entry-7": "done"}


def test_a_fee_of_a_cancelled_ticket_shows_nothing_and_one_that_is_refused_is_looked_into():
    """The fee names the status of one ticket, and the booking has another one."""
    fee = CANCELLATION_FEE | {"ticket_status": "Canceled"}
    for seen in (good(booking("partially_voided", "Canceled", "Issued")), reply(404), reset):
        driver = scripted_driver(good(fee), seen, good(ANSWERS["bookings.cancel"]))
        assert not driver.raw(describe_guarded("bookings.cancel"), max_retries=0).parse().read_back
        assert len(driver.requests) == 3
    for name in CANCELLATIONS:
        driver = scripted_driver(reply(409), good(SHOWN[name]))
        assert driver.error(sdk.AlreadyDoneError, describe_guarded(name)).outcome == "not_sent"
        for seen in (good(CANCELLATION_FEE), reply(404)):
            driver = scripted_driver(reply(409), seen)
            conflict = driver.error(sdk.ConflictError, describe_guarded(name), max_retries=0)
            assert conflict.operation == name
            assert len(driver.requests) == 2


def test_an_id_that_is_refused_is_the_argument_and_the_same_change_has_the_same_identity():
    refusal = reply(400, {"error": True, "code": "BAD_ID", "message": "no id", "field": "id"})
    for call, argument in (
        (describe_guarded("bookings.cancel"), "booking_id"),
        (describe_guarded("tickets.cancel"), "ticket_id"),
        ("bookings.confirm", "booking_id"),
        ("bookings.cancel_fee", "id"),
    ):
        error = scripted_driver(refusal, reply(404)).error(sdk.BadRequestError, call)
        assert error.field == argument
    colours = ({"colour": "blue", "deck": 3}, {"deck": 3, "colour": "blue"})
    for calls in (
        [("bookings.confirm", {}), ("mcp.confirm_booking", {})],
        [("tickets.cancel", {}), ("mcp.cancel_ticket", {})],
        [("tickets.mark_paid", {}), ("tickets.mark_paid", {"booking_id": "b-1"})],
        [("mcp.call_tool", {"arguments": arguments}) for arguments in colours],
    ):
        first, second = intents_of(*calls)
        assert (first.identity, first.effect) == (second.identity, second.effect), calls
    changes = [
        *product(["bookings.confirm"], [{}, {"booking_id": "b-2"}]),
        ("bookings.cancel", {}),
        *product(["tickets.mark_paid"], [{}, {"external_payment_ref": "p"}, {"ticket_id": "t-2"}]),
        *product(["bookings.create"], [{}, {"passengers": PASSENGERS[:1]}]),
        ("mcp.call_tool", {}),
    ]
    known = {(intent.effect, intent.identity) for intent in intents_of(*changes)}
    assert len(known) == len(changes)


@each(
    ("failure", "kind", "outcome"),
    [
        *product([refused, reset], [sdk.ConnectionFailedError], ["not_sent"]),
        (timed_out, sdk.RequestTimeoutError, "not_sent"),
        (undecodable, sdk.UnexpectedResponseError, "not_sent"),
        (reply(500), sdk.ServerError, "not_sent"),
        (reply(408), FerryError, "not_sent"),
        *product(map(reply, (200, 302)), [sdk.UnexpectedResponseError], ["not_sent"]),
        (reply(404), sdk.NotFoundError, "rejected"),
        (reply(401), sdk.AuthenticationError, "rejected"),
    ],
)
@each("name", GUARDED)
def test_a_guard_that_cannot_be_read_holds_the_write_back(name, failure, kind, outcome):
    driver = scripted_driver(*[failure] * 3)
    error = driver.error(kind, describe_guarded(name))
    assert not isinstance(error, OutcomeUnknownError)
    assert (error.outcome, error.operation) == (outcome, name)
    assert set(driver.paths) == {GUARDED[name][1]}
    driver = scripted_driver(reply(403))
    driver.error(FerryError, describe_guarded(name, None))
    assert driver.paths != [GUARDED[name][1]], "without a guard nothing is read first"


@each("name", GUARDED)
def test_a_guard_that_cannot_be_read_hides_no_unresolved_twin(name):
    twin = sdk.UnresolvedWriteError(entry(name))
    guarded = describe_guarded(name)
    driver = scripted_driver(*[reply(500)] * 6)
    error = driver.error(sdk.UnresolvedWriteError, guarded, journal=Notes(refusal=twin))
    assert (error.entry.id, error.outcome) == ("entry-7", "not_sent")
    assert not any(path.endswith(("/confirm", "/cancel")) for path in driver.paths)
    notes = Notes(refusal=twin)
    driver = scripted_driver(*[reply(500)] * 3, good(SHOWN[name]))
    assert driver.raw(guarded, journal=notes).parse().read_back
    assert notes.states == {"entry-7": "done"}
    for failure, states in ((reply(500), {"entry-1": "not_sent"}), (reply(404), {})):
        notes = Notes()
        driver = scripted_driver(*[failure] * 3)
        driver.error(sdk.APIError, guarded, journal=notes)
        assert (notes.states, {*driver.paths}) == (states, {GUARDED[name][1]})


def test_a_refund_is_compared_with_the_preview(caplog):
    table = {"100.05": "0", "90.05": "10.00", "100.04": "0.01", "101": "-0.95"}
    for refund, shortfall in table.items():
        caplog.clear()
        cancelled = ANSWERS["bookings.cancel"] | {"refund_amount": float(refund)}
        driver = scripted_driver(good(CANCELLATION_FEE), good(cancelled))
        with caplog.at_level(logging.WARNING, "ferry_sdk"):
            result = driver.raw(describe_guarded("bookings.cancel")).parse()
        assert result.refund_shortfall == Decimal(shortfall)
        warned = [record.getMessage() for record in caplog.records]
        assert len(warned) == (1 if Decimal(shortfall) > 0 else 0), refund
        assert all("less than was previewed" in words and "EUR" in words for words in warned)


@every_write
def test_the_intent_is_on_record_before_the_first_byte_and_the_outcome_or_doubt_after(name):
    notes = Notes()
    driver = scripted_driver(good(ANSWERS[name]))
    driver.raw(name, journal=notes, correlation_id="c-1", deadline=5.0)
    assert kinds(driver) == [RunBlocking, Send, RunBlocking]
    consulted = [effect for effect in driver.effects if isinstance(effect, RunBlocking)]
    assert [effect.until for effect in consulted] == [1005.0, 1005.0]
    assert notes.states == {"entry-1": "done"}
    (intent,) = notes.intents.values()
    assert (intent.operation, intent.effect) == (name, SAFETY[name].effect)
    assert intent.method == "POST"
    assert intent.path.startswith(driver.paths[0])
    assert (intent.subject, intent.correlation_id) == (described(name).write.subject, "c-1")
    assert json.loads(intent.identity)
    assert "identity" not in repr(intent)
    driver = scripted_driver(good(ANSWERS[name]))
    assert driver.raw(name).parse()
    assert kinds(driver) == [Send]
    for journal, entry_id in ((Notes(), "entry-1"), (None, None)):
        driver = scripted_driver(reset(), then=reply(404))
        assert driver.error(OutcomeUnknownError, name, journal=journal).entry_id == entry_id


def test_every_write_is_tested_and_a_booking_is_the_same_in_both_protocols_whoever_travels():
    assert ANSWERS.keys() == {name for name in OPERATIONS if not SAFETY[name].is_read}
    assert SHOWN.keys() == {name for name, row in SAFETY.items() if row.confirmed_by}
    first, second = intents_of(("bookings.create", {}), ("mcp.create_booking", {}))
    assert (first.identity, first.effect) == (second.identity, second.effect)
    family = str(PASSENGERS[0]["last_name"])
    assert family in first.identity.decode()
    for intent in (first, second):
        assert family not in repr(intent)
        assert family not in intent.path
        assert not intent.subject


def intents_of(*calls):
    notes = Notes()
    for name, given in calls:
        scripted_driver(good(ANSWERS[name] | given)).raw(described(name, **given), journal=notes)
    return [*notes.intents.values()]


@each(
    ("replies", "state"),
    [
        ([refused] * 3, "not_sent"),
        ([reply(429)] * 3, "rejected"),
        ([reply(429, retry_after="61")], "rejected"),
        ([refused, refused, reply(404)], "rejected"),
        ([reply(401)], "rejected"),
        ([reply(409), reply(404)], "rejected"),
        ([reply(302)], "unknown"),
        ([reset, reply(404)], "unknown"),
        ([reply(503), reply(401)], "unknown"),
        ([reply(200, {}), reply(404)], "unknown"),
    ],
)
@every_shown
def test_every_ending_is_put_on_record_as_what_it_was(name, replies, state):
    notes = Notes()
    driver = scripted_driver(*replies)
    assert driver.error(FerryError, name, journal=notes).outcome == state
    assert notes.states == {"entry-1": state}
    assert kinds(driver)[0] == kinds(driver)[-1] == RunBlocking


def test_what_is_recorded_keeps_its_code_and_is_unresolved_while_nobody_knows():
    family = PASSENGERS[0]["last_name"]
    kept = {code: code for code in ("BOOKING_CREATE_ERROR", "NO_ROOM.2")}
    names = (family, f"{family}_IS_TAKEN", "no place for Ferrandini")
    for code, known in (kept | dict.fromkeys(names)).items():
        notes = Notes()
        driver = scripted_driver(reply(409, {"code": code, "message": code}))
        driver.error(FerryError, "bookings.create", journal=notes)
        assert notes.details == {"entry-1": OutcomeDetails(status_code=409, code=known)}
    notes = Notes()
    for name in OPERATIONS:  # a read, or a write that is not allowed
        driver = scripted_driver(then=reply(404))
        driver.error(FerryError, name, journal=notes, read_only=True)
        assert notes.states == {}, name
    for name, (*_, first) in GUARDED.items():
        driver = scripted_driver(good(first))
        driver.error(FerryError, describe_guarded(name, 1), journal=notes)
        assert notes.states == {}, name
        assert kinds(driver) == [Send]
    paying = described("tickets.mark_paid")
    scripted_driver().error(FerryError, paying, journal=notes, organisation_token=None)
    assert set(notes.states.values()) <= {"not_sent"}
    states = ("open", "unknown", "done", "rejected", "not_sent")
    unresolved = {state for state in states if entry("bookings.create", state).is_unresolved}
    assert unresolved == {"open", "unknown"}


@each("journal", [None, Notes()])
@each("arguments", [{1: "a", "b": 2}, {None: 1, "b": 2}, {True: 1, "b": 2}])
def test_a_tool_may_have_arguments_of_any_key_that_json_takes(journal, arguments):
    operation = described("mcp.call_tool", arguments=arguments)
    assert scripted_driver(good(1)).raw(operation, journal=journal).parse() == 1
    scripted_driver(reset()).error(OutcomeUnknownError, operation, journal=journal)


@every_write
def test_a_write_that_the_journal_takes_too_late_is_not_sent_and_its_intent_taken_back(name):
    for trouble in (sdk.JournalError("the disk is full"), sdk.RequestTimeoutError("too late")):
        driver = scripted_driver()
        error = driver.error(type(trouble), name, journal=Notes(refusal=trouble))
        assert error is trouble
        assert (error.outcome, error.operation) == ("not_sent", name)
        assert kinds(driver) == [RunBlocking]

    class Slow(Notes):
        def begin(self, intent):
            driver.now += 5
            return super().begin(intent)

    notes, driver = Slow(), scripted_driver()
    error = driver.error(sdk.RequestTimeoutError, name, journal=notes, deadline=5.0)
    assert (error.outcome, notes.states) == ("not_sent", {"entry-1": "not_sent"})
    assert driver.requests == []


@every_write
@each("trouble", [sdk.JournalError("full"), sdk.RequestTimeoutError("late"), RuntimeError("own")])
def test_an_outcome_that_the_journal_refuses_is_logged_and_the_result_given(name, caplog, trouble):
    caplog.clear()
    notes = Notes(failure=trouble)
    assert scripted_driver(good(ANSWERS[name])).raw(name, journal=notes).parse()
    assert notes.states == {"entry-1": "open"}
    assert scripted_driver(reply(403)).error(FerryError, name, journal=notes).outcome == "rejected"
    errors = [one.getMessage() for one in caplog.records if one.levelno >= logging.ERROR]
    for words, entry_id in zip(errors, ("entry-1", "entry-2"), strict=True):
        assert entry_id in words
        assert str(trouble) in words


@each("name", [name for name in ANSWERS if name not in SHOWN])
def test_what_no_read_shows_is_refused_while_its_twin_is_unresolved(name):
    twin = sdk.UnresolvedWriteError(entry(name, "open"))
    driver = scripted_driver()
    error = driver.error(sdk.UnresolvedWriteError, name, journal=Notes(refusal=twin))
    assert error.entry.id == "entry-7"
    assert (error.outcome, error.operation) == ("not_sent", name)
    assert kinds(driver) == [RunBlocking]


@every_shown
def test_a_twin_is_settled_and_gives_the_result_where_its_effect_is_seen(name):
    notes = Notes(refusal=sdk.UnresolvedWriteError(entry(name)))
    driver = scripted_driver(reset(), good(SHOWN[name]))
    assert driver.raw(name, journal=notes).parse().read_back
    assert notes.states == {"entry-7": "done"}
    assert kinds(driver) == [RunBlocking, Send, Send, RunBlocking]
    assert not any("confirm" in path or "cancel" in path for path in driver.paths)
    is_booking = "stage" in SHOWN[name]
    unseen = good(booking("payment_due", "Pending") if is_booking else ticket("Pending"))
    for answer in (reply(404), reply(401), unseen):
        notes = Notes(refusal=sdk.UnresolvedWriteError(entry(name)))
        driver = scripted_driver(answer)
        error = driver.error(sdk.UnresolvedWriteError, name, journal=notes)
        assert (error.outcome, notes.states, len(error.attempts)) == ("not_sent", {}, 1)
        assert kinds(driver) == [RunBlocking, Send]


@each("stop", [sdk.RequestTimeoutError("the deadline has passed"), KeyboardInterrupt()])
@each("is_late", [False, True])
@every_write
def test_an_intent_that_nobody_waits_for_is_taken_back(name, is_late, stop, monkeypatch):
    def leave(effect):
        if not isinstance(effect, RunBlocking) or unheard:
            return perform(effect)
        unheard.append(effect)
        if is_late:
            effect.function()
        raise stop

    notes, driver, unheard = Notes(), scripted_driver(), []
    perform = driver.perform
    monkeypatch.setattr(driver, "perform", leave)
    assert driver.error(type(stop), name, journal=notes) is stop
    if not is_late:
        assert notes.states == {}
        unheard[0].function()
    assert (notes.states, driver.requests) == ({"entry-1": "not_sent"}, [])
