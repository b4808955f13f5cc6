"""The site shows every public name, as a caller has it; building it checks its links."""

import html
import inspect
import json
import os
import re
import subprocess
import sys
from email.message import Message
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from ferry_sdk import SAFETY
from tests.support.tiers import LONG

pytestmark = pytest.mark.timeout(300)

ROOT = Path(__file__).parents[1]
PACKAGES = "models aftersales agents conformance journal notebook orders otel sandbox"
SPACES = ("ferry_sdk", *(f"ferry_sdk.{name}" for name in PACKAGES.split()))
CALLS = {
    operation: f"ferry_sdk.resources.{group}.{group.capitalize()}Group.{name}"
    for operation in SAFETY
    for group, _, name in [operation.partition(".")]
}
"""Every call by its name on a client, and where the reference has it."""


def plain(text):
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).replace("`", "").split())


class Loaded(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.addresses = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "link" and given.get("rel") != "canonical":
            self.addresses.append(given["href"])
        elif "src" in given:
            self.addresses.append(given["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    texts = {path: path.read_text("utf-8") for path in site.rglob("*.html")}
    redirect = 'http-equiv="refresh"'
    return {at: one for at, one in texts.items() if at.name != "404.html" and redirect not in one}


@pytest.fixture(scope="module")
def sections(site):
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))
    return {
        anchor: (plain(section["title"]), plain(section["text"]))
        for section in index["docs"]
        for page, _, anchor in [section["location"].partition("#")]
        if page.startswith("reference/") and anchor
    }


def first_line(thing):
    summary = inspect.cleandoc(thing.__doc__ or "").split("\n\n")[0]
    return plain(re.sub(r"\s*\bInterface: .*", "", summary, flags=re.DOTALL))


def is_shown(name, sections):
    space, _, short = name.rpartition(".")
    thing = getattr(import_module(space), short)
    _, text = sections.get(name, ("", ""))
    if inspect.isclass(thing) or inspect.isroutine(thing):
        return bool(first_line(thing)) and first_line(thing) in text
    return text.endswith(".")  # an attribute: what follows its value is a sentence


@LONG
def test_every_public_name_and_call_is_shown_with_all_it_has(sections):
    shown_by_the_root = set(import_module("ferry_sdk").__all__)
    for space in SPACES:
        for name in import_module(space).__all__:
            if space == "ferry_sdk.models" and name in shown_by_the_root:
                continue
            assert is_shown(f"{space}.{name}", sections), name
            fields = getattr(getattr(import_module(space), name), "model_fields", {})
            _, text = sections[f"{space}.{name}"]
            assert [field for field in fields if not re.search(rf"\b{field}\b", text)] == [], name
    for operation, path in CALLS.items():
        title, text = sections[path]
        assert re.search(r" (GET|POST) /api/| tools/| resources/| resource://", title), operation
        assert " -> " in text.split("Parameters:")[0], operation
    assert [anchor for anchor, (_, text) in sections.items() if "Operation[" in text] == []
    title, text = sections[CALLS["tickets.get"]]
    assert title == "get GET /api/ticket/{id}"
    assert "get(ticket_id: str) -> Ticket " in text


def test_every_variable_of_the_environment_is_documented():
    told = (ROOT / "docs" / "configuration.md").read_text("utf-8")
    source = "".join(path.read_text("utf-8") for path in (ROOT / "ferry_sdk").rglob("*.py"))
    read = set(re.findall(r"\"(FERRY_[A-Z_]+)\"", source))
    assert read
    assert [name for name in sorted(read) if f"| `{name}` |" not in told] == []


@LONG
def test_a_page_loads_nothing_from_elsewhere_describes_itself_and_is_offered_as_text(site, pages):
    loaded = [one for page in pages.values() for one in Loaded(page).addresses]
    assert loaded
    assert [one for one in loaded if urlsplit(one).scheme not in {"", "data"}] == []
    styles = "".join(path.read_text("utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"url\(\s*[\"']?(?:https?:)?//[^)]*", styles) == []
    assert [path for path, text in pages.items() if text.count("<h1") != 1] == []
    said = set()
    for page in ("agents", "cli", "local-service/testing", "reference/bookings"):
        text = (site / page / "index.html").read_text("utf-8")
        said |= {*re.findall(r'<meta name="description" content="([^"]+)">', text)}
        (address,) = re.findall(r'<button type="button" data-copy="([^"]+)">', text)
        assert (site / page / address).read_text("utf-8").count("# ")
    assert len(said) == 4
    listed = (site / "llms.txt").read_text("utf-8")
    assert listed.startswith("# ferry_sdk\n\n> ")
    links = re.findall(r"^- \[[^\]]+\]\((\S+\.md)\)", listed, re.MULTILINE)
    assert len(links) == len(pages)
    for link in links:
        text = (site / link).read_text("utf-8")
        assert not re.search(r"^(:::|-+8<-+) ", text, re.MULTILINE), link
    assert "expect_total" in (site / "reference" / "bookings.md").read_text("utf-8")
    assert "create_app" in (site / "examples" / "shop.md").read_text("utf-8")


@LONG
def test_a_search_for_a_readers_words_finds_their_page_which_shows_what_it_links_to(site):
    for page, shown in (
        ("assumptions", "no_sailings"),
        ("cli", "Find ports by code"),
        ("cli", "paid_not_issued"),
        ("examples", "many_searches_at_once.py"),
        ("local-service/testing", "the search answers after 5 seconds"),
        ("reference/sandbox", "sold_out=True"),
        ("reference/enumerations", "All tickets are issued."),
    ):
        assert shown in (site / page / "index.html").read_text("utf-8"), shown
    lunr = pytest.importorskip("lunr")  # what the site searches with, in Python
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))
    search = lunr.lunr(
        ref="location",
        fields=[{"field_name": name, **one} for name, one in index["config"]["fields"].items()],
        documents=[{**one, "tags": " ".join(one.get("tags", ()))} for one in index["docs"]],
    )
    for page, searches in FOUND.items():
        for words in searches.split(", "):
            pages = dict.fromkeys(one["ref"].partition("#")[0] for one in search.search(words))
            assert f"{page}/" in [*pages][:3], words


FOUND = {
    "search": "town",
    "web-servers": "FastAPI, Django, Celery, cron",
    "after-the-sale": "webhooks",
    "lost-replies": "idempotency",
    "retries": "retry, timeout",
    "concepts": "paging",
    "rate-limits": "rate limit",
    "concurrency": "proxy, custom CA",
    "cancel": "refund",
    "vouchers": "PDF",
    "payments": "invoice",
    "configuration": "tenants",
    "observability": "Prometheus",
    "changelog": "changelog",
    "versions": "upgrade, Windows, licence",
    "help": "support",
    "book": "price limit",
    "notebooks": "pandas",
    "troubleshooting": "unable to open database file, certificate verify failed",
}
"""The pages, and what readers search for that they tell."""


@LONG
def test_pages_link_to_their_source_if_the_package_names_its_repository(monkeypatch):
    hooks = pytest.importorskip("scripts.docs_hooks")
    load_config = pytest.importorskip("mkdocs.config").load_config
    address = "https://forge.example/ferry-sdk"
    for urls, expected in (([], None), ([f"Repository, {address}"], address)):
        package = Message()
        for url in urls:
            package["Project-URL"] = url
        monkeypatch.setattr(hooks, "metadata", {"ferry-sdk": package}.get)
        config = load_config(str(ROOT / "mkdocs.yml"))
        hooks.on_config(config)
        assert config.repo_url == expected
        assert config.edit_uri == ("edit/main/docs/" if expected else None)
