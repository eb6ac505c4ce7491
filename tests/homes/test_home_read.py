"""How far a member has read their home: the mark, and what lies above it."""

from typing import Any

import pytest

from resolvers import accounts
from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import keys
from store.client.database import Database
from store.settings import Settings
from tests.support.groups import create, join
from tests.support.people import PASSWORD, Member, shrunk
from tests.support.work import number, work_off

PAGE = "{ homeTimeline(first: 100) { edges { cursor node { ... on Post { id } } } } }"
MARK = "{ viewer { homeReadUpTo homeUnreadCount } }"


async def cursors(member: Member) -> list[str]:
    """Return the cursors of a member's home, newest first."""
    return [edge["cursor"] for edge in (await member.ask(PAGE))["edges"]]


async def marked(member: Member) -> tuple[str | None, int]:
    """Return a member's mark, and how many entries are above it."""
    viewer: dict[str, Any] = await member.ask(MARK)
    return viewer["homeReadUpTo"], viewer["homeUnreadCount"]


async def test_a_mark(alice: Member, bob: Member) -> None:
    """The mark counts what is above it, is the same on all devices, and never moves down."""
    await alice.follow(bob)
    for i in range(5):
        await bob.post(str(i))
    assert await marked(alice) == (None, 5)
    found = await cursors(alice)
    payload = await alice.do("markHomeRead", "viewer { homeReadUpTo homeUnreadCount }", cursor=found[2])
    assert payload == {"viewer": {"homeReadUpTo": found[2], "homeUnreadCount": 2}, "userErrors": []}
    for lower in (found[4], found[2], f"home.{0:014x}"):
        assert (await alice.do("markHomeRead", cursor=lower))["userErrors"] == []
        assert await marked(alice) == (found[2], 2)
    await bob.post("newer")
    assert await marked(alice) == (found[2], 3)
    assert await marked(bob) == (None, 0)
    await alice.do("markHomeRead", cursor=(await cursors(alice))[0])
    assert (await marked(alice))[1] == 0


async def test_what_is_not_shown(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Entries that the viewer would not be shown do not count: deleted, hidden, muted and suspended ones."""
    await alice.follow(bob, carol)
    posts = [await bob.post(str(i)) for i in range(4)]
    await carol.post("hello")
    await bob.do("deletePost", postId=posts[0])
    await bob.do("hidePost", postId=posts[1])
    assert (await marked(alice))[1] == 3
    await alice.do("mute", userIds=[carol.id])
    assert (await marked(alice))[1] == 2
    await accounts.set_suspension(db, "bob", suspended=True)
    assert (await marked(alice))[1] == 0


async def test_ones_own_posts(alice: Member, bob: Member, carol: Member) -> None:
    """One's own posts never count: not when a repost lifts or names them, in a group or outside; a repost does."""
    await alice.follow(bob)
    group = await create(alice)
    await join(group, bob)
    own = [await alice.post("mine"), await alice.post("in the group", groupId=group)]
    for post in own:
        await bob.repost(post)
    assert (await alice.home()) == own[::-1]
    assert await marked(alice) == (None, 0)
    await alice.repost(await bob.post("his"))
    await bob.repost(await carol.post("hers"))
    assert await marked(alice) == (None, 2)
    await alice.repost(own[0], "a quote of mine")
    assert await marked(alice) == (None, 2)


async def test_the_mark_outlives_a_home(db: Database, worker: Worker, alice: Member, bob: Member) -> None:
    """A home that is dropped and built again keeps its mark; a deleted account leaves none."""
    await alice.follow(bob)
    for i in range(3):
        await bob.post(str(i))
    await alice.do("markHomeRead", cursor=(await cursors(alice))[1])
    await db.ask(*(("DEL", key) for key in (keys.home(number(alice.id)), keys.home_state(number(alice.id)))))
    assert (await marked(alice))[1] == 1
    await alice.do("deleteAccount", password=PASSWORD)
    await work_off(db, worker)
    assert not await db.one("EXISTS", keys.home_read(number(alice.id)))


class TestMany:
    """A home with more entries than are looked at one by one."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, home_size=120, home_slack=10)

    async def test_below_the_newest(self, alice: Member, bob: Member) -> None:
        """Below the newest hundred entries all count, hidden ones too, and the count ends at the home's size."""
        await alice.follow(bob)
        posts = [await bob.post(str(i)) for i in range(125)]
        assert (await marked(alice))[1] == 120
        await bob.do("hidePost", postId=posts[-1])
        assert (await marked(alice))[1] == 119
        await bob.do("hidePost", postId=posts[10])
        assert (await marked(alice))[1] == 119

    async def test_ones_own_below_the_newest(self, alice: Member, bob: Member) -> None:
        """Below the newest hundred entries, one's own posts do not count either."""
        await alice.follow(bob)
        await bob.post("first")
        group = await create(alice)
        await join(group, bob)
        for post in (await alice.post("mine"), await alice.post("in the group", groupId=group)):
            await bob.repost(post)
        for i in range(101):
            await bob.post(str(i))
        assert await marked(alice) == (None, 102)

    async def test_round_trips(self, services: Services, alice: Member, bob: Member) -> None:
        """The count costs four round trips, for few entries and for many."""
        await alice.follow(bob)
        await bob.post("one")
        found: list[int] = []
        for count in (1, 110):
            for i in range(count):
                await bob.post(str(i))
            await alice.ask(MARK)  # its text is parsed only once
            services.db.round_trips = 0
            await alice.ask(MARK)
            found.append(services.db.round_trips)
        assert found[0] == found[1] <= 4


class TestBigAuthors:
    """Readers pull the posts of big authors."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, big_author=2)

    async def test_big_authors(self, alice: Member, bob: Member, carol: Member) -> None:
        """Posts that are pulled when a home is read count, too."""
        await alice.follow(bob)
        await carol.follow(bob)
        for i in range(4):
            await bob.post(str(i))
        found = await cursors(alice)
        await alice.do("markHomeRead", cursor=found[1])
        assert await marked(alice) == (found[1], 1)


@pytest.mark.parametrize("cursor", ["", "home", "home.1", "public.00000000000001", f"home.{1 << 52:014x}"])
async def test_wrong_cursors(alice: Member, cursor: str) -> None:
    """A cursor of another list, of the future, or of no list is BAD_USER_INPUT and marks nothing."""
    mutation = "mutation($input: MarkHomeReadInput!) { markHomeRead(input: $input) { viewer { id } } }"
    assert await alice.fail(mutation, input={"cursor": cursor}) == "BAD_USER_INPUT"
    assert await marked(alice) == (None, 0)


async def test_the_anonymous(anonymous: Member) -> None:
    """Marking needs a member."""
    mutation = "mutation($input: MarkHomeReadInput!) { markHomeRead(input: $input) { viewer { id } } }"
    assert await anonymous.fail(mutation, input={"cursor": f"home.{1:014x}"}) == "UNAUTHENTICATED"
