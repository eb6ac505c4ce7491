"""Whole answers are given from the cache exactly as long as a new one would be the same."""

import random
import time
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from resolvers import accounts
from resolvers.operation import context as operation_context
from resolvers.process.answers import Answer, Answers
from resolvers.process.services import Services
from resolvers.rules import links
from store import keys
from store.client.caching import values
from store.client.caching.values import CachedRelations, Changed, Mark, Records, Views
from store.client.database import Database
from store.client.metering import METER
from store.credentials.records import Role
from store.keys.fields import UserField
from store.settings import Settings
from tests.support.people import Member, shrunk, sign_up
from tests.support.probes.sessions import suspend
from tests.support.servers.processes import process
from tests.support.stored import disconnect
from tests.support.work import number

POST = "id text likeCount isHidden viewerHasLiked viewerHasReposted viewerHasFavourited author { login name isPrivate }"
HOME = f"{{ homeTimeline(first: 10) {{ edges {{ node {{ ... on Post {{ {POST} }} }} repostedByCount }} }} }}"
MEMBER = "name viewerIsFollowing viewerHasMuted"
PROFILE = f'{{ user(login: "bob") {{ {MEMBER} timeline {{ nodes {{ ... on Post {{ {POST} }} }} }} }} }}'
NOT_CACHED = {
    "of a list that is not tracked": "{ publicTimeline { nodes { ... on Post { text } } } }",
    "with a field that may depend on more": '{ user(login: "bob") { isFollowingViewer } }',
    "behind a cursor": '{ homeTimeline(first: 1, after: "home.0fffffffffffff") { nodes { ... on Post { text } } } }',
    "with an error": '{ user(login: "bob") { timeline(first: 0) { edges { cursor } } } }',
}

Act = Callable[[Member, Member, str], Awaitable[Any]]
ACTS: dict[str, Act] = {
    "a post": lambda _, bob, __: bob.post("news"),
    "a like of one's own": lambda alice, _, post: alice.do("like", postId=post),
    "a like by another": lambda _, bob, post: bob.do("like", postId=post),
    "a favourite": lambda alice, _, post: alice.do("favourite", postId=post),
    "a repost": lambda alice, _, post: alice.repost(post),
    "a comment": lambda _, bob, post: bob.do("comment", postId=post, text="so it is"),
    "a deletion": lambda _, bob, post: bob.do("deletePost", postId=post),
    "a reply": lambda alice, _, post: alice.post("so it is", inReplyToId=post),
    "a quote": lambda alice, _, post: alice.repost(post, "see this"),
    "a like taken back": lambda _, bob, post: bob.do("unlike", postId=post),
    "a hidden post": lambda _, bob, post: bob.do("hidePost", postId=post),
    "a post shown again": lambda _, bob, post: bob.do("unhidePost", postId=post),
    "a login": lambda _, bob, __: bob.do("updateProfile", login="robert", bio="a bio"),
    "the login again": lambda _, bob, __: bob.do("updateProfile", login="bob"),
    "an ended follow": lambda alice, bob, _: alice.unfollow(bob),
    "a block": lambda alice, bob, _: alice.do("block", userIds=[bob.id]),
    "a block by the other": lambda alice, bob, _: bob.do("block", userIds=[alice.id]),
    "a mute": lambda alice, bob, _: alice.do("mute", userIds=[bob.id]),
    "a profile": lambda _, bob, __: bob.do("updateProfile", name="Robert"),
    "privacy": lambda _, bob, __: bob.do("updateProfile", isPrivate=True),
    "a removed follower": lambda alice, bob, _: bob.do("removeFollowers", userIds=[alice.id]),
    "a deleted account": lambda _, bob, __: bob.do("deleteAccount", password="correct horse"),
}


async def is_cached(member: Member, query: str) -> bool:
    """Ask twice; return whether the second answer came from the cache. It is the same in any case."""
    first = await member.send(query)
    before = METER.answers
    assert await member.send(query) == first
    return METER.answers > before


@pytest.fixture
async def post(alice: Member, bob: Member) -> str:
    """A post of bob's, whom alice follows."""
    await alice.follow(bob)
    return await bob.post("hello")


async def test_one_round_trip(services: Services, alice: Member, bob: Member, post: str) -> None:
    """An answer from the cache takes one round trip, as did the same page when only its values were cached."""
    for query in (HOME, PROFILE):
        await alice.ask(query)
        for _ in range(3):
            before = services.db.round_trips, METER.answers
            await alice.ask(query)
            assert (services.db.round_trips, METER.answers) == (before[0] + 1, before[1] + 1)
    await bob.do("like", postId=post)
    before = services.db.round_trips, METER.answers
    await alice.ask(HOME)
    assert services.db.round_trips - before[0] <= 3
    assert METER.answers == before[1]


async def test_a_new_post_is_read_with_the_home(services: Services, alice: Member, bob: Member, carol: Member) -> None:
    """A home that shows a post of this process for the first time takes one round trip; nobody else reads the post."""
    if services.db.is_cluster:
        pytest.skip("a cluster delivers posts by jobs")
    await alice.follow(bob)
    query = "{ homeTimeline { nodes { ... on Post { text viewerHasLiked author { login } } } } }"
    await bob.post("old")
    for member in (alice, carol):
        await member.ask(query)
    services.cached.new.clear()
    post = await bob.post("new")
    for member, shown in ((carol, []), (alice, ["new", "old"])):
        assert list(services.cached.new) == [(number(post), number(bob.id))]
        before = services.db.round_trips
        assert [node["text"] for node in (await member.ask(query))["nodes"]] == shown
        assert services.db.round_trips == before + 1
    assert not services.cached.new


async def test_every_change(settings: Settings, alice: Member, bob: Member, carol: Member, post: str) -> None:
    """After each kind of act, cached pages, and those of cached rows, are answered as where nothing is cached."""
    bare_one, anew_one = (shrunk(settings, **none) for none in ({"records_kept": 0}, {"answers_kept_mib": 0}))
    async with process(bare_one) as bare, process(anew_one) as anew:
        for name, act in ACTS.items():
            if name in ("an ended follow", "a mute", "a profile", "a removed follower"):
                await alice.do("unblock", userIds=[bob.id])
                await bob.do("unblock", userIds=[alice.id])
                await bob.do("updateProfile", isPrivate=False)
                await alice.follow(bob)
            assert await is_cached(alice, HOME), name
            await is_cached(alice, PROFILE)
            await is_cached(carol, PROFILE)
            for query in (HOME, PROFILE):
                assert await anew(alice, query) == await alice.send(query), name
            await act(alice, bob, post)
            if name == "a deletion":
                post = await bob.post("another")
            for viewer, query in ((carol, PROFILE), (alice, HOME), (alice, PROFILE)):
                as_stored = await bare(viewer, query)
                assert await viewer.send(query) == as_stored, name
                assert await anew(viewer, query) == as_stored, name


async def test_suspension_and_role(services: Services, alice: Member, bob: Member, post: str) -> None:
    """A suspended member leaves cached pages, comes back to those of a moderator, and is gone when the role is."""
    assert await is_cached(alice, HOME)
    assert await is_cached(alice, PROFILE)
    await suspend(services, bob)
    assert await alice.home() == []
    assert await alice.ask(PROFILE) is None
    await accounts.set_role(services.db, "alice", Role.MODERATOR)
    assert (await alice.ask(PROFILE))["timeline"]["nodes"][0]["id"] == post
    assert await is_cached(alice, PROFILE)
    await accounts.set_role(services.db, "alice", Role.MEMBER)
    assert await alice.ask(PROFILE) is None


DIFFERENT: dict[str, Act] = {
    "a follower": lambda carol, bob, _: carol.follow(bob),
    "who likes a post": lambda carol, _, post: carol.do("like", postId=post),
    "who reposted it": lambda carol, _, post: carol.repost(post),
    "of whose favourites it is": lambda carol, _, post: carol.do("favourite", postId=post),
    "who mutes the author": lambda carol, bob, _: carol.do("mute", userIds=[bob.id]),
    "who blocks the author": lambda carol, bob, _: carol.do("block", userIds=[bob.id]),
    "whom the author blocks": lambda carol, bob, _: bob.do("block", userIds=[carol.id]),
}


@pytest.fixture
async def dave(anonymous: Member) -> Member:
    """Somebody who is nothing to bob, as carol."""
    return await sign_up(anonymous, "dave")


async def test_members_share_an_answer(
    services: Services, alice: Member, bob: Member, carol: Member, dave: Member, post: str
) -> None:
    """Members get one another's answer, in one round trip, while they are the same to all that it shows."""

    async def shares(one: Member, another: Member) -> bool:
        shown = await one.ask(PROFILE)
        before = services.db.round_trips, METER.answers
        assert await another.ask(PROFILE) == shown
        assert services.db.round_trips == before[0] + 1
        return METER.answers > before[1]

    assert shown_to(await alice.ask(PROFILE)) == (post, True)
    assert await shares(carol, dave)
    await carol.follow(bob)
    assert await shares(alice, carol)
    assert shown_to(await dave.ask(PROFILE)) == (post, False)
    assert shown_to(await bob.ask(PROFILE)) == (post, False)
    await bob.do("updateProfile", name="Robert")
    assert [(await member.ask(PROFILE))["name"] for member in (dave, carol, dave)] == ["Robert"] * 3


def shown_to(user: Any) -> tuple[str, bool]:
    """Return the newest post of a profile, and whether the viewer follows its member."""
    return user["timeline"]["nodes"][0]["id"], user["viewerIsFollowing"]


@pytest.mark.parametrize("why", DIFFERENT)
async def test_a_different_viewer(
    settings: Settings, bob: Member, carol: Member, dave: Member, post: str, why: str
) -> None:
    """A viewer who is something else to a page gets no other's answer, and gives nobody theirs."""
    await DIFFERENT[why](carol, bob, post)
    async with process(shrunk(settings, records_kept=0)) as bare:
        for viewers in ((carol, dave), (dave, carol)):
            await bob.do("comment", postId=post, text="so it is")
            for viewer in (*viewers, *viewers, bob):
                assert await viewer.send(PROFILE) == await bare(viewer, PROFILE)
        assert await bare(carol, PROFILE) != await bare(dave, PROFILE)


async def test_who_the_viewer_is(alice: Member, carol: Member) -> None:
    """Nobody gets the answer to a question about the viewer alone."""
    query = f'{{ node(id: "viewer_{number(alice.id):014x}") {{ id }} }}'
    assert await carol.ask(query) is None
    assert await alice.ask(query) is not None
    assert await carol.ask(query) is None
    assert await alice.ask(query) is not None


@pytest.mark.usefixtures("post")
async def test_the_end_of_a_session(alice: Member, bob: Member) -> None:
    """A member whose session has ended gets no cached answer, and nobody gets another's."""
    assert await is_cached(alice, HOME)
    assert await is_cached(alice, PROFILE)
    assert (await bob.ask(PROFILE))["viewerIsFollowing"] is False
    await alice.do("logOut")
    assert await alice.fail(HOME) == "UNAUTHENTICATED"
    assert await alice.fail(PROFILE) == "UNAUTHENTICATED"


@pytest.mark.usefixtures("post")
@pytest.mark.parametrize("why", NOT_CACHED)
async def test_not_cached(alice: Member, why: str) -> None:
    """Answers that depend on what the server does not report are made anew each time."""
    assert not await is_cached(alice, NOT_CACHED[why])


@pytest.mark.usefixtures("post")
async def test_variables(alice: Member, bob: Member) -> None:
    """An answer belongs to its variables: to their values and types, and to what they switch."""
    await bob.post("again")
    query = "query($n: Int, $is: Boolean!) { homeTimeline(first: $n) { edges { cursor @include(if: $is) } } }"
    asked: list[dict[str, Any]] = [{"n": n, "is": is_on} for n in (1, 2) for is_on in (True, False)]
    sizes = [[len(edge) for edge in (await alice.ask(query, **some))["edges"]] for some in asked * 2]
    assert sizes == [[1], [0], [1, 1], [0, 0]] * 2
    assert "errors" in await alice.send(query, n=True, **{"is": True})


@pytest.mark.usefixtures("post")
async def test_time(alice: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a new span of time an answer is made anew: links and the day of reading are new."""
    assert await is_cached(alice, HOME)
    later = time.time() + links.GRID
    monkeypatch.setattr(operation_context, "time", SimpleNamespace(time=lambda: later))
    before = METER.answers
    await alice.ask(HOME)
    assert METER.answers == before
    assert await is_cached(alice, HOME)


@pytest.mark.usefixtures("post")
async def test_settings(settings: Settings, alice: Member) -> None:
    """A home whose entries leave by age is not cached, nor is anything where the setting allows no memory."""
    for changed in ({"home_max_age": 5}, {"answers_kept_mib": 0}, {"records_kept": 0}):
        async with process(shrunk(settings, **changed)) as other:
            first = await other(alice, HOME)
            before = METER.answers
            assert await other(alice, HOME) == first
            assert METER.answers == before


async def test_limit(settings: Settings, alice: Member, post: str) -> None:
    """An answer from the cache counts as a request."""
    async with process(shrunk(settings, rate_limit=3)) as limited:
        answers = [await limited(alice, HOME) for _ in range(5)]
    assert [("errors" in answer) for answer in answers] == [False] * 3 + [True] * 2
    assert answers[3]["errors"][0]["extensions"]["code"] == "RATE_LIMITED"
    assert post in str(answers[2])


async def test_a_lost_connection(services: Services, alice: Member, bob: Member, post: str) -> None:
    """When a connection on which the server reports changes is lost, no answer of before is given."""
    assert await is_cached(alice, HOME)
    await disconnect(services.db, "normal")
    await bob.do("like", postId=post)
    assert (await alice.ask(HOME))["edges"][0]["node"]["likeCount"] == 1
    assert await is_cached(alice, HOME)


def test_bounds() -> None:
    """Answers take no more memory than allowed, the least recently used goes first, and a dropped value frees them."""
    mark = Mark((True,))
    size = Answer(b"x" * 1_000, [mark], 0).weight
    answers = Answers(3 * size)
    for key in range(3):
        answers.keep(key, Answer(b"x" * 1_000, [mark] if key else [Mark((True,))], 0))
    assert answers.find(0)
    answers.keep(3, Answer(b"x" * 1_000, [mark], 0))
    assert [len(answers.find(key)) for key in range(4)] == [1, 0, 1, 1]
    assert answers.size == 3 * size
    assert answers.use(2, 1, bool) is None
    assert answers.use(2, 0, bool) == b"x" * 1_000
    mark.outdate()
    assert [len(answers.find(key)) for key in range(4)] == [1, 0, 0, 0]
    answers.keep(0, Answer(b"x" * 9_000, [], 0))
    assert (len(answers), answers.size) == (1, size)


def test_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Marks are true until their key changes, evicted values or not, and those that nobody holds are removed."""
    monkeypatch.setattr(values, "MARKS_KEPT", 30)
    dice = random.Random(3)  # noqa: S311  as much at random as can be done again
    records, relations, views = Records("user", 20), CachedRelations(["following"], 20, 50), Views("likes", 40)
    kinds: list[Records | CachedRelations | Views] = [records, relations, views]
    held: dict[tuple[int, int], list[Mark]] = {}
    for i in range(1_000):
        owner, which = dice.randrange(200), dice.randrange(3)
        cached, key = [(records, owner), (relations.of(owner), 1), (views.of(dice.randrange(3)), owner)][which]
        if not cached.find([key]):
            cached.keep({key: (i,)}, set())
        if value := cached.find([key]):  # nothing, if it was too much for the cache
            assert cached.marks({key: (i, "another")}) is None
            (mark,) = cached.marks(value) or ()
            assert mark
            if dice.random() < 0.2:
                held.setdefault((which, owner), []).append(mark)
        changed = dice.randrange(3), dice.randrange(200)
        kinds[changed[0]].drop(changed[1])
        assert not any(held.pop(changed, ()))
        assert all(mark for marks in held.values() for mark in marks)
    for which, some in enumerate(kinds):
        assert len(some._marks) <= max(30, 2 * sum(one == which for one, _ in held)) + 30  # noqa: SLF001  its memory
        some.clear()
    assert not any(mark for marks in held.values() for mark in marks)


class Reading:
    """Reads one member's record for a cache."""

    def __init__(self, cached: Records, member: int) -> None:
        self._cached, self._member = cached, member
        self.commands = [("HGETALL", keys.user(member))]

    def take(self, replies: list[Any], changed: Changed | None) -> None:
        if changed is not None:
            self._cached.keep({self._member: replies[0]}, changed)


async def test_evicted(settings: Settings, db: Database) -> None:
    """The change of a value that was evicted makes its mark false: the server still reports it."""
    small = Database(settings.redis_url, shrunk(settings, records_kept=1))
    users = small.cache.records("user")
    await small.read([], [Reading(users, 1)])
    (mark,) = users.marks(users.find([1])) or ()
    await small.read([], [Reading(users, 2)])
    assert users.find([1]) == {}
    assert mark
    await db.one("HSET", keys.user(1), UserField.NAME, "another")
    await small.read([], [Reading(users, 3)])
    assert not mark
    await small.close()


async def test_parts(db: Database) -> None:
    """The views of owners are bounded by their parts, not by their number."""
    views = db.cache.views("reposts", 100)
    for owner in range(50):
        views.of(None).keep({owner: tuple(range(9))}, set())
        views.of(7).keep({owner: ()}, {("reposts", 49)})
    assert list(views.of(None).find(range(50))) == list(range(41, 50))
    assert list(views.of(7).find(range(50))) == list(range(41, 49))
