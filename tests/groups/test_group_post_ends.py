"""The end of posts in groups: deleted, hidden, with their group or their author's account."""

from __future__ import annotations

import pytest

from resolvers.jobs.worker import Worker
from resolvers.operation.services import Services
from store import posts
from store.client.database import Database
from store.groups import changes
from store.settings import Settings
from tests.support.groups import EVERYWHERE, NODE, act, create, give, join, let_in, profile, show, timeline
from tests.support.notifications import say
from tests.support.people import PASSWORD, Member, contents, shrunk
from tests.support.probes.accounts import traces
from tests.support.probes.posts import delete, hide, unhide
from tests.support.threads import assert_clean
from tests.support.work import number, work_off


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Deletions in small steps."""
    return shrunk(settings, home_size=10, home_slack=1)


async def test_deleting(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Its author deletes a post, also when they have left the group, and so do the group's moderators."""
    group = await create(alice, "PRIVATE")
    await let_in(alice, group, bob, carol)
    await give(alice, group, carol, "MODERATOR")
    one, two, three = [await bob.post(text, groupId=group) for text in ("one", "two", "three")]
    mine = await alice.post("mine", groupId=group)
    assert await bob.refused("deletePost", postId=mine) == ("NOT_ALLOWED", ["postId"])
    assert await carol.refused("hidePost", postId=one) == ("NOT_ALLOWED", ["postId"])
    payload = await carol.do("deletePost", "deletedPostId author { login postCount }", postId=one)
    assert payload == {"deletedPostId": one, "author": {"login": "bob", "postCount": 2}, "userErrors": []}
    await delete(carol, mine)
    await bob.do("block", userIds=[carol.id])
    assert await carol.refused("deletePost", postId=one) == ("NOT_FOUND", ["postId"])
    await delete(carol, two)
    await act(bob, "leaveGroup", group)
    assert await bob.ask(NODE, id=three) is None
    await delete(bob, three)
    assert await timeline(alice, group) == []
    assert await alice.refused("deletePost", postId=three) == ("NOT_FOUND", ["postId"])
    await assert_clean(db)


async def test_hiding(alice: Member, bob: Member, carol: Member) -> None:
    """A hidden post is out of sight for all but its author, and is shown again where it was."""
    group = await create(alice)
    await join(group, bob)
    post = await bob.post("hello #tea", groupId=group)
    await hide(bob, post)
    assert [await timeline(viewer, group) for viewer in (alice, bob, carol)] == [[], [post], []]
    await unhide(bob, post)
    assert [await timeline(viewer, group) for viewer in (alice, bob, carol)] == [[post]] * 3
    assert (await alice.ask(EVERYWHERE))["hashtag"] is None


async def test_deleting_the_group(
    services: Services, worker: Worker, alice: Member, bob: Member, carol: Member
) -> None:
    """A deleted group takes all its posts with it, with replies, comments and reposts."""
    db, group = services.db, await create(alice)
    await join(group, bob)
    await carol.follow(bob)
    made = [await member.post(f"{turn}", groupId=group) for turn in range(3) for member in (alice, bob)]
    await bob.post("so", groupId=group, inReplyToId=made[0])
    await say(carol, made[0], "well")
    plain, quote = await bob.repost(made[0]), await bob.repost(made[0], "see")
    kept = await alice.post("kept")
    await hide(alice, made[2])
    await alice.do("deleteGroup", groupId=group)
    for post in (*made, plain):
        assert await alice.ask(NODE, id=post) is None
    await work_off(db, worker)
    assert await profile(alice, alice) == [kept]
    assert await profile(bob, bob) == [quote]
    assert await carol.home() == [quote]
    assert await show(alice, group) is None
    left = {key for key in await contents(db) if str(number(group)) in key and not key.startswith("withdrawn")}
    assert left == set()
    await assert_clean(db)


async def test_a_delete_that_overtakes_the_listing(
    services: Services, worker: Worker, alice: Member, bob: Member
) -> None:
    """A post whose group is deleted, or whose author has left it, before it is listed is deleted, too."""
    db, mine, theirs = services.db, await create(alice), await create(bob)
    await join(theirs, alice)
    made = []
    for group in (mine, theirs):
        draft = posts.Draft(number(alice.id), "hello", group=number(group))
        _, post, job = await posts.create(db, draft)
        assert job
        made.append(post)
    await changes.delete(db, number(mine), number(alice.id))
    await act(alice, "leaveGroup", theirs)
    await work_off(db, worker)
    assert await posts.gone(db, made) == set(made)
    assert await timeline(bob, theirs) == []
    await assert_clean(db)


async def test_a_deleted_account(services: Services, worker: Worker, alice: Member, bob: Member) -> None:
    """A deleted account takes its posts out of every group."""
    group = await create(alice)
    await join(group, bob)
    await bob.post("hello", groupId=group)
    post = await alice.post("stays", groupId=group)
    assert (await bob.do("deleteAccount", password=PASSWORD))["userErrors"] == []
    await work_off(services.db, worker)
    assert await timeline(alice, group) == [post]
    assert await traces(services.db, bob) == set()
    await assert_clean(services.db)
