"""A create whose failed reply names its booking, which is then read back by its id.

A service of real sockets answers the create with what a row says, and the read with a booking.
"""

import json
import pickle

import httpx
import pytest

from ferry_sdk import OutcomeUnknownError
from ferry_sdk._engine import booking_ids
from ferry_sdk.journal import Journal, schema
from tests.support.exchanges import caught, client_of
from tests.support.mcp_samples import SELECTION
from tests.support.samples import BOOKING, BOOKING_CREATED
from tests.transport.scripted import Service

pytestmark = pytest.mark.usefixtures("read_back_once")

TRAVELLER = {
    "type": "Adult",
    "first_name": "Zoë",
    "last_name": "Nuñez Björk",
    "birth_date": "1991-04-02",
    "doc_type": "Passport",
    "doc_number": "AB1234567",
}
TOKEN = "token-7f3a9c"
ODD = BOOKING_CREATED | {"currency": "?"}
"""A created booking with one field that cannot be read."""
WHOLE = json.dumps(BOOKING_CREATED | {"booking_id": "b-1"}).encode()
CUT = 40
"""Bytes of `WHOLE` that have the id and not all of the next member."""
NAMED = b'{"booking_id": "b-1"}'
ERROR = {"error": True, "code": "INTERNAL", "message": "late"}

NAMING = {
    "price": ("201 Created", BOOKING_CREATED | {"total_price": "dear"}),
    "currency": ("201 Created", ODD),
    "no stage": ("201 Created", BOOKING_CREATED | {"stage": None}),
    "only the id": ("201 Created", {"booking_id": "b-1"}),
    "an envelope": ("201 Created", {"data": ODD}),
    "a list": ("201 Created", [ODD]),
    "NaN": ("201 Created", json.dumps(BOOKING_CREATED | {"total_price": float("nan")}).encode()),
    "after a warning": ("201 Created", b"Warning: late in line 7\n" + WHOLE),
    "not UTF-8": ("201 Created", b'{"booking_id": "b-1", "status": "\xff"}'),
    "deep in objects": ("500 No", b'{"data":' * 7 + NAMED + b"}" * 7),
    "deep in lists": ("500 No", b"[" * 7 + NAMED + b"]" * 7),
    "deep in a text": ("500 No", b"Late: " + b'{"data":' * 6 + NAMED + b"}" * 6),
    "500": ("500 No", ERROR | {"booking_id": "b-1"}),
    "503 within": ("503 No", {"error": ERROR | {"data": {"booking_id": "b-1"}}}),
    "504 cut": ("504 No", WHOLE[:CUT]),
    "408": ("408 Late", {"detail": {"booking_id": "b-1", "message": "late"}}),
}
"""Replies that fail and name the booking: their status and their body."""

UNSURE = {
    "nothing": ("500 No", b""),
    "a page": ("502 No", b"<html><style>a {color: red}</style>booking_id: b-1</html>"),
    "a message": ("500 No", ERROR | {"message": 'booking_id "b-1" may be there'}),
    "an existing one": ("500 No", ERROR | {"existing": {"booking_id": "b-1"}}),
    "two": ("500 No", {"booking_id": "b-1", "data": {"booking_id": "b-2"}}),
    "a number": ("500 No", {"booking_id": 17}),
    "empty": ("500 No", {"booking_id": ""}),
    "dots": ("500 No", {"booking_id": ".."}),
    "a space around": ("500 No", {"booking_id": " b-1"}),
    "a control character": ("500 No", {"booking_id": "b-1\u202e"}),
    "half a pair": ("500 No", b'{"booking_id": "b-1\\ud800"}'),
    "too long": ("500 No", {"booking_id": "b" * 201}),
    "the token": ("500 No", {"booking_id": f"b-{TOKEN}"}),
    "a name": ("500 No", {"booking_id": "NUNEZ-BJORK-1"}),
    "a document": ("500 No", {"booking_id": "B-AB1234567"}),
    "cut within the id": ("500 No", b'{"booking_id": "b-1'),
    "broken after it": ("201 Created", b'{"booking_id": "b-1", "total_price": 12,50}'),
    "too deep": ("500 No", b'{"data":' * 8 + b'{"booking_id": "b-1"}' + b"}" * 8),
    "late in a list": ("500 No", [*[{}] * 10, {"booking_id": "b-1"}]),
    "late in a vast text": ("500 No", b"x" * 65_536 + WHOLE),
}
"""Replies that fail and name no booking for sure."""


class Desk:
    """Answers a create and the read of its booking; keeps what was on record at the read."""

    def __init__(self):
        self.created = NAMING["currency"]
        self.length = None
        self.read = ("200 OK", BOOKING)
        self.journal = None
        self.on_record = None

    def __call__(self, connection):
        while (asked := connection.request()) is not None:
            is_create = asked == "POST /api/booking"
            if not is_create and self.journal is not None:
                self.on_record = [(one.state, one.booking_id) for one in self.journal.entries()]
            status, body = self.created if is_create else self.read
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            connection.send(status, content, length=self.length if is_create else None)
            if is_create and self.length is not None:
                return


@pytest.fixture
def desk():
    return Desk()


@pytest.fixture
def service(desk):
    with Service(desk) as service:
        yield service


@pytest.fixture
def journal():
    with Journal("sqlite://") as journal:
        yield journal


@pytest.fixture
def ferry(clients, service):
    return clients(TOKEN, base_url=service.url, max_retries=0)


def create(ferry, **settings):
    return ferry.with_options(**settings).bookings.create(
        availabilities=SELECTION, passengers=[TRAVELLER]
    )


def lose(ferry, **settings):
    return caught(OutcomeUnknownError, create, ferry, **settings)


@pytest.mark.parametrize("reply", NAMING.values(), ids=NAMING)
def test_named_booking_is_read_back(ferry, desk, service, reply):
    desk.created = reply
    created = create(ferry)
    assert (created.booking_id, created.read_back) == ("b-1", True)
    assert (str(created.total_price), created.currency) == ("148.18", "EUR")
    assert service.asked == ["POST /api/booking", "GET /api/booking/b-1"]


@pytest.mark.parametrize("arrived", [len(WHOLE) - 1, CUT])
def test_reply_cut_behind_the_id_is_read_back(ferry, desk, service, arrived):
    desk.created, desk.length = ("201 Created", WHOLE[:arrived]), len(WHOLE)
    assert create(ferry).read_back
    assert service.asked == ["POST /api/booking", "GET /api/booking/b-1"]


def test_refusal_cut_behind_an_id_is_not_read(ferry, desk, service):
    desk.created, desk.length = ("409 Conflict", WHOLE[:CUT]), len(WHOLE)
    assert lose(ferry).booking_id is None
    assert service.asked == ["POST /api/booking"]


@pytest.mark.parametrize("reply", UNSURE.values(), ids=UNSURE)
def test_what_is_not_named_for_sure_is_unknown(ferry, desk, service, reply):
    desk.created = reply
    error = lose(ferry)
    assert (error.booking_id, error.outcome) == (None, "unknown")
    assert TOKEN not in repr(error)
    assert "1234567" not in repr(error)
    assert service.asked == ["POST /api/booking"]


def test_longest_id_is_that_of_a_journal():
    assert booking_ids._LONGEST_ID == schema.LONGEST


def test_good_reply_is_not_read_back(ferry, desk, service):
    desk.created = ("201 Created", BOOKING_CREATED)
    assert not create(ferry).read_back
    assert service.asked == ["POST /api/booking"]


def test_booking_is_on_record_before_it_is_read(ferry, desk, journal):
    desk.journal = journal
    create(ferry, journal=journal)
    assert desk.on_record == [("unknown", "b-1")]
    (entry,) = journal.entries()
    assert (entry.state, entry.booking_id) == ("done", "b-1")


UNREAD = {
    "not there": ("404 No", ERROR),
    "failing": ("503 No", ERROR),
    "refused": ("403 No", ERROR),
    "unreadable": ("200 OK", {"booking_id": "b-1"}),
    "another's": ("200 OK", BOOKING | {"booking_id": "b-2"}),
}


@pytest.mark.parametrize("read", UNREAD.values(), ids=UNREAD)
def test_unread_booking_is_named_everywhere(ferry, desk, journal, read):
    desk.read = read
    error = lose(ferry, journal=journal)
    again = pickle.loads(pickle.dumps(error))
    assert error.booking_id == again.booking_id == "b-1"
    assert "the reply names booking b-1 (" in str(again)
    assert journal.entries(booking_id="b-1") == journal.unresolved()


def test_pickled_error_is_recovered_by_another_client(ferry, clients, desk, service):
    desk.read = UNREAD["not there"]
    error = pickle.loads(pickle.dumps(lose(ferry)))
    desk.read = ("200 OK", BOOKING)
    created = clients(TOKEN, base_url=service.url).recover(error)
    assert (created.booking_id, created.read_back) == ("b-1", True)
    assert service.asked.count("POST /api/booking") == 1


def test_entry_is_recovered(ferry, desk, journal):
    desk.read = UNREAD["failing"]
    lose(ferry, journal=journal)
    desk.read = ("200 OK", BOOKING)
    (entry,) = journal.unresolved()
    assert ferry.with_options(journal=journal).recover(entry).booking_id == "b-1"
    assert journal.entry(entry.id).state == "done"


def test_recovery_that_fails_keeps_the_booking(ferry, desk):
    desk.read = UNREAD["not there"]
    error = lose(ferry)
    again = caught(OutcomeUnknownError, ferry.recover, error)
    assert (again.booking_id, str(again)) == ("b-1", str(error))


def test_old_pickle_has_no_booking(ferry, desk):
    desk.created = UNSURE["nothing"]
    error = lose(ferry)
    vars(error).pop("booking_id")
    again = pickle.loads(pickle.dumps(error))
    assert again.booking_id is None
    assert caught(OutcomeUnknownError, ferry.recover, again).booking_id is None


def test_same_order_is_refused_by_its_booking(ferry, desk, journal, service):
    desk.read = UNREAD["not there"]
    lose(ferry, journal=journal)
    with pytest.raises(Exception, match=r"may have happened already \(booking b-1,") as info:
        create(ferry, journal=journal)
    assert info.value.entry.booking_id == "b-1"
    assert service.asked.count("POST /api/booking") == 1


def test_each_create_reads_its_own_booking(clients, desk):
    ids = iter(("b-1", "b-2"))

    def answer(request):
        if request.method == "POST":
            return httpx.Response(503, json={"booking_id": next(ids)})
        booking_id = request.url.path.rpartition("/")[2]
        return httpx.Response(200, json=BOOKING | {"booking_id": booking_id})

    ferry = client_of(clients, answer)
    assert [create(ferry).booking_id for _ in range(2)] == ["b-1", "b-2"]


def tool_result(**result):
    return {"result": result}


def text(value):
    return {"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}


def failure(**error):
    return {"error": error}


NAMING_TOOLS = {
    "structured": tool_result(structuredContent=ODD),
    "a text": tool_result(content=[text(ODD)]),
    "prose and a text": tool_result(content=[text("Booked."), text(ODD)]),
    "a text and prose": tool_result(content=[text(ODD), text("Booked. {ok}")]),
    "a failed tool": tool_result(
        isError=True, content=[text(f"Error executing tool create_booking: {json.dumps(ODD)}")]
    ),
    "an unknown type": tool_result(resultType="later", structuredContent=ODD),
    "an error with data": failure(code=-32603, message="late", data={"booking_id": "b-1"}),
}
"""Results and errors of a tool that name the booking, by member of the JSON-RPC reply."""
UNSURE_TOOLS = {
    "two blocks": tool_result(content=[text(ODD), text(ODD | {"booking_id": "b-2"})]),
    "two blocks and prose": tool_result(
        content=[text(ODD), text("and"), text(ODD | {"booking_id": "b-2"})]
    ),
    "prose": tool_result(isError=True, content=[text("booking_id b-1 may be there")]),
}


@pytest.fixture
def mcp(clients):
    """A function that makes a client of an MCP server with one reply, and notes the requests."""
    asked = []

    def client(members, carrier="json"):
        def answer(request):
            asked.append(f"{request.method} {request.url.path}")
            if request.method == "GET":
                return httpx.Response(200, json=BOOKING)
            message = json.loads(request.content)
            if "id" not in message or message["method"] == "initialize":
                return httpx.Response(404)
            body = json.dumps({"jsonrpc": "2.0", "id": message["id"], **members})
            if carrier == "json":
                return httpx.Response(200, json=json.loads(body))
            kind = {"content-type": "text/event-stream"}
            return httpx.Response(200, content=f"data: {body}\n\n", headers=kind)

        ferry = client_of(clients, answer, TOKEN)
        ferry.asked = asked
        return ferry

    return client


def book(ferry):
    return ferry.mcp.create_booking(availabilities=SELECTION, passengers=[TRAVELLER])


@pytest.mark.parametrize("carrier", ["json", "events"])
@pytest.mark.parametrize("members", NAMING_TOOLS.values(), ids=NAMING_TOOLS)
def test_booking_of_a_tool_is_read_over_rest(mcp, members, carrier):
    ferry = mcp(members, carrier)
    created = book(ferry)
    assert (created.booking_id, created.read_back) == ("b-1", True)
    assert ferry.asked.count("GET /api/booking/b-1") == 1


@pytest.mark.parametrize("members", UNSURE_TOOLS.values(), ids=UNSURE_TOOLS)
def test_tool_that_names_two_or_none_is_unknown(mcp, members):
    assert caught(OutcomeUnknownError, book, mcp(members)).booking_id is None


@pytest.mark.parametrize("other_id", ["ferry-0", 7])
def test_message_of_another_request_names_nothing(mcp, other_id):
    members = tool_result(structuredContent=ODD) | {"id": other_id}
    assert caught(OutcomeUnknownError, book, mcp(members, "events")).booking_id is None


def test_any_tool_tells_the_booking(mcp):
    odd = failure(code=-32603, message="late", data={"booking_id": "b-1"})
    error = caught(OutcomeUnknownError, mcp(odd).mcp.call_tool, "rebook", {"from": "b-0"})
    assert error.booking_id == "b-1"


def test_any_path_tells_the_booking(ferry, desk):
    desk.created = NAMING["500"]
    error = caught(OutcomeUnknownError, ferry.request, "POST", "api/booking", json={})
    assert error.booking_id == "b-1"


REFUND = {"refund_amount": 100.05}
REFUNDS = {
    "no status": ({"booking_id": "b-1", **REFUND}, "100.05"),
    "no id": ({"status": "cancelled", **REFUND}, "100.05"),
    "no refund": ({"booking_id": "b-1"}, None),
    "an odd refund": ({"booking_id": "b-1", "refund_amount": "much"}, None),
    "another's": ({"booking_id": "b-2", "status": "cancelled", **REFUND}, None),
}
"""Odd replies to a cancellation, and the refund that is known when its effect is seen."""


@pytest.mark.parametrize(("reply", "refund"), REFUNDS.values(), ids=REFUNDS)
def test_refund_of_an_odd_reply_is_kept(clients, reply, refund):
    def answer(request):
        voided = BOOKING | {"stage": "voided"}
        return httpx.Response(200, json=reply if request.method == "POST" else voided)

    cancelled = client_of(clients, answer).bookings.cancel("b-1")
    assert cancelled.read_back
    assert (cancelled.refund_amount and str(cancelled.refund_amount)) == refund
