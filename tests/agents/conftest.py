"""Fixtures: toolkits of both kinds, over clients of the local service."""

from __future__ import annotations

import json
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from ferry_sdk import AsyncFerry, Ferry
from ferry_sdk.agents import AsyncToolkit, Toolkit
from ferry_sdk.agents.tools.tools import TOOLS
from ferry_sdk.journal import Journal
from ferry_sdk.planning.catalogues import clear_cache
from tests.agents.agent import WRITES, runner_of
from tests.support.both import Waiting
from tests.support.routes import know_routes

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path

    from ferry_sdk.agents import ApprovalRequest
    from ferry_sdk.sandbox import Sandbox


MEMBERS = {
    "error": {"code", "message", "outcome", "next_step"},
    "approval": {"summary", "amount", "currency", "confirmation_code", "expires_at", "warning"},
}
"""The members of the parts of an answer, whose schemas do not list them."""


@cache
def validator_of(name: str, *, by_code: bool) -> jsonschema.Draft202012Validator:
    """Return a validator for the answers of a tool."""
    schema = TOOLS[name].definition(approval=by_code, call=repr).output_schema
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


class Checked:
    """A toolkit whose answers are validated by the definitions of its tools."""

    def __init__(self, toolkit: Any) -> None:
        self.toolkit = toolkit

    def call(self, name: Any, *arguments: Any) -> Any:
        answer = self.toolkit.call(name, *arguments)
        json.dumps(answer, allow_nan=False)
        for part, names in MEMBERS.items():
            assert names <= answer.get(part, dict.fromkeys(names)).keys()
        if isinstance(name, str) and name in TOOLS:
            validator_of(name, by_code=runner_of(self).approve is None).validate(answer)
        return answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self.toolkit, name)

    def __repr__(self) -> str:
        return repr(self.toolkit)


@pytest.fixture
def known_routes(ferry_sandbox: Sandbox) -> Iterator[None]:
    """The clients of the test know the routes of its service already."""
    know_routes(ferry_sandbox)
    yield
    clear_cache()


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(f"sqlite:///{tmp_path / 'journal.db'}") as journal:
        yield journal


@pytest.fixture
def asked() -> list[ApprovalRequest]:
    """Return the requests that a person was asked about."""
    return []


@pytest.fixture
def agree(asked: list[ApprovalRequest]) -> Callable[[ApprovalRequest], bool]:
    """Return an approver that approves every write, and keeps what it is asked."""
    return lambda request: asked.append(request) is None


@pytest.fixture(params=["sync", "asyncio"])
def toolkit_of(
    request: pytest.FixtureRequest, ferry_sandbox: Sandbox
) -> Iterator[Callable[..., Any]]:
    """Create toolkits with the interface of `Toolkit`; the test runs with each kind."""
    made: list[Any] = []
    portal = request.getfixturevalue("asyncio_portal") if request.param == "asyncio" else None

    def make(client: dict[str, Any] | None = None, **settings: Any) -> Any:
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
def toolkit(toolkit_of: Callable[..., Any], agree: Callable[[ApprovalRequest], bool]) -> Any:
    """Return a toolkit that may write, and whose approver agrees and is recorded."""
    return toolkit_of(writes=True, approve=agree)


@pytest.fixture
def sending_nothing(ferry_sandbox: Sandbox) -> Callable[[], Any]:
    """Assert that no write reaches the service in a block."""

    @contextmanager
    def block() -> Generator[None, None, None]:
        counters = ferry_sandbox.counters
        before = [counters.requests[name] for name in WRITES], counters.effects
        yield
        assert ([counters.requests[name] for name in WRITES], counters.effects) == before

    return block
