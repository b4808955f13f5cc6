"""Tools that are made for a model instead of from a method: ports by name, trips, and a booking.

The classes are the arguments of these tools, and describe them. `TripsTable` makes the view of
trips, in which a name that several offers have stands once, for example:

    {
        "origin": "ESTRF Tarifa", "destination": "MATNG Tangier", "currency": "EUR",
        "companies": {"BALEARIA": "Balearia"},
        "places": {"A": "Seat", "B": "Cabin"},
        "offers": [
            {"offer": "kqbs1", "price": "12.32",
             "out": ["2026-06-03 08:00", "09:00", "BALEARIA", "AB"]},
        ],
    }

A way is its departure, its arrival (``"01:00 +1"`` if it is a day later), its company and the
letters of its places. The agent books an offer and a place by these letters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Final, NamedTuple

from pydantic import Field

from ferry_sdk._runtime.data import data_beside
from ferry_sdk._runtime.money import format_amount
from ferry_sdk.agents.tools.sanitize import clean_text
from ferry_sdk.models.availability import Availability
from ferry_sdk.models.catalogue import Port
from ferry_sdk.models.enums import TariffType
from ferry_sdk.models.inputs import Contact, Passenger, SearchPassenger, Selection, Vehicle
from ferry_sdk.planning.connections import Itinerary
from ferry_sdk.planning.names import PlaceMatch
from ferry_sdk.planning.results import Matches, UnreadableAnswer, count_unreadable
from ferry_sdk.planning.trips import Trip
from ferry_sdk.resources.arguments import ReservationTypeName

PLACES: Final = 5
OFFERS: Final = 10
"""How many places and offers are shown by default."""
_MAX_LENGTH: Final = 60
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
View = dict[str, Any]
"""A result as JSON."""

_SCHEMAS: Final[Mapping[str, View]] = data_beside(__file__)
TRIPS_SCHEMA: Final = _SCHEMAS["trips"]
"""The schema of the trips that `FindTrips` finds: the view that `TripsTable` makes."""
PLACES_SCHEMA: Final = _SCHEMAS["places"]
"""The schema of `places_view`."""
CHANGE_SCHEMA: Final = _SCHEMAS["change"]
"""The schema of what a change has come to."""
TRAVELLERS_SCHEMA: Final = _SCHEMAS["travellers"]
"""The schema of the handles that `ListTravellers` lists."""


class ListTravellers(NamedTuple):
    """List the handles of the travellers, with which searches and bookings name them.

    Never ask the user for names, ages or documents: the program has them.
    """


class FindPlaces(NamedTuple):
    """Find ports by the names that people write, in any language, with small mistakes.

    Only needed for questions about ports.

    Attributes:
        text: A town, a port or a code.
        limit: The most ports; by default 5.
    """

    text: str
    limit: Annotated[int, Field(ge=1, le=20)] = PLACES


class FindTrips(NamedTuple):
    """Find and price ferry trips between two towns, with all companies. Start here.

    No other search is needed. Show the user some offers, then call `bookings.create` with the id
    of one. A price is for everything, with the cheapest place: tell the user that a cabin may cost
    more.

    Attributes:
        origin: A town or port, by name or code.
        destination: The other end.
        on: The day out, as YYYY-MM-DD.
        passengers: All travellers, each with type, gender and true age.
        back: The day back, as YYYY-MM-DD.
        flexible: So many days before and after, too, if nothing is found.
        changes: 1 for two crossings that meet in a port, each booked by itself.
        vehicle: Make and model, such as Fiat 500; ask the user.
        companies: Only these, by code.
        reservation_type: By default TICKET.
        limit: The most offers; by default 10.
    """

    origin: str
    destination: str
    on: date
    passengers: Sequence[SearchPassenger]
    back: date | None = None
    flexible: Annotated[int, Field(ge=0, le=7)] = 0
    changes: Annotated[int, Field(ge=0, le=1)] = 0
    vehicle: str | None = None
    companies: Sequence[str] | None = None
    reservation_type: ReservationTypeName = "TICKET"
    limit: Annotated[int, Field(ge=1, le=20)] = OFFERS


class CreateBooking(NamedTuple):
    """Create a booking. It holds the places and pays nothing.

    Next, show the user total_price, which may be more than the offer's, and call
    `bookings.confirm`.

    Attributes:
        passengers: Those of the search, each with type, first_name and last_name as on their
            travel documents.
        offer: The id of an offer of `trips.find`.
        places: The letter of a place for each way; by default the first.
        vehicle: The vehicle of the search: code, as the offers show it, and identification, its
            plate.
        contact: Whom the company can reach: name and email.
        availabilities: In place of an offer: a selection of `availability.search` for each way.
        reservation_type: By default that of the tariff.
    """

    passengers: Sequence[Passenger]
    offer: str | None = None
    places: Sequence[str] | None = None
    vehicle: Vehicle | None = None
    contact: Contact | None = None
    availabilities: Sequence[Selection] | None = None
    reservation_type: ReservationTypeName | None = None


class ChangeBooking(NamedTuple):
    """Change a ticketed booking to an offer, for the same travellers.

    It pays the new booking, and then cancels the old one, which costs its fee. Search first with
    the travellers of the booking. Next, `bookings.get` shows the new tickets.

    Attributes:
        booking_id: The booking.
        offer: The id of an offer of `trips.find`.
        places: As for a booking.
        vehicle: If it has one: code and identification, its plate.
        contact: As for a booking: name and email.
        expect_total: Only if an answer named a higher price: that price, if the user agreed.
    """

    booking_id: str
    offer: str
    places: Sequence[str] | None = None
    vehicle: Vehicle | None = None
    contact: Contact | None = None
    expect_total: Decimal | None = None


def place_of(port: Port) -> View:
    """Return the view of a port."""
    texts = {"code": port.code, "name": port.name, "country": port.country}
    return {name: clean_text(text, _MAX_LENGTH) for name, text in texts.items()}


def places_view(matches: Matches[PlaceMatch]) -> View:
    """Return the view of the ports that a text may mean."""
    places = [{**place_of(match.port), "reason": match.reason} for match in matches]
    return {"places": places, **unreadable_member(matches.unreadable)}


def unreadable_member(answers: Sequence[UnreadableAnswer]) -> View:
    """Return how many records could not be read, as a member of a view; nothing if all could."""
    number = count_unreadable(answers)
    return {"unreadable": number} if number else {}


class TripsTable:
    """Makes the view of trips, in which each name stands once.

    Attributes:
        view: The view.
    """

    def __init__(self) -> None:
        self.view: View = {"offers": []}
        self._companies: dict[str, str] = {}
        self._names_by_letter: dict[str, str] = {}
        self._letters_by_name: dict[str, str] = {}
        self._unnamed_places: set[str] = set()

    def add(self, offer: str, trip: Trip) -> tuple[dict[str, str], ...]:
        """Add a trip with its cheapest fare. Return each way's ids of places by their letters."""
        outward, fare = trip.outward, trip.fares[0]
        if not self.view["offers"]:
            self.view = {
                "origin": _port(outward.depart_code, outward.depart_name),
                "destination": _port(outward.arrive_code, outward.arrive_name),
                "currency": fare.currency,
                "companies": self._companies,
                "places": self._names_by_letter,
                "offers": [],
            }

        out, out_places = self._way(outward, trip.outward_company)
        shown: View = {"offer": offer, "price": format_amount(fare.amount), "out": out}
        if fare.tariffs[0].type != TariffType.TICKET:
            shown["fare"] = clean_text(fare.tariffs[0].type, _MAX_LENGTH)
        if fare.currency != self.view.get("currency"):
            shown["currency"] = fare.currency
        self.view["offers"].append(shown)

        if trip.back is None:
            return (out_places,)
        shown["back"], back_places = self._way(trip.back, trip.companies[-1])
        return out_places, back_places

    def connect(self, itinerary: Itinerary, offers: list[str]) -> None:
        """Add two offers that meet in a port."""
        hours, minutes = divmod(int(itinerary.wait.total_seconds()) // 60, 60)
        shown: View = {
            "offers": offers,
            "via": _port(itinerary.via.code, itinerary.via.name),
            "wait": f"{hours}:{minutes:02}",
        }
        if itinerary.price is not None:
            shown["price"] = format_amount(itinerary.price)

        last = itinerary.legs[1].outward
        self.view["destination"] = _port(last.arrive_code, last.arrive_name)
        self.view["connections"] = [*self.view.get("connections", []), shown]

    def _way(self, sailing: Availability, company: str) -> tuple[list[str], dict[str, str]]:
        """Return the row of a way, and the ids of its places by their letters."""
        company_code = clean_text(company, _MAX_LENGTH)
        self._companies[company_code] = clean_text(sailing.company.name, _MAX_LENGTH)

        places: dict[str, str] = {}
        for place in sailing.places:
            letter = self._letter_of(clean_text(place.name, _MAX_LENGTH))
            if letter is not None:
                places.setdefault(letter, place.id)  # of places of one name, the first is booked

        departs, arrives = sailing.depart_at, sailing.arrive_at
        days_later = (arrives.date() - departs.date()).days
        arrival = f"{arrives:%H:%M}"
        if days_later:
            arrival += f" {days_later:+}"
        return [f"{departs:%Y-%m-%d %H:%M}", arrival, company_code, "".join(places)], places

    def _letter_of(self, place: str) -> str | None:
        """Return the letter of a place's name; None, and count the name, if none is left."""
        if place not in self._letters_by_name:
            if len(self._letters_by_name) == len(_LETTERS):
                self._unnamed_places.add(place)
                self.view["more_places"] = len(self._unnamed_places)
                return None
            letter = _LETTERS[len(self._letters_by_name)]
            self._letters_by_name[place] = letter
            self._names_by_letter[letter] = place
        return self._letters_by_name[place]


def _port(code: str, name: str) -> str:
    return f"{clean_text(code, _MAX_LENGTH)} {clean_text(name, _MAX_LENGTH)}"
