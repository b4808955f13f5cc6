"""The other files of earlier versions: a service starts from them, and values are read."""

import json
import sqlite3
from contextlib import closing

import pytest

from ferry_sdk import __version__
from ferry_sdk.sandbox import Profile
from tests.golden import values
from tests.golden.files import FOLDER, PROFILE, new_scan, versions
from tests.golden.world import client_of, new_service


def rows(file):
    """Return the rows of a file of each version, and their names in the ids of tests."""
    return [
        pytest.param(name, value, id=f"{version}/{file} {name}")
        for version in versions()
        for name, value in json.loads((FOLDER / version / file).read_text("utf-8")).items()
    ]


# ---- Files of the local service and of the client ----------------------------------------------


def test_service_starts_from_its_state(folder, ferry):
    with closing(sqlite3.connect(folder / "journal.db")) as connection:
        query = "SELECT booking_id, content FROM ferry_journal_snapshots"
        stages = {key: json.loads(text)[0]["stage"] for key, text in connection.execute(query)}
    assert len({*stages.values()}) > 5
    assert {key: ferry.bookings.get(key).stage for key in stages} == stages


def test_profile_is_read(folder):
    profile = Profile.load(folder / "profile.json")
    assert profile.model_dump(exclude_defaults=True) == PROFILE


def test_only_routes_of_this_version_are_used(folder, service):
    (file,) = (folder / "routes").iterdir()
    with client_of(service, route_cache=folder / "routes") as ferry:
        assert ferry.routes.find("Genoa", "Tunis")
    are_read = "catalogue.journeys" in service.counters.requests
    assert are_read == (f"-{__version__}-" not in file.name)


def test_scan_asks_what_is_missing(folder):
    with new_service() as service, client_of(service) as ferry:
        report = new_scan(folder / "scan").run(ferry)
        assert (report.size, report.done) == (24, 24)
        assert service.counters.requests["availability.search"] == 4


# ---- Values ------------------------------------------------------------------------------------


def is_kept(stored, value):
    """Return whether a JSON value has all that was stored; it may have more members."""
    if isinstance(stored, dict) and isinstance(value, dict):
        return all(name in value and is_kept(stored[name], value[name]) for name in stored)
    if isinstance(stored, list) and isinstance(value, list):
        return len(stored) == len(value) and all(map(is_kept, stored, value))
    return stored == value


@pytest.mark.parametrize(("name", "stored"), rows("errors.json"))
def test_pickled_error_is_read(name, stored):
    error = values.unpickled(stored["pickle"])
    assert (type(error).__name__, str(error)) == (name, stored["text"])
    assert is_kept(stored["fields"], values.fields_of(error))


@pytest.mark.parametrize(("name", "stored"), rows("records.json"))
def test_record_is_read(name, stored):
    model = values.record_classes()[name]
    record = model.model_validate_json(json.dumps(stored["json"]))
    assert record == values.unpickled(stored["pickle"])
    assert is_kept(stored["json"], json.loads(record.model_dump_json()))


@pytest.mark.parametrize(("name", "text"), rows("values.json"))
def test_pickled_value_is_read(name, text):
    assert type(values.unpickled(text)).__name__ == name
