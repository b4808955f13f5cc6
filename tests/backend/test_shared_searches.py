"""Equal searches at the same time are one request, and each caller may leave the others."""

import gc
import json
from functools import partial

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferry_sdk import (
    AsyncFerry,
    AvailabilityError,
    ConnectionFailedError,
    Ferry,
    FerryError,
    RateLimitError,
    RequestTimeoutError,
)
from ferry_sdk._engine.context import Context, Session
from ferry_sdk._engine.flow import run
from ferry_sdk._engine.settings import Secret, Settings
from ferry_sdk._transport.single_flight import SharedCall, join_or_start
from ferry_sdk.resources.availability import AvailabilityGroup
from ferry_sdk.resources.mcp import McpGroup
from tests.backend.children import Child
from tests.backend.gathering import UnderWay, at_once, eventually
from tests.backend.stops import ctrl_c
from tests.support.both import Waiting
from tests.support.exchanges import caught
from tests.support.hold import Hold
from tests.support.tiers import examples, mostly_long
from tests.support.trip import DAY, TRAVELLERS, search_arguments
from tests.transport.scripted import Service

SEARCHES = "*search*"
"""The operations of searches, by REST and by MCP."""
CROWD = 50
FALSE_COMPANY = {"company": "NOBODY"}


def by_rest(ferry, **changes):
    return ferry.availability.search(**search_arguments() | changes)


def by_mcp(ferry, **changes):
    return ferry.mcp.search_availability(**search_arguments() | changes)


def by_trips(ferry):
    return ferry.trips.search("FRMRS", "TNLGN", on=DAY, passengers=TRAVELLERS, companies=["CTN"])


@pytest.fixture(params=[by_rest, by_mcp])
def search(request):
    """Makes the search of the tests, by one protocol."""
    return request.param


@pytest.fixture
def hold(ferry_sandbox):
    """Holds all searches at the service, and counts them."""
    return Hold(ferry_sandbox, SEARCHES, times=CROWD)


@pytest.fixture
def under_way(hold):
    """Starts a call, and waits until its request is held at the service."""

    def start(call):
        started = UnderWay(call)
        eventually(lambda: hold.held == 1)
        return started

    return start


@pytest.fixture
def requests(ferry_sandbox):
    """Returns how many searches are in the log of the service."""

    def count():
        entries = ferry_sandbox.request_log.entries()
        return sum("search" in (entry.operation or "") for entry in entries)

    return count


class TestOneRequest:
    """Callers ask for the same while a search is held at the service."""

    def test_crowd_sends_one_request(self, new_client, search, hold, joined, requests):
        ferry = new_client()
        calls = at_once(*[partial(search, ferry)] * CROWD)
        eventually(lambda: hold.held and len(joined) == CROWD - 1)
        hold.release()
        first, *others = [call.value() for call in calls]
        assert first
        assert all(records is first for records in others)
        assert requests() == 1

    @pytest.mark.parametrize(
        "options",
        [
            pytest.param({"deadline": 20}, id="deadline"),
            pytest.param({"correlation_id": "own"}, id="correlation id"),
            pytest.param({"read_only": True}, id="read-only"),
        ],
    )
    def test_view_of_account_joins(self, new_client, hold, under_way, joined, requests, options):
        ferry = new_client()
        first = under_way(partial(by_rest, ferry))
        second = UnderWay(partial(by_rest, ferry.with_options(**options)))
        eventually(lambda: joined)
        hold.release()
        assert second.value() is first.value()
        assert requests() == 1

    @pytest.mark.own_http_client(reason="a client of either kind has another HTTP client")
    @pytest.mark.parametrize(
        ("first", "second"),
        mostly_long(
            [
                pytest.param("sync", "asyncio", id="thread and task"),
                pytest.param("asyncio", "sync", id="task and thread"),
                pytest.param("asyncio", "trio", id="two loops"),
            ],
            short=3,
        ),
    )
    def test_clients_of_different_kinds_join(
        self,
        ferry_sandbox,
        asyncio_portal,
        trio_portal,
        hold,
        under_way,
        joined,
        requests,
        first,
        second,
    ):
        settings = {"token": ferry_sandbox.token, "base_url": ferry_sandbox.base_url}
        aferry = AsyncFerry(**settings)
        on_asyncio = Waiting(aferry, asyncio_portal)
        on_trio = Waiting(aferry, trio_portal)
        with Ferry(**settings) as ferry, on_trio, on_asyncio:
            callers = {"sync": ferry, "asyncio": on_asyncio, "trio": on_trio}
            leader = under_way(partial(by_rest, callers[first]))
            follower = UnderWay(partial(by_rest, callers[second]))
            eventually(lambda: joined)
            hold.release()
            assert follower.value() is leader.value()
        assert requests() == 1

    def test_raw_responses_share_a_reply(self, new_client, search, hold, under_way, joined):
        ferry = new_client()
        first = under_way(partial(search, ferry.with_raw_response))
        second = UnderWay(partial(search, ferry.with_raw_response))
        eventually(lambda: joined)
        hold.release()
        assert second.value().content == first.value().content
        assert second.value().correlation_id == first.value().correlation_id
        assert second.value().attempts == first.value().attempts

    def test_limiter_is_asked_once(self, new_client, hold, under_way, joined):
        asked = []

        class Limiter:
            def acquire(self, operation):
                asked.append(operation)

        ferry = new_client(limiter=Limiter())
        first = under_way(partial(by_rest, ferry))
        second = UnderWay(partial(by_rest, ferry))
        eventually(lambda: joined)
        hold.release()
        assert second.value() is first.value()
        assert asked == ["availability.search"]

    def test_each_caller_has_its_outcome_event(self, new_client, hold, under_way, joined):
        events = []
        ferry = new_client(event_hooks={"request": [events.append], "outcome": [events.append]})
        first = under_way(partial(by_rest, ferry.with_options(correlation_id="first")))
        second = UnderWay(partial(by_rest, ferry.with_options(correlation_id="second")))
        eventually(lambda: joined)
        hold.release()
        first.value(), second.value()
        seen = sorted((event.call.correlation_id, type(event).__name__) for event in events)
        assert seen == [
            ("first", "OutcomeEvent"),
            ("first", "RequestEvent"),
            ("second", "OutcomeEvent"),
        ]

    def test_each_caller_has_its_error(self, new_client, search, hold, under_way, joined, requests):
        ferry = new_client()
        sender = ferry.with_options(correlation_id="sender")
        first = under_way(partial(search, sender, **FALSE_COMPANY))
        second = UnderWay(partial(search, ferry, **FALSE_COMPANY))
        eventually(lambda: joined)
        hold.release()
        errors = [first.error(), second.error()]
        assert [type(error) for error in errors] == [AvailabilityError] * 2
        assert [error.correlation_id for error in errors] == ["sender"] * 2
        assert errors[0] is not errors[1]
        assert errors[0].attempts == errors[1].attempts
        assert requests() == 1

    def test_later_search_is_a_new_request(self, new_client, search, requests):
        ferry = new_client()
        assert search(ferry) is not search(ferry)
        assert requests() == 2


def other_language(new_client, _):
    return new_client().with_options(language="fr")


def other_header(new_client, _):
    return new_client().with_options(extra_headers={"x-market": "it"})


def other_account(new_client, sandbox):
    return new_client(sandbox.read_only_token)


def other_retries(new_client, _):
    return new_client().with_options(max_retries=0)


def raw_response(new_client, _):
    return new_client().with_raw_response


class TestOtherRequests:
    """A search is held at the service; who asks for another one does not wait for it."""

    @pytest.fixture
    def leader(self, ferry_sandbox, new_client, hold, under_way):
        """The call that is held; later requests pass."""
        call = under_way(partial(by_rest, new_client()))
        hold.pass_others()
        yield call
        hold.release()
        assert call.value()

    @pytest.mark.parametrize(
        "other_of", [other_language, other_header, other_account, other_retries, raw_response]
    )
    def test_other_client_sends_its_own(self, new_client, ferry_sandbox, leader, other_of):
        assert by_rest(other_of(new_client, ferry_sandbox))
        assert not leader.is_over

    def test_other_body_sends_its_own(self, new_client, leader):
        assert by_rest(new_client(), out_time="00:01")
        assert not leader.is_over

    def test_other_protocol_sends_its_own(self, new_client, leader):
        assert by_mcp(new_client())
        assert not leader.is_over

    def test_own_http_client_sends_its_own(self, any_clients, new_client, leader):
        assert by_rest(new_client(http_client=any_clients.http_client()))
        assert not leader.is_over

    # To fork beside another thread's search is what this test is about.
    @pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
    def test_forked_child_sends_its_own(self, ferry_sandbox, ferry, leader):
        assert Child(lambda: len(by_rest(ferry))).result()
        assert not leader.is_over


class TestLeaving:
    """A caller leaves while the search is held; the others get their answer."""

    @pytest.mark.parametrize(
        ("leaver", "requests"),
        [
            pytest.param(0, 2, id="first"),
            pytest.param(1, 1, id="middle"),
            pytest.param(2, 1, id="last"),
        ],
    )
    def test_cancelled_task_leaves_the_others_alone(
        self, ferry_sandbox, portal, search, hold, joined, leaver, requests
    ):
        answers = {}
        scopes = []
        settings = {"token": ferry_sandbox.token, "base_url": ferry_sandbox.base_url}

        async def call(ferry, number):
            with anyio.CancelScope() as scope:
                scopes.append(scope)
                answers[number] = await search(ferry)

        async def call_all():
            async with AsyncFerry(**settings) as ferry, anyio.create_task_group() as group:
                group.start_soon(call, ferry, 0)
                await until(lambda: hold.held == 1)
                group.start_soon(call, ferry, 1)
                await until(lambda: len(joined) == 1)
                group.start_soon(call, ferry, 2)
                await until(lambda: len(joined) == 2)
                scopes[leaver].cancel()
                await until(lambda: hold.held == requests)
                hold.release()

        portal.call(call_all)
        assert {0, 1, 2} - {*answers} == {leaver}
        assert len({id(records) for records in answers.values()}) == 1
        assert hold.held == requests

    @pytest.mark.parametrize(
        ("call", "deadline"),
        [
            pytest.param(by_rest, None, id="rest"),
            pytest.param(by_mcp, None, id="mcp"),
            pytest.param(by_trips, None, id="trips"),
            pytest.param(by_rest, 60, id="rest, in another thread"),
        ],
    )
    def test_interrupted_thread_leaves_the_others_alone(self, ferry, hold, joined, call, deadline):
        def follow():
            eventually(lambda: hold.held == 1)
            return call(ferry)

        follower = UnderWay(follow)
        with ctrl_c(lambda: joined):
            call(ferry.with_options(deadline=deadline))
        eventually(lambda: hold.held == 2)
        hold.release()
        assert follower.value()

    def test_deadline_leaves_the_others_alone(self, new_client, search, hold, joined):
        ferry = new_client()
        hurried = ferry.with_options(deadline=2)
        leader = UnderWay(partial(search, hurried))
        eventually(lambda: hold.held or leader.is_over)  # a busy machine may not send it in time
        follower = UnderWay(partial(search, ferry))
        assert type(leader.error()) is RequestTimeoutError
        eventually(lambda: hold.held == 1 + len(joined))
        hold.release()
        assert follower.value()

    def test_joined_caller_has_its_own_deadline(self, new_client, search, hold, under_way):
        ferry = new_client()
        leader = under_way(partial(search, ferry))
        hurried = partial(search, ferry.with_options(deadline=0.5))
        assert type(UnderWay(hurried).error()) is RequestTimeoutError
        assert not leader.is_over
        hold.release()
        assert leader.value()
        assert hold.held == 1

    def test_deadline_without_time_for_a_retry(
        self, new_client, ferry_sandbox, hold, under_way, joined, requests
    ):
        """The refusal asks for a longer wait than the first caller has."""
        ferry_sandbox.faults.add("rate_limited", "availability.search", retry_after=50)
        ferry = new_client()
        leader = under_way(partial(by_rest, ferry.with_options(deadline=20)))
        follower = UnderWay(partial(by_rest, ferry))
        eventually(lambda: joined)
        hold.release()
        assert type(leader.error()) is RateLimitError
        assert follower.value()
        assert requests() == 2

    @pytest.mark.own_http_client(reason="close leaves the user's own HTTP client open")
    def test_closed_client_leaves_the_others_alone(
        self, new_client, search, hold, under_way, joined
    ):
        first, second = new_client(), new_client()
        leader = under_way(partial(search, first))
        follower = UnderWay(partial(search, second))
        eventually(lambda: joined)
        first.close()
        assert isinstance(leader.error(), FerryError)
        eventually(lambda: hold.held == 2)
        hold.release()
        assert follower.value()


class TestAllLeave:
    """Nobody waits any more, so the request is stopped."""

    @pytest.fixture
    def closed(self):
        """The connections that a client closed, in the order of their ends."""
        return []

    @pytest.fixture
    def service(self, closed):
        """A service that answers nothing."""

        def read_to_the_end(connection):
            try:
                while connection.request():
                    pass
            finally:
                closed.append(connection)

        with Service(read_to_the_end) as service:
            yield service

    def test_cancelled_tasks_stop_the_request(self, portal, service, closed, joined):
        async def call_and_cancel():
            async with AsyncFerry("token", base_url=service.url) as ferry:
                async with anyio.create_task_group() as group:
                    for _ in range(3):
                        group.start_soon(by_rest, ferry)
                    await until(lambda: service.asked and len(joined) == 2)
                    group.cancel_scope.cancel()
                await until(lambda: closed)

        portal.call(call_and_cancel)
        assert len(closed) == service.accepted
        assert service.asked == ["POST /api/availability"]

    def test_deadlines_stop_the_request(self, any_clients, service, closed, joined):
        ferry = any_clients("token", base_url=service.url, deadline=1)
        for call in at_once(*[partial(by_rest, ferry)] * 3):
            assert type(call.error()) is RequestTimeoutError
        eventually(lambda: len(closed) == service.accepted)


def test_call_that_nobody_makes_has_ended():
    """Its caller was interrupted where it could not end the call."""
    call = SharedCall()
    assert join_or_start("search", call) is None
    joined = join_or_start("search", SharedCall())
    del call
    gc.collect()
    assert joined.has_ended
    assert caught(ConnectionFailedError, joined.outcome).outcome == "unknown"


def test_ended_call_leaves_a_later_one_alone():
    first, second = SharedCall(), SharedCall()
    join_or_start("search", first)
    first.complete("search", None)
    join_or_start("search", second)
    first.fail("search", KeyboardInterrupt())
    assert join_or_start("search", SharedCall()) is second.result


# The key of a search


SETTINGS = Settings("https://ferry.example", Secret("token"))
travellers = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["Adult", "Child", "Infant"]),
        "gender": st.sampled_from(["Female", "Male"]),
        "age": st.integers(0, 99),
    }
)
arguments = st.fixed_dictionaries(
    {
        "company": st.sampled_from(["CTN", "GNV"]),
        "out_time": st.sampled_from(["00:00", "08:00"]),
        "passengers": st.lists(travellers, min_size=1, max_size=2),
    },
    optional={
        "vehicle": st.sampled_from([{"code": "FIAT__500"}, {"code": "FIAT__PANDA"}]),
        "out_is_open": st.booleans(),
    },
)


def key_of(operation):
    context = Context.start(SETTINGS, Session(), operation.name)
    return next(run(operation, context)).key


@pytest.mark.parametrize(
    ("describe", "body_of"),
    [
        pytest.param(
            partial(AvailabilityGroup.search, None),
            lambda call: json.loads(call.content),
            id="rest",
        ),
        pytest.param(
            partial(McpGroup.search_availability, None), lambda call: call.params, id="mcp"
        ),
    ],
)
@examples(300)
@given(first=arguments, second=arguments)
def test_two_bodies_never_share(describe, body_of, first, second):
    try:
        one, other = (describe(**search_arguments() | chosen) for chosen in (first, second))
    except FerryError:  # an age that no traveller of the type has
        return
    assert (key_of(one) == key_of(other)) == (body_of(one.call) == body_of(other.call))


async def until(holds):
    """Wait in a task until a fact holds."""
    with anyio.fail_after(30):
        while not holds():  # noqa: ASYNC110 -- threads and sockets change it
            await anyio.sleep(0.005)
