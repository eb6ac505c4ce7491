"""The end of posts in groups: deleted, hidden, with their group or their author's account."""

import pytest

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import posts
from store.client.database import Database
from store.groups import changes
from store.refusals import accepted
from store.settings import Settings
from tests.support.groups import EVERYWHERE, KINDS, NODE, act, create, give, join, let_in, profile, show, timeline
from tests.support.moderation.acts import appoint, logged
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
    """Its author deletes a post, also when they have left the group, and so do the group's moderators above them."""
    group = await create(alice, "PRIVATE")
    await let_in(alice, group, bob, carol)
    await give(alice, group, carol, "MODERATOR")
    one, two, three = [await bob.post(text, groupId=group) for text in ("one", "two", "three")]
    mine = await alice.post("mine", groupId=group)
    assert await bob.refused("deletePost", postId=mine) == ("NOT_ALLOWED", ["postId"])
    assert await carol.refused("hidePost", postId=one) == ("NOT_ALLOWED", ["postId"])
    payload = await carol.do("deletePost", "deletedPostId author { login postCount }", postId=one)
    assert payload == {"deletedPostId": one, "author": {"login": "bob", "postCount": 2}, "userErrors": []}
    await delete(alice, mine)
    await bob.do("block", userIds=[carol.id])
    assert await carol.refused("deletePost", postId=one) == ("NOT_FOUND", ["postId"])
    await delete(carol, two)
    await act(bob, "leaveGroup", group)
    assert await bob.ask(NODE, id=three) is None
    await delete(bob, three)
    assert await timeline(alice, group) == []
    assert await alice.refused("deletePost", postId=three) == ("NOT_FOUND", ["postId"])
    await assert_clean(db)


@pytest.mark.parametrize("kind", KINDS)
async def test_nobody_deletes_posts_of_an_equal_or_superior(
    db: Database, alice: Member, bob: Member, carol: Member, kind: str
) -> None:
    """A moderator deletes no post of an owner or moderator, an owner none of an owner, and a refusal writes nothing."""
    group = await create(alice, kind)
    await let_in(alice, group, bob, carol)
    for member in (bob, carol):
        await give(alice, group, member, "MODERATOR")
    of_alice, of_bob = [await member.post("hello", groupId=group) for member in (alice, bob)]
    await alice.do("block", userIds=[carol.id])
    before = await contents(db)
    refused = ("NOT_ALLOWED", ["postId"])
    for actor, post in ((bob, of_alice), (carol, of_alice), (carol, of_bob)):
        assert await actor.refused("deletePost", postId=post) == refused
    assert await contents(db) == before
    await give(alice, group, bob, "OWNER")
    for actor, post in ((alice, of_bob), (bob, of_alice)):
        assert await actor.refused("deletePost", postId=post) == refused
    await act(bob, "leaveGroup", group)
    await delete(alice, of_bob)
    assert await timeline(alice, group) == [of_alice]
    await assert_clean(db)


async def test_a_moderator_of_the_site_has_their_own_rank(
    db: Database, alice: Member, bob: Member, anonymous: Member
) -> None:
    """A moderator of the site deletes a post of a group's owner as such, with an entry in the log."""
    mona = await appoint(db, anonymous, "mona")
    group = await create(alice)
    await join(group, mona)
    await give(alice, group, mona, "MODERATOR")
    post = await alice.post("hello", groupId=group)
    await delete(mona, post)
    assert await timeline(alice, group) == []
    assert [act["kind"] for act in await logged(mona)] == ["CONTENT_DELETED"]


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
    await say(bob, made[0], "well")
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
        draft = posts.PostDraft(number(alice.id), "hello", group=number(group))
        _, post, job = accepted(await posts.create(db, draft))
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
