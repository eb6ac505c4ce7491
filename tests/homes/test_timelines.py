"""The home timeline: each post once, at the smallest id that brings it, with those who passed it on."""

from __future__ import annotations

from typing import Any

import pytest

from resolvers.jobs.worker import Worker
from resolvers.operation.context import Services
from store import keys, posts
from tests.support.people import Member, crowd
from tests.support.work import number, work_off

HOME = """
{ homeTimeline(first: 100) { edges {
    cursor repostedByCount repostedBy { user { login } repostedAt }
    node { ... on Post { id text createdAt } ... on Repost { original { id } } } } } }
"""
PROFILE = "{ viewer { user { timeline(first: 100) { nodes { ... on Post { id repostCount quoteCount } } } } } }"


async def lines(member: Member) -> list[tuple[str, list[str]]]:
    """Return the posts of a home, and for each the logins of those who passed it on."""
    page = await member.ask(HOME)
    assert all(edge["repostedByCount"] == len(edge["repostedBy"]) for edge in page["edges"])
    return [(edge["node"]["id"], [source["user"]["login"] for source in edge["repostedBy"]]) for edge in page["edges"]]


async def test_own_posts(alice: Member, bob: Member) -> None:
    """A member's own posts and quotes stand in their home, and nobody else's who is not followed."""
    foreign = await bob.post("not for alice")
    post = await alice.post("first")
    quote = await alice.repost(foreign, "look")
    assert await lines(alice) == [(quote, []), (post, [])]


async def test_posts_of_the_followed(alice: Member, bob: Member, carol: Member) -> None:
    """Posts and quotes of those a member follows stand in their home, newest first, among the member's own."""
    await alice.follow(bob, carol)
    made = [await bob.post("one"), await alice.post("two"), await carol.post("three")]
    made.append(await bob.repost(made[2], "four, a quote"))
    assert await lines(alice) == [(post, []) for post in reversed(made)]
    assert await lines(bob) == [(made[3], []), (made[0], [])]


async def test_a_post_that_was_passed_on(alice: Member, bob: Member, carol: Member) -> None:
    """A stranger's post that a followed member passed on stands where they did so, and they are named with the time."""
    await alice.follow(bob)
    passed_on = await carol.post("old")
    await carol.post("never passed on")
    before = await bob.post("before")
    repost = await bob.repost(passed_on)
    after = await bob.post("after")
    assert await lines(alice) == [(after, []), (passed_on, ["bob"]), (before, [])]
    (_, edge, _) = (await alice.ask(HOME))["edges"]
    made = await bob.ask("query($id: ID!) { node(id: $id) { ... on Post { createdAt } } }", id=repost)
    assert edge["repostedBy"][0]["repostedAt"] == made["createdAt"]


async def test_a_post_that_several_passed_on(alice: Member, bob: Member, carol: Member, anonymous: Member) -> None:
    """A post that several passed on stands once, where the first did so, with all of them named, first one first."""
    (dave,) = await crowd(anonymous, 1)
    await alice.follow(carol, bob)
    post = await dave.post("for all")
    await carol.repost(post)
    between = await bob.post("between")
    await bob.repost(post)
    assert await lines(alice) == [(between, []), (post, ["carol", "bob"])]
    query = "{ homeTimeline(first: 9) { edges { repostedByCount repostedBy(first: 1) { user { login } } } } }"
    assert (await alice.ask(query))["edges"][1] == {
        "repostedByCount": 2,
        "repostedBy": [{"user": {"login": "carol"}}],
    }


async def test_a_followed_author_passed_on(alice: Member, bob: Member, carol: Member) -> None:
    """A post whose author is followed keeps its own place when somebody passes it on, even its author."""
    await alice.follow(bob, carol)
    post = await bob.post("mine")
    later = await carol.post("later")
    await carol.repost(post)
    await bob.repost(post)
    assert await lines(alice) == [(later, []), (post, ["carol", "bob"])]


async def test_an_author_followed_later(alice: Member, bob: Member, carol: Member) -> None:
    """Following the author moves a post from where it was passed on to its own place."""
    await alice.follow(bob)
    post = await carol.post("early")
    between = await bob.post("between")
    await bob.repost(post)
    assert await lines(alice) == [(post, ["bob"]), (between, [])]
    await alice.follow(carol)
    assert await lines(alice) == [(between, []), (post, ["bob"])]


async def test_an_author_unfollowed(alice: Member, bob: Member, carol: Member) -> None:
    """Unfollowing the author moves a post to where a followed member passed it on; the author's other posts go."""
    await alice.follow(bob, carol)
    post = await carol.post("passed on")
    await carol.post("not passed on")
    between = await bob.post("between")
    await bob.repost(post)
    await alice.unfollow(carol)
    assert await lines(alice) == [(post, ["bob"]), (between, [])]


async def test_a_reposter_unfollowed(alice: Member, bob: Member, carol: Member, anonymous: Member) -> None:
    """Unfollowing who passed a post on moves it to the next who did, and takes it away when nobody is left."""
    (dave,) = await crowd(anonymous, 1)
    await alice.follow(bob, carol)
    post = await dave.post("for all")
    await bob.repost(post)
    between = await carol.post("between")
    await carol.repost(post)
    assert await lines(alice) == [(between, []), (post, ["bob", "carol"])]
    await alice.unfollow(bob)
    assert await lines(alice) == [(post, ["carol"]), (between, [])]
    await alice.unfollow(carol)
    assert await lines(alice) == []


async def test_a_repost_undone(alice: Member, bob: Member, carol: Member, anonymous: Member) -> None:
    """Undoing a repost moves the post to the next one's place, and takes it away when nobody is left."""
    (dave,) = await crowd(anonymous, 1)
    await alice.follow(bob, carol)
    post = await dave.post("for all")
    repost = await bob.repost(post)
    between = await carol.post("between")
    await carol.repost(post)
    await bob.do("unrepost", postId=post)
    assert await lines(alice) == [(post, ["carol"]), (between, [])]
    await bob.repost(post)
    assert await lines(alice) == [(post, ["carol", "bob"]), (between, [])]
    assert await bob.refused("deletePost", postId=repost) == ("NOT_FOUND", ["postId"])
    await carol.do("unrepost", postId=post)
    await bob.do("unrepost", postId=post)
    assert await lines(alice) == [(between, [])]


async def test_a_repost_of_a_followed_author_undone(alice: Member, bob: Member, carol: Member) -> None:
    """Where the author is followed, undoing a repost leaves the post and its place."""
    await alice.follow(bob, carol)
    post = await bob.post("mine")
    await carol.repost(post)
    await carol.do("unrepost", postId=post)
    assert await lines(alice) == [(post, [])]


async def test_an_original_deleted(alice: Member, bob: Member, carol: Member) -> None:
    """A deleted post goes from every home with all its reposts; quotes of it stay, with no original."""
    await alice.follow(bob)
    await carol.follow(alice, bob)
    post = await carol.post("soon gone")
    await bob.repost(post)
    await alice.repost(post)
    quote = await bob.repost(post, "remember this")
    await carol.do("deletePost", postId=post)
    for member in (alice, carol):
        (edge,) = (await member.ask(HOME))["edges"]
        assert (edge["node"]["id"], edge["node"]["original"]) == (quote, None)
    profile = (await bob.ask(PROFILE))["user"]["timeline"]["nodes"]
    assert [node["id"] for node in profile] == [quote]
    assert (await alice.ask(PROFILE))["user"]["timeline"]["nodes"] == []


async def test_quotes_stand_for_themselves(alice: Member, bob: Member, carol: Member) -> None:
    """A quote is an entry beside its original's, brings nobody else's post home, and can be passed on itself."""
    await alice.follow(bob)
    post = await carol.post("words")
    quote = await bob.repost(post, "well said")
    assert await lines(alice) == [(quote, [])]
    await alice.follow(carol)
    assert await lines(alice) == [(quote, []), (post, [])]
    await carol.repost(quote)
    assert await lines(alice) == [(quote, ["carol"]), (post, [])]
    assert await lines(carol) == [(post, [])]


async def test_own_reposts(alice: Member, bob: Member, carol: Member) -> None:
    """A member's own repost brings nothing to their own home and is no source there; it stands in their profile."""
    await alice.follow(bob)
    stranger, friend = await carol.post("from a stranger"), await bob.post("from a friend")
    reposts = [await alice.repost(stranger), await alice.repost(friend)]
    own = await alice.post("own")
    reposts.append(await alice.repost(own))
    assert await lines(alice) == [(own, []), (friend, [])]
    profile = (await alice.ask(PROFILE))["user"]["timeline"]["nodes"]
    assert [node["id"] for node in profile] == [reposts[2], own, reposts[1], reposts[0]]


async def test_ones_own_post_passed_on(alice: Member, bob: Member, carol: Member) -> None:
    """When a followed member passes a member's own post on, it keeps its place and names them, not strangers."""
    await alice.follow(bob)
    own = await alice.post("own")
    later = await bob.post("later")
    await carol.repost(own)
    assert await lines(alice) == [(later, []), (own, [])]
    await bob.repost(own)
    assert await lines(alice) == [(later, []), (own, ["bob"])]
    await alice.unfollow(bob)
    assert await lines(alice) == [(own, [])]


async def test_a_repost_of_a_repost(alice: Member, bob: Member, carol: Member) -> None:
    """Passing a plain repost on passes its original on."""
    await alice.follow(bob)
    post = await carol.post("words")
    again = await bob.repost(await carol.repost(post))
    assert await lines(alice) == [(post, ["bob"])]
    original = await alice.ask("query($id: ID!) { node(id: $id) { ... on Repost { original { id } } } }", id=again)
    assert original == {"original": {"id": post}}


async def test_never_two_entries(alice: Member, bob: Member, carol: Member) -> None:
    """Whatever brings a post, in whatever order, it stands once."""
    post = await carol.post("everywhere")
    await bob.repost(post)
    await carol.repost(post)
    await alice.follow(bob, carol)
    await alice.repost(post)
    await bob.do("unrepost", postId=post)
    await bob.repost(post)
    await alice.unfollow(carol)
    await alice.follow(carol)
    assert await lines(alice) == [(post, ["carol", "bob"])]


async def test_follows_merge_and_unfollows_unmerge(alice: Member, bob: Member, carol: Member) -> None:
    """A follow brings what was published before, each in its place; its end takes exactly that away again."""
    stranger = await carol.post("passed on by bob")
    posts = [await bob.post("bob 1"), await alice.post("alice 1")]
    await bob.repost(stranger)
    posts += [await bob.post("bob 2"), await alice.post("alice 2")]
    quote = await bob.repost(posts[1], "a quote of alice")
    await alice.follow(bob)
    merged = [quote, posts[3], posts[2], stranger, posts[1], posts[0]]
    assert await lines(alice) == [(post, ["bob"] if post == stranger else []) for post in merged]
    await alice.unfollow(bob)
    assert await lines(alice) == [(posts[3], []), (posts[1], [])]
    await alice.follow(bob)
    assert [post for post, _ in await lines(alice)] == merged


async def test_a_follower_removed_loses_the_posts(alice: Member, bob: Member) -> None:
    """Whom a member removes from their followers has none of their posts left."""
    await alice.follow(bob)
    await bob.post("for followers")
    await bob.do("removeFollowers", userIds=[alice.id])
    assert await lines(alice) == []
    await bob.post("for the others")
    assert await lines(alice) == []


@pytest.mark.parametrize("passed_on", [False, True])
async def test_what_is_gone_is_not_shown(
    services: Services, alice: Member, bob: Member, carol: Member, *, passed_on: bool
) -> None:
    """A post that is gone is not shown while its entry still stands, and the page is filled with older ones."""
    await alice.follow(bob)
    made = [await (carol if passed_on else bob).post(f"post {i}") for i in range(5)]
    if passed_on:
        for post in made:
            await bob.repost(post)
    await services.db.one("DEL", keys.status(number(made[3])), keys.status(number(made[2])))
    assert await alice.home("first: 3") == [made[4], made[1], made[0]]
    assert await alice.home("last: 3") == [made[4], made[1], made[0]]


async def test_a_repost_undone_whose_job_has_not_run(
    services: Services, alice: Member, bob: Member, carol: Member, worker: Worker
) -> None:
    """A repost that is undone names nobody and brings nothing from that moment on, before any home is changed."""
    await alice.follow(bob, carol)
    post, stranger = await alice.post("own"), await bob.post("from bob")
    await alice.unfollow(bob)
    reposts = [await carol.repost(post), await carol.repost(stranger)]
    assert await lines(alice) == [(stranger, ["carol"]), (post, ["carol"])]
    for repost in reposts:
        await posts.delete(services.db, number(repost), number(carol.id))
    assert await lines(alice) == [(post, [])]
    await work_off(services.db, worker)
    assert await lines(alice) == [(post, [])]


async def test_a_home_belongs_to_a_member(anonymous: Member, alice: Member) -> None:
    """Without a token there is no home timeline: UNAUTHENTICATED, and no data of anybody."""
    await alice.post("private matter")
    answer: dict[str, Any] = await anonymous.send(HOME)
    assert answer["data"] in (None, {"homeTimeline": None})
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["UNAUTHENTICATED"]
