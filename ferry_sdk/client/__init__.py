"""`Ferry` and `AsyncFerry`: settings in, resources out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from copy import copy
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar

from ferry_sdk._engine.batch import Plan
from ferry_sdk._engine.context import Context, Result
from ferry_sdk._engine.effects import Flow
from ferry_sdk._engine.flow import recover
from ferry_sdk._engine.operation import ReadBack
from ferry_sdk._engine.safety import SAFETY
from ferry_sdk._engine.settings import DEFAULT_TIMEOUT, Settings, check_options, read_settings
from ferry_sdk._engine.validation import extra_headers as check_headers
from ferry_sdk._runtime.threads import load_module
from ferry_sdk._transport.async_ import AsyncRawTransport, AsyncTransport
from ferry_sdk._transport.sync import RawTransport, Transport
from ferry_sdk.client.groups import async_, async_raw, raw, sync
from ferry_sdk.errors import FerryError, InvalidInputError, OutcomeUnknownError, trim
from ferry_sdk.hooks import EventHooks, build_hooks
from ferry_sdk.resources.base import bind
from ferry_sdk.types import JournalEntry, RateLimiter, Recorder, RequestDigest

if TYPE_CHECKING:
    # Jedi would also offer the attributes of `lazy_attribute` itself.
    from builtins import property as lazy_attribute

    from pydantic import JsonValue

    from ferry_sdk._engine.http import Timeout
    from ferry_sdk._transport.http_client import AsyncHttpClient, HttpClient
    from ferry_sdk.resources.read_back import Recovered
else:
    from ferry_sdk._runtime.lazy import lazy_attribute


class Unset:
    """The type of `UNSET`, the default of arguments for which None is a value."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset()

ClientTransportT_co = TypeVar(
    "ClientTransportT_co", bound=Transport | AsyncTransport, covariant=True
)
TransportT = TypeVar("TransportT", bound=Transport | AsyncTransport)
ClientT = TypeVar("ClientT", bound="Client[Any]")


class Client(Generic[ClientTransportT_co]):
    """The common base of `Ferry` and `AsyncFerry`."""

    _owns_pool = False

    def __init__(self, transport: ClientTransportT_co) -> None:
        self._transport = transport

    def with_options(  # noqa: PYI019 -- Jedi reads `Self` as `Client`
        self: ClientT,
        *,
        timeout: float | Timeout | Unset | None = UNSET,
        deadline: float | Unset | None = UNSET,
        max_retries: int | Unset = UNSET,
        language: str | Unset | None = UNSET,
        correlation_id: str | Unset | None = UNSET,
        read_only: bool | Unset = UNSET,
        extra_headers: Mapping[str, str] | Unset = UNSET,
        token: str | Callable[[], str | Awaitable[str]] | Unset = UNSET,
        organisation_token: str | Callable[[], str | Awaitable[str]] | Unset | None = UNSET,
        journal: Recorder | Unset | None = UNSET,
        limiter: RateLimiter | Unset | None = UNSET,
        label: str | Unset | None = UNSET,
    ) -> ClientT:
        """Return a view of this client with other settings, on the same connections.

        The view of a subclass has the attributes that the subclass has added.

        A view with another token is another account. It shares the connections with this one, and
        neither the MCP session, nor a token that a function returned, nor routes and names of
        places, nor requests. What it learns is kept as long as the view, so keep the view.

        Args:
            timeout: As for the client.
            deadline: As for the client; None: no limit.
            max_retries: As for the client.
            language: As for the client; None: none.
            correlation_id: The id of every call of the view; None: the context's, or a new one.
            read_only: Reject every write; a read-only client cannot be made writable.
            extra_headers: Added to the headers of the client.
            token: As for the client. Another one leaves the organisation token behind.
            organisation_token: As for the client; None: none.
            journal: As for the client; None: none.
            limiter: As for the client; None: no limit.
            label: As for the client; None: no label.

        Raises:
            InvalidInputError: An option is invalid; `field` names it.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                french = ferry.with_options(language="fr", deadline=10)
                print(french.places.get("ITGOA").name)
                # > Gênes
            ```
        """
        settings = self._transport.settings
        every_option = {
            "timeout": timeout,
            "deadline": deadline,
            "max_retries": max_retries,
            "language": language,
            "correlation_id": correlation_id,
            "read_only": read_only,
            "token": token,
            "organisation_token": organisation_token,
            "journal": journal,
            "limiter": limiter,
            "label": label,
        }
        options = {name: value for name, value in every_option.items() if value is not UNSET}
        # Only these values are compared: `check_options` refuses any other, such as an array.
        is_comparable = callable(token) or isinstance(token, str)
        if is_comparable and token == settings.token.source:
            del options["token"]
        elif "token" in options:  # another account, which has no right to the organisation's token
            options.setdefault("organisation_token", None)

        changes = check_options(options, is_async=isinstance(self._transport, AsyncTransport))
        if settings.read_only and not changes.get("read_only", True):
            raise InvalidInputError("a read-only client cannot be made writable", field="read_only")

        if not isinstance(extra_headers, Unset):
            added = check_headers(extra_headers, "extra_headers")
            changes["headers"] = {**settings.headers, **added}

        return view_of(self, self._transport.view(replace(settings, **changes)))


def view_of(client: ClientT, transport: Transport | AsyncTransport) -> ClientT:
    """Return a view of a client whose calls another transport performs.

    The view of a subclass has the attributes that the subclass added. Those that are made on first
    use are made anew, because they may hold the transport of the client.
    """
    view = copy(client)
    attributes = vars(view)
    for name in [*attributes]:
        if isinstance(getattr(type(view), name, None), cached_property):
            del attributes[name]
    attributes["_transport"] = transport
    attributes["_owns_pool"] = False
    return view


def transport_of(client: Client[TransportT]) -> TransportT:
    """Return what performs the calls; the attribute is private, so that editors do not offer it."""
    return client._transport  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] -- of this package


class Ferry(Client[Transport], sync.Groups):
    """A client of the ferry ticketing service; safe to share between threads.

    Args:
        token: The access token, or a function that returns it; else ``FERRY_TOKEN``.
        base_url: The service's address; else ``FERRY_BASE_URL``.
        allow_http: Accept plain http to other machines; ``FERRY_ALLOW_HTTP=1`` does as well.
        organisation_token: The token of `tickets.mark_paid` only; else
            ``FERRY_ORGANISATION_TOKEN``.
        language: Language of names and messages, as Accept-Language; else ``FERRY_LANGUAGE``.
        client_version: Sent as x-client-version.
        timeout: Seconds for each step of an attempt, or a `Timeout`; None: no limit.
        deadline: Seconds for the whole call: connecting, the reply, waits, retries and reading
            back; None: no limit.
        max_retries: How often a request is retried, if that is safe.
        read_only: Reject every write before it is sent.
        http_client: Your own ``httpx.Client`` (or httpx2's); it is not closed.
        default_headers: Additional headers of every request.
        limiter: Asked before every request, such as a `Rate`; None: no limit.
        route_cache: A folder in which the route graph is kept; None: it is kept in memory.
        journal: Records every write, as `ferry_sdk.journal.Journal` does.
        event_hooks: Functions to call for each event of `EventHooks`, such as every outcome.
        label: A word for whoever's calls these are, such as an account: 1 to 64 printable ASCII
            characters without white space. Hooks, log records, spans and metrics have it; it is
            never sent.

    Raises:
        ConfigurationError: A setting is missing or invalid; the message names it.

    Example:
        ```python
        from ferry_sdk import Ferry
        from ferry_sdk.sandbox import Sandbox

        with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
            print(len(ferry.catalogue.ports()), "ports")
            # > 183 ports
        ```
    """

    def __init__(
        self,
        token: str | Callable[[], str] | None = None,
        *,
        base_url: str | None = None,
        allow_http: bool = False,
        organisation_token: str | Callable[[], str] | None = None,
        language: str | None = None,
        client_version: str | int | None = None,
        timeout: float | Timeout | None = DEFAULT_TIMEOUT,
        deadline: float | None = None,
        max_retries: int = 2,
        read_only: bool = False,
        http_client: HttpClient | None = None,
        default_headers: Mapping[str, str] | None = None,
        limiter: RateLimiter | None = None,
        route_cache: str | Path | None = None,
        journal: Recorder | None = None,
        event_hooks: EventHooks | None = None,
        label: str | None = None,
    ) -> None:
        hooks = build_hooks(event_hooks, may_be_async=False)

        settings = read_settings(
            token=token,
            base_url=base_url,
            allow_http=allow_http,
            organisation_token=organisation_token,
            language=language,
            client_version=client_version,
            timeout=timeout,
            deadline=deadline,
            max_retries=max_retries,
            read_only=read_only,
            default_headers=default_headers,
            route_cache=route_cache,
            journal=journal,
            hooks=hooks,
            http_client=http_client,
            limiter=limiter,
            label=label,
            is_async=False,
        )

        super().__init__(Transport(settings, http_client))
        self._owns_pool = http_client is None

    @lazy_attribute
    def with_raw_response(self) -> raw.Groups:
        """The same calls, each returning a `RawResponse`."""
        return raw.Groups(RawTransport(self._transport))

    def recover(self, error: OutcomeUnknownError | JournalEntry) -> Recovered:
        """Read back the outcome of a write again, in this process or another.

        Args:
            error: The error of the write, which may have been pickled; or its journal entry.

        Returns:
            The write's result, with ``read_back=True``.

        Raises:
            OutcomeUnknownError: The effect is not visible, or no read can show it; the error has
                updated attributes.
            InvalidInputError: The argument is neither.

        Example:
            ```python
            from ferry_sdk import Ferry, OutcomeUnknownError
            from ferry_sdk.sandbox import Sandbox, crossing

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                booking = ferry.bookings.create(**crossing(ferry))
                sandbox.faults.add("lose_reply", "bookings.confirm")
                sandbox.faults.add("server_error", "bookings.get", times=None)
                try:
                    ferry.with_options(deadline=1).bookings.confirm(booking.booking_id)
                except OutcomeUnknownError as error:
                    sandbox.faults.clear()
                    print("read back:", ferry.recover(error).read_back)
                    # > read back: True
            ```
        """
        try:
            return self._transport.run(_recovery(self._transport, error)).value
        except FerryError as failure:
            raise trim(failure) from failure.__cause__

    def request(
        self,
        method: str,
        path: str,
        *,
        json: JsonValue = None,
        params: Mapping[str, object] | None = None,
    ) -> JsonValue:
        """Call any path of the service, for what the library does not know yet.

        A GET is a read. Every other method counts as a write that no read proves: a read-only
        client rejects it, the journal records it, and it is sent again only if nothing was done.

        Args:
            method: The HTTP method.
            path: The path below `base_url`, such as ``api/port``; it cannot leave its origin.
            json: The JSON body; None: no body.
            params: The query; a value may be a list, and None leaves its name out.

        Returns:
            The decoded JSON value; None if the reply has no content (204, or HEAD).

        Raises:
            InvalidInputError: An argument is invalid; `field` names it.
            ReadOnlyError: The client can only read, and this is a write.
            UnresolvedWriteError: The journal has the same write with an unknown outcome.
            APIError: The service refused it; its class is that of the code or the status.
            OutcomeUnknownError: The write may have happened.
            FerryError: The call failed for another reason.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox, Ferry(sandbox.token, base_url=sandbox.base_url) as ferry:
                assert ferry.request("GET", "api/port")
            ```
        """
        try:
            group = bind("ferry_sdk.resources.requests", "RequestsGroup", self._transport)
            answer: JsonValue = group.request(method, path, json=json, params=params)
        finally:
            del json, params  # keep travellers' data out of tracebacks that show variables
        return answer

    def close(self) -> None:
        """Close the connections, unless they belong to the user or another client.

        Example:
            ```python
            from ferry_sdk import Ferry
            from ferry_sdk.sandbox import Sandbox

            with Sandbox() as sandbox:
                ferry = Ferry(sandbox.token, base_url=sandbox.base_url)
                print(len(ferry.catalogue.ports()), "ports")
                # > 183 ports
                ferry.close()
            ```
        """
        if self._owns_pool:
            self._transport.shared.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncFerry(Client[AsyncTransport], async_.Groups):
    """A client of the ferry ticketing service, for asyncio and trio.

    Args:
        token: The access token, or a function, async or not, that returns it; else
            ``FERRY_TOKEN``.
        base_url: The service's address; else ``FERRY_BASE_URL``.
        allow_http: Accept plain http to other machines; ``FERRY_ALLOW_HTTP=1`` does as well.
        organisation_token: The token of `tickets.mark_paid` only; else
            ``FERRY_ORGANISATION_TOKEN``.
        language: Language of names and messages, as Accept-Language; else ``FERRY_LANGUAGE``.
        client_version: Sent as x-client-version.
        timeout: Seconds for each step of an attempt, or a `Timeout`; None: no limit.
        deadline: Seconds for the whole call: connecting, the reply, waits, retries and reading
            back; None: no limit.
        max_retries: How often a request is retried, if that is safe.
        read_only: Reject every write before it is sent.
        http_client: Your own ``httpx.AsyncClient`` (or httpx2's); it is not closed.
        default_headers: Additional headers of every request.
        limiter: Asked before every request, such as a `Rate`; None: no limit.
        route_cache: A folder in which the route graph is kept; None: it is kept in memory.
        journal: Records every write, as `ferry_sdk.journal.Journal` does.
        event_hooks: Functions to call for each event of `EventHooks`, such as every outcome.
        label: A word for whoever's calls these are, such as an account: 1 to 64 printable ASCII
            characters without white space. Hooks, log records, spans and metrics have it; it is
            never sent.

    Raises:
        ConfigurationError: A setting is missing or invalid; the message names it.

    Example:
        ```python
        import asyncio

        from ferry_sdk import AsyncFerry
        from ferry_sdk.sandbox import AsyncSandbox


        async def main() -> None:
            async with (
                AsyncSandbox() as sandbox,
                AsyncFerry(sandbox.token, base_url=sandbox.base_url) as ferry,
            ):
                print(len(await ferry.catalogue.ports()), "ports")
                # > 183 ports


        asyncio.run(main())
        ```
    """

    def __init__(
        self,
        token: str | Callable[[], str | Awaitable[str]] | None = None,
        *,
        base_url: str | None = None,
        allow_http: bool = False,
        organisation_token: str | Callable[[], str | Awaitable[str]] | None = None,
        language: str | None = None,
        client_version: str | int | None = None,
        timeout: float | Timeout | None = DEFAULT_TIMEOUT,
        deadline: float | None = None,
        max_retries: int = 2,
        read_only: bool = False,
        http_client: AsyncHttpClient | None = None,
        default_headers: Mapping[str, str] | None = None,
        limiter: RateLimiter | None = None,
        route_cache: str | Path | None = None,
        journal: Recorder | None = None,
        event_hooks: EventHooks | None = None,
        label: str | None = None,
    ) -> None:
        hooks = build_hooks(event_hooks, may_be_async=True)

        settings = read_settings(
            token=token,
            base_url=base_url,
            allow_http=allow_http,
            organisation_token=organisation_token,
            language=language,
            client_version=client_version,
            timeout=timeout,
            deadline=deadline,
            max_retries=max_retries,
            read_only=read_only,
            default_headers=default_headers,
            route_cache=route_cache,
            journal=journal,
            hooks=hooks,
            http_client=http_client,
            limiter=limiter,
            label=label,
            is_async=True,
        )

        super().__init__(AsyncTransport(settings, http_client))
        self._owns_pool = http_client is None

    @lazy_attribute
    def with_raw_response(self) -> async_raw.Groups:
        """The same calls, each returning a `RawResponse`."""
        return async_raw.Groups(AsyncRawTransport(self._transport))

    async def recover(self, error: OutcomeUnknownError | JournalEntry) -> Recovered:
        """Read back the outcome of a write again, in this process or another.

        Args:
            error: The error of the write, which may have been pickled; or its journal entry.

        Returns:
            The write's result, with ``read_back=True``.

        Raises:
            OutcomeUnknownError: The effect is not visible, or no read can show it; the error has
                updated attributes.
            InvalidInputError: The argument is neither.

        Example:
            ```python
            import asyncio
            from datetime import date, timedelta

            from ferry_sdk import AsyncFerry, OutcomeUnknownError
            from ferry_sdk.sandbox import AsyncSandbox


            async def main() -> None:
                async with (
                    AsyncSandbox() as sandbox,
                    AsyncFerry(sandbox.token, base_url=sandbox.base_url) as ferry,
                ):
                    trips = await ferry.trips.search(
                        "Tarifa",
                        "MATNG",
                        on=date.today() + timedelta(days=30),
                        passengers=[{"type": "Adult", "gender": "Female", "age": 34}],
                        companies=["BALEARIA"],
                    )
                    booking = await ferry.bookings.create(
                        availabilities=trips[0].select(),
                        passengers=[{"type": "Adult", "first_name": "Ada", "last_name": "Reyes"}],
                    )
                    sandbox.faults.add("lose_reply", "bookings.confirm")
                    sandbox.faults.add("server_error", "bookings.get", times=None)
                    try:
                        await ferry.with_options(deadline=1).bookings.confirm(booking.booking_id)
                    except OutcomeUnknownError as error:
                        sandbox.faults.clear()
                        confirmed = await ferry.recover(error)
                        print("read back:", confirmed.read_back)
                        # > read back: True


            asyncio.run(main())
            ```
        """
        try:
            return (await self._transport.run(_recovery(self._transport, error))).value
        except FerryError as failure:
            raise trim(failure) from failure.__cause__

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: JsonValue = None,
        params: Mapping[str, object] | None = None,
    ) -> JsonValue:
        """Call any path of the service, for what the library does not know yet.

        A GET is a read. Every other method counts as a write that no read proves: a read-only
        client rejects it, the journal records it, and it is sent again only if nothing was done.

        Args:
            method: The HTTP method.
            path: The path below `base_url`, such as ``api/port``; it cannot leave its origin.
            json: The JSON body; None: no body.
            params: The query; a value may be a list, and None leaves its name out.

        Returns:
            The decoded JSON value; None if the reply has no content (204, or HEAD).

        Raises:
            InvalidInputError: An argument is invalid; `field` names it.
            ReadOnlyError: The client can only read, and this is a write.
            UnresolvedWriteError: The journal has the same write with an unknown outcome.
            APIError: The service refused it; its class is that of the code or the status.
            OutcomeUnknownError: The write may have happened.
            FerryError: The call failed for another reason.

        Example:
            ```python
            import asyncio

            from ferry_sdk import AsyncFerry
            from ferry_sdk.sandbox import AsyncSandbox


            async def main() -> None:
                async with (
                    AsyncSandbox() as sandbox,
                    AsyncFerry(sandbox.token, base_url=sandbox.base_url) as ferry,
                ):
                    assert await ferry.request("GET", "api/port")


            asyncio.run(main())
            ```
        """
        try:
            group = bind("ferry_sdk.resources.requests", "RequestsGroup", self._transport)
            call = group.request(method, path, json=json, params=params)
        finally:
            del json, params  # keep travellers' data out of tracebacks that show variables
        answer: JsonValue = await call
        return answer

    async def aclose(self) -> None:
        """Close the connections, unless they belong to the user or another client.

        Example:
            ```python
            import asyncio

            from ferry_sdk import AsyncFerry
            from ferry_sdk.sandbox import AsyncSandbox


            async def main() -> None:
                async with AsyncSandbox() as sandbox:
                    ferry = AsyncFerry(sandbox.token, base_url=sandbox.base_url)
                    print(len(await ferry.catalogue.ports()), "ports")
                    # > 183 ports
                    await ferry.aclose()


            asyncio.run(main())
            ```
        """
        if self._owns_pool:
            await self._transport.shared.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _recovery(transport: Transport | AsyncTransport, error: object) -> Plan[Result[Recovered]]:
    """Return how to read the result of a write back, by its error or its entry."""
    unknown, read_back = _unknown_outcome(error)

    def steps(settings: Settings) -> Flow[Result[Recovered]]:
        call_id = unknown.correlation_id
        context = Context.start(settings, transport.session, "recover", correlation_id=call_id)
        return recover(unknown, read_back, context)

    return Plan(steps)


def _unknown_outcome(error: object) -> tuple[OutcomeUnknownError, ReadBack[Recovered]]:
    """Return the error of a write, and how to read its result back."""
    unknown = _error_of(error)
    return unknown, _read_back_of(unknown)


def _error_of(error: object) -> OutcomeUnknownError:
    """Return the error of a write; if the argument is its journal entry, one with the same facts.

    Raises:
        InvalidInputError: The argument is neither.
    """
    if isinstance(error, OutcomeUnknownError):
        return error
    if not isinstance(error, JournalEntry):
        raise InvalidInputError("expected an OutcomeUnknownError or a journal entry", field="error")

    unknown = OutcomeUnknownError(
        f"{error.operation} may have happened (correlation id {error.correlation_id})",
        request=RequestDigest(error.method, error.path, error.fingerprint),
        subject=error.subject,
        entry_id=error.id,
        booking_id=error.booking_id,
    )

    # The constructor does not take them: a call sets them on each of its errors.
    unknown.operation = error.operation
    unknown.correlation_id = error.correlation_id
    return unknown


def _read_back_of(unknown: OutcomeUnknownError) -> ReadBack[Recovered]:
    """Return how to read back the result of a write.

    Raises:
        OutcomeUnknownError: No read can show it.
    """
    row = SAFETY.get(unknown.operation)
    if row is None:
        raise unknown

    module = load_module("ferry_sdk.resources.read_back")  # loads all models
    if row.read_if_named is not None and unknown.booking_id is not None:
        created: ReadBack[Recovered] = module.read_back_created(unknown.booking_id)
        return created

    read_back: ReadBack[Recovered] | None = module.read_back(row, unknown.subject)
    if read_back is None:
        raise unknown
    return read_back
