"""URLs of message systems: parsing them, and showing them without secrets."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from .batch import StreamError

SECRET = ("password", "passphrase", "secret", "token", "pem", "oauthbearer.config")  # in names of options


class Address(NamedTuple):
    """`scheme://user:password@host:port/name?option=value`, with special characters as %xx."""

    shown: str  # without secrets
    scheme: str
    hosts: list[tuple[str, int]]
    user: str | None
    password: str | None
    name: str  # of the stream or the topic
    options: dict[str, str]

    @property
    def from_latest(self) -> bool:
        """Whether a first run starts after the last message instead of at the earliest."""
        first = self.options.get("from", "earliest")
        if first not in ("earliest", "latest"):
            raise StreamError(f"{self.shown} says from={first}, but it must be earliest or latest.")
        return first == "latest"

    def only_host(self) -> tuple[str, int]:
        """Host and port; several hosts are an error."""
        if len(self.hosts) > 1:
            raise StreamError(f"{self.shown} names several hosts, but {self.scheme}:// takes one.")
        return self.hosts[0]


def address_of(url: str, port: int, what: str, options: tuple[str, ...], dotted: bool = False) -> Address:
    """Parse a URL. It must name a stream or topic; `dotted` allows any option with a dot in its name."""
    shown = without_password(url)
    try:
        parts, hosts = _split_url(url, port)
    except ValueError:
        raise StreamError(
            f"{shown} is no valid URL; write special characters in it as %2F for /, %40 for @ and so on."
        ) from None
    if "#" in url:
        raise StreamError(f"{shown} was given with a #; write it as %23.")
    name = unquote(parts.path.strip("/"))
    if not name:
        raise StreamError(f"{shown} names no {what}; add it after the host, as in host/name.")
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    for option in given:
        if option not in options and not (dotted and "." in option):
            raise StreamError(
                f"{shown} was given an unknown option, {option}; there are {', '.join(options)}."
            )
    user, password = (None if text is None else unquote(text) for text in (parts.username, parts.password))
    return Address(shown, parts.scheme, hosts, user or None, password, name, given)


def source_name(url: str) -> str:
    """What messages call a source."""
    return "standard input" if url == "-" else url


def source_subject(url: str) -> str:
    """A source as the first words of a sentence."""
    return "Standard input" if url == "-" else url


def without_password(url: str) -> str:
    """A URL without password, token and secret options, which may be printed. Paths are not changed."""
    scheme, is_url, rest = url.partition("://")
    if not is_url:
        return url
    try:
        parts, _ = _split_url(url, 0)
    except ValueError:  # everything before the last @ may belong to a password
        return f"{scheme}://{rest.rpartition('@')[2]}"
    # For NATS, a user without a password is a token.
    user = "" if scheme == "nats" and parts.password is None else parts.username or ""
    host = parts.netloc.rpartition("@")[2]
    query = "&".join(option for option in parts.query.split("&") if not _is_secret(option))
    return parts._replace(netloc=f"{user}@{host}" if user else host, query=query, fragment="").geturl()


def _split_url(url: str, port: int) -> tuple[SplitResult, list[tuple[str, int]]]:
    parts = urlsplit(url)
    if "@" in parts.path + parts.query + parts.fragment:
        raise ValueError("what comes before the @ may be a password")
    hosts = [urlsplit(f"//{host}") for host in parts.netloc.rpartition("@")[2].split(",")]
    return parts, [(host.hostname or "localhost", host.port or port) for host in hosts]


def _is_secret(option: str) -> bool:
    name = unquote(option.partition("=")[0]).lower()
    return any(word in name for word in SECRET)
