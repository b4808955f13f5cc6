"""Open enumerations: the values known to be used by the service."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class OpenEnum(StrEnum):
    """An enumeration of strings that accepts unknown values.

    A member equals its string (``Stage.VOIDED == "voided"``). ``Stage("moored")`` returns a member
    that equals its string and whose ``is_known`` is false.
    """

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        member = str.__new__(cls, value)
        member._name_ = member._value_ = value
        return member

    @property
    def is_known(self) -> bool:
        """Whether this SDK defines the value."""
        return type(self).__members__.get(self._name_) is self

    __hash__ = str.__hash__  # written in C: inputs and columns of records look members up

    def __reduce_ex__(self, _protocol: object) -> tuple[type[Self], tuple[str]]:
        return type(self), (str(self),)


class Direction(OpenEnum):
    """The direction of an availability. Interface: Availability."""

    OUTWARD = "Outward"
    """The way out."""
    RETURN = "Return"
    """The way back."""


class TicketDirection(OpenEnum):
    """The directions that a ticket covers. Interface: Ticket."""

    OUTWARD = "OUTWARD"
    """The way out only."""
    RETURN = "RETURN"
    """The way back only."""
    ROUND_TRIP = "OUTWARD+RETURN"
    """Both ways on one ticket."""


class TariffType(OpenEnum):
    """The product of a tariff: a ticket, or a reservation that expires. Interface: Tariff."""

    TICKET = "Ticket"
    """A ticket, which the confirmation of its booking issues."""
    PRESALE = "Presale"
    """A reservation that expires with its tariff; in the local service it holds no places."""
    OPTION = "Option"
    """A reservation that expires with its tariff; in the local service it holds places."""


class PlaceType(OpenEnum):
    """The kind of accommodation. Interface: Place."""

    SEAT = "Seat"
    """A seat."""
    CABIN = "Cabin"
    """A cabin, or a berth in a shared one."""
    SUITE = "Suite"
    """A cabin of a better class."""


class PlaceGender(OpenEnum):
    """Who may take the place. Interface: Place.

    The interface names only Any. The local service also sends Male and Female.
    """

    ANY = "Any"
    """Anybody."""
    MALE = "Male"
    """Men only, such as a berth in a shared cabin."""
    FEMALE = "Female"
    """Women only, such as a berth in a shared cabin."""


class PlaceUse(OpenEnum):
    """How the place is used. Interface: Place.

    The interface names only Exclusive. The local service also sends Shared.
    """

    EXCLUSIVE = "Exclusive"
    """For the party alone."""
    SHARED = "Shared"
    """Shared with other parties, such as a berth in a cabin."""


class PassengerType(OpenEnum):
    """An age group, as named in a search. Interface: Search passenger."""

    ADULT = "Adult"
    """A grown-up."""
    CHILD = "Child"
    """A traveller below the age that the company sets for adults, often 12."""
    INFANT = "Infant"
    """A traveller below the age that the company sets for children, often 2."""


class Gender(OpenEnum):
    """A passenger's gender, as named in a search. Interface: Search passenger."""

    MALE = "Male"
    """Male."""
    FEMALE = "Female"
    """Female."""


class ReservationType(OpenEnum):
    """What a booking reserves. Interface: Booking-creation inputs."""

    TICKET = "TICKET"
    """A tariff of the type `Ticket`."""
    PRESALE = "PRESALE"
    """A tariff of the type `Presale`."""
    OPTION = "OPTION"
    """A tariff of the type `Option`."""


class Stage(OpenEnum):
    """The aggregate state of a booking, on which clients decide. Interface: States."""

    PAYMENT_DUE = "payment_due"
    """It is made and not paid; confirm it, or it lapses."""
    ISSUANCE_DUE = "issuance_due"
    """It is paid, and no ticket is issued; confirm it."""
    IN_PROGRESS = "in_progress"
    """Tickets are being issued; wait."""
    TICKETED = "ticketed"
    """All tickets are issued."""
    VOIDED = "voided"
    """It is cancelled with all its tickets."""
    LAPSED = "lapsed"
    """It was not paid or confirmed in time."""
    REJECTED = "rejected"
    """The company rejected it; confirm it again, or cancel it."""
    PARTIALLY_TICKETED = "partially_ticketed"
    """Some tickets are issued, and others are not; confirm it again, or cancel it."""
    PARTIALLY_VOIDED = "partially_voided"
    """Some tickets are cancelled; the others stay valid."""


class TicketStatus(OpenEnum):
    """The raw state of one ticket. Interface: States."""

    INIT = "Init"
    """It is created; in the local service the company holds no places for it yet."""
    BLOCKED = "Blocked"
    """It is booked: the company holds its places."""
    PENDING = "Pending"
    """The company is issuing it."""
    ISSUED = "Issued"
    """It is valid for travel."""
    CANCELED = "Canceled"
    """It is cancelled."""
    FAILED = "Failed"
    """The company did not issue it."""
    EXPIRED = "Expired"
    """It was not paid or confirmed in time."""


class PaymentStatus(OpenEnum):
    """How much of a booking or ticket is paid. Interface: States."""

    PAID = "paid"
    """All of it."""
    PARTIALLY_PAID = "partially_paid"
    """Some tickets, but not all."""
    UNPAID = "unpaid"
    """Nothing."""


class ActionType(OpenEnum):
    """Whether a possible action is the primary one. Interface: Booking."""

    MANDATORY = "mandatory"
    """The primary action: the booking does not go on without it."""
    OPTIONAL = "optional"
    """A secondary action."""
