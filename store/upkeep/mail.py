"""What `verify` reads of waiting mails and of tokens sent by mail, and how both are repaired."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from store import keys
from store.client.database import Command, Database
from store.keys.fields import MailTokenField
from store.mail.letters import Letter
from store.mail.tokens import MailToken
from store.records.lists import read_pairs

PURPOSES = (MailTokenField.VERIFICATION, MailTokenField.RESET)


@dataclass(frozen=True, slots=True)
class Stray:
    """A mail that the outbox or the records have alone or spoilt, and the commands that mend that."""

    key: str
    mail: str
    repair: list[Command]


async def strays(db: Database, partitions: Sequence[int]) -> list[Stray]:
    """Return the mails of some partitions that lack a record, a place in the outbox, or a readable text."""
    replies = await db.ask(
        *(command for p in partitions for command in (("ZRANGE", keys.outbox(p), 0, -1), ("HGETALL", keys.mails(p))))
    )
    found: list[Stray] = []
    for p, due, texts in zip(partitions, replies[::2], replies[1::2], strict=True):
        records = read_pairs(texts)
        readable = {mail for mail, text in records.items() if mail.isdigit() and _is_readable(text)}
        found += [Stray(keys.outbox(p), mail, [("ZADD", keys.outbox(p), 0, mail)]) for mail in readable - set(due)]
        found += [
            Stray(keys.outbox(p), mail, [("ZREM", keys.outbox(p), mail), ("HDEL", keys.mails(p), mail)])
            for mail in ({*due} | {*records}) - readable
        ]
    return found


@dataclass(frozen=True, slots=True)
class StrayToken:
    """A token of a member who does not exist, or that cannot be read."""

    key: str
    purpose: str
    repair: list[Command]


async def stray_tokens(db: Database, members: Sequence[int]) -> list[StrayToken]:
    """Return the tokens of some members that belong to nobody or cannot be read; one round trip."""
    replies = await db.ask(
        *(
            command
            for member in members
            for command in (("EXISTS", keys.credentials(member)), ("HGETALL", keys.mail_tokens(member)))
        )
    )
    found: list[StrayToken] = []
    for member, exists, pairs in zip(members, replies[::2], replies[1::2], strict=True):
        key = keys.mail_tokens(member)
        found += [
            StrayToken(key, purpose, [("HDEL", key, purpose)])
            for purpose, text in read_pairs(pairs).items()
            if not exists or purpose not in PURPOSES or not _is_token(text)
        ]
    return found


def _is_readable(text: str) -> bool:
    try:
        return Letter.read(text).member.isdigit()
    except msgspec.MsgspecError:
        return False


def _is_token(text: str) -> bool:
    try:
        return bool(msgspec.json.decode(text, type=MailToken).address)
    except msgspec.MsgspecError:
        return False
