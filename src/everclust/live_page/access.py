"""Access checks: the page is for this machine's own users and for browsers that have the token."""

from __future__ import annotations

from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from secrets import compare_digest
from urllib.parse import urlsplit

LOCAL_NAMES = ("127.0.0.1", "localhost", "::1")
# Sec-Fetch-Site of a typed address and of our own page; old browsers and scripts do not send the header.
TRUSTED_SITES = (None, "none", "same-origin")


def is_local(host: str) -> bool:
    """True if only this machine can reach the address."""
    return host in LOCAL_NAMES


def is_own_host(headers: Mapping[str, str], token: str | None) -> bool:
    """True if the Host header names this machine: guards against DNS rebinding.

    A page with a token needs no such guard: a browser sends the token's cookie only to the name that set it.
    """
    host = headers.get("Host")
    return host is not None and (token is not None or _hostname(host) in LOCAL_NAMES)


def has_token(headers: Mapping[str, str], given: str | None, token: str | None, cookie_name: str) -> bool:
    """True if the query or the cookie holds the token, or if none is needed."""
    if token is None:
        return True
    return any(
        candidate is not None and compare_digest(candidate.encode(), token.encode())
        for candidate in (given, _cookie(headers.get("Cookie", ""), cookie_name))
    )


def is_same_origin(headers: Mapping[str, str]) -> bool:
    """True if the request comes from our own page or from no page at all."""
    if headers.get("Sec-Fetch-Site") not in TRUSTED_SITES:
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
