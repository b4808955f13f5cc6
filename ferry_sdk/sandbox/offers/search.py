"""A search: the request turned into a query, the offers turned into availabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferry_sdk.sandbox.offers.offers import Leg, SearchQuery, Traveller
from ferry_sdk.sandbox.requests.refusals import Problem, RefusedError, not_found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferry_sdk.sandbox.offers.offers import Offers
    from ferry_sdk.sandbox.requests.caller import Ask
    from ferry_sdk.sandbox.requests.requests import Search, SearchRequest


def search(request: Search, offers: Offers, ask: Ask) -> list[dict[str, object]]:
    """The availabilities that answer a search.

    Raises:
        RefusedError: A date is past, or no outward sailing fits.
        MismatchError: Something named is unknown, or does not fit the rest.
    """
    past = tuple(_past_dates(request.request, offers, ask))
    if past:
        raise RefusedError(422, *past)
    found = offers.search(_query(request, offers))
    if not any(offer.direction == "Outward" for offer in found):
        raise not_found("no_sailings")
    return [offer.to_wire(ask.caller.language) for offer in found]


def _past_dates(request: SearchRequest, offers: Offers, ask: Ask) -> Iterator[Problem]:
    for name, day, code in (
        ("out_at", request.out_at, request.depart_code),
        ("ret_at", request.ret_at, request.arrive_code),
    ):
        port = offers.network.ports.get(code)
        if day and port and day < ask.now.astimezone(port.zone).date():
            yield Problem("date_past", f"request.{name}")


def _query(request: Search, offers: Offers) -> SearchQuery:
    asked = request.request
    back = None
    if asked.ret_journey_id and asked.ret_at and asked.ret_time is not None:
        back = Leg(
            journey_id=asked.ret_journey_id,
            depart_code=asked.arrive_code,
            arrive_code=asked.depart_code,
            date=asked.ret_at,
            time=asked.ret_time,
            is_open=bool(asked.ret_is_open),
        )
    return SearchQuery(
        company=asked.company,
        outward=Leg(
            journey_id=asked.out_journey_id,
            depart_code=asked.depart_code,
            arrive_code=asked.arrive_code,
            date=asked.out_at,
            time=asked.out_time,
            is_open=bool(asked.out_is_open),
        ),
        return_=back,
        passengers=tuple(
            Traveller(one.type, one.age, one.gender)
            for one in sorted(request.passengers, key=lambda one: one.order)
        ),
        vehicle=offers.network.vehicle(request.vehicle.code) if request.vehicle else None,
    )
