"""`ferry sandbox`: the local service."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from ferry_sdk.cli.terminal.options import option, parse_moment_with_zone


def _check_moment(moment: datetime | None) -> datetime | None:
    from ferry_sdk.sandbox import Clock  # noqa: PLC0415 -- an extra, which the help does not need

    try:
        Clock(moment)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return moment


_Now = Annotated[
    datetime | None, option("MOMENT", parse=parse_moment_with_zone, callback=_check_moment)
]


@dataclass(frozen=True)
class ServiceOptions:
    """The options of `ferry sandbox`, which are those of `sandbox.serve`.

    Attributes:
        port: Port; 0 selects a free one.
        host: The address to listen on.
        seed: Seed of times, prices and ids; ids are random by default.
        token: Access token; random by default.
        read_only_token: Token that can only read; random by default.
        organisation_token: Token of the organisation; random by default.
        account: Name of an account with bookings of its own; repeat it for several.
        control_token: Token that opens /_sandbox/… to other machines; closed by default.
        profile: Behave as this file of assumptions and values says.
        now: Start of its clock, such as 2027-03-01T09:00:00+01:00; default: real time.
        frozen: Stop its clock.
        state: Keep bookings and clock in this private file.
        inventory: Let bookings take places, which then run out.
        log: Write a line for each request to standard error.
    """

    port: Annotated[int, option("PORT", min=0, max=65535)] = 8080
    host: Annotated[str, option("HOST")] = "127.0.0.1"
    seed: Annotated[int | None, option("N")] = None
    token: Annotated[str | None, option("TEXT")] = None
    read_only_token: Annotated[str | None, option("TEXT")] = None
    organisation_token: Annotated[str | None, option("TEXT")] = None
    account: Annotated[list[str] | None, option("NAME")] = None
    control_token: Annotated[str | None, option("TEXT")] = None
    profile: Annotated[Path | None, option("FILE")] = None
    now: _Now = None
    frozen: Annotated[bool, typer.Option("--frozen")] = False
    state: Annotated[Path | None, option("FILE")] = None
    inventory: Annotated[bool, typer.Option("--inventory")] = False
    log: Annotated[bool, typer.Option("--log")] = False


def sandbox(*, options: ServiceOptions) -> None:
    """Run the local service until Ctrl-C. Prints its address and tokens first.

    A variable sets an option that is left out: FERRY_SANDBOX_PORT=8081 is --port 8081, and
    FERRY_SANDBOX_READ_ONLY_TOKEN is --read-only-token.
    """
    from ferry_sdk.sandbox import serve  # noqa: PLC0415 -- the same

    try:
        values = {**vars(options)}
        serve(accounts=values.pop("account") or (), **values)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
