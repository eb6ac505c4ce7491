"""Composes mails from their templates: plain text, with headers that no input can add to."""

from datetime import UTC
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.utils import format_datetime, parseaddr
from functools import cache
from pathlib import Path
from string import Template
from urllib.parse import quote, urlsplit

from resolvers.mail import links
from resolvers.process.tokens import Tokens
from store.ids import instant
from store.mail.letters import Letter, MailKind
from store.settings import Settings

VERIFY_PATH, RESET_PATH = "/verify", "/reset"  # of the pages in `serving.http.pages`
PATHS = {MailKind.VERIFICATION: VERIFY_PATH, MailKind.NEW_ADDRESS: VERIFY_PATH, MailKind.RESET: RESET_PATH}

_TEMPLATES = Path(__file__).parent / "templates"
_HOUR, _MINUTE = 3600, 60


def compose(settings: Settings, signer: Tokens, mail: int, letter: Letter, login: str) -> EmailMessage:
    """Return the message of a mail. Each time it is composed, it is the same, with the same Message-ID.

    It names the member by login, which has letters, digits and underscores only. Their display name is not in it, so
    nobody can have Perch send a text of their own to somebody else's address.
    Raises ValueError for an address that no header can hold.
    """
    local, _, domain = letter.to.rpartition("@")
    message = EmailMessage(policy=SMTP if local.isascii() else SMTPUTF8)
    subject, text = _template(letter.kind)
    name, sender = parseaddr(settings.mail_from)
    sender_domain = _ascii(sender.rpartition("@")[2])
    message["From"] = Address(name, sender.rpartition("@")[0], sender_domain)
    message["To"] = Address("", local, _ascii(domain))
    message["Subject"] = subject
    message["Date"] = format_datetime(instant(mail))
    message["Message-ID"] = f"<{mail}.{letter.member}@{sender_domain}>"
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: no vacation notice answers it
    message.set_content(Template(text).substitute(_facts(settings, signer, mail, letter, login)), cte="8bit")
    return message


def _facts(settings: Settings, signer: Tokens, mail: int, letter: Letter, login: str) -> dict[str, str]:
    base = settings.link_base
    facts = {
        "login": login,
        "site": urlsplit(base).netloc,
        "time": f"{instant(mail).astimezone(UTC):%d %B %Y, %H:%M} UTC",
        "reset_page": base + RESET_PATH,
    }
    if letter.kind in PATHS:
        token = signer.mail_token(links.PURPOSES[letter.kind], int(letter.member), letter.nonce)
        facts["link"] = f"{base}{PATHS[letter.kind]}?token={quote(token.reveal())}"
        facts["lifetime"] = _spoken(links.lifetime(settings, letter.kind))
    return facts


def _spoken(seconds: int) -> str:
    count, unit = (seconds // _HOUR, "hour") if seconds % _HOUR == 0 else (seconds // _MINUTE, "minute")
    return f"{count} {unit}{'' if count == 1 else 's'}"


def _ascii(domain: str) -> str:
    return domain if domain.isascii() else domain.encode("idna").decode()


@cache
def _template(kind: MailKind) -> tuple[str, str]:
    """Return subject and text of a template; its first line is the subject."""
    head, _, text = (_TEMPLATES / f"{kind.value}.txt").read_text("utf-8").partition("\n\n")
    return head.removeprefix("Subject: "), text
