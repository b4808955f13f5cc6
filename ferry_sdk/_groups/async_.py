"""The groups of `AsyncFerry`."""

from ferry_sdk._groups import *
from ferry_sdk.planning import PlannedResources

Groups = PlannedResources
