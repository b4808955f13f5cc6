"""`ferry scan`: the fares of every day into a folder of Parquet files."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Annotated

from ferry_sdk.cli.terminal.errors import Exit
from ferry_sdk.cli.terminal.options import Common, option
from ferry_sdk.cli.terminal.output import print_result, show_progress, warn
from ferry_sdk.cli.trips.options import ARRIVE, DEPART, PartyOptions, day_option
from ferry_sdk.cli.trips.searches import check_route, vehicle_of
from ferry_sdk.rate.limiter import Rate


def scan(
    *,
    origin: Annotated[str, DEPART],
    destination: Annotated[str, ARRIVE],
    start: Annotated[date, day_option("--from", "First day: 2027-07-01, or +30.")],
    end: Annotated[date, day_option("--to", "Last day.")],
    into: Annotated[Path, option("FOLDER", help="Folder for the Parquet files.")],
    rate: Annotated[int | None, option("N", help="The most requests a second.", min=1)] = None,
    options: PartyOptions,
    common: Common,
) -> Exit:
    """Save the fares of every day as Parquet files. Run it again to go on after an interruption.

    Example: ferry scan Genoa Tunis --from 2027-07-01 --to 2027-07-31 --adult 34F --into fares/
    """
    from ferry_sdk.scan import FareScan, Party  # noqa: PLC0415 -- an extra, which the help does not need

    party = options.party
    limiter = None if rate is None else Rate(f"{rate}/second")
    with common.open_client(limiter=limiter) as ferry:
        with show_progress("Reading the routes"):
            check_route(ferry, origin, destination)
            vehicle = None
            if options.vehicle:
                vehicle = vehicle_of(ferry, options.vehicle).query
        fares = FareScan(
            into,
            routes=[(origin, destination)],
            dates=(start, end),
            parties=[Party("party", party, vehicle)],
            companies=options.companies,
        )
        try:
            report = fares.run(ferry)
        except KeyboardInterrupt as interrupt:
            warn(str(interrupt) or "nothing was asked")
            raise

    document = {"folder": str(into), "report": asdict(report)}
    details = [
        ("searches", report.size),
        ("with sailings", report.answered),
        ("nothing sails", report.nothing),
        ("failed", report.failed or None),
        ("could not be read", report.unreadable or None),
        ("files", into / "*.parquet"),
    ]
    print_result(document, details, as_json=common.as_json)
    if report.failed:
        return Exit.NOT_SENT
    return Exit.DONE if report.answered else Exit.REJECTED
