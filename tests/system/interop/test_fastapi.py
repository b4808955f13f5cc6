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


def test_a_wrong_traveller_is_a_422_that_names_the_field():
    good = {"first_name": "Zoë", "gender": "Female", "age": 34}
    wrong = {"age": -3, "gender": "Q", "colour": "red", "birth_date": "soon"}
    bodies = [{"travellers": [good, {**good, name: value}]} for name, value in wrong.items()]
    for name, answer in zip(wrong, answers(*bodies), strict=True):
        assert answer.status_code == 422
        (problem,) = answer.json()["detail"]
        assert problem["loc"] == ["body", "travellers", 1, name]
        assert problem["msg"]
        assert problem.get("ctx") != {"error": {}}
    right, passenger = answers({"travellers": [good]}, {"passengers": [good]})
    assert (right.status_code, right.json()) == (200, [34])
    assert passenger.status_code == 422
    places = [problem["loc"] for problem in passenger.json()["detail"]]
    assert ["body", "passengers", 0, "last_name"] in places
