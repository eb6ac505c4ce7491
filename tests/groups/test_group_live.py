"""A group's timeline, live: it agrees with the stored one, goes on from any cursor, and ends with the right to read."""

import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from resolvers.process.services import Services
from store import keys
from store.client.database import Database
from store.settings import Settings
from tests.support.groups import act, create, join, let_in, timeline
from tests.support.people import PASSWORD, Member, make_private, shrunk
from tests.support.probes.posts import delete, hide, unhide
from tests.support.stored import sharded_channels
from tests.support.transport.live import GROUP, Stream, subscribed, watching
from tests.support.transport.transports import TRANSPORTS, line
from tests.support.visibility.audience import ANONYMOUS
from tests.support.visibility.group_audience import group_audience, sees
from tests.support.visibility.group_sights import GROUP_CELLS
from tests.support.work import number

KEPT = 5


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Room for a few changes."""
    return shrunk(settings, group_changes_kept=KEPT)


async def begun(db: Database, group: str) -> None:
    """Wait until the server has subscribed to a group's changes."""
    channel = db.channel(keys.group_channel(number(group)))
    while not await sharded_channels(db, channel):
        pass


async def test_what_changes(db: Database, alice: Member, bob: Member) -> None:
    """A post that is added, hidden, shown again or deleted is an event, as the viewer sees it."""
    group = await create(alice)
    await join(group, bob)
    async with subscribed(alice, GROUP, group=group) as theirs, subscribed(bob, GROUP, group=group) as own:
        await begun(db, group)
        post = await bob.post("hello", groupId=group)
        for stream in (theirs, own):
            assert await stream.brief() == ("put", post)
        await hide(bob, post)
        assert await theirs.brief() == ("removed", post)
        assert await own.brief() == ("put", post)
        await unhide(bob, post)
        for stream in (theirs, own):
            assert await stream.brief() == ("put", post)
        await bob.post("elsewhere")
        await delete(bob, post)
        for stream in (theirs, own):
            assert await stream.brief() == ("removed", post)


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_going_on(db: Database, alice: Member, bob: Member, transport: str) -> None:
    """A subscriber with a cursor gets what has changed since then, each post once, and then live events."""
    group = await create(alice)
    await join(group, bob)
    before = await bob.post("before", groupId=group)
    async with line(transport, alice, GROUP, group=group) as stream:
        await begun(db, group)
        first = await bob.post("first", groupId=group)
        assert (await stream.next())["edge"]["node"]["id"] == first
        cursor = stream.cursor
    second, third = [await bob.post(text, groupId=group) for text in ("second", "third")]
    await delete(bob, second)
    await hide(bob, before)
    async with line(transport, alice, GROUP, group=group, after=cursor) as stream:
        assert (await stream.next())["edge"]["node"]["id"] == third
        middle = stream.cursor
        assert (await stream.next())["nodeId"] == second
        assert (await stream.next())["nodeId"] == before
        await begun(db, group)
        last = await bob.post("last", groupId=group)
        assert (await stream.next())["edge"]["node"]["id"] == last
    async with line(transport, alice, GROUP, group=group, after=middle) as stream:
        assert (await stream.next())["nodeId"] == second


async def test_a_gap(alice: Member, bob: Member) -> None:
    """A cursor older than the changes that are kept gets a gap, and the cursor of the gap goes on."""
    group = await create(alice)
    await alice.post("0", groupId=group)
    async with subscribed(alice, GROUP, group=group, after=f"group-{number(group):x}.{0:014x}") as stream:
        await stream.brief()
        oldest = stream.cursor
    for turn in range(KEPT):
        await alice.post(f"{turn}", groupId=group)
    async with subscribed(alice, GROUP, group=group, after=oldest) as stream:
        assert (await stream.brief())[0] == "put"
    await alice.post("one more", groupId=group)
    async with subscribed(alice, GROUP, group=group, after=oldest) as stream:
        assert await stream.brief() == ("gap",)
        post = await alice.post("after it", groupId=group)
        assert await stream.brief() == ("put", post)
        cursor = stream.cursor
    async with subscribed(alice, GROUP, group=group, after=cursor) as stream:
        post = await alice.post("again", groupId=group)
        assert await stream.brief() == ("put", post)


async def test_what_is_lost_while_nobody_listens(services: Services, db: Database, alice: Member) -> None:
    """After the connection of Pub/Sub was lost, a subscriber gets what it missed, or a gap."""
    group = await create(alice)
    async with subscribed(alice, GROUP, group=group) as stream:
        await begun(db, group)
        for count in (1, KEPT + 1):
            await services.pubsub.close()
            made = [await alice.post(f"{turn}", groupId=group) for turn in range(count)]
            services.pubsub.start()
            assert await stream.brief() == (("put", made[0]) if count == 1 else ("gap",))


@pytest.mark.parametrize("after", ["nonsense", "group.00000000000001", "event.1-1", "group-1.00000000000001"])
async def test_bad_cursors(alice: Member, after: str) -> None:
    """A cursor that is malformed, of another list or of another group is refused."""
    group = await create(alice)
    async with subscribed(alice, GROUP, group=group, after=after) as stream:
        assert await stream.code() == "BAD_USER_INPUT"


async def test_a_cursor_of_the_future(alice: Member) -> None:
    """A cursor that no clock has reached yet is refused."""
    group = await create(alice)
    async with subscribed(alice, GROUP, group=group, after=f"group-{number(group):x}.{1 << 52:014x}") as stream:
        assert await stream.code() == "BAD_USER_INPUT"


async def test_who_may_not_subscribe(db: Database, alice: Member, bob: Member, anonymous: Member) -> None:
    """A stranger to a private group gets the answer for a made-up id, and an anonymous client that for any stream."""
    group = await create(alice, "PRIVATE")
    for named in (group, f"group_{1:014x}", alice.id):
        async with subscribed(bob, GROUP, group=named) as stream:
            assert await stream.code() == "BAD_USER_INPUT"
    async with subscribed(anonymous, GROUP, group=group) as stream:
        assert await stream.code() == "UNAUTHENTICATED"


Ending = Callable[[Member, str, Member], Awaitable[Any]]
ENDINGS: dict[str, Ending] = {
    "removal": lambda alice, group, bob: act(alice, "removeGroupMembers", group, bob),
    "ban": lambda alice, group, bob: act(alice, "banGroupMembers", group, bob),
    "leaving": lambda _, group, bob: act(bob, "leaveGroup", group),
    "deletion": lambda alice, group, _: alice.do("deleteGroup", groupId=group),
}


@pytest.mark.parametrize("ending", ENDINGS)
async def test_the_end(db: Database, alice: Member, bob: Member, ending: str) -> None:
    """It ends with NOT_FOUND for who no longer may read the group, and goes on for those who may."""
    group = await create(alice, "PRIVATE")
    await let_in(alice, group, bob)
    async with subscribed(bob, GROUP, group=group) as stream, subscribed(alice, GROUP, group=group) as other:
        await begun(db, group)
        await ENDINGS[ending](alice, group, bob)
        assert await stream.code() == "NOT_FOUND"
        if ending == "deletion":
            assert await other.code() == "NOT_FOUND"
        else:
            post = await alice.post("hello", groupId=group)
            assert await other.brief() == ("put", post)


async def test_a_group_that_closes(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """When a group goes private, the subscriptions of strangers end."""
    group = await create(alice)
    await join(group, bob)
    async with subscribed(bob, GROUP, group=group) as member, subscribed(carol, GROUP, group=group) as stranger:
        await begun(db, group)
        post = await bob.post("hello", groupId=group)
        for stream in (member, stranger):
            assert await stream.brief() == ("put", post)
        await act(alice, "updateGroup", group, kind="PRIVATE")
        assert await stranger.code() == "NOT_FOUND"
        post = await bob.post("hello", groupId=group)
        assert await member.brief() == ("put", post)


async def test_live_homes(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """When a group goes private, its reposted posts leave the live homes of strangers; when it opens, they return."""
    group = await create(alice)
    await join(group, bob)
    await carol.follow(bob)
    post = await alice.post("hello", groupId=group)
    async with watching(carol, db) as stream:
        await bob.repost(post)
        assert await stream.brief() == ("put", post, "bob")
        for kind, event in (("PRIVATE", ("removed", post)), ("ANNOUNCEMENT", ("put", post, "bob"))):
            await act(alice, "updateGroup", group, kind=kind)
            assert await stream.brief() == event
        await act(alice, "updateGroup", group, kind="PUBLIC", name="Other birds")
        await alice.do("deleteGroup", groupId=group)
        assert await stream.brief() == ("removed", post)


async def test_whom_one_does_not_see(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Posts by muted, blocked and private members are not shown live; going private takes them away."""
    group = await create(alice)
    await join(group, bob, carol)
    await alice.do("mute", userIds=[bob.id])
    async with subscribed(alice, GROUP, group=group) as stream:
        await begun(db, group)
        muted = await bob.post("muted", groupId=group)
        post = await carol.post("hello", groupId=group)
        assert await stream.brief() == ("removed", muted)
        assert await stream.brief() == ("put", post)
        await make_private(carol)
        assert await stream.brief() == ("removed", post)
        await make_private(carol, private=False)
        assert await stream.brief() == ("put", post)
        assert (await carol.do("deleteAccount", password=PASSWORD))["userErrors"] == []
        assert await stream.brief() == ("removed", post)


async def test_every_cell(db: Database, anonymous: Member) -> None:
    """In every cell of the table, who may read a group gets its new posts, and nobody else does."""
    site = await group_audience(db, anonymous)
    for cell in GROUP_CELLS:
        if cell.standing == ANONYMOUS:
            continue
        group = site.entities[cell.kind]["friend_group"]
        async with subscribed(site.viewer(cell), GROUP, group=group) as stream:
            if not sees(cell):
                assert await stream.code() == "BAD_USER_INPUT", cell
                continue
            await begun(db, group)
            writer = site.owner if cell.kind == "ANNOUNCEMENT" else site.writers[cell.kind]
            post = await writer.post("live", groupId=group)
            assert await stream.brief() == ("put", post), cell


async def held(stream: Stream, posts: set[str], last: str) -> None:
    """Apply the events of a stream to the posts that a client has, up to the one that puts the last post."""
    while True:
        kind, *about = await stream.brief()
        if kind == "put":
            posts.add(about[0])
            if about[0] == last:
                return
        else:
            assert kind == "removed"
            posts.discard(about[0])


async def test_agreement(services: Services, db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A client that is cut off anywhere ends with what a reader finds, after any changes."""
    services.db.settings = shrunk(services.settings, group_changes_kept=100)
    lot = random.Random(7)  # noqa: S311  an order of acts, no secret
    group = await create(alice)
    await join(group, bob, carol)
    mine: dict[str, list[str]] = {"bob": [], "carol": []}
    client: set[str] = set()
    cursor = f"group-{number(group):x}.{0:014x}"
    for _ in range(6):
        for _ in range(12):
            member = lot.choice([bob, carol])
            own = mine[member.login]
            chosen = lot.choice(own) if own else None
            match lot.choice(["post", "post", "hide", "unhide", "delete", "private"]):
                case "hide" if chosen:
                    await hide(member, chosen)
                case "unhide" if chosen:
                    await unhide(member, chosen)
                case "delete" if chosen:
                    await delete(member, chosen)
                    own.remove(chosen)
                case "private":
                    await make_private(member, private=lot.choice([True, False]))
                case _:
                    own.append(await member.post("words", groupId=group))
        last = await alice.post("the end", groupId=group)
        async with subscribed(alice, GROUP, group=group, after=cursor) as stream:
            await held(stream, client, last)
            cursor = stream.cursor
        assert sorted(client, reverse=True) == await timeline(alice, group)
