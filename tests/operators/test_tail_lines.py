"""The lines of `server.py tail`: which events each option selects, and which characters a line can hold."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import pytest

from resolvers.process.errors import ServiceUnavailable
from resolvers.process.services import Services
from resolvers.rules.text import on_one_line
from resolvers.upkeep import tail
from resolvers.upkeep.tail import TailOptions
from store.client.database import Unavailable
from tests.support.people import Member
from tests.support.transport.live import PATIENCE, now

CAPE = {"latitude": -33.9, "longitude": 18.4}
ELSEWHERE, CAPE_TOWN = (0, 0, 1, 1), (-35, 18, -33, 19)
END = "the end: green tea at the Cape"


async def lines(services: Services, ends: Sequence[str], **asked: Any) -> list[str]:
    """Return the lines before the first end, without their times and cursors."""
    said: list[str] = []
    chosen = await tail.begin(services, TailOptions(**asked))
    async with asyncio.timeout(PATIENCE), aclosing(tail.lines(services, chosen)) as printed:
        async for line in printed:
            said.append(line.split(" ", 1)[1].rpartition("  [")[0])
            if said[-1] in ends:
                return said[:-1]
    raise AssertionError(f"it ended: {said}")


# The text of a deleted post is not known any more, so filters of words and places pass its past end.
OPTIONS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["tea", "cape", "repost", "follow", "unfollow", "gone"]),
    ({"follow": ["@Alice"]}, ["tea", "gone"]),
    ({"follow": ["alice", "bob"]}, ["tea", "cape", "repost", "follow", "unfollow", "gone"]),
    ({"track": ["TEA green"]}, ["tea", "gone"]),
    ({"track": ["nothing", "cape"]}, ["cape", "gone"]),
    ({"box": [ELSEWHERE, CAPE_TOWN]}, ["cape", "gone"]),
    ({"box": [ELSEWHERE], "track": ["tea"]}, ["tea", "gone"]),
    ({"kind": ["USER_FOLLOWED"]}, ["follow"]),
    ({"kind": ["USER_UNFOLLOWED", "POST_CREATED"], "follow": ["bob"]}, ["cape", "repost", "unfollow"]),
    ({"sample": 100}, ["tea", "cape", "repost", "gone"]),
]


@pytest.mark.parametrize(("asked", "expected"), OPTIONS, ids=map(str, OPTIONS))
async def test_options(
    services: Services, alice: Member, bob: Member, carol: Member, asked: dict[str, Any], expected: list[str]
) -> None:
    """Each option selects its events, any matching filter is enough, and kinds narrow the rest."""
    after = await now(services.db)
    tea = await alice.post("green tea")
    await bob.post("from the Cape", location=CAPE)
    await bob.repost(tea)
    await bob.follow(alice)
    await bob.unfollow(alice)
    gone = await alice.post("gone")
    await alice.do("deletePost", postId=gone)
    await alice.post(END, location=CAPE)
    await bob.follow(carol)
    await bob.unfollow(carol)
    ends = [f"@alice {END}", "@bob follows @carol", "@bob follows @carol no longer"]
    printed = {
        "tea": "@alice green tea",
        "cape": "@bob from the Cape",
        "repost": "@bob passes a post on",
        "follow": "@bob follows @alice",
        "unfollow": "@bob follows @alice no longer",
        "gone": f"- {gone} by {alice.id}",
    }
    assert await lines(services, ends, after=after, **asked) == [printed[name] for name in expected]


async def test_from_its_beginning_on(services: Services, alice: Member) -> None:
    """A tail prints what happens after it has begun, even before its first line is read."""
    chosen = await tail.begin(services, TailOptions())
    await alice.post("tea")
    async with asyncio.timeout(PATIENCE), aclosing(tail.lines(services, chosen)) as printed:
        assert "@alice tea" in await anext(printed)


async def test_a_text_on_a_line(services: Services, alice: Member) -> None:
    """Every line break in a post is a space in its line, and characters that would reverse the rest are escaped."""
    after = await now(services.db)
    await alice.post("one\ntwo\tthree\u2028four\u2029five \u202esix")
    await alice.post(END)
    assert await lines(services, [f"@alice {END}"], after=after) == ["@alice one two three four five \ufffdsix"]


@pytest.mark.parametrize("character", ["\x1b", "\x07", "\x9b", "\x7f", "\0", "\u202e", "\u2066", "\ud800"])
def test_what_a_terminal_would_obey(character: str) -> None:
    """No control character reaches the terminal, from any source of text."""
    assert on_one_line(f"a{character}[2Jb") == "a\ufffd[2Jb"


@pytest.mark.parametrize("breaking", ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029", " \t "])
def test_what_breaks_a_line(breaking: str) -> None:
    """Every kind of line break is a space."""
    assert on_one_line(f"a{breaking}b") == "a b"


@pytest.mark.parametrize("error", [Unavailable("away"), ServiceUnavailable("away")])
async def test_an_event_that_cannot_be_read(
    services: Services, alice: Member, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the store goes away in the middle of an event, that event is printed afterwards, and none twice."""
    monkeypatch.setattr(tail, "RETRY_SECONDS", 0)
    line, failures = tail.line, iter([None, error, error, None, error])

    async def fragile(*arguments: Any) -> str:
        if failure := next(failures, None):
            raise failure
        return await line(*arguments)

    monkeypatch.setattr(tail, "line", fragile)
    after = await now(services.db)
    for text in ("one", "two", "three", END):
        await alice.post(text)
    assert await lines(services, [f"@alice {END}"], after=after) == ["@alice one", "@alice two", "@alice three"]
    assert not len(services.listeners)
