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


def exported(lines):
    words = [shlex.split(lines.readline()) for _ in range(3)]
    assert [line[0] for line in words] == ["export"] * 3
    return dict(word.split("=", 1) for _, word in words)


SANDBOX = [sys.executable, "-u", "-m", "ferry_sdk", "sandbox", "--port", "0"]


def test_the_sandbox_runs_until_it_is_interrupted(tmp_path):
    command = [*SANDBOX, "--organisation-token", "it's $HOME"]
    with start(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, new=True) as process:
        said = exported(process.stdout)
        assert said["FERRY_ORGANISATION_TOKEN"] == "it's $HOME"
        with Ferry(said["FERRY_TOKEN"], base_url=said["FERRY_BASE_URL"]) as ferry:
            assert len(ferry.catalogue.ports()) > 100
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


def test_the_sandbox_refuses_an_option_that_it_cannot_use(tmp_path):
    (tmp_path / "profile.json").write_text('{"amount": "per_cabin"}')
    for option, value, why in (
        ("--now", "2028-02-29T09:30:00", "formats"),
        ("--now", "2027-02-29T09:30:00Z", "formats"),
        ("--now", "2200-01-01T00:00:00Z", "1970 to 2199"),
        ("--profile", "profile.json", "amount: Input should be 'whole_party' or 'per_person'"),
    ):
        done = run([*SANDBOX, option, value], cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, ""), value
        assert f"Invalid value for '{option}': " in done.stderr or option == "--profile"
        assert why in " ".join(done.stderr.split())
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run([*SANDBOX[:-1], str(taken.getsockname()[1])], cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), "the port is taken"


def test_the_environment_sets_every_option_of_the_sandbox(tmp_path):
    profile = tmp_path / "profile.json"
    profile.write_text('{"date_header": "absent"}')
    settings = {
        "PROFILE": str(profile),
        "HOST": "127.0.0.2",
        "PORT": "0",
        "NOW": "2028-02-29T09:30:00.250000-0330",
        "TOKEN": "of-the-environment",
        "CONTROL_TOKEN": "opens-controls",
        "FROZEN": "1",
    }
    environment = os.environ | {f"FERRY_SANDBOX_{name}": one for name, one in settings.items()}
    command = [*SANDBOX[:-2], "--host", "127.0.0.1"]
    pipe = {"stdout": subprocess.PIPE, "text": True}
    with start(command, cwd=tmp_path, env=environment, **pipe) as process:
        said = exported(process.stdout)
        address = said["FERRY_BASE_URL"]
        headers = {"host": "ferry:8080", "authorization": "Bearer opens-controls"}
        clock = httpx.get(f"{address}/_sandbox/clock", headers=headers)
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=30)[0]
    assert clock.json() == {"now": "2028-02-29T13:00:00.250000+00:00", "frozen": True}
    assert "date" not in clock.headers
    assert said["FERRY_TOKEN"] == "of-the-environment"
    assert address.startswith("http://127.0.0.1:")
    assert "opens-controls" not in rest
