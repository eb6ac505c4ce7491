"""Script argument with which a script adds and withdraws notifications of members in its partition."""

from __future__ import annotations

from functools import lru_cache

from store import keys
from store.client.database import Database
from store.ids import PARTITIONS

# In the order that `mailbox.lua` expects.
_OWN = (
    keys.user,
    keys.notifications,
    keys.withdrawn_notifications,
    keys.notification_state,
    keys.blocked,
    keys.blocked_by,
    keys.muted,
)


def mailboxes(db: Database, p: int) -> str:
    """Return a partition's key prefixes and limits for `mailbox.lua`, which completes them with a member."""
    return _written(p, db.settings.notifications_kept, db.channel(keys.prefix(keys.notifications_channel, p)))


@lru_cache(maxsize=PARTITIONS)
def _written(p: int, kept: int, channel: str) -> str:
    own = [keys.prefix(key, p) for key in _OWN]
    return " ".join([str(p), keys.minted(p), str(kept), channel, *own])
