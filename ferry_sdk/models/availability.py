"""The result of a search: sailings with their tariffs and places."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final, TypeVar

from pydantic import Field, JsonValue

from ferry_sdk._runtime.money import money
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.base import (
    Amount,
    Count,
    Currency,
    Identifier,
    LooseMoment,
    Model,
    Moment,
    Price,
    PricedModel,
    Values,
)
from ferry_sdk.models.enums import Direction, PlaceGender, PlaceType, PlaceUse, TariffType
from ferry_sdk.models.inputs import Selection

_NOT_TICKETS: Final = (TariffType.PRESALE, TariffType.OPTION)
"""Tariffs that only hold a price for a time; an unknown type counts as a ticket."""


class PortOfCall(str):
    """The code of a port of call, which is a text, with the name of the port."""

    __slots__ = ("name",)

    name: str

    @classmethod
    def of(cls, code: str, name: str) -> PortOfCall:
        """Return a code with the name of its port."""
        port = cls(code)
        port.name = name
        return port


class SailingCompany(Model):
    """The ferry company of a sailing. Interface: Availability, member company.

    Attributes:
        id: UUID of the company. A search takes the company's code, not this id.
        name: Name, for people.
        logo: URL of an image; empty if there is none.
    """

    id: str = ""
    name: str = ""
    logo: str = ""


class Provider(Model):
    """The provider of a sailing. Interface: Availability, member provider.

    Attributes:
        id: UUID of the provider, as `catalogue.departures` takes it.
        name: Name, for people.
    """

    id: str = ""
    name: str = ""


class Gateway(Model):
    """The gateway a sailing is sold through. Interface: Availability, member gateway.

    Attributes:
        id: UUID of the gateway.
        code: Code of the gateway.
        provider: Name of the system behind it.
    """

    id: str = ""
    code: str = ""
    provider: str = ""


class Tariff(PricedModel):
    """One price of a sailing. Interface: Tariff.

    Attributes:
        id: The id that a booking takes.
        type: Ticket (issued once it is paid), Presale or Option (each holds its price for a time).
        amount: Price in `currency`, for the whole party with the cheapest place. A better place
            costs more; how much is known when the booking is made.
        balance_amount: Amount still to be paid, in `currency`.
        currency: ISO 4217, upper case.
        date: Creation of the tariff, UTC.
        expiration_date: End of its validity, UTC. Option and Presale expire at that moment.
        roundtrip_locked: Valid only as a round trip with the same company; not to be combined with
            another one.
    """

    id: Identifier
    type: TariffType = TariffType("")
    amount: Price
    balance_amount: Amount
    currency: Currency
    date: LooseMoment | None = None
    expiration_date: LooseMoment | None = None
    roundtrip_locked: bool = False


class InBoard(Model):
    """The occupants and equipment of a place. Interface: Place, member in_board.

    Attributes:
        adults: Number of adults.
        childs: Number of children (the wire's spelling).
        babies: Number of infants.
        passengers: Entries whose content the interface does not define; plain JSON.
        has_shower: Whether it has a shower.
        has_toilet: Whether it has a toilet.
        has_window: Whether it has a window.
    """

    adults: Count = 0
    childs: Count = 0
    babies: Count = 0
    passengers: Values = Field(default=(), repr=False)
    has_shower: bool = False
    has_toilet: bool = False
    has_window: bool = False


class Place(Model):
    """One accommodation of a sailing. Interface: Place.

    It has no price: a tariff's amount includes the cheapest place, and a better one costs more.
    Compare the `total_price` of the booking before you confirm it.

    Attributes:
        id: The id that a booking takes.
        index: Position in the service's list.
        code: The company's code of this kind of place.
        count: How many places of this kind are free; the interface does not say what it counts.
        type: Seat, Cabin or Suite.
        gender: Who may share it, such as Any.
        capacity: Number of people that it holds.
        use: Whether strangers share it; Exclusive is for one party.
        name: Name, in the client's language.
        in_board: Occupants and equipment.
    """

    id: Identifier
    index: Count | None = None
    code: str = ""
    count: Count | None = None
    type: PlaceType = PlaceType("")
    gender: PlaceGender = PlaceGender("")
    capacity: Count | None = None
    use: PlaceUse = PlaceUse("")
    name: str = ""
    in_board: InBoard = InBoard.model_construct()  # builds no validator at import


class Availability(Model):
    """A sailing that can be booked. Interface: Availability.

    Attributes:
        id: The id that a booking takes; valid only for a time.
        group_id: Number of the group that the sailing belongs to.
        direction: Outward or Return.
        journey_id: UUID of the route, as `catalogue.journeys` lists it.
        sailing_id: Identifier of the sailing; no call takes it.
        depart_name: Departure port, in the client's language.
        arrive_name: Arrival port, in the client's language.
        depart_code: Code of the departure port, as a search takes it.
        arrive_code: Code of the arrival port, as a search takes it.
        is_open: An open ticket, whose date is flexible.
        depart_at: Departure with the offset of the departure port.
        arrive_at: Arrival with the offset of the arrival port.
        company: The ferry company.
        provider: The provider; `catalogue.departures` takes its id.
        gateway: The gateway that sells it.
        tariffs: The prices to choose from.
        places: The places to choose from; they have no price of their own.
        passenger_count: Number of travellers in the search.
        vehicle: Vehicles; the interface does not define their fields, so they are plain JSON with
            amounts as float.
        meals: Meals; the interface does not define their fields, so they are plain JSON.
        animals: Animals; the interface does not define it: any JSON value.
        stops: Codes of the ports of call; empty for a direct crossing.
        ship_name: Name of the ferry.
        duration: Duration in whole hours, as given by the service; `travel_time` is exact.
    """

    id: Identifier
    group_id: Count | None = None
    direction: Direction = Direction("")
    journey_id: Identifier
    sailing_id: str = ""
    depart_name: str = ""
    arrive_name: str = ""
    depart_code: str = ""
    arrive_code: str = ""
    is_open: bool = False
    depart_at: Moment
    arrive_at: Moment
    company: SailingCompany = SailingCompany.model_construct()
    provider: Provider = Provider.model_construct()
    gateway: Gateway = Gateway.model_construct()
    tariffs: tuple[Tariff, ...]
    places: tuple[Place, ...]
    passenger_count: Count | None = None
    vehicle: Values = ()
    meals: Values = ()
    animals: JsonValue = None
    stops: tuple[str, ...] = ()
    ship_name: str = ""
    duration: Count | None = None

    def __repr__(self) -> str:
        tickets = [tariff for tariff in self.tariffs if tariff.type not in _NOT_TICKETS]
        cheapest = min(tickets or self.tariffs, key=lambda tariff: tariff.amount, default=None)
        price = f" from {money(cheapest.amount, cheapest.currency)}" if cheapest else ""
        depart_at = self.depart_at.isoformat(" ", "minutes")
        arrive_at = self.arrive_at.isoformat(" ", "minutes")
        return (
            f"<Availability {self.depart_code}-{self.arrive_code} {self.company.name}: "
            f"{depart_at} to {arrive_at},\n"
            f" {len(self.tariffs)} tariffs{price}, {len(self.places)} places, id={self.id!r}>"
        )

    __str__ = __repr__

    @property
    def travel_time(self) -> timedelta:
        """Exact time from departure to arrival, across time zones and clock changes."""
        return self.arrive_at - self.depart_at

    def select(self, *, tariff: Tariff | str, place: Place | str) -> Selection:
        """Return the selection that books this sailing.

        Args:
            tariff: One of `tariffs`, or its id.
            place: One of `places`, or its id.

        Returns:
            An element of ``availabilities`` for `bookings.create`.

        Raises:
            InvalidInputError: The tariff or place does not belong to this availability.

        Example:
            ```python
            from datetime import date, timedelta

            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                trips = ferry.trips.search(
                    "Tarifa",
                    "MATNG",
                    on=date.today() + timedelta(days=30),
                    passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
                )
                sailing = trips[0].outward
                selection = sailing.select(tariff=sailing.tariffs[0], place=sailing.places[0])
                booking = ferry.bookings.create(
                    availabilities=[selection],
                    passengers=[{"type": "Adult", "first_name": "Ada", "last_name": "Reyes"}],
                )
                print(booking.stage)
                # > payment_due
            ```
        """
        chosen_tariff = _find_part(self.tariffs, tariff, Tariff)
        chosen_place = _find_part(self.places, place, Place)

        expires_at: datetime | None = None
        if isinstance(chosen_tariff.expiration_date, datetime):  # not a text that is no moment
            expires_at = chosen_tariff.expiration_date
        reservation_type: str | None = None
        if chosen_tariff.type in _NOT_TICKETS:
            reservation_type = chosen_tariff.type.upper()

        return Selection(
            availability_id=self.id,
            tariff_id=chosen_tariff.id,
            place_id=chosen_place.id,
            amount=chosen_tariff.amount,
            currency=chosen_tariff.currency,
            expiration_date=expires_at,
            company=self.company.id or None,
            roundtrip_locked=chosen_tariff.roundtrip_locked,
            reservation_type=reservation_type,
            depart_at=self.depart_at,
            depart_code=self.depart_code or None,
            arrive_code=self.arrive_code or None,
        )


PartT = TypeVar("PartT", Tariff, Place)


def _find_part(parts: Iterable[PartT], chosen: object, kind: type[PartT]) -> PartT:
    """Return the tariff or the place that a caller chose.

    Args:
        parts: The tariffs or the places of an availability.
        chosen: One of them, or its id.
        kind: The class of the parts.

    Raises:
        InvalidInputError: It is none of them; `field` names the argument.
    """
    argument = kind.__name__.lower()
    if not isinstance(chosen, (str, kind)):
        raise InvalidInputError(f"expected a {kind.__name__} or its id", field=argument)

    chosen_id = chosen if isinstance(chosen, str) else chosen.id
    for part in parts:
        if part.id == chosen_id:
            return part
    raise InvalidInputError(f"not one of this availability's {argument}s", field=argument)
