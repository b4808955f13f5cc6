"""What the site adds to its pages, such as programs, descriptions, Markdown and llms.txt."""

from __future__ import annotations

import posixpath
import re
from functools import cache, partial
from html import escape, unescape
from importlib.metadata import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from griffe import load, load_extensions
from markdown import Markdown
from mkdocs.structure.nav import Section
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url
from pymdownx.snippets import SnippetExtension

if TYPE_CHECKING:
    from collections.abc import Iterator

    from griffe import Object
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure import StructureItem
    from mkdocs.structure.nav import Navigation

ROOT = Path(__file__).parents[1]
DIRECTIVE = re.compile(r"^::: ferry_sdk\.(\S+)\n(?: +.*\n?)*", re.MULTILINE)
"""A name whose docstring the reference shows, and its options."""
NAME = re.compile(r"^::: (.+)$(?!\n +options:)", re.MULTILINE)
"""A name whose docstring the reference shows, without options."""
FIRST_SENTENCE = re.compile(r"^# .+\n+([A-Z`].+?)(?:\.(?=\s|$)|:$)", re.MULTILINE)
LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
PROGRAM = re.compile(r"^\[[^\]]+\]\((?:\.\./)+(examples/(\w+\.py))\)$", re.MULTILINE)
"""A line that links to a program: the site shows the program there."""
FENCED = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
ADDRESS = re.compile(r"\]\((?!\w+:)([^)\s]+)\)")
"""Where a link leads within the site."""
CHANGELOG = "[CHANGELOG.md](../CHANGELOG.md)"
"""A line that links to the list of changes: the site shows the list there."""
TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
ROW = re.compile(r"<tr>.*?</tr>", re.DOTALL)
CELL = re.compile(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", re.DOTALL)
TAG = re.compile(r"<[^>]+>")

markdown: dict[str, str] = {}
"""Each page's text, by its file."""
sections: list[tuple[str, list[Page]]] = []


def on_config(config: MkDocsConfig) -> None:
    """Link each page to its source and to itself, if the package names these addresses."""
    urls = dict(url.split(", ", 1) for url in metadata("ferry-sdk").get_all("Project-URL") or ())
    if site := urls.get("Documentation"):
        config.site_url = config.site_url or site.rstrip("/") + "/"
    if repository := urls.get("Repository"):
        config.repo_url = repository
        config.edit_uri = "edit/main/docs/"


def on_nav(nav: Navigation, **_: object) -> None:
    """Keep the sections, in the order of the navigation."""
    sections[:] = [(item.title or "", [*pages_of(item)]) for item in nav.items]


def pages_of(item: StructureItem) -> Iterator[Page]:
    """Yield a page, or those of a section."""
    if isinstance(item, Section):
        for child in item.children:
            yield from pages_of(child)
    elif isinstance(item, Page):
        yield item


def on_page_markdown(text: str, page: Page, **_: object) -> str:
    """Put the programs into a page, describe it, and keep it with its docstrings."""
    text = PROGRAM.sub(program, text).replace(CHANGELOG, '--8<-- "CHANGELOG.md"')
    snippets = Markdown(
        extensions=[SnippetExtension(base_path=[str(ROOT)], check_paths=True)]
    ).preprocessors["snippet"]
    whole = "\n".join(snippets.run(text.split("\n")))
    markdown[page.file.src_uri] = DIRECTIVE.sub(lambda found: docstrings(found[1]), whole)
    if summary := first_sentence(text):
        page.meta.setdefault("description", escape(re.sub(r"[`*]", "", summary)))
    start, *parts = text.split("\n## ")
    shown = [NAME.sub(partial(with_options, level=3), part) for part in parts]
    return "\n## ".join([NAME.sub(partial(with_options, level=2), start), *shown])


def with_options(found: re.Match[str], level: int) -> str:
    """Return the directive of a name. A group of calls has no heading of its own."""
    shown, level = ("false", 2) if found[1].endswith("Group") else ("true", level)
    heading = f"show_root_heading: {shown}, show_root_toc_entry: {shown}"
    return f"{found[0]}\n    options: {{ heading_level: {level}, {heading} }}"


def program(found: re.Match[str]) -> str:
    """Return the block that includes a program."""
    path, name = found.groups()
    return f'```{{.python title="{name}"}}\n--8<-- "{path}"\n```'


def first_sentence(text: str) -> str:
    """Return what a page says of itself first, without links; empty if it is no sentence."""
    found = FIRST_SENTENCE.search(LINK.sub(r"\1", text))
    return f"{found[1]}." if found else ""


def on_page_content(html: str, page: Page, **_: object) -> str:
    """Offer a page as Markdown, and name the columns in the cells of its tables."""
    address = get_relative_url(page.file.src_uri, page.url)
    actions = (
        f'<p class="as-markdown"><button type="button" data-copy="{address}">Copy as Markdown'
        f'</button> <a href="{address}">Open as Markdown</a></p>'
    )
    return actions + TABLE.sub(lambda found: labelled(found[0]), html)


def labelled(table: str) -> str:
    """Return a table whose cells have the heads of their columns, for screens without columns."""
    head, *rows = ROW.findall(table)
    names = [escape(unescape(TAG.sub("", name))) for name in CELL.findall(head)]
    for row in rows:
        start, *cells = row.split("<td")
        pairs = zip(names, cells, strict=False)
        named = "".join(f'<td data-label="{name}"{cell}' for name, cell in pairs)
        table = table.replace(row, start + named, 1)
    return table


def on_post_page(output: str, **_: object) -> str:
    """Name the search, and let the keyboard scroll a block of code and a picture."""
    output = output.replace(' role="dialog"', ' role="dialog" aria-label="Search"', 1)
    output = re.sub(r"<p>(?=<img [^>]*#only-)", '<p tabindex="0">', output)
    return re.sub(r"(<pre[^>]*>(?:<span></span>)?<code)>", r'\1 tabindex="0">', output)


@cache
def library() -> Object:
    """Return what griffe reads of the package, as the reference shows it."""
    return load(
        "ferry_sdk",
        search_paths=[str(ROOT)],
        extensions=load_extensions(str(ROOT / "scripts" / "docs_extension.py")),
    )


def docstrings(name: str) -> str:
    """Return the signature and docstring of a name, and of its methods."""
    shown = library()[name]
    public = [one for key, one in shown.members.items() if one.is_function and key[0] != "_"]
    return "\n".join(
        f"### `{one.signature() if one.is_function else one.name}`\n\n{one.docstring.value}\n"
        for one in ([shown, *public] if shown.is_class else [shown])
        if one.docstring
    )


def on_post_build(config: MkDocsConfig) -> None:
    """Write llms.txt, the Markdown of each page that it lists, and llms-full.txt."""
    site = Path(config.site_dir)
    base = config.site_url or ""
    lines = [f"# {config.site_name}", "", f"> {config.site_description}"]
    for title, pages in sections:
        lines += ["", f"## {title}", ""]
        for page in pages:
            text = markdown[page.file.src_uri]
            summary = first_sentence(text)
            lines.append(
                f"- [{page.title}]({base}{page.file.src_uri})" + (f": {summary}" if summary else "")
            )
            target = site / page.file.src_uri
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    (site / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    names = [page.file.src_uri for _, pages in sections for page in pages]
    whole = "\n\n".join(from_root(markdown[name], name, base) for name in names)
    (site / "llms-full.txt").write_text(whole, encoding="utf-8")


def from_root(text: str, name: str, base: str) -> str:
    """Return a page's text with links that lead from the root of the site, outside of code."""

    def link(found: re.Match[str]) -> str:
        path, mark, anchor = found[1].partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
        return f"]({base}{target}{mark}{anchor})"

    parts = FENCED.split(text)
    parts[::2] = [ADDRESS.sub(link, part) for part in parts[::2]]
    return "".join(parts)
