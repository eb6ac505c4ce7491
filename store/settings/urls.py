"""The URLs of Redis servers and of an SMTP server: checked before use, and shown without credentials."""

from dataclasses import dataclass
from typing import Literal
from urllib.parse import SplitResult, parse_qs, parse_qsl, unquote, urlencode, urlsplit

from store.secret import Secret

SCHEMES = ("redis", "rediss", "unix")
_SHOWN = {"db"}  # parameters; of the others, any may be a password

StartTls = Literal["offered", "required", "never"]
_SMTP_PORTS = {"smtp": 587, "smtps": 465}  # submission, RFC 6409 and RFC 8314
_STARTTLS: dict[str, StartTls] = {"offered": "offered", "required": "required", "never": "never"}


class UrlRefused(ValueError):
    """The URL is no valid URL of such a server. The message states the rule and contains no part of the URL."""


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


def _split(url: str) -> tuple[SplitResult, int | None]:
    """Return the parts of a URL and its port; raises UrlRefused where the port is no number."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise UrlRefused("must have a number as its port; in a password, / is written as %2F") from None
    return parts, port


def _check_one(url: str) -> None:
    parts, _ = _split(url)
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


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """An SMTP server, and how Perch connects to it."""

    host: str
    port: int
    user: str
    password: Secret
    is_tls: bool  # From the first byte on, not by STARTTLS.
    starttls: StartTls

    @property
    def shown(self) -> str:
        """The server's address without user and password, for logs."""
        return f"{self.host}:{self.port}"


def smtp_server(url: str) -> SmtpServer:
    """Return the server that a URL names; raises UrlRefused."""
    parts, port = _split(url)
    if parts.scheme not in _SMTP_PORTS:
        raise UrlRefused("must begin with smtp:// or smtps://")
    if not parts.hostname:
        raise UrlRefused("must name a host, such as smtp://mail.example.org:587")
    if parts.path.strip("/") or parts.fragment:
        raise UrlRefused("must end after the port or ?starttls=; in a password, / is %2F and # is %23")
    if (parts.password is not None) != bool(parts.username):
        raise UrlRefused("must have both a user and a password, or neither")
    return SmtpServer(
        host=parts.hostname,
        port=port or _SMTP_PORTS[parts.scheme],
        user=unquote(parts.username or ""),
        password=Secret(unquote(parts.password or "")),
        is_tls=parts.scheme == "smtps",
        starttls=_starttls(parts),
    )


def _starttls(parts: SplitResult) -> StartTls:
    given = parse_qs(parts.query, keep_blank_values=True)
    wanted = given.pop("starttls", ["required" if parts.username else "offered"])
    if given or len(wanted) != 1 or wanted[0] not in _STARTTLS:
        raise UrlRefused("may have one parameter: starttls=offered, starttls=required or starttls=never")
    if parts.username and parts.scheme == "smtp" and wanted[0] != "required":
        raise UrlRefused("must not weaken STARTTLS: a password is sent over TLS only")
    return _STARTTLS[wanted[0]]
