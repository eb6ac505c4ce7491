"""The entries of declared lists (`store.kinds`), with the records that they name and the other side."""

from collections.abc import Sequence

from msgspec import Struct

from store import kinds
from store.client.database import Command, Database
from store.kinds import List
from store.records.lists import read_pairs
from store.upkeep import counters
from store.upkeep.findings import ask_each, existing


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
    looks = {owner: [("ZRANGE", of.key(owner), 0, -1, "WITHSCORES")] for owner in owners}
    found = [
        (owner, text, int(place if of.is_by_place else text), int(place))
        for owner, (reply,) in await ask_each(db, looks)
        for text, place in read_pairs(reply).items()
    ]
    belong = await _belonging(db, of, [(owner, entity) for owner, _, entity, _ in found])
    others = await _other_side(db, of, [(owner, entity) for owner, _, entity, _ in found])
    return [
        ListedEntry(of, *entry, belongs, other) for entry, belongs, other in zip(found, belong, others, strict=True)
    ]


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
    looks = {(owner, entity): [("ZSCORE", there.key(entity), owner) for there in lists] for owner, entity in pairs}
    found = dict(await ask_each(db, looks))
    return [next((int(score) for score in found[pair] if score is not None), None) for pair in pairs]


def remove(entry: ListedEntry) -> list[Command]:
    """Return the commands that remove an entry from its list, and recount the list if it is counted."""
    return [("ZREM", entry.key, entry.text), *counters.recount_list(entry.of, entry.owner)]
