"""The limit on mails to one recipient, over all members and kinds. It applies when a mail is sent, so no answer tells.

A mail above the limit waits for the next hour or day. A reset is apart: its address gets one an hour anyway, so nobody
can hold up somebody's reset by other mails.
"""

from resolvers.process.tokens import digest
from store.client.database import Database
from store.limits import attempts, windows
from store.limits.windows import DAY_SECONDS, HOUR_SECONDS
from store.mail.letters import Letter, MailKind
from store.mail.outbox import Addressee

RECIPIENT = "recipient"  # the kind under which mails are counted


async def wait(db: Database, letter: Letter, addressee: Addressee) -> int:
    """Count a mail to its recipient; returns after how many seconds it may be sent, 0 for now. Two round trips."""
    settings = db.settings
    mailbox = _mailbox(letter.to)
    is_apart = letter.kind is MailKind.RESET and (addressee.is_verified or mailbox == letter.to.lower())
    if not settings.rate_limit or is_apart:
        return 0
    limits = ((HOUR_SECONDS, settings.recipient_mails_per_hour), (DAY_SECONDS, settings.recipient_mails_per_day))
    for seconds, most in limits:
        (count,) = await attempts.count(db, [(RECIPIENT, digest(f"{seconds} {mailbox}"))], seconds)
        if count > most:
            return windows.rest(seconds)
    return 0


def _mailbox(address: str) -> str:
    """Return an address in lower case without its sub-address (RFC 5233): both usually reach the same person."""
    local, _, domain = address.lower().rpartition("@")
    return f"{local.partition('+')[0]}@{domain}"
