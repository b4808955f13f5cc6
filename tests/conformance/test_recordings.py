"""A recording has no token and nothing of a traveller."""

import errno
import json
import logging
import os
import stat
from random import Random

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ferry_sdk import APIError, Ferry, InvalidInputError
from ferry_sdk.conformance import check
from ferry_sdk.conformance.observations import Observation
from ferry_sdk.conformance.recordings import Recording
from tests.support.tiers import LONG, examples
from tests.support.trip import PASSENGERS, booked

TOKEN = "fsk-70935512-canary"
CANARIES = (
    *("Marguerite Okonkwo", "Ştefănescu", "李小龙", "ada.reyes@example.org", "X7734512"),
    "+33 612 345 678",
)
NUMBER = 612345678
FIELDS = ("first_name", "doc_number", "message", "status", "name", "code", "data", "requestedItems")
PRIVATE = ("bookings.get", "bookings.create", "tickets.get", "mcp.view_ticket")
PUBLIC = ("availability.search", "catalogue.ports", "mcp.departures")


def trees(*texts):
    """Decoded JSON with some texts in its keys and values, alone and within others."""

    def forms(one):
        return st.sampled_from([one, f"Dear {one}!", json.dumps({one: one}), f'[{{"a": "{one}'])

    keys = st.sampled_from((*FIELDS, *texts))
    return st.recursive(
        st.sampled_from(texts).flatmap(forms) | st.just(NUMBER) | st.none(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
        max_leaves=8,
    )


def record(folder, operation, body, *, error=None):
    file = folder / "replies.jsonl"
    with Recording(file, lambda: [TOKEN]) as recording:
        recording.add(operation, Observation(body=body, status=200, error=error))
    (line,) = lines_of(file)
    return line


def lines_of(file):
    lines = file.read_text().splitlines()
    return [json.dumps(json.loads(line), ensure_ascii=False) for line in lines]


@examples(30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(PRIVATE), st.sampled_from(PUBLIC), trees(*CANARIES, TOKEN), trees(TOKEN))
def test_travellers_and_tokens_are_masked(tmp_path, private, public, body, secret):
    error = APIError("refused", status_code=422)
    lines = {
        "a private reply": record(tmp_path, private, body),
        "an error": record(tmp_path, public, body, error=error),
        "travellers": record(tmp_path, public, [{"in_board": {"passengers": [body]}}]),
    }
    for name, line in lines.items():
        assert (name, [one for one in (*CANARIES, TOKEN, str(NUMBER)) if one in line]) == (name, [])
    assert TOKEN not in record(tmp_path, public, secret)


def test_catalogues_and_the_words_of_the_interface_stay(tmp_path):
    port = {"code": "FRMRS", "name": "Marseille", "country": "France", "agent": "Ada"}
    assert '"name": "Marseille"' in record(tmp_path, "catalogue.ports", {"ports": [port]})
    assert '"aaaaa": "Aaa"' in record(tmp_path, "catalogue.ports", {"ports": [port]})
    for name in ("[Ada", "{Ada"):  # it looks like JSON
        assert "Ada" not in record(tmp_path, "catalogue.ports", {"ports": [{"name": name}]})
    booking = {"stage": "ticketed", "total_price": 49.9, "booking_reference": "AB12CD"}
    line = json.loads(record(tmp_path, "bookings.get", booking))
    assert line["body"] == {"stage": "ticketed", "total_price": 49.9, "booking_reference": "AA00AA"}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no permissions of files for groups")
def test_only_its_owner_can_read_the_file(tmp_path, monkeypatch):
    pipe, file = tmp_path / "pipe", tmp_path / "replies.jsonl"
    file.write_text("old")
    file.chmod(0o644)
    with Recording(file, list):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert file.read_text() == ""
    os.mkfifo(pipe)
    pipe.chmod(0o644)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with Recording(pipe, list):
        assert stat.S_IMODE(pipe.stat().st_mode) == 0o644, "a pipe keeps its mode"
    os.close(reader)
    file.write_text("theirs")

    def refuse(*_):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "fchmod", refuse)
    with pytest.raises(InvalidInputError, match="record: Operation not permitted"):
        Recording(file, list)
    assert file.read_text() == "theirs", "a file of another user keeps its content"


def test_a_path_that_names_no_file_is_refused_before_anything_is_sent(tmp_path):
    for path in ("a\0b", str(tmp_path / ("a" * 300)), tmp_path, "\ud800", 7):
        with pytest.raises(InvalidInputError) as refused:
            Recording(path, list)
        assert refused.value.field == "record"
    with (
        Ferry("token", base_url="https://ferry.invalid") as ferry,
        pytest.raises(InvalidInputError, match="record: "),
    ):
        check(ferry, record=tmp_path / "missing" / "replies.jsonl")


def replace_leaves(value, rng, texts):
    if isinstance(value, dict):
        return {
            rng.choice(texts) if rng.random() < 0.1 else key: replace_leaves(member, rng, texts)
            for key, member in value.items()
        }
    if isinstance(value, list):
        return [replace_leaves(one, rng, texts) for one in value]
    return rng.choice(texts) if isinstance(value, str) and rng.random() < 0.25 else value


class ReplacingTransport(httpx.BaseTransport):
    """Puts texts into the replies about bookings and tickets, and the token into some others."""

    def __init__(self, seed, token):
        self.rng, self.token = Random(seed), token  # noqa: S311 -- the same for the same seed
        self.real = httpx.HTTPTransport()

    def handle_request(self, request):
        response = self.real.handle_request(request)
        content = response.read()
        is_private = "/booking" in request.url.path or "/ticket/" in request.url.path
        if not content or (not is_private and self.rng.random() < 0.7):
            return response
        texts = (*CANARIES, self.token) if is_private else (self.token,)
        body = replace_leaves(json.loads(content), self.rng, texts)
        return httpx.Response(response.status_code, json=body, request=request)

    def close(self):
        self.real.close()


def test_a_check_records_nothing_of_the_travellers(ferry, sandbox, tmp_path, caplog):
    file = tmp_path / "replies.jsonl"
    booking = booked(ferry)
    with caplog.at_level(logging.DEBUG):
        report = check(ferry, booking_id=booking.booking_id, record=file)
    texts = (file.read_text(), str(report), caplog.text)
    lines = [json.loads(line) for line in texts[0].splitlines()]
    assert len(lines) == report.requests
    assert [one["status"] for one in lines if one["operation"] == "tickets.pdf"] == [200]
    for secret in (sandbox.token, *(one["last_name"] for one in PASSENGERS), booking.booking_id):
        assert not [text[:100] for text in texts[:2] if secret in text]
    assert sandbox.token not in caplog.text


@LONG
@settings(max_examples=20, deadline=None, suppress_health_check=[*HealthCheck])
@given(st.integers(0, 2**32))
def test_no_reply_gets_a_secret_into_file_report_or_log(sandbox, tmp_path, caplog, seed):
    file = tmp_path / "replies.jsonl"
    with Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        booking = booked(ferry)
    caplog.clear()
    transport = ReplacingTransport(seed, sandbox.token)
    with (
        httpx.Client(transport=transport) as own,
        Ferry(sandbox.token, base_url=sandbox.base_url, http_client=own, max_retries=0) as ferry,
        caplog.at_level(logging.DEBUG, "ferry_sdk"),
    ):
        report = check(ferry, booking_id=booking.booking_id, record=file)
    for text in (*lines_of(file), repr(report), caplog.text):
        assert not [one for one in (*CANARIES, sandbox.token) if one in text]
