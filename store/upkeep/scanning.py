"""Iterates over all keys of the store, while other commands may change them, and sorts them by what they hold."""

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from store import keys, kinds, search
from store.client.database import Database, Unavailable
from store.client.outages import LOST
from store.ids import PARTITIONS
from store.kinds import KeyKind
from store.moderation.records import ReportState
from store.upkeep.timelines import StoredTimeline

SCANNED = 2_000  # COUNT: keys scanned per step

_OWNED = re.compile(r"([a-z-]+:)\{\d+\}:(\d+)")
_KINDS = {keys.stem(kind.key): kind for kind in kinds.KINDS}
_SENT = re.compile(r"sent:\{\d+\}:(\d+):\d+")
_OF_PARTITION = re.compile(r"(outbox|mails|uploads):\{(\d+)\}")
_HOLDERS = keys.conversation_of(0, "").partition("{")[0]
_LOGINS_AND_EMAILS = tuple(key("").removesuffix("}") for key in (keys.login, keys.email))
_MAGNITUDES = {keys.names(magnitude): magnitude for magnitude in range(search.MAGNITUDES)}
_MODERATION = {
    keys.open_cases(),
    keys.moderation_log(),
    keys.log_head(),
    *(keys.cases(state.value) for state in ReportState),
}


@dataclass(slots=True)
class KeyBatch:
    """A batch of keys, sorted by what they hold. Keys of other kinds are in `keys` alone."""

    keys: Sequence[str] = ()
    owners: dict[KeyKind, list[int]] = field(default_factory=dict)
    timelines: list[StoredTimeline] = field(default_factory=list)  # whose list of posts is in the batch
    rankings: list[StoredTimeline] = field(default_factory=list)  # whose ranking is in the batch
    promotions: list[int] = field(default_factory=list)
    has_running_promotions: bool = False
    logins_and_emails: list[str] = field(default_factory=list)  # as keys
    sent: dict[str, int] = field(default_factory=dict)  # list of a participant's messages → its conversation
    conversation_holders: list[str] = field(default_factory=list)  # as keys
    partitions_with_mail: set[int] = field(default_factory=set)
    partitions_with_uploads: set[int] = field(default_factory=set)
    magnitudes: list[int] = field(default_factory=list)  # of sets of names
    has_group_directory: bool = False
    has_big: bool = False  # whether the list of big authors is in the batch
    moderation: set[str] = field(default_factory=set)  # keys of moderation that have no single owner
    has_indexed: bool = False  # whether the states of members in the index of names are in the batch

    @property
    def count(self) -> int:
        """The number of keys."""
        return len(self.keys)

    def of(self, *wanted: KeyKind) -> list[int]:
        """Return the owners of the keys of some kinds."""
        return [owner for kind in wanted for owner in self.owners.get(kind, ())]


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


def sort(found: Sequence[str]) -> KeyBatch:
    """Return a batch of some keys."""
    batch = KeyBatch(found)
    for key in found:
        if match := _OWNED.fullmatch(key):
            if kind := _KINDS.get(match[1]):
                batch.owners.setdefault(kind, []).append(int(match[2]))
        else:
            _sort_other(batch, key)
    return batch


def _sort_other(batch: KeyBatch, key: str) -> None:
    if timeline := StoredTimeline.listed_in(key):
        batch.timelines.append(timeline)
    elif timeline := StoredTimeline.ranked_in(key):
        batch.rankings.append(timeline)
    elif key.startswith(keys.promotion_prefix()):
        batch.promotions.append(int(key.removeprefix(keys.promotion_prefix())))
    elif key.startswith(_LOGINS_AND_EMAILS):
        batch.logins_and_emails.append(key)
    elif match := _SENT.fullmatch(key):
        batch.sent[key] = int(match[1])
    elif key.startswith(_HOLDERS):
        batch.conversation_holders.append(key)
    elif match := _OF_PARTITION.fullmatch(key):
        having = batch.partitions_with_uploads if match[1] == "uploads" else batch.partitions_with_mail
        having.add(int(match[2]))
    elif key in _MAGNITUDES:
        batch.magnitudes.append(_MAGNITUDES[key])
    elif key in _MODERATION:
        batch.moderation.add(key)
    batch.has_running_promotions |= key == keys.promotions()
    batch.has_big |= key == keys.big()
    batch.has_group_directory |= key == keys.group_directory()
    batch.has_indexed |= key == keys.indexed()
