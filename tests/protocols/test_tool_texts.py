"""What servers put around the value and the error of a tool: words, prose, empty containers."""

import json

import pytest

from ferry_sdk import BookingConfirmError, BookingCreateError, FerryError, OutcomeUnknownError
from tests.support.exchanges import caught
from tests.support.mcp_samples import TICKET, availability, book, failure, search, view
from tests.support.mcp_socket import with_error, with_result

SOLD_OUT = failure("BOOKING_CREATE_ERROR", "Sold out")
WORDS = json.dumps(SOLD_OUT)

AROUND_AN_ERROR = {
    "official SDK": f"Error executing tool create_booking: {WORDS}",
    "FastMCP": f"Error calling tool 'create_booking': {WORDS}",
    "C#": f"An error occurred invoking 'create_booking': {WORDS}",
    "TypeScript": f"MCP error -32603: {WORDS}",
    "twice": f"Error calling tool 'create_booking': Error: {WORDS}",
    "words of its own": f"The carrier refused this: {WORDS}",
    "words behind it": f"Error calling tool 'create_booking': {WORDS} (after 2 tries)",
    "an HTTP library": f"Client error '409 Conflict': {json.dumps({'detail': SOLD_OUT})}",
    "indented": f"Error calling tool 'create_booking': {json.dumps(SOLD_OUT, indent=2)}",
}


def blocks(*values, **members):
    texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
    return {"content": [{"type": "text", "text": text} for text in texts], **members}


@pytest.mark.parametrize("text", AROUND_AN_ERROR.values(), ids=AROUND_AN_ERROR)
def test_an_error_is_found_within_words(serve, text):
    _, ferry = serve(with_result(blocks(text, isError=True)))
    error = caught(BookingCreateError, book, ferry)
    assert (error.message, error.outcome) == ("Sold out", "rejected")


@pytest.mark.parametrize("text", AROUND_AN_ERROR.values(), ids=AROUND_AN_ERROR)
def test_an_error_is_found_within_a_protocol_error(serve, text):
    _, ferry = serve(with_error(200, -32603, text))
    assert caught(BookingCreateError, book, ferry).message == "Sold out"


def test_a_refused_confirmation_is_no_unknown_outcome(serve):
    refused = json.dumps(failure("BOOKING_CONFIRM_ERROR", "The option has lapsed"))
    text = f"Error calling tool 'confirm_booking': {refused}"
    _, ferry = serve(with_result(blocks(text, isError=True)))
    error = caught(BookingConfirmError, ferry.mcp.confirm_booking, "b1")
    assert (error.message, error.outcome) == ("The option has lapsed", "rejected")


PREFIXES = [
    "Error calling tool 'create_booking': ",
    "Error executing tool create_booking: ",
    "An error occurred invoking 'create_booking': ",
    "MCP error -32603: ",
    "Tool execution failed: ",
    "Error: ",
]


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_person_reads_the_text_without_prefix(serve, prefix):
    _, ferry = serve(
        with_result(blocks(f"{prefix}The carrier is closed: call again", isError=True))
    )
    with pytest.raises(FerryError) as info:
        view(ferry)
    assert info.value.message == "The carrier is closed: call again"


NO_OBJECT = {
    "no braces": "Error calling tool 'create_booking': Sold out",
    "no object": "Error calling tool 'create_booking': {Sold out}",
    "without error": f"Error: {json.dumps({'code': 'BOOKING_CREATE_ERROR'})}",
    "a number as code": f"Error: {json.dumps({'error': True, 'code': 7})}",
    "many braces": "{" * 50_000,
}


@pytest.mark.parametrize("text", NO_OBJECT.values(), ids=NO_OBJECT)
def test_words_without_the_object_prove_nothing(serve, text):
    _, ferry = serve(with_result(blocks(text, isError=True)))
    caught(OutcomeUnknownError, book, ferry)


BESIDE_A_RECORD = {
    "before": ("Here is the ticket.", TICKET),
    "behind": (TICKET, "Have a good journey!"),
    "on both sides": ("Here it is:", TICKET, "Have a good journey!"),
}


@pytest.mark.parametrize("values", BESIDE_A_RECORD.values(), ids=BESIDE_A_RECORD)
def test_a_record_is_read_beside_prose(serve, values):
    _, ferry = serve(with_result(blocks(*values)))
    assert view(ferry).id == TICKET["id"]


def test_a_record_is_read_beside_an_empty_structure(serve):
    _, ferry = serve(with_result(blocks(TICKET, structuredContent={})))
    assert view(ferry).id == TICKET["id"]


ONE, TWO = availability("a1"), availability("a2")
LISTS = {
    "a list": (("Two sailings:", [ONE, TWO]), ["a1", "a2"]),
    "an object each": (("Two sailings:", ONE, TWO), ["a1", "a2"]),
    "one object": ((ONE, "It leaves on time."), ["a1"]),
}


@pytest.mark.parametrize(("values", "ids"), LISTS.values(), ids=LISTS)
def test_a_list_is_read_beside_prose(serve, values, ids):
    _, ferry = serve(with_result(blocks(*values)))
    assert [sailing.id for sailing in search(ferry)] == ids


EMPTY_LISTS = {
    "an empty object": {"structuredContent": {}},
    "an empty object and no content": {"content": [], "structuredContent": {}},
    "null as the result": {"content": [], "structuredContent": {"result": None}},
    "an empty object in a text": blocks({}),
}


@pytest.mark.parametrize("result", EMPTY_LISTS.values(), ids=EMPTY_LISTS)
def test_an_empty_container_is_an_empty_list(serve, result):
    _, ferry = serve(with_result(result))
    assert list(search(ferry)) == []


EMPTY_LISTINGS = {
    "null": {"tools": None},
    "nothing": {},
    "nothing but a cursor": {"tools": None, "nextCursor": None},
    "the newer members": {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"},
}


@pytest.mark.parametrize("result", EMPTY_LISTINGS.values(), ids=EMPTY_LISTINGS)
def test_a_listing_without_items_is_empty(serve, result):
    _, ferry = serve(with_result(result))
    assert list(ferry.mcp.list_tools()) == []


@pytest.mark.parametrize("result", [{}, {"contents": None}, {"contents": []}])
def test_a_resource_without_contents_is_empty(serve, result):
    _, ferry = serve(with_result(result))
    assert list(ferry.mcp.ports()) == []
