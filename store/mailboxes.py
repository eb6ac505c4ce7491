"""What a script needs so that it can tell members of its partition something, or take it back."""

from __future__ import annotations

import json

from store import keys
from store.connection import Database

_OWN = {
    "user": keys.user,
    "notifications": keys.notifications,
    "withdrawn": keys.withdrawn_notifications,
    "state": keys.notification_state,
    "blocked": keys.blocked,
    "blocked_by": keys.blocked_by,
    "muted": keys.muted,
}


def mailboxes(db: Database, p: int) -> str:
    """Return what `mailbox.lua` completes with a member of a partition."""
    own = {name: keys.prefix(key, p) for name, key in _OWN.items()} | {"channel": db.channel(keys.told_prefix())}
    return json.dumps({"partition": p, "minted": keys.minted(p), "kept": db.settings.notifications_kept, "own": own})
