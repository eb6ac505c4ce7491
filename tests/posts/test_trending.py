"""Hashtags that trend: recent use against usual use."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import count
from math import sqrt

import pytest

from resolvers.process.services import Services
from resolvers.rules.trending import BEFORE, LEAST, RECENT, Uses, best, score
from store import hashtags, keys
from store.client.database import Database
from store.ids import first_of
from store.settings import Settings
from tests.support.people import Member, shrunk
from tests.support.stored import find

TRENDING = "query($first: Int) { trendingHashtags(first: $first) { name postCount } }"
SIZE = 40
WINDOWS = BEFORE / RECENT  # recent periods that fit in the period before
HOUR = timedelta(hours=1)
SEQUENCE = count()  # makes ids differ within one millisecond


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Tags of which few posts are kept."""
    return shrunk(settings, hashtag_size=SIZE)


# ---------------------------------------------------------------- the rule


@pytest.mark.parametrize(
    ("uses", "expected"),
    [
        (Uses(0, 0), 0),
        (Uses(1, 0), 1),
        (Uses(50, 0), 50),
        (Uses(0, 28), -1 / sqrt(2)),
        (Uses(1, 28), 0),
        (Uses(2, 28), 1 / sqrt(2)),
        (Uses(10, 3 * 28), 7 / sqrt(4)),
        (Uses(100, 99 * 28), 1 / sqrt(100)),
        (Uses(9, 4, RECENT), 5 / sqrt(5)),
        (Uses(9, 8, 2 * RECENT), 5 / sqrt(5)),
        (Uses(9, 4, RECENT / 2), 5 / sqrt(5)),
        (Uses(9, 0, timedelta()), 9),
        (Uses(9, 0, -HOUR), 9),
    ],
)
def test_score(uses: Uses, expected: float) -> None:
    """The score is (recent - usual) / √(usual + 1), usual being scaled from the known part of the time before."""
    assert score(uses) == pytest.approx(expected)


def test_more_is_higher() -> None:
    """One more recent post ranks a tag higher, one more earlier post lower, for any counts."""
    for recent in (0, 1, 10, 1000):
        for earlier in (0, 1, 28, 10_000):
            assert score(Uses(recent + 1, earlier)) > score(Uses(recent, earlier))
            assert score(Uses(recent + 1, earlier)) > score(Uses(recent + 1, earlier + 1))


def test_best() -> None:
    """The best scores come first, equal ones by name; tags used too little or no more than usual do not trend."""
    usual = round(WINDOWS)
    tags = {
        "rare": Uses(LEAST - 1, 0),
        "usual": Uses(5, 5 * usual),
        "less": Uses(5, 9 * usual),
        "b": Uses(LEAST, 0),
        "a": Uses(LEAST, 0),
        "top": Uses(9, 0),
        "busy": Uses(101, 100 * usual),
    }
    assert best(tags, 10) == ["top", "a", "b", "busy"]
    assert best(tags, 2) == ["top", "a"]
    assert best({}, 10) == []


# ---------------------------------------------------------------- the query


async def trending(member: Member, first: int | None = 10) -> list[str]:
    """Return the trending tags."""
    return [tag["name"] for tag in await member.ask(TRENDING, first=first)]


async def used(db: Database, tag: str, ages: Iterable[timedelta]) -> None:
    """Create posts of several ages that carry a tag, enough for it to be considered."""
    now = datetime.now(UTC)
    posts = [first_of(now - age) + next(SEQUENCE) % 4096 for age in ages]
    await hashtags.count_uses(db, [(post, [tag]) for post in posts])
    await db.ask(*(("ZADD", keys.hashtag(tag), post, post) for post in posts))


async def test_nothing(anonymous: Member) -> None:
    """Without any use nothing trends."""
    assert await trending(anonymous) == []


async def test_what_trends(alice: Member, anonymous: Member) -> None:
    """Tags used most come first, equal ones by name, with how many posts carry each; rare ones are left out."""
    for text in ("#tea #rain", "#Tea #rain #tea", "#TEA #Rain", "#tea #cats", "#dogs #cats", "#cats"):
        await alice.post(text)
    assert await anonymous.ask(TRENDING) == [
        {"name": "tea", "postCount": 4},
        {"name": "cats", "postCount": 3},
        {"name": "rain", "postCount": 3},
    ]
    assert await trending(alice, 1) == ["tea"]
    assert await trending(alice, None) == ["tea", "cats", "rain"]


async def test_against_the_usual(db: Database, alice: Member) -> None:
    """A steadily used tag does not trend however much it is used; one used more than before does."""
    daily = LEAST * round(WINDOWS)
    await used(db, "daily", [*([HOUR] * LEAST), *(RECENT + BEFORE * n / (daily + 1) for n in range(1, daily + 1))])
    await used(db, "risen", [*([HOUR] * 6), *(HOUR * 24 * day for day in range(1, 6))])
    await used(db, "fresh", [HOUR] * LEAST)
    assert await trending(alice) == ["risen", "fresh"]
    await used(db, "daily", [HOUR] * 3 * LEAST)
    assert await trending(alice) == ["risen", "daily", "fresh"]


async def test_windows(db: Database, alice: Member) -> None:
    """Only posts younger than six hours are recent, and those older than a week more are ignored."""
    second = timedelta(seconds=5)
    await used(db, "over", [RECENT + second] * LEAST)
    await used(db, "young", [RECENT - second] * LEAST)
    await used(db, "forgotten", [*([HOUR] * LEAST), *([RECENT + BEFORE + second] * 20)])
    await used(db, "known", [*([HOUR] * LEAST), *([RECENT + BEFORE - second] * 20)])
    assert await trending(alice) == ["forgotten", "young", "known"]


async def test_a_trimmed_tag(db: Database, alice: Member) -> None:
    """If a tag's older posts were trimmed, the time before begins at its oldest post."""
    recent = 10
    earlier = SIZE - recent
    # Thirty in seventeen hours are more than ten in six. If the whole week counted as known, they would be one.
    ages = [HOUR] * recent + [RECENT + 17 * HOUR * n / earlier for n in range(1, earlier + 1)]
    await used(db, "full", ages[:-1])
    assert await trending(alice) == ["full"]
    await used(db, "full", ages[-1:])
    assert await trending(alice) == []
    await used(db, "hot", [HOUR] * SIZE)
    assert await trending(alice) == ["hot"]


async def test_what_is_gone_or_hidden(alice: Member) -> None:
    """Deleted or hidden posts do not count, posts shown again do."""
    posts = [await alice.post("#tea") for _ in range(LEAST)]
    assert await trending(alice) == ["tea"]
    await alice.do("hidePost", postId=posts[0])
    assert await trending(alice) == []
    await alice.do("unhidePost", postId=posts[0])
    assert await trending(alice) == ["tea"]
    await alice.do("deletePost", postId=posts[1])
    assert await trending(alice) == []
    await alice.post("#tea")
    assert await trending(alice) == ["tea"]


async def test_reposts(alice: Member, bob: Member) -> None:
    """A quote counts with the tags of its own text, a plain repost does not."""
    post = await alice.post("#tea")
    for _ in range(LEAST):
        await bob.repost(post)
        await bob.repost(post, "#rain")
    assert await trending(alice) == ["rain"]


async def test_uses_counted_twice(db: Database, alice: Member) -> None:
    """Uses counted too often, or of deleted posts, select tags to consider and rank nothing."""
    for text in ("#tea", "#tea", "#tea #rain", "#rain", "#rain", "#rain"):
        await alice.post(text)
    hour = hashtags.hour_of(datetime.now(UTC))
    await db.one("ZINCRBY", keys.tag_uses(hour), 500, "tea")
    await db.one("ZINCRBY", keys.tag_uses(hour), 500, "ghost")
    assert await trending(alice) == ["rain", "tea"]


async def test_uses_are_bounded(monkeypatch: pytest.MonkeyPatch, db: Database) -> None:
    """The most used tags of an hour are kept, once there are twice too many, and all of them for eight hours."""
    monkeypatch.setattr(keys, "TAGS_KEPT", 2)
    made = [(first_of(datetime.now(UTC)), tags) for tags in (["a", "b"], ["b", "c"], ["c", "d"])]
    await hashtags.count_uses(db, made)
    (key,) = await find(db, "tag-uses:*")
    assert await db.one("ZCARD", key) == 4
    await hashtags.count_uses(db, [(made[0][0], ["e"])])
    assert await db.one("ZRANGE", key, 0, -1) == ["b", "c"]
    assert 8 * 3600 - 10 < await db.one("TTL", key) <= 8 * 3600


@pytest.mark.parametrize("first", [0, -1, 101])
async def test_no_number(anonymous: Member, first: int) -> None:
    """A number of tags out of range is bad input, and the argument is named."""
    (error,) = (await anonymous.send(TRENDING, first=first))["errors"]
    assert error["extensions"]["code"] == "BAD_USER_INPUT"
    assert error["message"].startswith("first: ")


async def test_round_trips(services: Services, alice: Member) -> None:
    """For any number of considered tags, two round trips find those that trend. A text that is new takes one more."""
    await trending(alice)
    for tags in ("#a", " ".join(f"#t{i}" for i in range(90))):
        for _ in range(LEAST):
            await alice.post(tags)
        services.db.round_trips = 0
        assert await trending(alice, 100)
        assert services.db.round_trips == 2


async def test_a_tag_that_trends_is_a_tag(alice: Member) -> None:
    """A trending tag's timeline can be paged like any tag's."""
    newest = [await alice.post("#tea") for _ in range(LEAST)][-1]
    query = "{ trendingHashtags { timeline(first: 1) { nodes { ... on Node { id } } } } }"
    assert await alice.ask(query) == [{"timeline": {"nodes": [{"id": newest}]}}]
