"""Plain reposts and quotes: created once, listed, undone."""

import asyncio

import pytest

from store.client.database import Database
from tests.support.people import Member, contents, crowd
from tests.support.probes.posts import COUNTS, POST, counts, listed, profile, public, seen

REPOST = f"{POST} original {{ {POST} }}"
LISTS = """
likedBy { nodes { login } } reposts { nodes { id } } quotes { nodes { id } } comments { nodes { id } }
"""


async def test_a_plain_repost_passes_its_original_on(alice: Member, bob: Member) -> None:
    """A plain repost has no text, is listed in its author's profile, and its original counts and lists it."""
    post = await alice.post("hello #tag @bob")
    payload = await bob.do("repost", f"repost {{ {REPOST} }} original {{ {POST} }}", postId=post)
    repost, original = payload["repost"], payload["original"]
    assert (repost["__typename"], repost["text"], repost["hashtags"], repost["mentions"]) == ("Repost", "", [], [])
    assert repost["author"] == {"id": bob.id, "login": "bob", "postCount": 1}
    assert repost["original"] == original == await seen(bob, post)
    assert (original["id"], original["repostCount"], original["viewerHasReposted"]) == (post, 1, True)
    assert not (await seen(alice, post))["viewerHasReposted"]
    assert await listed(alice, post, "reposts") == [repost["id"]]
    assert await listed(alice, post, "quotes") == []
    assert await profile(alice, "bob") == (1, [repost["id"]])
    assert await public(alice) == [post]


async def test_a_member_reposts_a_post_plainly_once(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A second plain repost by the same member is the first one; another member gets their own."""
    post = await alice.post("hello")
    first = await bob.repost(post)
    before = await contents(db)
    assert await bob.repost(post) == first
    assert await bob.repost(post, " \u200b\n") == first
    payload = await bob.do("repost", "repost { id }", postId=post, text=None)
    assert payload["repost"]["id"] == first
    assert await contents(db) == before
    other = await carol.repost(post)
    assert await listed(alice, post, "reposts") == [other, first]
    assert await counts(alice, post) == (0, 2, 0, 0)


async def test_twenty_plain_reposts_at_once_are_one(alice: Member, bob: Member) -> None:
    """Any number of simultaneous plain reposts of one post by a member create one."""
    post = await alice.post("hello")
    found = await asyncio.gather(*(bob.repost(post) for _ in range(20)))
    assert len(set(found)) == 1
    assert await counts(alice, post) == (0, 1, 0, 0)
    assert await profile(alice, "bob") == (1, [found[0]])


async def test_members_reposting_at_once_are_all_counted(anonymous: Member, alice: Member) -> None:
    """Simultaneous plain reposts and quotes by twenty members are counted exactly."""
    members = await crowd(anonymous, 20)
    post = await alice.post("hello")
    made = await asyncio.gather(
        *(member.repost(post) for member in members), *(member.repost(post, "see") for member in members)
    )
    assert await counts(alice, post) == (0, 20, 20, 0)
    assert await listed(alice, post, "reposts") == sorted(made[:20], key=placed, reverse=True)
    assert await listed(alice, post, "quotes") == sorted(made[20:], key=placed, reverse=True)


def placed(post_id: str) -> str:
    """Return the sort key that orders ids of one kind by time: they have equally many digits."""
    return post_id.partition("_")[2]


async def test_reposts_and_their_undoing_at_once_end_counted(anonymous: Member, alice: Member) -> None:
    """For reposts and unreposts of the same members in any order, count, list and flags agree."""
    members = await crowd(anonymous, 10)
    post = await alice.post("hello")
    acts = [member.do(act, postId=post) for member in members for act in ("repost", "unrepost", "repost", "unrepost")]
    await asyncio.gather(*acts)
    listing = await listed(alice, post, "reposts")
    flags = [(await seen(member, post))["viewerHasReposted"] for member in members]
    posts = [(await profile(alice, member.login))[0] for member in members]
    assert (await counts(alice, post))[1] == len(listing) == sum(flags) == sum(posts)


async def test_a_quote_is_a_post_of_its_own(alice: Member, bob: Member) -> None:
    """A member may quote a post repeatedly; each quote has its own counts and is counted separately."""
    post = await alice.post("hello")
    quotes = [await bob.repost(post, text) for text in ("first", "second", "first")]
    assert len(set(quotes)) == 3
    assert await counts(alice, post) == (0, 0, 3, 0)
    assert await listed(alice, post, "quotes") == quotes[::-1]
    assert await listed(alice, post, "reposts") == []
    assert not (await seen(bob, post))["viewerHasReposted"]
    await alice.do("like", postId=quotes[0])
    quote = await seen(bob, quotes[0], f"{COUNTS} ... on Repost {{ original {{ id {COUNTS} }} }}")
    assert (quote["likeCount"], quote["original"]["likeCount"], quote["original"]["id"]) == (1, 0, post)
    assert await profile(alice, "bob") == (3, quotes[::-1])
    assert await public(alice) == [*quotes[::-1], post]


async def test_a_quote_can_itself_be_passed_on(alice: Member, bob: Member, carol: Member) -> None:
    """A repost of a quote has the quote as its original, and the quoted post does not count it."""
    post = await alice.post("hello")
    quote = await bob.repost(post, "see")
    payload = await carol.do("repost", "original { id repostCount }", postId=quote)
    assert payload["original"] == {"id": quote, "repostCount": 1}
    assert await counts(alice, post) == (0, 0, 1, 0)


@pytest.mark.parametrize("text", ["", "see"], ids=["plainly", "as a quote"])
async def test_reposting_a_plain_repost_reposts_its_original(
    alice: Member, bob: Member, carol: Member, text: str
) -> None:
    """A repost or quote of a plain repost is one of its original."""
    post = await alice.post("hello")
    passed_on = await bob.repost(post)
    payload = await carol.do("repost", "repost { id original { id } } original { id }", postId=passed_on, text=text)
    assert payload["repost"]["original"] == payload["original"] == {"id": post}
    made = payload["repost"]["id"]
    assert await listed(alice, post, "quotes" if text else "reposts") == ([made] if text else [made, passed_on])
    if not text:
        assert await carol.repost(post) == made


async def test_acting_on_a_plain_repost_acts_on_its_original(alice: Member, bob: Member, carol: Member) -> None:
    """Likes, comments and quotes of a plain repost go to its original, whose counts, flags and lists it shows."""
    post = await alice.post("hello")
    repost = await bob.repost(post)
    liked = await carol.do("like", "post { id likeCount viewerHasLiked }", postId=repost)
    assert liked["post"] == {"id": post, "likeCount": 1, "viewerHasLiked": True}
    commented = await carol.do("comment", "post { id } comment { id post { id } }", postId=repost, text="yes")
    assert commented["post"] == commented["comment"]["post"] == {"id": post}
    await carol.repost(repost, "see")
    await carol.repost(repost)
    shown = f"{COUNTS} viewerHasLiked viewerHasReposted {LISTS}"
    for member in (alice, bob, carol):
        assert await seen(member, repost, shown) == await seen(member, post, shown)
    assert await counts(bob, repost) == (1, 2, 1, 1)
    await carol.do("unlike", postId=repost)
    await carol.do("deleteComment", commentId=commented["comment"]["id"])
    assert await counts(bob, repost) == await counts(bob, post) == (0, 2, 1, 0)


async def test_members_may_repost_their_own(alice: Member) -> None:
    """Members can repost and quote their own posts; the plain repost lists nothing twice in their home."""
    post = await alice.post("hello")
    repost, quote = await alice.repost(post), await alice.repost(post, "again")
    assert await counts(alice, post) == (0, 1, 1, 0)
    assert await profile(alice, "alice") == (3, [quote, repost, post])
    assert await alice.home() == [quote, post]


@pytest.mark.parametrize("by", ["original", "repost"])
async def test_unrepost_takes_the_plain_repost_back(alice: Member, bob: Member, by: str) -> None:
    """Named by its original or by itself, a plain repost is undone and leaves no count behind."""
    post = await alice.post("hello")
    repost, quote = await bob.repost(post), await bob.repost(post, "see")
    named = post if by == "original" else repost
    payload = await bob.do("unrepost", f"post {{ {POST} }}", postId=named)
    assert payload["userErrors"] == []
    assert payload["post"] == await seen(bob, post)
    assert not payload["post"]["viewerHasReposted"]
    assert await counts(bob, post) == (0, 0, 1, 0)
    assert await listed(bob, post, "reposts") == []
    assert await seen(bob, repost) is None
    assert await profile(alice, "bob") == (1, [quote])


async def test_unrepost_of_nothing_changes_nothing(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Undoing a repost twice, or one that was never made, is no error and writes nothing."""
    post = await alice.post("hello")
    await bob.repost(post, "a quote")
    others = await carol.repost(post)
    await bob.repost(post)
    await bob.do("unrepost", postId=post)
    before = await contents(db)
    for member, named in ((bob, post), (bob, others), (alice, post)):
        payload = await member.do("unrepost", "post { id repostCount }", postId=named)
        assert payload == {"post": {"id": post, "repostCount": 1}, "userErrors": []}
    assert await contents(db) == before


async def test_a_post_can_be_reposted_again(alice: Member, bob: Member) -> None:
    """A plain repost after an undone one is new, and counted once."""
    post = await alice.post("hello")
    first = await bob.repost(post)
    await bob.do("unrepost", postId=post)
    second = await bob.repost(post)
    assert second != first
    assert await listed(alice, post, "reposts") == [second]
    assert await counts(alice, post) == (0, 1, 0, 0)
