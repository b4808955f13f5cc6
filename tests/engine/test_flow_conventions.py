"""What every request of a call carries, the reads that belong to a write included."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ferry_sdk import FerryError, __version__
from ferry_sdk._engine.context import Context, Session
from tests.engine.replies import booking, good, reply, reset, scripted_driver
from tests.support.driven import SETTINGS
from tests.support.operations import OPERATIONS, described
from tests.support.tables import each


@each("name", OPERATIONS)
def test_every_request_carries_what_the_settings_say(name: str) -> None:
    driver = scripted_driver(then=reply(404))
    with pytest.raises(FerryError):
        driver.raw(
            described(name),
            SETTINGS,
            language="fr",
            client_version="7",
            correlation_id="c-1",
            headers={"x-team": "harbour"},
        )
    (request,) = driver.requests
    carried = {key.lower(): value for key, value in request.headers.items()}
    assert carried["accept-language"] == "fr"
    assert carried["x-client-version"] == "7"
    assert carried["x-client-correlation-id"] == "c-1"
    assert carried["x-team"] == "harbour"
    assert carried["user-agent"] == f"ferry_sdk/{__version__}"


@each("name", OPERATIONS)
def test_what_the_settings_leave_open_is_not_carried(name: str) -> None:
    driver = scripted_driver(then=reply(404))
    with pytest.raises(FerryError) as info:
        driver.raw(described(name), SETTINGS)
    carried = {key.lower(): value for key, value in driver.requests[0].headers.items()}
    assert not {"accept-language", "x-client-version"} & carried.keys()
    assert carried["x-client-correlation-id"] == info.value.correlation_id


def test_what_a_call_is_made_with_shows_no_headers_and_no_tokens() -> None:
    context = Context.start(replace(SETTINGS, headers={"x-team": "harbour"}), Session(), "a call")
    context.state.sent_tokens.append("a-token-that-was-sent")
    assert "harbour" not in repr(context)
    assert "a-token-that-was-sent" not in repr(context)


def test_guards_attempts_and_looks_carry_the_same() -> None:
    driver = scripted_driver(
        reply(503),
        good(booking()),
        reply(429),
        reset(),
        good(booking()),
        good(booking("ticketed", "Issued")),
    )
    raw = driver.raw(described("bookings.confirm", expect_total="148.18"), SETTINGS, language="fr")
    assert len(driver.requests) == 6
    assert {request.headers["Accept-Language"] for request in driver.requests} == {"fr"}
    ids = {request.headers["x-client-correlation-id"] for request in driver.requests}
    assert ids == {raw.correlation_id}
