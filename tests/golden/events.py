"""Makes the events of hooks and of watches, and the answers of tools, as JSON."""

from contextlib import closing
from datetime import timedelta
from typing import get_args
from unittest.mock import patch

from pydantic_core import to_jsonable_python

from ferry_sdk import aftersales, hooks, offers
from ferry_sdk.aftersales import watcher
from ferry_sdk.aftersales.events import EventKind, StageEvent
from ferry_sdk.agents import Toolkit
from ferry_sdk.journal import Journal
from ferry_sdk.offers.events import OfferEventKind
from tests.agents.agent import (
    PASSENGERS,
    approve_all,
    order,
    query,
    result_of,
)
from tests.golden import journal as journals
from tests.golden.agents import LIMITS, TRIP
from tests.golden.world import MOMENT, client_of, standing_still
from tests.support.trip import DAY

VARYING = {"began": 0, "seconds": 0.25, "wait": 0.25, "waited": 0.25}
"""Members whose values differ in each run, and what stands in their place."""


def members_of(value):
    """Return an event as JSON; an error and a view of connections as the names of their types."""
    return steady(to_jsonable_python(value, fallback=lambda other: type(other).__name__))


def steady(document):
    """Return a document with the same values in each run."""
    if isinstance(document, dict):
        return {name: VARYING.get(name, steady(value)) for name, value in document.items()}
    if isinstance(document, list):
        return [steady(value) for value in document]
    return document


def hook_events(service):
    """Return an event of each kind that a hook is given."""
    seen = {}

    def keep(event):
        seen.setdefault(type(event).__name__, members_of(event))

    class _Limiter:
        def acquire(self, operation):
            pass

    listeners = {name: [keep] for name in hooks._EVENTS}
    service.faults.add("server_error", "catalogue.ports")
    with client_of(service, event_hooks=listeners, limiter=_Limiter(), label="golden") as ferry:
        ferry.catalogue.ports()
    return {kind.__name__: seen[kind.__name__] for kind in hooks._EVENTS.values()}


def watch_events(service):
    """Return an event of each kind that a watch of bookings gives."""
    with (
        patch.object(watcher, "_REFUSALS", 1),  # the second and third would take 45 seconds
        client_of(service, max_retries=0) as ferry,
    ):

        def first(kind, booking, **options):
            with closing(aftersales.watch(ferry, [booking], deadline=60, **options)) as events:
                return members_of(next(event for event in events if event.kind == kind))

        ticketed = service.make_booking("ticketed")
        unpaid = service.make_booking("payment_due")
        to_departure = {"until": "departure", "remind": [timedelta(days=40)]}
        seen = {
            stage: first(stage, service.make_booking(stage).booking_id)
            for stage in get_args(StageEvent)
        }
        seen["lapsing"] = first("lapsing", unpaid.booking_id, lapsing=timedelta(hours=2))
        seen["not_known"] = first("not_known", "unknown-id")
        seen["departing"] = first("departing", ticketed.booking_id, **to_departure)
        service.faults.add("departure_moved", "bookings.get", minutes=90)
        seen["changed"] = first("changed", ticketed)

        later = timedelta(days=60)
        service.clock.advance(later)
        with standing_still(MOMENT + later):
            seen["departed"] = first("departed", ticketed.booking_id, **to_departure)
    return {kind: seen[kind] for kind in get_args(EventKind)}


def offer_events(service):
    """Return an event of each kind that a watch of offers gives."""
    seen = {}
    with client_of(service) as ferry, Journal("sqlite://") as journal:
        journals.add_offers(ferry, journal)
        limits = {"every": timedelta(days=2), "max_calls": "500/hour"}
        with offers.watch(ferry, journal, deadline=60, **limits) as events:
            while not seen.keys() >= {*get_args(OfferEventKind)}:
                event = next(events)
                seen.setdefault(event.kind, members_of(event))
    return {kind: seen[kind] for kind in get_args(OfferEventKind)}


def tool_answers(service):
    """Return an answer of each tool, and one of each other status."""
    with Journal("sqlite://") as journal, client_of(service, journal=journal) as ferry:
        settings = {"tools": "all", "writes": True, **LIMITS}
        toolkit = Toolkit(ferry, approve=approve_all, **settings)
        answers = {}

        def call(name, **arguments):
            answers[name] = toolkit.call(name, arguments)
            return result_of(answers[name])

        found = call("trips_find", **TRIP)
        call("places_find", text="Tarifa")
        sailings = call("availability_search", **query(out_time="18:00"))["items"]
        offer = found["offers"][0]["offer"]
        booked = call("bookings_create", offer=offer, passengers=PASSENGERS)
        paid = call("bookings_confirm", booking_id=booked["booking_id"])
        call("bookings_get", booking_id=booked["booking_id"])
        call("tickets_get", ticket_id=paid["ticket_id"])
        call("tickets_pdf", ticket_id=paid["ticket_id"])
        call("bookings_cancel_fee", id=booked["booking_id"])
        other = result_of(toolkit.call("trips_find", TRIP | {"on": f"{DAY + timedelta(days=51)}"}))
        to = other["offers"][0]["offer"]
        changed = call("bookings_change", booking_id=booked["booking_id"], offer=to)
        tickets = result_of(toolkit.call("bookings_get", {"booking_id": changed["booking_id"]}))
        call("tickets_cancel", ticket_id=tickets["tickets"][0]["id"])
        unpaid = result_of(toolkit.call("bookings_create", order(sailings[0])))
        call("bookings_cancel", booking_id=unpaid["booking_id"])

        for name in ("ports", "journeys", "vehicle_brands", "vehicle_types"):
            call(f"catalogue_{name}", contains="a")
        call("mcp_companies")
        journey = query()["out_journey_id"]
        call("catalogue_departures", provider_id="BALEARIA", journey_ids=[journey])

        refused = {"booking_id": "unknown-id"}
        answers["refused"] = toolkit.call("bookings_confirm", refused)
        failed = toolkit.call("catalogue_departures", {"provider_id": "?", "journey_ids": ["?"]})
        answers["failed"] = failed
        by_code = Toolkit(ferry, **settings)
        wanted = order(sailings_of(by_code)[1])
        answers["approval_needed"] = by_code.call("bookings_create", wanted)
        service.faults.add("lose_reply", "bookings.create")
        answers["unknown"] = toolkit.call("bookings_create", order(sailings_of(toolkit)[2]))
    return steady(answers)


def sailings_of(toolkit):
    """Return the sailings that a search of a toolkit shows."""
    return result_of(toolkit.call("availability_search", query()))["items"]
