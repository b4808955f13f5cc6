"""The arguments that request a fault; their types are in the stub, which `scripts/api-map` writes.

At run time the models of the details check the values.
"""

from __future__ import annotations

from pydantic import JsonValue

FaultName = str
FaultDetails = dict[str, JsonValue]
