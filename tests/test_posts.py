"""Statuses, quotes and plain reposts: made once, passed on, deleted for good."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from resolvers import fanout, identity
from resolvers.context import Services
from resolvers.fanout import Worker
from store import posts
from store.connection import Database
from store.settings import Settings
from tests.conftest import Member, contents, crowd, shrunk

INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
COUNTS = "likeCount repostCount quoteCount commentCount"
POST = f"""
__typename id text createdAt {COUNTS} viewerHasLiked viewerHasReposted hashtags mentions {{ login }}
author {{ id login postCount }}
"""
REPOST = f"{POST} original {{ {POST} }}"
LISTS = """
likedBy { nodes { login } } reposts { nodes { id } } quotes { nodes { id } } comments { nodes { id } }
"""
NODES = "nodes { ... on Node { id } }"


@pytest.fixture
async def heir(settings: Settings) -> AsyncIterator[Worker]:
    """Takes over at once what another process has begun, as if its lease had run out."""
    database = Database(settings.redis_url, shrunk(settings, job_lease_seconds=0))
    yield Worker(database)
    await database.close()


def number(thing: str) -> int:
    """Return the number in a global id."""
    found = identity.read(thing)
    assert found
    return found[1]


async def seen(member: Member, thing: str, selection: str = POST) -> Any:
    """Return a post as a member sees it, None where there is none."""
    return await member.ask(f"query($id: ID!) {{ node(id: $id) {{ ... on Post {{ {selection} }} }} }}", id=thing)


async def counts(member: Member, thing: str) -> tuple[int, int, int, int]:
    """Return likes, plain reposts, quotes and comments of a post."""
    post = await seen(member, thing, COUNTS)
    return post["likeCount"], post["repostCount"], post["quoteCount"], post["commentCount"]


async def listed(member: Member, thing: str, field: str) -> list[str]:
    """Return the ids in one of a post's lists."""
    post = await seen(member, thing, f"list: {field}(first: 100) {{ nodes {{ id }} }}")
    return [node["id"] for node in post["list"]["nodes"]]


async def profile(member: Member, login: str) -> tuple[int, list[str]]:
    """Return how many posts a member has, and their ids."""
    query = f"query($l: String!) {{ user(login: $l) {{ postCount timeline(first: 100) {{ {NODES} }} }} }}"
    user = await member.ask(query, l=login)
    return user["postCount"], [node["id"] for node in user["timeline"]["nodes"]]


async def public(member: Member) -> list[str]:
    """Return the ids of the public timeline."""
    page = await member.ask(f"{{ publicTimeline(first: 100) {{ {NODES} }} }}")
    return [node["id"] for node in page["nodes"]]


async def tagged(member: Member, name: str) -> tuple[int, list[str]] | None:
    """Return how many posts carry a tag, and their ids; None for a tag nothing carries."""
    query = f"query($n: String!) {{ hashtag(name: $n) {{ postCount timeline(first: 100) {{ {NODES} }} }} }}"
    tag = await member.ask(query, n=name)
    return tag and (tag["postCount"], [node["id"] for node in tag["timeline"]["nodes"]])


async def delete(member: Member, thing: str) -> None:
    """Delete a post of the member's own."""
    payload = await member.do("deletePost", "deletedPostId", postId=thing)
    assert payload == {"deletedPostId": thing, "userErrors": []}


# ---- publishing


async def test_a_new_status_is_answered_whole(alice: Member) -> None:
    """A status comes back with its author, its instant in milliseconds and nothing counted yet."""
    made = (await alice.do("post", f"status {{ {POST} }}", text="hello"))["status"]
    assert made == {
        "__typename": "Status",
        "id": made["id"],
        "text": "hello",
        "createdAt": made["createdAt"],
        **dict.fromkeys(COUNTS.split(), 0),
        "viewerHasLiked": False,
        "viewerHasReposted": False,
        "hashtags": [],
        "mentions": [],
        "author": {"id": alice.id, "login": "alice", "postCount": 1},
    }
    assert INSTANT.fullmatch(made["createdAt"])
    assert abs(datetime.now(UTC) - datetime.fromisoformat(made["createdAt"])) < timedelta(minutes=1)
    assert await seen(alice, made["id"]) == made


async def test_a_status_stands_in_every_timeline_it_belongs_to(alice: Member, bob: Member, anonymous: Member) -> None:
    """A status is in its author's profile and home, in followers' homes, in public and under its tags."""
    await bob.follow(alice)
    older, newer = await alice.post("one #tag"), await alice.post("two #tag #tag")
    expected = [newer, older]
    assert await profile(anonymous, "alice") == (2, expected)
    assert await public(anonymous) == expected
    assert await tagged(anonymous, "tag") == (2, expected)
    assert await alice.home() == expected
    assert await bob.home() == expected


TEXTS_REFUSED = {
    "empty": ("", "BLANK"),
    "white space": (" \t\r\n\u3000\u2028", "BLANK"),
    "zero width": ("\u200b\ufeff\u2060", "BLANK"),
    "501 characters": ("x" * 501, "TOO_LONG"),
    "501 in normal form": ("e\u0301" * 501, "TOO_LONG"),
    "501 emoji": ("😀" * 501, "TOO_LONG"),
    "far too long": ("x" * 100_000, "TOO_LONG"),
    "NUL": ("a\0b", "INVALID"),
    "escape": ("a\x1bb", "INVALID"),
    "delete": ("a\x7fb", "INVALID"),
    "next line": ("a\x85b", "INVALID"),
    "noncharacter": ("a\uffffb", "INVALID"),
}


@pytest.mark.parametrize(("text", "code"), TEXTS_REFUSED.values(), ids=TEXTS_REFUSED)
async def test_a_refused_text_changes_nothing(db: Database, alice: Member, bob: Member, text: str, code: str) -> None:
    """A text that breaks a rule is refused in posts, quotes and comments alike, and nothing at all is written."""
    post = await alice.post("original")
    before = await contents(db)
    assert await bob.refused("post", text=text, idempotencyKey="key") == (code, ["text"])
    assert await bob.refused("comment", postId=post, text=text, idempotencyKey="key") == (code, ["text"])
    if code != "BLANK":  # without text it is a plain repost
        assert await bob.refused("repost", postId=post, text=text, idempotencyKey="key") == (code, ["text"])
    assert await contents(db) == before


TEXTS_KEPT = {
    "NFC": ("cafe\u0301", "caf\xe9"),
    "trimmed": ("\u3000 \n hi \u200b\n", "hi"),
    "lines": ("a\r\nb\rc\n\td", "a\nb\nc\n\td"),
    "500 characters": ("x" * 500, "x" * 500),
    "500 after trimming": (f"   {'x' * 500}   ", "x" * 500),
    "500 in normal form": ("e\u0301" * 500, "\xe9" * 500),
    "500 emoji": ("😀" * 500, "😀" * 500),
    "markup": ('<b>"&\\', '<b>"&\\'),
}


@pytest.mark.parametrize(("text", "kept"), TEXTS_KEPT.values(), ids=TEXTS_KEPT)
async def test_a_text_is_kept_in_normal_form(alice: Member, text: str, kept: str) -> None:
    """Posts, quotes and comments keep their text in NFC, trimmed and with plain line ends."""
    payload = await alice.do("post", "status { id text }", text=text)
    assert payload["status"]["text"] == kept
    post = payload["status"]["id"]
    assert (await alice.do("repost", "repost { text }", postId=post, text=text))["repost"]["text"] == kept
    assert (await alice.do("comment", "comment { text }", postId=post, text=text))["comment"]["text"] == kept


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("nobody here", []),
        ("@bob", ["bob"]),
        ("hi @BoB and @ALICE, @ghost!", ["bob", "alice"]),
        ("@bob @carol @bob @Carol", ["bob", "carol", "bob", "carol"]),
        ("mail bob@example.org, @bobby @bob_", []),
        ("(@carol)", ["carol"]),
    ],
)
@pytest.mark.usefixtures("bob", "carol")
async def test_mentions_name_existing_members(alice: Member, text: str, named: list[str]) -> None:
    """Mentions are the members that exist, in whatever case, in order and as often as they are named."""
    status = (await alice.do("post", "status { id text mentions { login } }", text=text))["status"]
    assert [user["login"] for user in status["mentions"]] == named
    assert status["text"] == text
    quote = (await alice.do("repost", "repost { mentions { login } }", postId=status["id"], text=text))["repost"]
    assert [user["login"] for user in quote["mentions"]] == named


async def test_a_mention_stays_with_its_member(alice: Member, bob: Member) -> None:
    """A mention follows its member to a new login, and the login given up names nobody from then on."""
    old = await alice.post("hello @bob")
    await bob.do("updateProfile", login="robert")
    new = await alice.post("hello @bob and @Robert")
    assert (await seen(alice, old))["mentions"] == [{"login": "robert"}]
    assert (await seen(alice, new))["mentions"] == [{"login": "robert"}]


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("#Redis and #redis, #REDIS!", ["redis", "redis", "redis"]),
        ("#日本語 #Größe #a_1 #1a", ["日本語", "größe", "a_1", "1a"]),
        ("# #1 #_ a#b &#c; https://example.org/#d", []),
        ("\uff03wide #cafe\u0301", ["wide", "caf\xe9"]),
    ],
)
async def test_hashtags_are_listed_as_often_as_they_stand(alice: Member, text: str, tags: list[str]) -> None:
    """Tags are lower-cased, in order and repeated, and each tag's timeline has the post once."""
    status = (await alice.do("post", "status { id hashtags }", text=text))["status"]
    assert status["hashtags"] == tags
    for tag in tags:
        for name in (tag, f"#{tag}", tag.title()):
            assert await tagged(alice, name) == (1, [status["id"]])


async def test_a_quote_carries_tags_and_a_plain_repost_none(alice: Member, bob: Member) -> None:
    """A tag's timeline has the quotes that carry it, and no plain repost of what carries it."""
    post = await alice.post("look #tag")
    await bob.repost(post)
    quote = await bob.repost(post, "see #tag")
    assert await tagged(alice, "tag") == (2, [quote, post])
    assert await tagged(alice, "other") is None


# ---- retries

KEYED = {
    "post": ("status { id }", "status"),
    "quote": ("repost { id }", "repost"),
    "plain repost": ("repost { id }", "repost"),
    "comment": ("comment { id }", "comment"),
}


async def keyed(member: Member, kind: str, post: str, text: str, key: str) -> Any:
    """Make something with an idempotency key; returns its id, or code and field of the refusal."""
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
    assert await keyed(bob, kind, post, " hello ", "key") == first  # the same once trimmed
    assert await contents(db) == before
    if kind != "plain repost":
        assert await keyed(bob, kind, post, "hello", "another") != first


@pytest.mark.parametrize("kind", KEYED)
async def test_twenty_retries_at_once_make_one(alice: Member, bob: Member, kind: str) -> None:
    """However many retries run at the same moment, one thing is made and all get it."""
    post = await alice.post("original")
    found = await asyncio.gather(*(keyed(bob, kind, post, "hello", "key") for _ in range(20)))
    assert len(set(found)) == 1
    posts, ids = await profile(bob, "bob")
    assert (posts, ids) == ((0, []) if kind == "comment" else (1, [found[0]]))
    assert sum(await counts(bob, post)) == (0 if kind == "post" else 1)


@pytest.mark.parametrize("kind", KEYED)
async def test_a_key_with_other_input_is_a_conflict(db: Database, alice: Member, bob: Member, kind: str) -> None:
    """A key used again for something else is refused, and nothing is written."""
    post, other = await alice.post("original"), await alice.post("another")
    await keyed(bob, kind, post, "hello", "key")
    before = await contents(db)
    conflict = ("CONFLICT", ["idempotencyKey"])
    if kind != "plain repost":
        assert await keyed(bob, kind, post, "good bye", "key") == conflict
    if kind != "post":
        assert await keyed(bob, kind, other, "hello", "key") == conflict
    assert await contents(db) == before


async def test_a_key_is_kept_for_a_repost_that_stood_already(alice: Member, bob: Member) -> None:
    """A plain repost answered with the one that stood takes its key like any other."""
    post, other = await alice.post("original"), await alice.post("another")
    standing = await bob.repost(post)
    assert await keyed(bob, "plain repost", post, "", "key") == standing
    assert await keyed(bob, "plain repost", other, "", "key") == ("CONFLICT", ["idempotencyKey"])


async def test_a_key_belongs_to_one_member_and_mutation(alice: Member, bob: Member) -> None:
    """The same key in another mutation, or by another member, makes a thing of its own."""
    post = await alice.post("original")
    kinds = ("post", "quote", "comment")
    made = [await keyed(member, kind, post, "hello", "key") for member in (alice, bob) for kind in kinds]
    assert all(isinstance(thing, str) for thing in made)
    assert len(set(made)) == 6


@pytest.mark.parametrize("kind", KEYED)
async def test_a_retry_of_what_was_deleted_finds_nothing(db: Database, alice: Member, bob: Member, kind: str) -> None:
    """Once the first result is deleted, its key answers NOT_FOUND and makes nothing anew."""
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
    """The retry of a quote gets it also after what it quotes was deleted."""
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


# ---- reposts


async def test_a_plain_repost_passes_its_original_on(alice: Member, bob: Member) -> None:
    """A plain repost has no text, stands in its author's profile, and its original counts and lists it."""
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
    """A second plain repost by the same member is the first one; another member makes their own."""
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
    """However many plain reposts of one post a member sends at the same moment, one is made."""
    post = await alice.post("hello")
    found = await asyncio.gather(*(bob.repost(post) for _ in range(20)))
    assert len(set(found)) == 1
    assert await counts(alice, post) == (0, 1, 0, 0)
    assert await profile(alice, "bob") == (1, [found[0]])


async def test_members_reposting_at_once_are_all_counted(anonymous: Member, alice: Member) -> None:
    """Plain reposts and quotes by twenty members at the same moment are counted exactly."""
    members = await crowd(anonymous, 20)
    post = await alice.post("hello")
    made = await asyncio.gather(
        *(member.repost(post) for member in members), *(member.repost(post, "see") for member in members)
    )
    assert await counts(alice, post) == (0, 20, 20, 0)
    assert await listed(alice, post, "reposts") == sorted(made[:20], key=placed, reverse=True)
    assert await listed(alice, post, "quotes") == sorted(made[20:], key=placed, reverse=True)


def placed(thing: str) -> str:
    """Return what orders ids of one kind by time: they have as many digits each."""
    return thing.partition("_")[2]


async def test_reposts_and_their_undoing_at_once_end_counted(anonymous: Member, alice: Member) -> None:
    """Whatever order reposts and unreposts of the same members come in, count, list and flags agree."""
    members = await crowd(anonymous, 10)
    post = await alice.post("hello")
    acts = [member.do(act, postId=post) for member in members for act in ("repost", "unrepost", "repost", "unrepost")]
    await asyncio.gather(*acts)
    listing = await listed(alice, post, "reposts")
    flags = [(await seen(member, post))["viewerHasReposted"] for member in members]
    posts = [(await profile(alice, member.login))[0] for member in members]
    assert (await counts(alice, post))[1] == len(listing) == sum(flags) == sum(posts)


async def test_a_quote_is_a_post_of_its_own(alice: Member, bob: Member) -> None:
    """A member may quote a post again and again; each quote has its own numbers and is counted apart."""
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
    """A repost of a quote has the quote as its original, and the quoted post counts nothing of it."""
    post = await alice.post("hello")
    quote = await bob.repost(post, "see")
    payload = await carol.do("repost", "original { id repostCount }", postId=quote)
    assert payload["original"] == {"id": quote, "repostCount": 1}
    assert await counts(alice, post) == (0, 0, 1, 0)


@pytest.mark.parametrize("text", ["", "see"], ids=["plainly", "as a quote"])
async def test_reposting_a_plain_repost_reposts_its_original(
    alice: Member, bob: Member, carol: Member, text: str
) -> None:
    """A repost or quote of a plain repost is one of the post that it passes on."""
    post = await alice.post("hello")
    passed_on = await bob.repost(post)
    payload = await carol.do("repost", "repost { id original { id } } original { id }", postId=passed_on, text=text)
    assert payload["repost"]["original"] == payload["original"] == {"id": post}
    made = payload["repost"]["id"]
    assert await listed(alice, post, "quotes" if text else "reposts") == ([made] if text else [made, passed_on])
    if not text:
        assert await carol.repost(post) == made


async def test_acting_on_a_plain_repost_acts_on_its_original(alice: Member, bob: Member, carol: Member) -> None:
    """Likes, comments and quotes of a plain repost go to its original, whose numbers, flags and lists it shows."""
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
    """A member can pass on and quote what they wrote; the plain repost brings nothing twice to their home."""
    post = await alice.post("hello")
    repost, quote = await alice.repost(post), await alice.repost(post, "again")
    assert await counts(alice, post) == (0, 1, 1, 0)
    assert await profile(alice, "alice") == (3, [quote, repost, post])
    assert await alice.home() == [quote, post]


@pytest.mark.parametrize("by", ["original", "repost"])
async def test_unrepost_takes_the_plain_repost_back(alice: Member, bob: Member, by: str) -> None:
    """Named by its original or by itself, a plain repost is taken back and leaves no number behind."""
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
    """Taking a repost back twice, or one that was never made, is no error and writes nothing."""
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
    """After it was taken back, a plain repost is a new one, and counted once."""
    post = await alice.post("hello")
    first = await bob.repost(post)
    await bob.do("unrepost", postId=post)
    second = await bob.repost(post)
    assert second != first
    assert await listed(alice, post, "reposts") == [second]
    assert await counts(alice, post) == (0, 1, 0, 0)


# ---- deleting


async def test_a_deleted_post_is_gone_everywhere(alice: Member, bob: Member, carol: Member) -> None:
    """A deleted status is in no timeline, under no tag, and no id leads to it or to what hung on it."""
    await bob.follow(alice)
    await carol.follow(bob)
    post, kept = await alice.post("hello #tag"), await alice.post("kept")
    await bob.repost(post)
    comment = (await bob.do("comment", "comment { id }", postId=post, text="yes"))["comment"]["id"]
    assert post in await carol.home()
    payload = await alice.do("deletePost", "deletedPostId author { login postCount }", postId=post)
    assert payload == {"deletedPostId": post, "author": {"login": "alice", "postCount": 1}, "userErrors": []}
    query = "query($ids: [ID!]!) { nodes(ids: $ids) { id } }"
    for member in (alice, bob, carol):
        assert await seen(member, post) is None
        assert await member.ask(query, ids=[post, kept, comment]) == [None, {"id": kept}, None]
        assert await public(member) == [kept]
        assert await tagged(member, "tag") is None
        assert await profile(member, "alice") == (1, [kept])
        assert await profile(member, "bob") == (0, [])
    assert [await member.home() for member in (alice, bob, carol)] == [[kept], [kept], []]


async def test_plain_reposts_go_with_their_original(alice: Member, bob: Member, carol: Member) -> None:
    """Deleting a post deletes its plain reposts, wherever they stand and however they were named."""
    post = await alice.post("hello")
    reposts = [await bob.repost(post), await carol.repost(post), await alice.repost(post)]
    await delete(alice, post)
    for member, repost in zip((bob, carol, alice), reposts, strict=True):
        assert await seen(alice, repost) is None
        assert await profile(alice, member.login) == (0, [])
        assert await member.refused("deletePost", postId=repost) == ("NOT_FOUND", ["postId"])
        assert await member.refused("like", postId=repost) == ("NOT_FOUND", ["postId"])


async def test_quotes_outlive_their_original(alice: Member, bob: Member, carol: Member) -> None:
    """A quote of a deleted post stays with `original` null, and can be liked, passed on and deleted as before."""
    post = await alice.post("hello")
    quote = await bob.repost(post, "see")
    await delete(alice, post)
    found = await seen(carol, quote, f"text {COUNTS} ... on Repost {{ original {{ id }} }}")
    assert found == {"text": "see", **dict.fromkeys(COUNTS.split(), 0), "original": None}
    assert await profile(carol, "bob") == (1, [quote])
    assert await public(carol) == [quote]
    await carol.do("like", postId=quote)
    repost = await carol.repost(quote)
    assert await counts(carol, quote) == (1, 1, 0, 0)
    await delete(bob, quote)
    assert [await seen(carol, thing) for thing in (quote, repost)] == [None, None]
    assert await profile(carol, "bob") == await profile(carol, "carol") == (0, [])


async def test_deleting_a_quote_lowers_the_count(alice: Member, bob: Member) -> None:
    """A deleted quote is counted and listed no more, and its own plain reposts go with it."""
    post = await alice.post("hello")
    first, second = await bob.repost(post, "first"), await bob.repost(post, "second")
    repost = await alice.repost(first)
    await delete(bob, first)
    assert await counts(alice, post) == (0, 0, 1, 0)
    assert await listed(alice, post, "quotes") == [second]
    assert await seen(alice, repost) is None
    assert await profile(alice, "alice") == (1, [post])


async def test_deleting_a_plain_repost_equals_unrepost(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Whether a plain repost is deleted or taken back, everything ends the same."""
    await carol.follow(bob)
    post = await alice.post("hello")
    ends = []
    for undo in ("deletePost", "unrepost"):
        repost = await bob.repost(post)
        assert await carol.home() == [post]
        await bob.do(undo, postId=repost)
        assert await seen(bob, repost) is None
        assert not (await seen(bob, post))["viewerHasReposted"]
        assert await counts(bob, post) == (0, 0, 0, 0)
        assert await profile(bob, "bob") == (0, [])
        assert await carol.home() == []
        ends.append({key: value for key, value in (await contents(db)).items() if lasting(key)})
    assert ends[0] == ends[1]


async def test_only_the_author_deletes(db: Database, alice: Member, bob: Member) -> None:
    """Nobody deletes what another wrote, quoted or passed on, and the try writes nothing."""
    post = await alice.post("hello")
    things = [post, await alice.repost(post), await alice.repost(post, "see")]
    before = await contents(db)
    for thing in things:
        payload = await bob.do("deletePost", "deletedPostId author { id }", postId=thing)
        assert (payload["deletedPostId"], payload["author"]) == (None, None)
        assert [(e["code"], e["field"]) for e in payload["userErrors"]] == [("NOT_ALLOWED", ["postId"])]
    assert await contents(db) == before


async def test_a_post_is_deleted_once(alice: Member) -> None:
    """Of many deletes of one post at the same moment one is answered as done, the others as NOT_FOUND."""
    post, kept = await alice.post("hello"), await alice.post("kept")
    payloads = await asyncio.gather(*(alice.do("deletePost", postId=post) for _ in range(10)))
    refusals = [[error["code"] for error in payload["userErrors"]] for payload in payloads]
    assert sorted(refusals) == [[], *[["NOT_FOUND"]] * 9]
    assert await alice.refused("deletePost", postId=post) == ("NOT_FOUND", ["postId"])
    assert await profile(alice, "alice") == (1, [kept])


# What may remain of a deleted post: the log of events, the newest minted id, finished jobs, and short-lived keys.
LEFT_OVER = ("minted:", "jobs:", "events:", "event-ids:", "withdrawn:", "idempotency:", "commented:")


def lasting(key: str) -> bool:
    """Return whether a key is more than a bounded or short-lived left-over."""
    return not key.startswith(LEFT_OVER)


async def test_a_deleted_post_leaves_nothing_in_the_store(
    db: Database, worker: Worker, alice: Member, bob: Member, carol: Member
) -> None:
    """After a delete the store is as before the post, but for tombstones and retries, which expire, and the log."""
    await bob.follow(alice)
    await carol.follow(bob)
    before = {key: value for key, value in (await contents(db)).items() if lasting(key)}
    post = await alice.post("hello #tag @bob", idempotencyKey="key")
    comment = await bob.do("comment", "comment { id }", postId=post, text="yes", idempotencyKey="key")
    reply = {"postId": post, "text": "no", "replyToId": comment["comment"]["id"]}
    await carol.do("comment", **reply)
    quote = await carol.repost(post, "see", idempotencyKey="key")
    for member in (alice, bob, carol):
        await member.repost(post)
        await member.do("like", postId=post)
    await delete(alice, post)
    await delete(carol, quote)
    await worker.run_once()
    after = await contents(db)
    assert {key: value for key, value in after.items() if lasting(key)} == before
    assert not any(value for key, value in after.items() if key.startswith("jobs:"))
    brief = [key for key in after if key.startswith(("withdrawn:", "idempotency:", "commented:"))]
    lives = await db.ask(*(("TTL", key) for key in brief))
    assert all(0 < life <= timedelta(days=1).total_seconds() for life in lives)


async def test_a_delete_that_a_crash_has_cut_short_shows_nothing(
    db: Database, heir: Worker, alice: Member, bob: Member, carol: Member
) -> None:
    """From the moment a delete is committed nothing of the post is shown, and a worker removes what is left of it."""
    await bob.follow(alice)
    await carol.follow(bob)
    before = {key: value for key, value in (await contents(db)).items() if lasting(key)}
    post = await alice.post("hello #tag")
    repost = await bob.repost(post)
    await bob.do("like", postId=post)
    comment = (await bob.do("comment", "comment { id }", postId=post, text="yes"))["comment"]["id"]
    assert await posts.delete(db, number(post), number(alice.id))
    query = "query($ids: [ID!]!) { nodes(ids: $ids) { id } }"
    for member in (alice, bob, carol):
        assert await member.ask(query, ids=[post, repost, comment]) == [None, None, None]
        assert await member.home() == await public(member) == (await profile(member, "bob"))[1] == []
    for mutation in ("like", "unlike", "repost", "unrepost", "deletePost"):
        assert await bob.refused(mutation, postId=post) == ("NOT_FOUND", ["postId"])
    assert await bob.refused("comment", postId=post, text="yes") == ("NOT_FOUND", ["postId"])
    assert await bob.refused("deleteComment", commentId=comment) == ("NOT_FOUND", ["commentId"])
    while await heir.run_once():
        pass
    assert {key: value for key, value in (await contents(db)).items() if lasting(key)} == before


@pytest.mark.parametrize("text", ["", "see"], ids=["plain", "quote"])
async def test_late_work_brings_no_repost_back(
    db: Database, heir: Worker, alice: Member, bob: Member, carol: Member, text: str
) -> None:
    """A process that goes on delivering a repost after its deletion leaves nothing of it, neither shown nor stored."""
    await carol.follow(bob)
    post = await alice.post("hello")
    before = {key: value for key, value in (await contents(db)).items() if lasting(key)}
    draft = posts.Draft(number(bob.id), text, original=number(post), original_author=number(alice.id))
    _, repost, job = await posts.create(db, draft)
    assert job
    await delete(bob, identity.post_id(repost, is_repost=True))
    await fanout.perform(db, job, fanout.Budget(float("inf")))
    assert await counts(carol, post) == (0, 0, 0, 0)
    assert await listed(carol, post, "quotes" if text else "reposts") == []
    assert await carol.home() == []
    while await heir.run_once():
        pass
    assert {key: value for key, value in (await contents(db)).items() if lasting(key)} == before


async def test_many_reposts_go_after_the_answer(
    db: Database, services: Services, worker: Worker, anonymous: Member, alice: Member
) -> None:
    """A delete is answered before all of many reposts are removed; none is shown, and the worker removes the rest."""
    members = await crowd(anonymous, 6)
    post = await alice.post("hello")
    for member in members:
        await member.repost(post)
    services.db.settings = shrunk(services.db.settings, fanout_inline=3)
    await delete(alice, post)
    standing = [await profile(alice, member.login) for member in members]
    assert [ids for _, ids in standing] == [[]] * 6
    assert sum(count for count, _ in standing) == 3
    assert await worker.run_once() == 1
    assert [await profile(alice, member.login) for member in members] == [(0, [])] * 6
    assert not [key for key in await contents(db) if key.startswith(("status:", "reposts:", "progress:"))]


async def test_reposts_racing_a_delete_are_gone_with_it(
    db: Database, heir: Worker, anonymous: Member, alice: Member
) -> None:
    """Whoever passes a post on, likes it or comments in the moment of its deletion, nothing of it is left."""
    members = await crowd(anonymous, 12)
    before = {key: value for key, value in (await contents(db)).items() if lasting(key)}
    post = await alice.post("hello")
    acts = [
        member.do(mutation, postId=post, **fields)
        for member in members
        for mutation, fields in (("repost", {}), ("like", {}), ("comment", {"text": "yes"}))
    ]
    acts.insert(len(acts) // 2, alice.do("deletePost", postId=post))
    await asyncio.gather(*acts)
    while await heir.run_once():
        pass
    after = {key: value for key, value in (await contents(db)).items() if lasting(key)}
    index = {key for key in after if key.startswith("liked:")}  # may name too much
    assert {key: value for key, value in after.items() if key not in index} == before
    assert [(await profile(alice, member.login)) for member in members] == [(0, [])] * 12
