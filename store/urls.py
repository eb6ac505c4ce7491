"""The URL of a Redis server: checked before use, and shown without what logs in."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode, urlsplit

SCHEMES = ("redis", "rediss", "unix")
_SHOWN = {"db"}  # parameters; of the others, any may be a password


class UrlRefused(ValueError):
    """No URL of a Redis server; the text is the rule, and has nothing of the URL."""


def check(url: str) -> None:
    """Raise UrlRefused where a URL cannot be meant as it is read."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise UrlRefused("must have a number as its port; in a password, / is written as %2F") from None
    if parts.scheme not in SCHEMES:
        raise UrlRefused(f"must begin with one of {', '.join(scheme + '://' for scheme in SCHEMES)}")
    if parts.fragment:
        raise UrlRefused("must have no #; in a password it is written as %23")
    if parts.scheme == "unix":
        if parts.hostname:
            raise UrlRefused("must be unix:///path or unix://user:password@/path; in a password, / is written as %2F")
    elif (path := parts.path.strip("/")) and not (path.isascii() and path.isdigit()):
        raise UrlRefused("must end with the number of a database, if with any; in a password, / is written as %2F")
    number = dict(parse_qsl(parts.query)).get("db", "0")
    if not (number.isascii() and number.isdigit()):
        raise UrlRefused("must have a number as its parameter db")


def shown(url: str) -> str:
    """Return a URL without user name and password, and without parameters that could be one."""
    parts = urlsplit(url)
    query = urlencode([(name, value) for name, value in parse_qsl(parts.query) if name in _SHOWN])
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}{'?' if query else ''}{query}"
