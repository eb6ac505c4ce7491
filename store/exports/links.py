"""Links to exports: each session has at most one, which ends with the session, and one export is sent at a time."""

import time
from dataclasses import dataclass
from typing import Literal

from store import keys
from store.client.database import Database
from store.limits import windows
from store.limits.windows import DAY_SECONDS
from store.refusals import Refusal, refused

LEASE_SECONDS = 30  # silence after which an export is no longer being sent, because its process has died


@dataclass(frozen=True, slots=True)
class ExportLink:
    """The link to an export: its member and session, and the digest of the random text that it holds."""

    member: int
    session: str
    digest: str


async def prepare(
    db: Database, link: ExportLink, expires: int, most: int
) -> Literal[Refusal.ENDED, Refusal.FULL] | None:
    """Store a link that works until `expires` (ms since 1970), in place of the session's earlier one.

    FULL says that the member has made `most` links today (0: no limit).
    """
    now = _now()
    reply = await db.call(
        "prepare_export",
        link.member,
        session=link.session,
        digest=link.digest,
        now=now,
        expires=expires,
        day=windows.current(DAY_SECONDS),
        most=most,
        ttl=keys.DAY,
    )
    return refused(reply)


async def begin(db: Database, link: ExportLink, sender: str) -> Literal[Refusal.GONE, Refusal.BUSY] | None:
    """Begin to send the export that a link leads to, or go on; `sender` is a random id."""
    reply = await db.call(
        "begin_export",
        link.member,
        stream=keys.export_stream(link.member),
        session=link.session,
        digest=link.digest,
        sender=sender,
        now=_now(),
        lease=LEASE_SECONDS * 1000,
    )
    return refused(reply)


async def end(db: Database, link: ExportLink, sender: str, *, is_sent: bool) -> None:
    """Note that an export is no longer being sent. If the whole file was sent, its link is used up."""
    await db.call(
        "end_export",
        link.member,
        stream=keys.export_stream(link.member),
        session=link.session,
        digest=link.digest,
        sender=sender,
        is_sent="1" if is_sent else "",
    )


def _now() -> int:
    return time.time_ns() // 1_000_000
