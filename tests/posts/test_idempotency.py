"""Idempotency keys: a retry gets the first result."""

import asyncio
from typing import Any

import pytest

from store.client.database import Database
from tests.support.people import Member, contents
from tests.support.probes.posts import counts, delete, profile

KEYED = {
    "post": ("status { id }", "status"),
    "quote": ("repost { id }", "repost"),
    "plain repost": ("repost { id }", "repost"),
    "comment": ("comment { id }", "comment"),
}


async def keyed(member: Member, kind: str, post: str, text: str, key: str) -> Any:
    """Create a post with an idempotency key; returns its id, or code and field of the refusal."""
    selection, field = KEYED[kind]
    fields = {"idempotencyKey": key}
    if kind != "plain repost":
        fields["text"] = text
    if kind != "post":
        fields["postId"] = post
    payload = await member.do("repost" if field == "repost" else kind.split(maxsplit=1)[0], selection, **fields)
    if not payload["userErrors"]:
        return payload[field]["id"]
    assert payload[field] is None
    (error,) = payload["userErrors"]
    return error["code"], error["field"]


@pytest.mark.parametrize("kind", KEYED)
async def test_a_retry_gets_the_first_result(db: Database, alice: Member, bob: Member, kind: str) -> None:
    """The same key and input answers with the first result and writes nothing more."""
    post = await alice.post("original")
    first = await keyed(bob, kind, post, "hello", "key")
    before = await contents(db)
    assert await keyed(bob, kind, post, " hello ", "key") == first  # the same after trimming
    assert await contents(db) == before
    if kind != "plain repost":
        assert await keyed(bob, kind, post, "hello", "another") != first


@pytest.mark.parametrize("kind", KEYED)
async def test_twenty_retries_at_once_make_one(alice: Member, bob: Member, kind: str) -> None:
    """Any number of simultaneous retries create one post, and all get it."""
    post = await alice.post("original")
    found = await asyncio.gather(*(keyed(bob, kind, post, "hello", "key") for _ in range(20)))
    assert len(set(found)) == 1
    posts, ids = await profile(bob, "bob")
    assert (posts, ids) == ((0, []) if kind == "comment" else (1, [found[0]]))
    assert sum(await counts(bob, post)) == (0 if kind == "post" else 1)


@pytest.mark.parametrize("kind", KEYED)
async def test_a_key_with_other_input_is_a_conflict(db: Database, alice: Member, bob: Member, kind: str) -> None:
    """A key used again for other input is refused, and nothing is written."""
    post, other = await alice.post("original"), await alice.post("another")
    await keyed(bob, kind, post, "hello", "key")
    before = await contents(db)
    conflict = ("CONFLICT", ["idempotencyKey"])
    if kind != "plain repost":
        assert await keyed(bob, kind, post, "good bye", "key") == conflict
    if kind != "post":
        assert await keyed(bob, kind, other, "hello", "key") == conflict
    assert await contents(db) == before


async def test_a_key_is_kept_for_a_repost_that_existed_already(alice: Member, bob: Member) -> None:
    """A plain repost answered with an existing one uses its key like any other."""
    post, other = await alice.post("original"), await alice.post("another")
    existing = await bob.repost(post)
    assert await keyed(bob, "plain repost", post, "", "key") == existing
    assert await keyed(bob, "plain repost", other, "", "key") == ("CONFLICT", ["idempotencyKey"])


async def test_a_key_belongs_to_one_member_and_mutation(alice: Member, bob: Member) -> None:
    """The same key in another mutation, or by another member, creates an entity of its own."""
    post = await alice.post("original")
    kinds = ("post", "quote", "comment")
    made = [await keyed(member, kind, post, "hello", "key") for member in (alice, bob) for kind in kinds]
    assert all(isinstance(entity_id, str) for entity_id in made)
    assert len(set(made)) == 6


@pytest.mark.parametrize("kind", KEYED)
async def test_a_retry_of_what_was_deleted_finds_nothing(db: Database, alice: Member, bob: Member, kind: str) -> None:
    """Once the first result is deleted, its key answers NOT_FOUND and creates nothing."""
    post = await alice.post("original")
    first = await keyed(bob, kind, post, "hello", "key")
    await (bob.do("deleteComment", commentId=first) if kind == "comment" else delete(bob, first))
    before = await contents(db)
    assert await keyed(bob, kind, post, "hello", "key") == ("NOT_FOUND", None)
    assert await contents(db) == before


@pytest.mark.parametrize("kind", KEYED)
@pytest.mark.parametrize("key", ["", "k" * 65], ids=["empty", "65 characters"])
async def test_a_key_has_1_to_64_characters(db: Database, alice: Member, kind: str, key: str) -> None:
    """A key that is empty or too long is refused and nothing is written; 64 characters of any kind are taken."""
    post = await alice.post("original")
    before = await contents(db)
    assert await keyed(alice, kind, post, "hello", key) == ("INVALID", ["idempotencyKey"])
    assert await contents(db) == before
    longest = await keyed(alice, kind, post, "hello", ": 😀" + "k" * 61)
    assert await keyed(alice, kind, post, "hello", ": 😀" + "k" * 61) == longest


async def test_a_quote_is_found_again_when_its_original_is_gone(alice: Member, bob: Member) -> None:
    """A retry of a quote gets the quote even after its original was deleted."""
    post = await alice.post("original")
    quote = await keyed(bob, "quote", post, "hello", "key")
    await delete(alice, post)
    assert await keyed(bob, "quote", post, "hello", "key") == quote


async def test_a_refusal_leaves_the_key_free(alice: Member, bob: Member) -> None:
    """A key sent with input that was refused can be used for the corrected input."""
    post = await alice.post("original")
    gone = await alice.post("gone")
    await delete(alice, gone)
    for kind in ("quote", "comment"):
        assert await keyed(bob, kind, gone, "hello", "key") == ("NOT_FOUND", ["postId"])
        assert isinstance(await keyed(bob, kind, post, "hello", "key"), str)
