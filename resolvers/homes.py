"""Homes computed by pulling: what deliveries must have made of them, for imports, checks and repairs."""

from __future__ import annotations

from collections.abc import Sequence

from resolvers.rules import merging
from resolvers.rules.merging import Home
from store import keys, posts
from store.connection import Database
from store.records import Published

EARLIER_REPOSTS = 1_000  # reposts of a post among which one below the horizon is looked for
PROFILES_KEPT = 50_000  # profiles remembered while many homes are computed


class Pulling:
    """Computes homes, many after one another; each profile is read once."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._limit = db.settings.home_size + db.settings.home_slack
        self._profiles: dict[int, list[Published]] = {}

    async def pull(self, members: Sequence[int]) -> dict[int, Home]:
        """Return what members' homes should be, in two round trips."""
        db = self._db
        replies = await db.ask(*(("ZRANGE", keys.following(member), 0, -1) for member in members))
        following = {member: [int(f) for f in reply] for member, reply in zip(members, replies, strict=True)}
        await self._read([*members, *(f for followed in following.values() for f in followed)])
        return {member: await self._home(member, followed) for member, followed in following.items()}

    async def _read(self, authors: Sequence[int]) -> None:
        if len(self._profiles) > PROFILES_KEPT:
            self._profiles.clear()
        wanted = [author for author in dict.fromkeys(authors) if author not in self._profiles]
        found = await self._db.ask(*(posts.published_command(author, self._limit) for author in wanted))
        self._profiles |= {author: posts.read_profile(reply) for author, reply in zip(wanted, found, strict=True)}

    async def _home(self, member: int, following: Sequence[int]) -> Home:
        profiles = {author: self._profiles[author] for author in (*following, member)}
        horizon = max((found[-1].id for found in profiles.values() if len(found) >= self._limit), default=0)
        home = merging.pull(member, profiles, horizon, self._db.settings.home_size)
        return await self._without_older(home, set(following)) if horizon and home.sources else home

    async def _without_older(self, home: Home, following: set[int]) -> Home:
        """Leave out posts that a repost below the horizon, where a profile was not read, had brought before."""
        places = dict(home.places)
        for post, place in home.places.items():
            if place != post:
                earlier = await posts.reposts_before(self._db, post, place, EARLIER_REPOSTS)
                if any(source.author in following for source in earlier):
                    del places[post]
        return Home(places, {post: found for post, found in home.sources.items() if post in places}, home.floor)


def written(home: Home) -> str:
    """Return the entries of a home as they are written."""
    return " ".join(str(post) if post == place else f"{post}:{place}" for post, place in home.places.items())


def written_sources(home: Home) -> dict[int, str]:
    """Return the sources of a home as they are stored."""
    return {post: " ".join(f"{s.repost}:{s.author}" for s in bringing) for post, bringing in home.sources.items()}
