"""Fixtures: toolkits of both kinds, over clients of the local service."""

import json
from contextlib import contextmanager
from functools import cache

import jsonschema
import pytest

from ferry_sdk import AsyncFerry, Ferry
from ferry_sdk.agents import AsyncToolkit, Toolkit
from ferry_sdk.agents.tools.tools import TOOLS
from ferry_sdk.journal import Journal
from ferry_sdk.planning.catalogues import clear_cache
from tests.agents import agent
from tests.support.both import Waiting
from tests.support.routes import know_routes

MEMBERS = {
    "error": {"code", "message", "outcome", "next_step"},
    "approval": {"summary", "amount", "currency", "confirmation_code", "expires_at", "warning"},
}
"""The members of the parts of an answer, whose schemas do not list them."""


@cache
def validator_of(name, *, by_code):
    schema = TOOLS[name].definition(approval=by_code, call=repr).output_schema
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


class Checked:
    """A toolkit whose answers are validated by the definitions of its tools."""

    def __init__(self, toolkit):
        self.toolkit = toolkit

    def call(self, name, *arguments):
        answer = self.toolkit.call(name, *arguments)
        json.dumps(answer, allow_nan=False)
        for part, names in MEMBERS.items():
            assert names <= answer.get(part, dict.fromkeys(names)).keys()
        if isinstance(name, str) and name in TOOLS:
            validator_of(name, by_code=agent.runner_of(self).approve is None).validate(answer)
        return answer

    def do(self, name, /, **arguments):
        """Return the result of a call that succeeds."""
        return agent.result_of(self.call(name, arguments))

    def fail(self, name, code, status="refused", /, **arguments):
        """Return the error of a call that ends with the code."""
        return agent.error(self.call(name, arguments), code, status)

    sailings, round_trip = agent.sailings, agent.round_trip
    book, pay, book_and_pay = agent.book, agent.pay, agent.book_and_pay

    def __getattr__(self, name):
        return getattr(self.toolkit, name)

    def __repr__(self):
        return repr(self.toolkit)


@pytest.fixture(scope="module", autouse=True)
def _same_qr_codes(same_qr_codes): ...


@pytest.fixture
def known_routes(ferry_sandbox):
    """The clients of the test know the routes of its service already."""
    know_routes(ferry_sandbox)
    yield
    clear_cache()


@pytest.fixture
def journal(tmp_path):
    with Journal(f"sqlite:///{tmp_path / 'journal.db'}") as journal:
        yield journal


@pytest.fixture
def asked():
    return []


@pytest.fixture
def agree(asked):
    """Return an approver that approves every write, and keeps what it is asked."""
    return lambda request: asked.append(request) is None


@pytest.fixture(params=["sync", "asyncio"])
def toolkit_of(request, ferry_sandbox):
    """Create toolkits with the interface of `Toolkit`; the test runs with each kind."""
    made = []
    portal = request.getfixturevalue("asyncio_portal") if request.param == "asyncio" else None

    def make(client=None, **settings):
        options = {"base_url": ferry_sandbox.base_url, "deadline": 2, **(client or {})}
        token = options.pop("token", ferry_sandbox.token)
        settings = {"tools": "all", **settings}
        if portal is None:
            ferry = Ferry(token, **options)
            made.append(ferry)
            return Checked(Toolkit(ferry, **settings))
        later = AsyncFerry(token, **options)
        made.append(Waiting(later, portal))
        return Checked(Waiting(AsyncToolkit(later, **settings), portal))

    yield make
    for ferry in made:
        ferry.close()


@pytest.fixture
def toolkit(toolkit_of, agree):
    return toolkit_of(writes=True, approve=agree)


@pytest.fixture
def sending_nothing(ferry_sandbox):
    """Assert that no write reaches the service in a block."""

    @contextmanager
    def block():
        counters = ferry_sandbox.counters
        before = [counters.requests[name] for name in agent.WRITES], counters.effects
        yield
        assert ([counters.requests[name] for name in agent.WRITES], counters.effects) == before

    return block
