"""What the doctor finds: lines that are well, doubtful or wrong."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from ferry_sdk.cli.terminal.exit_codes import Exit

State = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's.

    Attributes:
        part: What was looked at: configuration, connection, token, clock or versions.
        name: Which of it.
        state: Whether it is well.
        said: What was found; never a secret.
        exit_code: What the command ends with if nothing worse is found.
    """

    part: str
    name: str
    state: State
    said: str
    exit_code: Exit = Exit.DONE

    def members(self) -> dict[str, object]:
        """The finding as a JSON document shows it."""
        return {name: value for name, value in asdict(self).items() if name != "exit_code"}
