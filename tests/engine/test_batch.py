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


def test_answers_come_in_the_order_of_calls():
    batch = batch_of("t1", "t2", "t3")
    begun = []

    def perform(effect):
        assert isinstance(effect, NextAnswer)
        while (call := effect.batch.start_next(0)) is not None:
            begun.append(call)
        number, call = begun.pop()  # the last one ends first
        error = ConnectionFailedError("no") if call.key == "t2" else None
        return effect.batch.answer(number, call.key.upper(), error)

    answers = drive(all_answers(batch), perform)
    assert [(answer.key, answer.value) for answer in answers] == [
        ("t1", "T1"),
        ("t2", "T2"),
        ("t3", "T3"),
    ]
    assert [type(answer.error) for answer in answers] == [
        type(None),
        ConnectionFailedError,
        type(None),
    ]
    assert len(batch) == 0


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_error_stops_a_batch(error):
    performed = []

    def perform(effect):
        performed.append(type(effect))
        if isinstance(effect, NextAnswer):
            raise error

    with pytest.raises(error):
        drive(all_answers(batch_of("t1")), perform)
    assert performed == [NextAnswer, StopBatch]


def test_error_of_an_answer_has_no_traceback():
    batch = batch_of("t1")
    number, _ = batch.start_next(0)
    with pytest.raises(ConnectionFailedError) as caught:
        raise ConnectionFailedError("no")
    assert caught.value.__traceback__ is not None
    assert batch.answer(number, None, caught.value).error.__traceback__ is None


def test_steps_go_on_until_an_item():
    handled = []

    def steps():
        yield from Sleep(1)
        yield Item("a")
        try:
            yield from Sleep(2)
        except ValueError as error:
            handled.append(error)
        yield Item("b")

    def fail(effect):
        assert effect == Sleep(2)
        raise ValueError

    begun = steps()
    assert drive(next_item(begun), lambda _: None) == Item("a")
    assert drive(next_item(begun), fail) == Item("b")
    assert len(handled) == 1
    assert drive(next_item(begun), fail) is None
