"""A check's report and log have no token and nothing of a traveller."""

import json
import logging
from random import Random

import httpx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ferry_sdk import Ferry
from ferry_sdk.conformance import check
from tests.support.tiers import LONG
from tests.support.trip import PASSENGERS, booked

CANARIES = (
    "Marguerite Okonkwo",
    "Ştefănescu",
    "李小龙",
    "ada.reyes@example.org",
    "X7734512",
    "+33 612 345 678",
)
"""Texts of travellers that a reply may have anywhere."""


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


def test_check_shows_no_secret(ferry, sandbox, caplog):
    booking = booked(ferry)
    with caplog.at_level(logging.DEBUG):
        report = check(ferry, booking_id=booking.booking_id)
    names = [passenger["last_name"] for passenger in PASSENGERS]
    assert not [word for word in (*names, booking.booking_id) if word in str(report)]
    assert sandbox.token not in f"{report}{caplog.text}"


@LONG
@settings(max_examples=20, deadline=None, suppress_health_check=[*HealthCheck])
@given(st.integers(0, 2**32))
def test_no_reply_makes_a_secret_known(sandbox, caplog, seed):
    with Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
        booking = booked(ferry)
    caplog.clear()
    transport = ReplacingTransport(seed, sandbox.token)
    with (
        httpx.Client(transport=transport) as own,
        Ferry(sandbox.token, base_url=sandbox.base_url, http_client=own, max_retries=0) as ferry,
        caplog.at_level(logging.DEBUG, "ferry_sdk"),
    ):
        report = check(ferry, booking_id=booking.booking_id)
    text = f"{report!r}{caplog.text}"
    assert [secret for secret in (*CANARIES, sandbox.token) if secret in text] == []
