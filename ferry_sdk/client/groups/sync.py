"""The groups of `Ferry`."""

from ferry_sdk.client.groups import *
from ferry_sdk.planning import PlannedResources

Groups = PlannedResources
