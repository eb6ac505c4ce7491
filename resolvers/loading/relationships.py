"""Data loaders of the viewer's relationships, likes and home sources, which the cache can hold as whole sets."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from resolvers.loading.batcher import Batcher, sound
from resolvers.loading.dataloader import ANY, DataLoader
from store import blocks, likes_and_comments
from store.client.caching.values import RELATIONS_KEPT, CachedValues, Changed, Mark
from store.client.database import Command
from store.homes import stored
from store.likes_and_comments import NewestLikes
from store.records.lists import Source, read_sources
from store.records.members import NO_RELATIONSHIP, Relationship


class Relationships(DataLoader[Relationship]):
    """The viewer's relationships to members, from cached sets: following, blocked, blocked by and muted.

    If a set is too large to cache, or the cache is off, each relationship is read by itself.
    """

    def __init__(self, batcher: Batcher, viewer: int, cached: CachedValues) -> None:
        def ask(ids: list[int]) -> list[Command]:
            members = [entity_id for entity_id in ids if entity_id != ANY]
            whole = blocks.all_relationship_commands(viewer, RELATIONS_KEPT + 1) if ANY in ids else []
            return [*whole, *(blocks.relationship_commands(viewer, members) if members else [])]

        def read(ids: list[int], replies: list[Any]) -> list[Any]:
            found = sound(replies)
            whole = _whole(found[: blocks.RELATIONSHIP_SETS]) if ANY in ids else None
            columns = found[-blocks.RELATIONSHIP_SETS :] if ids != [ANY] else []
            relationships = iter(
                [_relationship([score is not None for score in row]) for row in zip(*columns, strict=True)]
            )
            return [whole if entity_id == ANY else next(relationships) for entity_id in ids]

        super().__init__(batcher, ask, read, cached)

    def missing(self, ids: Iterable[int]) -> list[int]:
        """Return the ids that are not loaded yet, each once. Current cached values are loaded by this call."""
        missing = super().missing(ids)
        if not missing or not self._batcher.keeps:
            return missing
        if super().missing((ANY,)):
            return [*missing, ANY]
        whole = self.found[ANY]
        if whole is None:
            return missing
        self.found |= {member: whole[member] for member in missing}
        return []

    def marks(self) -> Sequence[Mark] | None:
        """Return marks that are all true until a loaded value has changed; the whole sets are one value."""
        whole = self.found.get(ANY)
        return self.cached.marks({ANY: whole}) if whole is not None and self.cached else super().marks()

    def find_cached(self, missing: Sequence[int]) -> Mapping[int, Any]:
        """Return the ids that are cached; their values may be out of date."""
        whole = super().find_cached((ANY,)).get(ANY)
        return super().find_cached(missing) if whole is None else dict.fromkeys(missing)


class _Whole(dict[int, Relationship]):
    """One member's relationships to all others, each computed from the whole sets when it is first used."""

    def __init__(self, sets: Sequence[frozenset[int]]) -> None:
        super().__init__()
        self._sets = sets

    def __missing__(self, member: int) -> Relationship:
        if len(self) == RELATIONS_KEPT:
            self.clear()
        relationship = self[member] = _relationship([member in some for some in self._sets])
        return relationship


def _whole(replies: Sequence[Sequence[str]]) -> _Whole | None:
    if any(len(members) > RELATIONS_KEPT for members in replies):
        return None
    return _Whole([frozenset(map(int, members)) for members in replies])


def _relationship(row: Sequence[bool]) -> Relationship:
    return Relationship(*row) if any(row) else NO_RELATIONSHIP


class Likes(DataLoader[bool]):
    """Whether the viewer likes posts.

    The index of their likes lacks none, and its end is cached as one value. It says of most new posts that they are not
    liked. The others are read one by one.
    """

    def __init__(self, batcher: Batcher, viewer: int, cached: CachedValues, newest: CachedValues) -> None:
        def ask(ids: list[int]) -> list[Command]:
            index = likes_and_comments.newest_liked_command(viewer)
            return [index if post == ANY else likes_and_comments.liked_command(post, viewer) for post in ids]

        def read(ids: list[int], replies: list[Any]) -> list[Any]:
            found = zip(ids, sound(replies), strict=True)
            return [NewestLikes.read(reply) if post == ANY else reply is not None for post, reply in found]

        super().__init__(batcher, ask, read, cached)
        self._newest = newest
        self._ruled_out: set[int] = set()  # the posts that the index says are not liked

    def missing(self, ids: Iterable[int]) -> list[int]:
        """Return the ids that are not loaded yet, each once. Current cached values are loaded by this call."""
        if not self._batcher.keeps:
            return super().missing([post for post in ids if post != ANY])
        if ANY not in self.found and self._batcher.is_current:
            self.found |= self._newest.find((ANY,))
        newest = self.found.get(ANY)
        if isinstance(newest, NewestLikes):  # and not an error
            new = _not_named(newest, [post for post in ids if post not in self.found])
            self.found |= new
            self._ruled_out |= new.keys()
        missing = super().missing(ids)
        return missing if newest is not None or not missing else [*dict.fromkeys([*missing, ANY])]

    def find_cached(self, missing: Sequence[int]) -> Mapping[int, Any]:
        """Return cached values of some ids; they may be out of date."""
        newest = self._newest.find((ANY,))
        return {**super().find_cached(missing), **newest, **(_not_named(newest[ANY], missing) if newest else {})}

    def keep(self, values: dict[int, Any], changed: Changed) -> None:
        """Cache values that were read, except those in `changed`."""
        if newest := values.pop(ANY, None):
            self._newest.keep({ANY: newest}, changed)
        super().keep(values, changed)

    def marks(self) -> Sequence[Mark] | None:
        """Return marks that are all true until a loaded value has changed; the index has one for all posts."""
        named = {post: found for post, found in self.found.items() if post != ANY and post not in self._ruled_out}
        of_posts = self.cached.marks(named) if named and self.cached else ()
        of_index = self._newest.marks({ANY: self.found[ANY]}) if self._ruled_out else ()
        return None if of_posts is None or of_index is None else [*of_posts, *of_index]


def _not_named(newest: NewestLikes, posts: Iterable[int]) -> dict[int, bool]:
    """Return False for each post that the end of the index would name if it were liked."""
    floor, named = newest
    return {post: False for post in posts if post > floor and post not in named}


class Sources(DataLoader[tuple[Source, ...]]):
    """The plain reposts that are sources of posts in a home, by post.

    The loader also reads and caches whether the home has any sources at all. Without that, every new post in a home
    without sources would have to be read.
    """

    def __init__(self, batcher: Batcher, owner: int, cached: CachedValues) -> None:
        def ask(ids: list[int]) -> list[Command]:
            return stored.sources_commands(owner, [entity_id for entity_id in ids if entity_id != ANY])

        def read(ids: list[int], replies: list[Any]) -> list[Any]:
            exists, *texts = sound(replies)
            found = map(read_sources, texts[0]) if texts else iter(())
            return [bool(exists) if entity_id == ANY else next(found) for entity_id in ids]

        super().__init__(batcher, ask, read, cached)

    def missing(self, ids: Iterable[int]) -> list[int]:
        """Return the ids that are not loaded yet, each once. Current cached values are loaded by this call."""
        unsure = super().missing((ANY,))
        missing = [] if self._has_none else super().missing(ids)
        return [*missing, *unsure] if missing else []

    def loaded(self, ids: Collection[int]) -> list[tuple[Source, ...]]:
        """Return the sources of loaded posts, in the order of their ids; raises the first error among them."""
        return [()] * len(ids) if self._has_none else super().loaded(ids)

    @property
    def _has_none(self) -> bool:
        return self.found.get(ANY) is False
