"""Stored homes: merging at follows, building and reading."""

import secrets
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from store import keys
from store.client.database import Command, Database, script
from store.homes.bounds import lift, limits
from store.homes.fanout import Delivery
from store.ids import LARGEST, PARTITIONS, partition
from store.keys.fields import HomeField
from store.records.lists import NOBODY, Entry, Source, read_pairs, read_sources, write_sources
from store.scripts.partitioned import by_partition
from store.timelines import Slice, newest_of, read_slice

WIDTH = 17  # Characters of a waiting entry. The same number is in the scripts.

DRAFT_SECONDS = 60  # How long a home waits to be written.

TOKEN_BYTES = 6  # Of `unmerged`. Two that follow each other are equal once in 3e14 times.


class StoredHome(Struct, frozen=True):
    """Part of a stored home. Without a floor there is no home; while it is being built, it must not be read."""

    entries: list[Entry]
    floor: int | None
    is_built: bool


async def merge(
    db: Database, follower: int, followed: int, edge: int, entries: Sequence[Delivery], horizon: int
) -> None:
    """Merge a newly followed member's posts into a home; the member's profile was not read below `horizon`."""
    home = _follower_home(db, follower, entries)
    await db.call("merge_home", follower, **home, followed=followed, edge=edge, horizon=horizon)


async def unmerge(db: Database, follower: int, unfollowed: int, entries: Sequence[Delivery]) -> None:
    """Remove an unfollowed member's posts and plain reposts from a home. Deliveries under way then check again.

    The member must have been removed from the unfollowed member's followers before.
    """
    await db.call(
        "unmerge_home",
        follower,
        **_follower_home(db, follower, entries),
        unfollowed=unfollowed,
        token=secrets.token_urlsafe(TOKEN_BYTES),
    )


def _follower_home(db: Database, follower: int, entries: Sequence[Delivery]) -> dict[str, Any]:
    """Return the script parameters that name a follower's home and posts of a member."""
    return {
        "lift": lift(db),
        **limits(db),
        "follower": follower,
        "entries": [part for e in entries for part in (e.post, e.author, e.repost or "", e.earlier)],
    }


async def sources(db: Database, member: int) -> dict[int, tuple[Source, ...]]:
    """Return the plain reposts that are sources of a home's posts, by post."""
    stored = read_pairs(await db.one("HGETALL", keys.sources(member)))
    return {int(post): read_sources(text) for post, text in stored.items()}


async def floor(db: Database, member: int) -> int | None:
    """Return the highest id ever trimmed from a home, None when the member has no home."""
    found = await db.one("HGET", keys.home_state(member), HomeField.FLOOR)
    return None if found is None else int(found)


def read_home(member: int, part: Slice) -> list[Command]:
    """Return the three commands that read part of a home; `read_stored` makes a StoredHome of their replies.

    The order of the commands matters. An entry that moves to the list between them is read twice, not missed. An entry
    that is trimmed between them is below the floor that is read last.
    """
    return [
        ("GET", keys.newest(member)),
        _read_listed(member, part),
        ("HMGET", keys.home_state(member), HomeField.FLOOR, HomeField.BUILDING),
    ]


def _read_listed(member: int, part: Slice) -> Command:
    if part.below is None and part.newest_first:
        return ("LRANGE", keys.home(member), -part.count, -1)
    return script(
        "slice_home",
        member,
        above=part.above or 0,
        below="" if part.below is None else part.below,
        newest_first="1" if part.newest_first else "",
        limit=part.count,
    )


def read_stored(part: Slice, waiting: str | None, listed: Sequence[str], state: Sequence[str | None]) -> StoredHome:
    """Return part of a home from the replies to the commands of `read_home`."""
    floor, building = state
    return StoredHome(home_slice(part, waiting, listed), None if floor is None else int(floor), not building)


def home_slice(part: Slice, waiting: str | None, listed: Sequence[str]) -> list[Entry]:
    """Return the entries of part of a home, in the order of the slice."""
    texts = [*listed, *(waiting or "").split()[1:]]
    plain = [int(text) for text in texts if ":" not in text]  # almost all entries are plain ids
    found = dict(zip(plain, plain, strict=True))
    found |= {entry.place: entry.entity for entry in home_entries([text for text in texts if ":" in text])}
    above, below = part.above or 0, part.below or LARGEST + 1
    places = sorted([place for place in found if above < place < below], reverse=part.newest_first)
    return [Entry(found[place], place) for place in places[: part.count]]


def home_entries(listed: Sequence[str]) -> list[Entry]:
    """Return entries from a home's stored list, in its order."""
    return [Entry(int(post), int(place or post)) for post, _, place in (entry.partition(":") for entry in listed)]


def read_on_command(p: int, members: Sequence[int]) -> Command:
    """Return the command that reads the day on which each member last read their home; members of one partition."""
    return ("ZMSCORE", keys.active(p), *members)


def candidates(member: int, part: Slice) -> Command:
    """Return the command that reads part of a home's candidates; `read_candidates` reads its reply."""
    return read_slice(keys.candidates(member), part)


def read_candidates(reply: Sequence[str]) -> list[Entry]:
    """Return entries at reposts that big authors' reposts may make the place of their posts."""
    return home_entries(reply[::2])


def sources_commands(member: int, posts: Sequence[int]) -> list[Command]:
    """Return the commands that read whether a home has sources at all, then those of some posts, if any."""
    key = keys.sources(member)
    return [("EXISTS", key), *([("HMGET", key, *posts)] if posts else [])]


def places(member: int, posts: Sequence[int]) -> Command:
    """Return the command that reads the places of posts in a home, None for posts that it does not have."""
    return script("places", member, posts=posts)


async def state(db: Database, member: int) -> tuple[bool, bool]:
    """Return whether a member has a whole home, and whether they have read it today; one round trip."""
    (floor, building), day = await db.ask(
        ("HMGET", keys.home_state(member), HomeField.FLOOR, HomeField.BUILDING),
        ("ZSCORE", keys.active(partition(member)), member),
    )
    return floor is not None and not building, day == str(today())


async def length(db: Database, member: int) -> int:
    """Return how many entries the list of a home has."""
    return int(await db.one("LLEN", keys.home(member)))


async def home(db: Database, member: int) -> list[Entry]:
    """Return a whole stored home, newest first."""
    return home_slice(
        newest_of(LARGEST), *await db.ask(("GET", keys.newest(member)), ("LRANGE", keys.home(member), 0, -1))
    )


def mark_read(member: int, place: int) -> Command:
    """Return the command that marks a home as read up to a place. The mark never falls."""
    return script("mark_home_read", member, place=place)


def read_up_to_command(member: int) -> Command:
    """Return the command that reads the place up to which a home is marked read, None before the first mark."""
    return ("GET", keys.home_read(member))


def begin_home(member: int) -> Command:
    """Return the command that begins to build a home. It replies the home's count of changes, None when it is ready."""
    return script("begin_home", member)


async def begin_homes(db: Database, members: Sequence[int]) -> dict[int, str]:
    """Begin to build homes, or to add to those that are ready; returns each one's count of changes. One round trip."""
    found: dict[int, list[int]] = defaultdict(list)
    for member in members:
        found[partition(member)].append(member)
    replies = await db.ask(*(script("begin_homes", partition=p, members=some) for p, some in found.items()))
    return {
        member: changed
        for some, reply in zip(found.values(), replies, strict=True)
        for member, changed in zip(some, reply, strict=True)
    }


class Reposted(Struct, frozen=True):
    """What adds a post to a home that was built: the post itself, and plain reposts above the home's floor."""

    post: int
    own: int | None  # The post's id, if that is a source.
    below: int | None  # The place that the sources up to the floor give the post.
    reposts: Sequence[Source]
    is_delivered: bool  # Whether the post is in the home without its reposts.

    def words(self) -> list[int | str]:
        """Return the arguments of the script."""
        marked = [Source(self.post, NOBODY)] if self.is_delivered else []
        return [self.post, self.own or "", self.below or "", write_sources([*marked, *self.reposts])]


def write_home(
    db: Database, member: int, changed: str, posts: Sequence[int], reposted: Sequence[Reposted], floor: int
) -> Command:
    """Return the command that writes a built home; it replies -1 when the home has changed since building began.

    `posts` are listed at their own ids.
    """
    return script(
        "write_home",
        member,
        lift=lift(db),
        member=member,
        changes=changed,
        floor=floor,
        day=today(),
        home_size=db.settings.home_size,
        home_slack=db.settings.home_slack,
        posts=" ".join(map(str, posts)),
        reposted=[word for r in reposted for word in r.words()],
    )


class PlainHome(NamedTuple):
    """A home that was computed from profiles without reposts: its floor and its posts, as they are stored, in order."""

    floor: int
    posts: Sequence[str]


async def write_homes(db: Database, homes: Mapping[int, tuple[str, PlainHome]]) -> list[int]:
    """Write homes that were built, each given with the count of changes when its building began. One round trip.

    Returns the members whose homes hold something already. Those were not written.
    """
    calls = list(by_partition((m, (changed, h.floor, len(h.posts))) for m, (changed, h) in homes.items()))
    drafts: list[Command] = []
    for member, (_, home) in homes.items():
        if home.posts:
            draft = keys.home_draft(member)
            drafts += [("DEL", draft), ("RPUSH", draft, *home.posts), ("EXPIRE", draft, DRAFT_SECONDS)]
    writes = [script("write_homes", partition=p, day=today(), homes=words) for p, words in calls]
    replies = (await db.ask(*drafts, *writes))[len(drafts) :]
    return [int(words[at]) for (_, words), places in zip(calls, replies, strict=True) for at in places]


def trim_home(db: Database, member: int) -> Command:
    """Return the command that trims a home; its reply is the number of entries removed."""
    return script("trim_home", member, **limits(db))


def drop_home(member: int, last_read: int | None = None) -> Command:
    """Return the command that drops a home, unless it was read after the day `last_read`, if one is given."""
    return script("drop_home", member, member=member, last_read="" if last_read is None else last_read)


def touch_home(member: int) -> Command:
    """Return the command that records that a home was read today."""
    return ("ZADD", keys.active(partition(member)), "GT", today(), member)


async def idle(db: Database, last_read: int, count: int) -> list[int]:
    """Return members whose homes were last read on a day or before, some of each partition."""
    bounds = ("-inf", last_read, "BYSCORE", "LIMIT", 0, count)
    replies = await db.ask(*(("ZRANGE", keys.active(p), *bounds) for p in range(PARTITIONS)))
    return [int(member) for members in replies for member in members]


def today() -> int:
    """Return today's day number: UTC days since 1970."""
    return int(time.time()) // keys.DAY
