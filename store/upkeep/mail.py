"""Mails: each that waits can be sent, and each token belongs to a member."""

from collections.abc import Sequence
from typing import Any

import msgspec

from store import keys
from store.client.database import Database
from store.keys.fields import MailTokenField
from store.mail.letters import Letter
from store.mail.tokens import MailToken
from store.records.lists import read_pairs
from store.upkeep.findings import Finding, ask_each
from store.upkeep.scanning import partitions_of

PURPOSES = (MailTokenField.VERIFICATION, MailTokenField.RESET)


async def waiting(db: Database, found: Sequence[str]) -> list[Finding]:
    """Each mail has a place in the outbox and a readable record. The repair removes one that can never be sent.

    A mail with a record and no place gets one: it was not sent yet.
    """
    looks = {p: [("ZRANGE", keys.outbox(p), 0, -1), ("HGETALL", keys.mails(p))] for p in partitions_of(found)}
    return [
        finding
        for p, (due, records) in await ask_each(db, looks)
        for finding in _strays(p, {*due}, read_pairs(records))
    ]


def _strays(p: int, due: set[str], records: dict[str, str]) -> list[Finding]:
    outbox, mails = keys.outbox(p), keys.mails(p)
    readable = {mail for mail, text in records.items() if mail.isdigit() and _is_readable(text)}
    repairs: dict[str, list[Any]] = {mail: [("ZADD", outbox, 0, mail)] for mail in readable - due}
    for mail in (due | {*records}) - readable:
        repairs[mail] = [("ZREM", outbox, mail), ("HDEL", mails, mail)]
    return [Finding(outbox, f"cannot send mail {mail}", repair) for mail, repair in repairs.items()]


async def tokens(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each token sent by mail belongs to a member who exists, and can be read."""
    looks = {one: [("EXISTS", keys.credentials(one)), ("HGETALL", keys.mail_tokens(one))] for one in members}
    return [
        Finding(key, f"has a token for {purpose} that nobody can use", [("HDEL", key, purpose)])
        for member, (exists, pairs) in await ask_each(db, looks)
        for purpose, text in read_pairs(pairs).items()
        if (key := keys.mail_tokens(member)) and (not exists or purpose not in PURPOSES or not _is_token(text))
    ]


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
