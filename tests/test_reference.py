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
SPACES = (
    "ferry_sdk",
    "ferry_sdk.models",
    "ferry_sdk.aftersales",
    "ferry_sdk.agents",
    "ferry_sdk.conformance",
    "ferry_sdk.journal",
    "ferry_sdk.notebook",
    "ferry_sdk.orders",
    "ferry_sdk.otel",
    "ferry_sdk.sandbox",
)
CALLS = {
    operation: f"ferry_sdk.resources.{group}.{group.capitalize()}Group.{name}"
    for operation in SAFETY
    for group, _, name in [operation.partition(".")]
}
"""Every call by its name on a client, and where the reference has it."""


def plain(text):
    """A text without its marks, in single blanks."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).replace("`", "").split())


class Loaded(HTMLParser):
    """What a page loads."""

    def __init__(self, page):
        super().__init__()
        self.addresses = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        """Note what an element loads."""
        given = dict(attrs)
        if tag == "link" and given.get("rel") != "canonical":
            self.addresses.append(given["href"])
        elif "src" in given:
            self.addresses.append(given["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The documentation, built without a warning."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def is_redirect(path):
    return 'http-equiv="refresh"' in path.read_text("utf-8")


@pytest.fixture(scope="module")
def pages(site):
    """The files of all pages but redirects, and what is shown where there is none."""
    paths = site.rglob("*.html")
    return [path for path in paths if path.name != "404.html" and not is_redirect(path)]


@pytest.fixture(scope="module")
def sections(site):
    """Heading and text of each of the reference's sections, by its anchor; as the search has it."""
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))
    return {
        anchor: (plain(section["title"]), plain(section["text"]))
        for section in index["docs"]
        for page, _, anchor in [section["location"].partition("#")]
        if page.startswith("reference/") and anchor
    }


def first_line(thing):
    """What a class or function says of itself first, without the endpoint it may name."""
    summary = inspect.cleandoc(thing.__doc__ or "").split("\n\n")[0]
    return plain(re.sub(r"\s*\bInterface: .*", "", summary, flags=re.DOTALL))


def is_shown(name, sections):
    """Whether a public name has a section in which its docstring stands."""
    space, _, short = name.rpartition(".")
    thing = getattr(import_module(space), short)
    _, text = sections.get(name, ("", ""))
    if inspect.isclass(thing) or inspect.isroutine(thing):
        return bool(first_line(thing)) and first_line(thing) in text
    return text.endswith(".")  # an attribute: what follows its value is a sentence


@LONG
def test_every_public_name_is_shown_with_its_docstring(sections):
    shown_by_the_root = set(import_module("ferry_sdk").__all__)
    names = [
        f"{space}.{name}"
        for space in SPACES
        for name in import_module(space).__all__
        if space != "ferry_sdk.models" or name not in shown_by_the_root
    ]
    assert [name for name in names if not is_shown(name, sections)] == []


@LONG
def test_every_call_is_shown_with_its_endpoint_and_its_answer(sections):
    assert [path for path in CALLS.values() if path not in sections] == []
    for operation, path in CALLS.items():
        title, text = sections[path]
        assert re.search(r" (GET|POST) /api/| tools/| resources/| resource://", title), operation
        assert " -> " in text.split("Parameters:")[0], operation
    assert [anchor for anchor, (_, text) in sections.items() if "Operation[" in text] == []
    title, text = sections[CALLS["tickets.get"]]
    assert title == "get GET /api/ticket/{id}"
    assert "get(ticket_id: str) -> Ticket " in text


@LONG
def test_every_field_of_a_record_is_shown(sections):
    models = import_module("ferry_sdk.models")
    for name in models.__all__:
        fields = getattr(getattr(models, name), "model_fields", {})
        where = next(
            one for one in (f"ferry_sdk.{name}", f"ferry_sdk.models.{name}") if one in sections
        )
        _, text = sections[where]
        assert [field for field in fields if not re.search(rf"\b{field}\b", text)] == [], name


def test_every_variable_of_the_environment_is_documented():
    told = (ROOT / "docs" / "configuration.md").read_text("utf-8")
    source = "".join(path.read_text("utf-8") for path in (ROOT / "ferry_sdk").rglob("*.py"))
    read = set(re.findall(r"\"(FERRY_[A-Z_]+)\"", source))
    assert read
    assert [name for name in sorted(read) if f"| `{name}` |" not in told] == []


@LONG
def test_the_site_loads_nothing_from_elsewhere(site, pages):
    loaded = [one for page in pages for one in Loaded(page.read_text("utf-8")).addresses]
    assert loaded
    assert [one for one in loaded if urlsplit(one).scheme not in {"", "data"}] == []
    styles = "".join(path.read_text("utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"url\(\s*[\"']?(?:https?:)?//[^)]*", styles) == []


@LONG
def test_a_page_has_one_first_heading_describes_itself_and_is_offered_as_markdown(site, pages):
    for path in pages:
        assert path.read_text("utf-8").count("<h1") == 1, path
    said = set()
    for page in ("agents", "cli", "local-service/testing", "reference/bookings"):
        text = (site / page / "index.html").read_text("utf-8")
        (description,) = re.findall(r'<meta name="description" content="([^"]+)">', text)
        said.add(description)
        (address,) = re.findall(r'<button type="button" data-copy="([^"]+)">', text)
        assert (site / page / address).read_text("utf-8").count("# ")
    assert len(said) == 4


@LONG
def test_a_page_shows_the_lists_and_programs_that_its_text_links_to(site):
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


FOUND = {
    "town": "search/",
    "FastAPI": "web-servers/",
    "Django": "web-servers/",
    "Celery": "web-servers/",
    "cron": "web-servers/",
    "webhooks": "after-the-sale/",
    "idempotency": "lost-replies/",
    "retry": "retries/",
    "timeout": "retries/",
    "paging": "concepts/",
    "rate limit": "rate-limits/",
    "proxy": "concurrency/",
    "custom CA": "concurrency/",
    "refund": "cancel/",
    "PDF": "vouchers/",
    "invoice": "payments/",
    "tenants": "configuration/",
    "Prometheus": "observability/",
    "changelog": "changelog/",
    "upgrade": "versions/",
    "Windows": "versions/",
    "licence": "help/",
    "price limit": "book/",
    "pandas": "notebooks/",
    "unable to open database file": "troubleshooting/",
    "certificate verify failed": "troubleshooting/",
}
"""What readers search for, and the page that tells them."""


@LONG
def test_a_search_for_a_readers_words_finds_their_page(site):
    lunr = pytest.importorskip("lunr")  # what the site searches with, in Python
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))
    search = lunr.lunr(
        ref="location",
        fields=[{"field_name": name, **one} for name, one in index["config"]["fields"].items()],
        documents=[{**one, "tags": " ".join(one.get("tags", ()))} for one in index["docs"]],
    )
    for words, page in FOUND.items():
        pages = dict.fromkeys(one["ref"].partition("#")[0] for one in search.search(words))
        assert page in [*pages][:3], words


@LONG
def test_llms_txt_lists_every_page_as_text(site, pages):
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
