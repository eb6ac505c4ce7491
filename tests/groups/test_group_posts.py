"""Posts in groups: where they are listed, who may write, answer, pass on and delete them."""

from typing import Any

import pytest

from store import keys
from store.client.database import Database
from store.settings import Settings
from tests.support.groups import EVERYWHERE, KINDS, NODE, PROFILE, act, create, give, join, let_in, profile, timeline
from tests.support.notifications import named, notifications_of, say
from tests.support.people import Member, contents, make_private, shrunk
from tests.support.probes.posts import delete
from tests.support.threads import assert_clean, read
from tests.support.work import number


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Deletions in small steps."""
    return shrunk(settings, home_size=10, home_slack=1)


@pytest.mark.parametrize("kind", KINDS)
async def test_where_it_is_listed(
    db: Database, alice: Member, bob: Member, carol: Member, anonymous: Member, kind: str
) -> None:
    """It is in the group's timeline and the author's profile, for those who may see it, and nowhere else."""
    group = await create(alice, kind)
    await let_in(alice, group, bob)
    for member in (bob, carol):
        await member.follow(alice)
    post = await alice.post("hello #tea", groupId=group)
    for viewer in (alice, bob, carol, anonymous):
        is_seen = kind != "PRIVATE" or viewer in (alice, bob)
        found = await viewer.ask(NODE, id=post)
        shown = {"__typename": "Status", "text": "hello #tea", "group": {"id": group, "name": "Birds"}}
        assert found == (shown if is_seen else None)
        assert await timeline(viewer, group) == ([post] if is_seen else None)
        assert await profile(viewer, alice) == ([post] if is_seen else [])
        assert (await viewer.ask(PROFILE, id=alice.id))["postCount"] == 1
        empty: dict[str, Any] = {"nodes": []}
        assert await viewer.ask(EVERYWHERE) == {
            "publicTimeline": empty,
            "important": empty,
            "hashtag": None,
            "trendingHashtags": [],
        }
        if viewer is not anonymous:
            assert await viewer.home() == []
    assert (await alice.ask(NODE, id=await alice.post("elsewhere")))["group"] is None
    await assert_clean(db)


async def test_paging_a_timeline(alice: Member, bob: Member) -> None:
    """It pages in both directions, and leaves out members whom the viewer mutes or who block them."""
    group = await create(alice)
    await join(group, bob)
    made = [await member.post(f"{turn}", groupId=group) for turn in range(3) for member in (alice, bob)]
    query = """query($id: ID!, $after: String) { node(id: $id) { ... on Group { timeline(first: 2, after: $after) {
      nodes { ... on Status { id } } pageInfo { hasNextPage endCursor } } } } }"""
    found, after = [], None
    for _ in range(3):
        page = (await alice.ask(query, id=group, after=after))["timeline"]
        found += [node["id"] for node in page["nodes"]]
        after = page["pageInfo"]["endCursor"]
    assert found == made[::-1]
    assert not page["pageInfo"]["hasNextPage"]
    assert await timeline(alice, group, "last: 2") == made[1::-1]
    await alice.do("mute", userIds=[bob.id])
    assert await timeline(alice, group) == made[4::-2]
    await alice.do("block", userIds=[bob.id])
    assert await timeline(bob, group) == made[5::-2]


async def test_who_may_post(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Members post, in an announcement group its moderators and owners alone; a refusal writes nothing."""
    groups = {kind: await create(alice, kind) for kind in KINDS}
    for group in groups.values():
        await let_in(alice, group, bob)
    await bob.post("hello", groupId=groups["PUBLIC"])
    await bob.post("hello", groupId=groups["PRIVATE"])
    await alice.post("hello", groupId=groups["ANNOUNCEMENT"])
    before = await contents(db)
    refused = ("NOT_ALLOWED", ["groupId"])
    assert await bob.refused("post", text="hello", groupId=groups["ANNOUNCEMENT"]) == refused
    for group in groups.values():
        assert await carol.refused("post", text="hello", groupId=group) == refused
    for group in (f"group_{1:014x}", alice.id):
        assert await alice.refused("post", text="hello", groupId=group) == ("NOT_FOUND", ["groupId"])
    assert await alice.refused("post", text="hello", groupId="nonsense") == ("INVALID", ["groupId"])
    assert await alice.refused("post", text="", groupId=groups["PUBLIC"]) == ("BLANK", ["text"])
    assert await contents(db) == before
    await give(alice, groups["ANNOUNCEMENT"], bob, "MODERATOR")
    await bob.post("hello", groupId=groups["ANNOUNCEMENT"])
    await act(alice, "removeGroupMembers", groups["PUBLIC"], bob)
    assert await bob.refused("post", text="hello", groupId=groups["PUBLIC"]) == refused


async def test_replies(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A post in a group is answered in that group, and one outside it is not."""
    group, other = await create(alice, "PRIVATE"), await create(alice)
    await let_in(alice, group, bob)
    outside, inside = await alice.post("outside"), await alice.post("inside", groupId=group)
    before = await contents(db)
    for where, answered, field in (
        ({"groupId": group}, outside, "inReplyToId"),
        ({}, inside, "groupId"),
        ({"groupId": other}, inside, "inReplyToId"),
    ):
        refused = await alice.refused("post", text="so", inReplyToId=answered, **where)
        assert refused == ("INVALID", [field])
    refused = await carol.refused("post", text="so", inReplyToId=inside)
    assert refused == ("NOT_FOUND", ["inReplyToId"])
    assert await contents(db) == before
    reply = await bob.post("so", inReplyToId=inside, groupId=group)
    assert await notifications_of(alice) == [("REPLY", "bob", reply, None)]
    assert await read(bob, inside, "replies") == [reply]
    assert await read(alice, reply, "conversation") == [inside, reply]
    assert await timeline(bob, group) == [reply, inside]
    await act(alice, "removeGroupMembers", group, bob)
    assert await timeline(alice, group) == [reply, inside]
    assert await profile(bob, bob) == []
    await assert_clean(db)


@pytest.mark.parametrize("kind", ["PUBLIC", "ANNOUNCEMENT"])
async def test_comments_and_likes(db: Database, alice: Member, bob: Member, carol: Member, kind: str) -> None:
    """Only members of a group comment on its posts; likes need the right to read; a refusal writes no comment."""
    group = await create(alice, kind)
    await join(group, bob)
    post = await alice.post("hello", groupId=group)
    plain = await bob.repost(post)
    remark = await say(bob, post, "yes")
    listed = ("ZRANGE", keys.comments(number(post)), 0, -1)
    before = await db.one(*listed)
    for fields in ({"postId": post}, {"postId": plain}, {"postId": post, "replyToId": remark}):
        refused = await carol.refused("comment", text="so", idempotencyKey="once", **fields)
        assert refused == ("NOT_ALLOWED", ["postId"])
    assert await db.one(*listed) == before
    await carol.do("like", postId=post)
    assert (await carol.ask("query($id: ID!) { node(id: $id) { ... on Post { likeCount } } }", id=post)) == {
        "likeCount": 1
    }
    await join(group, carol)
    fields = {"postId": post, "text": "so", "replyToId": remark, "idempotencyKey": "once"}
    made = await carol.do("comment", "comment { id }", **fields)
    await act(carol, "leaveGroup", group)
    assert await carol.do("comment", "comment { id }", **fields) == made
    assert await carol.refused("comment", postId=post, text="more") == ("NOT_ALLOWED", ["postId"])
    assert (await carol.do("deleteComment", commentId=made["comment"]["id"]))["userErrors"] == []
    assert await db.one(*listed) == before
    await assert_clean(db)


async def test_reposts(db: Database, alice: Member, bob: Member, carol: Member, anonymous: Member) -> None:
    """A post in an open group is reposted as any other. It is at home by the repost alone, also for its author."""
    group = await create(alice)
    await join(group, bob)
    for member in (alice, carol):
        await member.follow(bob)
    await carol.follow(alice)
    post = await alice.post("hello", groupId=group)
    plain, quote = await bob.repost(post), await bob.repost(post, "see")
    for viewer in (alice, carol):
        assert await viewer.home() == [quote, post]
    assert await profile(carol, bob) == [quote, plain]
    shown = await carol.ask("{ homeTimeline { edges { node { ... on Node { id } } repostedBy { user { login } } } } }")
    assert shown["edges"][1]["repostedBy"] == [{"user": {"login": "bob"}}]
    await assert_clean(db)
    await carol.unfollow(alice)
    assert await carol.home() == [quote, post]
    await carol.follow(alice)
    assert await carol.home() == [quote, post]
    await assert_clean(db)
    await bob.do("unrepost", postId=post)
    for viewer in (alice, carol):
        assert await viewer.home() == [quote]
    await assert_clean(db)
    await bob.repost(post)
    await delete(alice, post)
    for viewer in (alice, carol):
        assert await viewer.home() == [quote]
    await assert_clean(db)


async def test_reposts_of_what_is_private(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A post in a private group is passed on by nobody; what was passed on before is seen by members alone."""
    group = await create(alice)
    await join(group, bob)
    await carol.follow(bob)
    post = await alice.post("hello", groupId=group)
    plain, quote = await bob.repost(post), await bob.repost(post, "see")
    await act(alice, "updateGroup", group, kind="PRIVATE")
    before = await contents(db)
    for member in (alice, bob):
        for text in ("", "see"):
            assert await member.refused("repost", postId=post, text=text) == ("NOT_ALLOWED", ["postId"])
    assert await carol.refused("repost", postId=post) == ("NOT_FOUND", ["postId"])
    assert await contents(db) == before
    assert await carol.home() == [quote]
    original = "query($id: ID!) { node(id: $id) { ... on Repost { original { id } } } }"
    assert await carol.ask(original, id=quote) == {"original": None}
    assert await carol.ask(original, id=plain) is None
    assert await bob.ask(original, id=quote) == {"original": {"id": post}}
    await act(alice, "updateGroup", group, kind="PUBLIC")
    assert await carol.home() == [quote, post]
    await assert_clean(db)


async def test_a_private_author(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Of a private author's posts, members of the group see those that they would see elsewhere."""
    group = await create(alice)
    await join(group, bob, carol)
    await carol.follow(bob)
    post = await bob.post("hello", groupId=group)
    await make_private(bob)
    assert [await timeline(viewer, group) for viewer in (alice, bob, carol)] == [[], [post], [post]]
    await make_private(bob, private=False)
    assert await timeline(alice, group) == [post]
    assert (await alice.ask(EVERYWHERE))["publicTimeline"] == {"nodes": []}
    await assert_clean(db)


async def test_mentions(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A post or comment in a private group notifies the members of the group whom it names, and nobody else."""
    group = await create(alice, "PRIVATE")
    await let_in(alice, group, bob)
    post = await alice.post("hello @bob and @carol", groupId=group)
    remark = await say(bob, post, "yes @alice, and @carol")
    assert await notifications_of(bob) == [("MENTION", "alice", post, None)]
    assert await notifications_of(alice) == [("COMMENT", "bob", post, remark)]
    assert await named(bob) == [post]
    for kind in ("notifications", "mentions"):
        assert not await db.one("EXISTS", f"{kind}:{keys.tag(number(carol.id))}")
    await assert_clean(db)


async def test_a_key(db: Database, alice: Member, bob: Member) -> None:
    """A retry gets the first post, also after the group became one in which the viewer may not post."""
    group = await create(alice)
    await join(group, bob)
    post = await bob.post("hello", groupId=group, idempotencyKey="once")
    assert await bob.post("hello", groupId=group, idempotencyKey="once") == post
    refused = await bob.refused("post", text="hello", idempotencyKey="once")
    assert refused == ("CONFLICT", ["idempotencyKey"])
    await act(alice, "updateGroup", group, kind="ANNOUNCEMENT")
    assert await bob.post("hello", groupId=group, idempotencyKey="once") == post
    assert await timeline(bob, group) == [post]
