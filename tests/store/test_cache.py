"""Cached values are never older than their read: after changes by any process, and after any failure."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from resolvers.loading import relationships
from resolvers.process.services import Services
from store import keys
from store.client.caching.cache import Cache
from store.client.caching.values import RELATIONS_KEPT, Changed, Records
from store.client.database import Database, Unavailable
from store.client.metering import METER
from store.ids import partition
from store.keys.fields import StatusField, UserField
from store.settings import Settings
from tests.support.people import Member, shrunk
from tests.support.servers.processes import process
from tests.support.stored import disconnect, empty
from tests.support.work import number

HOME = (
    "{ homeTimeline(first: 50) { nodes { __typename ... on Post { text likeCount commentCount isHidden viewerHasLiked "
    "viewerHasReposted viewerHasFavourited author { name followerCount isPrivate viewerIsFollowing } } "
    "... on Repost { original { text author { name } } } } edges { repostedBy { user { name } } repostedByCount } } }"
)
STEPS = 150


class Reading:
    """Commands that read records, and the replies, which it caches."""

    def __init__(self, cached: Records, *ids: int, also: tuple[Any, ...] = ()) -> None:
        self._cached = cached
        self._ids = ids
        self.commands = [("HGETALL", keys.user(post_id)) for post_id in ids]
        if also:
            self.commands.insert(1, also)
        self.replies: list[Any] = []

    def take(self, replies: list[Any], changed: Changed | None) -> None:
        self.replies = [reply for reply in replies if isinstance(reply, dict)]
        if changed is not None:
            self._cached.keep(dict(zip(self._ids, self.replies, strict=True)), changed)


@pytest.fixture
def cache(db: Database) -> Cache:
    return db.cache


@pytest.fixture
async def other(settings: Settings, services: Services) -> AsyncIterator[Database]:
    """Another process's connections."""
    made = Database(settings.redis_url, settings)
    yield made
    await made.close()


async def current(db: Database) -> None:
    """Process all invalidations sent before now."""
    tracked = await db.cache.begin([])
    assert tracked
    await tracked


async def test_kept_until_changed(db: Database, other: Database, cache: Cache) -> None:
    """A read value is cached, and gone once its writer has the reply: each of a hundred times."""
    users = cache.records("user")
    for i in range(100):
        await other.one("HSET", keys.user(1), UserField.NAME, f"name {i}")
        await current(db)
        assert users.find([1]) == {}
        await db.read([], [Reading(users, 1, 2)])
        assert users.find([1, 2, 3]) == {1: {"name": f"name {i}"}, 2: {}}
    await other.one("HSET", keys.user(2), UserField.NAME, "there now")
    await current(db)
    assert list(users.find([1, 2])) == [1]


async def test_what_changes_between_two_replies(db: Database, other: Database, cache: Cache) -> None:
    """An invalidation between two replies of a batch is not undone by the later ones."""
    users = cache.records("user")
    await other.one("HSET", keys.user(1), UserField.NAME, "before")
    signal = f"go on:{{{partition(1)}}}"
    waits = ("BLPOP", signal, 0)  # the server runs no other client between two joined commands, unless one waits
    reading = Reading(users, 1, 2, also=waits)
    looked = asyncio.create_task(db.read([], [reading]))
    while not any("blocked_clients:1" in info for (info,) in await other.each_node(("INFO", "clients"))):
        pass
    await other.ask(("HSET", keys.user(1), UserField.NAME, "after"), ("RPUSH", signal, "now"))
    await looked
    assert reading.replies == [{"name": "before"}, {}]
    assert list(users.find([1, 2])) == [2]


@pytest.mark.parametrize("end", ["cut", "flush", "close"])
async def test_everything_goes(db: Database, other: Database, cache: Cache, end: str) -> None:
    """A lost connection, a flushed database and the end of the cache each empty it."""
    users = cache.records("user")
    await db.read([], [Reading(users, 1)])
    assert users.find([1])
    if end == "cut":
        await disconnect(other, "normal")
        with contextlib.suppress(RedisConnectionError):  # the news of its end may arrive only now
            await current(db)
    elif end == "flush":
        await empty(other)
        await current(db)
    else:
        await cache.close()
    assert users.find([1]) == {}
    if end == "cut":
        await other.one("HSET", keys.user(1), UserField.NAME, "meanwhile")
        await db.read([], [Reading(users, 1)])
        assert users.find([1]) == {1: {"name": "meanwhile"}}


async def test_bounds(db: Database, settings: Settings) -> None:
    """The cache is bounded, and the least recently read values go first."""
    small = Database(settings.redis_url, shrunk(settings, records_kept=3))
    users = small.cache.records("user")
    for i in range(5):
        await small.read([], [Reading(users, i)])
    assert list(users.find(range(5))) == [2, 3, 4]
    await small.close()
    relations = db.cache.relations("following")
    for owner in range(1_100):
        relations.of(owner).keep(dict.fromkeys(range(10), True), set())
    assert relations.of(99).find([1]) == {}
    assert relations.of(100).find([1]) == {1: True}
    relations.of(200).keep(dict.fromkeys(range(1000), False), set())
    relations.of(200).keep({1: True}, set())
    assert relations.of(200).find([1, 2]) == {1: True}


@pytest.fixture
async def plain(db: Database, settings: Settings) -> AsyncIterator[str]:
    """A store that refuses to track keys."""
    await db.each_node(("ACL", "SETUSER", "plain", "reset", "on", "nopass", "~*", "&*", "+@all", "-client|tracking"))
    parts = urlsplit(settings.redis_url)
    yield f"{parts.scheme}://plain@{settings.redis_url.removeprefix(f'{parts.scheme}://').rpartition('@')[2]}"
    await db.each_node(("ACL", "DELUSER", "plain"))


@pytest.mark.parametrize("how", ["off", "refused"])
async def test_without(db: Database, settings: Settings, plain: str, how: str) -> None:
    """If caching is off, or the store refuses to track, reads are the same and nothing is cached."""
    await db.one("HSET", keys.user(1), UserField.NAME, "here")
    url, most = (settings.redis_url, 0) if how == "off" else (plain, 10)
    bare = Database(url, shrunk(settings, records_kept=most))
    users = bare.cache.records("user")
    reading = Reading(users, 1)
    replies, is_current = await bare.read([("PING",)], [reading])
    assert (replies, is_current, users.find([1])) == (["PONG"], False, {})
    assert not bare.cache.is_on
    await bare.close()


async def test_who_leaves_before_it_is_refused(settings: Settings, plain: str) -> None:
    """For callers that open the connection and leave at any moment, no untracked value is ever cached."""
    is_open, turns = False, 0
    while not is_open:
        bare = Database(plain, settings)
        users = bare.cache.records("user")
        opening = asyncio.create_task(bare.read([], [Reading(users, 1)]))
        for _ in range(turns):
            await asyncio.sleep(0)
        is_open = opening.done()
        opening.cancel()
        await asyncio.wait([opening])
        assert await bare.read([("PING",)], [Reading(users, 1)]) == (["PONG"], False)
        assert users.find([1]) == {}
        await bare.close()
        turns += 1


async def test_away(db: Database, cache: Cache) -> None:
    """A server that cannot answer yet is unavailable for cached reads, as for all others."""
    users = cache.records("user")
    loading = ("EVAL", "return redis.error_reply('LOADING the data')", 0)
    with pytest.raises(Unavailable, match="the data"):
        await db.read([], [Reading(users, 1, also=loading)])


async def test_other_news(db: Database, cache: Cache) -> None:
    """Other push messages of the server, of any length, are ignored."""
    users = cache.records("user")
    await db.read([], [Reading(users, 1)])
    for tracked in cache._tracked.values():  # noqa: SLF001  no server that is tested with has other news for them
        tracked.data_received(b">3\r\n+moving\r\n:1\r\n:2\r\n")
    await current(db)
    assert users.find([1]) == {1: {}}


async def test_a_page_read_again(services: Services, db: Database, alice: Member, bob: Member) -> None:
    """A page that was read before takes one round trip, and one more after a change to it."""
    await alice.follow(bob)
    post = await bob.post("hello")
    query = "{ homeTimeline(first: 50) { nodes { ... on Post { text likeCount author { name } } } } }"
    await alice.ask(query)

    async def cost() -> int:
        services.db.round_trips = 0
        await alice.ask(query)
        return services.db.round_trips

    assert await cost() == 1
    await db.one("HSET", keys.status(number(post)), StatusField.TEXT, "goodbye")
    assert await cost() == 2
    assert await cost() == 1


async def test_a_profile_seen_by_somebody_new(
    services: Services, db: Database, alice: Member, bob: Member, carol: Member
) -> None:
    """A profile that somebody else has read takes one round trip, and nothing old is shown."""
    post = await bob.post("hello")
    await carol.ask("mutation($i: PostIdInput!) { like(input: $i) { userErrors { code } } }", i={"postId": post})
    query = """query($login: String!) { user(login: $login) { login viewerIsFollowing
      timeline(first: 10) { nodes { ... on Post { text viewerHasLiked } } } } }"""

    async def cost(viewer: Member) -> tuple[Any, int]:
        services.db.round_trips = 0
        user = await viewer.ask(query, login="bob")
        return user and user["timeline"]["nodes"], services.db.round_trips

    assert (await cost(alice))[0] == [{"text": "hello", "viewerHasLiked": False}]
    assert await cost(carol) == ([{"text": "hello", "viewerHasLiked": True}], 1)
    await bob.post("again")
    assert [one["text"] for one in (await cost(Member(alice.client)))[0]] == ["again", "hello"]
    await db.one("SET", keys.login("bob"), number(carol.id))
    assert (await cost(alice))[0] is None


class Waiting(Database):
    """Never sends reads without a task: the batcher's other way."""

    def begin(self, _: Sequence[Any]) -> None:
        """Send nothing, so that `read` is used."""


@pytest.mark.parametrize("largest", [1, RELATIONS_KEPT])
async def test_processes_agree(
    settings: Settings,
    services: Services,
    alice: Member,
    bob: Member,
    carol: Member,
    monkeypatch: pytest.MonkeyPatch,
    largest: int,
) -> None:
    """After any act in one process, another process with a cache at once answers like one without.

    That holds for both ways in which the batcher sends reads, and where sets of relationships are too large to cache.
    """
    monkeypatch.setattr(relationships, "RELATIONS_KEPT", largest)
    small, none = shrunk(settings, records_kept=50), shrunk(settings, records_kept=0)
    members = [alice, bob, carol]
    dice = random.Random(7)  # noqa: S311  as much at random as can be done again
    ids = [await member.post("first") for member in members]
    async with process(small) as keeping, process(small, Waiting) as waiting, process(none) as bare:
        before = METER.answers
        for i in range(STEPS):
            actor, another = dice.sample(members, 2)
            await _act(dice, actor, another, ids, i)
            for member in members:
                kept = await keeping(member, HOME)
                assert "errors" not in kept
                assert kept == await bare(member, HOME) == await waiting(member, HOME), i
        assert METER.answers > before + STEPS  # of two processes and three members
    assert services.db.cache.is_on


async def _act(dice: random.Random, actor: Member, another: Member, ids: list[str], i: int) -> None:
    """Do a random act; a refused one changes nothing, which is fine, too."""
    post_id = dice.choice(ids)
    acts: list[Callable[[], Any]] = [
        lambda: actor.do("like", postId=post_id),
        lambda: actor.do("unlike", postId=post_id),
        lambda: actor.do("comment", postId=post_id, text="so it is"),
        lambda: actor.do("repost", postId=post_id, text=""),
        lambda: actor.do("repost", postId=post_id, text="quoted"),
        lambda: actor.do("favourite", postId=post_id),
        lambda: actor.do("unfavourite", postId=post_id),
        lambda: actor.do("hidePost", postId=post_id),
        lambda: actor.do("unhidePost", postId=post_id),
        lambda: actor.do("deletePost", postId=post_id),
        lambda: actor.do("follow", userIds=[another.id]),
        lambda: actor.do("follow", userIds=[another.id]),
        lambda: actor.do("unfollow", userIds=[another.id]),
        lambda: actor.do("block", userIds=[another.id]),
        lambda: actor.do("unblock", userIds=[another.id]),
        lambda: actor.do("mute", userIds=[another.id]),
        lambda: actor.do("unmute", userIds=[another.id]),
        lambda: actor.do("updateProfile", name=f"name {i}"),
        lambda: actor.do("updateProfile", isPrivate=dice.random() < 0.5),
    ]
    if dice.random() < 0.2:
        ids.append(await actor.post(f"post {i}"))
    else:
        await dice.choice(acts)()
