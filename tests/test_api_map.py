"""api.md is what the methods are, and the endpoints it names are those that are called."""

import re
from pathlib import Path

import pytest

from ferry_sdk import SAFETY
from scripts import api_map
from tests.support.operations import OPERATIONS, described

SECTION = re.compile(r"^### `(\S+)`\n\n`(.+?)` · (read|write)$", re.MULTILINE)
NAMED = {name: (endpoint, kind) for name, endpoint, kind in SECTION.findall(api_map.page())}
WIRE = {
    r"GET (/api/.+)": r"GET \1",
    r"POST (/api/.+)": r"POST \1",
    r"tools/call (\w+)": r"POST /mcp tools/call \1",
    r"(resource://.+)": r"POST /mcp resources/read \1",
    r"MCP endpoint, method (\S+)": r"POST /mcp \1",
}
"""An endpoint in the words of the page, and in those of a request."""


def on_the_wire(endpoint):
    (made,) = [re.sub(one, to, endpoint) for one, to in WIRE.items() if re.fullmatch(one, endpoint)]
    return made


def test_the_pages_are_what_the_methods_are_and_the_check_fails_where_one_is_old(
    tmp_path, monkeypatch
):
    for path, text in api_map.files().items():
        assert path.read_text("utf-8") == text, "run scripts/api-map"
    monkeypatch.setattr(api_map, "PAGE", tmp_path / "api.md")
    api_map.main()
    api_map.main("--check")
    api_map.PAGE.write_text(api_map.page().replace("booking_id: str", "id: str"), "utf-8")
    with pytest.raises(SystemExit, match="scripts/api-map"):
        api_map.main("--check")


def test_every_operation_is_on_the_page_with_the_endpoint_that_is_called():
    assert [*NAMED] == [*OPERATIONS]
    for name, (endpoint, kind) in NAMED.items():
        assert kind == SAFETY[name].kind, name
        request = described(name).call.digest()
        wanted = re.escape(on_the_wire(endpoint)).replace(r"\{id\}", "[^/ ]+")
        assert re.match(f"{wanted}(?= |$)", f"{request.method} {request.path}"), name


def test_every_link_leads_to_the_class_and_no_shorthand_is_left_in_a_signature():
    assert not re.search(r"Operation\[|\bUntil\b|\bRecovered\b|arguments\.", api_map.page())
    links = re.findall(r"\[`(\w+)`\]\((\S+)\)", api_map.page())
    assert len(links) > 50
    for name, file in links:
        assert f"class {name}" in Path(api_map.ROOT, file).read_text("utf-8")
