"""Comments: counted exactly, each once, and only by permitted members."""

import asyncio
from typing import Any

import pytest

from store.client.database import Database
from tests.support.nodes import seen
from tests.support.people import Member, contents, crowd

COMMENT = "__typename id text createdAt author { login } post { id commentCount } replyTo { id text }"


async def commented(member: Member, post: str) -> tuple[int, list[str]]:
    """Return how many comments a post has, and their ids."""
    found = await seen(member, post, "commentCount comments(first: 100) { nodes { id } }")
    return found["commentCount"], [comment["id"] for comment in found["comments"]["nodes"]]


async def say(member: Member, post: str, text: str = "yes", **fields: Any) -> str:
    """Comment on a post; returns the comment's id."""
    payload = await member.do("comment", "comment { id }", postId=post, text=text, **fields)
    assert not payload["userErrors"], payload
    comment_id: str = payload["comment"]["id"]
    return comment_id


async def test_a_comment_is_answered_whole(alice: Member, bob: Member) -> None:
    """A comment is returned with its author and its post, which counts it, and can be fetched by its id."""
    post = await alice.post("hello")
    payload = await bob.do("comment", f"comment {{ {COMMENT} }} post {{ id commentCount }}", postId=post, text="yes")
    made = payload["comment"]
    assert made == {
        "__typename": "Comment",
        "id": made["id"],
        "text": "yes",
        "createdAt": made["createdAt"],
        "author": {"login": "bob"},
        "post": {"id": post, "commentCount": 1},
        "replyTo": None,
    }
    assert payload["post"] == made["post"]
    assert await seen(alice, made["id"], COMMENT) == made
    assert made["createdAt"] >= (await seen(alice, post, "createdAt"))["createdAt"]


async def test_comments_are_listed_newest_first(alice: Member, bob: Member, anonymous: Member) -> None:
    """A post's comments are listed newest first, by any author, and everybody sees them."""
    post, other = await alice.post("hello"), await alice.post("other")
    made = [await say(member, post, "yes") for member in (bob, alice, bob)]
    await say(bob, other)
    assert await commented(anonymous, post) == (3, made[::-1])


async def test_a_comment_answers_another_on_the_same_post(alice: Member, bob: Member) -> None:
    """`replyTo` is the comment answered; it becomes null when that one is deleted, and the reply stays."""
    post = await alice.post("hello")
    first = await say(bob, post, "first")
    answer = await say(alice, post, "answer", replyToId=first)
    assert (await seen(bob, answer, COMMENT))["replyTo"] == {"id": first, "text": "first"}
    await bob.do("deleteComment", commentId=first)
    assert (await seen(bob, answer, COMMENT))["replyTo"] is None
    assert await commented(bob, post) == (1, [answer])


@pytest.mark.parametrize("key", [{}, {"idempotencyKey": "key"}], ids=["no key", "key"])
async def test_what_cannot_be_answered_is_refused(
    db: Database, alice: Member, bob: Member, key: dict[str, str]
) -> None:
    """A reply to a comment elsewhere, a deleted one, or none is refused, and nothing is written."""
    post, other = await alice.post("hello"), await alice.post("other")
    elsewhere, gone = await say(bob, other), await say(bob, post)
    await bob.do("deleteComment", commentId=gone)
    before = await contents(db)
    table = {
        elsewhere: "NOT_FOUND",
        gone: "NOT_FOUND",
        "comment_00000000000001": "NOT_FOUND",
        post: "NOT_FOUND",
        bob.id: "NOT_FOUND",
        "": "INVALID",
        "nonsense": "INVALID",
        elsewhere[:-1]: "INVALID",
    }
    for entity_id, code in table.items():
        found = await bob.refused("comment", postId=post, text="answer", replyToId=entity_id, **key)
        assert found == (code, ["replyToId"]), entity_id
    assert await contents(db) == before
    assert await say(bob, post, "answer", **key)


async def test_the_answered_comment_belongs_to_the_input_of_a_key(alice: Member, bob: Member) -> None:
    """A key used for a comment is a CONFLICT when it is sent again with a reply to another comment."""
    post = await alice.post("hello")
    first = await say(alice, post)
    made = await say(bob, post, "yes", idempotencyKey="key", replyToId=first)
    assert await say(bob, post, "yes", idempotencyKey="key", replyToId=first) == made
    refused = await bob.refused("comment", postId=post, text="yes", idempotencyKey="key")
    assert refused == ("CONFLICT", ["idempotencyKey"])
    await alice.do("deleteComment", commentId=first)
    assert await say(bob, post, "yes", idempotencyKey="key", replyToId=first) == made


async def test_a_key_sent_to_two_posts_at_once_makes_one_comment(alice: Member, bob: Member) -> None:
    """Of simultaneous comments on many posts with one key, one succeeds, and the others are a CONFLICT."""
    targets = [await alice.post(f"post {i}") for i in range(8)]
    payloads = await asyncio.gather(
        *(bob.do("comment", postId=post, text="yes", idempotencyKey="key") for post in targets)
    )
    refusals = [[error["code"] for error in payload["userErrors"]] for payload in payloads]
    assert sorted(refusals) == [[], *[["CONFLICT"]] * 7]
    assert sorted([(await commented(bob, post))[0] for post in targets]) == [0, 0, 0, 0, 0, 0, 0, 1]


async def test_comments_by_many_at_once_are_all_counted(anonymous: Member, alice: Member) -> None:
    """Simultaneous comments of twenty members, two each, are counted and listed exactly."""
    members = await crowd(anonymous, 20)
    post = await alice.post("hello")
    made = await asyncio.gather(*(say(member, post) for member in members * 2))
    count, ids = await commented(alice, post)
    assert count == 40
    assert sorted(ids) == sorted(made)
    assert ids == sorted(ids, reverse=True)


@pytest.mark.parametrize(("who", "may"), [("bob", True), ("alice", True), ("carol", False)])
async def test_a_comment_is_deleted_by_its_author_or_the_posts(
    db: Database, alice: Member, bob: Member, carol: Member, who: str, may: bool
) -> None:
    """The author of a comment, or of the post below which it is, may delete it; a third member may not."""
    post = await alice.post("hello")
    comment, kept = await say(bob, post), await say(bob, post)
    await carol.repost(post)  # reposting a post makes nobody its author
    member = {"alice": alice, "bob": bob, "carol": carol}[who]
    before = await contents(db)
    payload = await member.do("deleteComment", "deletedCommentId post { id commentCount }", commentId=comment)
    if may:
        expected = {"deletedCommentId": comment, "post": {"id": post, "commentCount": 1}, "userErrors": []}
        assert payload == expected
        assert await seen(member, comment, "id") is None
        assert await commented(member, post) == (1, [kept])
        assert not [key for key in await contents(db) if key.endswith(f":{int(comment[-14:], 16)}")]
    else:
        assert (payload["deletedCommentId"], payload["post"]) == (None, None)
        assert [(error["code"], error["field"]) for error in payload["userErrors"]] == [("NOT_ALLOWED", ["commentId"])]
        assert await contents(db) == before


async def test_a_comment_is_deleted_once(alice: Member, bob: Member) -> None:
    """Of many simultaneous deletes of one comment one is answered as done, the others as NOT_FOUND."""
    post = await alice.post("hello")
    comment, kept = await say(bob, post), await say(bob, post)
    payloads = await asyncio.gather(*(m.do("deleteComment", commentId=comment) for m in (alice, bob) * 5))
    refusals = [[error["code"] for error in payload["userErrors"]] for payload in payloads]
    assert sorted(refusals) == [[], *[["NOT_FOUND"]] * 9]
    assert await bob.refused("deleteComment", commentId=comment) == ("NOT_FOUND", ["commentId"])
    assert await commented(bob, post) == (1, [kept])


async def test_comments_made_and_deleted_at_once_end_counted(alice: Member, bob: Member) -> None:
    """While some comments are added and others deleted, the count stays the size of the list."""
    post = await alice.post("hello")
    old = [await say(bob, post) for _ in range(10)]
    await asyncio.gather(*(say(alice, post) for _ in range(10)), *(bob.do("deleteComment", commentId=c) for c in old))
    count, ids = await commented(alice, post)
    assert count == len(ids) == 10
    assert not set(ids) & set(old)


async def test_comments_go_with_their_post(alice: Member, bob: Member) -> None:
    """A comment of a deleted post can no longer be seen, answered or deleted."""
    post = await alice.post("hello")
    comment = await say(bob, post)
    await alice.do("deletePost", postId=post)
    assert await seen(bob, comment, "id") is None
    assert await bob.refused("deleteComment", commentId=comment) == ("NOT_FOUND", ["commentId"])
    assert await bob.refused("comment", postId=post, text="yes") == ("NOT_FOUND", ["postId"])
    other = await alice.post("other")
    refused = await bob.refused("comment", postId=other, text="yes", replyToId=comment)
    assert refused == ("NOT_FOUND", ["replyToId"])


async def test_a_quote_has_comments_of_its_own(alice: Member, bob: Member) -> None:
    """A comment on a quote belongs to the quote, and its author may delete it there; the original has none."""
    post = await alice.post("hello")
    quote = await bob.repost(post, "see")
    comment = await say(alice, quote)
    assert await commented(alice, quote) == (1, [comment])
    assert await commented(alice, post) == (0, [])
    payload = await bob.do("deleteComment", "post { id }", commentId=comment)
    assert payload == {"post": {"id": quote}, "userErrors": []}
