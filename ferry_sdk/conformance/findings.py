"""The findings of a check."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterable
from contextlib import contextmanager

from ferry_sdk.conformance.steps import Steps
from ferry_sdk.errors import (
    APIError,
    AuthenticationError,
    ConfigurationError,
    FerryError,
    TransportError,
    UnexpectedResponseError,
)

logger: logging.Logger = logging.getLogger("ferry_sdk")

_UNEXPECTED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""The errors of a probe that reads a reply of another form."""


class Findings:
    """The findings of a check, from its replies.

    Attributes:
        seen: The values by assumption.
        reasons: Why an assumption was not seen.
        left: The booking that may not be cancelled, in words. It is set before the booking is sent,
            and only the reply to its cancellation clears it, so it is true at any interruption.
    """

    def __init__(self) -> None:
        self.seen: dict[str, str] = {}
        self.reasons: dict[str, str] = {}
        self.left: str | None = None
        self._logged: str | None = None

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

    def try_steps(self, names: Iterable[str], steps: Steps[None]) -> Steps[None]:
        """Make the steps that show some assumptions; note the error if they fail."""
        try:
            yield from steps
        except (AuthenticationError, ConfigurationError):
            raise
        except FerryError as error:
            if isinstance(error, TransportError) and not self.seen:
                raise  # the first call failed, so the service cannot be reached
            self.miss(names, describe(error))
        except _UNEXPECTED:
            self.miss(names, "the reply has an unexpected form")


def describe(error: FerryError) -> str:
    """Return an error in words, without the service's."""
    if isinstance(error, APIError | UnexpectedResponseError) and error.status_code is not None:
        return f"{type(error).__name__}, HTTP {error.status_code}"
    return type(error).__name__
