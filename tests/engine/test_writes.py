"""The steps of a write: its guard, its identity, its entry in the journal, and its outcome.

The order is that of `ferry_sdk._engine.writes`. How an unknown outcome is read back is in
`test_polling`, how callers share a request in `test_flow`.
"""

import json
import logging
from decimal import Decimal

import pytest

import ferry_sdk as sdk
from ferry_sdk import SAFETY, FerryError, OutcomeUnknownError, PenaltyExceededError
from ferry_sdk._engine.effects import RunBlocking, Send
from ferry_sdk.types import OutcomeDetails
from tests.engine.failures import refused, reset, timed_out, undecodable
from tests.engine.recorder import Notes, entry, kinds
from tests.engine.replies import booking, good, reply, scripted_driver, ticket
from tests.engine.writes import ANSWERS, SHOWN, every_shown, every_write
from tests.support.operations import OPERATIONS, described
from tests.support.samples import CANCELLATION_FEE
from tests.support.trip import PASSENGERS

GUARD_ARGUMENTS = {
    "bookings.confirm": "expect_total",
    "bookings.cancel": "max_penalty",
    "tickets.cancel": "max_penalty",
}
"""The argument of each guarded write by which its guard judges."""
GUARD_PATHS = {
    "bookings.confirm": "/api/booking/b-1",
    "bookings.cancel": "/api/booking/cancel-fee",
    "tickets.cancel": "/api/booking/cancel-fee",
}
GUARD_ANSWERS = {
    "bookings.confirm": booking(),
    "bookings.cancel": CANCELLATION_FEE,
    "tickets.cancel": CANCELLATION_FEE,
}
"""What each guard reads: a price of 148.18 EUR, a penalty of 48.13 EUR, a refund of 100.05 EUR."""
OF_CANCELLED = CANCELLATION_FEE | {"ticket_status": "Canceled"}
"""The fee of a ticket that is cancelled already."""
IN_ANOTHER_CURRENCY = "which is in another currency: pass an amount in KWD"
FAMILY_NAME = str(PASSENGERS[0]["last_name"])

every_guarded = pytest.mark.parametrize("name", GUARD_ARGUMENTS)
every_cancellation = pytest.mark.parametrize("name", ["bookings.cancel", "tickets.cancel"])


@pytest.fixture
def notes():
    """Give an empty journal."""
    return Notes()


def describe_guarded(name, amount=50, **changes):
    return described(name, **{GUARD_ARGUMENTS[name]: amount}, **changes)


def confirmation_for(expected, **price):
    """Return a driver whose booking has a price, and a confirmation that expects a total."""
    driver = scripted_driver(good(booking(**price)), good(ANSWERS["bookings.confirm"]))
    return driver, describe_guarded("bookings.confirm", expected)


def with_unresolved_twin(name):
    """Return a journal in which the same write is unresolved."""
    return Notes(refusal=sdk.UnresolvedWriteError(entry(name)))


# The guard's amounts


@pytest.mark.parametrize(
    ("expected", "total"),
    [
        pytest.param(Decimal("148.18"), 148.18, id="decimal"),
        pytest.param("148.18", 148.18, id="text"),
        pytest.param("148.180", 148.18, id="trailing zero"),
        pytest.param("1.4818e2", 148.18, id="exponent"),
        pytest.param(148, 148, id="whole number"),
    ],
)
def test_expected_total_lets_the_confirmation_leave(expected, total):
    driver, operation = confirmation_for(expected, total_price=total)
    assert not driver.raw(operation).parse().read_back
    assert driver.paths == ["/api/booking/b-1", "/api/booking/confirm"]


@pytest.mark.parametrize(
    ("expected", "total"),
    [
        pytest.param("148.17", 148.18, id="lower"),
        pytest.param("148.19", 148.18, id="higher"),
        pytest.param(Decimal(148), 148.18, id="rounded"),
        pytest.param(0, 148.18, id="zero"),
        pytest.param("-148.18", 148.18, id="negative"),
        pytest.param("1000000000000000.01", 1e15, id="more digits than a float"),
    ],
)
def test_another_total_stops_the_confirmation(expected, total):
    driver, operation = confirmation_for(expected, total_price=total, currency="Tnd")
    error = driver.error(sdk.PriceChangedError, operation)
    assert (error.expected, error.found) == (Decimal(expected), Decimal(str(total)))
    assert (error.currency, error.outcome) == ("TND", "not_sent")
    assert (error.operation, driver.paths) == ("bookings.confirm", ["/api/booking/b-1"])


@every_cancellation
@pytest.mark.parametrize("limit", [Decimal("48.13"), "48.14", 49, "1e9"])
def test_penalty_within_the_limit_lets_it_leave(name, limit):
    driver = scripted_driver(good(CANCELLATION_FEE), good(ANSWERS[name]))
    result = driver.raw(describe_guarded(name, limit)).parse()
    assert result.previewed.penalty_amount == Decimal("48.13")
    assert not result.read_back
    assert len(driver.requests) == 2


@every_cancellation
@pytest.mark.parametrize("limit", [Decimal("48.12"), 48, 0, "-1"])
def test_higher_penalty_stops_the_cancellation(name, limit):
    driver = scripted_driver(good(CANCELLATION_FEE))
    error = driver.error(PenaltyExceededError, describe_guarded(name, limit))
    assert (error.limit, error.penalty) == (Decimal(limit), Decimal("48.13"))
    assert (error.currency, error.outcome, error.operation) == ("EUR", "not_sent", name)
    assert len(driver.requests) == 1


@every_cancellation
def test_expected_refund_lets_the_cancellation_leave(name):
    driver = scripted_driver(good(CANCELLATION_FEE), good(ANSWERS[name]))
    assert driver.raw(described(name, min_refund="100.05")).parse().previewed is not None


@every_cancellation
def test_smaller_refund_stops_the_cancellation(name):
    driver = scripted_driver(good(CANCELLATION_FEE))
    operation = described(name, max_penalty=50, min_refund="100.06")
    error = driver.error(PenaltyExceededError, operation)
    assert (error.limit, error.min_refund) == (Decimal(50), Decimal("100.06"))
    assert (error.refund, error.currency) == (Decimal("100.05"), "EUR")
    assert error.expected_currency == "EUR"
    assert str(error) == "the cancellation pays back 100.05 EUR, expected at least 100.06 EUR"


# The guard's currency


@every_guarded
@pytest.mark.parametrize("currency", ["EUR", "eur", "Eur"])
def test_currencies_are_compared_without_case(name, currency):
    answer = GUARD_ANSWERS[name] | {"currency": "Eur"}
    driver = scripted_driver(good(answer), good(ANSWERS[name]))
    amount = "148.18" if name == "bookings.confirm" else 50
    assert driver.raw(describe_guarded(name, amount, currency=currency)).parse()


@every_guarded
def test_currency_needs_an_amount(name):
    with pytest.raises(sdk.InvalidInputError) as info:
        described(name, currency="EUR")
    assert info.value.field == "currency"


def test_price_in_another_currency_stops_the_confirmation():
    driver = scripted_driver(good(booking(currency="Kwd")))
    operation = described("bookings.confirm", expect_total="148.18", currency="eur")
    error = driver.error(sdk.PriceChangedError, operation)
    assert (error.currency, error.expected_currency) == ("KWD", "EUR")
    assert str(error) == (
        f"the booking costs 148.180 KWD, expected 148.18 EUR, {IN_ANOTHER_CURRENCY}"
    )


@every_cancellation
@pytest.mark.parametrize("amounts", [{"max_penalty": 50}, {"min_refund": 100}], ids=str)
def test_fee_in_another_currency_stops_the_cancellation(name, amounts):
    driver = scripted_driver(good(CANCELLATION_FEE | {"currency": "Kwd"}))
    error = driver.error(PenaltyExceededError, described(name, **amounts, currency="EUR"))
    assert (error.currency, error.expected_currency) == ("KWD", "EUR")
    assert (error.penalty, error.refund) == (Decimal("48.13"), Decimal("100.05"))
    assert str(error).endswith(f" EUR, {IN_ANOTHER_CURRENCY}")
    assert " KWD, " in str(error)
    assert (error.outcome, len(driver.requests)) == ("not_sent", 1)


# What the guard says of the result


@pytest.mark.parametrize(
    ("refund", "shortfall"),
    [("100.05", "0"), ("90.05", "10.00"), ("100.04", "0.01"), ("101", "-0.95")],
)
def test_refund_is_compared_with_the_preview(refund, shortfall, caplog):
    cancelled = ANSWERS["bookings.cancel"] | {"refund_amount": float(refund)}
    driver = scripted_driver(good(CANCELLATION_FEE), good(cancelled))
    with caplog.at_level(logging.WARNING, "ferry_sdk"):
        result = driver.raw(describe_guarded("bookings.cancel")).parse()
    assert result.refund_shortfall == Decimal(shortfall)
    warnings = [record.getMessage() for record in caplog.records]
    assert len(warnings) == (1 if Decimal(shortfall) > 0 else 0)
    assert all("less than was previewed" in words and "EUR" in words for words in warnings)


@every_cancellation
@pytest.mark.parametrize("is_earlier", [False, True], ids=["reply lost", "earlier attempt"])
def test_cancellation_that_is_read_back_has_no_shortfall(name, is_earlier, caplog):
    lost = [] if is_earlier else [reset()]
    journal = with_unresolved_twin(name) if is_earlier else None
    driver = scripted_driver(good(CANCELLATION_FEE), *lost, good(SHOWN[name]))
    with caplog.at_level(logging.WARNING, "ferry_sdk"):
        result = driver.raw(describe_guarded(name), journal=journal).parse()
    assert result.read_back
    assert result.previewed.refund_amount == Decimal("100.05")
    assert getattr(result, "refund_shortfall", None) is None
    assert caplog.records == []


@pytest.mark.parametrize(("total", "currency"), [(999, "EUR"), (148.18, "KWD")])
def test_read_back_ignores_the_guard(total, currency):
    sold = booking("ticketed", "Issued", total_price=total, currency=currency)
    driver = scripted_driver(good(booking()), reset(), good(sold))
    operation = describe_guarded("bookings.confirm", "148.18", currency="EUR")
    assert driver.raw(operation).parse().read_back


# The effect is there already


@every_guarded
def test_nothing_is_sent_if_the_effect_is_there(name, notes):
    """A total, a fee and a currency that another guard would refuse do not matter."""
    fee = OF_CANCELLED | {"penalty_amount": 999}
    replies = [good(SHOWN[name])] if name == "bookings.confirm" else [good(fee), good(SHOWN[name])]
    driver = scripted_driver(*replies)
    operation = describe_guarded(name, 1, currency="USD")
    error = driver.error(sdk.AlreadyDoneError, operation, journal=notes)
    assert (error.outcome, error.operation, error.__cause__) == ("not_sent", name, None)
    assert error.result.read_back
    assert isinstance(error.last_seen, sdk.Booking | sdk.Ticket)
    assert notes.states == {"entry-1": "not_sent"}
    assert len(driver.requests) == len(replies)


def test_effect_that_is_there_settles_an_earlier_attempt():
    notes = with_unresolved_twin("bookings.confirm")
    shown = good(SHOWN["bookings.confirm"])
    driver = scripted_driver(shown, shown)
    assert driver.raw(describe_guarded("bookings.confirm", 1), journal=notes).parse().read_back
    assert notes.states == {"entry-7": "done"}


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param(good(booking("partially_voided", "Canceled", "Issued")), id="one is issued"),
        pytest.param(reply(404), id="not found"),
        pytest.param(reset, id="connection lost"),
    ],
)
def test_fee_of_one_cancelled_ticket_proves_nothing(seen):
    """The fee names the status of one ticket, and the booking has another one."""
    driver = scripted_driver(good(OF_CANCELLED), seen, good(ANSWERS["bookings.cancel"]))
    assert not driver.raw(describe_guarded("bookings.cancel"), max_retries=0).parse().read_back
    assert len(driver.requests) == 3


@every_cancellation
def test_effect_is_read_after_a_refused_fee(name):
    driver = scripted_driver(reply(409), good(SHOWN[name]))
    assert driver.error(sdk.AlreadyDoneError, describe_guarded(name)).outcome == "not_sent"


@every_cancellation
@pytest.mark.parametrize(
    "seen",
    [
        pytest.param(good(CANCELLATION_FEE), id="no effect"),
        pytest.param(reply(404), id="no record"),
    ],
)
def test_refused_fee_without_the_effect_is_raised(name, seen):
    driver = scripted_driver(reply(409), seen)
    error = driver.error(sdk.ConflictError, describe_guarded(name), max_retries=0)
    assert error.operation == name
    assert len(driver.requests) == 2


# The guard cannot be read


@every_guarded
@pytest.mark.parametrize(
    ("failure", "kind", "outcome"),
    [
        pytest.param(refused, sdk.ConnectionFailedError, "not_sent", id="connection refused"),
        pytest.param(reset, sdk.ConnectionFailedError, "not_sent", id="connection reset"),
        pytest.param(timed_out, sdk.RequestTimeoutError, "not_sent", id="timed out"),
        pytest.param(undecodable, sdk.UnexpectedResponseError, "not_sent", id="undecodable"),
        pytest.param(reply(500), sdk.ServerError, "not_sent", id="500"),
        pytest.param(reply(408), FerryError, "not_sent", id="408"),
        pytest.param(reply(200), sdk.UnexpectedResponseError, "not_sent", id="200 without a body"),
        pytest.param(reply(302), sdk.UnexpectedResponseError, "not_sent", id="302"),
        pytest.param(reply(404), sdk.NotFoundError, "rejected", id="404"),
        pytest.param(reply(401), sdk.AuthenticationError, "rejected", id="401"),
    ],
)
def test_unreadable_guard_stops_the_write(name, failure, kind, outcome):
    driver = scripted_driver(failure, failure, failure)
    error = driver.error(kind, describe_guarded(name))
    assert not isinstance(error, OutcomeUnknownError)
    assert (error.outcome, error.operation) == (outcome, name)
    assert set(driver.paths) == {GUARD_PATHS[name]}


@every_guarded
def test_nothing_is_read_first_without_a_guard(name):
    driver = scripted_driver(reply(403))
    driver.error(FerryError, describe_guarded(name, None))
    assert driver.paths != [GUARD_PATHS[name]]


@every_guarded
@pytest.mark.parametrize(
    ("failure", "states"),
    [
        pytest.param(reply(500), {"entry-1": "not_sent"}, id="500"),
        pytest.param(reply(404), {}, id="404"),
    ],
)
def test_unreadable_guard_is_recorded_unless_it_is_refused(name, failure, states, notes):
    driver = scripted_driver(failure, failure, failure)
    driver.error(sdk.APIError, describe_guarded(name), journal=notes)
    assert (notes.states, {*driver.paths}) == (states, {GUARD_PATHS[name]})


@every_guarded
def test_unreadable_guard_hides_no_unresolved_twin(name):
    notes = with_unresolved_twin(name)
    driver = scripted_driver(then=reply(500))
    error = driver.error(sdk.UnresolvedWriteError, describe_guarded(name), journal=notes)
    assert (error.entry.id, error.outcome) == ("entry-7", "not_sent")
    assert not any(path.endswith(("/confirm", "/cancel")) for path in driver.paths)


@every_guarded
def test_unreadable_guard_lets_a_twin_be_settled(name):
    notes = with_unresolved_twin(name)
    driver = scripted_driver(reply(500), reply(500), reply(500), good(SHOWN[name]))
    assert driver.raw(describe_guarded(name), journal=notes).parse().read_back
    assert notes.states == {"entry-7": "done"}


# The identity, by which writes are the same


def intents_of(*calls):
    """Return the intents of writes, each given by its name and its arguments."""
    notes = Notes()
    for name, arguments in calls:
        driver = scripted_driver(good(ANSWERS[name] | arguments))
        driver.raw(described(name, **arguments), journal=notes)
    return [*notes.intents.values()]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("bookings.create", {}), ("mcp.create_booking", {})),
        (("bookings.confirm", {}), ("mcp.confirm_booking", {})),
        (("tickets.cancel", {}), ("mcp.cancel_ticket", {})),
        (("tickets.mark_paid", {}), ("tickets.mark_paid", {"booking_id": "b-1"})),
        (
            ("mcp.call_tool", {"arguments": {"colour": "blue", "deck": 3}}),
            ("mcp.call_tool", {"arguments": {"deck": 3, "colour": "blue"}}),
        ),
    ],
    ids=["create", "confirm", "cancel", "mark paid", "order of arguments"],
)
def test_same_change_has_the_same_identity(first, second):
    one, other = intents_of(first, second)
    assert (one.identity, one.effect) == (other.identity, other.effect)


def test_different_changes_have_different_identities():
    intents = intents_of(
        ("bookings.confirm", {}),
        ("bookings.confirm", {"booking_id": "b-2"}),
        ("bookings.cancel", {}),
        ("tickets.mark_paid", {}),
        ("tickets.mark_paid", {"external_payment_ref": "p"}),
        ("tickets.mark_paid", {"ticket_id": "t-2"}),
        ("bookings.create", {}),
        ("bookings.create", {"passengers": PASSENGERS[:1]}),
        ("mcp.call_tool", {}),
    )
    assert len({(intent.effect, intent.identity) for intent in intents}) == len(intents)


@pytest.mark.parametrize("name", ["bookings.create", "mcp.create_booking"])
def test_travellers_are_in_the_identity_alone(name):
    (intent,) = intents_of((name, {}))
    assert FAMILY_NAME in intent.identity.decode()
    assert FAMILY_NAME not in repr(intent)
    assert FAMILY_NAME not in intent.path
    assert not intent.subject


@pytest.mark.parametrize("journal", [None, Notes()], ids=["no journal", "journal"])
@pytest.mark.parametrize(
    "arguments",
    [{1: "a", "b": 2}, {None: 1, "b": 2}, {True: 1, "b": 2}],
    ids=["integer", "null", "boolean"],
)
def test_tool_may_have_arguments_of_any_json_key(journal, arguments):
    operation = described("mcp.call_tool", arguments=arguments)
    assert scripted_driver(good(1)).raw(operation, journal=journal).parse() == 1
    scripted_driver(reset()).error(OutcomeUnknownError, operation, journal=journal)


def test_every_write_has_an_answer_here():
    assert ANSWERS.keys() == {name for name in OPERATIONS if not SAFETY[name].is_read}
    assert SHOWN.keys() == {name for name, row in SAFETY.items() if row.confirmed_by}


# The intent in the journal


@every_write
def test_intent_is_on_record_before_the_first_byte(name, notes):
    driver = scripted_driver(good(ANSWERS[name]))
    driver.raw(name, journal=notes, deadline=5.0)
    assert kinds(driver) == [RunBlocking, Send, RunBlocking]
    records = [effect for effect in driver.effects if isinstance(effect, RunBlocking)]
    assert [effect.until for effect in records] == [1005.0, 1005.0]
    assert notes.states == {"entry-1": "done"}


@every_write
def test_intent_says_what_the_write_does(name, notes):
    driver = scripted_driver(good(ANSWERS[name]))
    driver.raw(name, journal=notes, correlation_id="c-1")
    (intent,) = notes.intents.values()
    assert (intent.operation, intent.effect) == (name, SAFETY[name].effect)
    assert intent.method == "POST"
    assert intent.path.startswith(driver.paths[0])
    assert (intent.subject, intent.correlation_id) == (described(name).write.subject, "c-1")
    assert json.loads(intent.identity)
    assert "identity" not in repr(intent)


@every_write
def test_nothing_is_recorded_without_a_journal(name):
    driver = scripted_driver(good(ANSWERS[name]))
    assert driver.raw(name).parse()
    assert kinds(driver) == [Send]


@every_write
@pytest.mark.parametrize(
    ("journal", "entry_id"),
    [pytest.param(Notes, "entry-1", id="journal"), pytest.param(None, None, id="no journal")],
)
def test_unknown_outcome_names_the_entry(name, journal, entry_id):
    driver = scripted_driver(reset(), then=reply(404))
    journal = None if journal is None else journal()
    assert driver.error(OutcomeUnknownError, name, journal=journal).entry_id == entry_id


@pytest.mark.parametrize("name", OPERATIONS)
def test_read_only_client_records_nothing(name, notes):
    driver = scripted_driver(then=reply(404))
    driver.error(FerryError, name, journal=notes, read_only=True)
    assert notes.states == {}


@every_guarded
def test_write_that_its_guard_stops_is_not_recorded(name, notes):
    driver = scripted_driver(good(GUARD_ANSWERS[name]))
    driver.error(FerryError, describe_guarded(name, 1), journal=notes)
    assert notes.states == {}
    assert kinds(driver) == [Send]


def test_write_without_its_token_is_not_sent(notes):
    operation = described("tickets.mark_paid")
    scripted_driver().error(FerryError, operation, journal=notes, organisation_token=None)
    assert set(notes.states.values()) <= {"not_sent"}


@every_write
@pytest.mark.parametrize(
    "trouble",
    [sdk.JournalError("the disk is full"), sdk.RequestTimeoutError("too late")],
    ids=["journal fails", "deadline"],
)
def test_write_whose_intent_fails_is_not_sent(name, trouble):
    driver = scripted_driver()
    error = driver.error(type(trouble), name, journal=Notes(refusal=trouble))
    assert error is trouble
    assert (error.outcome, error.operation) == ("not_sent", name)
    assert kinds(driver) == [RunBlocking]


@every_write
def test_write_with_a_late_intent_is_not_sent(name):
    driver = scripted_driver()

    class SlowNotes(Notes):
        def begin(self, intent):
            driver.now += 5
            return super().begin(intent)

    notes = SlowNotes()
    error = driver.error(sdk.RequestTimeoutError, name, journal=notes, deadline=5.0)
    assert (error.outcome, notes.states) == ("not_sent", {"entry-1": "not_sent"})
    assert driver.requests == []


@every_write
@pytest.mark.parametrize("is_late", [False, True], ids=["not begun", "begun"])
@pytest.mark.parametrize(
    "stop",
    [sdk.RequestTimeoutError("the deadline has passed"), KeyboardInterrupt()],
    ids=["deadline", "interrupted"],
)
def test_intent_that_nobody_waits_for_is_undone(name, is_late, stop, notes, monkeypatch):
    driver = scripted_driver()
    perform = driver.perform
    abandoned = []

    def leave(effect):
        if not isinstance(effect, RunBlocking) or abandoned:
            return perform(effect)
        abandoned.append(effect)
        if is_late:
            effect.function()
        raise stop

    monkeypatch.setattr(driver, "perform", leave)
    assert driver.error(type(stop), name, journal=notes) is stop
    if not is_late:
        assert notes.states == {}
        abandoned[0].function()
    assert (notes.states, driver.requests) == ({"entry-1": "not_sent"}, [])


# The request


@pytest.mark.parametrize(
    ("operation", "argument"),
    [
        pytest.param(describe_guarded("bookings.cancel"), "booking_id", id="bookings.cancel"),
        pytest.param(describe_guarded("tickets.cancel"), "ticket_id", id="tickets.cancel"),
        pytest.param("bookings.confirm", "booking_id", id="bookings.confirm"),
        pytest.param("bookings.cancel_fee", "id", id="bookings.cancel_fee"),
    ],
)
def test_refused_id_is_named_as_the_argument(operation, argument):
    refusal = reply(400, {"error": True, "code": "BAD_ID", "message": "no id", "field": "id"})
    error = scripted_driver(refusal, reply(404)).error(sdk.BadRequestError, operation)
    assert error.field == argument


# The outcome in the journal


@every_shown
@pytest.mark.parametrize(
    ("replies", "state"),
    [
        pytest.param([refused, refused, refused], "not_sent", id="never connected"),
        pytest.param([reply(429), reply(429), reply(429)], "rejected", id="rate limited"),
        pytest.param([reply(429, retry_after="61")], "rejected", id="rate limited for long"),
        pytest.param([refused, refused, reply(404)], "rejected", id="404"),
        pytest.param([reply(401)], "rejected", id="401"),
        pytest.param([reply(409), reply(404)], "rejected", id="409"),
        pytest.param([reply(302)], "unknown", id="302"),
        pytest.param([reset, reply(404)], "unknown", id="connection lost"),
        pytest.param([reply(503), reply(401)], "unknown", id="503"),
        pytest.param([reply(200, {}), reply(404)], "unknown", id="unreadable"),
    ],
)
def test_outcome_on_record_is_that_of_the_error(name, replies, state, notes):
    driver = scripted_driver(*replies)
    assert driver.error(FerryError, name, journal=notes).outcome == state
    assert notes.states == {"entry-1": state}
    assert kinds(driver)[0] == kinds(driver)[-1] == RunBlocking


@pytest.mark.parametrize(
    ("code", "recorded"),
    [
        pytest.param("BOOKING_CREATE_ERROR", "BOOKING_CREATE_ERROR", id="code"),
        pytest.param("NO_ROOM.2", "NO_ROOM.2", id="code with a dot"),
        pytest.param(FAMILY_NAME, None, id="name"),
        pytest.param(f"{FAMILY_NAME}_IS_TAKEN", None, id="name in a code"),
        pytest.param("no place for Ferrandini", None, id="sentence"),
    ],
)
def test_refusal_is_recorded_with_its_code(code, recorded, notes):
    driver = scripted_driver(reply(409, {"code": code, "message": code}))
    driver.error(FerryError, "bookings.create", journal=notes)
    assert notes.details == {"entry-1": OutcomeDetails(status_code=409, code=recorded)}


@pytest.mark.parametrize(
    ("state", "is_unresolved"),
    [
        ("open", True),
        ("unknown", True),
        ("done", False),
        ("rejected", False),
        ("not_sent", False),
    ],
)
def test_entry_is_unresolved_while_nobody_knows(state, is_unresolved):
    assert entry("bookings.create", state).is_unresolved == is_unresolved


@every_write
@pytest.mark.parametrize(
    "trouble",
    [sdk.JournalError("full"), sdk.RequestTimeoutError("late"), RuntimeError("own")],
    ids=["journal fails", "deadline", "own error"],
)
def test_outcome_that_the_journal_refuses_is_logged(name, trouble, caplog):
    notes = Notes(failure=trouble)
    assert scripted_driver(good(ANSWERS[name])).raw(name, journal=notes).parse()
    assert notes.states == {"entry-1": "open"}
    assert scripted_driver(reply(403)).error(FerryError, name, journal=notes).outcome == "rejected"

    errors = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    for message, entry_id in zip(errors, ("entry-1", "entry-2"), strict=True):
        assert entry_id in message
        assert str(trouble) in message


# The same write is unresolved


@pytest.mark.parametrize("name", [name for name in ANSWERS if name not in SHOWN])
def test_unresolved_twin_stops_what_no_read_shows(name):
    twin = sdk.UnresolvedWriteError(entry(name, "open"))
    driver = scripted_driver()
    error = driver.error(sdk.UnresolvedWriteError, name, journal=Notes(refusal=twin))
    assert error.entry.id == "entry-7"
    assert (error.outcome, error.operation) == ("not_sent", name)
    assert kinds(driver) == [RunBlocking]


@every_shown
def test_twin_whose_effect_is_seen_is_settled(name):
    notes = with_unresolved_twin(name)
    driver = scripted_driver(reset(), good(SHOWN[name]))
    assert driver.raw(name, journal=notes).parse().read_back
    assert notes.states == {"entry-7": "done"}
    assert kinds(driver) == [RunBlocking, Send, Send, RunBlocking]
    assert not any("confirm" in path or "cancel" in path for path in driver.paths)


def without_effect(name):
    """Return the reply with a record that does not show the effect of a write."""
    is_booking = "stage" in SHOWN[name]
    return good(booking("payment_due", "Pending") if is_booking else ticket("Pending"))


@every_shown
@pytest.mark.parametrize(
    "answer_for",
    [
        pytest.param(lambda _: reply(404), id="404"),
        pytest.param(lambda _: reply(401), id="401"),
        pytest.param(without_effect, id="no effect"),
    ],
)
def test_twin_without_a_visible_effect_stops_the_write(name, answer_for):
    notes = with_unresolved_twin(name)
    driver = scripted_driver(answer_for(name))
    error = driver.error(sdk.UnresolvedWriteError, name, journal=notes)
    assert (error.outcome, notes.states, len(error.attempts)) == ("not_sent", {}, 1)
    assert kinds(driver) == [RunBlocking, Send]
