"""Run the command line against a local service."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ferry_sdk import Ferry
from tests.cli.commands import COMMAND, Ended, environment
from tests.support import processes
from tests.support.trip import DAY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ferry_sdk.sandbox import Sandbox


@pytest.fixture
def cli(ferry_sandbox: Sandbox, tmp_path: Path) -> Iterator[Callable[..., Ended]]:
    """Run `ferry` without a terminal, and check that it prints no token."""

    def run(*arguments: str, code: int = 0, given: str = "", **more: str) -> Ended:
        done = processes.run(
            [*COMMAND, *arguments],
            cwd=tmp_path,
            env=environment(ferry_sandbox, **more),
            given=given,
        )
        ended = Ended(done.returncode, done.stdout, done.stderr)
        assert ended.code == code, ended
        assert ferry_sandbox.token not in ended.out + ended.err
        assert "Traceback" not in ended.err
        return ended

    return run


@pytest.fixture
def ferry(ferry_sandbox: Sandbox) -> Iterator[Ferry]:
    with Ferry(ferry_sandbox.token, base_url=ferry_sandbox.base_url) as client:
        yield client


@pytest.fixture
def order(tmp_path: Path) -> Path:
    """An order file with a search."""
    content = {
        "search": {"depart_code": "ESTRF", "arrive_code": "MATNG", "out_at": f"{DAY}"},
        "passengers": [
            {
                "type": "Adult",
                "first_name": "Ada",
                "last_name": "Reyes",
                "gender": "F",
                "age": 34,
            }
        ],
    }
    file = tmp_path / "order.json"
    file.write_text(json.dumps(content), "utf-8")
    return file


@pytest.fixture
def booked(cli: Callable[..., Ended], order: Path) -> str:
    """The id of an unconfirmed booking."""
    return cli("book", "--from", str(order), "--yes", "--json").document["booking"]["booking_id"]


@pytest.fixture
def ticket(ferry: Ferry, booked: str) -> str:
    """The id of a ticket of a confirmed booking."""
    return ferry.bookings.confirm(booked).ticket_id
