"""The example of a container: it names options that exist, and is healthy where it listens."""

import re
from pathlib import Path

from ferry_sdk.cli.app import load_command

FOLDER = Path(__file__).parents[2] / "examples" / "container"
DOCKERFILE = (FOLDER / "Dockerfile").read_text("utf-8")
COMPOSE = (FOLDER / "compose.yaml").read_text("utf-8")
SETTING = re.compile(r"\bFERRY_SANDBOX_([A-Z_]+)")


def test_every_setting_is_an_option_of_the_command():
    options = {each.name.upper() for each in load_command("sandbox").params}
    named = set(SETTING.findall(DOCKERFILE + COMPOSE))
    assert {"HOST", "PORT", "STATE", "CONTROL_TOKEN"} <= named <= options


def test_the_container_is_healthy_on_its_port_and_runs_without_rights():
    (port,) = re.findall(r"FERRY_SANDBOX_PORT=(\d+)", DOCKERFILE)
    assert f"http://127.0.0.1:{port}/health" in DOCKERFILE
    assert f"EXPOSE {port}" in DOCKERFILE
    assert re.search(r"^USER 1000$", DOCKERFILE, re.MULTILINE)


def test_no_token_is_written_into_the_files():
    values = re.findall(r"_TOKEN\s*[:=]\s*(\S+)", DOCKERFILE + COMPOSE)
    assert values
    assert all(value.startswith("${") for value in values)
