"""Reposts that lift posts: `REPOST_LIFT_HOURS` after its place, a repost puts a post on top of homes again."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from resolvers.upkeep import verify
from store import keys
from store.client.database import Database
from store.ids import EPOCH, partition
from store.settings import Settings
from store.settings.declaring import SettingError
from tests.support.home_pages import read
from tests.support.people import Member, shrunk, sign_up
from tests.support.transport.live import watching
from tests.support.work import number


@pytest.fixture
def settings(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    """The settings, changed as the test's parameter says."""
    return shrunk(settings, **getattr(request, "param", {}))


async def wait(db: Database, member: Member, hours: float) -> None:
    """Let what a member writes from now on be written some hours from now, and later than all before."""
    moment = datetime.now(UTC) - EPOCH + timedelta(hours=hours)
    await db.one("SET", keys.minted(partition(number(member.id))), moment // timedelta(milliseconds=1) << 4)


async def lines(member: Member) -> list[tuple[Any, ...]]:
    """Return a home as posts, each followed by the logins of those who have reposted it."""
    edges = (await read(member, first=100))["edges"]
    return [(edge["node"]["id"], *(source["user"]["login"] for source in edge["repostedBy"])) for edge in edges]


async def assert_clean(db: Database) -> None:
    report = await verify.verify(db, homes=None, seed=0, progress=lambda _: None)
    assert report.clean, report.findings


async def test_a_friends_post_of_this_morning(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A post that a friend wrote this morning is on top again when another friend reposts it in the evening."""
    await alice.follow(bob, carol)
    morning = await bob.post("Good morning")
    noon = await bob.post("Lunch")
    assert await lines(alice) == [(noon,), (morning,)]
    await wait(db, carol, hours=13)
    await carol.repost(morning)
    assert await lines(alice) == [(morning, "carol"), (noon,)]
    await assert_clean(db)


async def test_a_strangers_old_post(db: Database, anonymous: Member, alice: Member, bob: Member, carol: Member) -> None:
    """A stranger's old post that a friend reposted long ago returns when another friend reposts it."""
    await alice.follow(bob, carol)
    old = await (await sign_up(anonymous, "stranger")).post("From another time")
    await bob.repost(old)
    newer = await bob.post("Something else")
    assert await lines(alice) == [(newer,), (old, "bob")]
    await wait(db, carol, hours=13)
    await carol.repost(old)
    assert await lines(alice) == [(old, "carol", "bob"), (newer,)]
    await assert_clean(db)


async def test_a_repost_soon_after(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A repost within twelve hours moves nothing, and is named in its order."""
    await alice.follow(bob, carol)
    post, newer = await bob.post("hello"), await bob.post("again")
    await wait(db, carol, hours=11.9)
    await carol.repost(post)
    assert await lines(alice) == [(newer,), (post, "carol")]
    await assert_clean(db)


async def test_the_lifting_repost_taken_back(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A post goes back to its place when the repost that lifted it is taken back, or its author is unfollowed."""
    await alice.follow(bob, carol)
    post, newer = await bob.post("hello"), await bob.post("again")
    await wait(db, carol, hours=13)
    await carol.repost(post)
    await carol.do("unrepost", postId=post)
    assert await lines(alice) == [(newer,), (post,)]
    await carol.repost(post)
    assert await lines(alice) == [(post, "carol"), (newer,)]
    await alice.unfollow(carol)
    assert await lines(alice) == [(newer,), (post,)]
    await assert_clean(db)


async def test_the_author_unfollowed(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A post stays where a repost has lifted it when its author is unfollowed, and followed again."""
    await alice.follow(bob, carol)
    post = await bob.post("hello")
    await wait(db, carol, hours=13)
    await carol.repost(post)
    await alice.unfollow(bob)
    assert await lines(alice) == [(post, "carol")]
    await alice.follow(bob)
    assert await lines(alice) == [(post, "carol")]
    await carol.do("unrepost", postId=post)
    assert await lines(alice) == [(post,)]
    await assert_clean(db)


@pytest.mark.parametrize("settings", [{"repost_lift_hours": 0.0}], indirect=True)
async def test_reposts_that_never_lift(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """With 0 hours a post keeps its first place."""
    await alice.follow(bob, carol)
    post, newer = await bob.post("hello"), await bob.post("again")
    await wait(db, carol, hours=1000)
    await carol.repost(post)
    assert await lines(alice) == [(newer,), (post, "carol")]
    await assert_clean(db)


@pytest.mark.parametrize("settings", [{"repost_lift_hours": 0.5}], indirect=True)
async def test_a_fraction_of_an_hour(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Half an hour is more than the 20 minutes after which a repost lifts nothing, and less than 40."""
    await alice.follow(bob, carol)
    post, newer = await bob.post("hello"), await bob.post("again")
    await wait(db, carol, hours=1 / 3)
    await carol.repost(post)
    assert await lines(alice) == [(newer,), (post, "carol")]
    await carol.do("unrepost", postId=post)
    await wait(db, carol, hours=2 / 3)
    await carol.repost(post)
    assert await lines(alice) == [(post, "carol"), (newer,)]
    await assert_clean(db)


async def test_a_lift_live(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A subscriber gets the same entry again, with the cursor of its new place and its reposters."""
    await alice.follow(bob, carol)
    post = await bob.post("hello")
    await wait(db, carol, hours=13)
    async with watching(alice, db) as stream:
        repost = await carol.repost(post)
        event = await stream.next()
    assert event["edge"]["node"]["id"] == post
    assert event["edge"]["cursor"] == f"home.{number(repost):014x}"
    assert [source["user"]["login"] for source in event["edge"]["repostedBy"]] == ["carol"]


@pytest.mark.parametrize("settings", [{"home_size": 10, "home_slack": 1}], indirect=True)
async def test_a_post_below_the_floor(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A repost also lifts a post that the stored home has long forgotten, and only there is it listed."""
    await alice.follow(bob, carol)
    post = await bob.post("hello")
    newer = [await bob.post(f"{i}") for i in range(20)]
    await wait(db, carol, hours=13)
    await carol.repost(post)
    assert await lines(alice) == [(post, "carol"), *((one,) for one in reversed(newer))]
    await assert_clean(db)


@pytest.mark.parametrize(
    "settings", [{"big_author": 2, "home_size": 10, "home_slack": 1}, {"big_author": 2}], indirect=True
)
async def test_big_authors_reposts(db: Database, anonymous: Member, alice: Member, bob: Member, carol: Member) -> None:
    """A repost that is not pushed lifts a post for its followers, and then others within twelve hours do not."""
    dave = await sign_up(anonymous, "dave")
    for follower in (alice, dave):
        await follower.follow(bob)  # who is a big author now
    await alice.follow(carol)
    post, newer = await carol.post("hello"), await carol.post("again")
    await wait(db, bob, hours=13)
    repost = await bob.repost(post)
    await alice.follow(dave)
    await wait(db, dave, hours=14)
    await dave.repost(post)
    edges = (await read(alice, first=100))["edges"]
    assert [edge["cursor"] for edge in edges] == [f"home.{number(one):014x}" for one in (repost, newer)]
    assert await lines(alice) == [(post, "bob", "dave"), (newer,)]
    await assert_clean(db)


@pytest.mark.parametrize("text", ["-1", "twelve", "nan", "inf", "10001"])
def test_refused_values(text: str) -> None:
    """The setting is a number of hours from 0 to 10,000."""
    with pytest.raises(SettingError, match="REPOST_LIFT_HOURS"):
        Settings.from_environment({"REPOST_LIFT_HOURS": text})
