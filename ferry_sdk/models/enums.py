"""Open enumerations: the values known to be used by the service."""

from __future__ import annotations

from enum import Enum

from typing_extensions import Self


class OpenEnum(str, Enum):
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

    def __str__(self) -> str:
        return str.__str__(self)

    def __format__(self, format_spec: str) -> str:
        return str.__format__(self, format_spec)

    __hash__ = str.__hash__  # written in C: inputs and columns of records look members up

    def __reduce_ex__(self, _protocol: object) -> tuple[type[Self], tuple[str]]:
        return type(self), (str(self),)


class Direction(OpenEnum):
    """The direction of an availability. Interface: Availability."""

    OUTWARD = "Outward"
    RETURN = "Return"


class TicketDirection(OpenEnum):
    """The directions that a ticket covers. Interface: Ticket."""

    OUTWARD = "OUTWARD"
    RETURN = "RETURN"
    ROUND_TRIP = "OUTWARD+RETURN"


class TariffType(OpenEnum):
    """The product of a tariff: a ticket, or a reservation that expires. Interface: Tariff."""

    TICKET = "Ticket"
    PRESALE = "Presale"
    OPTION = "Option"


class PlaceType(OpenEnum):
    """The kind of accommodation. Interface: Place."""

    SEAT = "Seat"
    CABIN = "Cabin"
    SUITE = "Suite"


class PlaceGender(OpenEnum):
    """Who may take the place. Interface: Place.

    The interface names only Any. The local service also sends Male and Female.
    """

    ANY = "Any"
    MALE = "Male"
    FEMALE = "Female"


class PlaceUse(OpenEnum):
    """How the place is used. Interface: Place.

    The interface names only Exclusive. The local service also sends Shared.
    """

    EXCLUSIVE = "Exclusive"
    SHARED = "Shared"


class PassengerType(OpenEnum):
    """An age group, as named in a search. Interface: Search passenger."""

    ADULT = "Adult"
    CHILD = "Child"
    INFANT = "Infant"


class Gender(OpenEnum):
    """A passenger's gender, as named in a search. Interface: Search passenger."""

    MALE = "Male"
    FEMALE = "Female"


class ReservationType(OpenEnum):
    """What a booking reserves. Interface: Booking-creation inputs."""

    TICKET = "TICKET"
    PRESALE = "PRESALE"
    OPTION = "OPTION"


class Stage(OpenEnum):
    """The aggregate state of a booking, on which clients decide. Interface: States."""

    PAYMENT_DUE = "payment_due"
    ISSUANCE_DUE = "issuance_due"
    IN_PROGRESS = "in_progress"
    TICKETED = "ticketed"
    VOIDED = "voided"
    LAPSED = "lapsed"
    REJECTED = "rejected"
    PARTIALLY_TICKETED = "partially_ticketed"
    PARTIALLY_VOIDED = "partially_voided"


class TicketStatus(OpenEnum):
    """The raw state of one ticket. Interface: States."""

    INIT = "Init"
    BLOCKED = "Blocked"
    PENDING = "Pending"
    ISSUED = "Issued"
    CANCELED = "Canceled"
    FAILED = "Failed"
    EXPIRED = "Expired"


class PaymentStatus(OpenEnum):
    """How much of a booking or ticket is paid. Interface: States."""

    PAID = "paid"
    PARTIALLY_PAID = "partially_paid"
    UNPAID = "unpaid"


class ActionType(OpenEnum):
    """Whether a possible action is the primary one. Interface: Booking."""

    MANDATORY = "mandatory"
    OPTIONAL = "optional"
