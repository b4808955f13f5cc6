"""The calls of a check, and its findings.

The probes are flows without I/O of their own. An interruption of a call is thrown into the flow,
which can still make other calls, such as to cancel a booking.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any, Final, cast

from ferry_sdk._engine.effects import CallUser, Flow
from ferry_sdk.client import AsyncFerry, Ferry
from ferry_sdk.conformance.observations import Observation, observe, observe_failure
from ferry_sdk.errors import (
    APIError,
    AuthenticationError,
    ConfigurationError,
    FerryError,
    TransportError,
    UnexpectedResponseError,
)
from ferry_sdk.models.records import Records
from ferry_sdk.planning.results import Matches, UnreadableAnswer, unreadable_answers

logger: logging.Logger = logging.getLogger("ferry_sdk")

_WITHOUT_REPLY: Final = {"recover", "routes.find"}
"""The calls that consist of others, so that they have no reply of their own."""
_SUCCESS: Final = range(200, 300)
_LISTS: Final = frozenset(
    {
        "availability.search",
        "catalogue.departures",
        "catalogue.journeys",
        "catalogue.ports",
        "mcp.departures",
        "mcp.search_availability",
    }
)
"""The calls whose result is a list of records. Where none can be read, they raise an error."""
_UNEXPECTED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""The errors of a probe that reads a reply of another form."""


class NotSeenError(Exception):
    """The replies do not show an assumption; the message says why."""


class Findings:
    """The findings of a check, from its replies.

    Attributes:
        ferry: Makes the calls.
        seen: The values by assumption.
        reasons: Why an assumption was not seen.
        requests: How many requests were sent.
        replies: The last reply to each operation by its name, as soon as there is one, even if an
            interruption keeps it from the probe.
        unreadable: The lists with records that could not be read, without their values.
        left: The booking that may not be cancelled, in words. It is set before the booking is sent,
            and only the reply to its cancellation clears it, so it is true at any interruption.
    """

    def __init__(self, ferry: Ferry | AsyncFerry) -> None:
        self.seen: dict[str, str] = {}
        self.reasons: dict[str, str] = {}
        self.requests: int = 0
        self.replies: dict[str, Observation] = {}
        self.unreadable: list[UnreadableAnswer] = []
        self.left: str | None = None
        self.ferry: Ferry | AsyncFerry = ferry
        self._logged: str | None = None

    def call(
        self,
        operation: str,
        *arguments: object,
        correlation_id: str | None = None,
        **options: object,
    ) -> Flow[Observation]:
        """Make a call of the client by its name, such as ``bookings.get``, and note its reply."""
        ferry = self.ferry
        if correlation_id is not None:
            ferry = ferry.with_options(correlation_id=correlation_id)
        group = ferry if operation in _WITHOUT_REPLY else ferry.with_raw_response
        make: partial[Any] = partial(attrgetter(operation)(group), *arguments, **options)
        try:
            self.replies[operation] = observe((yield from CallUser(make)))
        except FerryError as error:
            self.replies[operation] = observe_failure(error)
        reply = self.replies[operation]
        self.requests += reply.requests
        self._note_unreadable(operation, reply)
        return reply

    def _note_unreadable(self, operation: str, reply: Observation) -> None:
        """Note the records of a reply that could not be read."""
        value: object = reply.value
        if isinstance(value, Matches):  # routes, which are made of several catalogues
            routes = cast("Matches[object]", value)
            self.unreadable += map(_without_values, routes.unreadable)
        elif isinstance(value, Records):
            records = cast("Records[object]", value)
            self.unreadable += map(_without_values, unreadable_answers(operation, records))
        elif operation in _LISTS and is_unreadable(reply.error):
            self.unreadable.append(UnreadableAnswer(None, operation, ()))

    def miss(self, names: Iterable[str], reason: str) -> None:
        """Note why assumptions were not seen."""
        self.reasons.update(dict.fromkeys(names, reason))

    def leave(self, words: str) -> None:
        """Note and log that a booking may not be cancelled."""
        self.left = words
        self._log_left()

    @contextmanager
    def naming_left(self) -> Generator[None]:
        """Log the booking that an interruption of the block leaves: there is no report then.

        The cause of the interruption becomes an error that names the booking.
        """
        try:
            yield
        except BaseException as stop:
            if self.left is None:
                raise
            self._log_left()
            raise stop from FerryError(self.left, outcome="unknown")

    def _log_left(self) -> None:
        if self.left != self._logged:
            logger.warning("the check leaves a booking: %s", self.left)
            self._logged = self.left

    def try_steps(self, names: Iterable[str], steps: Flow[None]) -> Flow[None]:
        """Make the steps that show some assumptions; note why they do not show them."""
        try:
            yield from steps
        except (AuthenticationError, ConfigurationError):
            raise
        except FerryError as error:
            if isinstance(error, TransportError) and not self.seen:
                raise  # the first call failed, so the service cannot be reached
            self.miss(names, describe(error))
        except NotSeenError as error:
            self.miss(names, str(error))
        except _UNEXPECTED:
            self.miss(names, "the reply has an unexpected form")


def _without_values(answer: UnreadableAnswer) -> UnreadableAnswer:
    records = tuple(replace(record, raw=None) for record in answer.records)
    return replace(answer, records=records)


def describe(error: FerryError) -> str:
    """Return an error in words, without the service's."""
    if is_unreadable(error):
        return f"what the service sent could not be read ({_name_of(error)})"
    return _name_of(error)


def is_unreadable(error: FerryError | None) -> bool:
    """Return whether a successful reply came that could not be read."""
    return isinstance(error, UnexpectedResponseError) and error.status_code in _SUCCESS


def _name_of(error: FerryError) -> str:
    if isinstance(error, APIError | UnexpectedResponseError) and error.status_code is not None:
        return f"{type(error).__name__}, HTTP {error.status_code}"
    return type(error).__name__
