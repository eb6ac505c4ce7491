"""Script argument with which a script adds and withdraws notifications of members in its partition."""

from store import keys
from store.client.database import Database

_CHANNEL = keys.stem(keys.notifications_channel)


def mailboxes(db: Database, p: int) -> str:
    """Return a partition, the limit of its logs and the beginning of its channels, as `mailbox.lua` expects them."""
    return f"{p} {db.settings.notifications_kept} {db.channel(_CHANNEL)}"
