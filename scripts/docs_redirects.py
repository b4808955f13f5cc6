"""The addresses of earlier pages lead to those that replace them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig

PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Moved</title>
<meta http-equiv="refresh" content="0; url={url}">
<link rel="canonical" href="{url}">
<p><a href="{url}">This page has moved.</a></p>
</html>
"""


def on_post_build(config: MkDocsConfig) -> None:
    """Write a page for each redirect of `extra.redirects`, and fail where one leads nowhere."""
    site = Path(config.site_dir)
    for old, new in config.extra["redirects"].items():
        if not (site / new / "index.html").exists():
            raise FileNotFoundError(site / new)
        target = site / old / "index.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        ups = "../" * len(Path(old).parts)
        target.write_text(PAGE.format(url=f"{ups}{new}/"), encoding="utf-8")
