"""Check the selections of a booking against their searches, and make tickets of them."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal

from ferry_sdk.models.enums import TicketStatus
from ferry_sdk.models.travellers import age_on
from ferry_sdk.sandbox.bookings.tickets import Leg, Ticket
from ferry_sdk.sandbox.network.seeded_random import Ids
from ferry_sdk.sandbox.offers.accommodation import Traveller
from ferry_sdk.sandbox.offers.offer import Offer, OfferInputs
from ferry_sdk.sandbox.offers.offers import Offers
from ferry_sdk.sandbox.requests.bookings import NewBooking, Passenger, Selection
from ferry_sdk.sandbox.requests.errors import Problem, RefusedError, invalid
from ferry_sdk.sandbox.requests.party import AGES

PAYMENT_WINDOW = timedelta(hours=1)


def make_tickets(
    request: NewBooking, offers: Offers, ids: Ids, now: datetime
) -> tuple[Ticket, ...]:
    """Return the tickets of a new booking: one, or one for each direction.

    Raises:
        RefusedError: A selected item is unknown or expired, or does not fit the others.
    """
    legs = [
        _leg(f"availabilities[{index}]", selection, request.passengers, offers)
        for index, selection in enumerate(request.availabilities)
    ]
    legs = _mark_return(legs)

    problems = [*_direction_problems(legs), *_tariff_problems(request, legs, now)]
    for leg in legs:
        problems += _party_problems(request, leg.offer)
    problems += _passenger_problems(request, legs)
    if problems:
        # Both legs can have the same problem with the party; it is reported once.
        distinct = {(problem.path, problem.text): problem for problem in problems}
        raise RefusedError(422, *distinct.values())

    legs.sort(key=_departure)
    companies = {leg.offer.sailing.company for leg in legs}
    if len(companies) == 1 and legs[0].offer.sailing.company.one_ticket:
        return (_ticket(request, tuple(legs), ids, now),)
    return tuple(_ticket(request, (leg,), ids, now) for leg in legs)


def select_cheapest(availability_id: str, reservation_type: str, offers: Offers) -> Selection:
    """Return the cheapest tariff and place of an availability.

    Raises:
        RefusedError: The availability is unknown or has no tariff of the reservation type.
    """
    offer = offers.find(availability_id)
    if offer is None:
        raise invalid("id", "availability_unknown")

    choices: list[tuple[Decimal, str, str]] = []
    for tariff in offer.tariffs:
        is_suitable = tariff.level.type.upper() == reservation_type and not tariff.level.roundtrip
        if is_suitable:
            choices += [(offer.price(tariff, place), tariff.id, place.id) for place in offer.places]
    if not choices:
        types = ", ".join(dict.fromkeys(tariff.level.type for tariff in offer.tariffs))
        raise invalid("reservation_type", "reservation_type", type=types)
    _, tariff_id, place_id = min(choices)
    return Selection(availability_id=offer.id, tariff_id=tariff_id, place_id=place_id)


def _leg(path: str, selection: Selection, passengers: list[Passenger], offers: Offers) -> Leg:
    searched = offers.find(selection.availability_id)
    if searched is None:
        raise invalid(f"{path}.availability_id", "availability_unknown")
    offer = _reprice_for_ages(searched, passengers, offers)

    tariff = offer.tariff(selection.tariff_id)
    if tariff is None:
        raise invalid(f"{path}.tariff_id", "tariff_unknown")
    place = offer.place(selection.place_id)
    if place is None:
        raise invalid(f"{path}.place_id", "place_unknown")
    return Leg(offer, tariff, place, offer.price(tariff, place))


def _reprice_for_ages(offer: Offer, passengers: list[Passenger], offers: Offers) -> Offer:
    """Return the offer at the prices for the passengers' ages on the day of departure.

    A passenger is matched with the searched traveller of the same type and position. If the types
    differ, the offer stays as it is: `_party_problems` reports them.
    """
    if _kinds(offer) != Counter(passenger.type for passenger in passengers):
        return offer

    day = offer.sailing.depart_at.date()
    searched = sorted(offer.party.travellers, key=lambda traveller: traveller.kind)
    booked = sorted(passengers, key=lambda passenger: (passenger.type, passenger.order or 0))
    travellers: list[Traveller] = []
    for traveller, passenger in zip(searched, booked, strict=True):
        if passenger.birth_date is not None:
            age = age_on(passenger.birth_date, day)
        elif passenger.age is not None:
            age = passenger.age
        else:
            age = traveller.age
        travellers.append(dataclasses.replace(traveller, age=max(age, 0)))
    return offers.for_travellers(offer, tuple(travellers))


def _kinds(offer: OfferInputs) -> Counter[str]:
    return Counter(traveller.kind for traveller in offer.party.travellers)


def _mark_return(legs: list[Leg]) -> list[Leg]:
    """Return the legs; of two sailings that were searched one way, the later can be the return.

    It is the return if it leads back to the first country, also between other ports: Marseille to
    Tunis and Tunis to Toulon.
    """
    if [leg.offer.direction for leg in legs] != ["Outward", "Outward"]:
        return legs

    first, second = sorted(legs, key=_departure)
    out = first.offer.sailing.journey
    back = second.offer.sailing.journey
    leads_back = (
        back.depart.country == out.arrive.country and back.arrive.country == out.depart.country
    )
    shares_end = out.depart == back.depart or out.arrive == back.arrive
    if not leads_back or shares_end:
        return legs
    offer = dataclasses.replace(second.offer, direction="Return")
    marked = dataclasses.replace(second, offer=offer)
    return [marked if leg is second else leg for leg in legs]


def _departure(leg: Leg) -> datetime:
    return leg.offer.sailing.depart_at


def _direction_problems(legs: list[Leg]) -> Iterator[Problem]:
    if len(legs) == 1:
        return
    if {leg.offer.direction for leg in legs} != {"Outward", "Return"}:
        yield Problem("two_ways", "availabilities[1].availability_id")
        return
    out, back = sorted(legs, key=lambda leg: leg.offer.direction)
    if back.offer.sailing.depart_at < out.offer.sailing.arrive_at:
        path = f"availabilities[{legs.index(back)}].availability_id"
        yield Problem("return_overlap", path)


def _tariff_problems(request: NewBooking, legs: list[Leg], now: datetime) -> Iterator[Problem]:
    companies = {leg.offer.sailing.company.code for leg in legs}
    for index, leg in enumerate(legs):
        path = f"availabilities[{index}]"
        level = leg.tariff.level
        if now >= leg.offer.ends_at:
            yield Problem("ship_sailed", f"{path}.availability_id")
        if now >= leg.tariff.expires_at:
            yield Problem("tariff_expired", f"{path}.tariff_id")

        if level.roundtrip and len(legs) == 1:
            yield Problem("round_trip_only", f"{path}.tariff_id")
        elif level.roundtrip and len(companies) > 1:
            yield Problem("other_company", f"{path}.tariff_id")

        if level.type.upper() != request.reservation_type:
            yield Problem("reservation_type", "reservation_type", {"type": level.type})


def _party_problems(request: NewBooking, offer: OfferInputs) -> Iterator[Problem]:
    searched = _kinds(offer)
    if searched != Counter(passenger.type for passenger in request.passengers):
        counts = [f"{searched[kind]} {kind}" for kind in AGES if searched[kind]]
        yield Problem("party_differs", "passengers", {"expected": ", ".join(counts)})

    if request.vehicle is None:
        if offer.vehicle is not None:
            yield Problem("vehicle_missing", "vehicle")
    elif offer.vehicle is None:
        yield Problem("vehicle_not_searched", "vehicle")
    elif request.vehicle.code.upper() != offer.vehicle.type.code:
        values = {"expected": offer.vehicle.type.code}
        yield Problem("vehicle_type_differs", "vehicle.code", values)


def _passenger_problems(request: NewBooking, legs: list[Leg]) -> Iterator[Problem]:
    first_day = min(leg.offer.sailing.depart_at for leg in legs).date()
    last_day = max(leg.offer.sailing.arrive_at for leg in legs).date()
    for index, passenger in enumerate(request.passengers):
        path = f"passengers[{index}]"
        if passenger.birth_date is not None:
            problem = _birth_problem(passenger, age_on(passenger.birth_date, first_day))
            if problem is not None:
                yield Problem(problem, f"{path}.birth_date", {"type": passenger.type})
        if passenger.doc_expiration is not None and passenger.doc_expiration < last_day:
            yield Problem("document_expired", f"{path}.doc_expiration")


def _birth_problem(passenger: Passenger, age: int) -> str | None:
    """Return the problem with a birth date; a difference of one year is accepted."""
    if age < 0:
        return "birth_future"
    if passenger.age is not None and abs(age - passenger.age) > 1:
        return "birth_age"
    least, most = AGES[passenger.type]
    if not least - 1 <= age <= most + 1:
        return "birth_type"
    return None


def _ticket(request: NewBooking, legs: tuple[Leg, ...], ids: Ids, now: datetime) -> Ticket:
    """Return an unpaid ticket: blocked, or only initialised for a presale."""
    if request.reservation_type == "TICKET":
        deadline = now + PAYMENT_WINDOW
    else:
        deadline = min(leg.tariff.expires_at for leg in legs)
    ends_at = min(leg.offer.ends_at for leg in legs)

    is_presale = request.reservation_type == "PRESALE"
    return Ticket(
        legs=legs,
        deadline=min(deadline, ends_at),
        status=TicketStatus.INIT if is_presale else TicketStatus.BLOCKED,
        id=ids.uuid(),
        key=ids.key(),
    )
