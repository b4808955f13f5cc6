"""What the site has beside its pages: links to the repository, and llms.txt with Markdown."""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from griffe import load, load_extensions
from markdown import Markdown
from mkdocs.structure.nav import Section
from mkdocs.structure.pages import Page
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
FIRST_SENTENCE = re.compile(r"^# .+\n+([A-Z`].+?\.)(?=\s|$)", re.MULTILINE)
LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")

markdown: dict[str, str] = {}
"""Each page's text, by its file."""
sections: list[tuple[str, list[Page]]] = []


def on_config(config: MkDocsConfig) -> None:
    """Link each page to its source, if the package names its repository."""
    urls = dict(url.split(", ", 1) for url in metadata("ferry-sdk").get_all("Project-URL") or ())
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


def on_page_markdown(text: str, page: Page, **_: object) -> None:
    """Keep a page with its programs and docstrings in it."""
    snippets = Markdown(
        extensions=[SnippetExtension(base_path=[str(ROOT)], check_paths=True)]
    ).preprocessors["snippet"]
    whole = "\n".join(snippets.run(text.split("\n")))
    markdown[page.file.src_uri] = DIRECTIVE.sub(lambda found: docstrings(found[1]), whole)


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
    lines = [f"# {config.site_name}", "", f"> {config.site_description}"]
    for title, pages in sections:
        lines += ["", f"## {title}", ""]
        for page in pages:
            text = markdown[page.file.src_uri]
            summary = FIRST_SENTENCE.search(LINK.sub(r"\1", text))
            lines.append(
                f"- [{page.title}]({config.site_url or ''}{page.file.src_uri})"
                + (f": {summary[1]}" if summary else "")
            )
            target = site / page.file.src_uri
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    (site / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    whole = "\n\n".join(markdown[page.file.src_uri] for _, pages in sections for page in pages)
    (site / "llms-full.txt").write_text(whole, encoding="utf-8")
