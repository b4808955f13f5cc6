"""Helpers: a service without HTTP at a frozen time."""

from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from ferry_sdk.sandbox import Sandbox
from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.counters import Counters
from ferry_sdk.sandbox.faults.faults import Faults
from ferry_sdk.sandbox.network.network import journey_id
from ferry_sdk.sandbox.offers.offers import Offers
from ferry_sdk.sandbox.operations import ENDPOINTS
from ferry_sdk.sandbox.requests.access import Access, Caller
from ferry_sdk.sandbox.service import Service, ServiceError
from tests.support.wire import TLS

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
ORIGIN = "http://ferry.test"
ADULT = {"order": 1, "type": "Adult", "param": "A", "gender": "Female", "age": 35}
GUEST = {"type": "Adult", "first_name": "Ada", "last_name": "Byron", "email": "ada@example.org"}

ONE_TICKET = ("CTN", "FRMRS", "TNLGN")
TWO_TICKETS = ("GNV", "ITGOA", "ITPMO")
PENDING = ("MOBY", "ITLIV", "ITOLB")
BY_EMAIL = ("CORSICAFERRIES", "ITLIV", "FRBIA")


class OfflineService:
    """A service without HTTP, called as a read-write caller by default.

    What its methods return is an answer of the service. `created` is the answer of a creation.
    """

    def __init__(self, profile=None):
        self.clock = Clock(NOW, frozen=True)
        self.faults = Faults()
        self.counters = Counters(self.clock)
        self.service = Service(
            clock=self.clock,
            offers=Offers(self.clock, 1, profile=profile),
            faults=self.faults,
            counters=self.counters,
        )

    def perform(self, operation, arguments=None, *, access=Access.READ_WRITE, **how):
        caller = Caller(access, how.pop("language", "en"), how.pop("protocol", "rest"), ORIGIN)
        return self.service.perform(operation, {**(arguments or {}), **how}, caller)

    def error_of(self, operation, arguments=None, **how):
        with pytest.raises(ServiceError) as caught:
            self.perform(operation, arguments, **how)
        return caught.value

    def refusal(self, operation, arguments=None, **how):
        error = self.error_of(operation, arguments, **how)
        return error.status, error.code

    def attempt(self, operation, arguments=None, **how):
        """Return the error, or None if the operation succeeds."""
        try:
            self.perform(operation, arguments, **how)
        except ServiceError as error:
            return error
        return None

    def search(
        self, line=ONE_TICKET, *, back=None, party=(ADULT,), vehicle=None, from_day=60, **changes
    ):
        """Return the first result on a line from a day on, optionally with a return."""
        for number in range(14):
            day = self.today() + timedelta(days=from_day + number)
            request = search_request(line, day, None if back is None else day + timedelta(back))
            request |= changes
            body = {"request": request, "passengers": list(party)}
            if vehicle is not None:
                body["vehicle"] = {"code": vehicle}
            try:
                availabilities = self.perform("availability.search", body)
            except ServiceError as error:
                if error.status == 404:
                    continue
                raise
            directions = {each["direction"] for each in availabilities}
            if back is None or directions == {"Outward", "Return"}:
                return availabilities
        raise AssertionError("nothing sails for a fortnight")

    def select(self, line=ONE_TICKET, *, name="STANDARD", place=0, **how):
        """Return a selection of the first availability of each direction, by the tariff's name."""
        by_direction = {}
        for availability in self.search(line, **how):
            by_direction.setdefault(availability["direction"], availability)
        return [selection(each, name, place) for each in by_direction.values()]

    def create(self, line=ONE_TICKET, *, passengers=(GUEST,), more=None, **how):
        selections = self.select(line, **how)
        body = {"availabilities": selections, "passengers": list(passengers), **(more or {})}
        return self.perform("bookings.create", body)

    def booking(self, created, **how):
        return self.perform("bookings.get", id=created["booking_id"], **how)

    def confirm(self, created):
        return self.perform("bookings.confirm", id=created["booking_id"])

    def issue(self, line=ONE_TICKET, **how):
        created = self.create(line, **how)
        self.confirm(created)
        return created

    def tickets(self, created):
        return self.booking(created)["tickets"]

    def statuses(self, created):
        return [ticket["status"] for ticket in self.tickets(created)]

    def cancel(self, created, **how):
        return self.perform("bookings.cancel", booking_id=created["booking_id"], **how)

    def mark_paid(self, ticket, reference="pay-1", **more):
        body = {"id": ticket["id"], "external_payment_ref": reference, **more}
        return self.perform("tickets.mark_paid", body, access=Access.ORGANISATION)

    def fee(self, name):
        return self.perform("bookings.cancel_fee", id=name)

    def today(self):
        return self.clock.now().date()


def search_request(line, day, back=None):
    """Return the journeys of a search on a line, with a return on the day `back` if given."""
    company, depart, arrive = line
    request = {
        "company": company,
        "depart_code": depart,
        "arrive_code": arrive,
        "out_journey_id": journey_id(depart, arrive),
        "out_time": "00:00",
        "out_at": day.isoformat(),
    }
    if back is not None:
        request["ret_journey_id"] = journey_id(arrive, depart)
        request["ret_at"] = back.isoformat()
        request["ret_time"] = "00:00"
    return request


def selection(availability, name="STANDARD", place=0):
    """Return a selection of a tariff by its name and of a place by its index."""
    tariff = next(each for each in availability["tariffs"] if each["id"].endswith("." + name))
    return {
        "availability_id": availability["id"],
        "tariff_id": tariff["id"],
        "place_id": availability["places"][place]["id"],
    }


def rpc(method, **params):
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def departure(booking, ticket=0, way="outward"):
    """Return the time of departure that a booking names."""
    moment = booking["tickets"][ticket]["availability"][way]["journey"]["depart_at"]
    return datetime.fromisoformat(moment)


class ServiceOverHttp(OfflineService):
    """The service of a sandbox, called over real connections, in either protocol."""

    def __init__(self, sandbox, http):
        self.sandbox = sandbox
        self.clock = sandbox.clock
        self.faults = sandbox.faults
        self.service = self
        self.http = http

    def perform(
        self, operation, arguments=None, *, access=Access.READ_WRITE, language="en", **named
    ):
        body = {**(arguments or {}), **named}
        tokens = {Access.READ_WRITE: self.sandbox.token}
        token = tokens.get(access, self.sandbox.organisation_token)
        headers = {"authorization": f"Bearer {token}", "accept-language": language}
        if operation.startswith("mcp."):
            message = rpc("tools/call", name=operation.removeprefix("mcp."), arguments=body)
            result = self.http.post("/mcp", json=message, headers=headers).json()["result"]
            answer = result["structuredContent"]
            failed = result.get("isError")
            status = None
        else:
            (endpoint,) = (each for each in ENDPOINTS if each.name == operation)
            path = endpoint.path.format(id=body.get("id"))
            if "{id}" in endpoint.path:
                body.pop("id", None)
            sent = {"json": body} if endpoint.method == "POST" else {}
            reply = self.http.request(endpoint.method, path, headers=headers, **sent)
            answer = reply.json()
            status = reply.status_code
            failed = status >= 400
        if failed:
            raise ServiceError(status, answer["code"], answer["message"], answer.get("field"))
        return answer


@contextmanager
def run(kind=ServiceOverHttp, **options):
    with Sandbox(now=NOW, frozen=True, **options) as sandbox:
        url, token = sandbox.base_url, sandbox.token
        headers = {"authorization": f"Bearer {token}", "accept": "application/json"}
        with httpx.Client(verify=TLS, base_url=url, headers=headers, timeout=60) as http:
            yield kind(sandbox, http)
