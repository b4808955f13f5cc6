"""The faults of the trial routes, which never end."""

from __future__ import annotations

from collections.abc import Mapping

from ferry_sdk.sandbox.faults.fault import Fault
from ferry_sdk.sandbox.network.network import Network


def trial_faults() -> Mapping[str, tuple[Fault, ...]]:
    """Return the faults of each journey of the trial routes, by its id."""
    faults: dict[str, tuple[Fault, ...]] = {}
    for journey in Network.load(with_trials=True).journeys.values():
        requests = journey.route.faults
        faults[journey.id] = tuple(Fault.read({**each, "times": None}) for each in requests)
    return faults
