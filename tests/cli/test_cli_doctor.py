"""The findings of `ferry doctor`."""

from __future__ import annotations

from ferry_sdk.cli.commands.doctor import EXTRAS
from ferry_sdk.cli.terminal.output import printable
from scripts import requirements


def states(ended) -> dict[str, str]:
    return {f"{one['part']}: {one['name']}": one["state"] for one in ended.document["findings"]}


def value_of(ended, name: str) -> str:
    return next(one["value"] for one in ended.document["findings"] if one["name"] == name)


def test_a_rejected_token_fails(cli):
    ended = cli("doctor", "--json", code=4, FERRY_TOKEN="a-wrong-one")
    assert states(ended)["token: reads"] == "fail"
    assert states(ended)["connection: service"] == "ok"
    assert "a-wrong-one" not in ended.out


def test_an_unreachable_service_fails(cli, ferry_sandbox):
    ferry_sandbox.stop()
    ended = cli("doctor", "--json", code=3)
    assert states(ended)["connection: connection"] == "fail"
    assert "versions: python" in states(ended)
    for text in (ended.out, cli("ports", code=3).err):
        assert ferry_sandbox.base_url.removeprefix("http://") in text
        assert "`ferry sandbox` starts a local service" in text


def test_an_unknown_host_name_fails(cli):
    ended = cli("doctor", "--json", "--base-url", "https://ferry.invalid", code=3)
    assert states(ended)["connection: name"] == "fail"
    assert "--base-url" in value_of(ended, "base url")


def test_a_port_without_tls_fails(cli, ferry_sandbox):
    url = ferry_sandbox.base_url.replace("http:", "https:")
    ended = cli("doctor", "--json", "--base-url", url, code=3)
    assert states(ended)["connection: TLS"] == "fail"


def test_a_failing_catalogue_fails(cli, ferry_sandbox):
    ferry_sandbox.faults.add("server_error", "catalogue.ports")
    ended = cli("doctor", "--json", code=4)
    assert states(ended)["connection: catalogue"] == "fail"


def test_missing_settings_fail(cli):
    ended = cli("doctor", "--json", code=3, FERRY_TOKEN="", FERRY_BASE_URL="")
    assert "`ferry sandbox` starts a local service" in ended.out
    assert states(ended)["configuration: token"] == "fail"
    assert states(ended)["configuration: base url"] == "fail"


def test_an_invalid_token_is_a_configuration_failure(cli, tmp_path):
    file = tmp_path / "token"
    file.write_text("tök", "utf-8")
    ended = cli("doctor", "--json", "--token-file", str(file), code=3)
    assert states(ended)["configuration: client"] == "fail"
    assert "connection: service" not in states(ended)


def test_a_wrong_clock_is_a_warning(cli, ferry_sandbox):
    ferry_sandbox.clock.advance(300)
    ended = cli("doctor", "--json")
    assert states(ended)["clock: skew"] == "warn"
    assert "ahead of" in value_of(ended, "skew")


def test_values_of_secrets_are_not_printed(cli, ferry_sandbox, tmp_path):
    file = tmp_path / "token"
    file.write_text(ferry_sandbox.token, "utf-8")
    file.chmod(0o644)
    secrets = {"FERRY_ORGANISATION_TOKEN": "very-secret", "FERRY_JOURNAL_KEY": "as-secret-as-that"}
    proxy = {"HTTPS_PROXY": "http://me:hidden@proxy.example:3128"}
    ended = cli("doctor", "--json", FERRY_TOKEN_FILE=str(file), **secrets, **proxy)
    assert value_of(ended, "organisation token") == "set (FERRY_ORGANISATION_TOKEN)"
    assert value_of(ended, "https proxy") == "http://…@proxy.example:3128"
    assert "is also set" in value_of(ended, "token")
    assert states(ended)["configuration: token"] == "warn"
    for secret in (*secrets.values(), "hidden"):
        assert secret not in ended.out + ended.err


def test_the_extras_match_the_package():
    project = requirements.tomllib.loads((requirements.ROOT / "pyproject.toml").read_text("utf-8"))
    assert set(EXTRAS) - {"agents"} == set(project["project"]["optional-dependencies"]) - {"agents"}


def test_a_value_is_one_line_without_control_characters():
    assert printable("Ship\x1b[2J\x07\r\none\u2028two\u202e") == "Ship�[2J� one two�"
