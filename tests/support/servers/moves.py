"""What is moved from one store to another, and whether it has arrived."""

from collections.abc import Awaitable, Callable
from typing import Any

from store.client.database import Database
from store.upkeep import comparing
from store.upkeep.copying import moving

MANY = 300  # keys of one kind

CHANGES: dict[str, list[tuple[Any, ...]]] = {  # to what `fill` has stored
    "overwritten": [("SET", "lasting:1", "changed"), ("SET", "lasting:299", "changed")],
    "deleted": [("DEL", "lasting:2", "lasting:298", "hash")],
    "created": [("SET", "new", "1"), ("RPUSH", "another", 1, 2)],
    "renamed": [("RENAME", "zset", "zset:moved")],
    "another type": [("DEL", "list"), ("SADD", "list", 1)],
    "expiry": [("EXPIRE", "lasting:3", 5_000), ("PERSIST", "text:3")],
    "by a script": [("EVAL", "redis.call('SET', KEYS[1], 'x') redis.call('ZREM', KEYS[2], 'member1')", 2, "s", "zset")],
    "delivered": [("XREADGROUP", "GROUP", "workers", "two", "COUNT", 5, "STREAMS", "stream", ">")],
    "acknowledged": [("XACK", "stream", "workers", "4-1")],
    "a new stream": [("XADD", "later", "1-1", "a", "b"), ("XGROUP", "CREATE", "later", "workers", "0")],
}


async def fill(db: Database) -> None:
    """Store keys of every type, long and short, some of which expire."""
    await db.ask(
        *(("SET", f"text:{i}", f"überall {i}", "EX", 1_000 + i) for i in range(MANY)),
        *(("SET", f"lasting:{i}", i) for i in range(MANY)),
        ("HSET", "hash", *(part for i in range(2_000) for part in (f"field{i}", i))),
        ("RPUSH", "list", *range(2_000)),
        ("SADD", "set", *range(2_000)),
        ("ZADD", "zset", *(part for i in range(2_000) for part in (i, f"member{i}"))),
        *(("XADD", "stream", f"{i}-1", "field", "value") for i in range(1, 20)),
        ("XDEL", "stream", "7-1"),
        ("XGROUP", "CREATE", "stream", "workers", "0"),
        ("XREADGROUP", "GROUP", "workers", "one", "COUNT", 10, "STREAMS", "stream", ">"),
        ("XACK", "stream", "workers", "3-1"),
    )


async def equal(source: Database, target: Database) -> bool:
    """Return whether both have the same keys, with the same content."""
    names = sorted(await source.one("KEYS", "*"))
    there = [name for (found,) in await target.each_node(("KEYS", "*")) for name in found]
    return names == sorted(there) and not await comparing.differing(source, target, names)


def failing(step: Callable[..., Awaitable[Any]], before: int) -> Callable[..., Awaitable[Any]]:
    """Return a step that fails after it has succeeded some times."""
    left = iter(range(before))

    async def tried(*arguments: Any) -> Any:
        if next(left, None) is None:
            raise moving.MoveFailed("the network")
        return await step(*arguments)

    return tried
