"""Iterates over all keys of the store, while other commands may change them, and sorts them by what they hold."""

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from store import keys, kinds
from store.client.database import Database, Unavailable
from store.client.outages import LOST
from store.ids import PARTITIONS
from store.keys.table import described
from store.kinds import KeyKind

SCANNED = 2_000  # COUNT: keys scanned per step

_OWNED = re.compile(r"[a-z-]+:\{\d+\}:(\d+)")
_KINDS = {kind.name: kind for kind in kinds.KINDS}
DESCRIBED = described()
_NAMES = {one.stem: one.name for one in DESCRIBED}


@dataclass(slots=True)
class KeyBatch:
    """A batch of keys, sorted by what they hold. Keys of unknown kinds are in `keys` alone."""

    keys: Sequence[str] = ()
    owners: dict[KeyKind, list[int]] = field(default_factory=dict)
    others: dict[str, list[str]] = field(default_factory=dict)  # kind of keys that have no single owner → keys

    @property
    def count(self) -> int:
        """The number of keys."""
        return len(self.keys)

    def of(self, *wanted: KeyKind) -> list[int]:
        """Return the owners of the keys of some kinds."""
        return [owner for kind in wanted for owner in self.owners.get(kind, ())]

    def others_of(self, *wanted: str) -> list[str]:
        """Return the keys without an owner that the functions of `store.keys` with some names build."""
        return [key for name in wanted for key in self.others.get(name, ())]


async def scan(db: Database) -> AsyncIterator[KeyBatch]:
    """Yield batches of all keys that exist during the whole scan. Some may be repeated. Raises Unavailable."""
    await count(db)  # before the first answer, the nodes of a cluster are not known
    for node in db.nodes:
        cursor = "0"
        while True:
            try:
                (reply,) = await node.run([("SCAN", cursor, "COUNT", SCANNED)])
            except LOST as error:
                raise Unavailable(str(error)) from error
            if isinstance(reply, Exception):
                raise reply
            cursor, found = reply
            yield sort(found)
            if cursor == "0":
                break


async def count(db: Database) -> int:
    """Return the number of keys in the store."""
    return sum(int(size) for (size,) in await db.each_node(("DBSIZE",)))


async def has_members(db: Database) -> bool:
    """Return whether any member was ever created. One round trip."""
    # Creating a member commits a job in the member's partition, and the job stream remains once that is done. The
    # number of keys would count rate limits, too.
    return any(await db.ask(*(("EXISTS", keys.jobs(p)) for p in range(PARTITIONS))))


def kind_of(key: str) -> str:
    """Return the name of the function of `store.keys` that builds a key, "" for a key of an unknown kind."""
    return _NAMES.get(key.partition("{")[0]) or _NAMES.get(key.partition(":")[0] + ":", "")


def sort(found: Sequence[str]) -> KeyBatch:
    """Return a batch of some keys."""
    batch = KeyBatch(found)
    for key in found:
        name = kind_of(key)
        if (kind := _KINDS.get(name)) and (match := _OWNED.fullmatch(key)):
            batch.owners.setdefault(kind, []).append(int(match[1]))
        elif name:
            batch.others.setdefault(name, []).append(key)
    return batch


def partitions_of(found: Sequence[str]) -> list[int]:
    """Return the partitions of some keys that are named by their partition alone."""
    return sorted({int(key.partition("{")[2].removesuffix("}")) for key in found})
