"""The page of the controls: one file, which no other host serves a part of."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

from starlette.responses import Response


def page() -> Response:
    """Return the page, with a policy that allows its own style and script only."""
    body, policy = _page()
    headers = {
        "content-security-policy": policy,
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
    }
    return Response(body, headers=headers, media_type="text/html")


@cache
def _page() -> tuple[bytes, str]:
    text = Path(__file__).with_name("control.html").read_text(encoding="utf-8")
    style, script = (
        base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        for content in re.findall(r"<(?:style|script)>(.*?)</(?:style|script)>", text, re.DOTALL)
    )
    policy = (
        f"default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return text.encode(), policy
