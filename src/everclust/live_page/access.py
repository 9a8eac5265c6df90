"""Who may ask for what: the page is for people at this machine, or for those who know the token."""

from __future__ import annotations

from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from secrets import compare_digest
from urllib.parse import urlsplit

LOCAL_NAMES = ("127.0.0.1", "localhost", "::1")
TYPED_OR_OWN = (None, "none", "same-origin")  # Sec-Fetch-Site; None from old browsers and from scripts


def is_local(host: str) -> bool:
    """Can only this machine reach that address?"""
    return host in LOCAL_NAMES


def knows_us(headers: Mapping[str, str], token: str | None) -> bool:
    """Was the server asked by a name of its own? Other names lead here when DNS is made to lie.

    Whoever needs the token cannot be led here by a lie: the browser keeps it for another name.
    """
    host = headers.get("Host")
    return host is not None and (token is not None or _hostname(host) in LOCAL_NAMES)


def has_token(headers: Mapping[str, str], given: str | None, token: str | None, cookie_name: str) -> bool:
    """Does the query or the cookie hold the token, if one is needed?"""
    if token is None:
        return True
    return any(
        candidate is not None and compare_digest(candidate.encode(), token.encode())
        for candidate in (given, _cookie(headers.get("Cookie", ""), cookie_name))
    )


def is_own_page(headers: Mapping[str, str]) -> bool:
    """Does the request come from our page, or from no page at all?"""
    if headers.get("Sec-Fetch-Site") not in TYPED_OR_OWN:
        return False
    origin = headers.get("Origin")
    return origin is None or urlsplit(origin).netloc == headers.get("Host")


def _hostname(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def _cookie(text: str, name: str) -> str | None:
    try:
        found = SimpleCookie(text).get(name)
    except CookieError:
        return None
    return None if found is None else found.value
