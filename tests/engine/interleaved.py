"""Several flows of one client driven at once, their steps in an order that a test chooses."""

from random import Random

from ferry_sdk._engine.effects import Exclusive, SingleFlight
from ferry_sdk._transport.single_flight import SharedCall, join_or_start


class Interleaved:
    """Drives flows one effect at a time, with turns and flights as a transport keeps them."""

    def __init__(self, driver, seed=0):
        self._driver = driver
        self._random = Random(seed)  # noqa: S311 -- an order, not a secret
        self._turns = set()

    def course(self, steps):
        """The flow, pausing before each effect, and as long as it has to wait for another."""
        try:
            effect = next(steps)
            while True:
                try:
                    result = yield from self._perform(effect)
                except BaseException as error:  # noqa: BLE001 -- the flow decides what it means
                    effect = steps.throw(error)
                else:
                    effect = steps.send(result)
        except StopIteration as end:
            return end.value

    def outcomes(self, *courses):
        """What each course gives or fails with, driven to their ends together."""
        found = {}
        while len(found) < len(courses):
            number = self._random.choice([n for n in range(len(courses)) if n not in found])
            try:
                next(courses[number])
            except StopIteration as end:
                found[number] = end.value
            except Exception as error:  # noqa: BLE001 -- it is the outcome
                found[number] = error
        return [found[number] for number in range(len(courses))]

    def _perform(self, effect):
        yield
        if isinstance(effect, Exclusive):
            while effect.key in self._turns:
                yield
            self._turns.add(effect.key)
            try:
                return (yield from self.course(effect.steps()))
            finally:
                self._turns.remove(effect.key)
        if not isinstance(effect, SingleFlight):
            return self._driver.perform(effect)
        flight = SharedCall()
        result = join_or_start(effect.key, flight)
        if result is not None:
            while not result.has_ended:
                yield
            return result.outcome()
        try:
            return flight.complete(effect.key, (yield from self.course(effect.steps())))
        except BaseException as error:
            flight.fail(effect.key, error)
            raise
