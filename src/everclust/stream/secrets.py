"""Secrets in URLs: `${NAME}` stands for an environment variable, or for the text in the file NAME_FILE."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import quote

from .batch import StreamError

_NAME = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
MIN_MASKED = 4  # characters: shorter ones occur in other words, and no message holds the password of a URL
_known: dict[str, str] = {}  # secrets that were read, by their value


def expanded(url: str) -> str:
    """A URL in which every `${NAME}` is replaced; paths of files and commands stay as they are.

    In user, password and options, where special characters are written as %xx, the secret is quoted.
    """
    if _NAME.fullmatch(url):
        return _replaced(url, is_quoted=False)
    scheme, is_url, rest = url.partition("://")
    if not is_url or not _NAME.search(rest):
        return url
    place, question, options = rest.partition("?")
    login, at, host = place.rpartition("@")
    parts = [_replaced(login, is_quoted=True), at, _replaced(host, is_quoted=False), question]
    return "".join([scheme, is_url, *parts, _replaced(options, is_quoted=True)])


def with_secrets(text: str) -> str:
    """A text in which every `${NAME}` is replaced."""
    return _replaced(text, is_quoted=False)


def _replaced(text: str, *, is_quoted: bool) -> str:
    def secret(match: re.Match[str]) -> str:
        value = _read(match[1])
        _known[value] = match[0]
        return quote(value, safe="") if is_quoted else value

    return _NAME.sub(secret, text)


def _read(name: str) -> str:
    if name in os.environ:
        return os.environ[name]
    path = os.environ.get(f"{name}_FILE")
    if path is None:
        raise StreamError(
            f"${{{name}}} stands for a secret, but neither the environment variable {name} nor {name}_FILE, "
            "the path of a file with the secret, is set; set one of them."
        )
    try:
        return Path(path).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise StreamError(f"{path}, which {name}_FILE names, cannot be read: {reason}.") from None


def masked(text: str) -> str:
    """A text in which secrets that were read are replaced by their names."""
    for value, name in _known.items():
        if len(value) >= MIN_MASKED:
            text = text.replace(value, name).replace(quote(value, safe=""), name)
    return text
