"""Values that a process caches by id, of records and of relations. `cache` decides what is current."""

from collections import OrderedDict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import repeat
from operator import is_
from typing import Any, Protocol, TypeAlias
from weakref import ref

from store.client.connection import Commands
from store.client.metering import METER

RELATIONS_KEPT = 500  # Cached relations of one member.
VIEWS_KEPT = 200_000  # Cached parts of values for viewers, in each cache of these; some 100 bytes each.
MARKS_KEPT = 1_000  # Marks of one cache that are not looked through.
OWNERS_KEPT = 1_000  # Members whose relations are cached, in each cache of relations.

Owner: TypeAlias = int | str  # The owner of a key is the id that ends it, or else the text in the braces that end it.
Changed: TypeAlias = set[tuple[str, Owner]]  # Kind and owner of each changed key.

_TRUE = (True,)  # what a mark has until it is outdated
_ABSENT = object()  # in place of a value that is not cached


class Mark(list[bool]):
    """Whether a value is still the one that was read. True until it has changed.

    It is a list because an answer asks for hundreds of marks. The truth of a list costs no call in Python.
    """

    __slots__ = ("__weakref__",)

    def outdate(self) -> None:
        """Make the mark false."""
        self.clear()


class CachedValues(Protocol):
    """A cache of values by id."""

    def find(self, ids: Iterable[Any]) -> dict[Any, Any]:
        """Return the cached values among some ids."""

    def keep(self, values: Mapping[Any, Any], changed: Changed) -> None:
        """Cache values that were read, except those that have changed since."""

    def marks(self, values: Mapping[Any, Any]) -> Sequence[Mark] | None:
        """Return marks that are all true until one of the values has changed; None if one is not cached now."""


class Reading(Protocol):
    """Commands whose replies may be cached."""

    @property
    def commands(self) -> Commands:
        """The commands to send."""

    def take(self, replies: list[Any], changed: Changed | None) -> None:
        """Take the replies, without waiting; where `changed` is None, nothing may be cached."""


class Marks:
    """The marks of one cache's owners, each made when it is first asked for.

    A mark stays when its values are evicted, because the server still reports their change. Marks that nobody holds any
    more are removed whenever their number has doubled.
    """

    def __init__(self) -> None:
        self._marks: dict[Owner, Mark] = {}
        self._most = MARKS_KEPT

    def __len__(self) -> int:
        return len(self._marks)

    def of(self, owners: Collection[Owner]) -> list[Mark]:
        """Return the marks of some owners, whose values have to be cached."""
        known = self._marks
        marks: list[Any] = list(map(known.get, owners))
        if not all(marks):  # a known mark is true; comparing each with None would take six times as long
            for place, owner in enumerate(owners):
                if marks[place] is None:
                    marks[place] = known[owner] = Mark(_TRUE)
            if len(known) > self._most:
                self._remove_unheld()
        return marks

    def _remove_unheld(self) -> None:
        seen = {owner: ref(mark) for owner, mark in self._marks.items()}
        self._marks.clear()  # Marks that nobody else holds end here.
        self._marks = {owner: mark for owner, found in seen.items() if (mark := found()) is not None}
        self._most = max(MARKS_KEPT, 2 * len(self._marks))

    def drop(self, owner: Owner) -> None:
        """Make the mark of an owner false, because the owner's key has changed."""
        if mark := self._marks.pop(owner, None):
            mark.outdate()

    def clear(self) -> None:
        """Make all marks false."""
        for mark in self._marks.values():
            mark.outdate()
        self._marks.clear()


def _are_in(cached: Mapping[Any, Any], values: Mapping[Any, Any]) -> bool:
    """Return whether identical values are cached."""
    return all(map(is_, map(cached.get, values, repeat(_ABSENT)), values.values()))


class _ByOwner:
    """Cached values by owner, and the marks of the owners. Those cached longest ago are evicted first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._cached: OrderedDict[Owner, Any] = OrderedDict()
        self._marks = Marks()

    def drop(self, owner: Owner) -> None:
        """Drop what is cached of an owner, one of whose keys has changed."""
        self._cached.pop(owner, None)
        self._marks.drop(owner)

    def clear(self) -> None:
        """Drop everything."""
        self._cached.clear()
        self._marks.clear()


class Records(_ByOwner):
    """Cached records of one kind, each owned by itself."""

    def __init__(self, kind: str, most: int) -> None:
        super().__init__(most)
        self._kind = kind

    def find(self, ids: Iterable[Any]) -> dict[Any, Any]:
        """Return the cached records among some ids."""
        cached = self._cached
        records = {entity_id: cached[entity_id] for entity_id in ids if entity_id in cached}
        METER.cache_hits += len(records)
        return records

    def keep(self, values: Mapping[Any, Any], changed: Changed) -> None:
        """Cache records that were read, except those that have changed since."""
        cached = self._cached
        METER.cache_reads += len(values)
        for entity_id, value in values.items():
            if (self._kind, entity_id) not in changed:
                cached[entity_id] = value
        while len(cached) > self._most:
            cached.popitem(last=False)

    def marks(self, values: Mapping[Any, Any]) -> Sequence[Mark] | None:
        """Return marks that are all true until one of the records has changed; None if one is not cached now."""
        return self._marks.of(values) if _are_in(self._cached, values) else None


class CachedRelations(_ByOwner):
    """Cached relations of each owner. A change to any of the owner's keys drops all of them."""

    def __init__(self, kinds: Sequence[str], owners: int, most: int) -> None:
        super().__init__(most)
        self._kinds = kinds
        self._owners = owners

    def of(self, owner: Owner) -> CachedValues:
        """Return the cache of one owner's relations."""
        return _Part(self, owner)

    def find(self, owner: Owner, ids: Iterable[Any]) -> dict[Any, Any]:
        """Return the owner's cached relations among some ids."""
        cached = self._cached.get(owner)
        if not cached:
            return {}
        relations = {entity_id: cached[entity_id] for entity_id in ids if entity_id in cached}
        METER.cache_hits += len(relations)
        return relations

    def all(self, owner: Owner) -> Mapping[Any, Any]:
        """Return all cached relations of an owner; they may be out of date."""
        relations: Mapping[Any, Any] = self._cached.get(owner, {})
        return relations

    def keep(self, owner: Owner, values: Mapping[Any, Any], changed: Changed) -> None:
        """Cache relations that were read, unless one of the owner's keys has changed since."""
        METER.cache_reads += len(values)
        if changed and any((kind, owner) in changed for kind in self._kinds):
            return
        cached = self._cached.get(owner, {})
        self._cached[owner] = {**cached, **values} if len(cached) + len(values) <= self._most else dict(values)
        while len(self._cached) > self._owners:
            self._cached.popitem(last=False)

    def marks(self, owner: Owner, values: Mapping[Any, Any]) -> Sequence[Mark] | None:
        """Return a mark that is true until the owner's relations have changed; None if one is not cached now."""
        return self._marks.of((owner,)) if _are_in(self._cached.get(owner, {}), values) else None


class Views(_ByOwner):
    """Cached values that an owner has for each of several viewers, or for anything else that reads them differently.

    A change of the owner's key drops the values for all viewers.
    """

    def __init__(self, kind: str, most: int) -> None:
        super().__init__(most)
        self._kind = kind
        self._count = 0  # Of parts of values.

    def of(self, viewer: Hashable) -> CachedValues:
        """Return the cache of the values for one viewer, by owner."""
        return _Part(self, viewer)

    def find(self, viewer: Hashable, owners: Iterable[Owner]) -> dict[Any, Any]:
        """Return the cached values for a viewer among some owners."""
        cached, found = self._cached, {}
        for owner in owners:
            if (views := cached.get(owner)) and viewer in views:
                found[owner] = views[viewer]
        METER.cache_hits += len(found)
        return found

    def keep(self, viewer: Hashable, values: Mapping[Any, Any], changed: Changed) -> None:
        """Cache values for a viewer that were read, except those whose owners have changed since."""
        METER.cache_reads += len(values)
        for owner, value in values.items():
            if (self._kind, owner) not in changed:
                views = self._cached.setdefault(owner, {})
                self._count += _parts(value) - (_parts(views[viewer]) if viewer in views else 0)
                views[viewer] = value
        while self._count > self._most:
            self._evict(next(iter(self._cached)))

    def marks(self, viewer: Hashable, values: Mapping[Any, Any]) -> Sequence[Mark] | None:
        """Return marks that are all true until one of the values has changed; None if one is not cached now."""
        cached = [self._cached.get(owner, {}).get(viewer, _ABSENT) for owner in values]
        return self._marks.of(values) if all(map(is_, cached, values.values())) else None

    def drop(self, owner: Owner) -> None:
        """Drop the values of an owner, whose key has changed."""
        self._evict(owner)
        super().drop(owner)

    def _evict(self, owner: Owner) -> None:
        self._count -= sum(map(_parts, self._cached.pop(owner, {}).values()))

    def clear(self) -> None:
        """Drop everything."""
        super().clear()
        self._count = 0


def _parts(value: Any) -> int:
    """Return how many parts a value takes up: a tuple one more than its elements, everything else one."""
    return 1 + len(value) if isinstance(value, tuple) else 1


class _Part:
    """The cached relations of one owner, or the cached values for one viewer."""

    def __init__(self, whole: CachedRelations | Views, of: Any) -> None:
        self._whole = whole
        self._of = of

    def find(self, ids: Iterable[Any]) -> dict[Any, Any]:
        return self._whole.find(self._of, ids)

    def keep(self, values: Mapping[Any, Any], changed: Changed) -> None:
        self._whole.keep(self._of, values, changed)

    def marks(self, values: Mapping[Any, Any]) -> Sequence[Mark] | None:
        return self._whole.marks(self._of, values)
