"""Invariants of mails: each that waits can be sent, and each token belongs to a member."""

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import Finding
from store.client.database import Database
from store.upkeep import mail


async def waiting(db: Database, partitions: Sequence[int]) -> list[Finding]:
    """Each mail has a place in the outbox and a readable record. The repair removes one that can never be sent.

    A mail with a record and no place gets one: it was not sent yet.
    """
    return [Finding(one.key, f"cannot send mail {one.mail}", one.repair) for one in await mail.strays(db, partitions)]


async def tokens(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each token sent by mail belongs to a member who exists, and can be read."""
    return [
        Finding(one.key, f"has a token for {one.purpose} that nobody can use", one.repair)
        for one in await mail.stray_tokens(db, members)
    ]
