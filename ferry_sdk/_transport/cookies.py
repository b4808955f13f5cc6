"""Cookies: none that a reply sets is kept, because one client serves several accounts.

The library's own clients know no cookies. An httpx client that the library makes gets a jar that
refuses all. The jar of the caller's client keeps what the caller puts into it, and takes nothing
from the replies to this library's requests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferry_sdk._runtime.threads import load_module
from ferry_sdk._transport.send_guard import SendGuard

if TYPE_CHECKING:
    from http.cookiejar import CookieJar


def empty_jar() -> CookieJar:
    """Return a jar that refuses every cookie, for an httpx client."""
    cookiejar = load_module("http.cookiejar")  # slow to import, and needed with httpx only
    jar: CookieJar = cookiejar.CookieJar(cookiejar.DefaultCookiePolicy(allowed_domains=()))
    return jar


def refuse_cookies_of_replies(client: Any) -> None:  # noqa: ANN401 -- the caller's HTTP client
    """Have the jar of a caller's client take nothing from the replies to our requests.

    It is called before each request, because the caller may replace the jar at any time. A client
    that is not of httpx or httpx2, and has no jar like theirs, is left as it is.
    """
    cookies: Any = getattr(client, "cookies", None)
    extract = getattr(cookies, "extract_cookies", None)
    if extract is None or isinstance(extract, _ExtractOfOthers):
        return
    cookies.extract_cookies = _ExtractOfOthers(extract)


class _ExtractOfOthers:
    """Takes the cookies of a reply, unless this library sent the request.

    Args:
        extract: The method of the jar.
    """

    def __init__(self, extract: Any) -> None:  # noqa: ANN401 -- a function of httpx
        self._extract = extract

    def __call__(self, response: Any) -> None:  # noqa: ANN401 -- a response of httpx
        trace = response.request.extensions.get("trace")
        is_of_this_library = isinstance(getattr(trace, "__self__", None), SendGuard)
        if not is_of_this_library:
            self._extract(response)
