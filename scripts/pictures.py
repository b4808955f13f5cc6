"""Draw the pictures of the documentation, light and dark, from the outputs of `picture_outputs`.

1. A terminal is an SVG, which rich makes of the text with its colours.
2. A chart is a PNG, which matplotlib makes; the dark one has its style ``dark_background``.
3. Outputs of a notebook, the card of an approval and the page of the local service are pages, which
   Chromium draws.
4. The hashes of the outputs are kept in `outputs.json` beside the pictures.

Usage: pictures.py MODULES CHROMIUM [NAME...], with the folder where puppeteer-core is installed.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from html import escape
from io import BytesIO, StringIO
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from matplotlib import style
from PIL import Image
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from ferry_sdk.sandbox import Sandbox
from scripts.picture_outputs import (
    CARD,
    CARD_PAGE,
    MOMENT,
    OUTPUTS,
    ROOT,
    WIDTH,
    fingerprint,
    output_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

PICTURES = ROOT / "docs" / "pictures"
HASHES = PICTURES / "outputs.json"
THEMES = ("light", "dark")
COLOURS = 64
"""How many colours a PNG has, so that it is small."""

CELLS = {
    "trips": 'trips = ferry.trips.search("Genoa", "Tunis", on=day, flexible=3, passengers=party)\n'
    "trips",
    "sailing": "trips[0].outward",
    "calendar": 'ferry.trips.calendar("Genoa", "Tunis", start=start, end=end, passengers=party)',
}
"""The cells of the notebook whose outputs are drawn."""
TERMINAL_TITLES = {"search": "ferry search", "cancel": "ferry cancel"}
QUESTION = "Book the cheapest crossing from Genoa to Tunis for Léo and me."

NOTEBOOK_PAGE = """\
<!doctype html>
<meta charset="utf-8">
<style>
  :root {{ color-scheme: light dark; font: 14px/1.4 system-ui, sans-serif }}
  body {{ margin: 0; background: light-dark(#fff, #111); color: light-dark(#1c1c1c, #e8e8e8) }}
  main {{ display: grid; gap: 8px 10px; grid-template-columns: auto 1fr; width: max-content;
          padding: 12px 16px 12px 8px }}
  .prompt {{ color: light-dark(#5a6b7b, #9fb3c6); font: 12px/1.5 monospace; padding: 6px 0 }}
  pre {{ background: light-dark(#f5f5f5, #212121); border: 1px solid light-dark(#ddd, #3c3c3c);
         font: 13px/1.5 monospace; margin: 0; padding: 5px 10px }}
  table {{ font-size: 12px }}
</style>
<main>
<div class="prompt">In&nbsp;[1]:</div><pre>{code}</pre>
<div class="prompt">Out[1]:</div><div>{output}</div>
</main>
"""
CHAT_PAGE = """\
<!doctype html>
<meta charset="utf-8">
<style>
  :root {{ color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif }}
  body {{ margin: 0; background: light-dark(#f7f7f8, #111); color: light-dark(#16181a, #f3f4f5) }}
  main {{ padding: 16px }}
  .person {{ background: light-dark(#e4e8ee, #2c3138); border-radius: 14px; margin: 0 0 14px auto;
             padding: 8px 14px; width: fit-content }}
  iframe {{ border: 1px solid light-dark(#c9ced4, #45494e); border-radius: 12px; display: block;
            height: 20px; width: 100% }}
</style>
<main><div class="person">{question}</div><iframe sandbox="allow-scripts"></iframe></main>
<script>
  const frame = document.querySelector("iframe");
  const post = (message) => frame.contentWindow.postMessage({{ jsonrpc: "2.0", ...message }}, "*");
  const context = {{ theme: "{theme}" }};
  let isShown = false;
  let settling = 0;
  window.addEventListener("message", ({{ data }}) => {{
    if (data.method === "ui/initialize") {{
      post({{ id: data.id, result: {{ hostCapabilities: {{}}, hostContext: context }} }});
    }} else if (data.method === "ui/notifications/initialized") {{
      post({{ method: "ui/notifications/tool-result", params: {result} }});
      isShown = true;
    }} else if (data.method === "ui/notifications/size-changed") {{
      frame.style.height = `${{data.params.height}}px`;
      // The height is right when no other one follows.
      clearTimeout(settling);
      if (isShown) settling = setTimeout(() => frame.classList.add("ready"), 500);
    }}
  }});
  frame.srcdoc = {page};
</script>
"""
SVG = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace }}
.{unique_id}-matrix {{ font-size: {char_height}px; line-height: {line_height}px }}
.{unique_id}-title {{ font-family: sans-serif; font-size: 18px; font-weight: bold }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""Rich's own format, without fonts of other hosts."""
ANSI = {
    "light": [
        (36, 41, 47),
        (179, 29, 40),
        (17, 99, 41),
        (122, 77, 0),
        (9, 80, 174),
        (130, 60, 160),
        (14, 104, 117),
        (87, 96, 106),
    ],
    "dark": [
        (72, 79, 88),
        (255, 123, 114),
        (86, 211, 100),
        (227, 179, 65),
        (121, 192, 255),
        (210, 168, 255),
        (86, 212, 221),
        (201, 209, 217),
    ],
}
"""The eight colours of a terminal."""
TERMINALS = {
    "light": TerminalTheme((246, 248, 250), (31, 35, 40), ANSI["light"]),
    "dark": TerminalTheme((22, 27, 34), (230, 237, 243), ANSI["dark"]),
}


def draw_terminal(name: str, text: str) -> None:
    """Write the pictures of a terminal."""
    for theme in THEMES:
        console = Console(record=True, width=WIDTH, file=StringIO(), force_terminal=True)
        console.print(Text.from_ansi(text), soft_wrap=True)
        svg = console.export_svg(
            title=TERMINAL_TITLES[name], theme=TERMINALS[theme], code_format=SVG, unique_id=name
        )
        # A frame that can be seen on a white page, too.
        svg = svg.replace("rgba(255,255,255,0.35)", "rgba(128,128,128,0.5)")
        (PICTURES / f"{name}-{theme}.svg").write_text(svg, encoding="utf-8")


def draw_chart(name: str) -> None:
    """Write the pictures of a chart."""
    for theme in THEMES:
        with style.context("dark_background" if theme == "dark" else "default"):
            figure: Any = output_of(name)
            content = BytesIO()
            figure.savefig(content, format="png")
        save_small(content, PICTURES / f"{name}-{theme}.png")


def save_small(content: BytesIO | Path, target: Path) -> None:
    """Write a PNG with few colours."""
    image = Image.open(content).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)


class Page(NamedTuple):
    """A page that Chromium draws.

    Attributes:
        html: Its text; empty: a page of the local service.
        width: The width of the window.
        height: Its height.
        ready: The selector of an element that is there when the page can be drawn.
        part: The selector of the element that is drawn; empty: the window.
    """

    html: str
    width: int
    height: int
    ready: str
    part: str


def page_of(name: str, output: str, theme: str) -> Page | None:
    """Return the page that shows an output; None if it needs none."""
    if name in CELLS:
        html = NOTEBOOK_PAGE.format(code=escape(CELLS[name]), output=output)
        return Page(html=html, width=1000, height=700, ready="main", part="main")
    if name == "approval":
        html = chat_page(output, theme)
        return Page(html=html, width=620, height=700, ready=".ready", part="main")
    if name == "service":
        return Page(html="", width=900, height=560, ready=".opblock", part="")
    return None


def chat_page(output: str, theme: str) -> str:
    """Return a small host that shows the card of an approval."""
    card = json.loads(output)["card"]
    result: dict[str, Any] = {"_meta": {CARD: {**card, "call": {}}}}
    page = json.dumps(CARD_PAGE.read_text("utf-8")).replace("</", "<\\/")
    return CHAT_PAGE.format(question=QUESTION, theme=theme, result=json.dumps(result), page=page)


def draw_pages(outputs: Mapping[str, str | Figure], modules: str, browser: str) -> None:
    """Write the pictures of pages."""
    node = shutil.which("node") or sys.exit("There is no Node on PATH.")
    jobs: list[dict[str, object]] = []
    with TemporaryDirectory() as place, Sandbox() as sandbox:
        folder = Path(place)
        for name, theme in product(outputs, THEMES):
            page = page_of(name, str(outputs[name]), theme)
            if page is None:
                continue
            url = f"{sandbox.base_url}/docs"
            if page.html:
                file = folder / f"{name}-{theme}.html"
                file.write_text(page.html, encoding="utf-8")
                url = file.as_uri()
            more = {"url": url, "theme": theme, "moment": MOMENT.timestamp() * 1000}
            jobs.append({**page._asdict(), **more, "file": str(folder / f"{name}-{theme}.png")})

        list_of_jobs = folder / "jobs.json"
        list_of_jobs.write_text(json.dumps(jobs), encoding="utf-8")
        script = str(Path(__file__).with_suffix(".mjs"))
        subprocess.run([node, script, modules, browser, str(list_of_jobs)], check=True)  # noqa: S603 -- own script
        for picture in sorted(folder.glob("*.png")):
            save_small(picture, PICTURES / picture.name)


def main(modules: str, browser: str, *names: str) -> None:
    """Draw the pictures, or those of these names, and keep the hashes of their outputs."""
    outputs = {name: output_of(name) for name in names or OUTPUTS}
    for name, output in outputs.items():
        if not isinstance(output, str):
            draw_chart(name)
        elif name in TERMINAL_TITLES:
            draw_terminal(name, output)
    draw_pages(outputs, modules, browser)

    hashes: dict[str, str] = json.loads(HASHES.read_text("utf-8"))
    hashes |= {name: fingerprint(output) for name, output in outputs.items()}
    HASHES.write_text(json.dumps(hashes, indent=2, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
