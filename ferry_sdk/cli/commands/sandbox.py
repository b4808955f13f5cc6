"""`ferry sandbox` and `ferry demo`: the local service, alone or with the whole journey."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

_TOKEN = "A made-up token of the local service; random if left out."  # noqa: S105 -- words
Token = Annotated[str | None, typer.Option(metavar="TEXT", help=_TOKEN)]
_MOMENT = ["%Y-%m-%dT%H:%M%z", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S.%f%z"]


def _check_moment(moment: datetime | None) -> datetime | None:
    from ferry_sdk.sandbox import Clock  # noqa: PLC0415 -- only where it is asked for

    try:
        Clock(moment)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return moment


def sandbox(
    *,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")
    ] = 8080,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    seed: Annotated[
        int | None,
        typer.Option(help="What times, prices and ids follow from; ids are random if left out."),
    ] = None,
    token: Token = None,
    read_only_token: Token = None,
    organisation_token: Token = None,
    now: Annotated[
        datetime | None,
        typer.Option(
            metavar="MOMENT",
            help="When its clock begins, as 2027-03-01T09:00:00+01:00; real time if left out.",
            formats=_MOMENT,
            callback=_check_moment,
        ),
    ] = None,
    frozen: Annotated[bool, typer.Option("--frozen", help="Its clock stands still.")] = False,
) -> None:
    """Run the local service until Ctrl-C. It prints its address and tokens first."""
    from ferry_sdk.sandbox import serve  # noqa: PLC0415 -- an extra, only where it is asked for

    serve(
        port,
        host=host,
        seed=seed,
        token=token,
        read_only_token=read_only_token,
        organisation_token=organisation_token,
        now=now,
        frozen=frozen,
    )


def demo(
    *,
    folder: Annotated[Path, typer.Option(help="Where vouchers go.")] = Path("vouchers"),
) -> None:
    """Make the whole journey against a local service, by REST and by MCP."""
    from ferry_sdk.cli.demo import run  # noqa: PLC0415 -- the same

    run(folder)
