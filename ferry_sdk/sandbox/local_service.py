"""The local service: its parts on a port."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ferry_sdk.models.enums import Stage
from ferry_sdk.sandbox.api import rest
from ferry_sdk.sandbox.api.control import Control
from ferry_sdk.sandbox.api.mcp.endpoint import McpEndpoint
from ferry_sdk.sandbox.api.openapi import pages
from ferry_sdk.sandbox.bookings.state import SandboxState
from ferry_sdk.sandbox.clock import Clock
from ferry_sdk.sandbox.counters import Counters
from ferry_sdk.sandbox.faults.faults import Faults
from ferry_sdk.sandbox.faults.mcp_options import McpOptions, McpSwitches
from ferry_sdk.sandbox.faults.trial_faults import trial_faults
from ferry_sdk.sandbox.http.conventions import apply_conventions
from ferry_sdk.sandbox.http.server import HttpServer
from ferry_sdk.sandbox.network.network import Network
from ferry_sdk.sandbox.network.seeded_random import Ids, SeededRandom
from ferry_sdk.sandbox.offers.inventory import Inventory
from ferry_sdk.sandbox.offers.offers import Offers
from ferry_sdk.sandbox.profile import Profile
from ferry_sdk.sandbox.request_log import RequestLog
from ferry_sdk.sandbox.requests.access import Account, Tokens, check_names, random_token
from ferry_sdk.sandbox.requests.control import BookingToMake
from ferry_sdk.sandbox.requests.errors import parse_fields
from ferry_sdk.sandbox.service import Service

if TYPE_CHECKING:
    from ferry_sdk.models.bookings import Booking

_UNSPECIFIED_HOSTS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 -- named here, bound on request


class LocalService:
    """A ferry ticketing service on this machine, over HTTP.

    Bookings, clock and counters survive `stop` and `start`; `reset` clears them.
    """

    def __init__(
        self,
        *,
        seed: int | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str | None = None,
        read_only_token: str | None = None,
        organisation_token: str | None = None,
        control_token: str | None = None,
        accounts: Sequence[str] = (),
        mcp: McpOptions | None = None,
        profile: Profile | str | os.PathLike[str] | None = None,
        now: datetime | None = None,
        frozen: bool = False,
        state: str | os.PathLike[str] | None = None,
        inventory: bool = False,
        log: bool = False,
    ) -> None:
        """Create a service without starting it.

        Args:
            seed: Determines the timetable, the prices, the availability and all ids. By default
                the seed is 1, and the ids of bookings and tickets are random.
            host: The address to listen on.
            port: The port to listen on; 0 finds a free port at the first start and keeps it.
            token: The read-write token; by default all three tokens are random. Of several
                accounts, the first has these tokens, and the others have random ones.
            read_only_token: The token that can only read.
            organisation_token: The token that can do everything, including recording payments.
            control_token: Opens `/_sandbox/…` to other machines, and nothing else; by default only
                this machine can use the controls.
            accounts: The names of the accounts, each of 1 to 64 printable ASCII characters; by
                default there is one, `default`. Each has bookings, MCP sessions and tokens of its
                own, and does not know the ids of another one.
            mcp: The initial options of `/mcp`; a profile changes them.
            profile: What the service does where the interface leaves it open, or a file of it.
            now: The initial time of the clock, with a time zone; by default the real time.
            frozen: Whether the clock starts frozen.
            state: A private file for bookings and clock, which the service reads when it starts
                and writes while it runs; by default they are only in memory.
            inventory: Whether bookings take places, which come back when they are cancelled, expire
                or fail; by default a search finds the same places after each booking.
            log: Whether each request is a line on standard error.

        Raises:
            InvalidOrderError: The profile has an unknown id or value, or the name of an account is
                invalid or repeated; a `ValueError`.
            OSError: The profile cannot be read.
            ValueError: `now` has no time zone, or is not in the years 1970 to 2199; or the control
                token is another token too.
        """
        self._clock = Clock(now, frozen=frozen)
        self._faults = Faults(trial_faults())
        self._counters = Counters(self.clock)
        self._request_log = RequestLog(self.clock, prints=log)

        if profile is not None and not isinstance(profile, Profile):
            profile = Profile.load(profile)
        self._profile = profile or Profile()
        # The fields `mcp_result`, `mcp_error`, … of a profile are options of `/mcp`.
        changes = {
            name.removeprefix("mcp_"): value
            for name, value in self.profile.model_dump(exclude_defaults=True).items()
            if name.startswith("mcp_")
        }
        self._mcp = McpSwitches((mcp or McpOptions()).changed(**changes))

        self._network = Network.load()
        first, *others = check_names(accounts)
        all_accounts = {
            first: Account(
                name=first,
                token=token or random_token("rw"),
                read_only_token=read_only_token or random_token("ro"),
                organisation_token=organisation_token or random_token("org"),
            )
        }
        for name in others:
            all_accounts[name] = Account(
                name=name,
                token=random_token("rw"),
                read_only_token=random_token("ro"),
                organisation_token=random_token("org"),
            )
        self._first_account = all_accounts[first]
        self._tokens = Tokens(MappingProxyType(all_accounts), control=control_token or None)
        self._seed = seed
        self._state_path = state
        self._counts_bookings = inventory
        self._state: SandboxState | None = None
        self._host = host
        self._port = port
        self._server: HttpServer | None = None
        self._starting = threading.Lock()
        self._build()

    @property
    def clock(self) -> Clock:
        """The time of the service, which tests can move."""
        return self._clock

    @property
    def faults(self) -> Faults:
        """The faults to inject."""
        return self._faults

    @property
    def counters(self) -> Counters:
        """The requests, effects and connections so far."""
        return self._counters

    @property
    def request_log(self) -> RequestLog:
        """The latest requests."""
        return self._request_log

    @property
    def mcp(self) -> McpSwitches:
        """The options of `/mcp`."""
        return self._mcp

    @property
    def profile(self) -> Profile:
        """What the service does where the interface leaves it open."""
        return self._profile

    @property
    def network(self) -> Network:
        """The ports, companies and journeys."""
        return self._network

    @property
    def service(self) -> Service:
        """Every operation without HTTP; a new object after each `reset`."""
        return self._service

    @property
    def accounts(self) -> Mapping[str, Account]:
        """The accounts by name, in order; if none was named, there is one, `default`."""
        return self._tokens.accounts

    @property
    def token(self) -> str:
        """The token that can read and write; of several accounts, that of the first."""
        return self._first_account.token

    @property
    def read_only_token(self) -> str:
        """The token that can only read; of several accounts, that of the first."""
        return self._first_account.read_only_token

    @property
    def organisation_token(self) -> str:
        """The token that can do everything, including recording payments; that of the first."""
        return self._first_account.organisation_token

    @property
    def base_url(self) -> str:
        """The URL of the service, without a trailing slash.

        Raises:
            RuntimeError: The port is chosen at the first start, which has not happened yet.
        """
        if self._port == 0:
            raise RuntimeError("the service has no address before its first start")
        host = _UNSPECIFIED_HOSTS.get(self._host, self._host)
        if ":" in host:  # an address of IPv6
            host = f"[{host}]"
        return f"http://{host}:{self._port}"

    @property
    def running(self) -> bool:
        """Whether the service is listening."""
        return self._server is not None

    def make_booking(
        self,
        stage: Stage | str = Stage.TICKETED,
        *,
        tickets: int = 1,
        company: str | None = None,
        departs_in: timedelta = timedelta(days=30),
        account: str | None = None,
    ) -> Booking:
        """Make a booking in a stage, and return it as a client reads it.

        It makes no request, moves no clock, takes no fault, and is not among the effects. A booking
        `in_progress` is issued after ten seconds of the service's clock.

        Args:
            stage: The stage. `partially_ticketed` and `partially_voided` have two tickets.
            tickets: 1, or 2 for a round trip of two tickets.
            company: The company, by its code or its id; one with many sailings by default.
            departs_in: The time until the earliest departure; the next sailing is booked.
            account: The name of the account that it belongs to; by default the first.

        Raises:
            InvalidOrderError: An argument is invalid, the company issues one ticket for a round
                trip, or it does not sail within a year after that time; a `ValueError`.
            RuntimeError: The service has no address before its first start.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                booking = sandbox.make_booking("issuance_due", tickets=2)
                for name, action in ferry.bookings.get(booking.booking_id).next_actions():
                    print(name, action.type)
                    # > Issue mandatory
                    # > Cancel optional
            ```
        """
        from ferry_sdk.models.bookings import Booking  # noqa: PLC0415 -- slow to import

        fields = {
            "stage": stage,
            "tickets": tickets,
            "company": company,
            "departs_in": departs_in,
            "account": account,
        }
        order = parse_fields(BookingToMake, fields)
        return Booking.model_validate(self.service.prepare(order, self.base_url))

    def reset(self) -> None:
        """Clear bookings, offers, faults, counters and sessions; restore clock and options.

        The address, the tokens and open connections are kept.
        """
        if self._state is not None:
            self.service.detach()
            self._state.clear()
        self._build()
        self.faults.clear()
        self.mcp.reset()
        self.clock.reset()
        self.counters.reset()
        self.request_log.clear()

    def _open(self) -> None:
        with self._starting:
            if self._server is not None:
                raise RuntimeError("the service is already running")

            try:
                if self._state_path is not None:
                    self._state = SandboxState(self._state_path)
                    self._build()
                    self.clock.persist(self._state.clock, self._state.save_clock)
                self._server = HttpServer(self._serve, self.counters, self._host, self._port)
            except BaseException:
                self._close_state()
                raise
            self._port = self._server.port

    def _close(self) -> None:
        with self._starting:
            if self._server is not None:
                self._server.stop()
                self._server = None
                self._close_state()

    def _close_state(self) -> None:
        if self._state is not None:
            self.service.detach()
            self.clock.persist(None, None)
            self._state.close()
            self._state = None

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    def _build(self) -> None:
        """Make the operations and the routes, without bookings or with those of the state file."""
        if self._seed is None:
            offers_seed = 1
            ids_random = None
        else:
            offers_seed = self._seed
            ids_random = SeededRandom(self._seed)
        used_ids = 0 if self._state is None else self._state.used_ids

        service = Service(
            clock=self.clock,
            offers=Offers(
                self.clock,
                offers_seed,
                inventory=Inventory(counts_bookings=self._counts_bookings),
                profile=self.profile,
            ),
            faults=self.faults,
            counters=self.counters,
            accounts=tuple(self.accounts),
            ids=Ids(ids_random, used_ids),
            state=self._state,
        )
        self._service = service

        mcp = McpEndpoint(service=service, tokens=self._tokens, switches=self.mcp, host=self._host)
        control = Control(
            service=service,
            switches=self.mcp,
            tokens=self._tokens,
            log=self.request_log,
            reset=self.reset,
        )
        routes = [
            *rest.routes(service, self._tokens),
            *pages.routes(),
            Route("/mcp", mcp.respond, methods=["POST", "DELETE"]),
            *control.routes(),
        ]
        app = Starlette(routes=routes)
        self._app = apply_conventions(
            app, clock=self.clock, log=self.request_log, profile=self.profile
        )
