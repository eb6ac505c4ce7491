"""The home timeline: each post once, at the smallest id among its sources, with its reposters."""

from typing import Any

import pytest

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
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
    """Return a home's posts, each with the logins of its reposters."""
    page = await member.ask(HOME)
    assert all(edge["repostedByCount"] == len(edge["repostedBy"]) for edge in page["edges"])
    return [(edge["node"]["id"], [source["user"]["login"] for source in edge["repostedBy"]]) for edge in page["edges"]]


async def test_own_posts(alice: Member, bob: Member) -> None:
    """A member's own posts and quotes are listed in their home, and no posts of members they don't follow."""
    foreign = await bob.post("not for alice")
    post = await alice.post("first")
    quote = await alice.repost(foreign, "look")
    assert await lines(alice) == [(quote, []), (post, [])]


async def test_posts_of_the_followed(alice: Member, bob: Member, carol: Member) -> None:
    """Posts and quotes of followed members are listed newest first, among the member's own."""
    await alice.follow(bob, carol)
    made = [await bob.post("one"), await alice.post("two"), await carol.post("three")]
    made.append(await bob.repost(made[2], "four, a quote"))
    assert await lines(alice) == [(post, []) for post in reversed(made)]
    assert await lines(bob) == [(made[3], []), (made[0], [])]


async def test_a_post_that_was_passed_on(alice: Member, bob: Member, carol: Member) -> None:
    """A stranger's post is listed at a followed member's repost, which is named with its time."""
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
    """A post with several reposts is listed once, at the first, with all reposters named in order."""
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
    """A post whose author is followed keeps its own place when anybody reposts it, even its author."""
    await alice.follow(bob, carol)
    post = await bob.post("mine")
    later = await carol.post("later")
    await carol.repost(post)
    await bob.repost(post)
    assert await lines(alice) == [(later, []), (post, ["carol", "bob"])]


async def test_an_author_followed_later(alice: Member, bob: Member, carol: Member) -> None:
    """Following the author moves a post from a repost's place to its own place."""
    await alice.follow(bob)
    post = await carol.post("early")
    between = await bob.post("between")
    await bob.repost(post)
    assert await lines(alice) == [(post, ["bob"]), (between, [])]
    await alice.follow(carol)
    assert await lines(alice) == [(between, []), (post, ["bob"])]


async def test_an_author_unfollowed(alice: Member, bob: Member, carol: Member) -> None:
    """Unfollowing the author moves a post to a followed member's repost, and removes the author's other posts."""
    await alice.follow(bob, carol)
    post = await carol.post("passed on")
    await carol.post("not passed on")
    between = await bob.post("between")
    await bob.repost(post)
    await alice.unfollow(carol)
    assert await lines(alice) == [(post, ["bob"]), (between, [])]


async def test_a_reposter_unfollowed(alice: Member, bob: Member, carol: Member, anonymous: Member) -> None:
    """Unfollowing a reposter moves a post to the next repost, and removes it when none is left."""
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
    """Undoing a repost moves the post to the next repost, and removes it when none is left."""
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
    """If the author is followed, undoing a repost leaves the post at its place."""
    await alice.follow(bob, carol)
    post = await bob.post("mine")
    await carol.repost(post)
    await carol.do("unrepost", postId=post)
    assert await lines(alice) == [(post, [])]


async def test_an_original_deleted(alice: Member, bob: Member, carol: Member) -> None:
    """A deleted post leaves every home with all its reposts; quotes of it stay, with no original."""
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


async def test_quotes_are_posts_of_their_own(alice: Member, bob: Member, carol: Member) -> None:
    """A quote is listed beside its original, adds nobody else's post to a home, and can be reposted itself."""
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
    """A member's own repost adds nothing to their own home and is no source there; their profile lists it."""
    await alice.follow(bob)
    stranger, friend = await carol.post("from a stranger"), await bob.post("from a friend")
    reposts = [await alice.repost(stranger), await alice.repost(friend)]
    own = await alice.post("own")
    reposts.append(await alice.repost(own))
    assert await lines(alice) == [(own, []), (friend, [])]
    profile = (await alice.ask(PROFILE))["user"]["timeline"]["nodes"]
    assert [node["id"] for node in profile] == [reposts[2], own, reposts[1], reposts[0]]


async def test_ones_own_post_passed_on(alice: Member, bob: Member, carol: Member) -> None:
    """When a followed member reposts a member's own post, it keeps its place and names them, not strangers."""
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
    """A repost of a plain repost is a repost of the original."""
    await alice.follow(bob)
    post = await carol.post("words")
    again = await bob.repost(await carol.repost(post))
    assert await lines(alice) == [(post, ["bob"])]
    original = await alice.ask("query($id: ID!) { node(id: $id) { ... on Repost { original { id } } } }", id=again)
    assert original == {"original": {"id": post}}


async def test_never_two_entries(alice: Member, bob: Member, carol: Member) -> None:
    """A post with any sources, in any order, is listed once."""
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
    """A follow adds what was published before, each at its place; its end removes exactly that."""
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
    """A member removed as a follower has none of the remover's posts left."""
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
    """A missing post is not shown though its entry still exists, and older posts fill the page."""
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
    """An undone repost is neither a source nor named from that moment on, before any stored home is changed."""
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
