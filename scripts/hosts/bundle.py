"""Pack the bundle (.mcpb) that hosts such as Claude Desktop install with a click.

Usage: python -m scripts.hosts.bundle FOLDER

The same files give the same bytes, on any machine: members are sorted and not compressed, since
releases of zlib compress differently, and have the time and the mode that are written here.
"""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path

from ferry_sdk import __version__
from scripts.hosts.listing import BUNDLE

MEMBERS = ("icon.png", "manifest.json", "pyproject.toml", "server.py")
EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The first moment that a ZIP file can name."""
MODE = 0o644 << 16
UNIX = 3
"""The system that gives `MODE` its meaning, on Windows too."""


def pack() -> bytes:
    """Return the bundle."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name in MEMBERS:
            member = zipfile.ZipInfo(name, EARLIEST)
            member.create_system = UNIX
            member.external_attr = MODE
            archive.writestr(member, (BUNDLE / name).read_bytes())
    return file.getvalue()


def main(folder: Path) -> None:
    """Write the bundle to a folder, under the name of its version."""
    path = folder / f"ferry-sdk-{__version__}.mcpb"
    path.write_bytes(pack())
    print(f"{path.name}: {len(MEMBERS)} files.")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
