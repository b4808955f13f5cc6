"""A journal that refuses, fails or is late, and a write whose twin is unresolved."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest

from ferry_sdk import FerryError, JournalError, RequestTimeoutError, UnresolvedWriteError
from ferry_sdk._engine.context import Session
from ferry_sdk._engine.effects import RunBlocking, Send
from tests.engine.recorder import Notes, entry, kinds
from tests.engine.replies import Script, booking, good, reply, reset, scripted_driver, ticket
from tests.engine.writes import ANSWERS, SHOWN, every_shown, every_write
from tests.support.driven import SETTINGS, Driver
from tests.support.operations import described
from tests.support.samples import CANCELLATION_FEE
from tests.support.tables import each

if TYPE_CHECKING:
    from ferry_sdk._engine.effects import Effect
    from ferry_sdk.types import Intent


@every_write
def test_a_write_that_the_journal_does_not_take_is_not_sent(name: str) -> None:
    trouble = JournalError("the disk is full")
    driver = scripted_driver()
    with pytest.raises(JournalError) as info:
        driver.raw(described(name), SETTINGS, journal=Notes(api_error=trouble))
    assert info.value is trouble
    assert (info.value.outcome, info.value.operation) == ("not_sent", name)
    assert kinds(driver) == [RunBlocking]


@every_write
def test_an_outcome_that_the_journal_does_not_take_is_logged_and_the_result_given(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    notes = Notes(failure=JournalError("the disk is full"))
    driver = scripted_driver(good(ANSWERS[name]))
    assert driver.raw(described(name), SETTINGS, journal=notes).parse()
    assert notes.states == {"entry-1": "open"}
    (record,) = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert "entry-1" in record.getMessage()
    assert "the disk is full" in record.getMessage()


@every_write
def test_an_error_comes_through_a_journal_that_fails(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    notes = Notes(failure=JournalError("the disk is full"))
    with pytest.raises(FerryError) as info:
        scripted_driver(reply(403)).raw(described(name), SETTINGS, journal=notes)
    assert info.value.outcome == "rejected"
    assert any(record.levelno == logging.ERROR for record in caplog.records)


@each("name", [name for name in ANSWERS if name not in SHOWN])
def test_what_no_read_shows_is_refused_while_its_twin_is_unresolved(name: str) -> None:
    twin = UnresolvedWriteError(entry(name, "open"))
    driver = scripted_driver()
    with pytest.raises(UnresolvedWriteError) as info:
        driver.raw(described(name), SETTINGS, journal=Notes(api_error=twin))
    assert info.value.entry.id == "entry-7"
    assert (info.value.outcome, info.value.operation) == ("not_sent", name)
    assert kinds(driver) == [RunBlocking]


@every_shown
def test_a_twin_whose_effect_is_seen_is_settled_and_gives_the_result(name: str) -> None:
    notes = Notes(api_error=UnresolvedWriteError(entry(name)))
    driver = scripted_driver(reset(), good(SHOWN[name]))
    result = driver.raw(described(name), SETTINGS, journal=notes).parse()
    assert result.read_back
    assert notes.states == {"entry-7": "done"}
    assert kinds(driver) == [RunBlocking, Send, Send, RunBlocking]
    assert not any("confirm" in path or "cancel" in path for path in driver.paths)


@every_shown
@pytest.mark.parametrize("answer", [reply(404), reply(401), None])
def test_a_twin_whose_effect_is_not_seen_keeps_the_write_back(name: str, answer: Any) -> None:
    notes = Notes(api_error=UnresolvedWriteError(entry(name)))
    is_booking = "stage" in SHOWN[name]
    unseen = good(booking("payment_due", "Pending") if is_booking else ticket("Pending"))
    driver = scripted_driver(answer or unseen)
    with pytest.raises(UnresolvedWriteError) as info:
        driver.raw(described(name), SETTINGS, journal=notes)
    assert info.value.outcome == "not_sent"
    assert notes.states == {}
    assert kinds(driver) == [RunBlocking, Send]
    assert len(info.value.attempts) == 1


def test_a_twin_that_is_settled_keeps_what_was_previewed() -> None:
    notes = Notes(api_error=UnresolvedWriteError(entry("bookings.cancel")))
    driver = scripted_driver(good(CANCELLATION_FEE), good(SHOWN["bookings.cancel"]))
    operation = described("bookings.cancel", max_penalty=50)
    result = driver.raw(operation, SETTINGS, journal=notes).parse()
    assert result.previewed is not None


class Slow(Notes):
    """Takes its time, by the driver's clock.

    Attributes:
        driver: Whose clock.
    """

    driver: Driver

    def begin(self, intent: Intent) -> str:
        self.driver.now += 5
        return super().begin(intent)


@every_write
def test_an_intent_that_is_on_record_too_late_is_taken_back_and_nothing_sent(name: str) -> None:
    notes, driver = Slow(), scripted_driver()
    notes.driver = driver
    with pytest.raises(RequestTimeoutError) as info:
        driver.raw(described(name), SETTINGS, journal=notes, deadline=5.0)
    assert info.value.outcome == "not_sent"
    assert notes.states == {"entry-1": "not_sent"}
    assert driver.requests == []


@every_write
def test_a_journal_that_does_not_answer_in_time_keeps_the_write_back(name: str) -> None:
    late = RequestTimeoutError("the deadline has passed")
    with pytest.raises(RequestTimeoutError) as info:
        scripted_driver().raw(described(name), SETTINGS, journal=Notes(api_error=late))
    assert info.value.outcome == "not_sent"


@every_write
def test_a_journal_that_hears_an_outcome_too_late_takes_no_result_away(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    notes = Notes(failure=RequestTimeoutError("the deadline has passed"))
    assert (
        scripted_driver(good(ANSWERS[name])).raw(described(name), SETTINGS, journal=notes).parse()
    )
    assert any(record.levelno == logging.ERROR for record in caplog.records)


@every_write
def test_the_journal_is_waited_for_until_the_deadline(name: str) -> None:
    driver = scripted_driver(good(ANSWERS[name]))
    driver.raw(described(name), SETTINGS, journal=Notes(), deadline=5.0)
    consulted = [effect for effect in driver.effects if isinstance(effect, RunBlocking)]
    assert [effect.until for effect in consulted] == [1005.0, 1005.0]


class Leaving(Driver):
    """Leaves the first consultation, which goes on unheard.

    Args:
        stop: What is raised instead of its outcome.

    Attributes:
        unheard: The consultation that was left.
    """

    def __init__(self, stop: BaseException) -> None:
        super().__init__(Script(), Session(stage="bare"))
        self._stop = stop
        self.unheard: RunBlocking[Any] | None = None

    def perform(self, effect: Effect[Any]) -> Any:
        """Perform it, but for the first consultation."""
        if isinstance(effect, RunBlocking) and self.unheard is None:
            self.unheard = effect
            self.consulting(effect)
            raise self._stop
        return super().perform(effect)

    def consulting(self, effect: RunBlocking[Any]) -> None:
        """What the consultation does before it is left."""


class LeavingLate(Leaving):
    """Leaves it when it has just been done."""

    def consulting(self, effect: RunBlocking[Any]) -> None:
        """Do it."""
        effect.function()


@pytest.mark.parametrize(
    "stop", [RequestTimeoutError("the deadline has passed"), KeyboardInterrupt()]
)
@pytest.mark.parametrize("kind", [Leaving, LeavingLate])
@every_write
def test_an_intent_that_nobody_waits_for_is_taken_back(
    name: str, kind: type[Leaving], stop: BaseException
) -> None:
    notes, driver = Notes(), kind(stop)
    with pytest.raises(type(stop)) as info:
        driver.raw(described(name), SETTINGS, journal=notes)
    assert info.value is stop
    if kind is Leaving:
        assert notes.states == {}
        assert driver.unheard is not None
        driver.unheard.function()
    assert notes.states == {"entry-1": "not_sent"}
    assert driver.requests == []
