"""The groups of `Ferry.with_raw_response`."""

from ferry_sdk.client.groups import *
from ferry_sdk.resources.groups import Resources

Groups = Resources
