"""Reprs are short enough to read, and contain no secret."""

from __future__ import annotations

from datetime import timedelta

from ferry_sdk import AsyncFerry, Availability, Ferry, Records
from tests.support import samples
from tests.support.tables import each
from tests.support.trip import found


def test_a_sailing_is_shown_in_two_lines(clients, ferry_sandbox):
    sailing = found(clients(ferry_sandbox.token, base_url=ferry_sandbox.base_url))
    for text in (repr(sailing), str(sailing)):
        assert text.count("\n") == 1
        assert all(len(line) <= 120 for line in text.splitlines())
        for part in (sailing.depart_code, sailing.company.name, sailing.id):
            assert part in text
    assert str(min(one.amount for one in sailing.tariffs if one.type == "Ticket")) in repr(sailing)


def test_a_sailing_without_tariffs_has_a_repr(both):
    bare = found(both).model_copy(update={"tariffs": ()})
    assert "0 tariffs, " in repr(bare)


def test_a_long_list_shows_its_first_and_its_last_record():
    assert repr(Records(range(5))) == "Records([0, 1, 2, 3, 4])"
    assert repr(Records(range(6))) == "Records([0, ... 4 more ..., 5])"
    assert repr(Records([timedelta(0)])) == "Records([datetime.timedelta(0)])"


@each("kind", [Ferry, AsyncFerry])
def test_a_group_shows_its_address_and_no_internals(kind):
    url = "http://127.0.0.1:1"
    client = kind("a-secret-token", base_url=url)
    groups = (client.availability, client.bookings, client.tickets, client.catalogue, client.mcp)
    for group in (*groups, client.places, client.routes, client.trips, client.vehicles):
        assert repr(group) == f"{type(group).__name__}(base_url={url!r})"
        assert "transport" not in dir(group)


def test_the_names_of_a_record_are_without_the_deprecated_methods_of_pydantic():
    names = {*dir(Availability.model_validate(samples.AVAILABILITY))}
    assert {*Availability.model_fields, "select", "travel_time", "model_dump"} <= names
    assert not {"construct", "copy", "dict", "json", "parse_raw", "update_forward_refs"} & names
