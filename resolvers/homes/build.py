"""Builds homes by pulling from profiles: for returning members, for imports, and for checking stored homes."""

import asyncio
import bisect
import contextlib
import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from resolvers.operation.inputs import batches
from resolvers.rules import merging
from resolvers.rules.merging import EARLIER_REPOSTS, Home
from store import big_authors, follows, posts, timelines
from store.client.database import CommandRefused, Database
from store.homes import bounds, stored
from store.homes.stored import PlainHome
from store.records.lists import Published, Source

ENTRIES_KEPT = 500_000  # Entries of profiles cached while many homes are computed, some 50 MiB.
PUBLISHED_READ = 10_000  # Entries of a profile read when a home is checked.
PROFILES_READ = 200  # Profiles per round trip while one home is built.
IDLE_BATCH = 50  # Homes of one partition dropped per step.
ATTEMPTS = 8  # Attempts to build a home that changes meanwhile. The last one is stored as it is.


async def build(db: Database, member: int) -> None:
    """Build an absent home while deliveries add to it; memory and round trips are bounded.

    An unfollow or a delete during the build may concern what was already read, so the home is computed again.
    Two builders at once do no harm: the second finds the home ready.
    """
    for attempt in range(1, ATTEMPTS + 1):
        changed = await db.one(*stored.begin_home(member))
        if changed is None:
            return
        home = await _compute(db, member)
        if await db.one(*_write(db, member, "" if attempt == ATTEMPTS else changed, home)) != -1:
            return


async def read(db: Database, member: int) -> None:
    """Build a member's home if it is absent or unfinished, and mark it as used; for readers and subscribers.

    Does nothing while the database accepts no writes.
    """
    is_whole, is_read_today = await stored.state(db, member)
    with contextlib.suppress(CommandRefused):
        if not is_whole:
            await build(db, member)
        if not is_read_today:
            await db.one(*stored.touch_home(member))


async def let_go_idle(db: Database) -> int:
    """Drop the homes of members who have been away for `HOME_IDLE_DAYS`; returns how many."""
    last, count = stored.today() - db.settings.home_idle_days, 0
    while idle := await stored.idle(db, last, IDLE_BATCH):
        count += sum(await db.ask(*(stored.drop_home(member, last) for member in idle)))
    return count


async def rebuild(db: Database, member: int) -> int:
    """Drop a home and build it again; returns its number of entries."""
    await db.one(*stored.drop_home(member))
    await build(db, member)
    return await stored.length(db, member)


async def add_to_many(db: Database, pulling: "Pulling", members: Sequence[int]) -> int:
    """Add to many homes what their owners' new follows add, in few round trips; returns the number of entries.

    The homes are not dropped first, because the cached profiles may be older than what has been delivered.
    """
    changed = await stored.begin_homes(db, members)
    made = await pulling.pull(members, without=await big_authors.unpushed(db))
    plain = {member: home for member, home in made.items() if isinstance(home, PlainHome)}
    left = await stored.write_homes(db, {member: (changed[member], home) for member, home in plain.items()})
    others = {m: home for m, home in made.items() if isinstance(home, Home)} | {m: _whole(db, plain[m]) for m in left}
    written = await db.ask(*(_write(db, member, changed[member], home) for member, home in others.items()))
    for member in (m for m, reply in zip(others, written, strict=True) if reply == -1):
        await build(db, member)
    return sum(len(home.posts if isinstance(home, PlainHome) else home.places) for home in made.values())


def _whole(db: Database, home: PlainHome) -> Home:
    posts = list(map(int, home.posts))
    return Home(dict(zip(posts, posts, strict=True)), {}, home.floor, bounds.lift(db))


def _write(db: Database, member: int, changed: str, home: Home) -> tuple[object, ...]:
    posts = [post for post in home.places if post not in home.added]
    floor, lift = home.floor, home.lift
    reposted = [
        stored.Reposted(post, a.own, a.below(floor, lift), a.reposts, a.is_delivered) for post, a in home.added.items()
    ]
    return stored.write_home(db, member, changed, posts, reposted, floor)


async def _compute(db: Database, member: int) -> Home:
    """Return what a member's home should be. While it reads, it keeps only as many entries as the home can hold.

    Only big authors whose state is final are left out: their demotion would push to this home. A demotion under way may
    have passed this home by while it was absent, so its author is pulled.
    """
    big, (followed,) = await asyncio.gather(big_authors.unpushed(db), follows.followed(db, [member]))
    size, limit = db.settings.home_size, _limit(db)
    profiles: dict[int, list[Published]] = {}
    horizon = bounds.oldest(db)
    for some in batches(sorted((followed - big) | {member}), PROFILES_READ):
        replies = await db.ask(*(timelines.published_command(author, limit, horizon) for author in some))
        read = {author: timelines.read_profile(reply) for author, reply in zip(some, replies, strict=True)}
        horizon = max(horizon, _horizon(read, limit))
        profiles |= read
        horizon = max(horizon, merging.horizon(member, profiles, size))
        profiles = {author: [e for e in found if e.id > horizon] for author, found in profiles.items()}
    home = merging.pull(member, followed, profiles, horizon, bounds.lift(db))
    return (await _with_earlier(db, {member: home}, {member: followed - big}))[member].newest(size)


def _limit(db: Database) -> int:
    return db.settings.home_size + db.settings.home_slack


def _horizon(profiles: Mapping[int, Sequence[Published]], limit: int) -> int:
    """Return the id below which some of these profiles were not read."""
    return max((found[-1].id for found in profiles.values() if len(found) >= limit), default=0)


async def above(db: Database, member: int, floor: int, big: Collection[int]) -> tuple[Home, Home]:
    """Return what a home of any size should be above a floor: without big authors' additions, and with them."""
    (following,) = await follows.followed(db, [member])
    profiles: dict[int, list[Published]] = {}
    for some in batches(sorted(following | {member}), PROFILES_READ):
        replies = await db.ask(*(timelines.published_command(author, PUBLISHED_READ, floor) for author in some))
        profiles |= {author: timelines.read_profile(reply) for author, reply in zip(some, replies, strict=True)}
    horizon = max(floor, bounds.oldest(db), _horizon(profiles, PUBLISHED_READ))
    small = {author: found for author, found in profiles.items() if author not in big or author == member}
    least = merging.pull(member, following, small, horizon, bounds.lift(db))
    whole = merging.pull(member, following, profiles, horizon, bounds.lift(db))
    (least,) = (await _with_earlier(db, {member: least}, {member: following.difference(big)})).values()
    (whole,) = (await _with_earlier(db, {member: whole}, {member: following})).values()
    return least, whole


class StoredProfile(NamedTuple):
    """The newest entries of a profile."""

    texts: list[str]  # as they are stored, the newest first
    is_plain: bool  # whether all are posts: neither reposts nor posts in groups


class Pulling:
    """Computes many homes one after another, and reads each profile once."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._profiles: dict[int, StoredProfile] = {}
        self._entries = 0  # of all profiles, and one for each

    async def pull(self, members: Sequence[int], *, without: Collection[int]) -> dict[int, Home | PlainHome]:
        """Return what members' homes should be, without what the authors in `without` add; three round trips."""
        left_out = set(without)
        following = dict(zip(members, await follows.followed(self._db, members), strict=True))
        profiles = await self._read({*members, *(f for followed in following.values() for f in followed - left_out)})
        made = {m: self._home(m, followed - left_out, followed, profiles) for m, followed in following.items()}
        whole = {member: home for member, home in made.items() if isinstance(home, Home)}
        whole = await _with_earlier(self._db, whole, {member: following[member] - left_out for member in whole})
        size = self._db.settings.home_size
        return made | {member: home.newest(size) for member, home in whole.items()}

    async def _read(self, authors: Collection[int]) -> dict[int, StoredProfile]:
        found = {author: self._profiles[author] for author in authors if author in self._profiles}
        wanted = [author for author in authors if author not in found]
        replies = await self._db.ask(*(timelines.published_command(author, _limit(self._db)) for author in wanted))
        read = {a: StoredProfile(texts, ":" not in "".join(texts)) for a, texts in zip(wanted, replies, strict=True)}
        if self._entries > ENTRIES_KEPT:
            self._profiles, self._entries = {}, 0
        self._profiles |= read
        self._entries += len(read) + sum(len(profile.texts) for profile in read.values())
        return found | read

    def _home(
        self, member: int, pushed: set[int], following: set[int], profiles: Mapping[int, StoredProfile]
    ) -> Home | PlainHome:
        found = {author: profiles[author] for author in {*pushed, member}}
        limit, oldest = _limit(self._db), bounds.oldest(self._db)
        if all(profile.is_plain for profile in found.values()):
            texts = [profile.texts for profile in found.values()]
            horizon = max([oldest, *(int(entries[-1]) for entries in texts if len(entries) >= limit)])
            return _plain(texts, horizon, self._db.settings.home_size)
        read = {author: timelines.read_profile(profile.texts) for author, profile in found.items()}
        return merging.pull(member, following, read, max(_horizon(read, limit), oldest), bounds.lift(self._db))


def _plain(profiles: Iterable[Sequence[str]], horizon: int, size: int) -> PlainHome:
    """Return the newest posts of some profiles above a horizon. Without reposts, each post is at its own id."""
    posts = sorted(itertools.chain.from_iterable(profiles), key=int)
    posts = posts[bisect.bisect_right(posts, horizon, key=int) :]
    return PlainHome(int(posts[-size - 1]) if len(posts) > size else horizon, posts[-size:])


async def _with_earlier(
    db: Database, made: Mapping[int, Home], following: Mapping[int, Collection[int]]
) -> dict[int, Home]:
    """Add the reposts at or below the floor, where profiles were not read, to homes; one round trip."""
    asked = [(member, post) for member, home in made.items() for post in home.added if post <= home.floor]
    replies = await db.ask(
        *(posts.first_reposts(post, EARLIER_REPOSTS, below=made[member].floor + 1) for member, post in asked)
    )
    earlier: dict[int, dict[int, list[Source]]] = {}
    for (member, post), reply in zip(asked, replies, strict=True):
        sources = [source for source in posts.read_reposts(reply) if source.author in following[member]]
        earlier.setdefault(member, {})[post] = sources
    return {member: home.with_earlier(earlier.get(member, {})) for member, home in made.items()}
