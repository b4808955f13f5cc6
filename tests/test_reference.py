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
from scripts.public_names import PACKAGES
from tests.support.tiers import LONG

pytestmark = pytest.mark.timeout(300)

ROOT = Path(__file__).parents[1]
NO_SITE = "what builds the site is not installed"


def anchor_of(operation):
    """Return where the reference has the call of an operation."""
    group, _, name = operation.partition(".")
    return f"ferry_sdk.resources.{group}.{group.capitalize()}Group.{name}"


CALLS = {operation: anchor_of(operation) for operation in SAFETY}
"""Every call by its name on a client, and where the reference has it."""


def plain(text):
    """Return the text of a piece of HTML, on one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).replace("`", "").split())


class Loaded(HTMLParser):
    """The addresses that a page loads."""

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
    """The folder of the built site."""
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
    """The HTML of each page by its path, without the page of an error."""
    files = [path for path in site.rglob("*.html") if path.name != "404.html"]
    return {path: path.read_text("utf-8") for path in files}


@pytest.fixture(scope="module")
def index(site):
    """The search index of the site."""
    return json.loads((site / "search" / "search_index.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def sections(index):
    """The title and the text of each section of the reference by its anchor."""
    found = {}
    for section in index["docs"]:
        page, _, anchor = section["location"].partition("#")
        if page.startswith("reference/") and anchor:
            found[anchor] = (plain(section["title"]), plain(section["text"]))
    return found


def first_line(thing):
    """Return the summary of a docstring."""
    summary = inspect.cleandoc(thing.__doc__ or "").split("\n\n")[0]
    return plain(re.sub(r"\s*\bInterface: .*", "", summary, flags=re.DOTALL))


def is_shown(name, sections):
    """Whether the section of a name has its summary."""
    space, _, short = name.rpartition(".")
    thing = getattr(import_module(space), short)
    _, text = sections.get(name, ("", ""))
    if inspect.isclass(thing) or inspect.isroutine(thing):
        return bool(first_line(thing)) and first_line(thing) in text
    return text.endswith(".")  # an attribute: what follows its value is a sentence


def names_of(space):
    """Return the public names of a module; the root shows its models on its own pages."""
    names = set(import_module(space).__all__)
    if space == "ferry_sdk.models":
        names -= set(import_module("ferry_sdk").__all__)
    return sorted(names)


every_space = pytest.mark.parametrize("space", PACKAGES)


@LONG
@every_space
def test_every_public_name_is_shown(sections, space):
    names = [f"{space}.{name}" for name in names_of(space)]
    assert [name for name in names if not is_shown(name, sections)] == []


@LONG
@every_space
def test_every_field_is_shown(sections, space):
    missing = []
    for name in names_of(space):
        fields = getattr(getattr(import_module(space), name), "model_fields", {})
        _, text = sections[f"{space}.{name}"]
        missing += [f"{name}.{one}" for one in fields if not re.search(rf"\b{one}\b", text)]
    assert missing == []


every_call = pytest.mark.parametrize("operation", CALLS)


@LONG
@every_call
def test_call_shows_what_it_requests(sections, operation):
    title, _ = sections[CALLS[operation]]
    assert re.search(r" (GET|POST) /api/| tools/| resources/| resource://", title)


@LONG
@every_call
def test_call_shows_what_it_returns(sections, operation):
    _, text = sections[CALLS[operation]]
    assert " -> " in text.split("Parameters:")[0]


@LONG
def test_no_section_shows_how_calls_are_bound(sections):
    assert [anchor for anchor, (_, text) in sections.items() if "Operation[" in text] == []


@LONG
def test_call_is_shown_as_a_method(sections):
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
def test_pages_load_nothing_from_elsewhere(pages):
    loaded = [one for page in pages.values() for one in Loaded(page).addresses]
    assert loaded
    assert [one for one in loaded if urlsplit(one).scheme not in {"", "data"}] == []


@LONG
def test_styles_load_nothing_from_elsewhere(site):
    styles = "".join(path.read_text("utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"url\(\s*[\"']?(?:https?:)?//[^)]*", styles) == []


@LONG
def test_pages_have_one_heading(pages):
    assert [path for path, text in pages.items() if text.count("<h1") != 1] == []


SEVERAL = ("agents", "cli", "local-service/testing", "reference/bookings")
"""Pages of several kinds."""


def page_of(site, name):
    """Return the HTML of a page."""
    return (site / name / "index.html").read_text("utf-8")


@LONG
def test_page_has_a_description_of_its_own(site):
    description = r'<meta name="description" content="([^"]+)">'
    assert (
        len({one for name in SEVERAL for one in re.findall(description, page_of(site, name))}) == 4
    )


@LONG
@pytest.mark.parametrize("name", SEVERAL)
def test_page_is_offered_as_text(site, name):
    button = r'<button type="button" data-copy="([^"]+)">'
    (address,) = re.findall(button, page_of(site, name))
    assert "# " in (site / name / address).read_text("utf-8")


@pytest.fixture(scope="module")
def list_of_texts(site):
    """The list of the pages as text."""
    return (site / "llms.txt").read_text("utf-8")


@pytest.fixture(scope="module")
def texts(site, list_of_texts):
    """The pages as text, by their addresses in the list."""
    links = re.findall(r"^- \[[^\]]+\]\((\S+\.md)\)", list_of_texts, re.MULTILINE)
    return [(link, (site / link).read_text("utf-8")) for link in links]


@LONG
def test_list_of_texts_has_a_title(list_of_texts):
    assert list_of_texts.startswith("# ferry_sdk\n\n> ")


@LONG
def test_every_page_is_in_the_list(texts, pages):
    assert len(texts) == len(pages)


def names_in(nav):
    """Return the files of a navigation, in its order."""
    if isinstance(nav, str):
        return [nav]
    items = nav.values() if isinstance(nav, dict) else nav
    return [name for item in items for name in names_in(item)]


@LONG
def test_list_has_the_order_of_the_navigation(texts):
    load_config = pytest.importorskip("mkdocs.config", reason=NO_SITE).load_config
    assert [link for link, _ in texts] == names_in(load_config(str(ROOT / "mkdocs.yml")).nav)


@pytest.fixture(scope="module")
def whole_text(site):
    """The text of all pages, in one file."""
    return (site / "llms-full.txt").read_text("utf-8")


@LONG
def test_whole_text_has_every_page(texts, whole_text):
    lines = {*whole_text.splitlines()}
    for link, text in texts:
        # A line with a link differs: in the whole text it leads from the root of the site.
        missing = [line for line in text.splitlines() if "](" not in line and line not in lines]
        assert missing == [], link


def broken_links(text, folder):
    """Return the links of a text, outside of code, that lead to no file."""
    prose = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\((?!\w+:)([^)#\s]+)", prose)
    return [link for link in links if not (folder / link).is_file()]


@LONG
def test_links_of_the_list_lead_to_files(list_of_texts, site):
    assert broken_links(list_of_texts, site) == []


@LONG
def test_links_of_the_whole_text_lead_to_files(whole_text, site):
    assert broken_links(whole_text, site) == []


@LONG
def test_links_of_texts_lead_to_files(texts, site):
    broken = {link: broken_links(text, (site / link).parent) for link, text in texts}
    assert {link: links for link, links in broken.items() if links} == {}


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        pytest.param("[a](start.md)", "[a](local-service/start.md)", id="beside"),
        pytest.param("[a](../cli.md#exit-codes)", "[a](cli.md#exit-codes)", id="above"),
        pytest.param("[a](#faults)", "[a](local-service/testing.md#faults)", id="same page"),
        pytest.param("[a](https://a.example)", "[a](https://a.example)", id="elsewhere"),
        pytest.param("```\nf[0](a)\n```", "```\nf[0](a)\n```", id="code"),
    ],
)
def test_whole_text_links_from_the_root(text, moved):
    hooks = pytest.importorskip("scripts.docs_hooks", reason=NO_SITE)
    assert hooks.from_root(text, "local-service/testing.md", "") == moved


@LONG
def test_texts_show_no_directives(texts):
    directive = re.compile(r"^(:::|-+8<-+) ", re.MULTILINE)
    assert [link for link, text in texts if directive.search(text)] == []


@LONG
@pytest.mark.parametrize(
    ("file", "shown"),
    [
        pytest.param("reference/bookings.md", "expect_total", id="reference"),
        pytest.param("examples/shop.md", "create_app", id="example"),
    ],
)
def test_text_has_what_its_page_includes(site, file, shown):
    assert shown in (site / file).read_text("utf-8")


@LONG
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("assumptions", "no_sailings"),
        ("cli", "Find ports by code"),
        ("cli", "paid_not_issued"),
        ("examples", "many_searches_at_once.py"),
        ("local-service/testing", "the search answers after 5 seconds"),
        ("reference/sandbox", "sold_out=True"),
        ("reference/enumerations", "All tickets are issued."),
    ],
)
def test_page_shows_what_it_links_to(site, name, shown):
    assert shown in page_of(site, name)


@pytest.fixture(scope="module")
def search(index):
    """The search of the site, in Python. It returns the pages for words, best first.

    As in a browser, words are split by the site's separator and not stemmed, each finds what
    begins with it, and a page or a section with all of them comes before one with some.
    """
    lunr = pytest.importorskip("lunr", reason="the search of the site, in Python, is not installed")
    config = index["config"]

    def words(text):
        return [word for word in re.split(config["separator"], plain(text).lower()) if word]

    builder = lunr.get_default_builder()
    builder.pipeline.reset()
    builder.search_pipeline.reset()
    builder.b(0)
    texts = lunr.lunr(
        ref="location",
        fields=[{"field_name": name, **field} for name, field in config["fields"].items()],
        documents=[
            {
                "location": one["location"],
                "title": " ".join(words(one["title"])),
                "text": " ".join(words(one["text"])),
                "tags": " ".join(words(" ".join(one.get("tags", ())))),
            }
            for one in index["docs"]
        ],
        builder=builder,
    )

    def find(query):
        wanted = words(query)

        def score(one):
            found = one["match_data"].metadata
            share = sum(any(each.startswith(word) for each in found) for word in wanted)
            return one["score"] * (1 + ("#" not in one["ref"]) + share / len(wanted)) ** 2

        results = texts.search(" ".join(f"{word}*" for word in wanted))
        ranked = sorted(results, key=score, reverse=True)
        return [*dict.fromkeys(one["ref"].partition("#")[0] for one in ranked)]

    return find


@LONG
@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("town", "search"),
        ("FastAPI", "web-servers"),
        ("Django", "web-servers"),
        ("Flask", "web-servers"),
        ("prefork", "web-servers"),
        ("Celery", "web-servers"),
        ("cron", "web-servers"),
        ("webhooks", "after-the-sale"),
        ("idempotency", "lost-replies"),
        ("idempotency key", "book"),
        ("wait for tickets", "book"),
        ("polling", "book"),
        ("glossary", "concepts"),
        ("strict", "concepts"),
        ("unreadable", "search"),
        ("transfer", "search"),
        ("reminder", "after-the-sale"),
        ("departure moved", "after-the-sale"),
        ("price alert", "offers"),
        ("price history", "offers"),
        ("ferry find", "cli"),
        ("ferry show", "cli"),
        ("ferry change", "orders"),
        ("ferry book", "cli"),
        ("make_booking", "local-service/testing"),
        ("label", "observability"),
        ("FERRY_LOG=info", "observability"),
        ("MCP over HTTP", "mcp-server"),
        ("http_app", "mcp-server"),
        ("approval card", "mcp-server"),
        ("llms.txt", "agents"),
        ("SKILL.md", "agents"),
        ("PyInstaller", "start"),
        ("httpx2", "concurrency"),
        ("session expired", "protocols"),
        ("retry", "retries"),
        ("timeout", "retries"),
        ("paging", "concepts"),
        ("rate limit", "rate-limits"),
        ("proxy", "concurrency"),
        ("custom CA", "concurrency"),
        ("refund", "cancel"),
        ("PDF", "vouchers"),
        ("invoice", "payments"),
        ("tenants", "configuration"),
        ("Prometheus", "observability"),
        ("changelog", "changelog"),
        ("upgrade", "versions"),
        ("Windows", "versions"),
        ("licence", "versions"),
        ("support", "help"),
        ("price limit", "book"),
        ("pandas", "notebooks"),
        ("unable to open database file", "troubleshooting"),
        ("certificate verify failed", "troubleshooting"),
    ],
)
def test_search_for_a_readers_words_finds_their_page(search, words, page):
    assert f"{page}/" in search(words)[:3]


REPOSITORY = "https://forge.example/ferry-sdk"


@LONG
@pytest.mark.parametrize(
    ("urls", "repository", "edit"),
    [
        pytest.param([], None, None, id="no repository"),
        pytest.param(
            [f"Repository, {REPOSITORY}"], REPOSITORY, "edit/main/docs/", id="a repository"
        ),
    ],
)
def test_pages_link_to_the_packages_repository(monkeypatch, urls, repository, edit):
    hooks = pytest.importorskip("scripts.docs_hooks", reason=NO_SITE)
    load_config = pytest.importorskip("mkdocs.config", reason=NO_SITE).load_config
    package = Message()
    for url in urls:
        package["Project-URL"] = url
    monkeypatch.setattr(hooks, "metadata", {"ferry-sdk": package}.get)

    config = load_config(str(ROOT / "mkdocs.yml"))
    hooks.on_config(config)
    assert config.repo_url == repository
    assert config.edit_uri == edit
