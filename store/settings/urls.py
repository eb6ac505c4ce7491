"""The URL of a Redis server or of the nodes of a cluster: checked before use, and shown without credentials."""

from urllib.parse import parse_qsl, urlencode, urlsplit

SCHEMES = ("redis", "rediss", "unix")
_SHOWN = {"db"}  # parameters; of the others, any may be a password


class UrlRefused(ValueError):
    """The URL is no valid URL of a Redis server. The message states the rule and contains no part of the URL."""


def addresses(url: str) -> list[str]:
    """Return a URL for each address of a URL, whose host and port may be several, separated by commas.

    All have the same user name, password, database and parameters.
    """
    parts = urlsplit(url)
    login, at, hosts = parts.netloc.rpartition("@")
    if "," not in hosts:
        return [url]
    return [parts._replace(netloc=f"{login}{at}{host.strip()}").geturl() for host in hosts.split(",")]


def check(url: str) -> None:
    """Raise UrlRefused for a URL that is malformed, or that would be read differently from what was meant."""
    try:
        several = addresses(url)
    except ValueError:
        raise UrlRefused("must have [ and ] only around an IPv6 address; in a password, [ is written as %5B") from None
    if url.count("://") > 1 or _has_two_logins(url):
        raise UrlRefused("must have its scheme, user and password once, before all addresses; in a password, @ is %40")
    if len(several) > 1 and not all(urlsplit(single).hostname for single in several):
        raise UrlRefused("must have an address on both sides of each comma")
    for single in several:
        _check_one(single)


def _has_two_logins(url: str) -> bool:
    login = urlsplit(url).netloc.rpartition("@")[0]
    return any("@" in part for part in login.split(",")[:-1])


def _check_one(url: str) -> None:
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
    """Return a URL without user name and password, and without parameters that could contain one."""
    parts = urlsplit(url)
    query = urlencode([(name, value) for name, value in parse_qsl(parts.query) if name in _SHOWN])
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}{'?' if query else ''}{query}"
