"""Values that a process caches by id, of records and of relations. `cache` decides what is current."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from store.client.connection import Commands

RELATIONS_KEPT = 500  # Cached relations of one member.
OWNERS_KEPT = 1_000  # Members whose relations are cached, in each cache of relations.

Owner: TypeAlias = int | str  # The owner of a key is the id that ends it, or else the text in the braces that end it.
Changed: TypeAlias = set[tuple[str, Owner]]  # Kind and owner of each changed key.


class CachedValues(Protocol):
    """A cache of values by id."""

    def find(self, ids: Iterable[Any]) -> dict[Any, Any]:
        """Return the cached values among some ids."""

    def keep(self, values: Mapping[Any, Any], changed: Changed) -> None:
        """Cache values that were read, except those that have changed since."""


class Reading(Protocol):
    """Commands whose replies may be cached."""

    @property
    def commands(self) -> Commands:
        """The commands to send."""

    def take(self, replies: list[Any], changed: Changed | None) -> None:
        """Take the replies, without waiting; where `changed` is None, nothing may be cached."""


def hand_out(readings: Iterable[Reading], replies: list[Any], changed: Changed | None) -> None:
    """Give each reading the replies to its own commands."""
    start = 0
    for reading in readings:
        end = start + len(reading.commands)
        reading.take(replies[start:end], changed)
        start = end


class Records:
    """Cached records of one kind. Those cached longest ago are evicted first."""

    def __init__(self, kind: str, most: int) -> None:
        self._kind = kind
        self._most = most
        self._cached: OrderedDict[Owner, Any] = OrderedDict()

    def find(self, ids: Iterable[Any]) -> dict[Any, Any]:
        """Return the cached records among some ids."""
        cached = self._cached
        return {entity_id: cached[entity_id] for entity_id in ids if entity_id in cached}

    def keep(self, values: Mapping[Any, Any], changed: Changed) -> None:
        """Cache records that were read, except those that have changed since."""
        cached = self._cached
        for entity_id, value in values.items():
            if (self._kind, entity_id) not in changed:
                cached[entity_id] = value
        while len(cached) > self._most:
            cached.popitem(last=False)

    def drop(self, owner: Owner) -> None:
        """Drop the record of a changed key."""
        self._cached.pop(owner, None)

    def clear(self) -> None:
        """Drop everything."""
        self._cached.clear()


class Relations:
    """Cached relations of each owner. A change to any of the owner's keys drops all of them."""

    def __init__(self, kinds: Sequence[str], owners: int, most: int) -> None:
        self._kinds = kinds
        self._owners = owners
        self._most = most
        self._cached: OrderedDict[Owner, dict[Hashable, Any]] = OrderedDict()

    def of(self, owner: Owner) -> CachedValues:
        """Return the cache of one owner's relations."""
        return _Own(self, owner)

    def find(self, owner: Owner, ids: Iterable[Any]) -> dict[Any, Any]:
        """Return the owner's cached relations among some ids."""
        cached = self._cached.get(owner)
        return {entity_id: cached[entity_id] for entity_id in ids if entity_id in cached} if cached else {}

    def keep(self, owner: Owner, values: Mapping[Any, Any], changed: Changed) -> None:
        """Cache relations that were read, unless one of the owner's keys has changed since."""
        if changed and any((kind, owner) in changed for kind in self._kinds):
            return
        cached = self._cached.get(owner, {})
        self._cached[owner] = {**cached, **values} if len(cached) + len(values) <= self._most else dict(values)
        while len(self._cached) > self._owners:
            self._cached.popitem(last=False)

    def drop(self, owner: Owner) -> None:
        """Drop the relations of an owner."""
        self._cached.pop(owner, None)

    def clear(self) -> None:
        """Drop everything."""
        self._cached.clear()


class _Own:
    """The cache of one owner's relations."""

    def __init__(self, relations: Relations, owner: Owner) -> None:
        self._relations = relations
        self._owner = owner

    def find(self, ids: Iterable[Any]) -> dict[Any, Any]:
        return self._relations.find(self._owner, ids)

    def keep(self, values: Mapping[Any, Any], changed: Changed) -> None:
        self._relations.keep(self._owner, values, changed)
