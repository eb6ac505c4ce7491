"""Likes: counted exactly, each once, and only by permitted members."""

import asyncio

import pytest

from resolvers.process.services import Services
from store.client.database import Database
from tests.support.nodes import seen
from tests.support.people import Member, contents, crowd
from tests.support.work import number

LIKED = "post { id likeCount viewerHasLiked }"


async def likers(member: Member, post: str) -> tuple[int, list[str]]:
    """Return how many members like a post, and their ids."""
    found = await seen(member, post, "likeCount likedBy(first: 100) { nodes { login } }")
    return found["likeCount"], [user["login"] for user in found["likedBy"]["nodes"]]


async def test_a_like_counts_once(db: Database, alice: Member, bob: Member) -> None:
    """Liking a post again changes nothing and is no error."""
    post = await alice.post("hello")
    liked = {"post": {"id": post, "likeCount": 1, "viewerHasLiked": True}, "userErrors": []}
    assert await bob.do("like", LIKED, postId=post) == liked
    before = await contents(db)
    assert await bob.do("like", LIKED, postId=post) == liked
    assert await contents(db) == before


async def test_a_like_is_taken_back_once(db: Database, alice: Member, bob: Member) -> None:
    """Unliking a post twice, or one never liked, changes nothing and is no error."""
    post = await alice.post("hello")
    unliked = {"post": {"id": post, "likeCount": 0, "viewerHasLiked": False}, "userErrors": []}
    assert await bob.do("unlike", LIKED, postId=post) == unliked
    await bob.do("like", postId=post)
    assert await bob.do("unlike", LIKED, postId=post) == unliked
    before = await contents(db)
    assert await bob.do("unlike", LIKED, postId=post) == unliked
    assert await contents(db) == before
    assert await likers(bob, post) == (0, [])


async def test_round_trips_of_a_like(services: Services, alice: Member, bob: Member) -> None:
    """A like takes two round trips: the session check, which also reads the post, and the script, which counts."""
    selection = "post { likeCount viewerHasLiked author { login } }"
    post = await alice.post("hello")
    await bob.do("unlike", selection, postId=post)  # reads what is cached from then on
    for mutation, count in (("like", 1), ("like", 1), ("unlike", 0)):
        services.db.round_trips = 0
        payload = await bob.do(mutation, selection, postId=post)
        shown = {"likeCount": count, "viewerHasLiked": mutation == "like", "author": {"login": "alice"}}
        assert payload == {"post": shown, "userErrors": []}
        assert services.db.round_trips == 2


async def flags(member: Member, author: Member) -> list[bool]:
    """Return whether a member likes an author's posts, oldest first."""
    selection = "timeline { nodes { ... on Post { viewerHasLiked } } }"
    found = await member.ask(f"query($id: ID!) {{ node(id: $id) {{ ... on User {{ {selection} }} }} }}", id=author.id)
    return [node["viewerHasLiked"] for node in found["timeline"]["nodes"]][::-1]


async def test_flags_by_the_end_of_an_index(monkeypatch: pytest.MonkeyPatch, alice: Member, bob: Member) -> None:
    """A flag is right whether the end of the viewer's index names the post, leaves it out or begins above it."""
    monkeypatch.setattr("store.likes_and_comments.LIKES_READ", 3)
    made = sorted([await bob.post(f"post {i}") for i in range(6)], key=number)
    for place in (0, 2, 3, 4):
        await alice.do("like", postId=made[place])
    await alice.do("unlike", postId=made[3])
    for _ in range(2):  # read, then cached
        assert await flags(alice, bob) == [True, False, True, False, True, False]
    await alice.do("like", postId=made[5])
    await alice.do("unlike", postId=made[0])
    for _ in range(2):
        assert await flags(alice, bob) == [False, False, True, False, True, True]


async def test_new_posts_need_no_look_at_their_likes(services: Services, alice: Member, bob: Member) -> None:
    """Once the end of the viewer's index is cached, a page with a new post reads no likes of that post."""
    await alice.follow(bob)
    query = "{ homeTimeline(first: 9) { nodes { ... on Post { viewerHasLiked } } } }"
    await bob.post("first")
    await alice.ask(query)
    await bob.post("second")
    await bob.ask(query)  # which caches the post
    services.db.round_trips = 0
    assert (await alice.ask(query))["nodes"] == 2 * [{"viewerHasLiked": False}]
    assert services.db.round_trips == 1


async def test_fifty_members_liking_at_once_are_all_counted(anonymous: Member, alice: Member) -> None:
    """Fifty members who each like a post twice simultaneously are counted and listed once each."""
    members = await crowd(anonymous, 50)
    post = await alice.post("hello")
    await asyncio.gather(*(member.do("like", postId=post) for member in members * 2))
    count, names = await likers(alice, post)
    assert count == 50
    assert sorted(names) == sorted(member.login for member in members)


async def test_likes_and_unlikes_at_once_end_counted(anonymous: Member, alice: Member) -> None:
    """For likes and unlikes in any order, count, list and each member's own flag agree."""
    members = await crowd(anonymous, 15)
    post = await alice.post("hello")
    acts = [member.do(act, postId=post) for member in members for act in ("like", "unlike", "like")]
    await asyncio.gather(*acts)
    count, names = await likers(alice, post)
    flags = {m.login for m in members if (await seen(m, post, "viewerHasLiked"))["viewerHasLiked"]}
    assert (count, set(names)) == (len(flags), flags)


async def test_likes_are_listed_newest_first(alice: Member, bob: Member, carol: Member) -> None:
    """`likedBy` has the newest like first, each with its own instant; a like given again counts as new."""
    post = await alice.post("hello")
    for member in (bob, alice, carol):
        await member.do("like", postId=post)
    await bob.do("unlike", postId=post)
    await bob.do("like", postId=post)
    assert await likers(alice, post) == (3, ["bob", "carol", "alice"])
    found = await seen(alice, post, "createdAt likedBy { edges { node { login } likedAt } }")
    instants = [edge["likedAt"] for edge in found["likedBy"]["edges"]]
    assert instants == sorted(instants, reverse=True)
    assert instants[-1] >= found["createdAt"]


async def test_each_viewer_sees_their_own_like(alice: Member, bob: Member, anonymous: Member) -> None:
    """`viewerHasLiked` is true for members who like the post, and for nobody else, signed in or not."""
    post = await alice.post("hello")
    await bob.do("like", postId=post)
    flags = [(await seen(member, post, "viewerHasLiked"))["viewerHasLiked"] for member in (alice, bob, anonymous)]
    assert flags == [False, True, False]
    assert await likers(anonymous, post) == (1, ["bob"])


async def test_members_may_like_their_own(alice: Member) -> None:
    """Members can like their own posts."""
    post = await alice.post("hello")
    assert (await alice.do("like", LIKED, postId=post))["post"]["likeCount"] == 1


@pytest.mark.parametrize("act", ["like", "unlike"])
async def test_a_deleted_post_cannot_be_liked(db: Database, alice: Member, bob: Member, act: str) -> None:
    """Liking or unliking a deleted post is refused, and nothing is written."""
    post = await alice.post("hello")
    await bob.do("like", postId=post)
    await alice.do("deletePost", postId=post)
    before = await contents(db)
    assert await bob.refused(act, postId=post) == ("NOT_FOUND", ["postId"])
    assert (await bob.do(act, LIKED, postId=post))["post"] is None
    assert await contents(db) == before
