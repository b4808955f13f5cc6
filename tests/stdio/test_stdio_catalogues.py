"""The catalogues as resources."""

import json
from datetime import datetime, timezone

import pytest
from mcp import MCPError

from tests.agents.agent import result_of, sailings
from tests.support.tiers import LONG

pytestmark = LONG


def read(host, uri):
    (content,) = host.wait(host.client.read_resource, uri).contents
    assert (str(content.uri), content.mime_type) == (uri, "application/json")
    return json.loads(content.text)


def test_every_listed_catalogue_can_be_read(hosts):
    host = hosts()
    listed = host.wait(host.client.list_resources).resources
    assert [str(one.uri) for one in listed] == [
        "ferry://ports",
        "ferry://journeys",
        "ferry://companies",
        "ferry://vehicle-brands",
        "ferry://vehicle-types",
    ]
    for one in listed:
        assert one.title
        catalogue = read(host, str(one.uri))
        assert catalogue["count"] == len(catalogue["items"]) > 5
    ports = read(host, "ferry://ports")
    assert "FRMRS" in [port["code"] for port in ports["items"]]
    assert ports == result_of(host.call("catalogue_ports"))


def test_a_listed_catalogue_says_for_whom_it_is_and_since_when_it_is_so(hosts):
    host = hosts()
    started = datetime.now(timezone.utc)
    read(host, "ferry://ports")

    def listed():
        resources = host.wait(host.client.list_resources).resources
        return {str(one.uri): one.annotations for one in resources}

    first = listed()
    assert {tuple(one.audience) for one in first.values()} == {("assistant",)}
    assert [uri for uri, one in first.items() if one.last_modified] == ["ferry://ports"]
    seen = first["ferry://ports"].last_modified
    assert started <= datetime.fromisoformat(seen) <= datetime.now(timezone.utc)
    read(host, "ferry://ports")
    assert listed()["ferry://ports"].last_modified == seen


def test_departures_are_read_for_a_provider(hosts):
    host = hosts()
    (template,) = host.wait(host.client.list_resource_templates).resource_templates
    assert template.uri_template == "ferry://departures/{provider_id}"
    provider = sailings(host)[0]["provider"]["id"]
    departures = read(host, f"ferry://departures/{provider}")
    assert departures["items"][0]["departure_times"]
    encoded = provider.replace("-", "%2D")
    assert encoded != provider
    assert read(host, f"ferry://departures/{encoded}") == departures


def test_an_unknown_resource_or_provider_is_an_error(hosts):
    host = hosts()
    for uri in ("ferry://tides", "ferry://", "file:///etc/passwd"):
        with pytest.raises(MCPError) as caught:
            host.wait(host.client.read_resource, uri)
        assert caught.value.code == -32602
        assert caught.value.data == {"uri": uri}
    for provider in ("", "..%2Ftickets", "none"):
        with pytest.raises(MCPError) as caught:
            host.wait(host.client.read_resource, f"ferry://departures/{provider}")
        assert caught.value.data["outcome"] in {"not_sent", "rejected"}
        assert caught.value.code == -32602


def test_an_unreadable_catalogue_is_an_error(hosts, ferry_sandbox):
    ferry_sandbox.faults.add("server_error", "catalogue.ports", times=None)
    host = hosts()
    with pytest.raises(MCPError) as caught:
        host.wait(host.client.read_resource, "ferry://ports")
    assert caught.value.code == -32603
    assert caught.value.data["next_step"]
