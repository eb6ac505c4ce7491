"""Keys, channels and connections of the whole store, on whichever node each of them is."""

from store import keys
from store.client.database import Database


async def find(db: Database, pattern: str = "*") -> list[str]:
    """Return all keys that match a pattern, without the markers of slots: processes make them at any time."""
    found = [str(key) for (some,) in await db.each_node(("KEYS", pattern)) for key in some]
    return [key for key in found if not is_marker(key)]


def is_marker(key: str) -> bool:
    """Return whether a key is the marker of a slot."""
    return key.startswith(keys.slot("").partition("{")[0])


async def delete(db: Database, *names: str) -> None:
    """Delete keys of any slots."""
    await db.ask(*(("DEL", name) for name in names))


async def exist(db: Database, *names: str) -> int:
    """Return how many keys of any slots exist."""
    return sum(await db.ask(*(("EXISTS", name) for name in names)))


async def empty(db: Database) -> None:
    """Delete all keys."""
    await db.each_node(("FLUSHDB",))


async def sharded_channels(db: Database, pattern: str) -> list[str]:
    """Return the channels that somebody subscribes and whose full names match a pattern."""
    return [channel for (some,) in await db.each_node(("PUBSUB", "SHARDCHANNELS", pattern)) for channel in some]


async def subscribers(db: Database, channel: str) -> int:
    """Return how many connections subscribe to a channel."""
    return sum(count for ((_, count),) in await db.each_node(("PUBSUB", "SHARDNUMSUB", channel)))


async def disconnect(db: Database, kind: str) -> int:
    """End all connections of a kind, `normal` or `pubsub`, but for those that this is sent on; returns their number."""
    return sum(ended for (ended,) in await db.each_node(("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")))
