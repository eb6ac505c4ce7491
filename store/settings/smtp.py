"""The URL of the SMTP server that takes Perch's mails: read, checked, and shown without its password."""

from dataclasses import dataclass
from typing import Literal
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from store.secret import Secret

StartTls = Literal["offered", "required", "never"]
_PORTS = {"smtp": 587, "smtps": 465}  # submission, RFC 6409 and RFC 8314
_STARTTLS: dict[str, StartTls] = {"offered": "offered", "required": "required", "never": "never"}


class SmtpUrlRefused(ValueError):
    """The URL is no valid URL of an SMTP server. The message states the rule and contains no part of the URL."""


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


def read(url: str) -> SmtpServer:
    """Return the server that a URL names; raises SmtpUrlRefused."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise SmtpUrlRefused("must have a number as its port; in a password, / is written as %2F") from None
    if parts.scheme not in _PORTS:
        raise SmtpUrlRefused("must begin with smtp:// or smtps://")
    if not parts.hostname:
        raise SmtpUrlRefused("must name a host, such as smtp://mail.example.org:587")
    if parts.path.strip("/") or parts.fragment:
        raise SmtpUrlRefused("must end after the port or ?starttls=; in a password, / is %2F and # is %23")
    if (parts.password is not None) != bool(parts.username):
        raise SmtpUrlRefused("must have both a user and a password, or neither")
    return SmtpServer(
        host=parts.hostname,
        port=port or _PORTS[parts.scheme],
        user=unquote(parts.username or ""),
        password=Secret(unquote(parts.password or "")),
        is_tls=parts.scheme == "smtps",
        starttls=_starttls(parts),
    )


def _starttls(parts: SplitResult) -> StartTls:
    given = parse_qs(parts.query, keep_blank_values=True)
    wanted = given.pop("starttls", ["required" if parts.username else "offered"])
    if given or len(wanted) != 1 or wanted[0] not in _STARTTLS:
        raise SmtpUrlRefused("may have one parameter: starttls=offered, starttls=required or starttls=never")
    if parts.username and parts.scheme == "smtp" and wanted[0] != "required":
        raise SmtpUrlRefused("must not weaken STARTTLS: a password is sent over TLS only")
    return _STARTTLS[wanted[0]]
