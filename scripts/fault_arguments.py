"""Write the stub with the names of the faults and of their details, from `FaultKind`.

Usage: fault_arguments.py [--check]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import JsonValue

from ferry_sdk.sandbox.faults.kinds import FaultKind

STUB = Path(__file__).parents[1] / "ferry_sdk" / "sandbox" / "faults" / "arguments.pyi"
HEAD = """\
# scripts/api-map writes this file from `FaultKind`.

from typing import Literal, TypeAlias

from pydantic import JsonValue
from typing_extensions import TypedDict

"""


def types_in(annotation: Any) -> set[str]:  # noqa: ANN401 -- of any type
    """Return the names of the types that a value of a field may have."""
    if annotation is JsonValue:
        return {"JsonValue"}
    if get_origin(annotation) is Annotated:
        return types_in(get_args(annotation)[0])
    if get_origin(annotation) is Literal:
        return {type(value).__name__ for value in get_args(annotation)}
    if members := get_args(annotation):
        return set[str]().union(*map(types_in, members))
    if annotation is type(None):
        return {"None"}
    return {annotation.__name__}


def stub() -> str:
    """Return the stub."""
    fields: dict[str, set[str]] = {}
    for kind in FaultKind:
        for name, field in kind.details.model_fields.items():
            fields.setdefault(name, set()).update(types_in(field.annotation))

    names = [f'    "{kind.value}",' for kind in FaultKind]
    details = [
        f"    {field_name}: {' | '.join(sorted(types, key=lambda name: (name == 'None', name)))}"
        for field_name, types in sorted(fields.items())
    ]
    literal = ["FaultName: TypeAlias = Literal[", *names, "]"]
    record = ["class FaultDetails(TypedDict, total=False):", *details]
    return HEAD + "\n".join([*literal, "", *record, ""])


def main(*arguments: str) -> None:
    """Write the stub, or check the one that is there."""
    if "--check" not in arguments:
        STUB.write_text(stub(), encoding="utf-8")
    elif STUB.read_text(encoding="utf-8") != stub():
        sys.exit(f"{STUB.name} differs from FaultKind; run scripts/api-map.")


if __name__ == "__main__":
    main(*sys.argv[1:])
