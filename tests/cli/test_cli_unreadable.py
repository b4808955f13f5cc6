"""The command says how many records could not be read, as text and as JSON."""

import json
from datetime import timedelta

import pytest

from tests.cli.conftest import ADA, SEARCH
from tests.support.trip import DAY

STRAIT = ["Algeciras", "Tangier Med", "--on", f"{DAY}", "--adult", "34F"]


@pytest.fixture
def broken_fares(ferry_sandbox):
    """The first sailing of each answer of Baleària has a tariff without an amount."""
    fault = {"field": "tariffs.0.amount", "company": "BALEARIA", "times": None}
    ferry_sandbox.faults.add("missing_field", "availability.search", **fault)


def test_search_warns_of_unreadable_sailings(cli, broken_fares):
    ended = cli("search", *STRAIT)
    assert "warning: 1 record of availability.search could not be read" in ended.err


@pytest.mark.slow
def test_document_of_a_search_names_unreadable_sailings(cli, broken_fares):
    report = cli("search", *STRAIT, "--json").document["report"]
    (answer,) = report["unreadable"]
    assert answer["operation"] == "availability.search"
    assert answer["search"]["company"] == "BALEARIA"
    assert [record["field"] for record in answer["records"]] == ["tariffs[0].amount"]
    assert report["is_complete"] is False


def test_calendar_marks_days_with_unreadable_sailings(cli, broken_fares):
    days = ["--from", f"{DAY}", "--to", f"{DAY + timedelta(1)}", "--adult", "34F"]
    ended = cli("calendar", *STRAIT[:2], *days)
    assert ended.out.count("1 could not be read") == 2
    assert "warning: 2 records of availability.search could not be read" in ended.err


def test_document_of_a_calendar_counts_unreadable_sailings(cli, broken_fares):
    days = ["--from", f"{DAY}", "--to", f"{DAY}", "--adult", "34F", "--json"]
    document = cli("calendar", *STRAIT[:2], *days).document
    assert [day["unreadable"] for day in document["days"]] == [1]


def test_booking_warns_of_unreadable_sailings(cli, broken_fares, tmp_path):
    travellers = tmp_path / "ada.json"
    travellers.write_text(json.dumps([ADA]), "utf-8")
    ended = cli("book", *STRAIT[:4], "--travellers", f"{travellers}", "--yes")
    assert "warning: 1 record of availability.search could not be read" in ended.err


class TestRoutes:
    """A route that could not be read is not "no company sails"."""

    @pytest.fixture(autouse=True)
    def _without_journey(self, ferry, ferry_sandbox, cache):
        (file,) = cache.iterdir()
        file.unlink()
        routes = [journey.route for journey in ferry.catalogue.journeys()]
        index = routes.index("Genoa → Palermo")
        fault = {"field": "journey_id", "index": index, "times": None}
        ferry_sandbox.faults.add("missing_field", "catalogue.journeys", **fault)

    @pytest.mark.slow
    def test_search_says_that_the_route_is_not_known(self, cli):
        ended = cli("search", "Genoa", "Palermo", *STRAIT[2:], code=3)
        assert "it is not known whether a company sails from Genoa to Palermo" in ended.err
        assert "1 record of catalogue.journeys could not be read" in ended.err

    @pytest.mark.slow
    def test_document_says_that_the_route_is_not_known(self, cli):
        error = cli("search", "Genoa", "Palermo", *STRAIT[2:], "--json", code=3).document["error"]
        assert "it is not known whether a company sails" in error["message"]

    @pytest.mark.slow
    def test_known_route_has_a_warning(self, cli):
        assert "warning: 1 record of catalogue.journeys" in cli("search", *SEARCH).err


@pytest.mark.slow
def test_incomplete_search_does_not_say_that_nothing_sails(cli, broken_fares):
    ended = cli("search", *STRAIT, "--at", "23:59", code=4)
    assert "nothing was found from Algeciras to Tangier Med" in ended.err
    assert "nothing sails" not in ended.err


def test_incomplete_weeks_are_not_said_to_be_empty(cli, ferry_sandbox):
    every_time = {"operation": "availability.search", "times": None}
    ferry_sandbox.faults.add("refused", **every_time, company="BALEARIA", status=404)
    ferry_sandbox.faults.add("server_error", **every_time, company="FRSIBERIA")
    ended = cli("search", *SEARCH, code=4)
    assert "nothing was found from Tarifa to MATNG" in ended.err
    assert "of the two weeks after it, not all is known" in ended.err


@pytest.fixture
def broken_catalogues(ferry_sandbox):
    """A port and a vehicle without a code."""
    ferry_sandbox.faults.add("missing_field", "catalogue.ports", times=None, field="code")
    ferry_sandbox.faults.add("missing_field", "mcp.vehicle_data", times=None, field="code")


LISTS = [
    pytest.param("ports", (), "catalogue.ports", id="all ports"),
    pytest.param("ports", ("Genoa",), "catalogue.ports", id="some ports"),
    pytest.param("vehicles", ("golf",), "mcp.vehicle_data", id="vehicles"),
]


@pytest.mark.parametrize(("command", "text", "operation"), LISTS)
def test_lists_warn_of_unreadable_records(cli, broken_catalogues, command, text, operation):
    ended = cli(command, *text)
    assert f"of {operation} could not be read" in ended.err


@pytest.mark.parametrize(("command", "text", "operation"), LISTS)
def test_documents_of_lists_name_unreadable_records(
    cli, broken_catalogues, command, text, operation
):
    document = cli(command, *text, "--json").document
    assert {answer["operation"] for answer in document["unreadable"]} == {operation}
    assert document["unreadable"][0]["records"][0]["index"] == 0


def test_name_that_finds_nothing_is_no_proof(cli, broken_catalogues):
    ended = cli("ports", "zzz", code=3)
    assert "nothing that could be read is called 'zzz'" in ended.err
