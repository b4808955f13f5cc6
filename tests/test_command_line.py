"""`python -m ferry_sdk` as a person runs it."""

import os
import shlex
import signal
import socket
import subprocess
import sys

import httpx
import pytest

from ferry_sdk import Ferry
from tests.support.processes import run, start

SANDBOX = [sys.executable, "-u", "-m", "ferry_sdk", "sandbox", "--port", "0"]


def read_exports(lines):
    """Return the variables that the first lines of a service's output set in a shell."""
    words = [shlex.split(lines.readline()) for _ in range(3)]
    assert [line[0] for line in words] == ["export"] * 3
    return dict(word.split("=", 1) for _, word in words)


@pytest.mark.slow
def test_sandbox_runs_until_it_is_interrupted(tmp_path):
    command = [*SANDBOX, "--organisation-token", "it's $HOME"]
    with start(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, new=True) as process:
        exports = read_exports(process.stdout)
        assert exports["FERRY_ORGANISATION_TOKEN"] == "it's $HOME"
        with Ferry(exports["FERRY_TOKEN"], base_url=exports["FERRY_BASE_URL"]) as ferry:
            assert len(ferry.catalogue.ports()) > 100
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


@pytest.fixture
def refusal(tmp_path):
    """Start a service that refuses an option, and return its errors on one line."""

    def run_refused(option, value):
        done = run([*SANDBOX, option, value], cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        return " ".join(done.stderr.split())

    return run_refused


@pytest.mark.parametrize(
    ("moment", "problem"),
    [
        pytest.param("2028-02-29T09:30:00", "expected a moment", id="no time zone"),
        pytest.param("2027-02-29T09:30:00Z", "expected a moment", id="no such day"),
        pytest.param("2200-01-01T00:00:00Z", "1970 to 2199", id="too late"),
    ],
)
def test_impossible_moment_is_refused(refusal, moment, problem):
    errors = refusal("--now", moment)
    assert "Invalid value for '--now': " in errors
    assert problem in errors


def test_wrong_profile_names_its_value(refusal, tmp_path):
    (tmp_path / "profile.json").write_text('{"amount": "per_cabin"}')
    errors = refusal("--profile", "profile.json")
    assert "amount: Input should be 'whole_party' or 'per_person'" in errors


def test_taken_port_is_one_line(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = run([*SANDBOX[:-1], port], cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        pytest.param(["--account", "north", "--account", "south"], {}, id="options"),
        pytest.param([], {"FERRY_SANDBOX_ACCOUNT": "north south"}, id="a variable"),
    ],
)
def test_tokens_of_every_account_are_printed(tmp_path, arguments, variables):
    pipe = {"stdout": subprocess.PIPE, "text": True}
    environment = os.environ | variables
    with start([*SANDBOX, *arguments], cwd=tmp_path, env=environment, **pipe) as process:
        exports = read_exports(process.stdout)
        lines = [process.stdout.readline() for _ in range(4)]
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)

    tokens = dict(line.removeprefix("# account ").split(": ", 1) for line in lines[2:])
    assert [*tokens] == ["north", "south"]
    assert tokens["north"].startswith(exports["FERRY_TOKEN"])


def test_repeated_account_is_refused(tmp_path):
    done = run([*SANDBOX, "--account", "north", "--account", "north"], cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "each account needs a name of its own" in " ".join(done.stderr.split())


SETTINGS = {
    "FERRY_SANDBOX_HOST": "127.0.0.2",
    "FERRY_SANDBOX_PORT": "0",
    "FERRY_SANDBOX_NOW": "2028-02-29T09:30:00.250000-0330",
    "FERRY_SANDBOX_TOKEN": "of-the-environment",
    "FERRY_SANDBOX_CONTROL_TOKEN": "opens-controls",
    "FERRY_SANDBOX_FROZEN": "1",
}


@pytest.fixture(scope="module")
def configured(tmp_path_factory):
    """A service with settings of the environment: its exports, its clock, the rest of its output.

    An option names another host.
    """
    folder = tmp_path_factory.mktemp("configured")
    profile = folder / "profile.json"
    profile.write_text('{"date_header": "absent"}')
    environment = os.environ | SETTINGS | {"FERRY_SANDBOX_PROFILE": str(profile)}
    command = [*SANDBOX[:-2], "--host", "127.0.0.1"]
    pipe = {"stdout": subprocess.PIPE, "text": True}
    with start(command, cwd=folder, env=environment, **pipe) as process:
        exports = read_exports(process.stdout)
        headers = {"host": "ferry:8080", "authorization": "Bearer opens-controls"}
        clock = httpx.get(f"{exports['FERRY_BASE_URL']}/_sandbox/clock", headers=headers)
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=30)[0]
    return exports, clock, rest


def test_environment_sets_the_clock(configured):
    _, clock, _ = configured
    assert clock.json() == {"now": "2028-02-29T13:00:00.250000+00:00", "frozen": True}


def test_environment_sets_the_profile(configured):
    _, clock, _ = configured
    assert "date" not in clock.headers


def test_environment_sets_the_token(configured):
    exports, _, _ = configured
    assert exports["FERRY_TOKEN"] == "of-the-environment"


def test_option_is_before_the_environment(configured):
    exports, _, _ = configured
    assert exports["FERRY_BASE_URL"].startswith("http://127.0.0.1:")


def test_control_token_is_not_printed(configured):
    _, _, rest = configured
    assert "opens-controls" not in rest
