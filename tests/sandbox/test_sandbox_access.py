"""The controls from another machine, the control token and the health check.

Another address of loopback, 127.0.0.2, stands for the other machine.
"""

import socket

import httpx
import pytest
from offline_service import rpc

from ferry_sdk import Ferry
from ferry_sdk.sandbox import Sandbox
from tests.support.wire import TLS

CONTROL = "control-token-of-a-team"
OTHER_MACHINE = "127.0.0.2"
EVERYWHERE = "0.0.0.0"  # noqa: S104 -- as in a container


def _has_second_address():
    with socket.socket() as probe:
        try:
            probe.bind((OTHER_MACHINE, 0))
        except OSError:
            return False
    return True


pytestmark = pytest.mark.skipif(
    not _has_second_address(), reason=f"{OTHER_MACHINE} is no address here (only Linux has it)"
)


@pytest.fixture(scope="module")
def shared():
    """Return a service on every address, with a control token."""
    with Sandbox(host=EVERYWHERE, control_token=CONTROL) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def alone():
    """Return a service on every address, without a control token."""
    with Sandbox(host=EVERYWHERE) as sandbox:
        yield sandbox


def machine(sandbox, address, token=None, **headers):
    """Return an HTTP client at an address."""
    if token is not None:
        headers["authorization"] = f"Bearer {token}"
    return httpx.Client(
        base_url=sandbox.base_url,
        headers=headers,
        verify=TLS,
        timeout=30,
        transport=httpx.HTTPTransport(local_address=address),
    )


def test_two_machines_share_a_service(shared):
    shared.reset()
    with (
        machine(shared, "127.0.0.1") as first,
        machine(shared, OTHER_MACHINE, CONTROL, host="ferry:8080") as second,
        Ferry(shared.token, base_url=shared.base_url) as ferry,
    ):
        moved = {"frozen": True, "travel_to": "2027-06-01T08:00:00Z"}
        assert second.post("/_sandbox/clock", json=moved).status_code == 200
        assert first.get("/_sandbox/clock").json()["now"] == "2027-06-01T08:00:00+00:00"

        fault = {"kind": "rate_limited", "operation": "catalogue.ports", "retry_after": 0}
        assert second.post("/_sandbox/faults", json=fault).status_code == 200
        assert len(ferry.catalogue.ports()) > 100
        assert first.get("/_sandbox/counters").json()["requests"] == {"catalogue.ports": 2}
        assert len(second.get("/_sandbox/faults").json()["taken"]) == 1


def check_refused(sandbox, token):
    with machine(sandbox, OTHER_MACHINE, token) as client:
        refused = client.post("/_sandbox/reset")
    assert (refused.status_code, refused.json()["code"]) == (401, "UNAUTHORIZED")
    assert refused.headers["www-authenticate"] == "Bearer"
    assert CONTROL not in refused.text


@pytest.mark.parametrize("token", [None, "wrong"])
def test_another_machine_needs_the_control_token(shared, token):
    check_refused(shared, token)


@pytest.mark.parametrize("name", ["token", "read_only_token", "organisation_token"])
def test_other_tokens_open_no_control(shared, name):
    check_refused(shared, getattr(shared, name))


def test_control_token_opens_the_controls_only(shared):
    with machine(shared, OTHER_MACHINE, CONTROL, accept="application/json") as client:
        assert client.get("/api/port").status_code == 401
        assert client.post("/mcp", json=rpc("initialize")).status_code == 401


def test_without_control_token_other_machines_are_refused(alone):
    for token in (None, CONTROL, alone.organisation_token):
        with machine(alone, OTHER_MACHINE, token) as client:
            refused = client.post("/_sandbox/reset")
        assert (refused.status_code, refused.json()["code"]) == (403, "FORBIDDEN")


def test_without_control_token_this_machine_uses_the_controls(alone):
    with machine(alone, "127.0.0.1") as client:
        assert client.post("/_sandbox/reset").status_code == 200


def test_any_machine_reads_the_health(alone):
    alone.reset()
    with machine(alone, OTHER_MACHINE, host="ferry:8080") as client:
        healthy = client.get("/health")
        assert (healthy.status_code, healthy.json()) == (200, {"status": "ok"})
        assert client.post("/health").status_code == 405
    assert alone.counters.requests == {}


def test_no_token_is_in_a_repr():
    shown = repr(vars(Sandbox(token="token-of-a-team", control_token=CONTROL)))
    assert CONTROL not in shown
    assert "token-of-a-team" not in shown


def test_control_token_must_differ_from_the_others():
    with pytest.raises(ValueError, match="must differ") as caught:
        Sandbox(token=CONTROL, control_token=CONTROL)
    assert CONTROL not in str(caught.value)
