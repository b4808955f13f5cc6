"""Vehicles found by make and model, with the codes for a search and for a booking."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from ferry_sdk._engine.batch import Plan
from ferry_sdk._engine.effects import Flow
from ferry_sdk._engine.settings import Settings
from ferry_sdk.errors import InvalidInputError
from ferry_sdk.models.catalogue import VehicleModel
from ferry_sdk.models.inputs import Vehicle, VehicleQuery
from ferry_sdk.models.records import Match, Records, Unreadable
from ferry_sdk.planning import catalogues
from ferry_sdk.planning.names import fold, similarity
from ferry_sdk.planning.request import whole_number
from ferry_sdk.planning.results import (
    Matches,
    describe_unreadable,
    numbered,
    unreadable_answers,
    unusable,
)
from ferry_sdk.resources import arguments
from ferry_sdk.resources.base import Resource, method

_LEAST_SIMILARITY: Final = 0.7773
"""Less similar names would have a score below 0.7."""
_SUGGESTIONS: Final = 5


@dataclass(frozen=True, slots=True)
class VehicleMatch(Match):
    """A vehicle that a text may mean.

    Attributes:
        model: The vehicle, with its length and height in metres.
        score: How well it matches, from 0 to 1.

    Example:
        ```python
        from ferry_sdk import Ferry
        from ferry_sdk.sandbox import Sandbox

        with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            match = ferry.vehicles.find("fiat panda")[0]
            print(match.query.code, match.booking(identification="AB 123 CD").code)
            # > FIAT__PANDA CAR
        ```
    """

    model: VehicleModel
    score: float

    @property
    def query(self) -> VehicleQuery:
        """The vehicle as a search takes it, by ``BRAND__MODEL``."""
        return VehicleQuery(code=self.model.code or "")

    def booking(self, *, identification: str | None = None) -> Vehicle:
        """Return the vehicle as `bookings.create` takes it, by the code of its type.

        Args:
            identification: The registration plate.
        """
        return Vehicle(
            code=self.model.type or self.model.code or "",
            vehicule_code=self.model.code,
            brand=self.model.brand,
            model=self.model.model,
            identification=identification,
        )


class VehiclesGroup(Resource):
    """Find vehicles by make and model."""

    @method
    def find(self, text: str, *, limit: int = 5) -> Plan[Matches[VehicleMatch]]:
        """Return the vehicles that a text may mean, best first. Small mistakes are forgiven.

        The catalogue is MCP's; it is read once a day.

        Args:
            text: A model such as "golf", a make and a model, or a code such as ``FIAT__500``.
            limit: The most vehicles to return.

        Returns:
            The vehicles; ``.unreadable`` has the records that could not be read.

        Raises:
            InvalidInputError: An argument is invalid; `field` names it.
            FerryError: The catalogue could not be read.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                golf = ferry.vehicles.find("golf")[0]
                print(golf.query.code, golf.booking().code)
                # > VOLKSWAGEN__GOLF CAR
            ```
        """
        wanted = arguments.text(text, "text")
        most = whole_number(limit, "limit", least=1)

        def steps(settings: Settings) -> Flow[Matches[VehicleMatch]]:
            until = catalogues.deadline_of(settings)
            models = yield from catalogues.vehicle_models(settings, until)
            return _matches(models, wanted, most)

        return Plan(steps)


def find_vehicle(settings: Settings, text: str, until: float | None) -> Flow[VehicleMatch]:
    """Return the vehicle that a text names.

    Raises:
        InvalidInputError: No vehicle has exactly this name, or several have it.
        FerryError: The catalogue could not be read.
    """
    models = yield from catalogues.vehicle_models(settings, until)
    return match_called(_matches(models, text), text)


def match_called(matches: Matches[VehicleMatch], text: str) -> VehicleMatch:
    """Return the match whose whole name is the text.

    Raises:
        InvalidInputError: There is none, or there are several; the message suggests some.
    """
    whole = [match for match in matches if match.score == 1]
    if len(whole) == 1:
        return whole[0]

    suggestions = [
        f"{match.model.brand} {match.model.model} ({match.query.code})"
        for match in (whole or matches)[:_SUGGESTIONS]
    ]
    hint = f"; did you mean {' or '.join(suggestions)}?" if suggestions else ""
    problem = f"no vehicle is called exactly {text!r}"
    if matches.unreadable:
        problem = f"no vehicle that could be read is called exactly {text!r}; "
        problem += describe_unreadable(matches.unreadable)
    raise InvalidInputError(f"{problem}{hint}", field="vehicle")


def _matches(
    models: Records[VehicleModel], text: str, most: int | None = None
) -> Matches[VehicleMatch]:
    """Return the vehicles that a text may mean, best first, and at most so many.

    A vehicle without a code, which no search can name, counts as unreadable.
    """
    wanted = fold(text)
    matches: list[VehicleMatch] = []
    without_code: list[Unreadable] = []
    for index, model in numbered(models):
        if model.code is None:
            without_code.append(unusable(index, "code", "no code", record=model))
            continue
        score = _score(model, wanted)
        if score:
            matches.append(VehicleMatch(model, score))
    matches.sort(key=lambda match: (-match.score, match.model.code or ""))

    lost = Records[VehicleModel](unreadable=[*models.unreadable, *without_code])
    return Matches(matches[:most], unreadable_answers("mcp.vehicle_data", lost))


def _score(model: VehicleModel, wanted: str) -> float:
    """Return how well a vehicle matches a folded text.

    1 for a whole name ("Volkswagen Golf"), 0.9 for some words of one ("Volkswagen"), 0.85 for the
    model among other words ("VW Golf"). For anything else, how similarly it is spelled, up to 0.9;
    0 if it is too different.
    """
    model_name = fold(model.model or "")
    names = [fold(f"{model.brand} {model.model}"), model_name, fold(model.code or "")]
    if wanted in names:
        return 1.0
    # With spaces around it, a text begins and ends where a word does.
    if any(f" {wanted} " in f" {name} " for name in names):
        return 0.9
    if model_name and f" {model_name} " in f" {wanted} ":
        return 0.85
    matcher = SequenceMatcher(b=wanted, autojunk=False)
    best = max(similarity(matcher, name, _LEAST_SIMILARITY) for name in names)
    return round(best * 0.9, 3)
