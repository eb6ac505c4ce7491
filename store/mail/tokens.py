"""Tokens that were sent by mail: they verify an address or reset a password, once, and are stored as digests."""

import time
from typing import Literal

import msgspec
from msgspec import Struct

from store import keys
from store.client.database import Command, Database
from store.mail.letters import Letter, MailLink
from store.records.job_bodies import Naming
from store.records.jobs import Job, read_job
from store.refusals import Refusal, refused

RESET_WAIT_SECONDS = 3600  # between two mails to one address


class MailToken(Struct, frozen=True):
    """A token as it is stored. `expires` is in ms since 1970."""

    digest: str
    address: str
    expires: float

    @property
    def is_valid(self) -> bool:
        return self.expires > time.time() * 1000


def read_token(text: str | None) -> MailToken | None:
    """Return a stored token that has not expired."""
    token_read = msgspec.json.decode(text, type=MailToken) if text else None
    return token_read if token_read and token_read.is_valid else None


def token_command(member: int, purpose: str) -> Command:
    """Return the command that reads a member's token of a purpose."""
    return ("HGET", keys.mail_tokens(member), purpose)


async def token(db: Database, member: int, purpose: str) -> MailToken | None:
    """Return a member's unexpired token of a purpose."""
    return read_token(await db.one(*token_command(member, purpose)))


def sending(link: MailLink | None) -> dict[str, object]:
    """Return the script parameters that keep a token, and queue the mail with its link, if there is one."""
    return {
        "digest": link.digest if link else "",
        "lifetime": link.lifetime if link else 0,
        "mail": link.letter.text() if link else "",
    }


async def send_verification(db: Database, member: int, address: str, link: MailLink) -> str | Literal[Refusal.GONE]:
    """Send a link that verifies an address; returns the address that waited until now, or ""."""
    reply = await db.call("send_verification", member, **sending(link), address=address)
    return refused(reply) or str(reply[0])


async def drop(db: Database, member: int, purpose: str) -> None:
    """Make a member's token of a purpose invalid."""
    await db.one("HDEL", keys.mail_tokens(member), purpose)


async def verify_email(db: Database, member: int, digest: str, letter: Letter) -> Job | Literal[Refusal.STALE] | None:
    """Use a token that verifies an address; returns the job that makes a new address permanent, None without one.

    `letter` tells the old address of it.
    """
    reply = await db.call(
        "verify_email",
        member,
        member=member,
        digest=digest,
        mail=letter.text(),
    )
    return refused(reply) or (read_job(Naming, *reply) if reply else None)


async def lose_address(db: Database, member: int, address: str) -> Job | None:
    """Take an address from a member who never verified it; returns the job that releases it.

    Returns None when they have verified it, or have another one.
    """
    reply = await db.call("lose_address", member, member=member, address=address)
    return read_job(Naming, *reply) if reply else None


async def may_request_reset(db: Database, address: str) -> bool:
    """Return whether no reset was requested for an address within the last hour, and note this one.

    `address` is a digest, whether or not a member has it.
    """
    return bool(await db.one("SET", keys.reset_mail(address), "", "NX", "EX", RESET_WAIT_SECONDS))


async def request_reset(db: Database, member: int, address: str, link: MailLink, delay_ms: int) -> None:
    """Send a link that resets a password. For a member who does not exist, it costs the same and sends nothing."""
    await db.call("request_reset", member, **sending(link), address=address, delay=delay_ms)
