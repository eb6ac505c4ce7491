"""The outbox: mails that scripts have committed, leased to a sender until they are sent."""

from dataclasses import dataclass, replace

import msgspec
import structlog

from store import keys
from store.client.database import Command, Database, script
from store.ids import PARTITIONS, partition
from store.keys.fields import CredentialsField, UserField
from store.mail.letters import Letter
from store.mail.tokens import MailToken, read_token, token_command
from store.records.lists import read_pairs

_SCANNED = 500  # mails looked through at a time

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail that is leased to this sender. `lease` is its end in ms since 1970, as the store knows it."""

    id: int
    letter: Letter
    lease: str


@dataclass(frozen=True, slots=True)
class Addressee:
    """What decides whether a mail is still wanted: its member's login and address, and the token of its purpose."""

    login: str | None  # None once the account is deleted
    email: str | None
    is_verified: bool
    token: MailToken | None


async def take(db: Database, most: int) -> list[Mail]:
    """Return mails that are due, about `most` of them, now leased to the caller. Two round trips."""
    # Reading the first entry costs a fraction of the script, and usually nothing is due.
    (seconds, micros), *first = await db.ask(
        ("TIME",), *(("ZRANGE", keys.outbox(p), 0, 0, "WITHSCORES") for p in range(PARTITIONS))
    )
    now = int(seconds) * 1000 + int(micros) // 1000
    due = sorted((int(reply[1]), p) for p, reply in enumerate(first) if reply and int(reply[1]) <= now)[:most]
    limit = -(-most // len(due)) if due else 0
    replies = await db.ask(
        *(
            script("take_mails", partition=p, limit=limit, lease_time=db.settings.job_lease_seconds * 1000)
            for _, p in due
        )
    )
    mails: list[Mail] = []
    for taken in replies:
        for mail, text, lease in zip(taken[::3], taken[1::3], taken[2::3], strict=True):
            try:
                mails.append(Mail(int(mail), Letter.read(text), lease))
            except msgspec.MsgspecError:
                log.exception("mail_unreadable", mail=int(mail))  # `verify` names it, and `repair` removes it
    return mails


async def renew(db: Database, mail: Mail) -> Mail | None:
    """Renew a lease; None when it was lost to another sender."""
    due = await db.call("release_mail", mail.id, **_release(mail, db.settings.job_lease_seconds * 1000))
    return replace(mail, lease=str(due)) if due else None


async def begin(db: Database, mail: Mail, purpose: str) -> tuple[Mail | None, Addressee]:
    """Renew the lease of a mail that is about to be sent, and read its addressee; one round trip.

    `purpose` is that of the token in its link, or "".
    """
    member = int(mail.letter.member)
    due, login, (email, verified), token = await db.ask(
        script("release_mail", mail.id, **_release(mail, db.settings.job_lease_seconds * 1000)),
        ("HGET", keys.user(member), UserField.LOGIN),
        ("HMGET", keys.credentials(member), CredentialsField.EMAIL, CredentialsField.VERIFIED),
        token_command(member, purpose),
    )
    addressee = Addressee(login, email, verified is not None, read_token(token))
    return replace(mail, lease=str(due)) if due else None, addressee


async def put_off(db: Database, mail: Mail, wait_ms: int, letter: Letter | None = None) -> None:
    """Make a mail due after a while, with a changed record if there is one. A lost lease changes nothing."""
    await db.call("release_mail", mail.id, **_release(mail, wait_ms, letter.text() if letter else ""))


def finish(mail: int) -> list[Command]:
    """Return the commands that remove a mail that was sent, or is not wanted any more."""
    # The record goes first. A process that dies in between leaves an entry, which `take_mails` removes. Otherwise
    # `repair` would take a record that is left for a mail that was not sent yet.
    p = partition(mail)
    return [("HDEL", keys.mails(p), mail), ("ZREM", keys.outbox(p), mail)]


async def forget(db: Database, member: int) -> None:
    """Remove the mails of a deleted member. One round trip for each 500 mails that wait in the partition."""
    p, cursor = partition(member), "0"
    while True:
        cursor, found = await db.one("HSCAN", keys.mails(p), cursor, "COUNT", _SCANNED)
        texts = read_pairs(found)
        own = [int(mail) for mail, text in texts.items() if Letter.read(text).member == str(member)]
        await db.ask(*(command for mail in own for command in finish(mail)))
        if cursor == "0":
            return


async def waiting(db: Database) -> int:
    """Return the number of mails that are not sent yet. One round trip."""
    return sum(await db.ask(*(("ZCARD", keys.outbox(p)) for p in range(PARTITIONS))))


def _release(mail: Mail, wait_ms: int, record: str = "") -> dict[str, object]:
    return {
        "mail": mail.id,
        "lease": mail.lease,
        "wait": wait_ms,
        "record": record,
    }
