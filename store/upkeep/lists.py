"""What is stored of declared lists (`store.kinds`), as `verify` compares it, and the commands that mend it."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from store import kinds
from store.client.database import Command, Database
from store.kinds import KeyKind, List, Record
from store.records.lists import read_pairs
from store.upkeep import counters


async def existing(db: Database, kind: KeyKind, owners: Iterable[int]) -> set[int]:
    """Return those of some owners who have a key of a kind, such as a record. One round trip."""
    wanted = list(owners)
    replies = await db.ask(*(("EXISTS", kind.key(owner)) for owner in wanted))
    return {owner for owner, exists in zip(wanted, replies, strict=True) if exists}


class ListedEntry(Struct, frozen=True):
    """An entry of a list. `entity` is the id of what is listed, and `belongs` whether its record puts it there."""

    of: List
    owner: int
    text: str
    entity: int
    place: int
    belongs: bool
    other: int | None  # its score on the other side, in the list's copy, or in what the list is a copy of

    @property
    def key(self) -> str:
        """Return the key of the list."""
        return self.of.key(self.owner)

    @property
    def agrees(self) -> bool:
        """Return whether the other side has the entry, too, or needs not."""
        if copy := self.of.copied_to:
            return self.other == self.place or (copy.may_name_too_much and self.other is not None)
        return self.other is not None or self.of.may_name_too_much or not kinds.truths(self.of)


async def entries(db: Database, of: List, owners: Sequence[int]) -> list[ListedEntry]:
    """Return the entries of a list of some owners. Three round trips."""
    replies = await db.ask(*(("ZRANGE", of.key(owner), 0, -1, "WITHSCORES") for owner in owners))
    found = [
        (owner, text, int(place if of.is_by_place else text), int(place))
        for owner, reply in zip(owners, replies, strict=True)
        for text, place in read_pairs(reply).items()
    ]
    belong = await _belonging(db, of, [(owner, entity) for owner, _, entity, _ in found])
    others = await _other_side(db, of, [(owner, entity) for owner, _, entity, _ in found])
    return [
        ListedEntry(of, *entry, belongs, other) for entry, belongs, other in zip(found, belong, others, strict=True)
    ]


async def sizes(db: Database, of: List, owners: Sequence[int]) -> list[int]:
    """Return the number of entries in a list of each owner. One round trip."""
    return list(await db.ask(*(("ZCARD", of.key(owner)) for owner in owners)))


async def _belonging(db: Database, of: List, pairs: Sequence[tuple[int, int]]) -> list[bool]:
    """Return for each owner and entry whether the entry's record exists, and names the owner if it names one."""
    if of.entries is None:
        return [True] * len(pairs)
    if not of.named_by:
        exists = await existing(db, of.entries, {entity for _, entity in pairs})
        return [entity in exists for _, entity in pairs]
    read = of.entries.key
    names = await db.ask(*(("HGET", read(entity), of.named_by) for _, entity in pairs))
    itself = await existing(db, of.entries, {entity for owner, entity in pairs if owner == entity})
    return [name == str(owner) or entity in itself for (owner, entity), name in zip(pairs, names, strict=True)]


async def _other_side(db: Database, of: List, pairs: Sequence[tuple[int, int]]) -> list[int | None]:
    """Return the score of each owner in the list that its entry has on the other side."""
    lists = [of.copied_to] if of.copied_to else kinds.truths(of)
    if not lists:
        return [None] * len(pairs)
    scores = await db.ask(*(("ZSCORE", there.key(entity), owner) for owner, entity in pairs for there in lists))
    rows = [scores[i : i + len(lists)] for i in range(0, len(scores), len(lists))]
    return [next((int(score) for score in row if score is not None), None) for row in rows]


def remove(entry: ListedEntry) -> list[Command]:
    """Return the commands that remove an entry from its list, and recount the list if it is counted."""
    return [("ZREM", entry.key, entry.text), *counters.recount_list(entry.of, entry.owner)]


def copy_to_other_side(entry: ListedEntry) -> list[Command]:
    """Return the commands that add an entry to the list on the other side."""
    assert entry.of.copied_to
    score = entry.owner if entry.of.copied_to.has_own_ids else entry.place
    return [("ZADD", entry.of.copied_to.key(entry.entity), score, entry.owner)]


def drop(key: str) -> list[Command]:
    """Return the commands that remove a whole key."""
    return [("DEL", key)]


class PlacedEntry(Struct, frozen=True):
    """What the record of an entity says about one list that it names, where the list says otherwise."""

    of: List
    owner: int
    entity: int
    belongs: bool

    @property
    def key(self) -> str:
        """Return the key of the list."""
        return self.of.key(self.owner)


async def misplaced(db: Database, record: Record, ids: Sequence[int]) -> list[PlacedEntry]:
    """Return where lists disagree with the records that name them. Three round trips."""
    lists = kinds.naming(record)
    flags = list(dict.fromkeys(flag for one in lists for flag in (one.only_with, one.never_with) if flag))
    wanted = [one.named_by for one in lists]
    replies = await db.ask(*(("HMGET", record.key(entity), *wanted, *flags) for entity in ids))
    named = [
        PlacedEntry(of, int(owner), entity, _belongs(of, dict(zip(flags, reply[len(wanted) :], strict=True))))
        for entity, reply in zip(ids, replies, strict=True)
        for of, owner in zip(lists, reply[: len(wanted)], strict=True)
        if owner
    ]
    scores = await db.ask(*(("ZSCORE", one.key, one.entity) for one in named))
    wrong = [one for one, score in zip(named, scores, strict=True) if (score is not None) != one.belongs]
    exist = {of: await existing(db, of.of, {one.owner for one in wrong if one.of is of}) for of in lists}
    return [one for one in wrong if one.owner in exist[one.of] or not one.of.is_owner_checked]


def _belongs(of: List, flags: Mapping[str, str | None]) -> bool:
    is_there = not of.only_with or flags[of.only_with] is not None
    return is_there and not (of.never_with and flags[of.never_with] is not None)


def replace(one: PlacedEntry) -> list[Command]:
    """Return the commands that make a list agree with a record that names it, and recount it."""
    change: Command = ("ZADD", one.key, one.entity, one.entity) if one.belongs else ("ZREM", one.key, one.entity)
    return [change, *counters.recount_list(one.of, one.owner)]
