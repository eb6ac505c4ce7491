"""Publishing: answers, refusals, normal forms, and the mentions and tags of a text."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from store.client.database import Database
from tests.support.people import Member, contents
from tests.support.probes.posts import COUNTS, POST, profile, public, seen, tagged

INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


async def test_a_new_status_is_answered_whole(alice: Member) -> None:
    """A status is returned with its author, its instant in milliseconds and all counts zero."""
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


async def test_a_status_is_in_every_timeline_it_belongs_to(alice: Member, bob: Member, anonymous: Member) -> None:
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
    if code != "BLANK":  # a repost without text is plain
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
    """Mentions are the members that exist, in any case, in order and as often as they are named."""
    status = (await alice.do("post", "status { id text mentions { login } }", text=text))["status"]
    assert [user["login"] for user in status["mentions"]] == named
    assert status["text"] == text
    quote = (await alice.do("repost", "repost { mentions { login } }", postId=status["id"], text=text))["repost"]
    assert [user["login"] for user in quote["mentions"]] == named


async def test_a_mention_stays_with_its_member(alice: Member, bob: Member) -> None:
    """A mention follows its member to a new login, and the former login then names nobody."""
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
    """A tag's timeline has the quotes that use it, and no plain repost of a post that uses it."""
    post = await alice.post("look #tag")
    await bob.repost(post)
    quote = await bob.repost(post, "see #tag")
    assert await tagged(alice, "tag") == (2, [quote, post])
    assert await tagged(alice, "other") is None
