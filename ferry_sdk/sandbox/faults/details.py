"""The details of faults that the service itself acts on: delays, sessions, prices and refusals.

The models of the other faults are beside what they do, such as `reply_faults`.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field


class Details(BaseModel):
    """The details of a fault; none, unless a subclass adds some."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True, strict=True)


Duration = Annotated[float, Field(ge=0, le=3600, allow_inf_nan=False)]


class Delay(Details):
    """A delay of the work or of the reply.

    Attributes:
        seconds: The delay in real seconds.
    """

    seconds: Duration = 1.0


class DelayBefore(Delay):
    """A delay of the work."""


class DelayAfter(Delay):
    """A delay of the reply."""


class SessionExpired(Details):
    """The end of an MCP session."""


class SessionRequired(Details):
    """A request that lacks an MCP session."""


class OptionExpired(Details):
    """The end of a booking before its confirmation."""


class PriceChange(Details):
    """A price change between search and booking.

    Attributes:
        factor: Multiplies the price.
        amount: Added afterwards, in euros.
    """

    factor: Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)] = 1.1
    amount: Annotated[float, Field(ge=-1_000_000, le=1_000_000, allow_inf_nan=False)] = 0.0


class Refused(Details):
    """A refusal of a valid request.

    Attributes:
        status: The HTTP status.
        code: The error code; by default the operation's, else that of the status.
        message: The message; by default a sentence in the caller's language.
    """

    status: Literal[400, 402, 403, 404, 409, 410, 422] = 409
    code: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{0,63}$")] | None = None
    message: Annotated[str, Field(min_length=1, max_length=500)] | None = None


class PlaceTaken(Details):
    """The loss of a selected place to somebody else.

    Attributes:
        index: The crossing of the booking, in order of departure.
        sold_out: Whether later searches no longer offer this kind of place on the sailing.
    """

    index: Annotated[int, Field(ge=0, le=1)] = 0
    sold_out: bool = True


class FailsLater(Details):
    """The failure of one ticket some time after the confirmation.

    Attributes:
        index: The index of the ticket in the booking; -1 is the last.
        seconds: How long the ticket is Pending, by the service's clock.
    """

    index: Annotated[int, Field(ge=-1)] = -1
    seconds: Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)] = 3.0


class Disruption(Details):
    """A change by the company of a sailing that is booked.

    Attributes:
        index: The crossing of the booking, in order of departure.
        only_issued: Whether to wait until the ticket is issued.
    """

    index: Annotated[int, Field(ge=0, le=1)] = 0
    only_issued: bool = False


class SailingCancelled(Disruption):
    """The cancellation of a sailing, with a full refund of its ticket."""


class DepartureMoved(Disruption):
    """Another time of departure and arrival; a crossing moves once.

    Attributes:
        minutes: How much later it departs; earlier if negative.
    """

    minutes: Annotated[int, Field(ge=-10_080, le=10_080)] = 60


class TicketFails(Details):
    """The failure of one ticket of a booking.

    Attributes:
        index: The index of the ticket in the booking; -1 is the last.
    """

    index: Annotated[int, Field(ge=-1)] = -1
