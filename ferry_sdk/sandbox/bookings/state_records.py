"""Bookings as the state file keeps them: complete, in JSON.

Nothing is computed again when a booking is read back, so its prices and times stay what they were,
whatever the seed and the release of the service.
"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

from ferry_sdk.models.enums import TicketStatus
from ferry_sdk.sandbox.bookings.bookings import Booking
from ferry_sdk.sandbox.bookings.fees import Fee
from ferry_sdk.sandbox.bookings.tickets import Leg, Ticket
from ferry_sdk.sandbox.network.network import Network
from ferry_sdk.sandbox.network.timetable import Sailing
from ferry_sdk.sandbox.offers.accommodation import Party, Place, Traveller, place_kind
from ferry_sdk.sandbox.offers.fares import Tariff, level
from ferry_sdk.sandbox.offers.offer import Offer
from ferry_sdk.sandbox.requests.bookings import Contact, Passenger, Vehicle

Record = dict[str, Any]


def dump_booking(booking: Booking) -> str:
    """Return a booking as JSON."""
    return json.dumps(
        {
            "id": booking.id,
            "reference": booking.reference,
            "passengers": [each.model_dump(mode="json") for each in booking.passengers],
            "vehicle": booking.vehicle and booking.vehicle.model_dump(mode="json"),
            "contact": booking.contact and booking.contact.model_dump(mode="json"),
            "tickets": [_ticket_record(each) for each in booking.tickets],
        }
    )


def load_booking(text: str, network: Network) -> Booking:
    """Return the booking of a JSON text.

    Raises:
        OSError: The record is damaged, or of another release.
    """
    try:
        record = json.loads(text)
        vehicle, contact = record["vehicle"], record["contact"]
        return Booking(
            id=record["id"],
            reference=record["reference"],
            passengers=tuple(map(Passenger.model_validate, record["passengers"])),
            vehicle=vehicle and Vehicle.model_validate(vehicle),
            contact=contact and Contact.model_validate(contact),
            tickets=tuple(_ticket(each, network) for each in record["tickets"]),
        )
    except (LookupError, StopIteration, TypeError, ValueError) as error:
        # The cause may have a traveller's data in its message.
        name = type(error).__name__
        raise OSError(f"the state file has a booking that cannot be read ({name})") from None


def _ticket_record(ticket: Ticket) -> Record:
    return {
        "legs": [_leg_record(each) for each in ticket.legs],
        "deadline": ticket.deadline.isoformat(),  # shown with its offset
        "status": ticket.status.value,
        "id": ticket.id,
        "key": ticket.key,
        "paid": ticket.paid,
        "payment_ref": ticket.payment_ref,
        "number": ticket.number,
        "issued_at": ticket.issued_at and _text(ticket.issued_at),
        "fails_at": ticket.fails_at and _text(ticket.fails_at),
        "settlement": ticket.settlement
        and [str(ticket.settlement.penalty), str(ticket.settlement.refund)],
    }


def _ticket(record: Record, network: Network) -> Ticket:
    settlement, issued_at, fails_at = (record[x] for x in ("settlement", "issued_at", "fails_at"))
    values: Record = {
        **record,
        "legs": tuple(_leg(each, network) for each in record["legs"]),
        "deadline": _moment(record["deadline"]),
        "status": TicketStatus(record["status"]),
        "issued_at": issued_at and _moment(issued_at),
        "fails_at": fails_at and _moment(fails_at),
        "settlement": settlement and Fee(*map(Decimal, settlement)),
    }
    return Ticket(**values)


def _leg_record(leg: Leg) -> Record:
    offer, sailing, tariff, place = leg.offer, leg.offer.sailing, leg.tariff, leg.place
    return {
        "id": offer.id,
        "direction": offer.direction,
        "sailing": {
            "id": sailing.id,
            "journey": sailing.journey.id,
            "company": sailing.company.code,
            "ship": sailing.ship.name,
            "depart_at": _text(sailing.depart_at),
            "arrive_at": _text(sailing.arrive_at),
            "stops": sailing.stops,
        },
        "is_open": offer.is_open,
        "round_trip": offer.round_trip,
        "travellers": [[one.kind, one.age, one.gender] for one in offer.party.travellers],
        "vehicle": offer.vehicle and offer.vehicle.code,
        "issued_at": _text(offer.issued_at),
        "fare": str(offer.fare),
        "vehicle_fare": str(offer.vehicle_fare),
        "tariff": [tariff.id, tariff.level.code, str(tariff.amount), _text(tariff.expires_at)],
        "place": [place.id, place.kind.code, place.index, place.capacity, place.count],
        "supplement": str(place.supplement),
        "price": str(leg.price),
        "moved": leg.moved,
    }


def _leg(record: Record, network: Network) -> Leg:
    sailing = _sailing(record["sailing"], network)
    issued_at = _moment(record["issued_at"])
    tariff_id, level_code, amount, expires_at = record["tariff"]
    place_id, kind, index, capacity, count = record["place"]
    tariff = Tariff(tariff_id, level(level_code), Decimal(amount), issued_at, _moment(expires_at))
    supplement = Decimal(record["supplement"])
    place = Place(place_id, index, place_kind(kind), capacity, count, supplement)
    offer = Offer(
        id=record["id"],
        direction=record["direction"],
        sailing=sailing,
        is_open=record["is_open"],
        round_trip=record["round_trip"],
        party=Party(sailing.company, tuple(Traveller(*each) for each in record["travellers"])),
        vehicle=network.vehicle(record["vehicle"]) if record["vehicle"] else None,
        issued_at=issued_at,
        fare=Decimal(record["fare"]),
        vehicle_fare=Decimal(record["vehicle_fare"]),
        tariffs=(tariff,),
        places=(place,),
    )
    return Leg(offer, tariff, place, Decimal(record["price"]), record["moved"])


def _sailing(record: Record, network: Network) -> Sailing:
    journey, company = network.journeys[record["journey"]], network.companies[record["company"]]
    return Sailing(
        id=record["id"],
        journey=journey,
        company=company,
        ship=next(each for each in company.ships if each.name == record["ship"]),
        depart_at=_moment(record["depart_at"]).astimezone(journey.depart.zone),
        arrive_at=_moment(record["arrive_at"]).astimezone(journey.arrive.zone),
        stops=tuple(record["stops"]),
    )


def _text(moment: datetime) -> str:
    return moment.astimezone(timezone.utc).isoformat()


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
