"""The calls of a check, and its findings.

A check is a flow: it has no I/O of its own, and makes each request by `Findings.call`.

1. A probe makes a call, such as ``reply = yield from findings.call("catalogue.ports")``.
2. `call` counts the requests, keeps the reply, and notes the records that could not be read. A
   call that fails returns a reply too, with its error.
3. The probe notes what the reply shows, as in ``findings.seen["port_country"] = "name"``.
4. `try_steps` runs a probe. If the probe ends with an error, it notes why the assumptions of that
   probe were not seen, and the check goes on with the next one.
5. `report.build_report` makes a row for each assumption: its value in `seen`, else its reason in
   `reasons`.

An interruption of a call is thrown into the flow, which can still make other calls, such as to
cancel a booking.
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

_WITHOUT_REPLY: Final = frozenset({"recover", "routes.find"})
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
_ERRORS_OF_FORM: Final = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What a probe raises that reads a reply of another form."""


class NotSeenError(Exception):
    """The replies do not show an assumption; the message says why."""


class Findings:
    """The findings of a check, from its replies.

    Attributes:
        ferry: Makes the calls.
        seen: The value that the replies showed, by the id of the assumption.
        reasons: Why an assumption was not seen, by its id.
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
        caller = ferry if operation in _WITHOUT_REPLY else ferry.with_raw_response
        method = attrgetter(operation)(caller)
        call: partial[Any] = partial(method, *arguments, **options)

        try:
            # One line, because an interruption between two would lose the id of a booking.
            self.replies[operation] = observe((yield from CallUser(call)))
        except FerryError as error:
            self.replies[operation] = observe_failure(error)

        reply = self.replies[operation]
        self.requests += reply.requests
        self._note_unreadable(operation, reply)
        return reply

    def _note_unreadable(self, operation: str, reply: Observation) -> None:
        """Note the records of a reply that could not be read."""
        value: object = reply.value
        answers: Iterable[UnreadableAnswer] = ()
        if isinstance(value, Matches):  # routes, which are made of several catalogues
            answers = cast("Matches[object]", value).unreadable
        elif isinstance(value, Records):
            answers = unreadable_answers(operation, cast("Records[object]", value))
        elif operation in _LISTS and is_unreadable(reply.error):
            answers = [UnreadableAnswer(None, operation, ())]
        self.unreadable += [_without_values(answer) for answer in answers]

    def note_not_seen(self, names: Iterable[str], reason: str) -> None:
        """Note why assumptions were not seen."""
        self.reasons.update(dict.fromkeys(names, reason))

    def note_left(self, problem: str) -> None:
        """Note and log that a booking may not be cancelled."""
        self.left = problem
        self._log_left()

    @contextmanager
    def name_left_booking(self) -> Generator[None]:
        """Log the booking that an interruption of the block leaves: there is no report then.

        The cause of the interruption becomes an error that names the booking.
        """
        try:
            yield
        except BaseException as interruption:
            if self.left is None:
                raise
            self._log_left()
            raise interruption from FerryError(self.left, outcome="unknown")

    def _log_left(self) -> None:
        if self.left != self._logged:
            logger.warning("the check leaves a booking: %s", self.left)
            self._logged = self.left

    def try_steps(self, names: Iterable[str], steps: Flow[None]) -> Flow[None]:
        """Make the steps that show some assumptions; note why they do not show them.

        Raises:
            AuthenticationError: The service rejects the token.
            ConfigurationError: The client's settings do not allow reads.
            TransportError: The first call failed, so the service cannot be reached.
        """
        try:
            yield from steps
        except (AuthenticationError, ConfigurationError):
            raise
        except FerryError as error:
            if isinstance(error, TransportError) and not self.seen:
                raise  # nothing was seen yet
            self.note_not_seen(names, describe(error))
        except NotSeenError as error:
            self.note_not_seen(names, str(error))
        except _ERRORS_OF_FORM:
            self.note_not_seen(names, "the reply has an unexpected form")


def _without_values(answer: UnreadableAnswer) -> UnreadableAnswer:
    """Return what could not be read without its content, which may be a traveller's."""
    records = tuple(replace(record, raw=None) for record in answer.records)
    return replace(answer, records=records)


def describe(error: FerryError) -> str:
    """Return an error in words; none of them are the service's."""
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
