"""The faults of the trial routes, which never end."""

from __future__ import annotations

from collections.abc import Mapping

from ferry_sdk.sandbox.faults.fault import Fault
from ferry_sdk.sandbox.network.network import Network


def trial_faults() -> Mapping[str, tuple[Fault, ...]]:
    """Return the faults of each journey of the trial routes, by its id."""
    return {
        journey.id: tuple(
            Fault.read({**request, "times": None}) for request in journey.route.faults
        )
        for journey in Network.load(with_trials=True).journeys.values()
    }
