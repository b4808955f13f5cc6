"""Flows that make calls, and steps that give items, run by hand."""

import pytest

from ferry_sdk import ConnectionFailedError
from ferry_sdk._engine.batch import Batch, NextAnswer, StopBatch, all_answers
from ferry_sdk._engine.effects import Item, Sleep, drive, next_item
from ferry_sdk.resources.tickets import TicketsGroup


def batch_of(*keys):
    batch = Batch()
    for key in keys:
        batch.add(key, TicketsGroup.get(None, key))
    return batch


def test_answers_come_in_order_errors_stop_a_batch_and_steps_go_on_until_an_item():
    batch = batch_of("t1", "t2", "t3")
    begun = []

    def perform(effect):
        assert isinstance(effect, NextAnswer)
        while (next_one := effect.batch.start_next(0)) is not None:
            begun.append(next_one)
        number, call = begun.pop()  # the last one ends first
        error = ConnectionFailedError("no") if call.key == "t2" else None
        return effect.batch.answer(number, call.key.upper(), error)

    answers = drive(all_answers(batch), perform)
    assert [(one.key, one.value) for one in answers] == [("t1", "T1"), ("t2", "T2"), ("t3", "T3")]
    assert [type(one.error) for one in answers] == [type(None), ConnectionFailedError, type(None)]
    assert len(batch) == 0

    def perform(effect):
        performed.append(type(effect))
        if isinstance(effect, NextAnswer):
            raise error

    for error in (ValueError, KeyboardInterrupt):
        performed = []
        with pytest.raises(error):
            drive(all_answers(batch_of("t1")), perform)
        assert performed == [NextAnswer, StopBatch]
    batch = batch_of("t1")
    number, _ = batch.start_next(0)
    with pytest.raises(ConnectionFailedError) as caught:
        raise ConnectionFailedError("no")
    assert caught.value.__traceback__ is not None
    assert batch.answer(number, None, caught.value).error.__traceback__ is None
    seen = []

    def steps():
        yield from Sleep(1)
        yield Item("a")
        try:
            yield from Sleep(2)
        except ValueError as error:
            seen.append(error)
        yield Item("b")

    given = steps()
    assert drive(next_item(given), lambda _: None) == Item("a")

    def fail(effect):
        assert effect == Sleep(2)
        raise ValueError

    assert drive(next_item(given), fail) == Item("b")
    assert len(seen) == 1
    assert drive(next_item(given), fail) is None
