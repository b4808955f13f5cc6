"""Travellers in the body of a request to a FastAPI application."""

from __future__ import annotations

import anyio
import httpx
import pytest
from pydantic import BaseModel

from ferry_sdk import Passenger, Traveller, Travellers

fastapi = pytest.importorskip("fastapi")


class Wish(BaseModel):
    travellers: list[Traveller] = []
    passengers: list[Passenger] = []


def answers(*bodies):
    """Return the answers of an application that takes a wish and returns the ages in it."""
    app = fastapi.FastAPI()

    def ages(wish):
        return [one.age for one in Travellers(wish.travellers)]

    ages.__annotations__ = {"wish": Wish, "return": list[int | None]}
    app.post("/wish")(ages)

    async def visit():
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://shop") as browser:
            return [await browser.post("/wish", json=body) for body in bodies]

    return anyio.run(visit)


TRAVELLER = {"first_name": "Zoë", "gender": "Female", "age": 34}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("age", -3),
        ("gender", "Q"),
        ("colour", "red"),
        ("birth_date", "soon"),
    ],
)
def test_422_names_the_wrong_field(name, value):
    (answer,) = answers({"travellers": [TRAVELLER, {**TRAVELLER, name: value}]})
    assert answer.status_code == 422
    (problem,) = answer.json()["detail"]
    assert problem["loc"] == ["body", "travellers", 1, name]
    assert problem["msg"]
    assert problem.get("ctx") != {"error": {}}


def test_body_has_travellers():
    (answer,) = answers({"travellers": [TRAVELLER]})
    assert (answer.status_code, answer.json()) == (200, [34])


def test_422_names_the_missing_field():
    (answer,) = answers({"passengers": [TRAVELLER]})
    assert answer.status_code == 422
    places = [problem["loc"] for problem in answer.json()["detail"]]
    assert ["body", "passengers", 0, "last_name"] in places
