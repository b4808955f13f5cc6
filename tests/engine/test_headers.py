"""The headers of requests and the content codings: each decision is made in one place."""

import gzip
import zlib

import pytest

from ferry_sdk import InvalidInputError
from ferry_sdk._engine.content_codings import ACCEPTED, decompressor_of
from ferry_sdk._engine.context import Context, Session
from ferry_sdk._engine.headers import (
    ANONYMOUS,
    RESERVED,
    call_headers,
    service_headers,
    session_headers,
)
from ferry_sdk._engine.validation import extra_headers
from tests.support.driven import SETTINGS


@pytest.fixture
def context():
    """Give the context of a call that has sent nothing yet."""
    return Context.start(SETTINGS, Session(), "a call")


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        pytest.param(ACCEPTED, gzip.compress(b"[]"), id="accepted"),
        pytest.param("X-Gzip", gzip.compress(b"[]"), id="old name"),
        pytest.param("deflate", zlib.compress(b"[]"), id="deflate"),
    ],
)
def test_coding_is_decoded(coding, body):
    assert b"".join(decompressor_of(coding).pieces(body)) == b"[]"


def test_member_that_fills_a_piece_need_not_be_the_last():
    decompressor = decompressor_of("gzip")
    first = [*decompressor.pieces(gzip.compress(bytes(64 * 1024)))]
    second = [*decompressor.pieces(gzip.compress(b"[]"))]
    assert (len(b"".join(first)), second) == (64 * 1024, [b"[]"])


def test_every_request_accepts_the_same_coding(context):
    headers = service_headers(context, "token", accept="text/plain", has_json=False)
    assert headers["Accept-Encoding"] == ANONYMOUS["Accept-Encoding"] == ACCEPTED


def test_token_of_a_request_counts_as_sent(context):
    service_headers(context, "organisation_token", accept="text/plain", has_json=False)
    assert context.state.sent_tokens == ["organisation-token"]


@pytest.mark.parametrize("has_json", [True, False])
def test_content_type_is_that_of_a_body(context, has_json):
    headers = service_headers(context, "token", accept="text/plain", has_json=has_json)
    assert ("Content-Type" in headers) == has_json


@pytest.mark.parametrize(
    ("session", "expected"),
    [
        pytest.param(Session(), {}, id="before the handshake"),
        pytest.param(
            Session(version="2025-11-25"), {"MCP-Protocol-Version": "2025-11-25"}, id="no id"
        ),
        pytest.param(
            Session(id="s-1", version="2025-11-25"),
            {"Mcp-Session-Id": "s-1", "MCP-Protocol-Version": "2025-11-25"},
            id="session",
        ),
    ],
)
def test_session_headers_are_those_of_the_handshake(session, expected):
    assert session_headers(session) == expected


def test_call_without_a_name_repeats_its_method():
    assert call_headers("tools/list", None) == {"Mcp-Method": "tools/list"}


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("view_ticket", "view_ticket"),
        ("resource://service/ports?of=all it", "resource://service/ports?of=all it"),
        ("é", "=?base64?w6k=?="),
        (" x", "=?base64?IHg=?="),
        ("x\n", "=?base64?eAo=?="),
        ("", "=?base64??="),
        ("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="),
    ],
)
def test_name_of_a_call_is_a_header(name, sent):
    assert call_headers("tools/call", name)["Mcp-Name"] == sent


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_user_may_not_set_a_reserved_header(name):
    with pytest.raises(InvalidInputError) as info:
        extra_headers({name.title(): "x"}, "default_headers")
    assert "sets this header itself" in str(info.value)
