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
from tests.support.routes import know_catalogues, know_routes
from tests.support.tiers import is_quick

MEMBERS = {
    "error": {"code", "message", "outcome", "next_step"},
    "approval": {"summary", "amount", "currency", "confirmation_code", "expires_at", "warning"},
}
"""The members of the parts of an answer, whose schemas do not list them."""


@cache
def validator_of(name, *, by_code):
    approver = "code" if by_code else "person"
    schema = TOOLS[name].definition(approver=approver, call=repr).output_schema
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def form_of(value):
    """Return the names and types in a JSON value; records of a list that are alike count once."""
    if isinstance(value, dict):
        return frozenset((name, form_of(part)) for name, part in value.items())
    if isinstance(value, list):
        return "list", frozenset(map(form_of, value))
    return type(value)


valid_forms = set()
"""The forms of answers that were validated, by tool."""


def validate(name, answer, *, by_code):
    """Validate an answer by the definition of its tool, in the quick tier once for each form.

    To validate an answer takes as long as to make it.
    """
    form = name, by_code, form_of(answer)
    if is_quick() and form in valid_forms:
        return
    validator_of(name, by_code=by_code).validate(answer)
    valid_forms.add(form)


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
            validate(name, answer, by_code=agent.runner_of(self).approve is None)
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
    """The clients of the test know the catalogues of its service already."""
    know_catalogues(ferry_sandbox)
    yield
    clear_cache()


@pytest.fixture
def only_known_routes(known_routes, ferry_sandbox):
    """The clients of the test know the routes, but no vehicles and no other names of ports."""
    know_routes(ferry_sandbox)


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
        every_call = {"correlation_id": options.pop("correlation_id", None)}
        settings = {"tools": "all", **settings}
        if portal is None:
            ferry = Ferry(token, **options)
            made.append(ferry)
            return Checked(Toolkit(ferry.with_options(**every_call), **settings))
        later = AsyncFerry(token, **options)
        made.append(Waiting(later, portal))
        later = later.with_options(**every_call)
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
