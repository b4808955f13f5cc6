"""Write the version of the package and its tools into the files that MCP hosts read.

Usage: python -m scripts.hosts.listing [--check]

`server.json` is the package's entry in the MCP registry. `mcpb/` is the folder of the bundle that
`scripts/hosts/bundle.py` packs. In both, everything else is written by hand.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from ferry_sdk import Ferry, __version__
from ferry_sdk.agents import Toolkit

HOSTS = Path(__file__).parent
ROOT = HOSTS.parents[1]
SERVER = HOSTS / "server.json"
BUNDLE = HOSTS / "mcpb"
MANIFEST = BUNDLE / "manifest.json"
PROJECT = BUNDLE / "pyproject.toml"
REQUIREMENT = f"ferry-sdk[agents]=={__version__}"
"""What a host installs. The extra brings the MCP SDK."""
VERSION = re.compile(r'^version = ".*"$', re.MULTILINE)
DEPENDENCIES = re.compile(r"^dependencies = .*$", re.MULTILINE)
FIRST_SENTENCE = re.compile(r".+?\.(?=\s|$)")


def server() -> str:
    """Return the entry in the registry."""
    entry: dict[str, Any] = json.loads(SERVER.read_text("utf-8"))
    entry["version"] = __version__
    (package,) = entry["packages"]
    package["version"] = __version__
    # A host runs `uvx --with REQUIREMENT ferry-sdk==VERSION mcp`. The identifier is the name on
    # PyPI alone, so the extra has to come from an argument of uvx.
    (requirement,) = package["runtimeArguments"]
    requirement["value"] = REQUIREMENT
    return text_of(entry)


def manifest() -> str:
    """Return the manifest of the bundle."""
    content: dict[str, Any] = json.loads(MANIFEST.read_text("utf-8"))
    content["version"] = __version__
    content["tools"] = tools()
    return text_of(content)


def tools() -> list[dict[str, str]]:
    """Return the tools of a server without writes, as a person reads them before installing."""
    with Ferry("no-token", base_url="https://ferry.example") as ferry:
        definitions = Toolkit(ferry).definitions()
    return [
        {"name": tool.name, "description": first_sentence(tool.description)} for tool in definitions
    ]


def first_sentence(text: str) -> str:
    """Return the first sentence of a description."""
    found = FIRST_SENTENCE.match(text)
    return found[0] if found else text


def project() -> str:
    """Return the requirements of the bundle."""
    text = PROJECT.read_text("utf-8")
    text = VERSION.sub(f'version = "{__version__}"', text)
    return DEPENDENCIES.sub(f'dependencies = ["{REQUIREMENT}"]', text)


def text_of(content: dict[str, Any]) -> str:
    """Return JSON as the files have it."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def main(*arguments: str) -> None:
    """Write the files, or check what is there."""
    for path, text in {SERVER: server(), MANIFEST: manifest(), PROJECT: project()}.items():
        if "--check" not in arguments:
            path.write_text(text, encoding="utf-8")
        elif path.read_text("utf-8") != text:
            sys.exit(f"{path.relative_to(ROOT)} is not complete; run scripts/api-map.")


if __name__ == "__main__":
    main(*sys.argv[1:])
