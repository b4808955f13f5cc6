"""`python -m ferry_sdk` as a person runs it."""

import os
import shlex
import signal
import socket
import subprocess
import sys

import httpx

from ferry_sdk import Ferry
from tests.support.processes import run, start
from tests.support.tables import each


def exported(lines):
    """Return the settings of the first three lines, each of which a shell runs."""
    words = [shlex.split(lines.readline()) for _ in range(3)]
    assert [line[0] for line in words] == ["export"] * 3
    return dict(word.split("=", 1) for _, word in words)


SANDBOX = [sys.executable, "-u", "-m", "ferry_sdk", "sandbox", "--port", "0"]


def test_the_sandbox_runs_until_it_is_interrupted(tmp_path):
    command = [*SANDBOX, "--organisation-token", "it's $HOME"]
    with start(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, new=True) as process:
        assert process.stdout is not None
        said = exported(process.stdout)
        assert said["FERRY_ORGANISATION_TOKEN"] == "it's $HOME"
        with Ferry(said["FERRY_TOKEN"], base_url=said["FERRY_BASE_URL"]) as ferry:
            assert len(ferry.catalogue.ports()) > 100
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


def test_the_sandbox_begins_at_a_moment_that_is_said(tmp_path):
    command = [*SANDBOX, "--now", "2028-02-29T09:30:00.250000-0330", "--frozen"]
    with start(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip().partition("=")[2]
        clock = httpx.get(f"{address}/_sandbox/clock").json()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    assert clock == {"now": "2028-02-29T13:00:00.250000+00:00", "frozen": True}


@each(
    "option, value, why",
    [
        ("--now", "2028-02-29T09:30:00", "formats"),
        ("--now", "2027-02-29T09:30:00Z", "formats"),
        ("--now", "2200-01-01T00:00:00Z", "1970 to 2199"),
        ("--profile", "profile.json", "amount: Input should be 'whole_party' or 'per_person'"),
    ],
)
def test_the_sandbox_refuses_an_option_that_it_cannot_use(tmp_path, option, value, why):
    (tmp_path / "profile.json").write_text('{"amount": "per_cabin"}')
    done = run([*SANDBOX, option, value], cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"Invalid value for '{option}': " in done.stderr or option == "--profile"
    assert why in " ".join(done.stderr.split())


def test_the_environment_sets_every_option_of_the_sandbox(tmp_path):
    profile = tmp_path / "profile.json"
    profile.write_text('{"date_header": "absent"}')
    settings = {
        "PROFILE": str(profile),
        "HOST": "127.0.0.2",
        "PORT": "0",
        "TOKEN": "of-the-environment",
        "CONTROL_TOKEN": "opens-controls",
        "NOW": "2028-02-29T09:30Z",
        "FROZEN": "1",
    }
    environment = {f"FERRY_SANDBOX_{name}": value for name, value in settings.items()}
    command = [*SANDBOX[:-2], "--host", "127.0.0.1"]
    with start(
        command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
    ) as process:
        assert process.stdout is not None
        said = exported(process.stdout)
        address = said["FERRY_BASE_URL"]
        headers = {"host": "ferry:8080", "authorization": "Bearer opens-controls"}
        clock = httpx.get(f"{address}/_sandbox/clock", headers=headers)
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=30)[0]
    assert clock.json() == {"now": "2028-02-29T09:30:00+00:00", "frozen": True}
    assert "date" not in clock.headers
    assert said["FERRY_TOKEN"] == "of-the-environment"
    assert address.startswith("http://127.0.0.1:")
    assert "opens-controls" not in rest


def test_a_port_that_is_taken_is_said_in_a_line(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = run([*SANDBOX[:-1], port], cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
