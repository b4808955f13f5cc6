"""`FareScan`: what is wanted, the folder that holds it, and its runs."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from ferry_sdk._engine import validation
from ferry_sdk._runtime.version import __version__
from ferry_sdk.client import Ferry
from ferry_sdk.errors import ConfigurationError, FerryError, InvalidInputError
from ferry_sdk.planning.request import whole_number
from ferry_sdk.planning.routes import Route
from ferry_sdk.scan.lookup import look_up
from ferry_sdk.scan.parts import Part, read_report, read_rows
from ferry_sdk.scan.progress import show_progress
from ferry_sdk.scan.report import ScanReport
from ferry_sdk.scan.request import AnyRoutes, ScanRequest
from ferry_sdk.scan.runner import PartResult, run_here, run_with_executor
from ferry_sdk.scan.searches import CompanyRoute, Party, SearchList
from ferry_sdk.scan.steps import AnyClient, MakeClient
from ferry_sdk.scan.storage import (
    FORMAT,
    Manifest,
    lock,
    part_path,
    read_manifest,
    unusable,
    write_manifest,
)

if TYPE_CHECKING:
    from ferry_sdk.notebook.frames import By, DataFrame, MoneyAs

logger: logging.Logger = logging.getLogger("ferry_sdk")

_MOST_RUNS: Final = 100
"""The runs that a manifest keeps, at most."""
_MOST_REASONS: Final = 100
"""The reasons that it keeps of a run, at most."""


class FareScan:
    """The fares of routes, on every day, for several parties, in a folder of Parquet files.

    The searches are asked in parts, and each part has a file, which is written whole. What is
    there is done: a scan that was stopped or killed goes on with what is missing.

    Args:
        folder: The folder. It is made if it does not exist.
        routes: Pairs of places, as `trips.search` takes them, or routes of `routes.find`; or
            "all": every route of the service.
        dates: The first and the last day, local to the port; dates or YYYY-MM-DD.
        parties: The travellers, each with a name.
        companies: Only these, as a search takes them; None: all that sail. With "all", each is
            asked on the routes that it is known to sail.
        part_size: The searches of a part, from 20 to 100.

    Attributes:
        folder: The folder.

    Raises:
        InvalidInputError: An argument is invalid; `field` names it.

    Example:
        ```python
        from datetime import date, timedelta

        from ferry_sdk import Ferry
        from ferry_sdk.sandbox import Sandbox
        from ferry_sdk.scan import FareScan, Party

        day = date.today() + timedelta(days=30)
        party = Party("lone", [{"type": "Adult", "gender": "Female", "age": 34}])
        scan = FareScan("fares", routes=[("Genoa", "Tunis")], dates=(day, day), parties=[party])
        with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            print(scan.plan(ferry), "searches")
            # > 2 searches
            scan.run(ferry)
            print(len(scan.to_frame()), "rows")
            # > 2 rows
        ```
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        routes: AnyRoutes,
        dates: tuple[date | str, date | str],
        parties: Sequence[Party],
        companies: Sequence[str] | None = None,
        part_size: int = 50,
    ) -> None:
        self.folder: Path = validation.folder(folder, "folder")
        self._request = ScanRequest(
            routes=routes,
            dates=dates,
            parties=parties,
            companies=companies,
            part_size=part_size,
        )
        self._report = ScanReport()

        # Pairs of places, and "all", are looked up later; routes of `routes.find` need no look-up.
        self._routes: list[CompanyRoute] | None = None
        self._unreadable: Mapping[str, int] = {}
        if not isinstance(routes, str):
            looked_up = [route for route in routes if isinstance(route, Route)]
            if len(looked_up) == len(routes):
                self._routes = self._request.company_routes(looked_up)

    @property
    def size(self) -> int:
        """The number of searches: one for each company's route, day and party.

        The catalogues say who sails where. They were read before if the scan has a folder or was
        planned, and routes of `routes.find` do not need them. Otherwise they are read now, with a
        client of ``FERRY_TOKEN`` and ``FERRY_BASE_URL``.

        Raises:
            ConfigurationError: They have to be read, and there are no such variables.
            FerryError: They could not be read.
        """
        _, searches = self._searches()
        return len(searches)

    @property
    def report(self) -> ScanReport:
        """The progress of the scan, read from the folder.

        Raises:
            InvalidInputError: The folder holds another scan.
            FerryError: The size is not known; see `size`.
        """
        return sum(self._reports(), self._report_of_catalogues())

    def plan(self, client: AnyClient | MakeClient) -> int:
        """Read the catalogues, send no search, and return the size.

        Args:
            client: A client, or a function that makes one.

        Raises:
            InvalidInputError: No company sails a route, or none is known; `field` names it.
            FerryError: The catalogues could not be read.
        """
        if self._manifest() is None:
            found = look_up(client, self._request)
            self._routes = found.routes
            self._unreadable = found.unreadable
        return self.size

    def run(
        self,
        client: AnyClient | MakeClient,
        *,
        executor: Executor | None = None,
        workers: int = 4,
        concurrency: int = 16,
    ) -> ScanReport:
        """Ask the searches that have not been answered, and write their parts.

        It is not awaited: it has an event loop of its own, and so it works in a notebook. An
        `AsyncFerry` needs less CPU than a `Ferry`, which is used in threads. At Ctrl-C it writes
        the answers that it has, and ends.

        Args:
            client: A client, or a function that makes one; an executor needs a function, and a
                process pool one that can be pickled.
            executor: Any executor of `concurrent.futures`. Its workers have to see the folder.
            workers: The most parts at the same time in an executor.
            concurrency: The most searches at the same time, of each worker.

        Returns:
            How far the scan is. A search that failed is in ``.failed``; the next run repeats it.

        Raises:
            InvalidInputError: The folder holds another scan, another process scans into it, or an
                argument is invalid.
            AuthenticationError: The token is invalid.
            FerryError: The catalogues could not be read, or the service cannot be reached.
            OSError: A file could not be written. The others stay as they are.
            concurrent.futures.BrokenExecutor: A worker was killed. Run the scan again with a new
                executor.

        Example:
            ```python
            from datetime import date, timedelta

            from ferry_sdk import AsyncFerry, SearchPassengerDict
            from ferry_sdk.sandbox import Sandbox
            from ferry_sdk.scan import FareScan, Party

            start = date.today() + timedelta(days=30)
            adult: SearchPassengerDict = {"type": "Adult", "gender": "Female", "age": 34}
            couple = Party("couple", [adult, adult])
            scan = FareScan(
                "fares",
                routes=[("Genoa", "Tunis")],
                dates=(start, start + timedelta(days=6)),
                parties=[couple],
            )
            with Sandbox() as sandbox:
                report = scan.run(AsyncFerry(sandbox.token, base_url=sandbox.base_url))
                print(report.size, "searches,", report.failed, "failed")
                # > 14 searches, 0 failed
            ```
        """
        whole_number(workers, "workers", least=1)
        whole_number(concurrency, "concurrency", least=1)
        if executor is not None and isinstance(client, AnyClient):
            raise InvalidInputError("an executor needs a function that makes one", field="client")

        with lock(self.folder):
            self._open(client)
            parts = self._missing_parts()
            done_before = self._report.done
            with self._note_run(), show_progress(lambda: self._report) as show:

                def take(result: PartResult) -> None:
                    self._report += result.change
                    # Nothing was answered in this run, so the service is not there at all.
                    if result.unreachable is not None and self._report.done == done_before:
                        raise result.unreachable
                    show()

                if executor is None:
                    run_here(client, concurrency, parts, take=take)
                else:
                    make: Any = client
                    run_with_executor(
                        executor,
                        make,
                        workers=workers,
                        concurrency=concurrency,
                        parts=parts,
                        take=take,
                    )

        if self._report.failed:
            logger.warning(
                "%d of %d searches failed; run again to repeat them",
                self._report.failed,
                self._report.size,
            )
        if self._report.unreadable:
            logger.warning(
                "%d records could not be read; report.reasons says why", self._report.unreadable
            )
        return self._report

    def to_frame(self, *, by: By = "record", money: MoneyAs = "decimal") -> DataFrame:
        """Return the rows of the folder as a pandas frame. Requires the extra ``notebook``.

        Args:
            by: The content of a row: a ``"record"``, which is a row of the files, or a
                ``"tariff"``, without the rows of searches that found no fare, and of sailings that
                could not be read: a warning in the log counts these.
            money: The type of amounts: exact ``"decimal"`` objects, or ``"float"``.

        Raises:
            InvalidInputError: The folder holds another scan, or an option has another value.
            ModuleNotFoundError: pandas is not installed.
        """
        from ferry_sdk.notebook.frames import check_options  # noqa: PLC0415 -- loads pandas

        check_options(by, money)
        scan, searches = self._searches()
        paths = (part_path(self.folder, number) for number in range(searches.part_count))
        rows = read_rows(paths, scan)

        if by == "tariff":
            unreadable = rows["status"].to_pylist().count("unreadable")
            if unreadable:
                logger.warning(
                    '%d prices or sailings could not be read; by="record" shows them', unreadable
                )
            rows = rows.filter(rows["price"].is_valid())

        exact: Any = rows.to_pandas(date_as_object=False)
        frame: DataFrame = exact.astype({"price": "float64"}) if money == "float" else exact
        return frame

    def __repr__(self) -> str:
        return f"FareScan({str(self.folder)!r})"

    def _searches(self) -> tuple[str, SearchList]:
        """Return the scan's id and its searches, from the manifest if there is one."""
        manifest = self._manifest()
        if manifest is not None:
            return manifest["scan"], self._searches_of(manifest)

        if self._routes is None:
            try:
                with Ferry() as client:
                    self.plan(client)
            except ConfigurationError as error:
                raise ConfigurationError(
                    "the routes are not known: call plan(client) first, or set FERRY_TOKEN and "
                    f"FERRY_BASE_URL ({error})"
                ) from error
        return "", self._request.searches(self._routes or ())

    def _manifest(self) -> Manifest | None:
        """Return the manifest of the folder; None if there is none.

        Raises:
            InvalidInputError: It cannot be read, or is the manifest of another scan.
        """
        manifest = read_manifest(self.folder)
        if manifest is None:
            return None

        wanted = json.loads(json.dumps(self._request.members))  # with lists in place of tuples
        other = [name for name, value in wanted.items() if manifest["asked"].get(name) != value]
        if other:
            raise unusable(f"it holds a scan with other {', '.join(other)}")
        if len(self._searches_of(manifest)) != manifest["size"]:
            raise unusable("the size in scan.json is not that of its routes")
        return manifest

    def _searches_of(self, manifest: Manifest) -> SearchList:
        """Return the searches of a manifest."""
        routes = [CompanyRoute(*members) for members in manifest["company_routes"]]
        return self._request.searches(routes)

    def _open(self, client: AnyClient | MakeClient) -> None:
        """Write the manifest, or check that the one in the folder is of the client's service."""
        manifest = self._manifest()
        request = self._request if manifest is None else None
        found = look_up(client, request)

        if manifest is None:
            searches = self._request.searches(found.routes)
            first: Manifest = {
                "format": FORMAT,
                "library": __version__,
                "scan": uuid4().hex,
                "created_at": str(datetime.now(UTC)),
                "service": found.base_url,
                "asked": self._request.members,
                "size": len(searches),
                "part_count": searches.part_count,
                "company_routes": [*found.routes],
                "runs": [],
            }
            if found.unreadable:
                first["unreadable"] = {**found.unreadable}
            write_manifest(self.folder, first)
        elif manifest["service"] != found.base_url:
            raise InvalidInputError(
                f"it holds a scan of {manifest['service']}, not of {found.base_url}; use another "
                "folder, or a service whose address stays the same, such as Sandbox(port=8080)",
                field="folder",
            )

    def _reports(self) -> Iterator[ScanReport]:
        """Yield the report of each part. A part without a file has only its size."""
        scan, searches = self._searches()
        for number in range(searches.part_count):
            report = read_report(part_path(self.folder, number), scan)
            if report is None:
                report = ScanReport(size=len(searches.part(number)))
            yield report

    def _report_of_catalogues(self) -> ScanReport:
        """Return a report of the catalogues' records that could not be read, and nothing else."""
        manifest = self._manifest()
        unreadable = self._unreadable if manifest is None else manifest.get("unreadable", {})
        reasons = {
            f"{operation}: routes may be missing": number
            for operation, number in unreadable.items()
        }
        return ScanReport(unreadable=sum(unreadable.values()), reasons=reasons)

    def _missing_parts(self) -> Iterator[Part]:
        """Return the parts with searches that are not done, and begin the report of the run."""
        scan, searches = self._searches()
        reports = [*self._reports()]
        total = sum(reports, self._report_of_catalogues())
        self._report = replace(total, failed=0, reasons={})  # what failed before is repeated

        run = uuid4().hex
        folder = self.folder.absolute()
        return (
            Part(part_path(folder, number), scan, searches=searches.part(number), run=run)
            for number, report in enumerate(reports)
            if not report.is_complete
        )

    @contextmanager
    def _note_run(self) -> Generator[None, None, None]:
        """Add the run in this block to the manifest."""
        began_at = datetime.now(UTC)

        def add_run(error: BaseException | None) -> None:
            self._report = self.report
            manifest = read_manifest(self.folder)
            if manifest is None:  # removed by another program while the scan ran
                return

            reasons = dict(Counter(self._report.reasons).most_common(_MOST_REASONS))
            run: dict[str, Any] = {
                "library": __version__,
                "began_at": str(began_at),
                "ended_at": str(datetime.now(UTC)),
                "error": _problem_of(error),
                **asdict(self._report),
                "reasons": reasons,
            }
            manifest["runs"] = [*manifest["runs"], run][-_MOST_RUNS:]
            write_manifest(self.folder, manifest)

        try:
            yield
        except BaseException as error:
            with suppress(OSError, FerryError):  # the error of the run is the one to know
                add_run(error)
            if isinstance(error, KeyboardInterrupt):
                raise KeyboardInterrupt(
                    f"{self._report.done} of {self._report.size} searches are in {self.folder}; "
                    "run the scan again to go on"
                ) from None
            raise
        add_run(None)


def _problem_of(error: BaseException | None) -> str | None:
    """Return an error for the manifest. What a caller's own code raises may contain a secret."""
    if error is None:
        return None
    name = type(error).__name__
    return f"{name}: {error}" if isinstance(error, FerryError | OSError) else name
