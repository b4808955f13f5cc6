"""The design names every room of the package, and its picture shows each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = sorted(
    f"{path.name}/" if path.is_dir() else path.stem
    for path in (ROOT / "ferry_sdk").iterdir()
    if path.suffix == ".py" or (path / "__init__.py").exists()
)
PLUMBING = {"__init__", "_version"}
"""They stand under every room, and the picture leaves them out."""


def design() -> str:
    """The page that says what is true of each room."""
    return (ROOT / "docs" / "design.md").read_text("utf-8")


def drawn() -> list[str]:
    """The names in the picture of the floors."""
    page = (ROOT / "docs" / "house.md").read_text("utf-8")
    picture = page.partition("## The floors")[2].partition("</svg>")[0]
    return re.findall(r'class="room">([^<]+)<', picture)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_is_in_the_design(room: str) -> None:
    assert f"`{room}`" in design()


def test_the_table_of_floors_names_no_room_that_is_gone() -> None:
    table = design().partition("## Floors")[2].partition("\n## ")[0]
    first = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    named = re.findall(r"`([^`]+)`", " ".join(first))
    assert sorted(named) == sorted(set(ROOMS) - PLUMBING)


def test_the_picture_shows_each_room_once() -> None:
    assert sorted(drawn()) == sorted(set(ROOMS) - PLUMBING)
