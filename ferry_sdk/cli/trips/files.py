"""The files of the command line: orders in JSON, and travellers in JSON or CSV."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ferry_sdk.cli.terminal.options import csv_delimiter, problem_of, read_input
from ferry_sdk.cli.trips.booking_request import BookingRequest, Choice
from ferry_sdk.cli.trips.choices import choose, with_vehicle
from ferry_sdk.client import Ferry
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.base import path_of
from ferry_sdk.models.travellers import Travellers


def read_request(file: Path, ferry: Ferry) -> tuple[BookingRequest, list[Choice]]:
    """Read what to book from a file, or standard input if it is ``-``. Perform its search.

    Raises:
        InvalidInputError: The file is not a valid order; the message names the field.
        CommandError: Nothing sails.
    """
    request = _parse_request(file)
    search = request.search
    if (request.availabilities is None) == (search is None):
        raise InvalidInputError("expected either availabilities or search", field=str(file))
    if search is None:
        return request, []
    if search.changes:
        problem = "a file is one booking: book each sailing with a file of its own"
        raise InvalidInputError(problem, field=f"{file}: search.changes")

    choice = choose(ferry, request, search)
    return with_vehicle(ferry, request, search), [choice]


def _parse_request(file: Path) -> BookingRequest:
    content = read_input(file)
    try:
        members = json.loads(content, object_pairs_hook=_unique_members)
        return BookingRequest.model_validate(members)
    except ValidationError as error:
        path, problem = path_of(error)
        field = f"{file}: {path}" if path else str(file)
        raise InvalidInputError(problem, field=field) from None
    except InvalidInputError as error:
        raise InvalidInputError("duplicate name", field=f"{file}: {error.field}") from None
    except (ValueError, RecursionError):
        raise InvalidInputError("not valid JSON", field=str(file)) from None


def read_travellers(file: Path) -> Travellers:
    """Read travellers from a file: a list in JSON, or CSV with the names of the fields as its head.

    Raises:
        InvalidInputError: The file is no list of travellers; `field` names the file and the field.
    """
    content = read_input(file)
    rows: Any
    try:
        if content.lstrip()[:1] in {"[", "{"}:
            rows = json.loads(content, object_pairs_hook=_unique_members)
        else:
            rows = _parse_csv(content)
        party = Travellers(rows)
    except InvalidInputError as error:
        raise InvalidInputError(problem_of(error), field=f"{file}: {error.field}") from None
    except (ValueError, RecursionError, csv.Error):
        raise InvalidInputError("neither valid JSON nor CSV", field=str(file)) from None
    if not party:
        raise InvalidInputError("expected at least one traveller", field=str(file))
    return party


def _parse_csv(content: str) -> list[dict[str, Any]]:
    """Return the rows of a CSV file without empty values, so that these count as missing."""
    # A value without a column gets the name "extra", which no traveller has.
    reader = csv.DictReader(
        io.StringIO(content, newline=""),
        restkey="extra",
        delimiter=csv_delimiter(content),
        strict=True,
    )
    return [{name: value for name, value in row.items() if value} for row in reader]


def _unique_members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the members of an object, and reject duplicate names as ambiguous."""
    members: dict[str, object] = {}
    for name, value in pairs:
        if name in members:
            raise InvalidInputError("duplicate name", field=name)
        members[name] = value
    return members
