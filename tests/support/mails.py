"""Mails as files: what Perch sent to whom, without a server."""

from __future__ import annotations

from email import message_from_bytes, policy
from email.message import EmailMessage

from resolvers.mail.mailer import Mailer
from resolvers.operation.services import Services
from store.settings import Settings
from store.upkeep.mail import make_due
from tests.support.servers.smtp import token_of


async def sent(services: Services, settings: Settings) -> list[EmailMessage]:
    """Send every mail that waits, due or not, and return all mails that were ever sent, oldest first."""
    await make_due(services.db)
    mailer = Mailer(services.db, settings, services.tokens)
    while await mailer.run_once():
        pass
    files = sorted((settings.data_dir / "mail").glob("*.eml"))
    return sorted((message_from_bytes(file.read_bytes(), policy=policy.default) for file in files), key=_age)


def _age(message: EmailMessage) -> int:
    return int(str(message["Message-ID"]).removeprefix("<").partition(".")[0])


def to(mails: list[EmailMessage], address: str) -> list[EmailMessage]:
    """Return the mails to an address."""
    return [mail for mail in mails if mail["To"].addresses[0].addr_spec == address]


def token_in(mails: list[EmailMessage], address: str) -> str:
    """Return the token of the newest link that was sent to an address."""
    return token_of([str(mail.get_content()) for mail in to(mails, address) if "token=" in str(mail.get_content())][-1])
