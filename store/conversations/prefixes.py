"""Script argument with which a script builds the keys of a conversation and its messages."""

from functools import lru_cache

from store import keys
from store.ids import PARTITIONS


@lru_cache(maxsize=PARTITIONS)
def prefixes(p: int) -> str:
    """Return a partition's keys and key prefixes for `messaging.lua`, which completes them with ids."""
    own = (keys.conversation, keys.messages, keys.message)
    sent = keys.sent_prefix(p << 4).rpartition(f"{p << 4}:")[0]
    return " ".join(
        [
            str(p),
            keys.minted(p),
            keys.jobs(p),
            *(keys.prefix(key, p) for key in own),
            sent,
            keys.prefix(keys.deleted_messages, p),
        ]
    )
