"""Mails as files: what Perch sent to whom, without a server."""

from email import message_from_bytes, policy
from email.message import EmailMessage

from resolvers.mail.mailer import Mailer
from resolvers.process.services import Services
from store import keys
from store.client.database import Database
from store.ids import PARTITIONS
from store.settings import Settings
from tests.support.servers.smtp import token_of


async def make_due(db: Database) -> None:
    """Make every waiting mail due now."""
    waiting = await db.ask(*(("ZRANGE", keys.outbox(p), 0, -1) for p in range(PARTITIONS)))
    await db.ask(*(("ZADD", keys.outbox(p), 0, mail) for p, mails in enumerate(waiting) for mail in mails))


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
