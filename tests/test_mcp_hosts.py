"""The registry's entry and the bundle, from which MCP hosts install the server."""

import io
import json
import os
import re
import shutil
import struct
import zipfile
from pathlib import Path

import pytest

from ferry_sdk import __version__
from scripts import requirements
from scripts.hosts import bundle, listing
from scripts.hosts.mcpb import server

ROOT = Path(__file__).parents[1]
PROJECT = requirements.tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
ENTRY = json.loads(listing.SERVER.read_text("utf-8"))
(PACKAGE,) = ENTRY["packages"]
VARIABLES = {variable["name"]: variable for variable in PACKAGE["environmentVariables"]}
MANIFEST = json.loads(listing.MANIFEST.read_text("utf-8"))
SETTINGS = MANIFEST["user_config"]
START = MANIFEST["server"]["mcp_config"]
BUNDLED = requirements.tomllib.loads(listing.PROJECT.read_text("utf-8"))["project"]


@pytest.mark.parametrize(
    ("path", "text_of"),
    [
        pytest.param(listing.SERVER, listing.server, id="registry"),
        pytest.param(listing.MANIFEST, listing.manifest, id="manifest"),
        pytest.param(listing.PROJECT, listing.project, id="requirements"),
    ],
)
def test_file_is_as_the_package_writes_it(path, text_of):
    assert path.read_text("utf-8") == text_of()


@pytest.mark.parametrize(
    "version",
    [
        pytest.param(ENTRY["version"], id="registry"),
        pytest.param(PACKAGE["version"], id="package in the registry"),
        pytest.param(MANIFEST["version"], id="manifest"),
        pytest.param(BUNDLED["version"], id="bundle"),
    ],
)
def test_hosts_read_the_version_of_the_package(version):
    assert version == __version__


def test_another_version_is_found(monkeypatch):
    monkeypatch.setattr(listing, "__version__", "9.8.7")
    with pytest.raises(SystemExit, match=r"server\.json is not complete; run scripts/api-map"):
        listing.main("--check")


# The registry's entry: https://static.modelcontextprotocol.io/schemas/2025-12-11/


def test_entry_names_its_schema():
    version = r"https://static\.modelcontextprotocol\.io/schemas/2025-12-11/server\.schema\.json"
    assert re.fullmatch(version, ENTRY["$schema"])


def test_entry_has_a_name_in_a_namespace():
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", ENTRY["name"])


@pytest.mark.parametrize("field", ["title", "description"])
def test_text_of_the_entry_is_short_enough(field):
    assert 1 <= len(ENTRY[field]) <= 100


def test_readme_proves_the_entry():
    readme = (ROOT / "README.md").read_text("utf-8")
    assert re.findall(r"^<!-- mcp-name: (\S+) -->$", readme, re.MULTILINE) == [ENTRY["name"]]


def test_entry_is_of_the_project_on_pypi():
    assert PACKAGE["registryType"] == "pypi"
    assert PACKAGE["identifier"] == PROJECT["name"]
    assert PROJECT["readme"] == "README.md"


def test_uvx_finds_a_command_named_like_the_package():
    assert PACKAGE["runtimeHint"] == "uvx"
    assert PROJECT["scripts"][PACKAGE["identifier"]] == PROJECT["scripts"]["ferry"]


def test_entry_starts_the_server_with_its_extra():
    def words(arguments):
        return [one[key] for one in arguments for key in ("name", "value") if key in one]

    requirement = f"ferry-sdk[agents]=={__version__}"
    assert words(PACKAGE["runtimeArguments"]) == ["--with", requirement]
    assert words(PACKAGE["packageArguments"]) == ["mcp"]
    assert "agents" in PROJECT["optional-dependencies"]


def test_entry_asks_for_the_address_and_the_token():
    assert [*VARIABLES] == ["FERRY_BASE_URL", "FERRY_TOKEN_FILE", "FERRY_TOKEN"]
    assert [name for name in VARIABLES if VARIABLES[name].get("isRequired")] == ["FERRY_BASE_URL"]


def test_only_the_token_is_secret():
    assert [name for name in VARIABLES if VARIABLES[name].get("isSecret")] == ["FERRY_TOKEN"]


def test_entry_holds_no_values_of_variables():
    assert [name for name in VARIABLES if {"value", "default"} & {*VARIABLES[name]}] == []


# The bundle: MANIFEST.md of the MCPB format, version 0.4


def test_manifest_has_the_required_fields():
    required = {"manifest_version", "name", "version", "description", "author", "server"}
    assert required <= {*MANIFEST}
    assert MANIFEST["manifest_version"] == "0.4"
    assert MANIFEST["author"]["name"] == PROJECT["authors"][0]["name"]


def test_manifest_is_of_the_kind_uv():
    assert MANIFEST["server"]["type"] == "uv"
    assert START["command"] == "uv"
    assert START["args"][-1] == MANIFEST["server"]["entry_point"]


def test_manifest_names_files_of_the_bundle():
    assert {MANIFEST["icon"], MANIFEST["server"]["entry_point"]} <= {*bundle.MEMBERS}


def test_token_is_sensitive_and_required():
    assert SETTINGS["token"]["sensitive"]
    assert SETTINGS["token"]["required"]
    assert "default" not in SETTINGS["token"]


def test_writes_are_off_by_default():
    assert SETTINGS["writes"]["type"] == "boolean"
    assert SETTINGS["writes"]["default"] is False


def test_every_setting_has_a_type_and_texts():
    assert [name for name in SETTINGS if {"type", "title", "description"} - {*SETTINGS[name]}] == []


def test_every_setting_reaches_the_server():
    used = re.findall(r"\$\{user_config\.(\w+)\}", json.dumps(START))
    assert sorted(used) == sorted(SETTINGS)


def test_no_setting_is_on_the_command_line():
    assert "user_config" not in json.dumps(START["args"])


def test_setting_that_may_be_left_out_has_a_default():
    # A host passes the text ${user_config.name} of a setting that has neither.
    optional = [one for one in SETTINGS.values() if not one["required"]]
    assert optional
    assert all("default" in one for one in optional)


def test_bundle_needs_the_pythons_of_the_package():
    assert BUNDLED["requires-python"] == PROJECT["requires-python"]
    assert MANIFEST["compatibility"]["runtimes"]["python"] == PROJECT["requires-python"]


def test_bundle_installs_the_extra_of_this_version():
    assert BUNDLED["dependencies"] == [f"ferry-sdk[agents]=={__version__}"]


def test_icon_is_a_small_picture_of_the_recommended_size():
    icon = (listing.BUNDLE / MANIFEST["icon"]).read_bytes()
    assert icon.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", icon[16:24]) == (512, 512)
    assert len(icon) < 10_000


def test_tools_of_the_manifest_only_read():
    names = {tool["name"] for tool in MANIFEST["tools"]}
    assert "trips_find" in names
    assert not names & {"bookings_create", "bookings_confirm", "bookings_cancel"}


def test_bundle_holds_the_files_of_its_folder():
    with zipfile.ZipFile(io.BytesIO(bundle.pack())) as archive:
        names = archive.namelist()
    files = [path.name for path in listing.BUNDLE.iterdir() if path.is_file()]
    assert names == sorted(files)


def test_bundle_of_the_same_files_has_the_same_bytes(monkeypatch, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(listing.BUNDLE, copy)
    for path in copy.iterdir():
        path.chmod(0o700)
        os.utime(path, (0, 0))
    first = bundle.pack()

    monkeypatch.setattr(bundle, "BUNDLE", copy)
    assert bundle.pack() == first


def test_bundle_is_named_by_its_version(tmp_path):
    bundle.main(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [f"ferry-sdk-{__version__}.mcpb"]


@pytest.mark.parametrize(
    ("writes", "limit", "options"),
    [
        pytest.param("false", "", [], id="defaults"),
        pytest.param("true", "", ["--writes"], id="writes"),
        pytest.param("", "", [], id="writes left out"),
        pytest.param("${user_config.writes}", "", [], id="writes not filled in"),
        pytest.param("true", "EUR=500", ["--writes", "--spend-limit", "EUR=500"], id="limit"),
        pytest.param("false", " ", [], id="blank limit"),
    ],
)
def test_settings_of_the_host_become_options(monkeypatch, writes, limit, options):
    monkeypatch.setenv("FERRY_MCP_WRITES", writes)
    monkeypatch.setenv("FERRY_MCP_SPEND_LIMIT", limit)
    assert server.options() == options
