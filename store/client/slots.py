"""Which slot of a cluster a key lies in, and which key decides where a command goes."""

import binascii
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

SLOTS = 16_384
_TAGS_KEPT = 10_000  # slots of tags that are computed once; there are 256 partitions, and names and hashtags

# fmt: off
_WITHOUT_KEY = frozenset((
    "ACL", "ASKING", "CLIENT", "CLUSTER", "COMMAND", "CONFIG", "DBSIZE", "EXEC", "FLUSHALL", "FLUSHDB", "INFO", "KEYS",
    "MULTI", "PING", "SCAN", "SCRIPT", "TIME", "WAIT",
))
_WITH_SUBCOMMAND = frozenset(("MEMORY", "OBJECT", "XGROUP", "XINFO"))  # their key comes after it
_READS = frozenset((
    "EXISTS", "GET", "HEXISTS", "HGET", "HGETALL", "HKEYS", "HLEN", "HMGET", "LINDEX", "LLEN", "LPOS", "LRANGE",
    "MGET", "OBJECT", "PTTL", "STRLEN", "TTL", "TYPE", "XINFO", "XLEN", "XPENDING", "XRANGE", "XREVRANGE", "ZCARD",
    "ZCOUNT", "ZINTER", "ZINTERCARD", "ZLEXCOUNT", "ZMSCORE", "ZRANGE", "ZRANK", "ZREVRANK", "ZSCORE",
))
# fmt: on


def tag_of(key: str) -> str:
    """Return the part of a key that decides its slot: the text in its first braces, or all of it without such text."""
    _, brace, rest = key.partition("{")
    tag, end, _ = rest.partition("}")
    return tag if brace and end and tag else key


@lru_cache(_TAGS_KEPT)
def slot_of(tag: str) -> int:
    """Return the slot of all keys with a tag."""
    return binascii.crc_hqx(tag.encode(), 0) % SLOTS


def key_of(command: Sequence[Any]) -> str | None:
    """Return the first key of a command, None for a command that any node can run."""
    name = command[0]
    if name in ("EVALSHA", "EVAL"):
        return command[3] if command[2] else None
    if name in _WITHOUT_KEY:
        return None
    return command[2 if name in _WITH_SUBCOMMAND else 1]  # type: ignore[no-any-return]


def only_reads(command: Sequence[Any]) -> bool:
    """Return whether a command changes nothing. Of a script it is not known."""
    return command[0] in _READS


def may_change(command: Sequence[Any]) -> bool:
    """Return whether a command may change a key."""
    return command[0] not in _READS and command[0] not in _WITHOUT_KEY
