"""Pinned posts: statuses and quotes that exist, each by the member who pinned it."""

from __future__ import annotations

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import Finding
from store.client.database import Database
from store.pins import unpin_command
from store.records import is_plain_repost
from store.upkeep import pins


async def pinned(db: Database, members: Sequence[int]) -> list[Finding]:
    """Each pin names a status or quote that exists and is the member's own; two round trips."""
    return [
        Finding(
            pin.key,
            f"pins {pin.pinned}, which is no status or quote of theirs",
            [unpin_command(pin.pinned, pin.member)],
        )
        for pin in await pins.pins(db, members)
        if pin.post is None or pin.post.author != pin.member or is_plain_repost(pin.post)
    ]
