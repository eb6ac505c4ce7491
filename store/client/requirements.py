"""Settings that a Redis server must have. The embedded store is started with them. On any other, Perch checks them."""

import structlog
from redis.exceptions import RedisError

from store.client.database import Database, Unavailable
from store.client.nodes.one import read_info
from store.records.lists import read_pairs

REQUIRED = {
    "appendonly": "yes",  # an answered write is on disk
    "maxmemory-policy": "noeviction",  # every key is the only copy
    "list-max-listpack-size": "128",  # entries in one node of a home: adding an entry copies its node
    "zset-max-listpack-entries": "850",
    "zset-max-listpack-value": "64",  # bytes
    "hash-max-listpack-entries": "64",  # more than a post has: a home reads many of its sources at a time
    "hash-max-listpack-value": "2100",  # bytes; a post of 500 characters has at most 2,000
}

OLDEST_SERVER = (7, 0)  # The first version with SET NX GET, EXPIRE NX and XAUTOCLAIM as used here.

log = structlog.get_logger()


class UnsupportedServer(Exception):
    """The server is older than the scripts require."""


async def check_version(db: Database) -> str:
    """Return the oldest node's name and version; raises UnsupportedServer below 7.0, Unavailable if one is away."""
    try:
        nodes = [read_info(str(text)) for (text,) in await db.each_node(("INFO", "server"))]
    except RedisError as error:
        raise Unavailable(str(error)) from error
    info = min(nodes, key=_version)
    if _version(info) < OLDEST_SERVER:
        raise UnsupportedServer(f"Redis {info['redis_version']} is too old: 7.0 or newer is needed")
    return f"Valkey {valkey}" if (valkey := info.get("valkey_version")) else f"Redis {info['redis_version']}"


def _version(info: dict[str, str]) -> tuple[int, ...]:
    return tuple(int(part) for part in info["redis_version"].split(".")[:2])


async def warn(db: Database) -> None:
    """Log a warning for each setting that differs from `REQUIRED` on any node. One round trip; raises nothing."""
    try:
        found = await differing(db)
    except Unavailable as error:
        log.warning("redis_settings_unchecked", error=str(error), settings=REQUIRED)
        return
    for name, value in found:
        log.warning("redis_setting", setting=name, value=value, should_be=REQUIRED[name])


async def differing(db: Database) -> list[tuple[str, str | None]]:
    """Return each setting that differs from `REQUIRED` on any node, with its value. One round trip.

    Raises Unavailable, also where the user of the server may not read its settings.
    """
    try:
        configurations = [read_pairs(reply) for (reply,) in await db.each_node(("CONFIG", "GET", *REQUIRED))]
    except RedisError as error:
        raise Unavailable(str(error)) from error
    return [
        (name, value)
        for name, wanted in REQUIRED.items()
        for value in {own.get(name) for own in configurations} - {wanted}
    ]
